"""What is wrong by the numbers of the trace, each with the hour in which it shows.

Codes below KA650 are those of the audit's own rules, here judged by measurement instead of by a stated
workload; those above can only be seen in traffic (`traffic_rules.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...sim.log.amounts import duration, size
from ..plan import Plan, TopicPlan
from ..traffic_rules import BEHIND_MS, FEW_RECORDS, HOT_TIMES, NEARLY_EMPTY, TRAFFIC_RULES
from .gathered import Gathered
from .moments import HOUR_MS, hour_words, minute_words, moment

if TYPE_CHECKING:
    from ..run import Trace

Row = Mapping[str, Any]
NAMES = {
    "KA360": ("oversized-record-refused", "error"),
    "KA406": ("deleted-before-read", "error"),
    "KA421": ("slow-batch", "warning"),
    "KA502": ("kept-beyond-retention", "warning"),
    "KA503": ("size-limit-below-a-segment", "warning"),
    "KA505": ("too-many-segments", "warning"),
    **{code: (rule.name, rule.severity) for code, rule in TRAFFIC_RULES.items()},
}
_MAPS_MAX, _SEGMENTS_MAX, _SMALL_SEGMENT = 65_530, 1000, 16 << 20
_LONGER = 1.5


def findings(trace: Trace, plan: Plan, gathered: Gathered) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    hours_of, partitions_of = _by_topic(gathered.hours), _by_topic(gathered.partitions)
    for topic in plan.topics:
        totals = gathered.topics.get(("", topic.topic))
        if totals is None:
            continue
        hours, mine = hours_of[topic.topic], partitions_of[topic.topic]
        for look in (_refused, _kept, _too_large, _segments, _hot, _behind, _nearly_empty):
            found += look(topic, totals, hours, mine, gathered)
    found += _maps(plan, gathered)
    order = {"error": 0, "warning": 1, "note": 2}
    return sorted(found, key=lambda one: (order[one["severity"]], one["code"], one["topic"] or ""))


def _by_topic(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["topic"], []).append(row)
    return found


def _finding(
    code: str, topic: str | None, message: str, hour: int, run: list[str], partition: int | None = None
) -> dict[str, Any]:
    name, severity = NAMES[code]
    return {
        "code": code, "name": name, "severity": severity, "topic": topic, "partition": partition,
        "message": message, "began": moment(hour), "ended": moment(hour + HOUR_MS), "run": run,
    }  # fmt: skip


def _worst(hours: list[Row], name: str) -> Row:
    """The hour in which it is most, the first of equal ones."""
    return max(hours, key=lambda row: (row[name] or 0, -row["hour"]))


def _refused(
    topic: TopicPlan, totals: Row, hours: list[Row], mine: list[Row], gathered: Gathered
) -> Iterator[dict[str, Any]]:
    if not totals["refused_batches"]:
        return
    worst = _worst(hours, "refused_batches")
    limit = min(topic.log.batch_bytes_max, topic.log.segment_bytes)
    yield _finding(
        "KA360",
        topic.topic,
        f"{topic.topic}: {totals['refused_records']:,} records in {totals['refused_batches']:,} batches are "
        f"refused (limit {size(limit)}, or a timestamp out of bounds), most on {hour_words(worst['hour'])}",
        worst["hour"],
        [f"{hour_words(worst['hour'])}: {worst['refused_batches']:,} of "
         f"{worst['refused_batches'] + worst['batches']:,} batches are refused"],
    )  # fmt: skip


def _kept(
    topic: TopicPlan, totals: Row, hours: list[Row], mine: list[Row], gathered: Gathered
) -> Iterator[dict[str, Any]]:
    stated, log = topic.log.retention_ms, topic.log
    stays = totals["oldest_ms_max"] or 0
    if not log.delete or stated < 0 or stays <= _LONGER * stated:
        return
    worst = _worst(hours, "oldest_ms_max")
    lived = gathered.longest.get(topic.topic)
    run = [f"{hour_words(worst['hour'])}: the oldest record is {duration(stays)} old"]
    if lived is not None:
        ended = "still open" if lived["closed"] is None else f"closed {minute_words(lived['closed'])}"
        gone = (
            "not deleted within the trace"
            if lived["deleted"] is None
            else f"deleted {minute_words(lived['deleted'])}"
        )
        run.insert(
            0,
            f"partition {lived['partition']}: segment {lived['base']} begins {minute_words(lived['began'])}, "
            f"{ended}{' by ' + lived['closed_by'] if lived['closed_by'] else ''}, {gone}",
        )
    yield _finding(
        "KA502",
        topic.topic,
        f"{topic.topic}: records stayed up to {duration(stays)}, though retention.ms says "
        f"{duration(stated)}; seen on {hour_words(worst['hour'])}",
        worst["hour"],
        run,
    )


def _too_large(
    topic: TopicPlan, totals: Row, hours: list[Row], mine: list[Row], gathered: Gathered
) -> Iterator[dict[str, Any]]:
    limit = topic.log.retention_bytes
    largest = max(mine, key=lambda row: (row["retained_bytes_max"], -row["partition"]))
    kept = largest["retained_bytes_max"]
    if not topic.log.delete or limit <= 0 or kept <= _LONGER * limit:
        return
    worst = _worst(hours, "retained_bytes")
    yield _finding(
        "KA503",
        topic.topic,
        f"{topic.topic}: partition {largest['partition']} kept {size(kept)}, though retention.bytes says "
        f"{size(limit)}: only whole segments of up to {size(topic.log.segment_bytes)} go",
        worst["hour"],
        [f"{hour_words(worst['hour'])}: the topic holds {size(worst['retained_bytes'])}"],
        largest["partition"],
    )


def _segments(
    topic: TopicPlan, totals: Row, hours: list[Row], mine: list[Row], gathered: Gathered
) -> Iterator[dict[str, Any]]:
    most = max(mine, key=lambda row: (row["maps_max"], -row["partition"]))
    segments = most["maps_max"] // 2
    rolls = sum(most[name] for name in most if name.startswith("rolls_"))
    each = most["bytes"] // max(1, rolls + 1)
    if segments <= _SEGMENTS_MAX or each >= _SMALL_SEGMENT:
        return
    by = max(("size", "age", "index", "retention"), key=lambda cause: most[f"rolls_{cause}"])
    worst = _worst(hours, "files")
    yield _finding(
        "KA505",
        topic.topic,
        f"{topic.topic}: partition {most['partition']} has {segments:,} segments of {size(each)} each, "
        f"rolled by {by}: {most['files_max']:,} files",
        worst["hour"],
        [
            f"{hour_words(worst['hour'])}: {worst['files']:,} files of one copy of the topic",
        ],
        most["partition"],
    )


def _hot(
    topic: TopicPlan, totals: Row, hours: list[Row], mine: list[Row], gathered: Gathered
) -> Iterator[dict[str, Any]]:
    if topic.partitions < 2 or totals["records"] < FEW_RECORDS:
        return
    hottest = max(mine, key=lambda row: (row["records"], -row["partition"]))
    share = hottest["records"] / totals["records"]
    if share * topic.partitions < HOT_TIMES:
        return
    worst = _worst(hours, "hottest")
    yield _finding(
        "KA651",
        topic.topic,
        f"{topic.topic}: partition {hottest['partition']} takes {share:.0%} of all records, "
        f"{share * topic.partitions:.1f} times its share of {topic.partitions} partitions; most on "
        f"{hour_words(worst['hour'])}",
        worst["hour"],
        [
            f"{hour_words(worst['hour'])}: {worst['hottest']:,} of {worst['records']:,} records to one "
            "partition"
        ],
        hottest["partition"],
    )


def _behind(
    topic: TopicPlan, totals: Row, hours: list[Row], mine: list[Row], gathered: Gathered
) -> Iterator[dict[str, Any]]:
    behind, reader = totals["lag_ms_max"], topic.consumer
    if behind is None or reader.processing_ms is None:
        return
    worst = _worst(hours, "lag_ms_max")
    run = [
        f"{hour_words(worst['hour'])}: {worst['lag_max']:,} records of one partition wait, "
        f"{duration(worst['lag_ms_max'])} of work"
    ]
    takes = f"{reader.processing_ms:g} ms a record, {reader.members} member{'s' * (reader.members > 1)}"
    if topic.log.delete and 0 <= topic.log.retention_ms < behind:
        yield _finding(
            "KA406",
            topic.topic,
            f"{topic.topic}: readers were up to {duration(behind)} behind ({takes}), and records go after "
            f"{duration(topic.log.retention_ms)}: some are deleted before they are read",
            worst["hour"],
            run,
        )
    elif behind >= BEHIND_MS:
        yield _finding(
            "KA652",
            topic.topic,
            f"{topic.topic}: readers were up to {duration(behind)} behind on "
            f"{hour_words(worst['hour'])} ({takes})",
            worst["hour"],
            run,
        )
    full = reader.max_poll_records * reader.processing_ms
    if full > reader.max_poll_interval_ms and (worst["lag_max"] or 0) >= reader.max_poll_records:
        yield _finding(
            "KA421",
            topic.topic,
            f"{topic.topic}: a full poll of {reader.max_poll_records} records takes {duration(round(full))}, "
            f"longer than max.poll.interval.ms ({duration(reader.max_poll_interval_ms)}); polls were full on "
            f"{hour_words(worst['hour'])}",
            worst["hour"],
            run,
        )


def _nearly_empty(
    topic: TopicPlan, totals: Row, hours: list[Row], mine: list[Row], gathered: Gathered
) -> Iterator[dict[str, Any]]:
    if totals["records"] < FEW_RECORDS or not topic.batching.batch_size:
        return
    fill = totals["raw_bytes"] / totals["batches"] / topic.batching.batch_size
    if fill >= NEARLY_EMPTY or totals["records"] / totals["batches"] >= 2:
        return
    worst = _worst(hours, "batches")
    yield _finding(
        "KA653",
        topic.topic,
        f"{topic.topic}: a batch has {totals['records'] / totals['batches']:.1f} records and fills "
        f"{fill:.1%} of batch.size with linger.ms={topic.batching.linger_ms}; most batches on "
        f"{hour_words(worst['hour'])}",
        worst["hour"],
        [f"{hour_words(worst['hour'])}: {worst['records']:,} records in {worst['batches']:,} batches"],
    )


def _maps(plan: Plan, gathered: Gathered) -> Iterator[dict[str, Any]]:
    if not gathered.brokers:
        return
    worst = max(gathered.brokers, key=lambda row: (row["maps"], -row["hour"], -row["broker"]))
    if worst["maps"] <= _MAPS_MAX:
        return
    yield _finding(
        "KA505",
        None,
        f"broker {worst['broker']}: {worst['maps']:,} memory maps on {hour_words(worst['hour'])}, the "
        f"kernel's default allows {_MAPS_MAX:,}",
        worst["hour"],
        [f"{hour_words(worst['hour'])}: {worst['files']:,} files, {size(worst['disk_bytes'])} on disk"],
    )
