"""Rows of a table joined into deployments, by their columns: cluster, and cluster with topic.

Only narrow rows are joined: a configuration travels as its sha-256. Clusters are few, so the driver makes
them of their brokers and every task is told all of them; the rest is shuffled once, so that all rows of a
topic come together, and joined there (joining.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from .joining import TAKEN, cluster_of, of_clusters
from .shipping import sent
from .tables import ddl

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

# About how many rows one task joins.
_ROWS_OF_A_TASK = 250_000


class Clusters(NamedTuple):
    """By the cluster's key: what `join_rows` is told of it; by its mark, the sha-256 of its brokers; and a
    row for each, as any deployment has one."""

    told: dict[str, Any]
    members: dict[str, list[str]]
    rows: list[dict[str, Any]]


def clusters_of(brokers: Iterable[dict[str, Any]], link: bool) -> Clusters:
    """Brokers in the order of their names; without `link` each is a cluster."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in brokers:
        found.setdefault(row["cluster"] if link and row["cluster"] is not None else row["row_id"], []).append(
            row
        )
    told, members, rows = {}, {}, []
    for key, own in sorted(found.items()):
        own.sort(key=lambda row: (row["name"], row["fp"], row["file"] or "", row["line"] or 0))
        marks = [row["fp"] for row in own]
        told[key] = cluster_of(marks, [{"file": row["file"], "line": row["line"]} for row in own])
        members[told[key]["fp"]] = marks
        first = min(own, key=lambda row: str(row["row_id"]))
        rows.append({**first, "cluster": key, "owner": min(str(row["owner"]) for row in own)})
    return Clusters(told, members, rows)


def linked(
    staged: DataFrame, clusters: Clusters, used: set[str], link: bool, rows: int, packed: bytes | None
) -> DataFrame:
    """Rows of tables.SCHEMAS["deployments"]. `used` are the keys of clusters that clients or topics name."""
    from pyspark.sql import functions as F

    work = sent(
        "advisor.fleet.joining:join_rows",
        json.dumps({"link": link, "clusters": clusters.told if link else {}}),
        packed,
    )
    good = staged.where("reason is null").select(*TAKEN)
    if not link:
        return good.mapInArrow(work, ddl("deployments"))
    parts = max(2, -(-rows // _ROWS_OF_A_TASK))
    keys = F.coalesce("cluster", F.lit("")), F.coalesce("topic", "row_id")
    whole = good.where("component != 'broker'").repartition(parts, *keys).mapInArrow(work, ddl("deployments"))
    unused = [row for row in clusters.rows if row["cluster"] not in used]
    if unused:
        import pyarrow as pa

        told = {name: [row.get(name) for row in unused] for name in TAKEN}
        made = of_clusters(pa.table(told, schema=_schema()), clusters.told)
        whole = whole.unionByName(staged.sparkSession.createDataFrame(made, ddl("deployments")))
    return whole


def _schema() -> pa.Schema:
    import pyarrow as pa

    kinds = {"line": pa.int32(), "partitions": pa.int32(), "lines": pa.map_(pa.string(), pa.int32())}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in TAKEN])
