"""What the driver holds of a run: sums by variant, topic and partition, and the hours of each topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...tuples import NamedTuple
from ..plan import Plan

if TYPE_CHECKING:
    from ...spark.store import Store

_SUMS = (
    "records", "batches", "requests", "raw_bytes", "bytes", "waited_ms", "refused_batches", "refused_records",
    "rolls_size", "rolls_age", "rolls_index", "rolls_retention", "rolls_range", "deleted_segments",
)  # fmt: skip
_WORST = (
    "retained_bytes_max",
    "disk_bytes_max",
    "files_max",
    "maps_max",
    "oldest_ms_max",
    "lag_max",
    "lag_ms_max",
)


class Gathered(NamedTuple):
    """Rows as Spark gave them: `topics` by variant and topic, `partitions` those of the configuration as it
    is, `hours` its topics hour by hour, `brokers` its brokers hour by hour."""

    totals: Mapping[str, Mapping[str, Any]]
    topics: Mapping[tuple[str, str], Mapping[str, Any]]
    partitions: Sequence[Mapping[str, Any]]
    hottest: Mapping[str, float]
    hours: Sequence[Mapping[str, Any]]
    brokers: Sequence[Mapping[str, Any]]
    longest: Mapping[str, Mapping[str, Any]]
    """Of each topic the segment whose first record stayed longest."""

    def hottest_share(self, variant: str) -> float:
        return self.hottest.get(variant, 0.0)


def gather(store: Store, plans: Sequence[Plan]) -> Gathered:
    from pyspark.sql import functions as F

    hours = store.spark.read.parquet(store.place.url("unfinished/hours"))
    worst = [F.max(name).alias(name) for name in _WORST]
    # What a partition comes to at its worst, then the sum of all partitions.
    by_partition = hours.groupBy("variant", "topic", "partition").agg(
        *(F.sum(name).alias(name) for name in _SUMS),
        *worst,
        F.max_by("segments", "hour").alias("segments"),
        F.max_by("retained_bytes", "hour").alias("retained_bytes"),
        F.max_by("oldest_ms", "hour").alias("oldest_ms"),
    )
    rows = [row.asDict() for row in by_partition.collect()]
    rows.sort(key=lambda row: (row["variant"], row["topic"], row["partition"]))
    topics: dict[tuple[str, str], dict[str, Any]] = {}
    totals: dict[str, dict[str, Any]] = {}
    for row in rows:
        for into in (
            topics.setdefault((row["variant"], row["topic"]), {}),
            totals.setdefault(row["variant"], {}),
        ):
            _add(into, row)
    hottest = _hottest(rows, topics)
    base = hours.where(F.col("variant") == "")
    base = base.withColumn("hour", F.unix_millis("hour"))
    by_hour = base.groupBy("topic", "hour").agg(
        *(F.sum(name).alias(name) for name in _SUMS),
        F.max("lag_max").alias("lag_max"),
        F.max("lag_ms_max").alias("lag_ms_max"),
        F.max("oldest_ms_max").alias("oldest_ms_max"),
        F.sum("retained_bytes").alias("retained_bytes"),
        F.sum("files_max").alias("files"),
        F.max("records").alias("hottest"),
    )
    brokers = store.spark.read.parquet(store.place.url("unfinished/brokers")).where(F.col("variant") == "")
    brokers = brokers.withColumn("hour", F.unix_millis("hour"))
    return Gathered(
        totals,
        topics,
        [row for row in rows if not row["variant"]],
        hottest,
        [row.asDict() for row in by_hour.orderBy("topic", "hour").collect()],
        [row.asDict() for row in brokers.orderBy("broker", "hour").collect()],
        _longest(store),
    )


def _longest(store: Store) -> dict[str, Mapping[str, Any]]:
    from pyspark.sql import functions as F

    segments = store.spark.read.parquet(store.place.url("unfinished/segments")).where(F.col("variant") == "")
    stays = F.coalesce(F.unix_millis("deleted"), F.lit(2**62)) - F.unix_millis("began")
    told = F.struct(
        "partition",
        "base",
        *(F.unix_millis(name).alias(name) for name in ("began", "closed", "deleted")),
        "closed_by",
    )
    order = F.struct(stays, -F.col("partition"), -F.col("base"))
    rows = segments.groupBy("topic").agg(F.max_by(told, order).alias("segment")).collect()
    return {row["topic"]: row["segment"].asDict() for row in rows}


def _add(into: dict[str, Any], row: Mapping[str, Any]) -> None:
    for name in (*_SUMS, "segments", "retained_bytes"):
        into[name] = into.get(name, 0) + row[name]
    for name in ("retained_bytes_max", "disk_bytes_max", "files_max", "maps_max"):
        into[name] = into.get(name, 0) + row[name]
    into["files"] = into["files_max"]
    for name in ("oldest_ms_max", "oldest_ms", "lag_max", "lag_ms_max"):
        known = [one for one in (into.get(name), row[name]) if one is not None]
        into[name] = max(known, default=None)
    into["partitions"] = into.get("partitions", 0) + 1
    into["hottest_records"] = max(into.get("hottest_records", 0), row["records"])


def _hottest(
    rows: Sequence[Mapping[str, Any]], topics: Mapping[tuple[str, str], Mapping[str, Any]]
) -> dict[str, float]:
    """The largest share that one partition has of its topic, of all topics of a variant."""
    found: dict[str, float] = {}
    for row in rows:
        whole = topics[row["variant"], row["topic"]]["records"]
        share = row["records"] / whole if whole else 0.0
        found[row["variant"]] = max(found.get(row["variant"], 0.0), share)
    return found
