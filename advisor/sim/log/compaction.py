"""Compaction: what is left of a log when every key keeps its newest record.

One pass maps the keys of the dirty range to their newest offsets, then copies the log up to there, without
the records that the map knows a newer one of. A tombstone survives the pass that first sees it: its batch
gets a delete horizon, and a later pass at or after the horizon drops it (KIP-534, 3.1). The active segment is
never touched. The behaviour is that of Cleaner and LogCleanerManager in 4.x for uncompressed batches of
format V2. Left out: transactions, the expiry of producers, and two keys of one hash.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...tuples import NamedTuple
from ..wire.varint import varint_size
from .segments import (
    NO_TIMESTAMP,
    AppendError,
    Batch,
    IndexFull,
    Log,
    LogConfig,
    Segment,
    append,
    closed,
    open_log,
    roll,
    written,
)

TOMBSTONE = -1
_BATCH_OVERHEAD = 61
_NO_PRODUCER = -1
_INT_MAX = 2**31 - 1


class Keyed(NamedTuple):
    """A record as compaction sees it; `value_size` is TOMBSTONE for null."""

    offset: int
    key: bytes | None
    value_size: int
    timestamp: int


class KeyedBatch(NamedTuple):
    """A stored batch: its offsets outlive the records that compaction takes from it."""

    base_offset: int
    last_offset: int
    size: int
    max_timestamp: int
    records: tuple[Keyed, ...]
    delete_horizon: int | None = None
    producer_id: int = _NO_PRODUCER


class KeyedLog(NamedTuple):
    """A log with its contents: a tuple of batches for each sealed segment, then the active one's."""

    log: Log
    contents: tuple[tuple[KeyedBatch, ...], ...]

    @property
    def batches(self) -> Iterator[KeyedBatch]:
        return (batch for content in self.contents for batch in content)

    @property
    def records(self) -> Iterator[Keyed]:
        return (record for batch in self.batches for record in batch.records)


class Append(NamedTuple):
    """One produce request to a compacted log: (key, value_size, timestamp) of each record."""

    now: int
    records: Sequence[tuple[bytes | None, int, int]]
    producer_id: int = _NO_PRODUCER


class Cleanable(NamedTuple):
    """What a pass would clean, by segments: offsets from `first_dirty` to before `first_uncleanable`."""

    first_dirty: int
    first_uncleanable: int
    clean_bytes: int
    cleanable_bytes: int
    # Dirty records have waited as long as the largest compaction lag.
    overdue: bool = False

    @property
    def ratio(self) -> float | None:
        """The dirty share of the bytes; None where there are none."""
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else None

    def due(self, config: LogConfig) -> bool:
        """Does a cleaner take this log?"""
        if self.overdue and self.cleanable_bytes > 0:
            return True
        return self.ratio is not None and self.ratio > config.dirty_ratio_min


class CleanError(ValueError):
    """The pass ended halfway and the log counts as uncleanable; `left` is what it leaves."""

    def __init__(self, error: str, detail: str, left: KeyedLog) -> None:
        super().__init__(f"{error}: {detail}")
        self.error = error
        self.left = left


def open_keyed(now: int, start_offset: int = 0) -> KeyedLog:
    return KeyedLog(open_log(now, start_offset), ((),))


def keyed_batch(base_offset: int, records: Iterable[tuple[bytes | None, int, int]]) -> KeyedBatch:
    """A batch as a producer builds it, at its offsets."""
    kept = tuple(Keyed(base_offset + n, *record) for n, record in enumerate(records))
    return _batch(base_offset, kept[-1].offset, kept, None, _NO_PRODUCER)


def extend(config: LogConfig, keyed: KeyedLog, appends: Iterable[Append]) -> KeyedLog:
    """The log after the leader took each append in turn; what it refuses raises AppendError."""
    log = keyed.log
    contents = [list(content) for content in keyed.contents[-1:]]
    for now, records, producer_id in appends:
        batch = keyed_batch(log.end_offset, records)._replace(producer_id=producer_id)
        if config.log_append_time:
            stamped = tuple(record._replace(timestamp=now) for record in batch.records)
            batch = batch._replace(records=stamped, max_timestamp=now)
        if config.compact and any(record.key is None for record in batch.records):
            raise AppendError("RecordValidationException", "a record without a key in a compacted topic")
        earliest = min([r.timestamp for r in batch.records if r.timestamp >= 0], default=NO_TIMESTAMP)
        plain = Batch(len(records), batch.size, batch.max_timestamp, earliest)
        following = append(config, log, now, (plain,))
        if len(following.sealed) > len(log.sealed):
            contents.append([])
        contents[-1].append(batch)
        log = following
    return KeyedLog(log, (*keyed.contents[:-1], *(tuple(content) for content in contents)))


def roll_keyed(keyed: KeyedLog, now: int) -> KeyedLog:
    """The log with a new, empty active segment."""
    log = roll(keyed.log, now)
    if len(log.sealed) == len(keyed.log.sealed):
        return KeyedLog(log, keyed.contents)
    return KeyedLog(log, (*keyed.contents, ()))


def cleanable(
    config: LogConfig, log: Log, checkpoint: int | None, now: int, last_stable_offset: int | None = None
) -> Cleanable:
    """What may be cleaned now; `checkpoint` is where the last pass ended (None: there was none).

    A pass ends before the active segment, before the segment of the last stable offset (without transactions
    the high watermark), and before the first segment younger than the smallest compaction lag.
    """
    start = log.start_offset
    dirty = start if checkpoint is None or not start <= checkpoint <= log.end_offset else checkpoint
    bounds = [log.active.base, log.high_watermark if last_stable_offset is None else last_stable_offset]
    waiting = _from(log.sealed, dirty) if dirty < log.active.base else ()
    if config.compaction_lag_min_ms > 0:
        young = (s.base for s in waiting if s.largest_timestamp > now - config.compaction_lag_min_ms)
        bounds.extend(list(young)[:1])
    uncleanable = max(dirty, min(bounds))
    after = _from(log.sealed, uncleanable) if uncleanable < log.active.base else ()
    end = after[0].base if after else log.active.base
    begun = [s.first_timestamp for s in waiting if s.first_timestamp > 0]
    return Cleanable(
        dirty,
        end,
        sum(segment.size for segment in log.segments if segment.base < dirty),
        sum(segment.size for segment in _from(log.sealed, dirty) if segment.base < end) if dirty < end else 0,
        bool(begun) and min(begun) < now - max(config.compaction_lag_max_ms, 0),
    )


def clean(
    config: LogConfig,
    keyed: KeyedLog,
    now: int,
    first_dirty: int,
    first_uncleanable: int,
    map_entries_max: int | None = None,
) -> tuple[KeyedLog, int]:
    """The log after one pass, and the first offset that the next one finds dirty.

    `map_entries_max` is what the cleaner's buffer holds times its load factor: a pass whose dirty range has
    more keys ends where the map was full. Indexes far too small for their segments end in CleanError, with
    the groups before the one that did not fit already swapped in.
    """
    newest, latest = _offset_map(keyed, first_dirty, first_uncleanable, map_entries_max)
    sealed = keyed.log.sealed
    count = sum(1 for segment in sealed if segment.base <= latest)
    last_of_producers = {b.producer_id: b.last_offset for b in keyed.batches if b.producer_id >= 0}
    segments: list[Segment] = []
    contents: list[tuple[KeyedBatch, ...]] = []
    for group in _groups(config, sealed[:count], first_uncleanable):
        kept: list[KeyedBatch] = []
        for batch in (batch for number in group for batch in keyed.contents[number]):
            # The last batch of the range, and of each producer, is kept without records: what it says of
            # offsets and sequences must not be lost.
            needed = (
                batch.last_offset + 1 == first_uncleanable
                or last_of_producers.get(batch.producer_id) == batch.last_offset
            )
            filtered = _filtered(config, batch, now, newest, latest, needed)
            if filtered is not None:
                kept.append(filtered)
        try:
            segments.append(_copied(config, [sealed[number] for number in group], kept))
        except IndexFull:
            left = _swapped(keyed, segments, contents, group[0])
            raise CleanError("IllegalArgumentException", "an index is full", left) from None
        contents.append(tuple(kept))
    return _swapped(keyed, segments, contents, count), latest + 1


def _swapped(
    keyed: KeyedLog, segments: list[Segment], contents: list[tuple[KeyedBatch, ...]], count: int
) -> KeyedLog:
    """The log with `segments` in the place of its first `count`."""
    log = keyed.log._replace(sealed=(*segments, *keyed.log.sealed[count:]))
    return KeyedLog(log, (*contents, *keyed.contents[count:]))


def _offset_map(
    keyed: KeyedLog, start: int, end: int, entries_max: int | None
) -> tuple[Mapping[bytes, int], int]:
    """The newest offset of each key from `start` on, and the offset up to which the map knows them."""
    newest: dict[bytes, int] = {}
    latest = -1
    sealed = keyed.log.sealed
    dirty = _from(sealed, start)
    skipped = len(sealed) - len(dirty)
    for number, segment in enumerate(dirty):
        if segment.base >= end:
            break
        for batch in keyed.contents[skipped + number]:
            for offset, key, _, _ in batch.records:
                if key is not None and offset >= start:
                    if entries_max is not None and len(newest) >= entries_max:
                        return newest, latest
                    newest[key] = latest = offset
            if batch.last_offset >= start:
                latest = batch.last_offset
        following = dirty[number + 1].base if number + 1 < len(dirty) else end
        latest = min(following, end) - 1
    return newest, latest


def _groups(config: LogConfig, segments: Sequence[Segment], first_uncleanable: int) -> list[list[int]]:
    """Which neighbours are copied into one segment: as many as were, before the copy, no larger than one."""
    groups: list[list[int]] = []
    size = offsets = times = 0
    for number, segment in enumerate(segments):
        following = segments[number + 1].base if number + 1 < len(segments) else first_uncleanable
        offset_bytes, time_bytes = 8 * segment.offset_entries, 12 * segment.time_entries
        if (
            groups
            and size + segment.size <= config.segment_bytes
            and offsets + offset_bytes <= config.index_bytes_max
            and times + time_bytes <= config.index_bytes_max
            and (segment.size == 0 or following - 1 - segments[groups[-1][0]].base <= _INT_MAX)
        ):
            groups[-1].append(number)
        else:
            groups.append([number])
            size = offsets = times = 0
        size, offsets, times = size + segment.size, offsets + offset_bytes, times + time_bytes
    return groups


def _filtered(
    config: LogConfig, batch: KeyedBatch, now: int, newest: Mapping[bytes, int], latest: int, needed: bool
) -> KeyedBatch | None:
    """What a pass leaves of a batch; None if nothing."""
    horizon = batch.delete_horizon
    tombstones_stay = horizon is None or now < horizon
    kept = tuple(
        record
        for record in batch.records
        if record.offset > latest
        or (
            record.key is not None
            and record.offset >= newest.get(record.key, -1)
            and (record.value_size >= 0 or tombstones_stay)
        )
    )
    if not kept:
        return batch._replace(size=_BATCH_OVERHEAD, records=(), delete_horizon=None) if needed else None
    if horizon is None and any(record.value_size < 0 for record in kept):
        horizon = now + config.tombstone_retention_ms
    elif len(kept) == len(batch.records):
        return batch
    return _batch(batch.base_offset, batch.last_offset, kept, horizon, batch.producer_id)


def _batch(
    base_offset: int, last_offset: int, records: tuple[Keyed, ...], horizon: int | None, producer_id: int
) -> KeyedBatch:
    # A delete horizon takes the place of the base timestamp, so it changes the size of every record.
    base_timestamp = records[0].timestamp if horizon is None else horizon
    size = _BATCH_OVERHEAD
    for offset, key, value_size, timestamp in records:
        key_size = -1 if key is None else len(key)
        # Attributes and the count of headers take a byte each.
        body = 2 + varint_size(timestamp - base_timestamp) + varint_size(offset - base_offset)
        body += varint_size(key_size) + max(key_size, 0) + varint_size(value_size) + max(value_size, 0)
        size += varint_size(body) + body
    largest = max(record.timestamp for record in records)
    return KeyedBatch(base_offset, last_offset, size, largest, records, horizon, producer_id)


def _copied(config: LogConfig, group: Sequence[Segment], batches: Sequence[KeyedBatch]) -> Segment:
    """The segment that takes the place of a group: the base of its first, the file's time of its last."""
    base, created = group[0].base, group[0].created
    segment = Segment(base, created)
    if batches:
        plain = [(batch.size, batch.max_timestamp) for batch in batches]
        segment = closed(written(config, segment, created, plain))
    last = group[-1]
    return segment._replace(
        first_write=min([s.first_write for s in group if s.first_write >= 0], default=created),
        last_write=last.last_write if last.last_write >= 0 else last.created,
    )


def _from(segments: tuple[Segment, ...], offset: int) -> tuple[Segment, ...]:
    """The segments from the one that holds `offset` on; all of them if it lies before the first."""
    for number in range(len(segments) - 1, -1, -1):
        if segments[number].base <= offset:
            return segments[number:]
    return segments
