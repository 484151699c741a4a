"""The log of one partition over a whole column of appends: segments, why each ended, when each was deleted.

The readable twin, `by_model`, runs `sim/log` append by append. `log_of` does the same in steps of segments:
where a segment ends is a search in running sums, when it is deleted follows from two running sums more.
What that cannot say (an active segment that retention closes, an index that fills up) goes through the
twin.
"""

from __future__ import annotations

import numpy as np

from ...sim.log.log import Schedule
from ...sim.log.retention import delete_old_segments
from ...sim.log.segments import (
    OFFSET_ENTRY_BYTES,
    TIME_ENTRY_BYTES,
    AppendError,
    Batch,
    LogConfig,
    append,
    open_log,
    roll_reason,
)
from ...tuples import NamedTuple
from .varints import Column

_INT_MAX = 2**31 - 1
NEVER = np.iinfo(np.int64).max


class Appends(NamedTuple):
    """Batches of one partition in the order in which the leader takes them."""

    times: Column
    records: Column
    sizes: Column
    max_stamps: Column
    min_stamps: Column

    def where(self, kept: Column) -> Appends:
        return Appends(*(column[kept] for column in self))


class Ended(NamedTuple):
    """A segment: its first batch and the one after its last (of those that were taken), why it was closed
    and when, when and why it was deleted. NEVER: not within the trace."""

    base: int
    first: int
    end: int
    bytes: int
    max_stamp: int
    closed_by: str
    closed_at: int
    deleted_at: int
    deleted_by: str


class LogRun(NamedTuple):
    taken: Column
    """Which appends the log took."""
    segments: list[Ended]


def taken(config: LogConfig, appends: Appends) -> Column:
    """What the leader does not refuse."""
    fits: Column = (appends.sizes <= config.batch_bytes_max) & (appends.sizes <= config.segment_bytes)
    if not config.log_append_time:
        fits &= appends.max_stamps - appends.times <= config.timestamp_after_max_ms
        fits &= appends.times - appends.min_stamps <= config.timestamp_before_max_ms
    return fits


def log_of(config: LogConfig, schedule: Schedule, appends: Appends, begin: int, until: int) -> LogRun:
    """A log that is created, on a broker that is started, at `begin`, and watched until `until`."""
    kept = taken(config, appends)
    mine = appends if np.all(kept) else appends.where(kept)
    if config.log_append_time:
        mine = mine._replace(max_stamps=mine.times)
    if not len(mine.times) or _needs_model(config, mine, until):
        return by_model(config, schedule, appends, begin, until)
    bounds, reasons = _bounds(config, mine)
    first, end = np.array(bounds[:-1]), np.array(bounds[1:])
    running = np.concatenate(([0], np.cumsum(mine.sizes)))
    offsets = np.concatenate(([0], np.cumsum(mine.records)))
    sizes = running[end] - running[first]
    stamps = np.maximum.reduceat(mine.max_stamps, first)
    deleted, by = _deletions(config, schedule, mine, running, end, stamps, begin, until)
    closed_at = [*mine.times[end[:-1]].tolist(), NEVER]
    rows = zip(
        offsets[first].tolist(), first.tolist(), end.tolist(), sizes.tolist(), stamps.tolist(),
        reasons, closed_at, deleted, by, strict=True,
    )  # fmt: skip
    return LogRun(kept, [Ended(*row) for row in rows])


def _needs_model(config: LogConfig, mine: Appends, until: int) -> bool:
    whole = min(mine.sizes.sum().item(), config.segment_bytes)
    entries = whole // max(1, config.index_interval_bytes) + 2
    slots = min(config.index_bytes_max // OFFSET_ENTRY_BYTES, config.index_bytes_max // TIME_ENTRY_BYTES - 1)
    if entries >= slots or mine.max_stamps.min() < 0:
        return True
    if not config.delete:
        return False
    # Retention may close the active segment only where the newest record is too old before the next one
    # comes.
    following = np.append(mine.times[1:], until)
    quiet = config.retention_ms >= 0 and bool(np.any(following - mine.max_stamps > config.retention_ms))
    return quiet or config.retention_bytes == 0


def _bounds(config: LogConfig, mine: Appends) -> tuple[list[int], list[str]]:
    """Where segments begin, with the end of all; why each was closed, "" for the last."""
    running = np.cumsum(mine.sizes)
    ends = np.cumsum(mine.records)
    latest = np.maximum.accumulate(mine.max_stamps)
    age = config.roll_ms - config.segment_jitter_ms
    count = len(running)
    reasons: list[str] = []
    start, bounds = 0, [0]
    while True:
        before = running[start - 1].item() if start else 0
        base = ends[start - 1].item() if start else 0
        by_size = np.searchsorted(running, before + config.segment_bytes, "right").item()
        by_range = np.searchsorted(ends, base + _INT_MAX + 1, "right").item()
        limit = mine.max_stamps[start].item() + age
        if latest[start] <= limit:
            by_age = np.searchsorted(latest, limit, "right").item()
        else:
            # An earlier segment has a later timestamp: only what follows counts.
            later = np.flatnonzero(mine.max_stamps[start + 1 : min(by_size, by_range) + 1] > limit)
            by_age = start + 1 + later[0].item() if len(later) else count
        start, reason = min((by_size, "0size"), (by_age, "1age"), (by_range, "2offset-range"))
        bounds.append(min(start, count))
        if start >= count:
            return bounds, [*reasons, ""]
        reasons.append(reason[1:])


def _check_from(schedule: Schedule, begin: int, at: Column) -> Column:
    """The first check at each of these times or after it."""
    first = begin + schedule.first_check_ms
    nth = np.maximum(0, -((first - at) // schedule.check_interval_ms))
    checks: Column = first + nth * schedule.check_interval_ms
    return checks


def _deletions(
    config: LogConfig,
    schedule: Schedule,
    mine: Appends,
    running: Column,
    end: Column,
    stamps: Column,
    begin: int,
    until: int,
) -> tuple[list[int], list[str]]:
    """A segment goes with the first check that finds it too old, or enough bytes after it, once all older
    ones are gone."""
    never = np.full(len(end), NEVER, np.int64)
    by_age = by_size = never
    if config.delete and config.retention_ms >= 0:
        by_age = _check_from(schedule, begin, stamps + config.retention_ms + 1)
    if config.delete and config.retention_bytes > 0:
        # Bytes written up to the end of each segment, and as many more as are to stay.
        reached = np.searchsorted(running[1:], running[end] + config.retention_bytes, "left")
        inside = reached < len(mine.times)
        by_size = np.where(
            inside, _check_from(schedule, begin, mine.times[np.minimum(reached, len(mine.times) - 1)]), never
        )
    due = np.minimum(by_age, by_size)
    # The active one stays: `_needs_model` has seen that it is never due.
    due[-1] = NEVER
    at = np.maximum.accumulate(due)
    at = np.where(at > until, NEVER, at)
    words = np.where(at == NEVER, "", np.where(by_size <= at, "size", "age"))
    return at.tolist(), words.tolist()


def by_model(config: LogConfig, schedule: Schedule, appends: Appends, begin: int, until: int) -> LogRun:
    """The same, append by append."""
    log = open_log(begin)
    kept: list[bool] = []
    bases: list[int] = [0]
    firsts: list[int] = [0]
    closed: list[tuple[str, int]] = []
    deleted: dict[int, tuple[int, str]] = {}
    check = begin + schedule.first_check_ms
    done = 0
    stamps: list[int] = []
    sizes: list[int] = []

    def checks_before(now: int) -> None:
        nonlocal log, check
        while check < now:
            log = log._replace(high_watermark=log.end_offset)
            total = log.size
            before = len(log.sealed)
            log, gone = delete_old_segments(config, log, check)
            for segment in gone:
                surplus = total - config.retention_bytes
                by = "size" if config.retention_bytes >= 0 and surplus >= segment.size else "age"
                total -= segment.size
                deleted[segment.base] = (check, by)
            if len(gone) > before:
                closed.append(("retention", check))
                bases.append(log.active.base)
                firsts.append(done)
            check += schedule.check_interval_ms

    for row in zip(*(column.tolist() for column in appends), strict=True):
        now, records, size, stamp, earliest = row
        checks_before(now)
        before = log
        try:
            log = append(config, log, now, (Batch(records, size, stamp, earliest),))
        except AppendError:
            kept.append(False)
            continue
        kept.append(True)
        if log.active.base != before.active.base:
            counted = now if config.log_append_time else stamp
            reason = roll_reason(config, before.active, now, size, log.end_offset - 1, counted)
            closed.append((str(reason), now))
            bases.append(log.active.base)
            firsts.append(done)
        done += 1
        sizes.append(size)
        stamps.append(now if config.log_append_time else stamp)
    checks_before(until + 1)
    ends = [*firsts[1:], done]
    segments = []
    for number, (base, first, end) in enumerate(zip(bases, firsts, ends, strict=True)):
        if first == end:
            continue
        by, at = closed[number] if number < len(closed) else ("", NEVER)
        gone_at, gone_by = deleted.get(base, (NEVER, ""))
        newest = max(stamps[first:end])
        segments.append(Ended(base, first, end, sum(sizes[first:end]), newest, by, at, gone_at, gone_by))
    return LogRun(np.array(kept, bool), segments)
