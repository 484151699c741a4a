"""Steady traffic through the log of one partition: what its segments come to, and how long a record stays.

Batches of one size arrive at equal distances, so nothing has to be written to know when a segment is full:
`shape` says after how many batches, and why, a segment is closed; `steady` what the log holds once as much is
deleted as is written; `life` follows the first segments to the millisecond, from their first record to the
check that deletes them. A month of ten thousand records a second costs as much as a quiet day. The rules are
those of `log_segments` and `log_retention`, and a test runs both ways and compares.
"""

from __future__ import annotations

from ...tuples import NamedTuple
from .log import FILES_PER_PARTITION, FILES_PER_SEGMENT, Schedule
from .segments import OFFSET_ENTRY_BYTES, TIME_ENTRY_BYTES, LogConfig

# What a producer puts into one batch at most, unless a single record is larger (batch.size).
_BATCH_BYTES = 16_384
# Records of one batch arrived within so long (a linger of some milliseconds).
_BATCH_US = 10_000
_INT_MAX, _LONG_MAX = 2**31 - 1, 2**63 - 1
# log.cleaner.backoff.ms: how long a cleaner that found nothing sleeps.
BACKOFF_MS = 15_000
# Each of the two indexes of a segment is one memory map; their files are closed once mapped (AbstractIndex).
MAPS_PER_SEGMENT = 2


class Flow(NamedTuple):
    """Steady traffic of one partition: a batch every `gap_us` microseconds, from 0 on."""

    batch_records: int
    batch_bytes: int
    gap_us: int

    def at(self, batch: int) -> int:
        """The clock, in milliseconds, at which a batch arrives."""
        return batch * self.gap_us // 1000

    def arrived(self, now: int) -> int:
        """How many batches have arrived by `now`, those of that very millisecond too."""
        return (now * 1000 + 999) // self.gap_us + 1 if now >= 0 else 0


class Shape(NamedTuple):
    """One segment as the traffic fills it. `span_us` lies between its first and its last batch, `period_us`
    between its first and the first of the next."""

    batches: int
    bytes: int
    span_us: int
    period_us: int
    reason: str


class Steady(NamedTuple):
    """The log of one partition in the long run. None: without end, as nothing is ever deleted.

    `stays_min_ms` is how long every record is sure to stay, `stays_max_ms` the most that one can.
    """

    segment: Shape
    stays_min_ms: int | None
    stays_max_ms: int | None
    segments_max: int | None
    bytes_max: int | None
    disk_bytes_max: int | None
    """With deleted files that are not yet removed."""
    files_max: int | None
    maps_max: int | None
    decided_by: str
    """age, size, compaction, or nothing."""


class Life(NamedTuple):
    """One segment from its first record to its deletion; None: not within the days that were looked at."""

    base: int
    bytes: int
    first_ms: int
    last_ms: int
    closed_ms: int | None
    reason: str
    deleted_ms: int | None
    deleted_by: str

    @property
    def oldest_stayed_ms(self) -> int | None:
        return None if self.deleted_ms is None else self.deleted_ms - self.first_ms


def flow_of(records_per_second: float, record_bytes: int) -> Flow:
    """The traffic of one partition. `record_bytes` are those that a record takes on disk."""
    # Between a record in thirty thousand years and a thousand in a microsecond: beyond, floats give out.
    per_record_us = min(1e18, max(1e-3, 1_000_000 / max(records_per_second, 1e-12)))
    fitting = max(1, _BATCH_BYTES // max(1, record_bytes))
    records = max(1, min(fitting, int(_BATCH_US / per_record_us)))
    return Flow(records, records * max(1, record_bytes), max(1, round(records * per_record_us)))


def shape(config: LogConfig, flow: Flow) -> Shape:
    """When the next batch begins a new segment (LogSegment.shouldRoll), were nothing deleted before."""
    roll_us = (config.roll_ms - config.segment_jitter_ms) * 1000
    by_age = roll_us // flow.gap_us + 1 if roll_us >= 0 else 1
    return _shape(flow, *_closing(config, flow, by_age))


def _shape(flow: Flow, batches: int, reason: str) -> Shape:
    span_us = (batches - 1) * flow.gap_us
    return Shape(batches, batches * flow.batch_bytes, span_us, span_us + flow.gap_us, reason)


def _closing(config: LogConfig, flow: Flow, by_age: int) -> tuple[int, str]:
    """After how many batches which condition closes a segment; of equal ones the first that Kafka asks."""
    spacing = config.index_interval_bytes // flow.batch_bytes + 1
    # The time index takes a timestamp only if it is larger than its last: one a millisecond at most.
    time_spacing = max(spacing, -(-1000 // flow.gap_us))
    offset_slots = config.index_bytes_max // OFFSET_ENTRY_BYTES
    time_slots = max(0, config.index_bytes_max // TIME_ENTRY_BYTES - 1)
    limits = (
        (max(1, config.segment_bytes // flow.batch_bytes), "size"),
        (by_age, "age"),
        (offset_slots * spacing + 1, "offset-index-full"),
        (time_slots * time_spacing + 1, "time-index-full"),
        (max(1, (_INT_MAX + 1) // flow.batch_records), "offset-range"),
    )
    return min(limits, key=lambda limit: limit[0])


def steady(config: LogConfig, flow: Flow, schedule: Schedule = Schedule()) -> Steady:  # noqa: B008
    """What the log comes to when as much is deleted as is written."""
    segment = _cut_by_retention(config, flow, schedule, shape(config, flow))
    check_us = schedule.check_interval_ms * 1000
    by_age = by_size = None
    if config.delete and config.retention_ms >= 0:
        by_age = segment.span_us + config.retention_ms * 1000 + check_us
    if config.delete and config.retention_bytes >= 0:
        kept = config.retention_bytes + segment.bytes
        by_size = _microseconds(kept, flow) + check_us
    stays = min((us for us in (by_age, by_size) if us is not None), default=None)
    if stays is None:
        return Steady(segment, None, None, None, None, None, None, None, "nothing")
    sure = [config.retention_ms] if by_age is not None else []
    sure += [_microseconds(config.retention_bytes, flow) // 1000] if by_size is not None else []
    delay_us = schedule.file_delete_delay_ms * 1000
    segments = stays // segment.period_us + 1
    leaving = -(-delay_us // segment.period_us)
    return Steady(
        segment,
        min(sure),
        stays // 1000,
        segments,
        _bytes(stays, flow),
        _bytes(stays + delay_us, flow) + segment.bytes,
        # A roll adds a snapshot of the producers to the files of a segment.
        FILES_PER_PARTITION + (FILES_PER_SEGMENT + 1) * (segments + leaving),
        MAPS_PER_SEGMENT * (segments + leaving),
        "age" if stays == by_age else "size",
    )


def compacted(config: LogConfig, flow: Flow, keys: int, backoff_ms: int = BACKOFF_MS) -> Steady:
    """The most segments of a log that is compacted alone, with so many keys, written in turn: those that pile
    up until the dirty part outgrows the clean one (or is too old), and the clean ones, which a pass joins up
    to segment.bytes. `stays_max_ms`: from one pass to the next. None: no pass ever comes."""
    segment = shape(config, flow)
    clean = keys * flow.batch_bytes // flow.batch_records
    never = config.dirty_ratio_min >= 1
    waits_us = config.compaction_lag_max_ms * 1000
    if not never:
        outgrown = int(clean * config.dirty_ratio_min / (1 - config.dirty_ratio_min))
        waits_us = min(waits_us, _microseconds(outgrown, flow))
    elif config.compaction_lag_max_ms >= _LONG_MAX:
        return Steady(segment, None, None, None, None, None, None, None, "nothing")
    waits_us += (backoff_ms + config.compaction_lag_min_ms) * 1000
    # The one being written, and the one that was closed too late for the pass.
    segments = waits_us // segment.period_us + 2 + -(-clean // config.segment_bytes)
    held = clean + _bytes(waits_us, flow) + 2 * segment.bytes
    files = FILES_PER_PARTITION + (FILES_PER_SEGMENT + 1) * segments
    maps = MAPS_PER_SEGMENT * segments
    return Steady(segment, None, waits_us // 1000, segments, held, held + clean, files, maps, "compaction")


def _cut_by_retention(config: LogConfig, flow: Flow, schedule: Schedule, whole: Shape) -> Shape:
    """Records so rare that the newest is too old before the next one comes: a check that falls between the
    two closes the active segment and deletes it."""
    spare_us = flow.gap_us - config.retention_ms * 1000
    if not config.delete or config.retention_ms < 0 or spare_us <= 0:
        return whole
    batches = -(-schedule.check_interval_ms * 1000 // spare_us)
    if batches >= whole.batches:
        return whole
    return _shape(flow, batches, "retention")


def life(
    config: LogConfig,
    flow: Flow,
    schedule: Schedule = Schedule(),  # noqa: B008
    segments: int = 3,
) -> tuple[Life, ...]:
    """The first segments of a log that is created, in a broker that is started, with the first batch."""
    found: list[Life] = []
    first = 0
    for _ in range(segments):
        batches, reason, closing = _filled(config, flow, schedule, first)
        size, last = batches * flow.batch_bytes, flow.at(first + batches - 1)
        deleted, by = _deleted(config, flow, schedule, first + batches, size, last)
        if closing is not None:
            deleted, by = closing, "age"
        closed = flow.at(first + batches) if closing is None else closing
        found.append(
            Life(first * flow.batch_records, size, flow.at(first), last, closed, reason, deleted, by)
        )
        first += batches
    return tuple(found)


def _filled(config: LogConfig, flow: Flow, schedule: Schedule, first: int) -> tuple[int, str, int | None]:
    """The batches of the segment that begins with batch `first`, why it is closed, and the check that does
    so where it is retention."""
    limit = config.roll_ms - config.segment_jitter_ms
    by_age = max(1, limit * 1000 // flow.gap_us)
    # Batches arrive on whole milliseconds: one more or less may be in time.
    while flow.at(first + by_age) - flow.at(first) <= limit:
        by_age += 1
    batches, reason = _closing(config, flow, by_age)
    if config.delete and 0 <= config.retention_ms * 1000 < flow.gap_us:
        for count in range(1, batches + 1):
            check = _check_after(schedule, flow.at(first + count - 1) + config.retention_ms)
            if check < flow.at(first + count):
                return count, "retention", check
    return batches, reason, None


def _deleted(
    config: LogConfig, flow: Flow, schedule: Schedule, end: int, size: int, last: int
) -> tuple[int | None, str]:
    """The check that deletes a segment which ends before batch `end`, all older ones being gone by then."""
    checks: list[tuple[int, str]] = []
    if config.delete and config.retention_bytes >= 0:
        following = max(1, -(-config.retention_bytes // flow.batch_bytes))
        checks.append((_check_after(schedule, flow.at(end + following - 1) - 1), "size"))
    if config.delete and config.retention_ms >= 0:
        checks.append((_check_after(schedule, last + config.retention_ms), "age"))
    return min(checks, key=lambda check: check[0], default=(None, "nothing"))


def _check_after(schedule: Schedule, now: int) -> int:
    """The first check later than `now`."""
    passed = (now - schedule.first_check_ms) // schedule.check_interval_ms + 1
    return schedule.first_check_ms + max(0, passed) * schedule.check_interval_ms


def _microseconds(size: int, flow: Flow) -> int:
    return size * flow.gap_us // flow.batch_bytes


def _bytes(us: int, flow: Flow) -> int:
    return (us // flow.gap_us + 1) * flow.batch_bytes
