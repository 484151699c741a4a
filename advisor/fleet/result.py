"""What a run over a fleet gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tuples import NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class FleetResult(NamedTuple):
    """`folder` holds the tables, which Spark finds at `url`; `summary` is summary.json."""

    folder: str
    summary: dict[str, Any]
    spark: SparkSession
    url: str

    def table(self, name: str) -> DataFrame:
        """One of store/tables.py, such as `findings`."""
        from .store.tables import SCHEMAS

        if name not in SCHEMAS:
            raise ValueError(f"no table is called {name}; there is {', '.join(SCHEMAS)}")
        return self.spark.read.parquet(f"{self.url}/{name}")

    def findings_by_row(self, where: str = "true") -> DataFrame:
        """The findings, one for each row that has it; `where` is a condition on the table `findings`."""
        from .tell.by_row import findings_by_row

        return findings_by_row(self.spark, self.url, where)

    def changes(self) -> DataFrame:
        """The findings row by row that are `new` or `fixed` since the run before this one."""
        from .tell.changes import changes_since

        since = self.summary["since"]
        if since is None:
            raise ValueError("this is the first run: there is none before it to compare with")
        return changes_since(self.spark, f"{self.url.rpartition('/')[0]}/{since}", self.url)
