"""How far each rule reaches in a table of rows: distinct topics and clients.

Rows are many and what is found in them repeats, so each row is looked at as two numbers: the set of rules
that its behaviour breaks, and its topic (or client).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .gathered import Gathered, Reached, Row, Rule

if TYPE_CHECKING:
    from ...spark.store import Store

# Of more rows than this, a part of the topics and clients stands for all of them.
_ROWS_MAX = 20_000_000
_NOTHING = pa.scalar(None, pa.string())
_CLIENTLESS = pa.array(["topic", "broker"])
Found = Mapping[str, frozenset[Rule]]
Mark = Callable[[str, str | None], str]


def reached(store: Store, gathered: Gathered, rules: Iterable[Rule]) -> Mapping[Rule, Reached]:
    alone = {mark: _rules(said.findings) for mark, said in gathered.alone.items()}
    joint = {behaviour: _rules(gathered.judged[mark].findings) for behaviour, mark in gathered.marks.items()}
    rows = sum(cell.deployments for cell in gathered.cells) + sum(one.configs for one in gathered.documents)
    share = 1 + rows // _ROWS_MAX
    topics, clients = _Distinct(share), _Distinct(share)
    for marks, topic, client in _configurations(store, gathered.alone_mark):
        topics.look(marks, alone, topic)
        clients.look(marks, alone, client)
    for behaviours, topic, client in _deployments(store):
        topics.look(behaviours, joint, topic)
        clients.look(behaviours, joint, client)
    of_topics, of_clients = topics.counted(), clients.counted()
    return {rule: Reached(of_topics.get(rule, 0), of_clients.get(rule, 0), share == 1) for rule in rules}


def _rules(findings: Iterable[Row]) -> frozenset[Rule]:
    return frozenset((found["code"], found["severity"]) for found in findings if not found["suppressed"])


def _configurations(store: Store, mark: Mark) -> Iterator[tuple[pa.Array, pa.Array, pa.Array]]:
    names = ("fp", "component", "cluster", "topic", "name")
    for batch in store.batches("configurations", names):
        fps, component, cluster, topic, name = (batch.column(column) for column in names)
        topic = pc.coalesce(topic, pc.if_else(pc.equal(component, "topic"), name, _NOTHING))
        client = pc.if_else(pc.is_in(component, _CLIENTLESS), _NOTHING, name)
        yield marks_of(fps, cluster, mark), _topic(cluster, topic), client


def marks_of(fps: pa.Array, cluster: pa.Array, mark: Mark) -> pa.DictionaryArray:
    """What is judged for each configuration, asked once of each that differs in each cluster."""
    coded, named = (
        one if pa.types.is_dictionary(one.type) else one.dictionary_encode() for one in (fps, cluster)
    )
    names = [*named.dictionary.to_pylist(), None]
    wide = len(names)
    pairs = pc.add(
        pc.multiply(coded.indices.cast(pa.int64()), wide), named.indices.fill_null(wide - 1).cast(pa.int64())
    ).dictionary_encode()
    texts = coded.dictionary.to_pylist()
    made = [mark(texts[pair // wide], names[pair % wide]) for pair in pairs.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(pairs.indices, pa.array(made, pa.string()))


def _deployments(store: Store) -> Iterator[tuple[pa.Array, pa.Array, pa.Array]]:
    names = ("behaviour", "cluster", "topic", "client")
    for batch in store.batches("deployments", names):
        behaviours, cluster, topic, client = (batch.column(column) for column in names)
        yield behaviours, _topic(cluster, topic), client


def _topic(cluster: pa.Array, topic: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(pc.coalesce(cluster, ""), topic, "\0")


class _Distinct:
    """How many distinct names each rule has; one in `share` of them is looked at."""

    def __init__(self, share: int) -> None:
        self._share = share
        self._sets: dict[frozenset[Rule], int] = {}
        self._numbers: list[Any] = []
        self._names: list[pa.Array] = []

    def look(self, marks: pa.Array, found: Found, names: pa.Array) -> None:
        coded = marks if pa.types.is_dictionary(marks.type) else marks.dictionary_encode()
        sets = [
            self._sets.setdefault(rules, len(self._sets)) if rules else None
            for rules in (found.get(mark, frozenset()) for mark in coded.dictionary.to_pylist())
        ]
        numbers = pa.array(sets, pa.int64()).take(coded.indices)
        there = pc.and_(numbers.is_valid(), names.is_valid())
        names, numbers = names.filter(there), numbers.filter(there).to_numpy()
        if self._share > 1:
            part = [crc32(name.encode()) % self._share == 0 for name in names.to_pylist()]
            names, numbers = names.filter(pa.array(part, pa.bool_())), numbers[np.array(part, bool)]
        self._names.append(names)
        self._numbers.append(numbers)

    def counted(self) -> dict[Rule, int]:
        if not self._names:
            return {}
        names = pa.chunked_array(self._names, pa.string()).combine_chunks().dictionary_encode()
        sets, places = np.concatenate(self._numbers), names.indices.to_numpy()
        counted = {}
        for rule in {rule for rules in self._sets for rule in rules}:
            has = np.array([rule in rules for rules in self._sets])
            seen = np.zeros(len(names.dictionary), bool)
            seen[places[has[sets]]] = True
            counted[rule] = self._share * int(np.count_nonzero(seen))
        return counted
