"""rebalance-pause: how long partitions stay unread when a member dies, sticks or is rolled.

The parts: crash (until the others have its partitions), stuck (one member keeps all waiting), roll (how
often partitions are taken away), start (one rebalance per member that starts), renamed (static members under
new names), coordinator (commits wait for another broker).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ....context import Context, Hit, Judgement
from ....model import REVIEW, Deployment, Edit
from ....sim.groups.clock.phases import GroupSetup, Phase
from ..assignor_moves import CLASSES, advice
from .settings import Asked, groups_of, seconds

MEMBERS_MAX = 8  # of a group on the clock; more are run as that many, and said so


def judge(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    by = _PAUSES[context.part]
    for group in groups_of(deployment, context):
        if not group.alone:
            yield from by(group, context)


def _crash(group: Asked, context: Context) -> Iterable[Judgement]:
    setup = group.setup
    component, session, _ = group.session_keys
    limit = int(context.params.get("limit_ms", 120_000))
    if f"{component}.{session}" in group.unknown:
        return
    faults = {"member_crash": 1}
    if setup.session_ms + 2 * setup.heartbeat_ms <= limit:
        yield Judgement("holds", faults=faults, bounds=f"a pause of {seconds(limit)}")
        return
    found = _crash_of(group, context)
    if found["longest_ms"] <= limit:
        yield Judgement("holds", faults=faults, bounds=f"a pause of {seconds(limit)}")
        return
    shown = group.shown(session, component=component)
    shorter = Edit("session", component, session, "45000")
    hit = Hit(
        group.look.place(*(one for _, one in shown)) if component == "broker" else group.at(session),
        (session,),
        {"group": group.name, "longest": seconds(found["longest_ms"]), "limit": seconds(limit)},
        (*shown, *group.shown("group.instance.id")),
        numbers=(
            ("unread after a crash", f"{seconds(found['shortest_ms'])} to {seconds(found['longest_ms'])}"),
            ("slow records", "are max.poll.interval.ms's matter since KIP-62, not the session's"),
        ),
        # Static members are meant to be waited for: the orchestrator restarts them.
        severity="note" if group.instance or "consumer.group.instance.id" in group.unknown else None,
        edits=(shorter,) if component == "broker" else group.edits(shorter),
    )
    again = group.again(context, lambda other: _crash_of(other, context)["trace"])
    yield Judgement("broken", hit, tuple(found["trace"]), faults=faults, again=again)


def _crash_of(group: Asked, context: Context) -> dict[str, Any]:
    clocked = group.setup._replace(partitions=2, process_ms=0)
    found: dict[str, Any] = context.remember("crash", repr(clocked), lambda: _crashed(clocked))
    return found


def _crashed(setup: GroupSetup) -> dict[str, Any]:
    from ....sim.groups.clock.outcomes import outcomes

    found = sorted(outcomes(partial(_crashed_in, setup)), key=lambda one: int(one["unread_ms"]))
    return {
        "shortest_ms": found[0]["unread_ms"],
        "longest_ms": found[-1]["unread_ms"],
        "trace": found[-1]["trace"],
    }


def _crashed_in(setup: GroupSetup, phase: Phase) -> dict[str, Any]:
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup._replace(initial_delay_ms=0), phase, records=False)
    run.narrates = True
    nodes = [run.start("m0"), run.start("m1", delay=phase.open)]
    run.until(lambda: all(len(node.owned) == 1 for node in nodes), 60_000)
    run.to_beat(nodes[1])
    at = run.clock.now
    run.kill(nodes[1])
    run.until(lambda: len(nodes[0].owned) == 2, 2 * setup.session_ms + 60_000)
    return {"unread_ms": run.clock.now - at, "trace": list(story(run, at))}


def _stuck(group: Asked, context: Context) -> Iterable[Judgement]:
    setup = group.setup
    limit = int(context.params.get("limit_ms", 600_000))
    deciding = {"consumer.max.poll.interval.ms", "consumer.partition.assignment.strategy"}
    known = deciding.isdisjoint(group.unknown)
    if not known or not setup.eager:
        return
    faults = {"member_pause": 1, "rebalance": 1}
    if setup.max_poll_interval_ms <= limit:
        yield Judgement("holds", faults=faults, bounds=f"a pause of {seconds(limit)}")
        return
    found = _stuck_of(group, context)
    hit = Hit(
        group.at("max.poll.interval.ms"),
        ("max.poll.interval.ms", "partition.assignment.strategy"),
        {"group": group.name, "longest": seconds(found["longest_ms"])},
        group.shown("max.poll.interval.ms", "partition.assignment.strategy"),
        numbers=(
            ("a healthy member owns nothing for", seconds(found["longest_ms"])),
            ("assumed", "three members; one is stuck for the whole interval when another one joins"),
        ),
        edits=group.edits(
            Edit("interval", "consumer", "max.poll.interval.ms", str(min(limit, 300_000))),
            Edit(
                "strategy",
                "consumer",
                "partition.assignment.strategy",
                "cooperative-sticky" if group.librdkafka else CLASSES["cooperative-sticky"],
                safety=REVIEW,
            ),
        ),
        advice=advice(setup.strategies, ("cooperative-sticky",), group.librdkafka),
    )
    again = group.again(context, lambda other: _stuck_of(other, context)["trace"])
    yield Judgement("broken", hit, tuple(found["trace"]), faults=faults, again=again)


def _stuck_of(group: Asked, context: Context) -> dict[str, Any]:
    clocked = group.setup._replace(partitions=3, process_ms=0)
    found: dict[str, Any] = context.remember("stuck", repr(clocked), lambda: _stuck_run(clocked))
    return found


def _stuck_run(setup: GroupSetup) -> dict[str, Any]:
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup._replace(initial_delay_ms=0), Phase(), records=False)
    run.narrates = True
    nodes = [run.start("m0"), run.start("m1", delay=100)]
    run.until(lambda: all(node.owned for node in nodes), 60_000)
    run.wait(2_000)
    since = run.clock.now
    run.stall(nodes[0], setup.max_poll_interval_ms + 60_000)
    nodes.append(run.start("m2", delay=100))
    run.until(lambda: bool(nodes[2].owned), 2 * setup.max_poll_interval_ms)
    healthy = [entry for entry in run.history if entry.node == "m1" and entry.time >= since]
    gone = next((entry.time for entry in healthy if entry.what == "revoked"), since)
    back = next((entry.time for entry in healthy if entry.what == "assigned" and entry.time > gone), gone)
    return {"longest_ms": back - gone, "trace": list(story(run, since, rows_max=12))}


def _roll(group: Asked, context: Context) -> Iterable[Judgement]:
    setup = group.setup
    members, why = group.members()
    partitions = group.look.count("topic.partitions")
    if not setup.eager or group.instance or members < 3 or partitions is None or group.unknown:
        return
    if group.document.client == "connect":
        return  # the tasks of a sink are moved by Connect's own rebalance, several at a time
    count, parts = min(members, MEMBERS_MAX), min(partitions, 4 * MEMBERS_MAX)
    clocked = setup._replace(partitions=parts, process_ms=0, strategies=("range",))
    # A roll of any group of that many: sessions and batches do not count.
    clocked = GroupSetup(partitions=parts, strategies=clocked.strategies)
    found = context.remember("roll", repr((clocked, count)), lambda: rolls(clocked, count))
    hit = Hit(
        group.at("partition.assignment.strategy", "group.id"),
        ("partition.assignment.strategy",),
        {
            "group": group.name,
            "members": str(count),
            "partitions": str(parts),
            "revoked": str(found["range"]),
            "cooperative": str(found["cooperative-sticky"]),
            "static": str(found["static"]),
        },
        group.shown("partition.assignment.strategy", "group.instance.id"),
        numbers=(
            ("partitions taken away in one roll, eager", str(found["range"])),
            ("cooperative-sticky", str(found["cooperative-sticky"])),
            ("static members, back within the session", str(found["static"])),
            ("members", why if count == members else f"{why}, run as {count}"),
            *((("partitions", f"{partitions}, run as {parts}"),) if parts != partitions else ()),
        ),
        advice=(
            *advice(group.setup.strategies, ("cooperative-sticky",), group.librdkafka),
            "or give each member a group.instance.id of its own and restart within session.timeout.ms",
        ),
    )
    yield Judgement("broken", hit, tuple(found["trace"]), faults={"roll": 1})


def rolls(setup: GroupSetup, members: int) -> dict[str, Any]:
    """Each member in turn is closed, the others share, it comes back: partitions taken away in all."""
    found: dict[str, Any] = {}
    for name, strategies, static in (
        ("range", ("range",), False),
        ("cooperative-sticky", ("cooperative-sticky",), False),
        ("static", ("range",), True),
    ):
        found[name], told = _rolled(
            setup._replace(strategies=strategies, initial_delay_ms=0), members, static
        )
        if name == "range":
            found["trace"] = told
    return found


def _rolled(setup: GroupSetup, members: int, static: bool) -> tuple[int, list[dict[str, Any]]]:
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup, Phase(), records=False)
    run.narrates = True

    def start(place: int) -> Any:
        return run.start(f"m{place}", instance=f"i{place}" if static else "", delay=100)

    def even(nodes: list[Any]) -> Callable[[], bool]:
        least = run.partitions // len(nodes)
        return lambda: (
            sum(len(node.owned) for node in nodes) == run.partitions
            and all(len(node.owned) >= least for node in nodes)
        )

    nodes: list[Any] = []
    for place in range(members):
        nodes.append(start(place))
        run.until(even(nodes), 120_000)
    # Where there are more members than partitions, all are owned before the last one's rebalance is over.
    run.wait(3 * setup.heartbeat_ms)
    since, count = run.clock.now, len(run.history)
    for place in range(members):
        run.close(nodes[place])
        if not static:
            run.until(even([node for node in nodes if node.alive]), 120_000)
        nodes[place] = start(place)
        run.until(even(nodes), 120_000)
        run.wait(3 * setup.heartbeat_ms)
    gone = sum(len(entry.partitions) for entry in run.history[count:] if entry.what == "revoked")
    return gone, list(story(run, since, rows_max=14))


def _start(group: Asked, context: Context) -> Iterable[Judgement]:
    """group.initial.rebalance.delay.ms=0, as Kafka's demo configuration has it: one rebalance per join."""
    setup, look = group.setup, group.look
    key = "group.initial.rebalance.delay.ms"
    delay, setting = look.number("broker", key)
    if delay is None or delay != 0 or setup.protocol != "classic" or not look.is_set("broker", key):
        return
    members, why = group.members()
    count = min(max(members, 2), MEMBERS_MAX) if why else 4
    clocked = GroupSetup(partitions=count, strategies=("range",), initial_delay_ms=0)
    found = context.remember("start", repr((clocked, count)), lambda: _started(clocked, count))
    held = clocked._replace(initial_delay_ms=3_000)
    calm = context.remember("start", repr((held, count)), lambda: _started(held, count))
    hit = Hit(
        look.place(setting),
        (key,),
        {"group": group.name, "members": str(count), "rebalances": str(found["rebalances"])},
        group.shown(key, component="broker"),
        numbers=(
            ("rebalances until all have a share", str(found["rebalances"])),
            ("with a delay of 3 s", str(calm["rebalances"])),
            ("members", why or f"{count}, assumed; they start half a second apart"),
        ),
        edits=(Edit("delay", "broker", key, "3000"),),
    )
    # The change that is offered waits as long as `held`.
    again = group.again(context, lambda other: calm["trace"])
    yield Judgement("broken", hit, tuple(found["trace"]), again=again)


def _started(setup: GroupSetup, members: int) -> dict[str, Any]:
    from ....sim.groups.classic import Group
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup, Phase(), records=False)
    run.narrates = True
    nodes = [run.start(f"m{place}", delay=500 * place) for place in range(members)]
    run.until(lambda: all(len(node.owned) == 1 for node in nodes), 120_000)
    group = run.side.group
    return {
        "rebalances": group.generation if isinstance(group, Group) else group.epoch,
        "trace": list(story(run, rows_max=16)),
    }


def _renamed(group: Asked, context: Context) -> Iterable[Judgement]:
    from .renamed_members import judge as judge_renamed

    yield from judge_renamed(group, context)


def _coordinator(group: Asked, context: Context) -> Iterable[Judgement]:
    from .coordinators import judge as judge_coordinator

    yield from judge_coordinator(group, context)


_PAUSES: dict[str, Callable[[Asked, Context], Iterable[Judgement]]] = {
    "crash": _crash,
    "stuck": _stuck,
    "roll": _roll,
    "start": _start,
    "renamed": _renamed,
    "coordinator": _coordinator,
}
