"""rebalance-pause, asked about the broker that coordinates the group (part "coordinator").

It dies: members keep their partitions and go on reading, but nobody takes a commit until the controller has
fenced the broker, another one leads the group's partition of __consumer_offsets and has read it, and the
client has found it. An application that waits for its commit stands still meanwhile, and ends if the client
gives up first.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from ....context import Context, Hit, Judgement
from ....model import Edit, Setting
from ....sim.groups.clock.phases import GroupSetup, Phase
from ....sim.groups.consumer import AFTER, BEFORE
from ...policies import decode
from .settings import Asked, round_up_ms, seconds

API_TIMEOUT = "default.api.timeout.ms"
FAULTS = {"broker_crash": 1}


def judge(group: Asked, context: Context) -> Iterable[Judgement]:
    limit = int(context.params.get("limit_ms", 120_000))
    if group.librdkafka or group.setup.reading.commits not in (AFTER, BEFORE) or group.unknown:
        return
    timeout, given = group.look.number("consumer", API_TIMEOUT)
    clocked, session = _on_the_clock(group)
    if clocked is None or (timeout is None and given is not None):
        return
    found = _failover_of(clocked, context)
    if not found["ended"] and found["longest_ms"] <= limit:
        yield Judgement("holds", faults=FAULTS, bounds=f"a pause of {seconds(limit)}")
        return
    keys = (API_TIMEOUT,) if found["ended"] else (session,)
    sooner = Edit("session", "broker", session, "9000" if session.startswith("broker.") else "18000")
    later = Edit("timeout", "consumer", API_TIMEOUT, str(max(60_000, round_up_ms(found["longest_ms"]))))
    in_broker = group.look.setting("broker", session)
    hit = Hit(
        group.at(API_TIMEOUT) if found["ended"] else group.look.place(in_broker),
        keys,
        {"group": group.name, "longest": seconds(found["longest_ms"]), "what": _what(found, clocked)},
        _shown(("consumer", given), ("broker", in_broker)),
        numbers=(
            ("no commit is taken for", f"{seconds(found['shortest_ms'])} to {seconds(found['longest_ms'])}"),
            ("assumed", "two members; the application waits for each of its commits"),
        ),
        edits=group.edits(later) if found["ended"] else (sooner,),
    )
    again = group.again(context, lambda other: _failover_of(_on_the_clock(other)[0], context)["trace"])
    yield Judgement("broken", hit, tuple(found["trace"]), faults=FAULTS, again=again)


def _failover_of(clocked: GroupSetup | None, context: Context) -> dict[str, Any]:
    if clocked is None:
        return {"trace": []}
    found: dict[str, Any] = context.remember("coordinator", repr(clocked), lambda: _failed_over(clocked))
    return found


def _what(found: dict[str, Any], setup: GroupSetup) -> str:
    if found["ended"]:
        return f"the client gives up after {seconds(setup.api_timeout_ms)}: TimeoutException"
    return "the application stands still"


def _shown(*given: tuple[str, Setting | None]) -> tuple[tuple[str, Setting], ...]:
    return tuple((component, setting) for component, setting in given if setting is not None)


def _on_the_clock(group: Asked) -> tuple[GroupSetup | None, str]:
    """The group with the times after which its broker is given up, and the key that says so."""
    kraft = decode(group.look.deployment).kraft
    key = "broker.session.timeout.ms" if kraft else "zookeeper.session.timeout.ms"
    session, templated = group.look.number("broker", key)
    if session is None and templated is not None:
        return None, key
    session = session or int(group.look.default("broker", key) or 9_000)
    setup = group.setup._replace(partitions=2, process_ms=0, initial_delay_ms=0, broker_session_ms=session)
    if not kraft:
        setup = setup._replace(broker_heartbeat_ms=session // 3)
    timeout, _ = group.look.number("consumer", API_TIMEOUT)
    return setup._replace(api_timeout_ms=timeout or setup.api_timeout_ms), key


def _failed_over(setup: GroupSetup) -> dict[str, Any]:
    from ....sim.groups.clock.outcomes import outcomes

    found = sorted(outcomes(partial(_failed_over_in, setup)), key=lambda one: int(one["longest_ms"]))
    return {
        "shortest_ms": found[0]["longest_ms"],
        "longest_ms": found[-1]["longest_ms"],
        "ended": any(one["ended"] for one in found),
        "trace": next((one["trace"] for one in reversed(found) if one["ended"]), found[-1]["trace"]),
    }


def _failed_over_in(setup: GroupSetup, phase: Phase) -> dict[str, Any]:
    from ....sim.groups.clock.polling import COMMIT_TIMED_OUT
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup._replace(reset="earliest"), phase)
    run.narrates = True
    nodes = [run.start("m0"), run.start("m1", delay=phase.open)]
    run.until(lambda: all(len(node.owned) == 1 for node in nodes), 60_000)
    run.wait(2 * setup.heartbeat_ms)
    at = run.clock.now
    run.lose_coordinator()
    for partition in (0, 1):
        run.produce(partition)
    run.wait(run.side.away.found - at + 2 * setup.heartbeat_ms)
    return {
        "longest_ms": run.side.away.found - at,
        "ended": COMMIT_TIMED_OUT in run.errors(),
        "trace": list(story(run, at, rows_max=12)),
    }
