"""The log of one partition, and a run of it: what a configuration makes of a stream of appends.

Segments and rolls are in `log_segments`, deletion in `log_retention`, compaction in `log_compaction`; this is
the way in to all three. `drive` runs appends through a log with the broker's own retention schedule and says
what an operator would see: segments, files, bytes, and the age that records really reach. That age is always
more than retention.ms where records trickle in: a segment is deleted as a whole, once its newest record is
old enough, at the next check.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from ...tuples import NamedTuple
from .compaction import Append as Append
from .compaction import Cleanable as Cleanable
from .compaction import CleanError as CleanError
from .compaction import Keyed as Keyed
from .compaction import KeyedBatch as KeyedBatch
from .compaction import KeyedLog as KeyedLog
from .compaction import clean as clean
from .compaction import cleanable as cleanable
from .compaction import extend as extend
from .compaction import open_keyed as open_keyed
from .compaction import roll_keyed as roll_keyed
from .retention import OffsetOutOfRange as OffsetOutOfRange
from .retention import delete_old_segments as delete_old_segments
from .retention import delete_records as delete_records
from .retention import move_high_watermark as move_high_watermark
from .segments import AppendError as AppendError
from .segments import Batch as Batch
from .segments import Log as Log
from .segments import LogConfig as LogConfig
from .segments import Segment as Segment
from .segments import append as append
from .segments import open_log as open_log
from .segments import roll as roll
from .segments import roll_reason as roll_reason

# The log, its offset index and its time index; a roll adds a snapshot of the producers. The partition has two
# files of its own: its metadata and its leader epochs.
FILES_PER_SEGMENT = 3
FILES_PER_PARTITION = 2


class Schedule(NamedTuple):
    """When the broker looks for segments to delete, and how long deleted files stay on disk."""

    first_check_ms: int = 30_000
    check_interval_ms: int = 300_000
    file_delete_delay_ms: int = 60_000


class Sample(NamedTuple):
    """The log as a check found it before it deleted anything, or just before deleted files left the disk.

    `bytes` are the segments' own; `disk_bytes` and `files` count deleted files that are not yet removed too.
    The bytes of the indexes are left out: 20 for each index interval.
    """

    now: int
    segments: int
    files: int
    bytes: int
    disk_bytes: int
    oldest_age_ms: int


class History(NamedTuple):
    """What a run showed; ages count from the arrival of a record, whatever its timestamp says."""

    log: Log
    samples: tuple[Sample, ...]
    appended: int
    refused: tuple[tuple[str, int], ...]
    """Refused appends by the class of the error."""
    rolls: tuple[tuple[str, int], ...]
    """Rolls by reason (`roll_reason`); "retention" is the active segment deleted with the rest."""
    deleted_segments: int
    age_max_ms: int
    """The age of the oldest record that was ever readable."""
    deleted_age_min_ms: int | None
    """The age of the youngest record that was deleted: how long a record is sure to stay. None: none was."""
    deletions: tuple[tuple[int, int], ...] = ()
    """The clock and the base offset of each segment that was deleted."""

    @property
    def segments_max(self) -> int:
        return max(sample.segments for sample in self.samples)

    @property
    def files_max(self) -> int:
        return max(sample.files for sample in self.samples)

    @property
    def bytes_max(self) -> int:
        return max(sample.bytes for sample in self.samples)

    @property
    def disk_bytes_max(self) -> int:
        return max(sample.disk_bytes for sample in self.samples)


def drive(
    config: LogConfig,
    appends: Iterable[tuple[int, Batch]],
    until: int | None = None,
    schedule: Schedule = Schedule(),  # noqa: B008
    begin: int | None = None,
) -> History:
    """Run (clock, batch) pairs, in the order of the clock, through the log of a leader.

    The log is created and the broker started at `begin`, by default with the first append; checks go on until
    `until`, by default the last append. Followers keep up: the high watermark is the end of the log. A log
    that is only compacted keeps everything here, as batches have no keys.
    """
    run: _Run | None = None if begin is None else _Run(config, schedule, begin)
    now = begin or 0
    for now, batch in appends:
        if run is None:
            run = _Run(config, schedule, now)
        if now > run.next_event:
            run.events_before(now)
        run.append(now, batch)
    if run is None:
        run = _Run(config, schedule, until or 0)
    end = now if until is None else until
    run.events_before(end + 1)
    return run.history(end)


class _Run:
    """The one mutable thing: the log so far and what has been counted."""

    def __init__(self, config: LogConfig, schedule: Schedule, begin: int) -> None:
        self.config = config
        self.schedule = schedule
        self.log = open_log(begin)
        self.next_check = self.next_event = begin + schedule.first_check_ms
        self.samples: list[Sample] = []
        self.appended = 0
        self.refused: Counter[str] = Counter()
        self.rolls: Counter[str] = Counter()
        self.deletions: list[tuple[int, int]] = []
        self.age_max = 0
        self.deleted_age_min: int | None = None
        # (clock at which they are removed, files, bytes) of what is deleted.
        self.leaving: deque[tuple[int, int, int]] = deque()

    @property
    def deleted(self) -> int:
        return len(self.deletions)

    def append(self, now: int, batch: Batch) -> None:
        before = self.log
        try:
            self.log = after = append(self.config, before, now, (batch,))
        except AppendError as refusal:
            self.refused[refusal.error] += 1
            return
        self.appended += 1
        if after.active.base != before.active.base:
            timestamp = now if self.config.log_append_time else batch.max_timestamp
            last = after.end_offset - 1
            self.rolls[str(roll_reason(self.config, before.active, now, batch.size, last, timestamp))] += 1

    def events_before(self, now: int) -> None:
        """Every check, and every removal of deleted files, that is due before `now`."""
        while self.next_event < now:
            if self.leaving and self.leaving[0][0] <= self.next_check:
                self.samples.append(self.sample(self.leaving[0][0]))
                self.leaving.popleft()
            else:
                self.check(self.next_check)
                self.next_check += self.schedule.check_interval_ms
            self.next_event = min(self.next_check, self.leaving[0][0] if self.leaving else self.next_check)

    def check(self, now: int) -> None:
        self.samples.append(self.sample(now))
        log = self.log._replace(high_watermark=self.log.end_offset)
        self.log, gone = delete_old_segments(self.config, log, now)
        if not gone:
            return
        self.rolls["retention"] += len(gone) > len(log.sealed)
        files = FILES_PER_SEGMENT * len(gone) + len(gone) - (self.deleted == 0)
        self.leaving.append(
            (now + self.schedule.file_delete_delay_ms, files, sum(segment.size for segment in gone))
        )
        self.deletions += [(now, segment.base) for segment in gone]
        youngest = now - max(segment.last_write for segment in gone)
        if self.deleted_age_min is None or youngest < self.deleted_age_min:
            self.deleted_age_min = youngest

    def sample(self, now: int) -> Sample:
        log = self.log
        segments, size = len(log.sealed) + 1, log.size
        # The first segment of the log was not begun by a roll, so it has no snapshot.
        files = FILES_PER_PARTITION + (FILES_PER_SEGMENT + 1) * segments - (self.deleted == 0)
        oldest = log.sealed[0] if log.sealed else log.active
        age = now - oldest.first_write if oldest.size else 0
        self.age_max = max(self.age_max, age)
        return Sample(
            now,
            segments,
            files + sum(files for _, files, _ in self.leaving),
            size,
            size + sum(size for _, _, size in self.leaving),
            age,
        )

    def history(self, now: int) -> History:
        if not self.samples or self.samples[-1].now < now:
            self.samples.append(self.sample(now))
        return History(
            self.log._replace(high_watermark=self.log.end_offset),
            tuple(self.samples),
            self.appended,
            tuple(sorted(self.refused.items())),
            tuple(sorted((+self.rolls).items())),
            self.deleted,
            self.age_max,
            self.deleted_age_min,
            tuple(self.deletions),
        )
