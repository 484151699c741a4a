"""The tables of a run appended to tables of a catalog: `SCHEMA.findings` and so on, with a column `run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model import UsageError
from ...spark.session import spark_words
from .tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def append_tables(spark: SparkSession, url: str, schema: str, run: str) -> None:
    """`url` is the folder of a whole run. A table that holds a run of that name is left alone, so that the
    same rows are not appended twice."""
    from pyspark.sql import functions as F

    for name in TABLES:
        table = f"{schema}.{name}"
        try:
            if (
                spark.catalog.tableExists(table)
                and not spark.table(table).where(F.col("run") == run).isEmpty()
            ):
                continue
            rows = spark.read.parquet(f"{url}/{name}").withColumn("run", F.lit(run))
            rows.write.mode("append").partitionBy("run").saveAsTable(table)
        except Exception as error:
            raise UsageError(
                f"--catalog {schema}: {table} cannot be written: {spark_words(error)}; the run is whole"
            ) from None
