"""What a source held when it was read: a run that was cut short is taken up only if that is still so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..memo.digests import digest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def of_files(spark: SparkSession, paths: Sequence[str]) -> str:
    """Names, sizes and times of the files below the paths; their contents are not read."""
    if not paths:
        return ""
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", True)
    listed = reader.load(list(paths)).select("path", "length", "modificationTime").collect()
    return digest("\n".join(sorted(f"{row[0]} {row[1]} {row[2]}" for row in listed)).encode())


def of_frame(frame: DataFrame) -> str:
    """Its plan, rows that are part of it included, and the files that it reads."""
    return f"{frame.semanticHash()} {of_files(frame.sparkSession, frame.inputFiles())}"


def of_table(spark: SparkSession, source: str, kind: str) -> str | None:
    """None: what it holds cannot be told without reading it (a database)."""
    if kind == "jdbc":
        return None
    if kind == "table":
        return of_frame(spark.table(source.removeprefix("table:")))
    try:
        # Of a Delta table the log says which files count.
        return of_files(spark, [f"{source.rstrip('/')}/_delta_log/*" if kind == "delta" else source])
    except Exception:
        return None  # told where it is read
