"""Rows of whatever Spark reads: narrowed and joined by workers, shuffled, written and counted by Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...model import UsageError
from ...spark.session import spark_words
from ..keys import aliases_of
from .join import IDENTITY
from .link import Clusters, linked
from .sources import normalised, read_table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from ..run import Run


class RowsThere:
    """Steps `configurations` and `deployments`, and what is counted of them: `counted` and `cells`."""

    def __init__(self, run: Run, kinds: Sequence[str], once: bool = False) -> None:
        """`once`: rows that repeat another are put together with it."""
        self._run, self._kinds, self._once = run, kinds, once

    def read(self) -> None:
        self._rows = self._run.store.step("configurations", self._narrowed)
        self._run.store.step("counted", lambda: _counted(self._rows))

    def join(self, clusters: Clusters, rows: int) -> None:
        run = self._run
        made = run.store.step(
            "deployments", lambda: linked(self._rows, clusters, run.options.link, rows, run.packed)
        )
        run.store.step("cells", lambda: _cells(made))

    def _narrowed(self) -> DataFrame:
        run, whole = self._run, None
        for source, kind in zip(run.sources, self._kinds, strict=True):
            raw = source if kind == "frame" else read_table(run.spark, source, kind, run.options)
            rows = normalised(
                _chosen(raw, run.options.where),
                run.options,
                run.kept_apart,
                run.packed,
                aliases_of(run.registry),
            )
            whole = rows if whole is None else whole.unionByName(rows)
        assert whole is not None
        if self._once:
            whole = _once(whole)
        return whole if run.options.partitions is None else whole.repartition(run.options.partitions)


def _chosen(raw: DataFrame, where: str | None) -> DataFrame:
    if where is None:
        return raw
    try:
        return raw.where(where)
    except Exception as error:
        raise UsageError(f"--where {where}: {spark_words(error)}") from None


def _once(rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    merged = rows.groupBy(*IDENTITY, "reason").agg(
        F.first("lines").alias("lines"), F.sum("rows").alias("rows"), F.max("text").alias("text")
    )
    return merged.select(*rows.columns)


def _counted(rows: DataFrame) -> DataFrame:
    """As kept_here.COUNTED."""
    from pyspark.sql import functions as F

    def own(name: str) -> Column:
        return F.when(F.col("component") == "broker", F.col(name)).alias(name)

    good = F.col("reason").isNull().alias("good")
    brokers = [own(name) for name in ("row_id", "name", "file", "line")]
    return rows.groupBy("owner", "cluster", "component", "fp", good, *brokers).agg(
        F.count(F.lit(1)).alias("configs"), F.sum("rows").alias("rows"), _partitions()
    )


def _cells(deployments: DataFrame) -> DataFrame:
    """As kept_here.CELLS."""
    from pyspark.sql import functions as F

    fps = F.coalesce(F.transform("groups", lambda group: group["fp"]), F.array().cast("array<string>"))
    return (
        deployments.withColumn("group_fps", fps)
        .groupBy("owner", "cluster", "behaviour", "producer_fp", "topic_fp", "cluster_fp", "group_fps")
        .agg(F.count(F.lit(1)).alias("deployments"), _partitions())
    )


def _partitions() -> Column:
    from pyspark.sql import functions as F

    return F.coalesce(F.sum(F.col("partitions").cast("bigint")), F.lit(0)).alias("partitions")
