"""The findings of a table's run row by row: the table `findings` joined with who has each.

In a run over files every finding has its place in the table itself, and that is what this gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

COLUMNS = (
    "code", "name", "severity", "message", "deployment", "root", "owner", "cluster", "topic", "client",
    "partitions", "file", "line", "key", "behaviour", "fp", "kafka_version", "row_id", "suppressed",
)  # fmt: skip
_TOLD = ("code", "name", "severity", "message", "slot", "key", "suppressed")


def findings_by_row(spark: SparkSession, folder: str, where: str = "true") -> DataFrame:
    """One row a finding and a deployment (or configuration) that has it. `folder` is that of a run; `where`
    a condition on the table `findings`, such as "code = 'KA101'"."""

    def table(name: str) -> DataFrame:
        return spark.read.parquet(f"{folder}/{name}")

    return spread(
        table("findings").where(where), table("configurations"), table("deployments"), table("clusters")
    )


def spread(
    findings: DataFrame, configurations: DataFrame, deployments: DataFrame, clusters: DataFrame
) -> DataFrame:
    from pyspark.sql import functions as F

    placed = findings.where("deployment is not null or file is not null").select(*COLUMNS)
    rest = findings.where("deployment is null and file is null")
    own = F.broadcast(rest.where("fp is not null").select("fp", "kafka_version", *_TOLD))
    joint = F.broadcast(rest.where("behaviour is not null").select("behaviour", "kafka_version", *_TOLD))
    # A topic and a broker are judged by their cluster's version, see rows/versions.py.
    binding = F.broadcast(clusters.where("kafka_version is not null").select("cluster", "kafka_version"))
    rows = configurations.where("reason is null").withColumnRenamed("name", "called")
    rows = rows.join(binding.withColumnRenamed("kafka_version", "of_cluster"), "cluster", "left")
    version = F.when(F.col("component").isin("broker", "topic"), F.col("of_cluster"))
    alone = rows.withColumn("at_version", version).join(
        own.withColumnRenamed("fp", "of_fp"),
        (F.col("fp") == F.col("of_fp")) & F.col("at_version").eqNullSafe(F.col("kafka_version")),
    )
    linked = deployments.join(joint, "behaviour")
    return placed.unionByName(_alone(alone)).unionByName(_linked(linked))


def _alone(rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    nothing = F.lit(None).cast("string")
    return rows.select(
        *_TOLD[:4],
        nothing.alias("deployment"),
        F.lit("").alias("root"),
        "owner",
        "cluster",
        F.coalesce("topic", F.when(F.col("component") == "topic", F.col("called"))).alias("topic"),
        F.when(~F.col("component").isin("topic", "broker"), F.col("called")).alias("client"),
        F.col("partitions").cast("bigint").alias("partitions"),
        "file",
        _line(F.col("lines"), F.col("line")).alias("line"),
        "key",
        nothing.alias("behaviour"),
        "fp",
        "kafka_version",
        "row_id",
        "suppressed",
    )


def _linked(rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    slot = F.col("slot")
    number = F.coalesce(F.regexp_extract(slot, "(?<![0-9])([0-9]+)$", 1).try_cast("int"), F.lit(0))
    group, broker = F.get("groups", number), F.get("cluster_at", number)

    def side(what: Any) -> Column:
        return (
            F.when(slot == "producer", what("producer_at"))
            .when(slot == "topic", what("topic_at"))
            .when(slot.startswith("group"), what(group["at"]))
        )

    def file(at: Any) -> Column:
        return (F.col(at) if isinstance(at, str) else at)["file"]

    def line(at: Any) -> Column:
        at = F.col(at) if isinstance(at, str) else at
        return _line(at["lines"], at["line"])

    return rows.select(
        *_TOLD[:4],
        "deployment",
        "root",
        "owner",
        "cluster",
        "topic",
        "client",
        F.col("partitions").cast("bigint").alias("partitions"),
        side(file).when(slot.startswith("broker"), broker["file"]).alias("file"),
        side(line).when(slot.startswith("broker"), broker["line"]).alias("line"),
        "key",
        "behaviour",
        F.lit(None).cast("string").alias("fp"),
        "kafka_version",
        "row_id",
        "suppressed",
    )


def _line(lines: Column, line: Column) -> Column:
    from pyspark.sql import functions as F

    return F.coalesce(F.get(F.array(lines[F.col("key")]), F.lit(0)), line)
