"""members-admitted, members-share-work, reads-in-time: what settings of a group say against each other.

Arithmetic and Kafka's own assignors; the run is shown where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ....context import Context, Hit, Judgement
from ....model import Deployment, Edit
from ....sim.groups.clock.phases import FetchSetup, GroupSetup, Phase
from ..assignor_moves import CLASSES, advice
from .settings import Asked, asked, groups_of, seconds, stands_before
from .topics import topics_of

ROUNDS = 5  # fetches that are played


def judge_admitted(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    parts = {"bounds": _bounds, "assignors": _assignors, "assigned": _assigned, "protocol": _protocol}
    by = parts[context.part]
    for group in groups_of(deployment, context):
        if group.alone == (by is _assigned):
            yield from by(group, context)


def judge_shared(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    by = {"idle": _idle, "skew": _skew}[context.part]
    for group in groups_of(deployment, context):
        if not group.alone:
            yield from by(group, context)


def judge_in_time(deployment: Deployment, context: Context) -> Iterable[Judgement]:
    by: Callable[[Asked, Context], Iterable[Judgement]]
    by = {"timeout": _timeout, "held": _held, "follower": _follower, "rack": _rack}[context.part]
    for group in groups_of(deployment, context):
        yield from by(group, context)


# -- is a member let in? -----------------------------------------------------------------------------------


def _bounds(group: Asked, context: Context) -> Iterable[Judgement]:
    """session.timeout.ms outside of what the brokers allow: every join is refused."""
    look, key = group.look, "session.timeout.ms"
    if group.setup.protocol != "classic" or not look.is_set("consumer", key):
        return
    value, _ = look.number("consumer", key)
    limits = {}
    for side in ("min", "max"):
        name = f"group.{side}.session.timeout.ms"
        limit, found = look.number("broker", name)
        default = look.default("broker", name)
        if limit is None and found is None and default is not None:
            limit = int(default)
        limits[side] = limit
    low, high = limits["min"], limits["max"]
    if value is None or low is None or high is None or low <= value <= high:
        return
    seen = look.in_sight("broker", "group.min.session.timeout.ms")
    where = "the broker's" if seen else "a broker's default"
    name, limit = ("group.min", low) if value < low else ("group.max", high)
    if not seen:
        yield Judgement(
            "unknown",
            reason=f"session.timeout.ms={value} is refused unless {name}.session.timeout.ms is not {limit}",
            depends_on=(f"broker.{name}.session.timeout.ms",),
        )
        return
    hit = Hit(
        group.at(key),
        (key,),
        {
            "group": group.name,
            "value": str(value),
            "limit": f"{where} {name}.session.timeout.ms={limit}",
        },
        (*group.shown(key), *group.shown(f"{name}.session.timeout.ms", component="broker")),
        numbers=(("allowed", f"{low} to {high} ms"),),
        edits=(
            *group.edits(Edit("session", "consumer", key, str(min(max(45_000, low), high)))),
            Edit("bound", "broker", f"{name}.session.timeout.ms", str(value)),
        ),
    )
    setup = GroupSetup(session_ms=value, session_bounds_ms=(low, high), initial_delay_ms=0)
    trace = context.remember("session", repr(setup), lambda: _turned_away(setup))
    yield Judgement("broken", hit, tuple(trace))


def _turned_away(setup: GroupSetup) -> list[dict[str, Any]]:
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup, Phase(), records=False)
    run.narrates = True
    run.start("m0")
    run.wait(10_000)
    return list(story(run))


def _assignors(group: Asked, context: Context) -> Iterable[Judgement]:
    """Two configurations of one group whose lists of assignors have nothing in common."""
    if group.setup.protocol != "classic" or "consumer.partition.assignment.strategy" in group.unknown:
        return
    mine, _ = group.look.text("consumer", "group.id")
    for other in group.look.deployment.groups:
        if not mine or other is group.document or other.component != "consumer":
            continue
        if not stands_before(group.document, other):
            continue  # told once, at the first
        theirs = asked(group.look.deployment, other, context)
        same, _ = theirs.look.text("consumer", "group.id")
        if same != mine or theirs.setup.protocol != "classic" or theirs.unknown:
            continue
        if set(theirs.setup.strategies) & set(group.setup.strategies):
            continue
        mine_own, theirs_own = group.setup.own, theirs.setup.own
        setup = GroupSetup(
            partitions=4, strategies=group.setup.strategies, own=mine_own or theirs_own, initial_delay_ms=0
        )
        strategies = theirs.setup.strategies
        trace = _refused(context, setup, strategies)
        key = "partition.assignment.strategy"
        hit = Hit(
            group.at(key),
            (key,),
            {"group": mine, "one": group.document.file, "other": other.file},
            (*group.shown(key), *theirs.shown(key)),
            numbers=(
                (group.document.file, ", ".join(group.setup.strategies)),
                (other.file, ", ".join(strategies)),
            ),
            also_at=(theirs.at(key),),
            advice=(
                "list one assignor in common in both",
                f"to move to the list of {other.file}:",
                *advice(group.setup.strategies, strategies, group.librdkafka),
            ),
        )
        yield Judgement("broken", hit, tuple(trace))


def _refused(context: Context, setup: GroupSetup, strategies: tuple[str, ...]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]]
    found = context.remember("mixed", repr((setup, strategies)), lambda: _mixed(setup, strategies))
    return found


def _mixed(setup: GroupSetup, strategies: tuple[str, ...]) -> list[dict[str, Any]]:
    from ....sim.groups.clock.story import story
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup, Phase(), records=False)
    run.narrates = True
    first = run.start("m0")
    run.until(lambda: len(first.owned) == 4, 60_000)
    run.start("m1", strategies=strategies, delay=100)
    run.wait(10_000)
    return list(story(run, rows_max=8))


def _assigned(group: Asked, context: Context) -> Iterable[Judgement]:
    from .standalone import judge

    yield from judge(group, context)


def _protocol(group: Asked, context: Context) -> Iterable[Judgement]:
    if group.look.is_set("consumer", "group.protocol"):
        from .protocol import judge

        yield from judge(group, context)


# -- does every member have something to do? ---------------------------------------------------------------


def _idle(group: Asked, context: Context) -> Iterable[Judgement]:
    members, why = group.members()
    topics = topics_of(group.document, group.look.deployment, context)
    partitions = group.look.count("topic.partitions")
    if partitions is not None and not topics:
        topics = {"topic": partitions}
    total = sum(topics.values())
    if not why or not total:
        return
    if members <= total:
        yield Judgement("holds", bounds=f"{members} members, {total} partitions")
        return
    stated = next((one.origin.at for one in group.document.facts if one.name == "group.members"), None)
    hit = Hit(
        stated or group.at("group.id"),
        ("group.members",),
        {
            "group": group.name,
            "members": str(members),
            "partitions": str(total),
            "idle": str(members - total),
        },
        group.stated("members"),
        numbers=(
            ("members", why),
            ("partitions", ", ".join(f"{name}: {count}" for name, count in topics.items())),
        ),
        advice=(f"run at most {total} members (Spring: concurrency, Connect: tasks.max), or add partitions",),
    )
    yield Judgement("broken", hit)


def _skew(group: Asked, context: Context) -> Iterable[Judgement]:
    """The range assignor over several topics gives the odd ones of every topic to the same members."""
    setup = group.setup
    members, why = group.members()
    topics = topics_of(group.document, group.look.deployment, context)
    if not why or members < 2 or len(topics) < 2 or setup.protocol != "classic" or group.unknown:
        return
    if setup.strategies[0] != "range":
        return
    sizes = tuple(topics.values())
    holds = Judgement("holds", bounds=f"{members} members, {len(sizes)} topics")
    if members > sum(sizes):
        yield holds
        return
    found = context.remember("skew", repr((sizes, members)), lambda: _shares(sizes, members))
    most, least, even = found["most"], found["least"], found["even"]
    if most <= even + 1:
        yield holds
        return
    key = "partition.assignment.strategy"
    hit = Hit(
        group.at(key, "group.id"),
        (key,),
        {
            "group": group.name,
            "most": str(most),
            "least": str(least),
            "topics": str(len(sizes)),
            "members": str(members),
        },
        group.shown(key),
        numbers=(
            ("partitions of the first member", str(most)),
            ("of the last", str(least)),
            ("evenly shared", f"at most {even}"),
            ("members", why),
        ),
        edits=group.edits(
            Edit(
                "strategy",
                "consumer",
                key,
                "roundrobin" if group.librdkafka else CLASSES["roundrobin"],
            )
        ),
        advice=advice(setup.strategies, ("roundrobin",), group.librdkafka),
    )
    yield Judgement("broken", hit)


def _shares(sizes: tuple[int, ...], members: int) -> dict[str, int]:
    from ....sim.groups.plans import Seat, plan

    shares = [len(owned) for owned in plan("range", [Seat(n) for n in range(members)], sizes).values()]
    return {"most": max(shares), "least": min(shares), "even": -(-sum(sizes) // members)}


def _follower(group: Asked, context: Context) -> Iterable[Judgement]:
    from .follower_reads import judge_late

    yield from judge_late(group, context)


def _rack(group: Asked, context: Context) -> Iterable[Judgement]:
    from .follower_reads import judge_unused

    yield from judge_unused(group, context)


# -- is a record read in time? -----------------------------------------------------------------------------


def _timeout(group: Asked, context: Context) -> Iterable[Judgement]:
    """A fetch that the broker holds for as long as the client waits for an answer times out for ever."""
    look = group.look
    wait, _ = look.number("consumer", "fetch.max.wait.ms")
    patience, _ = look.number("consumer", "request.timeout.ms")
    least, _ = look.number("consumer", "fetch.min.bytes")
    if group.librdkafka or wait is None or patience is None or wait < patience:
        return
    rate, size = look.workload("records_per_second"), look.workload("record_bytes")
    partitions = look.count("topic.partitions") or 1
    setup = FetchSetup(
        1 if least is None else least,
        wait,
        patience,
        float(rate) * int(size) / partitions if rate is not None and size is not None else 0,
        int(size) if size is not None else 100,
    )
    found = context.remember("fetches", repr(setup), lambda: _fetched(setup))
    if not found["timeouts"] and not setup.bytes_per_second:
        # What is there is read at once; it is the empty topic that the client does not wait for.
        empty = setup._replace(record_bytes=0)
        found = context.remember("fetches", repr(empty), lambda: _fetched(empty))
        setup = empty
    if not found["timeouts"]:
        yield Judgement("holds", bounds=f"{setup.bytes_per_second:g} bytes a second in each partition")
        return
    keys = ("fetch.max.wait.ms", "request.timeout.ms")
    read = found["first_read_ms"]
    if not setup.record_bytes:
        what = f"while nothing is written it drops its connection every {seconds(patience)}"
    elif read is None:
        what = "a record of a quiet topic is never read"
    else:
        what = f"a record of a quiet topic is read after {seconds(read)}"
    hit = Hit(
        group.at(*keys),
        keys,
        {
            "group": group.name,
            "wait": seconds(wait),
            "patience": seconds(patience),
            "what": what,
        },
        (*group.shown(*keys, "fetch.min.bytes"), *group.stated("records_per_second", "record_bytes")),
        numbers=(
            ("fetch.min.bytes", str(setup.min_bytes)),
            (f"fetches given up in {seconds(ROUNDS * patience)}", str(found["timeouts"])),
            ("assumed", f"{setup.record_bytes} bytes are written, and then nothing")
            if not setup.bytes_per_second
            else ("bytes a second in each partition", f"{setup.bytes_per_second:g}"),
        ),
        edits=group.edits(
            Edit("wait", "consumer", "fetch.max.wait.ms", "500"),
            Edit("patience", "consumer", "request.timeout.ms", str(max(30_000, 2 * wait))),
        ),
        severity=None if setup.record_bytes else "warning",
    )
    yield Judgement("broken", hit, tuple(found["rows"]))


def _fetched(setup: FetchSetup) -> dict[str, Any]:
    from ....sim.groups.clock.fetches import fetched

    return fetched(setup, ROUNDS * setup.request_timeout_ms)._asdict()


def _held(group: Asked, context: Context) -> Iterable[Judgement]:
    look = group.look
    limit = int(context.params.get("limit_ms", 5_000))
    wait, _ = look.number("consumer", "fetch.max.wait.ms")
    least, _ = look.number("consumer", "fetch.min.bytes")
    patience, _ = look.number("consumer", "request.timeout.ms")
    if wait is None or least is None or least <= 1 or wait <= limit or (patience or wait + 1) <= wait:
        return
    rate, size = look.workload("records_per_second"), look.workload("record_bytes")
    numbers = [("a fetch is held for up to", seconds(wait)), ("until there are", f"{least} bytes")]
    if rate is not None and size is not None:
        from ....sim.groups.consumer import fetch_wait_ms

        partitions = look.count("topic.partitions") or 1
        held = fetch_wait_ms(float(rate) * int(size) / partitions, least, wait)
        if held <= limit:
            yield Judgement("holds", bounds=f"{rate} records of {size} bytes a second")
            return
        numbers.append(("at the stated rate", seconds(held)))
    keys = ("fetch.max.wait.ms", "fetch.min.bytes")
    hit = Hit(
        group.at(*keys),
        keys,
        {"group": group.name, "wait": seconds(wait)},
        (*group.shown(*keys), *group.stated("records_per_second", "record_bytes")),
        numbers=tuple(numbers),
        edits=group.edits(
            Edit("wait", "consumer", "fetch.max.wait.ms", "500"),
            Edit("least", "consumer", "fetch.min.bytes", "1"),
        ),
    )
    yield Judgement("broken", hit)
