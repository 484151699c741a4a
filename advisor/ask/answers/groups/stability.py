"""group-stable: is a member evicted though none failed? Slow batches, pauses, lost heartbeats, shared ids.

The `part` of the rule that asks: batch (max.poll.records x the time of a record), heartbeats, pause,
instance, listener (listening.py). Arithmetic decides first; only what it finds broken is run on the clock,
for the run to be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ....context import Context, Hit, Judgement
from ....join.effective import by_key
from ....model import Deployment, Document, Edit, Location
from ....sim.groups.clock.phases import GroupSetup, Phase
from ....syntax.numbers import COUNTS_MAX, integer
from .settings import Asked, groups_of, round_down, round_up_ms, seconds, smaller_batch, stands_before

# Of a safe region: batches that a person would think of.
BATCHES = (500, 100, 50, 10, 1)


def judge(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    by = _STABLE[context.part]
    for group in groups_of(deployment, context):
        if not group.alone:
            yield from by(group, context)


def _templated(group: Asked, *keys: str) -> Judgement | None:
    unknown = tuple(key for key in keys if key in group.unknown)
    if not unknown:
        return None
    return Judgement("unknown", reason=f"{', '.join(unknown)} is a template", depends_on=unknown)


# -- slow batches ------------------------------------------------------------------------------------------


def _batch(group: Asked, context: Context) -> Iterable[Judgement]:
    setup, look = group.setup, group.look
    keys = ("max.poll.records", "max.poll.interval.ms")
    if setup.reading.workers:
        return
    if look.workload("processing_ms") is None:
        if any(look.is_set("consumer", key) for key in keys):
            limit = setup.max_poll_interval_ms / setup.reading.batch
            yield Judgement(
                "unknown",
                reason=f"a batch fits while a record takes at most {seconds(round(limit, 1))}",
                depends_on=("[workload] processing_ms",),
            )
        return
    templated = _templated(group, *(f"consumer.{key}" for key in keys))
    if templated is not None:
        yield templated
        return
    needed = setup.reading.batch * setup.process_ms
    bounds = f"batches of {setup.reading.batch}, {setup.process_ms:g} ms a record"
    if needed <= setup.max_poll_interval_ms:
        yield Judgement("holds", bounds=bounds)
        return
    found = _storm_of(group, context)
    hit = Hit(
        group.at(*keys),
        keys,
        {
            "group": group.name,
            "batch": str(setup.reading.batch),
            "takes": seconds(needed),
            "interval": seconds(setup.max_poll_interval_ms),
        },
        (*group.shown(*keys), *group.stated("processing_ms")),
        numbers=(
            ("a batch takes", f"{seconds(needed)} ({setup.reading.batch} x {setup.process_ms:g} ms)"),
            ("max.poll.interval.ms", seconds(setup.max_poll_interval_ms)),
            *found["numbers"],
            *safe_region(setup),
            ("assumed", "two members, two partitions, a backlog of full batches"),
        ),
        edits=_smaller(group, needed),
        advice=("hand long work to another thread, pause() the partitions and go on polling meanwhile",),
    )
    again = group.again(context, lambda other: _storm_of(other, context)["trace"])
    yield Judgement("broken", hit, tuple(found["trace"]), bounds=bounds, again=again)


def _storm_of(group: Asked, context: Context) -> dict[str, Any]:
    clocked = group.setup._replace(partitions=2)
    found: dict[str, Any] = context.remember("storm", repr(clocked), lambda: storm(clocked))
    return found


def _smaller(group: Asked, needed: float) -> tuple[Edit, ...]:
    """Half of what would just fit, or twice the time: a batch that just fits is late on a bad day."""
    setup = group.setup
    records = round_down(setup.max_poll_interval_ms / setup.process_ms / 2)
    longer = Edit("interval", "consumer", "max.poll.interval.ms", str(round_up_ms(2 * needed)))
    if records < 1 or group.librdkafka:
        return group.edits(longer)
    return group.edits(Edit("batch", "consumer", "max.poll.records", str(records)), longer)


def safe_region(setup: GroupSetup) -> tuple[tuple[str, str], ...]:
    """max.poll.records x time of a record that fits the interval, and that for a few batches."""
    interval = setup.max_poll_interval_ms
    return (
        ("safe region", f"max.poll.records x processing_ms <= {interval}"),
        *(
            (f"safe with max.poll.records={batch}", f"up to {seconds(interval // batch)} a record")
            for batch in BATCHES
        ),
    )


def storm(setup: GroupSetup) -> dict[str, Any]:
    """Two members with a backlog, for as long as three batches take."""
    from ....sim.groups.clock.phases import GRID
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    setup = smaller_batch(setup)
    needed = int(setup.reading.batch * setup.process_ms)
    run = GroupRun(setup._replace(initial_delay_ms=min(setup.initial_delay_ms, 3_000)), GRID[0])
    run.narrates = True
    backlog = 4 * setup.reading.batch
    for partition in (0, 1):
        run.produce(partition, backlog)
    run.committed = (0, 0)
    run.start("m0")
    run.start("m1", delay=100)
    run.wait(3 * needed + setup.max_poll_interval_ms)
    most = max((times for row in run.times for times in row.values()), default=0)
    evictions = sum(entry.what == "left-slow" for entry in run.history)
    lasted = run.clock.now
    return {
        "numbers": [
            [f"in {seconds(lasted)} of a backlog", f"{evictions} evictions"],
            ["the same record is processed up to", f"{most} times"],
            ["offsets committed", f"{sum(run.committed)} of {sum(run.ends)}"],
        ],
        "trace": list(story(run, rows_max=16)),
        "evictions": evictions,
        "committed": sum(run.committed),
        "most": most,
    }


# -- heartbeats and pauses ---------------------------------------------------------------------------------


def _heartbeats(group: Asked, context: Context) -> Iterable[Judgement]:
    setup = group.setup
    component, session, beat = group.session_keys
    templated = _templated(group, f"{component}.{session}", f"{component}.{beat}")
    if templated is not None:
        yield templated
        return
    lost = max((int(option.get("lost_heartbeat", 0)) for option in context.question.faults), default=0)
    if setup.heartbeat_ms >= setup.session_ms:
        return  # Kafka refuses that
    faults = {"lost_heartbeat": lost}
    if (lost + 1) * setup.heartbeat_ms <= setup.session_ms:
        yield Judgement("holds", faults=faults, bounds=f"{lost} heartbeats lost in a row")
        return
    third = setup.session_ms // 3
    fitting = third // 1_000 * 1_000 or third
    one = 2 * setup.heartbeat_ms >= setup.session_ms
    few = 1 if one else lost
    found = _unheard_of(group, few, context)
    look = group.look
    shown = group.shown(session, beat, component=component)
    hit = Hit(
        look.place(*(setting for _, setting in reversed(shown))),
        (beat, session),
        {
            "group": group.name,
            "what": "one lost heartbeat evicts" if one else f"{lost} heartbeats lost in a row evict",
            "beat": seconds(setup.heartbeat_ms),
            "session": seconds(setup.session_ms),
        },
        shown,
        numbers=(
            ("heartbeats fit into a session", str(setup.session_ms // setup.heartbeat_ms)),
            ("Kafka's advice", "heartbeat at most a third of the session"),
        ),
        edits=(
            *_where(group, component, Edit("beat", component, beat, str(fitting))),
            *_where(group, component, Edit("session", component, session, str(3 * setup.heartbeat_ms))),
        ),
    )
    again = group.again(context, lambda other: _unheard_of(other, few, context)["trace"])
    yield Judgement("broken", hit, tuple(found["trace"]), faults=faults, again=again)


def _unheard_of(group: Asked, lost: int, context: Context) -> dict[str, Any]:
    setup = group.setup
    clocked = GroupSetup(
        protocol=setup.protocol,
        strategies=setup.strategies,
        own=setup.own,
        partitions=2,
        session_ms=setup.session_ms,
        heartbeat_ms=setup.heartbeat_ms,
    )
    mark = repr((clocked, lost))
    found: dict[str, Any] = context.remember("heartbeats", mark, lambda: _unheard(clocked, lost))
    return found


def _where(group: Asked, component: str, edit: Edit) -> tuple[Edit, ...]:
    return (edit,) if component == "broker" else group.edits(edit)


def _unheard(setup: GroupSetup, lost: int) -> dict[str, Any]:
    """Two members; so many heartbeats in a row of one of them do not arrive."""
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup._replace(initial_delay_ms=0), Phase(beat=0.02), records=False)
    run.narrates = True
    nodes = [run.start("m0"), run.start("m1", delay=100)]
    run.until(lambda: all(len(node.owned) == 1 for node in nodes), 60_000)
    run.to_beat(nodes[0])
    since, before = run.clock.now, len(run.history)
    run.lose_heartbeats(nodes[0], lost)
    run.wait(3 * setup.session_ms)
    evicted = any(entry.what == "lost" and entry.node == "m0" for entry in run.history[before:])
    return {"evicted": evicted, "trace": list(story(run, since, rows_max=10))}


def _pause(group: Asked, context: Context) -> Iterable[Judgement]:
    setup = group.setup
    pause = group.look.workload("longest_pause_ms")
    if pause is None:
        return
    component, session, beat = group.session_keys
    templated = _templated(group, f"{component}.{session}", f"{component}.{beat}")
    if templated is not None:
        yield templated
        return
    pause = int(pause)
    faults = {"member_pause": 1}
    if pause + setup.heartbeat_ms <= setup.session_ms:
        yield Judgement("holds", faults=faults, bounds=f"a pause of {seconds(pause)}")
        return
    trace = _pause_of(group, pause, context)
    shown = group.shown(session, beat, component=component)
    longer = round_up_ms(1.5 * (pause + setup.heartbeat_ms))
    hit = Hit(
        group.look.place(*(setting for _, setting in shown)) if component == "broker" else group.at(session),
        (session,),
        {
            "group": group.name,
            "pause": seconds(pause),
            "silent": seconds(pause + setup.heartbeat_ms),
            "session": seconds(setup.session_ms),
        },
        (*shown, *group.stated("longest_pause_ms")),
        numbers=(
            ("the longest pause", seconds(pause)),
            ("since the last heartbeat up to", seconds(pause + setup.heartbeat_ms)),
            ("the session", seconds(setup.session_ms)),
        ),
        edits=_where(group, component, Edit("session", component, session, str(longer))),
    )
    again = group.again(context, lambda other: _pause_of(other, pause, context))
    yield Judgement("broken", hit, tuple(trace), faults=faults, again=again)


def _pause_of(group: Asked, pause: int, context: Context) -> list[dict[str, Any]]:
    clocked = group.setup._replace(partitions=2)
    mark = repr((clocked, pause))
    found: list[dict[str, Any]] = context.remember("pause", mark, lambda: _paused(clocked, pause))
    return found


def _paused(setup: GroupSetup, pause: int) -> list[dict[str, Any]]:
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup._replace(initial_delay_ms=0), Phase(beat=0.97), records=False)
    run.narrates = True
    nodes = [run.start("m0"), run.start("m1", delay=100)]
    run.until(lambda: all(len(node.owned) == 1 for node in nodes), 60_000)
    run.to_beat(nodes[0])
    since = run.clock.now
    run.pause(nodes[0], pause)
    run.wait(2 * pause + 2 * setup.session_ms)
    return list(story(run, since, rows_max=10))


# -- one instance id twice ---------------------------------------------------------------------------------


def _instance(group: Asked, context: Context) -> Iterable[Judgement]:
    """A literal group.instance.id in a configuration that several members start with."""
    if not group.instance:
        return
    members, why = group.members()
    pods = next((fact for fact in group.document.facts if fact.name == "pod.count"), None)
    if group.document.client == "spring" and group.look.workload("members") is None:
        members = 1  # the container appends -n to the id of each of its consumers
    if pods is not None and group.look.workload("members") is None:
        # Each pod starts with the same text.
        members = integer(pods.value, (0, COUNTS_MAX["group.members"])) or 0
        why = f"{pods.value} pods of {pods.origin.note}"
    twins = [
        other
        for other in group.look.deployment.groups
        if other is not group.document and _same_instance(group, other, context)
    ]
    if members < 2 and not twins:
        return
    if members < 2 and any(stands_before(other, group.document) for other in twins):
        return  # told once, at the first
    classic = group.setup.protocol == "classic"
    clocked = group.setup._replace(partitions=2, process_ms=0)
    trace = context.remember("instance", repr(clocked), lambda: _twins(clocked))
    hit = Hit(
        group.at("group.instance.id"),
        ("group.instance.id",),
        {
            "group": group.name,
            "instance": group.instance,
            "what": "fences the one that is there" if classic else "is refused and stops",
        },
        group.shown("group.instance.id", "group.id"),
        numbers=(("members", why or f"{group.name} and {twins[0].name}"),),
        also_at=(
            *(_written(other) for other in twins),
            *([pods.origin.at] if pods is not None and pods.origin.at is not None else []),
        ),
        edits=group.edits(Edit("instance", "consumer", "group.instance.id", None)),
        advice=("give every member an id of its own: group.instance.id=${HOSTNAME} of a StatefulSet",),
    )
    yield Judgement("broken", hit, tuple(trace))


def _written(document: Document) -> Location:
    """Where its id stands."""
    given = by_key(document).get("group.instance.id")
    at = given.origin.at if given is not None else None
    return at or Location(document.file, document.line)


def _same_instance(group: Asked, other: Any, context: Context) -> bool:
    settings = by_key(other)
    mine, _ = group.look.text("consumer", "group.id")
    wanted = {"group.instance.id": group.instance, "group.id": mine}
    return all((one.value if (one := settings.get(key)) else None) == wanted[key] for key in wanted)


def _twins(setup: GroupSetup) -> list[dict[str, Any]]:
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup._replace(initial_delay_ms=0), Phase(), records=False)
    run.narrates = True
    first = run.start("m0", instance="the id")
    run.until(lambda: len(first.owned) == 2, 60_000)
    run.wait(1_000)
    since = run.clock.now
    run.start("m1", instance="the id")
    run.wait(4 * setup.heartbeat_ms)
    return list(story(run, since, rows_max=8))


def _listener(group: Asked, context: Context) -> Iterable[Judgement]:
    from .listeners import judge as judge_listener

    yield from judge_listener(group, context)


_STABLE: dict[str, Callable[[Asked, Context], Iterable[Judgement]]] = {
    "listener": _listener,
    "batch": _batch,
    "heartbeats": _heartbeats,
    "pause": _pause,
    "instance": _instance,
}
