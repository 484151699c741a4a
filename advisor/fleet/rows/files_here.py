"""Rows that never leave this machine's workers: written to files by the task that makes them.

Where the source is plain parquet here, so is the result, and Spark only deals out the work: a row that went
through it would be taken apart and put together four times. Each file of configurations has its rows in
buckets by cluster and topic, a row group each, so that the task which joins a bucket reads just that. A task
that is run again writes the same file. What the driver is told are counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .join import TAKEN, joined, of_clusters
from .narrow import Narrowing
from .parquet_here import read_split

_TEXT = pa.string()
_OWN = ("row_id", "name", "file", "line")
# Configurations that are alike, of one owner in one cluster; a broker is told by itself.
COUNTED = (
    "owner string, cluster string, component string, fp string, good boolean, row_id string, name string, "
    "file string, line int, configs bigint, rows bigint, partitions bigint"
)
CELLS = (
    "owner string, cluster string, behaviour string, producer_fp string, topic_fp string, cluster_fp string, "
    "group_fps array<string>, deployments bigint, partitions bigint"
)


def count_splits(batches: Iterable[pa.RecordBatch], asked: str) -> Iterator[pa.RecordBatch]:
    """For mapInArrow over the numbers of splits: rows of COUNTED."""
    told = json.loads(asked)
    for batch in batches:
        for number in batch.column(0).to_pylist():
            narrowing = Narrowing(told["kept_apart"], told["aliases"])
            parts = [narrowing.narrow(part) for part in read_split(told["parts"][number], told["columns"])]
            if parts:
                rows = pa.Table.from_batches(parts).combine_chunks()
                _write_buckets(rows, _part(told["folder"], number), told["buckets"])
                yield from _counted(rows).to_batches()


def join_buckets(batches: Iterable[pa.RecordBatch], asked: str) -> Iterator[pa.RecordBatch]:
    """For mapInArrow over the numbers of buckets: rows of CELLS."""
    told = json.loads(asked)
    for batch in batches:
        for number in batch.column(0).to_pylist():
            rows = _bucket(told["configurations"], number)
            made = joined(rows, told["clusters"], told["link"])
            if number == 0 and told["unused"]:
                unused = pa.Table.from_pylist(told["unused"], rows.schema)
                made = pa.concat_tables([made, of_clusters(unused, told["clusters"])])
            _write(made, _part(told["folder"], number))
            yield from _cells(made).to_batches()


def _part(folder: str, number: int) -> str:
    return os.path.join(folder, f"part-{number:05}.parquet")


def _write(rows: pa.Table, path: str, ends: Iterable[int] = ()) -> None:
    """`ends`: where each row group ends."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = f"{os.path.dirname(path)}/.{os.path.basename(path)}.{os.urandom(4).hex()}"
    with pq.ParquetWriter(part, rows.schema) as writer:
        start = 0
        for end in (*ends, len(rows)):
            writer.write_table(rows.slice(start, end - start), max(1, end - start))
            start = end
    os.replace(part, path)


def _write_buckets(rows: pa.Table, path: str, buckets: int) -> None:
    cluster = pc.coalesce(rows["cluster"], "")
    topic = pc.coalesce(rows["topic"], rows["row_id"])
    keys = pc.binary_join_element_wise(cluster, topic, "\0").to_pylist()
    bucket = np.fromiter((crc32(key.encode()) % buckets for key in keys), np.int64, len(keys))
    order = np.argsort(bucket, kind="stable")
    ends = np.searchsorted(bucket[order], np.arange(1, buckets))
    _write(rows.take(order), path, ends.tolist())


def _bucket(folder: str, number: int) -> pa.Table:
    """The good rows of a bucket, of all files."""
    parts = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".parquet") and not name.startswith((".", "_")):
            with pq.ParquetFile(os.path.join(folder, name)) as file:
                parts.append(file.read_row_group(number, [*TAKEN, "reason"], use_threads=False))
    rows = pa.concat_tables(parts)
    return rows.filter(pc.is_null(rows["reason"])).select(list(TAKEN)).combine_chunks()


def _counted(rows: pa.Table) -> pa.Table:
    broker = pc.equal(rows["component"], "broker")
    own = {name: pc.if_else(broker, rows[name], pa.scalar(None, rows[name].type)) for name in _OWN}
    keys = {name: rows[name] for name in ("owner", "cluster", "component", "fp")}
    partitions = pc.coalesce(rows["partitions"].cast(pa.int64()), pa.scalar(0, pa.int64()))
    good = pc.is_null(rows["reason"])
    told = pa.table({**keys, "good": good, **own, "n": rows["rows"], "partitions": partitions})
    names = [*keys, "good", *_OWN]
    summed = told.group_by(names, use_threads=False).aggregate(
        [([], "count_all"), ("n", "sum"), ("partitions", "sum")]
    )
    return summed.select([*names, "count_all", "n_sum", "partitions_sum"]).rename_columns(
        [*names, "configs", "rows", "partitions"]
    )


def _cells(made: pa.Table) -> pa.Table:
    behaviour = made["behaviour"].combine_chunks().dictionary_encode()
    numbers = behaviour.indices.to_numpy()
    first = np.zeros(len(behaviour.dictionary), np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    sides = made.select(["behaviour", "producer_fp", "topic_fp", "cluster_fp", "groups"]).take(first)
    groups = [[group["fp"] for group in own or ()] for own in sides["groups"].to_pylist()]
    partitions = pc.coalesce(made["partitions"].cast(pa.int64()), pa.scalar(0, pa.int64()))
    told = pa.table(
        {"owner": made["owner"], "cluster": made["cluster"], "number": numbers, "partitions": partitions}
    )
    keys = ["owner", "cluster", "number"]
    summed = told.group_by(keys, use_threads=False).aggregate([([], "count_all"), ("partitions", "sum")])
    few = sides.take(summed["number"])
    return pa.table(
        {
            "owner": summed["owner"],
            "cluster": summed["cluster"],
            **{name: few[name] for name in ("behaviour", "producer_fp", "topic_fp", "cluster_fp")},
            "group_fps": pa.array(groups, pa.list_(_TEXT)).take(summed["number"]),
            "deployments": summed["count_all"],
            "partitions": summed["partitions_sum"],
        }
    )
