"""group-stable, asked about work inside a rebalance listener (part "listener").

onPartitionsRevoked() runs inside poll(), before the member joins again. The client leaves when poll() is
away for max.poll.interval.ms, and the coordinator waits for no member longer than that: in an eager
rebalance what is left of a batch comes on top of the listener's work.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....context import Context, Hit, Judgement
from ....model import Edit
from ....sim.groups.clock.phases import GroupSetup, Phase
from .settings import Asked, round_up_ms, seconds, smaller_batch

MEMBERS = 2  # that work, before a third one joins


def judge(group: Asked, context: Context) -> Iterable[Judgement]:
    work = group.look.workload("listener_ms")
    if work is None:
        return
    key = "consumer.max.poll.interval.ms"
    if key in group.unknown:
        yield Judgement("unknown", reason=f"{key} is a template", depends_on=(key,))
        return
    setup = group.setup._replace(listener_ms=int(work), partitions=2 * MEMBERS)
    batch = int(setup.reading.batch * setup.process_ms) if not setup.reading.workers else 0
    faults = {"rebalance": 1}
    bounds = f"{seconds(setup.listener_ms)} in the listener, batches of {seconds(batch)}"
    # A batch that is too long by itself has a rule of its own.
    if batch > setup.max_poll_interval_ms or batch + setup.listener_ms <= setup.max_poll_interval_ms:
        yield Judgement("holds", faults=faults, bounds=bounds)
        return
    found = context.remember("listener", repr(setup), lambda: joined(setup))
    if not found["evicted"]:
        yield Judgement("holds", faults=faults, bounds=bounds)
        return
    alone = setup.listener_ms > setup.max_poll_interval_ms
    shown = (
        "max.poll.interval.ms",
        *(() if alone else ("max.poll.records",)),
        "partition.assignment.strategy",
    )
    needed = setup.listener_ms + batch
    hit = Hit(
        group.at(*shown),
        shown[:1] if alone else shown[:2],
        {
            "group": group.name,
            "work": f"{seconds(setup.listener_ms)} of work in a rebalance listener"
            + ("" if alone else f", after a batch of {seconds(batch)},"),
            "interval": seconds(setup.max_poll_interval_ms),
        },
        (*group.shown(*shown), *group.stated("listener_ms", "processing_ms")),
        numbers=(
            ("the listener takes", seconds(setup.listener_ms)),
            *((("a batch takes", seconds(batch)),) if batch else ()),
            ("max.poll.interval.ms", seconds(setup.max_poll_interval_ms)),
            ("a member owns nothing for up to", seconds(found["longest_ms"])),
            ("assumed", f"{MEMBERS} members and one that joins when a batch has just begun"),
        ),
        edits=group.edits(
            Edit("interval", "consumer", "max.poll.interval.ms", str(round_up_ms(1.5 * needed)))
        ),
        advice=("keep a rebalance listener short: commit, and leave flushing and loading to other threads",),
    )
    again = group.again(
        context,
        lambda other: joined(other.setup._replace(listener_ms=setup.listener_ms, partitions=2 * MEMBERS))[
            "trace"
        ],
    )
    yield Judgement("broken", hit, tuple(found["trace"]), faults=faults, bounds=bounds, again=again)


def joined(setup: GroupSetup) -> dict[str, Any]:
    """A third member joins two that work: is one of them left out of that rebalance, and for how long?"""
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    setup = smaller_batch(setup)
    run = GroupRun(setup._replace(initial_delay_ms=0, listener_ms=0), Phase())
    run.narrates = True
    run.committed = (0,) * run.partitions
    nodes = [run.start("m0"), run.start("m1", delay=100)]
    run.until(lambda: all(len(node.owned) == MEMBERS for node in nodes), 120_000)
    run.wait(setup.heartbeat_ms)
    # The group's first start is over; from here on the listener has work to do.
    run.setup = run.setup._replace(listener_ms=setup.listener_ms)
    run.produce(nodes[0].owned[0], setup.reading.batch)
    run.wait(50)
    since, before = run.clock.now, len(run.history)
    horizon = 4 * (setup.max_poll_interval_ms + setup.listener_ms)
    newcomer = run.start("m2")
    run.until(lambda: bool(newcomer.owned), horizon)
    run.wait(1_000)
    # There are partitions for everybody: who has none now was not waited for.
    evicted = any(not node.owned for node in nodes)
    run.wait(since + horizon - run.clock.now)
    evicted = evicted or any(entry.what == "left-slow" for entry in run.history[before:])
    longest = max(_unowned(run.history, name, since, run.clock.now) for name in ("m0", "m1"))
    return {
        "evicted": evicted,
        "longest_ms": longest,
        "trace": list(story(run, since, rows_max=14)),
    }


def _unowned(history: list[Any], name: str, since: int, end: int) -> int:
    """The longest time in which a member owned nothing."""
    owned: set[int] = set()
    longest, empty_at = 0, None
    for entry in history:
        if entry.node != name:
            continue
        if entry.what == "assigned":
            owned |= set(entry.partitions)
        elif entry.what in ("revoked", "lost"):
            owned -= set(entry.partitions)
        if entry.time < since:
            continue
        if not owned and empty_at is None:
            empty_at = entry.time
        elif owned and empty_at is not None:
            longest, empty_at = max(longest, entry.time - empty_at), None
    return max(longest, end - empty_at) if empty_at is not None else longest
