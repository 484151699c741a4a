"""The log of one partition: a row of segments, of which the last one takes appends, and when it is rolled.

A segment is a file of batches with an offset index and a time index. Before an append the active segment is
closed and a new one begun if the append would not fit, if it is too old by the timestamps of its batches, if
an index is full, or if an offset could not be written relative to its base. The behaviour is that of
UnifiedLog and LogSegment in 4.x. Left out: compression by the broker, producer state, transactions, tiers.

All values are frozen; time is an integer of milliseconds that the caller gives. `roll_reason` asks, `append`
gives the next log or raises AppendError.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...tuples import NamedTuple

NO_TIMESTAMP = -1
UNKNOWN_OFFSET = -1
OFFSET_ENTRY_BYTES = 8
TIME_ENTRY_BYTES = 12
_INT_MAX = 2**31 - 1
_LONG_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LogConfig:
    """What the log of a topic goes by; -1 is "no limit" for both retentions."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 604_800_000
    # What each segment drew below segment.jitter.ms: rolls are earlier by as much.
    segment_jitter_ms: int = 0
    index_bytes_max: int = 10 << 20
    index_interval_bytes: int = 4096
    batch_bytes_max: int = 1_048_588
    log_append_time: bool = False
    timestamp_before_max_ms: int = _LONG_MAX
    timestamp_after_max_ms: int = 3_600_000
    delete: bool = True
    retention_ms: int = 604_800_000
    retention_bytes: int = -1
    compact: bool = False
    tombstone_retention_ms: int = 86_400_000
    dirty_ratio_min: float = 0.5
    compaction_lag_min_ms: int = 0
    compaction_lag_max_ms: int = _LONG_MAX

    @property
    def roll_ms(self) -> int:
        """Compacted topics also roll in time for their largest compaction lag (KIP-354, 2.3)."""
        if self.compact and self.compaction_lag_max_ms > 0:
            return min(self.compaction_lag_max_ms, self.segment_ms)
        return self.segment_ms


class Batch(NamedTuple):
    """A record batch of format V2 as an append brings it; a follower's batch carries its offsets.

    `first_timestamp` is the earliest one; only the limit on old timestamps reads it.
    """

    records: int
    size: int
    max_timestamp: int
    first_timestamp: int = NO_TIMESTAMP
    base_offset: int = UNKNOWN_OFFSET
    last_offset: int = UNKNOWN_OFFSET


class Segment(NamedTuple):
    """One segment; everything the broker decides by, and nothing of its records."""

    base: int
    created: int
    size: int = 0
    # Largest timestamp of the first batch: what its age is counted from.
    first_timestamp: int = NO_TIMESTAMP
    max_timestamp: int = NO_TIMESTAMP
    # Clock of the first and of the last write: how long records have really been here, and the file's time.
    first_write: int = NO_TIMESTAMP
    last_write: int = NO_TIMESTAMP
    offset_entries: int = 0
    time_entries: int = 0
    # Timestamp of the last entry of the time index, and the bytes written since the last index entry.
    indexed_timestamp: int = NO_TIMESTAMP
    unindexed_bytes: int = 0

    @property
    def largest_timestamp(self) -> int:
        """What retention compares: the largest timestamp, or the time of the file where no batch has one."""
        if self.max_timestamp >= 0:
            return self.max_timestamp
        return self.last_write if self.last_write >= 0 else self.created


class Log(NamedTuple):
    """The segments, oldest first, and the three offsets that bound what is readable."""

    sealed: tuple[Segment, ...]
    active: Segment
    start_offset: int
    end_offset: int
    high_watermark: int

    @property
    def segments(self) -> tuple[Segment, ...]:
        return (*self.sealed, self.active)

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self.sealed) + self.active.size


class AppendError(ValueError):
    """The append is refused; `error` is the class of Kafka's exception.

    The log is as it was, but for two errors of a follower's many batches that show after the roll: `left` is
    the log they leave.
    """

    def __init__(self, error: str, detail: str, left: Log | None = None) -> None:
        super().__init__(f"{error}: {detail}")
        self.error = error
        self.left = left


class IndexFull(Exception):
    """A batch within an append found an index full; the bytes of all are written by then."""

    def __init__(self, segment: Segment) -> None:
        super().__init__("index full")
        self.segment = segment


def open_log(now: int, start_offset: int = 0) -> Log:
    """An empty log; a replica that joins late may begin at any offset."""
    return Log((), Segment(start_offset, now), start_offset, start_offset, start_offset)


def append(config: LogConfig, log: Log, now: int, batches: Sequence[Batch], follower: bool = False) -> Log:
    """The log after one produce request, or one fetch response of a follower, was written.

    A leader takes one batch and gives it the next offsets; a follower takes the offsets it is given and never
    minds a batch over the size limit, as its leader took it. The request is written to one segment as a
    whole, so there is one decision to roll.
    """
    if not batches:
        return log
    if follower:
        _check_fetched(log, batches)
        first, last = batches[0].base_offset, batches[-1].last_offset
        plain = [(batch.size, batch.max_timestamp) for batch in batches]
        size = sum([batch_size for batch_size, _ in plain])
        timestamp = max([batch_timestamp for _, batch_timestamp in plain])
    else:
        first = log.end_offset
        last = first + batches[0].records - 1
        size = batches[0].size
        timestamp = _produced_timestamp(config, now, batches)
        plain = [(size, timestamp)]
    if size > config.segment_bytes:
        raise AppendError(
            "RecordBatchTooLargeException", f"{size} bytes, a segment holds {config.segment_bytes}"
        )
    sealed, active, start_offset, _, high_watermark = log
    if roll_reason(config, active, now, size, last, timestamp) is not None:
        sealed, active = _rolled(sealed, active, max(first, log.end_offset), now)
        if last - active.base > _INT_MAX:
            raise AppendError(
                "LogSegmentOffsetOverflowException",
                f"offsets {first} to {last} do not fit one segment",
                log._replace(sealed=sealed, active=active),
            )
    try:
        active = written(config, active, now, plain)
    except IndexFull as full:
        left = log._replace(sealed=sealed, active=full.segment)
        raise AppendError("IllegalArgumentException", "an index is full", left) from None
    return Log(sealed, active, start_offset, last + 1, high_watermark)


def roll_reason(
    config: LogConfig, segment: Segment, now: int, size: int, last_offset: int, timestamp: int
) -> str | None:
    """Why an append of `size` bytes up to `last_offset`, latest at `timestamp`, begins a new segment.

    Age is the distance of timestamps where the first batch of the segment has one, so late records, or
    records out of order, decide it; only without timestamps does the clock (LogSegment.shouldRoll).
    """
    if segment.size > config.segment_bytes - size:
        return "size"
    if segment.size > 0:
        began = segment.first_timestamp
        waited = timestamp - began if began >= 0 else now - segment.created
        if waited > config.roll_ms - config.segment_jitter_ms:
            return "age"
    if segment.offset_entries >= config.index_bytes_max // OFFSET_ENTRY_BYTES:
        return "offset-index-full"
    # The last slot of the time index is kept for the entry that closing the segment writes.
    if segment.time_entries >= config.index_bytes_max // TIME_ENTRY_BYTES - 1:
        return "time-index-full"
    return None if 0 <= last_offset - segment.base <= _INT_MAX else "offset-range"


def roll(log: Log, now: int) -> Log:
    """The log with a new, empty active segment at its end; an active segment that is empty is replaced."""
    sealed, active = _rolled(log.sealed, log.active, log.end_offset, now)
    return log._replace(sealed=sealed, active=active)


def written(config: LogConfig, segment: Segment, now: int, batches: Sequence[tuple[int, int]]) -> Segment:
    """The segment with batches, each a size and its largest timestamp, at its end.

    A batch gets an entry in both indexes when more than the interval was written since the last one, not
    counting itself; the time index only takes a timestamp larger than its last.
    """
    (base, created, size, first, largest, began, _, offsets, times, indexed, since) = segment
    interval = config.index_interval_bytes
    if size == 0:
        first, began = batches[0][1], now
    for batch_size, timestamp in batches:
        if timestamp > largest:
            largest = timestamp
        if since > interval:
            offsets_full = offsets >= config.index_bytes_max // OFFSET_ENTRY_BYTES
            offsets += not offsets_full
            if offsets_full or times >= config.index_bytes_max // TIME_ENTRY_BYTES - 1:
                size = segment.size + sum([batch_size for batch_size, _ in batches])
                values = (base, created, size, first, largest, began, now, offsets, times, indexed, since)
                raise IndexFull(Segment(*values))
            if largest > indexed:
                times += 1
                indexed = largest
            since = 0
        since += batch_size
        size += batch_size
    return Segment(base, created, size, first, largest, began, now, offsets, times, indexed, since)


def closed(segment: Segment) -> Segment:
    """The segment no longer active: the time index ends with its largest timestamp."""
    if segment.max_timestamp <= segment.indexed_timestamp:
        return segment
    return segment._replace(time_entries=segment.time_entries + 1, indexed_timestamp=segment.max_timestamp)


def _rolled(
    sealed: tuple[Segment, ...], active: Segment, base: int, now: int
) -> tuple[tuple[Segment, ...], Segment]:
    if base == active.base and active.size == 0:
        return sealed, Segment(base, now)
    return (*sealed, closed(active)), Segment(base, now)


def _produced_timestamp(config: LogConfig, now: int, batches: Sequence[Batch]) -> int:
    """The largest timestamp as the leader stores it, or why it refuses the batch (LogValidator)."""
    for batch in batches:
        if batch.size > config.batch_bytes_max:
            raise AppendError(
                "RecordTooLargeException", f"a batch of {batch.size} bytes, {config.batch_bytes_max} allowed"
            )
    if len(batches) > 1:
        raise AppendError("InvalidRecordException", f"{len(batches)} batches of format V2 in one request")
    records, _, timestamp, earliest, _, _ = batches[0]
    if records <= 0:
        raise AppendError("InvalidRecordException", "a batch without records")
    if config.log_append_time:
        return now
    if timestamp >= 0:
        if timestamp - now > config.timestamp_after_max_ms:
            raise AppendError("RecordValidationException", f"a timestamp {timestamp - now} ms ahead")
        back = now - (earliest if earliest >= 0 else timestamp)
        if back > config.timestamp_before_max_ms:
            raise AppendError("RecordValidationException", f"a timestamp {back} ms back")
    return timestamp


def _check_fetched(log: Log, batches: Sequence[Batch]) -> None:
    last = UNKNOWN_OFFSET
    for batch in batches:
        if batch.last_offset <= last:
            raise AppendError("OffsetsOutOfOrderException", f"offset {batch.last_offset} follows {last}")
        last = batch.last_offset
    if batches[0].base_offset < log.end_offset:
        raise AppendError(
            "UnexpectedAppendOffsetException",
            f"offset {batches[0].base_offset}, the log ends at {log.end_offset}",
        )
