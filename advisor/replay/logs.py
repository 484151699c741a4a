"""Batches of one worker's task to logs: a row for each partition and hour, with the segments that began in
it.

A partition's batches are held whole (48 bytes each): where a segment ends and when it is deleted is
looked up in running sums of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..sim.log.log import FILES_PER_PARTITION, FILES_PER_SEGMENT, LogConfig, Schedule
from ..sim.log.workload import MAPS_PER_SEGMENT
from .columns import BATCH
from .kernels.lag import lag_of
from .kernels.log_segments import NEVER, Appends, LogRun, by_model, log_of
from .kernels.varints import Column

HOUR_MS = 3_600_000
_SEGMENT = (
    "array<struct<base:bigint,bytes:bigint,began:bigint,closed:bigint,closed_by:string,deleted:bigint,"
    "deleted_by:string>>"
)
CAUSES = ("size", "age", "index", "retention", "offset-range")
HOUR_COLUMNS = {
    "variant": "int", "place": "bigint", "hour": "bigint", "records": "bigint", "batches": "bigint",
    "requests": "bigint",
    "raw_bytes": "bigint", "bytes": "bigint", "waited_ms": "bigint", "refused_batches": "bigint",
    "refused_records": "bigint", "rolls_size": "bigint", "rolls_age": "bigint", "rolls_index": "bigint",
    "rolls_retention": "bigint", "rolls_range": "bigint", "segments": "bigint", "deleted_segments": "bigint",
    "retained_bytes": "bigint", "retained_bytes_max": "bigint", "disk_bytes_max": "bigint",
    "files_max": "bigint", "maps_max": "bigint", "oldest_ms": "bigint", "oldest_ms_max": "bigint",
    "lag_max": "bigint", "lag_ms_max": "bigint", "began": _SEGMENT,
}  # fmt: skip
_ROLLS = {
    "size": "rolls_size", "age": "rolls_age", "offset-index-full": "rolls_index",
    "time-index-full": "rolls_index", "retention": "rolls_retention", "offset-range": "rolls_range",
}  # fmt: skip
_CHECKED_BATCHES = 1_000


class Logs:
    """`job`: begin, until, checked, and for each number of batches the variants that are made of them:
    number, configs (of each place its log, schedule and consumer)."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.variants: dict[int, list[_Variant]] = {}
        for one in job["variants"]:
            self.variants.setdefault(one["batches"], []).append(_Variant(one))
        self.key: tuple[int, int] | None = None
        self.parts: list[Column] = []

    def feed(self, batch: Any) -> Iterator[list[dict[str, Any]]]:
        variants, places = batch.column("variant").to_pylist(), batch.column("place").to_pylist()
        for key, cell in zip(zip(variants, places, strict=True), batch.column("batches"), strict=True):
            if key != self.key:
                yield from self._ended()
                self.key = key
            # A copy: what Spark handed over is gone with the next rows.
            self.parts.append(np.frombuffer(cell.as_buffer(), BATCH).copy())

    def finish(self) -> Iterator[list[dict[str, Any]]]:
        yield from self._ended()
        self.key = None

    def _ended(self) -> Iterator[list[dict[str, Any]]]:
        if self.key is None:
            return
        whole = np.concatenate(self.parts)
        self.parts = []
        # Rows come by producer, each one's in its order: so do the batches of one millisecond.
        order = np.argsort(whole["drained"], kind="stable")
        columns = {name: whole[name][order].astype(np.int64) for name in BATCH.names or ()}
        made, place = self.key
        for variant in self.variants.get(made, ()):
            yield self._hours(variant, place, columns)

    def _hours(self, variant: _Variant, place: int, columns: dict[str, Column]) -> list[dict[str, Any]]:
        config, schedule, capacity = variant.of(place)
        begin, until = self.job["begin"], self.job["until"]
        appends = Appends(
            *(columns[name] for name in ("drained", "records", "size", "max_stamp", "min_stamp"))
        )
        run = log_of(config, schedule, appends, begin, until)
        if self.job["checked"] and place % self.job["checked"] == 0:
            _compare(config, schedule, appends, begin, until)
        hours = _Hours(begin, until)
        hours.counted(columns, run.taken)
        mine = appends if np.all(run.taken) else appends.where(run.taken)
        hours.kept(run, mine, schedule)
        if capacity is not None:
            hours.lagging(mine, capacity)
        return hours.rows(variant.number, place)


class _Variant:
    def __init__(self, given: dict[str, Any]) -> None:
        self.number = given["number"]
        self.logs = [LogConfig(**one) for one in given["logs"]]
        self.schedules = [Schedule(**one) for one in given["schedules"]]
        self.capacities: list[float | None] = given["capacities"]
        self.topic_of: list[int] = given["topic_of"]

    def of(self, place: int) -> tuple[LogConfig, Schedule, float | None]:
        topic = self.topic_of[place]
        return self.logs[topic], self.schedules[topic], self.capacities[topic]


def _compare(config: LogConfig, schedule: Schedule, appends: Appends, begin: int, until: int) -> None:
    """The first batches once more, through the kernel and through the model."""
    part = Appends(*(column[:_CHECKED_BATCHES] for column in appends))
    until = until if len(appends.times) <= _CHECKED_BATCHES else part.times[-1].item()
    got = log_of(config, schedule, part, begin, until)
    told = by_model(config, schedule, part, begin, until)
    if got.segments != told.segments or got.taken.tolist() != told.taken.tolist():
        raise RuntimeError("the kernel rolls or deletes segments otherwise than the model of the simulator")


class _Hours:
    """Columns by hour, from the hour of `begin` to that of `until`."""

    def __init__(self, begin: int, until: int) -> None:
        self.first = begin // HOUR_MS
        self.count = until // HOUR_MS - self.first + 1
        self.until = until
        self.columns: dict[str, Column] = {
            name: np.zeros(self.count, np.int64)
            for name in HOUR_COLUMNS
            if name not in ("variant", "place", "hour", "began")
        }
        self.columns["lag_max"] -= 1
        self.columns["lag_ms_max"] -= 1
        self.began: list[list[dict[str, Any]]] = [[] for _ in range(self.count)]

    def _hour(self, times: Column) -> Column:
        hours: Column = np.clip(times // HOUR_MS - self.first, 0, self.count - 1)
        return hours

    def _count(self, name: str, times: Column) -> None:
        self.columns[name] += np.bincount(self._hour(times), minlength=self.count)

    def counted(self, columns: dict[str, Column], taken: Column) -> None:
        drained = columns["drained"]
        # Sorted by time, so each hour's batches are a range of the running sums.
        bounds = np.searchsorted(drained, (self.first + np.arange(1, self.count)) * HOUR_MS)
        bounds = np.concatenate(([0], bounds, [len(drained)]))

        def summed(values: Column) -> Column:
            running = np.concatenate(([0], np.cumsum(values)))[bounds]
            by_hour: Column = running[1:] - running[:-1]
            return by_hour

        if not np.all(taken):
            self.columns["refused_batches"] = summed(~taken)
            self.columns["refused_records"] = summed(np.where(taken, 0, columns["records"]))
            columns = {name: np.where(taken, column, 0) for name, column in columns.items()}
        self.columns["batches"] = summed(taken)
        for name, of in (
            ("records", "records"),
            ("raw_bytes", "raw_bytes"),
            ("bytes", "size"),
            ("requests", "opens"),
            ("waited_ms", "waited"),
        ):
            self.columns[name] = summed(columns[of])

    def kept(self, run: LogRun, mine: Appends, schedule: Schedule) -> None:
        """What the log holds, at the end of each hour and at its worst: just before something is deleted."""
        segments = run.segments
        if not segments:
            return
        began = np.array([mine.times[one.first].item() for one in segments])
        gone = np.array([one.deleted_at for one in segments])
        sizes = np.array([one.bytes for one in segments])
        for one, at in zip(segments, began.tolist(), strict=True):
            hour = self._hour(np.array([at]))[0].item()
            self.began[hour].append(
                {
                    "base": one.base, "bytes": one.bytes, "began": at, "closed": _known(one.closed_at),
                    "closed_by": one.closed_by or None, "deleted": _known(one.deleted_at),
                    "deleted_by": one.deleted_by or None,
                }
            )  # fmt: skip
            if one.closed_by:
                self._count(_ROLLS[one.closed_by], np.array([one.closed_at]))
        self._count("deleted_segments", gone[gone != NEVER])
        ends = np.minimum((self.first + 1 + np.arange(self.count)) * HOUR_MS - 1, self.until)
        checks = np.unique(gone[gone != NEVER])
        left = np.unique(np.where(gone == NEVER, NEVER, gone + schedule.file_delete_delay_ms))
        left = left[left <= self.until]
        # Just before a check or a removal: what it takes away is still there.
        points = np.concatenate((ends, checks, left))
        is_end = np.arange(len(points)) < self.count
        running = np.concatenate(([0], np.cumsum(mine.sizes)))
        written = running[np.searchsorted(mine.times, points, "right")]
        # Segments are begun and deleted in one order, so those of a moment are a range.
        starts = np.searchsorted(began, points, "right")
        deleted = np.where(
            is_end, np.searchsorted(gone, points, "right"), np.searchsorted(gone, points, "left")
        )
        delay = schedule.file_delete_delay_ms
        removed = np.searchsorted(np.where(gone == NEVER, NEVER - delay, gone) + delay, points, "left")
        totals = np.concatenate(([0], np.cumsum(sizes)))
        there = starts - deleted
        on_disk = np.maximum(1, starts - removed)
        oldest = np.where(there > 0, points - began[np.minimum(deleted, len(began) - 1)], 0)
        files = FILES_PER_PARTITION + (FILES_PER_SEGMENT + 1) * on_disk - (removed == 0)
        hours = self._hour(points)
        for name, values in (
            ("retained_bytes_max", written - totals[deleted]),
            ("disk_bytes_max", written - totals[removed]),
            ("files_max", files),
            ("maps_max", MAPS_PER_SEGMENT * on_disk),
            ("oldest_ms_max", oldest),
        ):
            np.maximum.at(self.columns[name], hours, values)
        at_end = slice(0, self.count)
        self.columns["segments"] = np.maximum(1, there[at_end])
        self.columns["retained_bytes"] = (written - totals[deleted])[at_end]
        self.columns["oldest_ms"] = oldest[at_end]

    def lagging(self, mine: Appends, capacity: float) -> None:
        behind = lag_of(mine.times, mine.records, capacity)
        hours = self._hour(mine.times)
        np.maximum.at(self.columns["lag_max"], hours, behind)
        np.maximum.at(self.columns["lag_ms_max"], hours, np.ceil(behind / capacity).astype(np.int64))

    def rows(self, variant: int, place: int) -> list[dict[str, Any]]:
        plain = {name: column.tolist() for name, column in self.columns.items()}
        rows = []
        for hour in range(self.count):
            row = {name: values[hour] for name, values in plain.items()}
            for name in ("lag_max", "lag_ms_max"):
                row[name] = None if row[name] < 0 else row[name]
            at = (self.first + hour) * HOUR_MS
            rows.append({"variant": variant, "place": place, "hour": at, **row, "began": self.began[hour]})
        return rows


def _known(at: int) -> int | None:
    return None if at == NEVER else at
