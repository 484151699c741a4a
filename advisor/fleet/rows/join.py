"""Rows joined into deployments, on the executors: all rows of a topic are in one task.

As in an audit, a producer without its topic is judged alone, a topic that nobody in sight writes is judged
with its cluster, and consumers belong to the deployments of their topic. What names no topic is joined with
nothing, and neither is what names no cluster where several topics have the name: there is never a cross
product of rows that say nothing of each other. A row that says what another says in every column is a repeat,
and counts once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Consumers of one topic that are judged with it: those that behave differently, the first by sha-256.
GROUPS_MAX = 8
READERS = ("consumer", "streams", "connect")
TAKEN = (
    "row_id", "component", "name", "cluster", "topic", "owner", "file", "line", "lines", "partitions", "fp",
)  # fmt: skip
REPEATED = ""
IDENTITY = tuple(name for name in TAKEN if name != "lines")
_ROWS_AT_ONCE = 20_000
_TEXT, _NOTHING = pa.string(), pa.scalar(None, pa.string())
_LINES = pa.map_(_TEXT, pa.int32())
_AT = pa.struct([("file", _TEXT), ("line", pa.int32()), ("lines", _LINES)])
_GROUP = pa.struct([("fp", _TEXT), ("name", _TEXT), ("at", _AT)])
_BROKERS_AT = pa.list_(pa.struct([("file", _TEXT), ("line", pa.int32())]))
_NOBODY: Any = np.empty(0, np.int64)


def join_rows(batches: Iterable[pa.RecordBatch], asked: str) -> Iterator[pa.RecordBatch]:
    """For mapInArrow: rows of TAKEN to rows of tables.SCHEMAS["deployments"]. `asked` has `clusters` (what
    is said of each, by its key) and `link`."""
    told = json.loads(asked)
    whole = [batch for batch in batches if batch.num_rows]
    if not whole:
        return
    rows = pa.Table.from_batches(whole).combine_chunks()
    yield from joined(rows, told["clusters"], told["link"]).to_batches(max_chunksize=_ROWS_AT_ONCE)


def joined(rows: pa.Table, clusters: Mapping[str, Any], link: bool) -> pa.Table:
    """A repeated row is told as a deployment without a behaviour: the driver begins anew without it."""
    again = repeats(rows)
    once = rows.filter(pc.invert(again))
    made = (_linked if link else _alone)(once, clusters)
    if len(once) == len(rows):
        return made
    few = rows.filter(again)
    told = _deployments(few, {}, own=np.arange(len(few)))
    place = told.schema.get_field_index("behaviour")
    told = told.set_column(place, "behaviour", pa.array([REPEATED] * len(few), _TEXT))
    return pa.concat_tables([made, told])


def repeats(rows: pa.Table) -> pa.Array:
    """Which rows say what one before them says, in every column but `lines`."""
    numbers, first = np.zeros(len(rows), np.int64), _NOBODY
    for name in IDENTITY:
        coded = rows[name].combine_chunks().dictionary_encode()
        place = coded.indices.fill_null(len(coded.dictionary)).to_numpy().astype(np.int64)
        numbers = numbers * (len(coded.dictionary) + 1) + place
        # Numbered anew, so that they stay small however many columns there are.
        found, first, numbers = np.unique(numbers, return_index=True, return_inverse=True)
        if len(found) == len(rows):
            break
    again = np.ones(len(rows), bool)
    again[first] = False
    return pa.array(again)


def _linked(rows: pa.Table, clusters: Mapping[str, Any]) -> pa.Table:
    component = rows["component"].combine_chunks()
    cluster = pc.coalesce(rows["cluster"].combine_chunks(), "")
    topic = pc.coalesce(rows["topic"].combine_chunks(), rows["row_id"].combine_chunks())
    key = pc.binary_join_element_wise(cluster, topic, "\0").dictionary_encode()
    producers = _where(pc.equal(component, "producer"))
    topics = _where(pc.equal(component, "topic"))
    numbers, count = _keys_of_their_own(rows, key, topics)
    others = _where(pc.invert(pc.is_in(component, pa.array(["producer", "topic", "broker"]))))
    written = np.zeros(count, bool)
    written[numbers[producers]] = True
    known = np.zeros(count, bool)
    known[numbers[topics]] = True
    # Every pair of a producer and a topic of one key, then the producers and the topics that have none.
    order = topics[np.argsort(numbers[topics], kind="stable")]
    start = np.searchsorted(numbers[order], numbers[producers], "left")
    many = np.searchsorted(numbers[order], numbers[producers], "right") - start
    first = np.repeat(start - np.cumsum(many) + many, many)
    with_topic = order[first + np.arange(many.sum())]
    lonely = producers[many == 0]
    unwritten = topics[~written[numbers[topics]]]
    producer = np.concatenate([np.repeat(producers, many), lonely, np.full(len(unwritten), -1)])
    of_topic = np.concatenate([with_topic, np.full(len(lonely), -1), unwritten])
    alone = others[~known[numbers[others]]]
    lists, place = _groups(rows, component, numbers, count)
    read = np.where(of_topic >= 0, place[numbers[of_topic]], -1)
    paired = _deployments(rows, clusters, producer, of_topic, _taken(lists, read))
    return pa.concat_tables([paired, _deployments(rows, clusters, groups=_each(rows, alone), own=alone)])


def _keys_of_their_own(rows: pa.Table, key: pa.Array, topics: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Of each row the number of its cluster and topic, and how many there are; a row that names too little to
    be joined by has a number that no other has."""
    numbers, count = key.indices.to_numpy().astype(np.int64), len(key.dictionary)
    called = np.bincount(numbers[topics], minlength=count)
    lost = pc.and_(rows["cluster"].is_null(), pa.array(called[numbers] > 1))
    lonely = _where(pc.or_(rows["topic"].is_null(), lost))
    numbers[lonely] = count + np.arange(len(lonely))
    return numbers, count + len(lonely)


def _groups(
    rows: pa.Table, component: pa.Array, numbers: NDArray[Any], count: int
) -> tuple[pa.Array, NDArray[Any]]:
    """Lists of consumers that behave differently, and which of them each key has (-1: none)."""
    readers = _where(pc.and_(pc.is_in(component, pa.array(READERS)), rows["topic"].is_valid()))
    place = np.full(count, -1)
    few = rows.select(["fp", "name", "file", "line"]).take(readers)
    few = few.append_column("key", pa.array(numbers[readers]))
    # What has no file or line comes first.
    placed = few.select(["key", "fp", "name"])
    placed = placed.append_column("file", pc.coalesce(few["file"], ""))
    placed = placed.append_column("line", pc.coalesce(few["line"], pa.scalar(-1, pa.int32())))
    few = few.take(pc.sort_indices(placed, [(name, "ascending") for name in placed.column_names]))
    key, fp = few["key"].to_numpy(), few["fp"].combine_chunks().dictionary_encode().indices.to_numpy()
    fresh = np.ones(len(key), bool)
    fresh[1:] = (key[1:] != key[:-1]) | (fp[1:] != fp[:-1])
    few, key = few.filter(pa.array(fresh)), key[fresh]
    starts = _starts(key)
    rank = np.arange(len(key)) - np.repeat(starts, np.diff(np.append(starts, len(key))))
    few, key = few.filter(pa.array(rank < GROUPS_MAX)), key[rank < GROUPS_MAX]
    starts = _starts(key)
    place[key[starts]] = np.arange(len(starts))
    at = pa.StructArray.from_arrays(
        [_column(few, "file"), _column(few, "line"), pa.nulls(len(few), _LINES)], fields=list(_AT)
    )
    one = pa.StructArray.from_arrays([_column(few, "fp"), _column(few, "name"), at], fields=list(_GROUP))
    return pa.ListArray.from_arrays(pa.array(np.append(starts, len(key)), pa.int32()), one), place


def _alone(rows: pa.Table, _: Mapping[str, Any]) -> pa.Table:
    """Each row by itself."""
    component = rows["component"].combine_chunks()
    producers = _where(pc.equal(component, "producer"))
    topics = _where(pc.equal(component, "topic"))
    brokers = _where(pc.equal(component, "broker"))
    others = _where(pc.invert(pc.is_in(component, pa.array(["producer", "topic", "broker"]))))
    return pa.concat_tables(
        [
            _deployments(rows, {}, producer=producers),
            _deployments(rows, {}, topic=topics),
            _deployments(rows, {}, groups=_each(rows, others), own=others),
            _deployments(rows, _by_row(rows.take(brokers)), own=brokers, by="row_id"),
        ]
    )


def _by_row(brokers: pa.Table) -> dict[str, Any]:
    """Brokers as clusters of one."""
    return {
        row["row_id"]: cluster_of([row["fp"]], [{"file": row["file"], "line": row["line"]}])
        for row in brokers.select(["row_id", "fp", "file", "line"]).to_pylist()
    }


def cluster_of(members: Sequence[str], at: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `join_rows` is told of a cluster: the mark of its brokers, and where they are."""
    return {"fp": sha256(",".join(members).encode()).hexdigest(), "at": list(at)}


def of_clusters(rows: pa.Table, clusters: Mapping[str, Any]) -> pa.Table:
    """Deployments of clusters that nobody in sight uses, one for each row."""
    return _deployments(rows, clusters, own=np.arange(len(rows)))


def _each(rows: pa.Table, places: NDArray[Any]) -> pa.Array:
    """A list of one consumer for each place."""
    few = rows.take(places)
    one = pa.StructArray.from_arrays(
        [_column(few, "fp"), _column(few, "name"), _at(few)], fields=list(_GROUP)
    )
    return pa.ListArray.from_arrays(pa.array(np.arange(len(places) + 1), pa.int32()), one)


def _deployments(
    rows: pa.Table,
    clusters: Mapping[str, Any],
    producer: NDArray[Any] = _NOBODY,
    topic: NDArray[Any] = _NOBODY,
    groups: pa.Array | None = None,
    own: NDArray[Any] = _NOBODY,
    by: str = "cluster",
) -> pa.Table:
    """Deployments by the places of their sides among the rows, -1 for none. `own` is the row of one that has
    neither producer nor topic; `by` names the column that says which of `clusters`."""
    size = max(len(producer), len(topic), len(own))
    nobody = np.full(size, -1)
    producer = producer if len(producer) else nobody
    topic = topic if len(topic) else nobody
    own = np.where(producer >= 0, producer, topic if not len(own) else own)
    written, stored, named = (_rows_at(rows, places) for places in (producer, topic, own))
    groups = pa.nulls(size, pa.list_(_GROUP)) if groups is None else groups.cast(pa.list_(_GROUP))
    of_cluster = _clusters(clusters, pc.coalesce(_column(named, by), ""))
    first = pc.list_element(_inside(groups, "name"), 0)
    alone = pc.and_(_column(written, "name").is_null(), _column(stored, "name").is_null())
    lone = pc.if_else(alone, first, _NOTHING)
    names = [_column(written, "name"), _column(stored, "name"), _column(named, "cluster"), lone]
    # The join would make no row of one that is null in all: so an empty one is put before, and cut off.
    joined = pc.binary_join_element_wise(pa.array([""] * size, _TEXT), *names, " -> ", null_handling="skip")
    marks = [_column(written, "fp"), _column(stored, "fp"), of_cluster["fp"]]
    behaviour = pc.binary_join_element_wise(
        *(pc.coalesce(mark, "-") for mark in marks), pc.coalesce(_marks(groups), ""), "|"
    ).dictionary_encode()
    digests = [sha256(text.encode()).hexdigest() for text in behaviour.dictionary.to_pylist()]
    return pa.table(
        {
            "deployment": pc.utf8_slice_codeunits(joined, 4),
            "root": pa.array([""] * size, _TEXT),
            "row_id": _column(named, "row_id"),
            "producer": _column(written, "name"),
            "topic": _column(stored, "name"),
            "cluster": _column(named, "cluster"),
            "client": pc.coalesce(_column(written, "name"), first),
            "owner": _column(named, "owner"),
            "partitions": _column(stored, "partitions"),
            "producer_at": _at(written),
            "topic_at": _at(stored),
            "producer_fp": _column(written, "fp"),
            "topic_fp": _column(stored, "fp"),
            "cluster_fp": of_cluster["fp"],
            "cluster_at": of_cluster["at"],
            "groups": groups,
            "behaviour": pa.array(digests, _TEXT).take(behaviour.indices),
        }
    )


def _clusters(clusters: Mapping[str, Any], key: pa.Array) -> dict[str, pa.Array]:
    keys = sorted(clusters)
    place = pc.index_in(key, pa.array(keys, _TEXT))
    fps, at = ([clusters[name][what] for name in keys] for what in ("fp", "at"))
    return {"fp": pa.array(fps, _TEXT).take(place), "at": pa.array(at, _BROKERS_AT).take(place)}


def _starts(key: NDArray[Any]) -> NDArray[Any]:
    """Where each run of equal keys begins."""
    return np.nonzero(np.concatenate([[True], key[1:] != key[:-1]]))[0] if len(key) else _NOBODY


def _where(mask: pa.Array) -> NDArray[Any]:
    return np.nonzero(pc.fill_null(mask, False).to_numpy(zero_copy_only=False))[0]


def _taken(values: pa.Array, places: NDArray[Any]) -> pa.Array:
    return values.take(pa.array(places, mask=places < 0))


def _rows_at(rows: pa.Table, places: NDArray[Any]) -> pa.Table:
    return rows.take(pa.array(places, mask=places < 0))


def _column(rows: pa.Table, name: str) -> pa.Array:
    return rows[name].combine_chunks()


def _at(rows: pa.Table) -> pa.Array:
    columns = [_column(rows, "file"), _column(rows, "line"), _column(rows, "lines").cast(_LINES)]
    return pa.StructArray.from_arrays(columns, fields=list(_AT), mask=_column(rows, "fp").is_null())


def _marks(groups: pa.Array) -> pa.Array:
    return pc.binary_join(_inside(groups, "fp"), ",")


def _inside(groups: pa.Array, field: str) -> pa.Array:
    """Of each list of structs the list of one field."""
    offsets = groups.offsets
    values = groups.values.field(field)
    return pa.ListArray.from_arrays(offsets, values, mask=groups.is_null() if groups.null_count else None)
