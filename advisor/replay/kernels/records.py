"""Records and batches as columns, and a stretch of records that several ways of batching look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from ...tuples import NamedTuple
from .sorting import stable_order
from .varints import Column, varint_sizes


class Records(NamedTuple):
    """Records in the order of their arrival: when, their timestamps, where they go, bytes of their
    contents. Where no record is late, `stamps` is `times`, the same column."""

    times: Column
    stamps: Column
    places: Column
    contents: Column

    def part(self, start: int, end: int | None = None) -> Records:
        return self._each(lambda column: column[start:end])

    def at(self, order: Column) -> Records:
        return self._each(lambda column: column[order])

    def copied(self) -> Records:
        return self._each(np.copy)

    def _each(self, work: Callable[[Column], Column]) -> Records:
        times = work(self.times)
        stamps = times if self.stamps is self.times else work(self.stamps)
        return Records(times, stamps, work(self.places), work(self.contents))


class Batches(NamedTuple):
    """Batches of a producer. `raw_bytes` are those of the records before compression, `waited` the
    milliseconds that the records waited for the request, summed."""

    place: Column
    created: Column
    drained: Column
    records: Column
    raw_bytes: Column
    size: Column
    max_stamp: Column
    min_stamp: Column
    waited: Column
    request: Column


def no_records() -> Records:
    times, places, contents = (np.empty(0, np.int64) for _ in range(3))
    return Records(times, times, places, contents)


def after(first: Records, second: Records) -> Records:
    if not len(first.times) or not len(second.times):
        return second if len(second.times) else first
    times = np.concatenate((first.times, second.times))
    same = first.stamps is first.times and second.stamps is second.times
    stamps = times if same else np.concatenate((first.stamps, second.stamps))
    places, contents = (np.concatenate(pair) for pair in zip(first[2:], second[2:], strict=True))
    return Records(times, stamps, places, contents)


def joined(parts: Sequence[Batches]) -> Batches:
    if not parts:
        return Batches(*(np.empty(0, np.int64) for _ in Batches._fields))
    return Batches(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class Grouped(NamedTuple):
    """Records by place, those of a place in the order of their arrival. `number` is each one's position
    among all, `sizes` its bytes in a batch of at most 64 records within 64 ms."""

    number: Column
    records: Records
    sizes: Column

    def between(self, start: int, end: int) -> Grouped:
        """Those of some positions, which are then counted from 0."""
        if not start and end >= len(self.number):
            return self
        inside = np.flatnonzero((self.number >= start) & (self.number < end))
        return Grouped(self.number[inside] - start, self.records.at(inside), self.sizes[inside])


class Window:
    """What is at hand of one node's records. To sort them by place is done once for all variants."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.count = len(records.times)

    @cached_property
    def grouped(self) -> Grouped:
        return by_place(self.records)


def by_place(records: Records) -> Grouped:
    number = stable_order(records.places)
    mine = records.at(number)
    body = mine.contents + 3
    return Grouped(number, mine, body + varint_sizes(body))
