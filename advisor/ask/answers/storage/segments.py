"""How many segments, and so files and memory maps, a topic's logs come to; and when they are rolled.

Kafka keeps every segment's file open and both its indexes mapped: a broker ends with "Map failed" at the
kernel's vm.max_map_count, 65530 by default, or "Too many open files" at the process's limit.
"""

from __future__ import annotations

from typing import Any

from ....context import Context, Hit, Judgement
from .replicas import is_largest, replicas_on
from .settings import KEYS, Reading, life_story, nice_bytes, nice_ms, story_again, traffic_bounds

_KEYS = ("segment.ms", "segment.bytes", "segment.index.bytes", "retention.ms", "retention.bytes")
_CLOSES = {
    "size": "segment.bytes",
    "age": "segment.ms",
    "offset-index-full": "segment.index.bytes",
    "time-index-full": "segment.index.bytes",
    "offset-range": "segment.bytes",
    "retention": "retention.ms",
}


def segments(reading: Reading, context: Context) -> Judgement | None:
    """Are segments so small for the traffic that their number is the trouble?"""
    assumed = bool(reading.missing_traffic)
    segments_limit = max(1, int(context.params.get("segments_max", 1000)))
    tiny_ms = int(context.params.get("tiny_ms", 10_000))
    if assumed and not (reading.written("segment.ms") and reading.number("segment.ms") <= tiny_ms):
        return _segments_without_traffic(reading, segments_limit)
    from ....sim.log.workload import compacted, flow_of, steady

    config, schedule = reading.config(), reading.schedule()
    flow = flow_of(1, 1024) if assumed else reading.flow()
    assert flow is not None
    alone = "delete" not in reading.policies
    told = compacted(config, flow, reading.keys or 1) if alone else steady(config, flow, schedule)
    if told.segments_max is None:
        return None  # nothing is deleted: every log grows without end, and says so
    here = reading.replicas_a_broker
    maps = (told.maps_max or 0) * (here or 1)
    maps_limit = int(context.params.get("maps_max", 65_530))
    small = told.segment.bytes < int(context.params.get("segment_bytes_min", 16 << 20))
    if maps <= maps_limit and not (told.segments_max > segments_limit and small):
        if alone and reading.keys is None and _grows_with_keys(reading, config, flow, segments_limit, small):
            return _without_keys(told.segments_max)
        return Judgement("holds", bounds=traffic_bounds(reading))
    key = _CLOSES[told.segment.reason]
    if reading.unseen(key, *(() if alone else ("retention.ms",))):
        return _unseen(reading, key, told.segments_max)
    hit = _hit(reading, told, flow, key, assumed, maps, maps_limit)
    run = life_story(context, config, flow, schedule)
    return Judgement("broken", hit, run, bounds=traffic_bounds(reading), again=story_again(context))


def _grows_with_keys(reading: Reading, config: Any, flow: Any, limit: int, small: bool) -> bool:
    """Would a state of a gibibyte a partition make too many, with a size that somebody wrote?"""
    from ....sim.log.workload import compacted

    written = reading.written("segment.ms") or reading.written("segment.bytes")
    keys = (1 << 30) * flow.batch_records // flow.batch_bytes
    many = compacted(config, flow, keys).segments_max or 0
    return written and small and many > limit


def _without_keys(count: int) -> Judgement:
    return Judgement(
        "unknown",
        depends_on=("[workload] distinct_keys",),
        reason="segments pile up until what is overwritten outgrows what is kept: with one key a partition "
        f"comes to {count:,}, with more it depends on their number",
    )


def _unseen(reading: Reading, key: str, count: int) -> Judgement:
    return Judgement(
        "unknown",
        depends_on=reading.unseen(key, "retention.ms"),
        reason=f"with Kafka's defaults a partition comes to {count:,} segments",
    )


def _segments_without_traffic(reading: Reading, segments_limit: int) -> Judgement | None:
    """Asked only where somebody wrote a size with which the limit may be passed."""
    retention = reading.number("retention.ms", -1)
    small = [
        key
        for key, least in (
            ("segment.ms", retention // segments_limit),
            ("segment.bytes", 10 << 20),
            ("segment.index.bytes", 100 << 10),
        )
        if reading.written(key) and reading.number(key) < least
    ]
    if not small:
        return None
    return Judgement(
        "unknown",
        depends_on=reading.missing_traffic,
        reason=f"how many segments a partition comes to with this {small[0]} depends on the traffic: "
        "state records_per_second and record_bytes",
    )


def _hit(reading: Reading, told: Any, flow: Any, key: str, assumed: bool, maps: int, maps_limit: int) -> Hit:
    from ....sim.log.amounts import duration
    from ....sim.log.amounts import size as size_text

    here = reading.replicas_a_broker
    shape = told.segment
    at = reading.place(key, *_KEYS)
    stays = told.stays_max_ms or 0
    alone = told.decided_by == "compaction"
    # Some twenty segments are enough to delete by, and the last one adds little to the age of a record.
    longer = max(reading.number("segment.ms"), nice_ms(stays // 20))
    larger = nice_bytes(max(flow.batch_bytes * longer * 1000 // flow.gap_us, 64 << 20))
    edits = [
        reading.edit("segment.ms", longer),
        reading.edit("segment.bytes", larger),
        reading.edit("segment.index.bytes", 10 << 20),
    ]
    own = [edit for edit in edits if edit.field == key]
    rest = [edit for edit in edits if edit.field != key]
    traffic = (
        (("assumed", "one record of 1 KiB a second on each partition"),) if assumed else reading.assumptions()
    )
    over = maps > maps_limit
    return Hit(
        at,
        (key,),
        {
            "subject": reading.deployment.topic.name if reading.deployment.topic else reading.subject(key),
            "key": key,
            "segments": f"{told.segments_max:,}",
            "bytes": size_text(shape.bytes),
            "every": duration(max(1, shape.period_us // 1000)),
            "trouble": f"{maps:,} memory maps on a broker, where {maps_limit:,} are allowed"
            if over
            else f"{told.files_max:,} files for each replica",
        },
        reading.shown(_KEYS),
        numbers=(
            ("a new segment", f"every {duration(max(1, shape.period_us // 1000))}, {size_text(shape.bytes)}"),
            ("segments per partition", f"{told.segments_max:,}"),
            ("files per replica", f"{told.files_max:,}"),
            ("memory maps", f"{told.maps_max:,} per replica, limit {maps_limit:,} per broker"),
            *((("replicas on a broker", f"{here} of this topic, others not counted"),) if here else ()),
            ("from one cleaning to the next" if alone else "a record stays", f"up to {duration(stays)}"),
            *(((KEYS, f"{reading.keys or 1:,} on each partition"),) if alone else ()),
            *traffic,
        ),
        also_at=reading.also(at, key, "retention.ms"),
        edits=tuple(own + rest),
        advice=(f"raise vm.max_map_count above {maps:,} on every broker",) if over else (),
    )


def jitter(reading: Reading, context: Context) -> Judgement | None:
    """Can the random part of the roll time swallow all of it? A segment draws below min(segment.jitter.ms,
    segment.ms), while a compacted log rolls at min(max.compaction.lag.ms, segment.ms) less the draw
    (LogConfig.randomSegmentJitter, maxSegmentMs)."""
    if not reading.written("segment.jitter.ms") or "compact" not in reading.policies:
        return None
    drawn_below = min(reading.number("segment.jitter.ms", 0), reading.number("segment.ms"))
    lag = reading.number("max.compaction.lag.ms")
    if drawn_below <= 0 or lag <= 0:
        return None
    rolls = min(lag, reading.number("segment.ms"))
    if drawn_below <= rolls:
        return Judgement("holds", bounds="every jitter that may be drawn")
    from ....sim.log.amounts import duration
    from ....sim.log.workload import flow_of

    share = (drawn_below - rolls) / drawn_below
    keys = ("segment.jitter.ms", "max.compaction.lag.ms", "segment.ms")
    at = reading.place(*keys)
    config = reading.config(segment_jitter_ms=drawn_below - 1)
    flow = reading.flow() or flow_of(1, 1024)
    hit = Hit(
        at,
        keys[:2],
        {
            "subject": reading.subject(*keys),
            "jitter": duration(reading.number("segment.jitter.ms")),
            "rolls": duration(rolls),
            "share": f"{share:.0%}",
        },
        reading.shown(keys),
        numbers=(
            (
                "a segment is rolled",
                f"after {duration(rolls)} less a random time below {duration(drawn_below)}",
            ),
            ("segments of one append", f"{share:.0%} of all that are begun"),
            ("drawn", f"the run shows a jitter of {duration(drawn_below - 1)}, drawn every time"),
        ),
        also_at=reading.also(at, *keys),
        edits=(reading.edit("segment.jitter.ms", nice_ms(rolls // 10)), reading.edit("segment.jitter.ms", 0)),
    )
    return Judgement(
        "broken",
        hit,
        life_story(context, config, flow, reading.schedule(), 5),
        bounds="every jitter that may be drawn",
    )


def rolls_together(reading: Reading, context: Context) -> Judgement | None:
    """Do very many partitions that were made together roll together?"""
    here = reading.replicas_a_broker
    many = int(context.params.get("replicas_min", 1000))
    if here is None or here < many or reading.missing_traffic:
        return None
    if reading.number("segment.jitter.ms", 0) > 0:
        return Judgement("holds", bounds="arithmetic")
    from ....sim.log.amounts import duration
    from ....sim.log.workload import shape

    flow = reading.flow()
    assert flow is not None
    told = shape(reading.config(), flow)
    if told.reason != "age" or reading.unseen("segment.ms", "segment.jitter.ms"):
        return None
    every = duration(told.period_us // 1000)
    hit = Hit(
        reading.place("segment.ms"),
        ("segment.jitter.ms",),
        {
            "subject": reading.deployment.topic.name if reading.deployment.topic else reading.subject(),
            "replicas": f"{here:,}",
            "every": every,
        },
        reading.shown(("segment.jitter.ms", "segment.ms")),
        numbers=(
            ("rolled at once", f"{here:,} replicas on a broker, every {every}"),
            ("assumed", "partitions made together and written to evenly"),
            *reading.assumptions(),
        ),
        edits=(reading.edit("segment.jitter.ms", nice_ms(reading.number("segment.ms") // 10)),),
    )
    return Judgement("broken", hit, bounds="arithmetic")


def partitions(reading: Reading, context: Context) -> Judgement | None:
    """Does a broker hold more replicas than it was made for? All topics of the cluster in sight count."""
    brokers = reading.brokers
    if brokers is None:
        return None
    limit = int(context.params.get("replicas_a_broker_max", 4000))
    topic, cluster = reading.deployment.topic, next(iter(reading.deployment.cluster), None)
    replicas = replicas_on(cluster, reading.deployment, context)
    total = replicas.total
    share = -(-total // brokers)
    if share <= limit:
        return None
    if topic is None or not is_largest(topic, replicas, context):
        return None  # told once, where most is to be gained
    hit = Hit(
        reading.place(),
        ("partitions",),
        {
            "subject": cluster.name if cluster is not None else "the cluster",
            "replicas": f"{share:,}",
            "limit": f"{limit:,}",
            "largest": topic.name,
        },
        numbers=(
            (
                "replicas",
                f"{total:,} of {len(replicas.by_topic)} topics on {brokers} brokers: {share:,} each",
            ),
            ("largest topic", f"{topic.name}: {max(replicas.by_topic.values()):,} replicas"),
            ("limit", f"{limit:,} a broker (params.replicas_a_broker_max; see your vendor's table)"),
        ),
        advice=(
            f"add brokers: {-(-total // limit)} would hold {limit:,} replicas each",
            f"give {topic.name} fewer partitions when it is made anew: they cannot be taken away",
        ),
    )
    return Judgement("broken", hit, bounds="arithmetic")
