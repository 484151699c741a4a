"""Rows of a table joined into deployments, by their columns: cluster, and cluster with topic.

Only narrow rows are joined: a configuration travels as its sha-256. Clusters are few, so the driver makes
them of their brokers and every task is told all of them; the rest is shuffled once, so that all rows of a
topic come together, and joined there (joining.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING, Any

from ...spark.shipping import sent
from ...spark.tables import ddl
from ...tuples import NamedTuple
from ..store.tables import SCHEMAS
from .join import TAKEN, cluster_of, of_clusters

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

# About how many rows one task joins.
_ROWS_OF_A_TASK = 250_000
_DEPLOYMENTS = ddl(SCHEMAS["deployments"])


class Clusters(NamedTuple):
    """By the cluster's key: what `join_rows` is told of it; by its mark, the sha-256 of its brokers; and a
    row for each that no client and no topic names."""

    told: dict[str, Any]
    members: dict[str, list[str]]
    unused: list[dict[str, Any]]


def clusters_of(brokers: Iterable[dict[str, Any]], used: Set[str], link: bool) -> Clusters:
    """Brokers in the order of their names; without `link` each is a cluster, and stands for itself. `used`
    are the keys that clients and topics name."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in brokers:
        found.setdefault(row["cluster"] if link and row["cluster"] is not None else row["row_id"], []).append(
            row
        )
    told, members, unused = {}, {}, []
    for key, own in sorted(found.items()):
        own.sort(key=lambda row: (row["name"], row["fp"], row["file"] or "", row["line"] or 0))
        marks = [row["fp"] for row in own]
        told[key] = cluster_of(marks, [{"file": row["file"], "line": row["line"]} for row in own])
        members[told[key]["fp"]] = marks
        if link and key not in used:
            first = min(own, key=lambda row: str(row["row_id"]))
            row = {**first, "cluster": key, "owner": min(str(row["owner"]) for row in own)}
            unused.append({name: row.get(name) for name in TAKEN})
    return Clusters(told if link else {}, members, unused)


def linked(rows: DataFrame, clusters: Clusters, link: bool, count: int, packed: bytes | None) -> DataFrame:
    """Rows of tables.SCHEMAS["deployments"], of those of "configurations"."""
    from pyspark.sql import functions as F

    work = sent(
        "advisor.fleet.rows.join:join_rows", json.dumps({"link": link, "clusters": clusters.told}), packed
    )
    good = rows.where("reason is null").select(*TAKEN)
    parts = max(2, -(-count // _ROWS_OF_A_TASK))
    keys = F.coalesce("cluster", F.lit("")), F.coalesce("topic", "row_id")
    if link:
        good = good.where("component != 'broker'")
    whole = good.repartition(parts, *keys).mapInArrow(work, _DEPLOYMENTS)
    if clusters.unused:
        import pyarrow as pa

        made = of_clusters(pa.Table.from_pylist(clusters.unused, _schema()), clusters.told)
        whole = whole.unionByName(rows.sparkSession.createDataFrame(made, _DEPLOYMENTS))
    return whole


def _schema() -> pa.Schema:
    import pyarrow as pa

    kinds = {"line": pa.int32(), "partitions": pa.int32(), "lines": pa.map_(pa.string(), pa.int32())}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in TAKEN])
