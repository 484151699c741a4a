"""Retention: which segments of a log are deleted, by DeleteRecords, by size and by age.

Only whole segments go, oldest first, until one is not due; so one record with a late timestamp keeps every
segment after it. The active segment goes too when it is due: a new one is begun first. Nothing at or above
the high watermark goes. The behaviour is that of UnifiedLog.deleteOldSegments in 4.x without tiered storage.
"""

from __future__ import annotations

from collections.abc import Callable

from .segments import Log, LogConfig, Segment, roll


class OffsetOutOfRange(ValueError):
    """DeleteRecords up to an offset that is not yet committed."""

    error = "OffsetOutOfRangeException"


def move_high_watermark(log: Log, high_watermark: int) -> Log:
    """The log with its high watermark there, or as near as its start and its end allow."""
    return log._replace(high_watermark=max(log.start_offset, min(high_watermark, log.end_offset)))


def delete_records(log: Log, offset: int) -> Log:
    """The log as readers see it after DeleteRecords: it begins at `offset`, files wait for retention."""
    if offset > log.high_watermark:
        raise OffsetOutOfRange(f"offset {offset}, the high watermark is {log.high_watermark}")
    return log if offset <= log.start_offset else log._replace(start_offset=offset)


def delete_old_segments(config: LogConfig, log: Log, now: int) -> tuple[Log, tuple[Segment, ...]]:
    """The log after one run of retention, and the segments it deleted, oldest first.

    What lies below the start of the log goes under every policy; size, then age, only where the policy
    deletes. Size takes a segment while what remains is at least the limit, so a log keeps the limit and up to
    one segment more. Age compares the largest timestamp of the segment with the clock.
    """
    log, deleted = _below_start(log, now)
    if not config.delete:
        return log, deleted
    if 0 <= config.retention_bytes <= log.size:
        log, more = _by_size(log, now, config.retention_bytes)
        deleted += more
    if config.retention_ms >= 0:
        oldest, kept_ms = log.sealed[0] if log.sealed else log.active, config.retention_ms
        # Asked first, as a log is checked far more often than a segment falls due.
        if now - oldest.largest_timestamp > kept_ms:
            log, more = _deleted(log, now, lambda s, _: now - s.largest_timestamp > kept_ms)
            deleted += more
    return log, deleted


def _below_start(log: Log, now: int) -> tuple[Log, tuple[Segment, ...]]:
    start = log.start_offset
    return _deleted(log, now, lambda _, following: following is not None and following <= start)


def _by_size(log: Log, now: int, limit: int) -> tuple[Log, tuple[Segment, ...]]:
    surplus = log.size - limit

    def due(segment: Segment, _: int | None) -> bool:
        nonlocal surplus
        if surplus < segment.size:
            return False
        surplus -= segment.size
        return True

    return _deleted(log, now, due)


def _deleted(
    log: Log, now: int, due: Callable[[Segment, int | None], bool]
) -> tuple[Log, tuple[Segment, ...]]:
    """The log without its oldest segments as far as they are due; `due` sees the base of the next one."""
    sealed = log.sealed
    count = 0
    for segment in sealed:
        following = sealed[count + 1].base if count + 1 < len(sealed) else log.active.base
        if log.high_watermark < following or not due(segment, following):
            break
        count += 1
    # A segment that is empty and last stays, whatever the limits say.
    active_too = count == len(sealed) and log.active.size > 0 and log.high_watermark >= log.end_offset
    if active_too and due(log.active, None):
        log = roll(log, now)
        count += 1
    if count == 0:
        return log, ()
    gone, kept = log.sealed[:count], log.sealed[count:]
    start = (kept[0] if kept else log.active).base
    return log._replace(sealed=kept, start_offset=max(log.start_offset, start)), gone
