"""Rows of a trace to packed records, on the executors: one look at the source, whatever it is.

A million rows at a time are sorted by topic, producer and time, and leave as few rows with columns as cells.
What else one look can say goes with them: how often each key was written, what cannot be replayed and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..spark.tables import arrow_schema
from ..tuples import NamedTuple
from .columns import CELL_MAX, KEYLESS, PACKED_COLUMNS, RECORD, STRETCH_BITS
from .kernels.hashes import hashes
from .kernels.sorting import stable_order
from .kernels.varints import Column, contents_sizes

_ROWS_AT_ONCE = 1 << 20
# So many sums of keys are held; more are written, and added up by Spark.
_KEYS_HELD = 1 << 22
_CONTENTS_BITS = 20


class Packer:
    """`job`: schemes (topic -> how its producer hashes, "" for all others), key_first (a key counts more than
    the partition that was recorded), reasons (texts, by their number)."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        self.job = job
        self.schema = arrow_schema(PACKED_COLUMNS)
        self.waiting: list[Any] = []
        self.rows = 0
        self.keys = _Keys()

    def feed(self, batch: Any) -> Iterator[Any]:
        self.waiting.append(batch)
        self.rows += batch.num_rows
        if self.rows >= _ROWS_AT_ONCE:
            yield from self._flush()

    def finish(self) -> Iterator[Any]:
        if self.rows:
            yield from self._flush()
        for told in self.keys.taken():
            yield from self._told(told)

    def _flush(self) -> Iterator[Any]:
        rows = pa.Table.from_batches(self.waiting)
        self.waiting, self.rows = [], 0
        size = _numbers(rows["value_size"])
        refused = np.flatnonzero(size < -1)
        if len(refused):
            yield from self._refused(rows.take(refused))
            rows = rows.filter(pa.array(size >= -1))
        if rows.num_rows:
            yield from self._packed(_Rows(rows, self.job))

    def _refused(self, rows: Any) -> Iterator[Any]:
        """A reason is written as a size below that of null."""
        counted = pa.table({"topic": rows["topic"], "code": rows["value_size"]})
        counted = counted.group_by(["topic", "code"]).aggregate([([], "count_all")])
        reasons = [self.job["reasons"][-2 - code - 1] for code in counted["code"].to_pylist()]
        yield from self._told(
            {"topic": counted["topic"], "records": counted["count_all"], "reason": pa.array(reasons)}
        )

    def _packed(self, rows: _Rows) -> Iterator[Any]:
        if rows.keys is not None:
            for told in self.keys.add(rows):
                yield from self._told(told)
        # Who wrote where, in which stretch, in one number: its order is theirs.
        stretch = rows.times >> STRETCH_BITS
        begin, end = stretch.min().item(), stretch.max().item() + 1
        group = rows.topics.astype(np.int64) * len(rows.producer_names) + rows.producers
        group = group * (end - begin) + (stretch - begin)
        order = stable_order(group)
        starts = cell_starts(group[order])
        ends = np.append(starts[1:], len(order))
        times = rows.times[order]
        first = order[starts]
        columns: dict[str, Column] = {
            "at": times & ((1 << STRETCH_BITS) - 1),
            "target": rows.targets[order],
            "contents": rows.contents[order],
        }
        for name, values in (("late", rows.late), ("order", rows.order)):
            if values is not None:
                columns[name] = values[order]
        keyless = columns["target"] == KEYLESS
        late = None if rows.late is None else np.logical_or.reduceat(columns["late"] != 0, starts)
        largest = None if rows.partitions is None else np.maximum.reduceat(rows.partitions[order], starts)
        yield from self._told(
            {
                "topic": rows.topic_names.take(pa.array(rows.topics[first])),
                "producer": rows.producer_names.take(pa.array(rows.producers[first])),
                "stretch": pa.array(stretch[first]),
                "records": pa.array(ends - starts),
                "begin": pa.array(np.minimum.reduceat(times, starts)),
                "until": pa.array(np.maximum.reduceat(times, starts)),
                "partition": None if largest is None else pa.array(largest, mask=largest < 0),
                "keyless": pa.array(np.add.reduceat(keyless, starts, dtype=np.int64)),
                "is_late": None if late is None else pa.array(late),
                **{
                    name: packed(values.astype(RECORD[name]), starts, ends)
                    for name, values in columns.items()
                },
            }
        )

    def _told(self, columns: Mapping[str, Any]) -> Iterator[Any]:
        count = max(len(one) for one in columns.values() if one is not None)
        arrays = []
        for field in self.schema:
            column = columns.get(field.name)
            column = pa.nulls(count, field.type) if column is None else column
            column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
            arrays.append(column.cast(field.type))
        yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def cell_starts(group: Column) -> Column:
    """Where cells begin: with each group, and again where one has more than a cell should."""
    first = np.concatenate(([0], np.flatnonzero(group[1:] != group[:-1]) + 1))
    nth = np.arange(len(group)) - np.repeat(first, np.diff(first, append=len(group)))
    return np.flatnonzero(nth % CELL_MAX == 0)


def packed(values: Column, starts: Column, ends: Column) -> Any:
    """Stretches of one column, that follow each other, as cells of bytes."""
    offsets = np.append(starts, ends[-1:]) * values.itemsize
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.binary(), len(starts), buffers)


def unpacked(cells: Any, kind: str) -> tuple[Column, Column]:
    """All numbers of the cells, one after another, and how many each has."""
    _, ends, data = cells.buffers()
    offsets = np.frombuffer(ends, np.int32)[cells.offset : cells.offset + len(cells) + 1].astype(np.int64)
    dtype = np.dtype(kind)
    if data is None or offsets[-1] == offsets[0]:
        return np.empty(0, dtype), np.zeros(len(cells), np.int64)
    size = (offsets[-1] - offsets[0]) // dtype.itemsize
    numbers = np.frombuffer(data, dtype, size.item(), offsets[0].item())
    return numbers, np.diff(offsets) // dtype.itemsize


class _Rows:
    """Columns of rows that can be replayed; one that the trace does not have is None."""

    def __init__(self, rows: Any, job: Mapping[str, Any]) -> None:
        names = set(rows.column_names)
        self.job = job
        self.times = _numbers(rows["time"])
        self.topics, self.topic_names = _coded(rows["topic"])
        self.producers, self.producer_names = (
            _coded(rows["producer"]) if "producer" in names else (self.topics, self.topic_names)
        )
        self.keys: Column | None = None
        self.key_names: Any = None
        if "key" in names:
            self.keys, self.key_names = _coded(rows["key"])
        self.order = _numbers(rows["offset"], -1) if "offset" in names else None
        self.late = self.times - _numbers(rows["stamp"]) if "stamp" in names else None
        self.partitions = _numbers(rows["partition"], -1) if "partition" in names else None
        values = _numbers(rows["value_size"])
        keys = self._key_sizes(rows, names)
        headers = _numbers(rows["headers_size"]) if "headers_size" in names else 1
        self.contents = contents_sizes(keys, values, headers)
        self.raw = np.maximum(keys, 0) + np.maximum(values, 0)
        self.targets = self._targets(_numbers(rows["key_hash"], KEYLESS) if "key_hash" in names else None)

    def _key_sizes(self, rows: Any, names: set[str]) -> Column:
        sizes = np.full(len(self.times), -1, np.int64)
        if self.keys is not None:
            _, offsets = _letters(self.key_names)
            # The last one is that of no key.
            sizes = np.append(np.diff(offsets), -1)[self.keys]
        if "key_size" in names:
            told = _numbers(rows["key_size"], -2)
            sizes = np.where(told < -1, sizes, told)
        return sizes

    def _targets(self, told: Column | None) -> Column:
        nowhere = np.full(len(self.times), KEYLESS)
        hashed = nowhere if told is None else np.where(told == KEYLESS, KEYLESS, told & 0x7FFFFFFF)
        if self.keys is not None:
            hashed = np.where(hashed < 0, self._hashes(), hashed)
        if self.partitions is None:
            return hashed
        recorded = np.where(self.partitions < 0, KEYLESS, -1 - self.partitions)
        first, second = (hashed, recorded) if self.job["key_first"] else (recorded, hashed)
        return np.where(first == KEYLESS, second, first)

    def _hashes(self) -> Column:
        """Of each row's key, by the way of its topic."""
        schemes = self.job["schemes"]
        of_topic = [schemes.get(name, schemes[""]) for name in self.topic_names.to_pylist()]
        letters, offsets = _letters(self.key_names)
        found = np.full(len(self.times), KEYLESS)
        for scheme in sorted(set(of_topic)):
            told = hashes(letters, offsets, scheme)
            if scheme == "consistent_random":
                # An empty key is as good as none.
                told = np.where(np.diff(offsets) == 0, KEYLESS, told)
            # The last one is that of no key.
            mine = np.append(told, KEYLESS)[self.keys]
            if len(set(of_topic)) == 1:
                return mine
            is_mine = np.array([one == scheme for one in of_topic])[self.topics]
            found = np.where(is_mine, mine, found)
        return found


class _Keys:
    """Sums by topic and key, of a worker's whole task as long as they are few."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.topics: dict[str, int] = {}
        self.keys = pa.array([], pa.binary())
        self.sums = _Sums.zeros(0, 0)

    def add(self, rows: _Rows) -> Iterator[Mapping[str, Any]]:
        """Gives what there is no room for."""
        topics, keys = rows.topic_names.to_pylist(), rows.key_names
        coded = rows.keys
        assert coded is not None
        has = np.flatnonzero(coded >= 0)
        if len(topics) * len(keys) > _KEYS_HELD:
            pairs = rows.topics[has].astype(np.int64) * len(keys) + coded[has]
            seen, cell = np.unique(pairs, return_inverse=True)
            sums = _Sums.zeros(1, len(seen))
            sums.add(cell, rows, has)
            yield _key_rows(topics, keys, seen, sums)
            return
        new = keys.filter(pc.is_null(pc.index_in(keys, value_set=self.keys)))
        more = sum(name not in self.topics for name in topics)
        if (len(self.topics) + more) * (len(self.keys) + len(new)) > _KEYS_HELD:
            yield from self.taken()
            new = keys
        for name in topics:
            self.topics.setdefault(name, len(self.topics))
        self.keys = pa.concat_arrays([self.keys, new])
        self.sums = self.sums.grown(len(self.topics), len(self.keys))
        topic_at = np.array([self.topics[name] for name in topics])
        key_at = _numbers(pc.index_in(keys, value_set=self.keys))
        cell = topic_at[rows.topics[has]] * len(self.keys) + key_at[coded[has]]
        self.sums.add(cell, rows, has)

    def taken(self) -> Iterator[Mapping[str, Any]]:
        cells = np.flatnonzero(self.sums.records.ravel())
        if len(cells):
            there = _Sums(*(column.ravel()[cells] for column in self.sums))
            yield _key_rows(list(self.topics), self.keys, cells, there)
        self.clear()


def _key_rows(topics: Sequence[str], keys: Any, cells: Column, sums: _Sums) -> Mapping[str, Any]:
    """Cell n is the sum of topic n // keys and key n % keys."""
    return {
        "topic": pa.array(topics, pa.string()).take(pa.array(cells // len(keys))),
        "key": keys.take(pa.array(cells % len(keys))),
        **{name: pa.array(column.ravel()) for name, column in sums._asdict().items()},
    }


class _Sums(NamedTuple):
    """By topic and key. `live` is the size of the newest record, and `newest` says when it came."""

    records: Column
    raw: Column
    newest: Column
    live: Column

    @classmethod
    def zeros(cls, topics: int, keys: int) -> _Sums:
        return cls(*(np.zeros((topics, keys), np.int64) for _ in cls._fields))

    def grown(self, topics: int, keys: int) -> _Sums:
        before = self.records.shape
        if before == (topics, keys):
            return self
        made = _Sums.zeros(topics, keys)
        for old, new in zip(self, made, strict=True):
            new[: before[0], : before[1]] = old
        return made

    def add(self, cell: Column, rows: _Rows, has: Column) -> None:
        size = self.records.size
        self.records.ravel()[:] += np.bincount(cell, minlength=size)
        self.raw.ravel()[:] += np.bincount(cell, weights=rows.raw[has], minlength=size).astype(np.int64)
        contents = rows.contents[has]
        # By offset where there is one; records of one millisecond by their size.
        when = (rows.times[has] << _CONTENTS_BITS) | np.minimum(contents, (1 << _CONTENTS_BITS) - 1)
        if rows.order is not None:
            when = np.where(rows.order[has] < 0, when, rows.order[has])
        newest = self.newest.ravel()
        np.maximum.at(newest, cell, when)
        last = np.flatnonzero(newest[cell] == when)
        self.live.ravel()[cell[last]] = contents[last]


def _numbers(column: Any, missing: int = 0) -> Column:
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if column.null_count:
        column = column.fill_null(missing)
    numbers: Column = column.to_numpy(zero_copy_only=False)
    return numbers


def _coded(column: Any) -> tuple[Column, Any]:
    """Each row's number in the list of distinct values; -1 is null."""
    coded = column.combine_chunks().dictionary_encode()
    return _numbers(coded.indices, -1), coded.dictionary


def _letters(keys: Any) -> tuple[Column, Column]:
    """The bytes of all keys, and where each begins."""
    _, ends, data = keys.buffers()
    offsets = np.frombuffer(ends, np.int32)[keys.offset : keys.offset + len(keys) + 1].astype(np.int64)
    return (np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)), offsets


def pack(rows: Iterable[Any], job: Mapping[str, Any]) -> Iterator[Any]:
    packer = Packer(job)
    for batch in rows:
        yield from packer.feed(batch)
    yield from packer.finish()
