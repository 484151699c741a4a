"""Rows of plain parquet on this machine: Spark deals out the work, its workers do it (kept_here.py)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...spark.places import LocalPlace
from ...spark.shipping import sent
from ...spark.store import UNFINISHED
from ..keys import aliases_of
from ..trees.plan_here import local_path
from .files_here import CELLS, COUNTED
from .link import Clusters
from .parquet_here import Splits, splits
from .sources import named_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..run import Run

# About how many rows one task joins.
_ROWS_OF_A_TASK = 250_000


class RowsHere:
    """Steps `counted` and `cells`; the tables they are counted of are written on the way."""

    def __init__(self, run: Run, found: Splits) -> None:
        self._run, self._found = run, found
        self._buckets = run.options.partitions or max(2, -(-found.rows // _ROWS_OF_A_TASK))

    @classmethod
    def of(cls, run: Run, kinds: Sequence[str]) -> RowsHere | None:
        """None: the rows or the results are elsewhere, or are not plain."""
        if list(kinds) != ["parquet"] or run.packed is not None:
            return None
        if run.options.source_options or run.options.where is not None:
            return None
        path = local_path(run.sources[0])
        if path is None or not isinstance(run.store.place, LocalPlace):
            return None
        found = splits(path, lambda names: named_columns(names, run.options.columns))
        return None if found is None else cls(run, found)

    def read(self) -> None:
        asked = {
            **self._found._asdict(),
            "kept_apart": self._run.kept_apart,
            "aliases": aliases_of(self._run.registry),
            "buckets": self._buckets,
        }
        self._step("counted", "configurations", "count_splits", len(self._found.parts), asked, COUNTED)

    def join(self, clusters: Clusters, rows: int) -> None:
        asked = {
            "configurations": self._run.store.place.of(f"{UNFINISHED}/configurations"),
            "clusters": clusters.told,
            "unused": clusters.unused,
            "link": self._run.options.link,
        }
        self._step("cells", "deployments", "join_buckets", self._buckets, asked, CELLS)

    def _step(self, step: str, table: str, work: str, tasks: int, asked: dict[str, Any], ddl: str) -> None:
        """`step` is what the tasks return, `table` what they write."""
        run, place = self._run, self._run.store.place

        def make() -> DataFrame:
            place.delete(f"{UNFINISHED}/{table}")  # of a try before this one
            told = json.dumps({**asked, "folder": place.of(f"{UNFINISHED}/{table}")})
            numbers = run.spark.range(0, tasks, 1, tasks)
            return numbers.mapInArrow(sent(f"advisor.fleet.rows.files_here:{work}", told, None), ddl)

        run.store.step(step, make)
        place.write(f"{UNFINISHED}/{table}/_SUCCESS", "")
        run.progress(f"  {table}: {place.rows(f'{UNFINISHED}/{table}'):,} rows")
