"""Wide rows to narrow ones, on the executors: a configuration becomes its sha-256.

Most rows of a fleet repeat a configuration seen before, so nothing is done row by row that can be done once
for each distinct thing: keys and values are numbered, each distinct pair is masked and hashed once, and a row
is the sum of its pairs' hashes (128 bits; the order of the entries makes no difference). Only of a sum that
is new to the task the text is written (canonical.py) and its sha-256 taken; `text` is filled in that one row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...catalog import COMPONENTS
from ...join.profiles import LOCAL_ADDRESS, dev_word
from ...syntax.numbers import INT, integer, is_digits
from ...tuples import NamedTuple
from ..canonical import ABSENT, BETWEEN, ENTRY, NAMED, RESERVED, masked
from ..keys import NAMES, SHAPES

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What a feeder hands over: any of these columns as text, `config` (a map, or a list of key and value),
# `lines` (a map) and `rows` (how many rows of the table this one stands for).
FED = (
    "id", "component", "client", "owner", "cluster", "topic", "family", "kafka_version", "profile", "file",
    "line", "brokers", "partitions", "replication_factor", "corrupt",
)  # fmt: skip
NARROW = (
    "row_id string, component string, name string, cluster string, topic string, owner string, file string, "
    "line int, lines map<string,int>, partitions int, rows bigint, reason string, fp string, text string"
)
TORN = "a key is missing or there twice, or a key or value holds control characters"
_FACTS = {
    "kafka_version": "kafka.version",
    "brokers": "cluster.brokers",
    "partitions": "topic.partitions",
    "replication_factor": "topic.replication_factor",
}
_COMPONENTS = frozenset((*COMPONENTS, "mm2", "connector", "user"))
_WHOLE = re.compile(r"\s*([+-]?[0-9]{1,9})(?:\.[0-9]*)?\s*")
_NOTHING = pa.scalar(None, pa.string())
# Beyond this many distinct pairs of key and value a task forgets them and begins anew.
_PAIRS_MAX = 1 << 20


def narrow_rows(batches: Iterable[pa.RecordBatch], asked: str) -> Iterator[pa.RecordBatch]:
    """For mapInArrow; `asked` has `kept_apart` (the keys whose plain values are names) and `aliases` (what
    keys of client families stand for)."""
    narrowing = Narrowing(**json.loads(asked))
    for batch in batches:
        if batch.num_rows:
            yield narrowing.narrow(batch)


class Known(NamedTuple):
    """A configuration that the task has met: its sha-256 (None: it is torn) and the partitions it says."""

    fp: str | None
    partitions: int | None


_BAD = Known(None, None)


class Pairs(NamedTuple):
    """Distinct pairs of a key and a value, by their numbers among `keys` and `values`; the number after the
    last is null."""

    keys: list[str | None]
    values: pa.Array
    key: NDArray[np.int64]
    value: NDArray[np.int64]

    def values_of(self, places: NDArray[np.int64]) -> pa.Array:
        numbers = self.value[places]
        return self.values.take(pa.array(numbers, mask=numbers == len(self.values)))


class Entries:
    """The column `config`: a map, or a list of key and value, of each row."""

    def __init__(self, config: pa.Array) -> None:
        offsets = config.offsets.to_numpy().astype(np.int64)
        low, high = int(offsets[0]), int(offsets[-1])
        self._offsets = offsets - low
        self.there = config.is_valid()
        if pa.types.is_map(config.type):
            keys, values = config.keys, config.items
        else:
            keys, values = config.values.field(0), config.values.field(1)
        self._keys, self._values = keys.slice(low, high - low), values.slice(low, high - low)

    @property
    def sizes(self) -> pa.Array:
        return pa.array(np.diff(self._offsets))

    def row(self, number: int) -> list[tuple[str | None, str | None]]:
        start, end = self._offsets[number], self._offsets[number + 1]
        keys, values = (side.slice(start, end - start) for side in (self._keys, self._values))
        return list(zip(keys.to_pylist(), values.to_pylist(), strict=True))

    def sums(self, words: Callable[[Pairs], NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """Of each row the sum of what `words` says of its pairs."""
        keys, values = _numbered(self._keys), _numbered(self._values)
        wide = len(values.dictionary) + 1
        key, value = (
            side.indices.fill_null(len(side.dictionary)).to_numpy().astype(np.int64)
            for side in (keys, values)
        )
        found = pa.array(key * wide + value).dictionary_encode()
        pair = found.dictionary.to_numpy()
        names = [*keys.dictionary.to_pylist(), None]
        told = words(Pairs(names, values.dictionary, pair // wide, pair % wide))
        places = found.indices.to_numpy()
        made = np.empty((len(self._offsets) - 1, 2), np.uint64)
        for side in (0, 1):
            run = np.zeros(len(places) + 1, np.uint64)
            np.cumsum(np.ascontiguousarray(told[:, side])[places], out=run[1:])
            made[:, side] = run[self._offsets[1:]] - run[self._offsets[:-1]]
        return made


def _numbered(texts: pa.Array) -> pa.DictionaryArray:
    return texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()


class Narrowing:
    """One task's: what it has met is written out once, and again by every other task and attempt."""

    def __init__(self, kept_apart: Iterable[str], aliases: Mapping[str, str] = {}) -> None:
        self._apart, self._aliases = frozenset(kept_apart), aliases
        self._words: dict[tuple[str | None, str | None], tuple[int, int]] = {}
        self._met: dict[bytes, Known] = {}

    def narrow(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        given = {name: _said(_column(batch, name, pa.string())) for name in FED}
        component = pc.utf8_lower(pc.utf8_trim(given["component"], " "))
        entries = Entries(batch.column("config"))
        reason = _reasons(given, component, entries)
        fps, texts, counted = self._configurations(entries, _abouts(component, given), reason)
        reason = pc.if_else(pc.or_(reason.is_valid(), fps.is_valid()), reason, TORN)
        of_topic = pc.if_else(pc.equal(component, "topic"), given["topic"], _NOTHING)
        told = pc.binary_join_element_wise(
            pc.coalesce(component, "?"),
            given["cluster"],
            given["topic"],
            given["client"],
            "/",
            null_handling="skip",
        )
        columns = {
            "row_id": pc.coalesce(given["id"], told),
            "component": component,
            "name": pc.coalesce(given["client"], of_topic, given["cluster"], given["file"], component, "?"),
            "cluster": given["cluster"],
            "topic": given["topic"],
            "owner": pc.coalesce(given["owner"], "(nobody)"),
            "file": given["file"],
            "line": _by_value(given["line"], _whole, pa.int32()),
            "lines": _column(batch, "lines", pa.map_(pa.string(), pa.int32())),
            "partitions": pc.coalesce(_by_value(given["partitions"], _whole, pa.int32()), counted),
            "rows": pc.coalesce(_column(batch, "rows", pa.int64()), pa.scalar(1, pa.int64())),
            "reason": reason,
            "fp": fps,
            "text": texts,
        }
        return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))

    def _configurations(
        self, entries: Entries, about: pa.DictionaryArray, reason: pa.Array
    ) -> tuple[pa.Array, pa.Array, pa.Array]:
        """Of each row the sha-256, the text where it is new, the partitions among its settings."""
        abouts = about.dictionary.to_pylist()
        words = np.array([_digest(text) for text in abouts], np.uint64).reshape(-1, 2)
        marks = np.ascontiguousarray(entries.sums(self._pair_words) + words[about.indices.to_numpy()])
        whole = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(16), len(marks), [None, pa.py_buffer(marks)]
        ).dictionary_encode()
        numbers = whole.indices.to_numpy()
        bad = reason.is_valid().to_numpy(zero_copy_only=False)
        rows = np.nonzero(~bad)[0]
        first = np.full(len(whole.dictionary), -1)
        # Written from the back, so that the first row of each stays.
        first[numbers[rows][::-1]] = rows[::-1]
        known = [_BAD] * len(first)
        texts: list[str | None] = []
        fresh = np.full(len(numbers), -1)
        for number, (row, mark) in enumerate(zip(first.tolist(), whole.dictionary.to_pylist(), strict=True)):
            if row < 0:
                continue
            found = self._met.get(mark)
            if found is None:
                said, text = self._read(abouts[about.indices[row].as_py()], entries.row(row))
                found = self._met[mark] = said
                fresh[row] = len(texts)
                texts.append(text)
            known[number] = found
        places = pa.array(numbers, mask=bad)
        return (
            pa.array([one.fp for one in known], pa.string()).take(places),
            pa.array(texts, pa.string()).take(pa.array(fresh, mask=fresh < 0)),
            pa.array([one.partitions for one in known], pa.int32()).take(places),
        )

    def _read(self, about: str, entries: Sequence[tuple[str | None, str | None]]) -> tuple[Known, str | None]:
        """One configuration, and its text."""
        given = dict(entries)
        whole = ENTRY.join(f"{key}{value}" for key, value in entries)
        if len(given) != len(entries) or not all(key and key[0] != "@" for key in given):
            return _BAD, None
        if RESERVED.search(whole.replace(ENTRY, "")) or whole.count(ENTRY) != len(entries) - 1:
            return _BAD, None
        parts = about.split(ENTRY)
        if not all(part[:1] == "@" and part.count(BETWEEN) == 1 for part in parts):
            return _BAD, None
        lines = [f"{key}{BETWEEN}{self._masked(key, value)}" for key, value in given.items()]
        text = ENTRY.join([*parts, *sorted(lines)])
        counted = None
        if f"@component{BETWEEN}topic" in parts:
            said = given.get("num-partitions", given.get("partitions")) or ""
            counted = integer(said, INT) if is_digits(said) else None
        return Known(sha256(text.encode()).hexdigest(), counted), text

    def _masked(self, key: str | None, value: str | None) -> str:
        return ABSENT if value is None or key is None else masked(key, value, self._apart, self._aliases)

    def _pair_words(self, pairs: Pairs) -> NDArray[np.uint64]:
        """Two hashes of each pair. Names are many: whether they are plain is asked of all at once."""
        if len(self._words) > _PAIRS_MAX:
            self._words.clear()
        made = np.empty((len(pairs.key), 2), np.uint64)
        rest = np.ones(len(pairs.key), bool)
        for kind, shape in SHAPES.items():
            numbers = [n for n, key in enumerate(pairs.keys) if key in self._apart and NAMES.get(key) == kind]
            asked = np.nonzero(np.isin(pairs.key, numbers))[0]
            if len(asked):
                values = pairs.values_of(asked)
                plain = pc.match_substring_regex(values, f"^(?:{shape})$").fill_null(False)
                if kind == "address":
                    # One at localhost says more than a name: it makes a profile.
                    plain = pc.and_not(
                        plain, pc.match_substring_regex(values, LOCAL_ADDRESS).fill_null(False)
                    )
                found = asked[plain.to_numpy(zero_copy_only=False)]
                for number in numbers:
                    made[found[pairs.key[found] == number]] = _digest(f"{pairs.keys[number]}{ENTRY}{NAMED}")
                rest[found] = False
        others = np.nonzero(rest)[0]
        for place, number, value in zip(
            others.tolist(), pairs.key[others].tolist(), pairs.values_of(others).to_pylist(), strict=True
        ):
            made[place] = self._word(pairs.keys[number], value)
        return made

    def _word(self, key: str | None, value: str | None) -> tuple[int, int]:
        found = self._words.get((key, value))
        if found is None:
            odd = ENTRY if value is not None and RESERVED.search(value) else ""
            found = self._words[key, value] = _digest(f"{key}{BETWEEN}{odd}{self._masked(key, value)}")
        return found


def _digest(text: str) -> tuple[int, int]:
    data = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return int.from_bytes(data[:8]), int.from_bytes(data[8:])


def _reasons(given: dict[str, pa.Array], component: pa.Array, entries: Entries) -> pa.Array:
    """Why a row is not audited, the first that holds."""
    known = pc.is_in(component, pa.array(sorted(_COMPONENTS)))
    called = pc.binary_join_element_wise(
        "no component is called ", pc.utf8_slice_codeunits(given["component"], 0, 80), ""
    )
    return pc.case_when(
        pc.make_struct(
            given["corrupt"].is_valid(),
            component.is_null(),
            pc.invert(known),
            pc.invert(entries.there),
            pc.equal(entries.sizes, 0),
        ),
        "the record cannot be parsed",
        "no component",
        called,
        "the config is missing, or is no JSON object",
        "the config is empty",
    )


def _abouts(component: pa.Array, given: dict[str, pa.Array]) -> pa.DictionaryArray:
    """What is no key, as entries that begin with @."""

    def entry(name: str, values: pa.Array) -> pa.Array:
        return pc.binary_join_element_wise(f"@{name}", values, BETWEEN)

    no = pa.scalar(False, pa.bool_())
    dev = pc.or_(
        pc.coalesce(_by_value(given["file"], _is_dev, pa.bool_()), no),
        pc.coalesce(pc.equal(given["profile"], "dev"), no),
    )
    # One part is never null: of rows that have none, the join would make no row.
    parts = [entry("component", pc.coalesce(component, "")), entry("family", given["family"])]
    parts += [entry(f"fact:{fact}", given[name]) for name, fact in _FACTS.items()]
    parts.append(pc.if_else(dev, f"@dev{BETWEEN}1", _NOTHING))
    return pc.binary_join_element_wise(*parts, ENTRY, null_handling="skip").dictionary_encode()


def _column(batch: pa.RecordBatch, name: str, kind: pa.DataType) -> pa.Array:
    if name not in batch.schema.names:
        return pa.nulls(batch.num_rows, kind)
    column = batch.column(name)
    return column if column.type == kind else column.cast(kind)


def _said(column: pa.Array) -> pa.Array:
    """An empty cell says nothing, as one that is not there."""
    if column.null_count == len(column):
        return column
    empty = pc.equal(pc.binary_length(column), 0)
    blank = pc.and_(pc.less(pc.binary_length(column), 9), pc.match_substring_regex(column, r"^\s+$"))
    return pc.if_else(pc.or_(empty, blank), _NOTHING, column)


def _by_value(column: pa.Array, said: Callable[[str], Any], kind: pa.DataType) -> pa.Array:
    """What `said` says of each value, asked once of each distinct one."""
    found = column.dictionary_encode()
    return pa.array([said(value) for value in found.dictionary.to_pylist()], kind).take(found.indices)


def _whole(text: str) -> int | None:
    found = _WHOLE.fullmatch(text)
    return integer(found.group(1)) if found else None


def _is_dev(file: str) -> bool:
    return dev_word(file) is not None
