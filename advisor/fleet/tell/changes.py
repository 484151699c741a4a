"""What is new and what is fixed since the run before: findings row by row, of both runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .by_row import COLUMNS, findings_by_row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# What makes a finding the same one: not its message, whose numbers may change, nor its place in a file.
SAME = ("code", "severity", "root", "cluster", "topic", "client", "deployment", "row_id", "key")
# With more findings than this in either run they are compared only if somebody asks.
FINDINGS_MAX = 200_000
Row = dict[str, Any]


def changes_since(spark: SparkSession, before: str, now: str) -> DataFrame:
    """The columns of `findings_by_row`, and `change`: new or fixed. `before` and `now` are runs' folders."""
    old, new = (_open(spark, folder) for folder in (before, now))
    return _missing(new, old, "new").unionByName(_missing(old, new, "fixed"))


def _open(spark: SparkSession, folder: str) -> DataFrame:
    return findings_by_row(spark, folder, "not suppressed")


def _missing(these: DataFrame, those: DataFrame, word: str) -> DataFrame:
    from pyspark.sql import functions as F

    left, right = these.alias("left"), those.select(*SAME).distinct().alias("right")
    same = F.lit(True)
    for name in SAME:
        same = same & F.col(f"left.{name}").eqNullSafe(F.col(f"right.{name}"))
    return left.join(right, same, "left_anti").select(F.lit(word).alias("change"), *COLUMNS)


def counted(changes: DataFrame) -> list[Row]:
    """By rule and owner."""
    grouped = changes.groupBy("change", "code", "name", "severity", "owner").count()
    rows = [{**row.asDict(), "findings": row["count"]} for row in grouped.collect()]
    return sorted(
        rows, key=lambda row: tuple(str(row[name]) for name in ("change", "code", "severity", "owner"))
    )
