"""How long and how much a log that deletes really keeps (UnifiedLog.deleteOldSegments).

Whole segments go, and only when their newest record is old enough, at the next check: so the time a segment
takes to fill comes on top of retention.ms, and the bytes of a segment on top of retention.bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....context import Context, Hit, Judgement
from ....join.effective import by_key
from .settings import LONG_MAX, Reading, life_story, nice_bytes, nice_ms, story_again, traffic_bounds

if TYPE_CHECKING:
    from ....sim.log.log import Schedule
    from ....sim.log.workload import Flow, Steady

_HOUR = 3_600_000
_YEAR = 365 * 24 * _HOUR
_AGE_KEYS = ("retention.ms", "segment.ms", "segment.bytes")
_SIZE_KEYS = ("retention.bytes", "segment.bytes")
_BY_HAND = (
    "retention says how long a record stays at least; what must be gone by a time is deleted with "
    "kafka-delete-records.sh"
)
_STAMP_KEYS = (
    "message.timestamp.type",
    "message.timestamp.after.max.ms",
    "message.timestamp.difference.max.ms",
)


def age(reading: Reading, context: Context) -> Judgement | None:
    """Does a record stay much longer than retention.ms says?"""
    retention = reading.number("retention.ms", -1)
    if "delete" not in reading.policies or retention < 0:
        return None
    times = float(context.params.get("times_max", 1.5))
    if reading.missing_traffic:
        return _age_without_traffic(reading, retention)
    from ....sim.log.amounts import duration
    from ....sim.log.workload import steady

    config, flow, schedule = reading.config(), reading.flow(), reading.schedule()
    assert flow is not None
    told = steady(config, flow, schedule)
    assert told.stays_max_ms is not None
    bounds = traffic_bounds(reading)
    limit = int(retention * times) + schedule.check_interval_ms
    if told.stays_max_ms <= limit:
        if reading.partitions is None and _slower(reading, limit):
            return Judgement(
                "unknown",
                depends_on=("topic.partitions",),
                reason="how long a record stays depends on how many partitions share the traffic",
            )
        return Judgement("holds", bounds=bounds)
    unseen = reading.unseen("retention.ms", _deciding(told))
    if unseen:
        if not any(reading.written(key) for key in _AGE_KEYS):
            return None  # nobody has said anything that could be held against the traffic
        kept = f"up to {duration(told.stays_max_ms)} instead of {duration(retention)}"
        reason = f"with Kafka's defaults for {', '.join(unseen)} a record stays {kept}"
        return Judgement("unknown", depends_on=unseen, reason=reason, bounds=bounds)
    hit = _age_hit(reading, retention, told, flow, schedule)
    run = life_story(context, config, flow, schedule)
    return Judgement("broken", hit, run, bounds=bounds, again=story_again(context))


def _deciding(told: Steady) -> str:
    return "segment.bytes" if told.segment.reason == "size" else "segment.ms"


def _age_hit(reading: Reading, retention: int, told: Steady, flow: Flow, schedule: Schedule) -> Hit:
    from ....sim.log.amounts import duration
    from ....sim.log.amounts import size as size_text

    at = reading.place(*_AGE_KEYS)
    segment, stays = told.segment, told.stays_max_ms or 0
    spare = nice_ms(retention // 4)
    edits = [reading.edit("segment.ms", spare)]
    if segment.reason == "size":
        smaller = nice_bytes(flow.batch_bytes * spare * 1000 // flow.gap_us)
        edits.append(reading.edit("segment.bytes", smaller))
    fill = f"{duration(segment.span_us // 1000)} to fill ({size_text(segment.bytes)})"
    return Hit(
        at,
        ("retention.ms", _deciding(told)),
        {
            "subject": reading.deployment.topic.name if reading.deployment.topic else reading.subject(),
            "stays": duration(stays),
            "retention": duration(retention),
            "segment": duration(segment.period_us // 1000),
        },
        reading.shown(_AGE_KEYS),
        numbers=(
            ("a record stays", f"{duration(told.stays_min_ms or 0)} to {duration(stays)}"),
            ("a segment takes", f"{fill}, closed by {segment.reason}"),
            ("kept per partition", f"{size_text(told.bytes_max or 0)} in {told.segments_max} segments"),
            ("files per partition", str(told.files_max)),
            ("checked every", duration(schedule.check_interval_ms)),
            *reading.assumptions(),
        ),
        also_at=reading.also(at, *_AGE_KEYS),
        severity=None if any(reading.written(key) for key in _AGE_KEYS) else "note",
        edits=tuple(edits),
        advice=(_BY_HAND,) if retention < 5 * schedule.check_interval_ms else (),
    )


def _slower(reading: Reading, limit: int) -> bool:
    """Would a share of the traffic such as one of very many partitions has break it?"""
    from ....sim.log.workload import steady

    flow = reading.flow(1000)
    assert flow is not None
    return (steady(reading.config(), flow, reading.schedule()).stays_max_ms or 0) > limit


def _age_without_traffic(reading: Reading, retention: int) -> Judgement | None:
    """Only where somebody asks for much less than a quiet log would keep is the traffic worth asking for."""
    longest = reading.number("segment.ms") + retention
    if not reading.written("retention.ms") or retention == 0 or longest <= 2 * retention:
        return None
    from ....sim.log.amounts import duration

    if not reading.seen("segment.ms"):
        return None
    return Judgement(
        "unknown",
        depends_on=reading.missing_traffic,
        reason=f"a record may stay {duration(longest)} instead of {duration(retention)} if traffic is low: "
        "state records_per_second and record_bytes",
    )


def size(reading: Reading, context: Context) -> Judgement | None:
    """Does a log grow far beyond retention.bytes?"""
    limit = reading.number("retention.bytes", -1)
    if limit <= 0 or "delete" not in reading.policies or not reading.written("retention.bytes"):
        return None
    from ....sim.log.amounts import size as size_text
    from ....sim.log.workload import Flow, steady

    schedule = reading.schedule()
    config = reading.config()
    flow = reading.flow()
    assumed: tuple[tuple[str, str], ...] = reading.assumptions()
    if flow is None:
        # Traffic that fills a segment long before its time: what retention.bytes is there for.
        fill_us = max(1, min(config.roll_ms, config.segment_ms) * 1000 // 20)
        batch = max(1, min(config.segment_bytes, 1 << 20))
        flow = Flow(1, batch, max(1, fill_us * batch // config.segment_bytes))
        assumed = (("assumed", "traffic that fills a segment in a twentieth of segment.ms"),)
        config = reading.config(retention_ms=-1)
    told = steady(config, flow, schedule)
    kept = limit + told.segment.bytes
    # A limit of a segment and more keeps one segment besides, as every log does.
    if (told.bytes_max or 0) <= limit or kept <= 2 * limit:
        return Judgement("holds", bounds=traffic_bounds(reading))
    unseen = reading.unseen("segment.bytes")
    if unseen:
        return Judgement(
            "unknown",
            depends_on=unseen,
            reason=f"with Kafka's default for segment.bytes a partition keeps up to {size_text(kept)} "
            f"instead of {size_text(limit)}",
        )
    at = reading.place(*_SIZE_KEYS)
    copies = (reading.partitions or 1) * (reading.replicas or 1)
    told_total = (
        (("in the whole cluster", f"{size_text(kept * copies)} in {copies} replicas"),) if copies > 1 else ()
    )
    hit = Hit(
        at,
        _SIZE_KEYS,
        {
            "subject": reading.subject(*_SIZE_KEYS),
            "limit": size_text(limit),
            "kept": size_text(kept),
            "segment": size_text(told.segment.bytes),
        },
        reading.shown(_SIZE_KEYS),
        numbers=(
            ("kept per partition", f"{size_text(limit)} to {size_text(kept)}, and what comes until a check"),
            *told_total,
            *assumed,
        ),
        also_at=reading.also(at, *_SIZE_KEYS),
        advice=("give retention.bytes 4 MiB at least: a segment has 1 MiB or more",)
        if limit < 4 << 20
        else (),
        edits=(reading.edit("segment.bytes", nice_bytes(limit // 4)),),
    )
    run = life_story(context, config, flow, schedule)
    return Judgement("broken", hit, run, bounds=traffic_bounds(reading), again=story_again(context))


def total_size(reading: Reading, context: Context) -> Judgement | None:
    """retention.bytes is the limit of a partition's replica: what is it for the topic?"""
    limit = reading.number("retention.bytes", -1)
    topic = reading.deployment.topic
    if limit <= 0 or "delete" not in reading.policies or topic is None:
        return None
    if "retention.bytes" not in by_key(topic):
        return None  # a broker's limit was not meant as the size of one topic
    partitions, replicas = reading.partitions, reading.replicas
    if partitions is None or partitions * (replicas or 1) < int(context.params.get("copies_min", 10)):
        return None
    from ....sim.log.amounts import size as size_text

    segment = reading.number("segment.bytes")
    copies = partitions * (replicas or 1)
    total = copies * (limit + segment)
    disk = int(context.params.get("disk_bytes", 0))
    brokers = reading.brokers
    share = total // brokers if brokers else None
    if disk and share is not None and share <= disk:
        return Judgement("holds", bounds="arithmetic")
    at = reading.place("retention.bytes")
    told = f"{partitions} partitions" + (f" of {replicas} replicas" if replicas else "")
    hit = Hit(
        at,
        ("retention.bytes",),
        {
            "subject": topic.name,
            "limit": size_text(limit),
            "copies": told,
            "total": size_text(total),
        },
        reading.shown(_SIZE_KEYS),
        numbers=(
            ("per replica", f"{size_text(limit)} and up to a segment ({size_text(segment)}) more"),
            ("in all", f"{told}: {size_text(total)}"),
            *((("per broker", f"{size_text(share)} on {brokers} brokers"),) if share is not None else ()),
        ),
        severity="warning" if disk and share is not None else None,
        advice=(
            f"size the disks for {size_text(total)}, or write retention.bytes as the topic's share divided "
            f"by {partitions} partitions",
        ),
    )
    return Judgement("broken", hit, bounds="arithmetic")


def future_timestamps(reading: Reading, context: Context) -> Judgement | None:
    """Can one record from a wrong clock keep its segment, and all behind it, for ever?"""
    if "delete" not in reading.policies or reading.number("retention.ms", -1) < 0:
        return None
    if not any(reading.written(key) for key in _STAMP_KEYS):
        return None
    if reading.text("message.timestamp.type").lower() != "createtime":
        return Judgement("holds", bounds="the broker's clock stamps every record")
    split = reading.version.number >= (3, 6)
    key = _STAMP_KEYS[1] if split else _STAMP_KEYS[2]
    ahead = reading.number(key)
    if ahead < _YEAR:
        return Judgement("holds", bounds="timestamps are refused that lie too far ahead")
    unseen = reading.unseen(key, "message.timestamp.type")
    if unseen:
        return None
    at = reading.place(*_STAMP_KEYS)
    config = reading.config(timestamp_after_max_ms=LONG_MAX)
    steps = context.remember("storage-future", repr(config), lambda: _future(config))
    hit = Hit(
        at,
        ("message.timestamp.type", key),
        {
            "subject": reading.subject(*_STAMP_KEYS),
            "key": key,
            "ahead": "any time" if ahead >= LONG_MAX // 1000 else f"{ahead // _YEAR} years",
        },
        reading.shown(("message.timestamp.type", key, "retention.ms")),
        numbers=(("assumed", "one record whose timestamp counts microseconds instead of milliseconds"),),
        also_at=reading.also(at, *_STAMP_KEYS),
        edits=(reading.edit(key, _HOUR), reading.edit("message.timestamp.type", "LogAppendTime")),
    )
    return Judgement("broken", hit, tuple(steps), bounds="one bad record")


def _future(config: Any) -> list[Any]:
    from ....sim.log.cleaning import future_record

    return list(future_record(config))
