"""Where a cluster's or a team's fleet disagrees with itself: most say one thing, a few another.

Counted over distinct configurations, so a million rows with five hundred behaviours cost five hundred. A
key that most set and one does not is a difference too: its value is `(unset)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .canonical import BETWEEN, ENTRY, HIDDEN, NAMED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

UNSET = "(unset)"
# Fewer configurations than this have no usual value.
CONFIGS_MIN = 4
# A value that fewer than this share have in common is a choice of each, not a custom.
SHARE_MIN = 0.6


def drift(documents: DataFrame, distinct: DataFrame) -> DataFrame:
    """`documents` has owner, cluster, component, fp and configs (how many); `distinct` fp and canon."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    counted = None
    for scope, column in (("cluster", "cluster"), ("team", "owner")):
        one = (
            documents.where(F.col(column).isNotNull())
            .groupBy(F.lit(scope).alias("scope"), F.col(column).alias("name"), "component", "fp")
            .agg(F.sum("configs").alias("n"))
        )
        counted = one if counted is None else counted.unionByName(one)
    assert counted is not None
    place = ["scope", "name", "component"]
    totals = counted.groupBy(*place).agg(F.sum("n").alias("of"))
    entry = F.explode(F.split("canon", ENTRY)).alias("entry")
    spread = (
        counted.join(distinct.select("fp", "canon"), "fp")
        .select(*place, "n", entry)
        .select(
            *place,
            "n",
            F.substring_index("entry", BETWEEN, 1).alias("key"),
            F.substring_index("entry", BETWEEN, -1).alias("value"),
        )
        .where(~F.col("key").startswith("@") & (F.col("key") != "") & ~F.col("value").isin(HIDDEN, NAMED))
        .groupBy(*place, "key", "value")
        .agg(F.sum("n").alias("n"))
    )
    given = spread.groupBy(*place, "key").agg(F.sum("n").alias("given"))
    unset = (
        given.join(totals, place)
        .where(F.col("of") > F.col("given"))
        .select(*place, "key", F.lit(UNSET).alias("value"), (F.col("of") - F.col("given")).alias("n"))
    )
    whole = spread.unionByName(unset).join(totals, place).where(F.col("of") >= CONFIGS_MIN)
    ranked = Window.partitionBy(*place, "key").orderBy(F.desc("n"), "value")
    usual = whole.withColumn("usual", F.first("value").over(ranked)).withColumn(
        "most", F.first("n").over(ranked)
    )
    share = F.col("most") / F.col("of")
    return (
        usual.where((F.col("value") != F.col("usual")) & (share >= SHARE_MIN))
        .select(
            *place,
            "key",
            "usual",
            F.round(share, 4).alias("usual_share"),
            F.substring("value", 1, 200).alias("value"),
            F.col("n").alias("configs"),
            "of",
        )
        .orderBy(F.desc("usual_share"), F.desc("of"), *place, "key", "value")
        .coalesce(1)
    )
