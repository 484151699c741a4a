"""Static members moved to the consumer protocol: a clean restart is as before, one after a kill is not.

Both are played on the clock: a member is killed, and its successor starts under the same group.instance.id a
little later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....context import Hit, Judgement
from ....join.reader import Reader
from ....model import Location
from ....syntax.numbers import integer

if TYPE_CHECKING:
    from .rolls import Side

SESSION = "group.consumer.session.timeout.ms"
RESTART_MS = 2_000  # from the end of a process to its successor's first join


def static_members_moved(new: Side, place: Location) -> Iterator[Judgement]:
    session = _session(new.look)
    trace, refused = _killed("consumer", session)
    _, refused_before = _killed("classic", session)
    if not refused or refused_before:
        return  # a session that is over before anybody comes back
    _, setting = new.look.number("broker", SESSION)
    hit = Hit(
        place,
        ("group.protocol", "group.instance.id"),
        {"resource": new.document.name, "session": f"{session / 1000:g} s"},
        (("broker", setting),) if setting is not None else (),
        numbers=(
            (SESSION, str(session)),
            ("assumed", f"two members; one is back {RESTART_MS / 1000:g} s after it was killed"),
        ),
        check="killed-static-member-refused",
        advice=(
            f"let whatever restarts a member try again for {session / 1000:g} s at least",
            "or take group.instance.id out: without it a member of the consumer protocol costs the others "
            "little when it restarts",
        ),
    )
    yield Judgement("broken", hit, tuple(trace))


def _session(look: Reader) -> int:
    number, _ = look.number("broker", SESSION)
    return number or integer(look.default("broker", SESSION) or "") or 45_000


def _killed(protocol: str, session: int) -> tuple[list[dict[str, Any]], bool]:
    """The run, and whether the successor is refused."""
    from ....sim.groups.clock.phases import GroupSetup, Phase
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    setup = GroupSetup(protocol=protocol, partitions=4, session_ms=session, initial_delay_ms=0)
    run = GroupRun(setup, Phase(), records=False)
    run.narrates = True
    nodes = [run.start("m0", instance="pod-0"), run.start("m1", instance="pod-1", delay=100)]
    run.until(lambda: all(len(node.owned) == 2 for node in nodes), 60_000)
    run.wait(setup.heartbeat_ms)
    since = run.clock.now
    run.kill(nodes[0])
    successor = run.start("m2", instance="pod-0", delay=RESTART_MS)
    run.wait(RESTART_MS + 1_000)
    return list(story(run, since, rows_max=8)), not successor.alive
