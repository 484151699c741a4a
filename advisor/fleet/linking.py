"""Rows of a table joined into deployments, by their columns: cluster, and cluster with topic.

Only narrow rows are joined: a configuration travels as its sha-256. As in an audit, a producer without its
topic is judged alone, a topic that nobody in sight writes is judged with its cluster, and consumers belong to
the deployments of their topic.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# Consumers of one topic that are judged with it: those that behave differently, the first by sha-256.
GROUPS_MAX = 8


def linked(staged: DataFrame, present: Set[str], link: bool, partitions: DataFrame) -> DataFrame:
    """deployment, row_id, producer, topic, cluster, owner, partitions, file and lines of each side, and the
    marks (sha-256) of the sides: producer_fp, topic_fp, cluster_fp, groups (an array)."""
    from pyspark.sql import functions as F

    rows = staged.where(F.col("reason").isNull())
    clients = sorted(present - {"producer", "topic", "broker"})
    if not link:
        return _named(_alone(_counted(rows, partitions), clients))
    topics = _side(_counted(rows.where(F.col("component") == "topic"), partitions), "topic")
    groups = _groups(rows, clients) if clients and "topic" in present else None
    if groups is not None:
        topics = topics.join(groups, ["cluster_key", "topic_key"], "left")
    clusters = clusters_of(rows) if "broker" in present else None
    sides = _sides(rows, topics, present)
    if clients:
        alone = _lone_consumers(rows, clients, "topic" in present)
        sides = alone if sides is None else sides.unionByName(alone, allowMissingColumns=True)
    if clusters is None:
        whole = sides
    elif sides is None:
        whole = clusters.drop("members").withColumn("cluster", F.col("cluster_key"))
    else:
        whole = _with_clusters(sides, clusters, rows)
    assert whole is not None
    return _named(whole)


def _sides(rows: DataFrame, topics: DataFrame, present: Set[str]) -> DataFrame | None:
    """Producers with their topics, producers without and topics without, in one join."""
    from pyspark.sql import functions as F

    if "producer" not in present:
        return topics if "topic" in present else None
    producers = _side(rows.where(F.col("component") == "producer"), "producer")
    if "topic" not in present:
        return producers
    own = ("row_id", "cluster", "owner")
    others = topics.withColumnsRenamed({name: f"topic_{name}" for name in own})
    joined = producers.join(others, ["cluster_key", "topic_key"], "full")
    lone = F.col("row_id").isNull()
    kept = {name: F.when(lone, F.col(f"topic_{name}")).otherwise(F.col(name)) for name in own}
    return joined.withColumns(kept).drop(*(f"topic_{name}" for name in own))


def _keys() -> list[Column]:
    from pyspark.sql import functions as F

    return [
        F.coalesce("cluster", F.lit("")).alias("cluster_key"),
        F.coalesce("topic", "row_id").alias("topic_key"),
    ]


def _counted(rows: DataFrame, partitions: DataFrame) -> DataFrame:
    """`partitions` (fp, counted) where no column says how many a topic has."""
    from pyspark.sql import functions as F

    joined = rows.join(partitions, "fp", "left")
    return joined.withColumn("partitions", F.coalesce("partitions", "counted")).drop("counted")


def _side(rows: DataFrame, side: str) -> DataFrame:
    from pyspark.sql import functions as F

    return rows.select(
        *_keys(),
        "row_id",
        "cluster",
        "owner",
        F.col("name").alias(f"{side}"),
        F.col("fp").alias(f"{side}_fp"),
        F.struct("file", "line", "lines").alias(f"{side}_at"),
        *(["partitions"] if side == "topic" else []),
    )


def _groups(rows: DataFrame, clients: list[str]) -> DataFrame:
    """Of each topic the consumers that behave differently."""
    from pyspark.sql import functions as F

    readers = rows.where(
        F.col("component").isin("consumer", "streams", "connect") & F.col("topic").isNotNull()
    )
    first = readers.groupBy(*_keys(), "fp").agg(F.min(F.struct("name", "file", "line")).alias("first"))
    one = F.struct(
        "fp",
        F.col("first.name").alias("name"),
        F.col("first.file").alias("file"),
        F.col("first.line").alias("line"),
    )

    def placed(group: Column) -> Column:
        at = F.struct(group["file"].alias("file"), group["line"].alias("line"), _no_lines().alias("lines"))
        return F.struct(group["fp"].alias("fp"), group["name"].alias("name"), at.alias("at"))

    kept = F.slice(F.sort_array(F.collect_list(one)), 1, GROUPS_MAX)
    return first.groupBy("cluster_key", "topic_key").agg(F.transform(kept, placed).alias("groups"))


def _no_lines() -> Column:
    from pyspark.sql import functions as F

    return F.lit(None).cast("map<string,int>")


def _lone_consumers(rows: DataFrame, clients: list[str], topics: bool) -> DataFrame:
    from pyspark.sql import functions as F

    readers = rows.where(F.col("component").isin(*clients))
    one = F.struct("fp", "name", F.struct("file", "line", "lines").alias("at"))
    alone = readers.select(*_keys(), "row_id", "cluster", "owner", F.array(one).alias("groups"))
    if topics:
        known = rows.where(F.col("component") == "topic").select(*_keys()).distinct()
        alone = alone.join(known, ["cluster_key", "topic_key"], "left_anti")
    return alone


def clusters_of(rows: DataFrame) -> DataFrame:
    """One row a cluster, its brokers in the order of their names."""
    from pyspark.sql import functions as F

    brokers = rows.where(F.col("component") == "broker").withColumn(
        "cluster_key", F.coalesce("cluster", "row_id")
    )
    ordered = F.sort_array(F.collect_list(F.struct("name", "fp", "file", "line")))
    made = brokers.groupBy("cluster_key").agg(
        ordered.alias("brokers"), F.min("owner").alias("owner"), F.min("row_id").alias("row_id")
    )
    marks = F.array_join(F.transform("brokers", lambda broker: broker["fp"]), ",")
    return made.select(
        "cluster_key",
        "owner",
        "row_id",
        F.sha2(marks, 256).alias("cluster_fp"),
        F.transform(
            "brokers", lambda broker: F.struct(broker["file"].alias("file"), broker["line"].alias("line"))
        ).alias("cluster_at"),
        F.transform("brokers", lambda broker: broker["fp"]).alias("members"),
    )


def _with_clusters(whole: DataFrame, clusters: DataFrame, rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    narrow = F.broadcast(clusters.drop("owner", "row_id", "members"))
    joined = whole.join(narrow, "cluster_key", "left")
    # Every client and topic is in a deployment, so that the rows say which clusters are used.
    used = rows.where(F.col("component") != "broker").select(_keys()[0]).distinct()
    unused = clusters.join(F.broadcast(used), "cluster_key", "left_anti")
    unused = unused.drop("members").withColumn("cluster", F.col("cluster_key"))
    return joined.unionByName(unused, allowMissingColumns=True)


def _alone(rows: DataFrame, clients: list[str]) -> DataFrame:
    from pyspark.sql import functions as F

    def when(component: str, column: str, kind: str) -> Column:
        return F.when(F.col("component") == component, F.col(column)).otherwise(F.lit(None).cast(kind))

    at = F.struct("file", "line", "lines")
    none_at = F.lit(None)
    group = F.array(F.struct("fp", "name", at.alias("at")))
    broker = F.array(F.struct("file", "line"))
    return rows.select(
        *_keys(),
        "row_id",
        "cluster",
        "owner",
        when("producer", "name", "string").alias("producer"),
        when("producer", "fp", "string").alias("producer_fp"),
        F.when(F.col("component") == "producer", at).otherwise(none_at).alias("producer_at"),
        when("topic", "name", "string").alias("topic"),
        when("topic", "fp", "string").alias("topic_fp"),
        F.when(F.col("component") == "topic", at).otherwise(none_at).alias("topic_at"),
        "partitions",
        F.when(F.col("component").isin(*clients) if clients else F.lit(False), group).alias("groups"),
        F.when(F.col("component") == "broker", F.sha2("fp", 256)).alias("cluster_fp"),
        F.when(F.col("component") == "broker", broker).alias("cluster_at"),
    )


def _named(whole: DataFrame) -> DataFrame:
    """Every column there, each deployment with its name and the mark of its sides."""
    from pyspark.sql import functions as F

    at = "struct<file:string,line:int,lines:map<string,int>>"
    kinds = {
        "cluster": "string",
        "producer": "string",
        "producer_fp": "string",
        "producer_at": at,
        "topic": "string",
        "topic_fp": "string",
        "topic_at": at,
        "partitions": "int",
        "cluster_fp": "string",
        "groups": f"array<struct<fp:string,name:string,at:{at}>>",
        "cluster_at": "array<struct<file:string,line:int>>",
    }
    for name, kind in kinds.items():
        if name not in whole.columns:
            whole = whole.withColumn(name, F.lit(None).cast(kind))
    group_marks = F.transform("groups", lambda group: group["fp"])
    lone = F.when(F.col("producer").isNull() & F.col("topic").isNull(), F.get("groups", F.lit(0))["name"])
    marks = F.concat_ws(
        "|",
        F.coalesce("producer_fp", F.lit("-")),
        F.coalesce("topic_fp", F.lit("-")),
        F.coalesce("cluster_fp", F.lit("-")),
        F.array_join(group_marks, ","),
    )
    return whole.select(
        F.concat_ws(" -> ", "producer", "topic", "cluster", lone).alias("deployment"),
        F.lit("").alias("root"),
        "row_id",
        "producer",
        "topic",
        "cluster",
        "owner",
        "partitions",
        "producer_at",
        "topic_at",
        "producer_fp",
        "topic_fp",
        "cluster_fp",
        "cluster_at",
        "groups",
        F.sha2(marks, 256).alias("behaviour"),
    )
