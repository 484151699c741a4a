"""Where a run keeps its tables, and how a run that is cut short leaves the last good one alone.

OUT/current             the name of the last whole run
OUT/runs/NAME/TABLE/    its tables, parquet, and summary.json, report.html
OUT/unfinished/         steps of a run under way; `--resume` takes up those that are whole
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..syntax.numbers import LONG, integer
from .places import LocalPlace, place
from .tables import Schemas, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

UNFINISHED, RUNS, CURRENT = "unfinished", "runs", "current"
# Trends need a few points; the rest of an old run is dropped.
RUNS_KEPT = 30
_ROWS_AT_ONCE, _ROWS_OF_A_BATCH = 5_000, 100_000
_LISTED_MAX = 10_000
Row = dict[str, Any]


class Store:
    """`schemas` are those of the tables that `put` writes."""

    def __init__(
        self, spark: SparkSession, out: str, progress: Callable[[str], None], schemas: Schemas
    ) -> None:
        self.spark, self.place, self.progress = spark, place(spark, out), progress
        self.schemas = schemas

    def begin(self, asked: dict[str, Any], resume: bool) -> bool:
        """Whether steps of an earlier try are taken up: only if it was asked the same. `asked` is by words
        that a user knows, such as "source"; what is None is never the same."""
        text = json.dumps(asked, sort_keys=True, default=str)
        if resume:
            changed = self._changed(json.loads(text))
            self.progress(changed or "taking up the run that was cut short")
            if changed is None:
                return True
        self.place.delete(UNFINISHED)
        self.place.write(f"{UNFINISHED}/asked.json", text)
        return False

    def _changed(self, asked: dict[str, Any]) -> str | None:
        """Why there is nothing to take up."""
        try:
            before = json.loads(self.place.read(f"{UNFINISHED}/asked.json") or "")
        except ValueError:
            return "no run was cut short here: starting from the beginning"
        unknown = [name for name, value in asked.items() if value is None]
        changed = [name for name, value in asked.items() if before.get(name) != value]
        if unknown:
            return f"starting over: whether the {unknown[0]} changed meanwhile cannot be told"
        return f"starting over: the {' and the '.join(changed)} changed since" if changed else None

    def step(self, name: str, make: Callable[[], DataFrame], **options: Any) -> DataFrame:
        """The table of a step, made unless a try before this one finished it."""
        path = f"{UNFINISHED}/{name}"
        if self.place.exists(f"{path}/_SUCCESS"):
            return self.spark.read.parquet(self.place.url(path))
        made = make()
        made.write.mode("overwrite").options(**options).parquet(self.place.url(path))
        rows = self.place.rows(path)
        self.progress(f"  {name}" + ("" if rows is None else f": {rows:,} rows"))
        # Told what was written, Spark need not open the files to see.
        return self.spark.read.schema(made.schema).parquet(self.place.url(path))

    def put(self, name: str, rows: Iterable[Row]) -> None:
        """A table of few rows, written by the driver; `rows` may leave columns out."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = arrow_schema(self.schemas[name])
        data = io.BytesIO()
        count = 0
        with pq.ParquetWriter(data, schema, compression="zstd") as writer:
            waiting = iter(rows)
            while chunk := list(islice(waiting, _ROWS_AT_ONCE)):
                writer.write_table(pa.Table.from_pylist(chunk, schema))
                count += len(chunk)
        path = f"{UNFINISHED}/{name}"
        self.place.delete(path)
        self.place.write_bytes(f"{path}/part-00000.parquet", data.getvalue())
        self.place.write(f"{path}/_SUCCESS", "")
        self.progress(f"  {name}: {count:,} rows")

    def rows(self, name: str) -> Iterator[Row]:
        """Those of a step, one by one."""
        frame = self.spark.read.parquet(self.place.url(f"{UNFINISHED}/{name}"))
        if not isinstance(self.place, LocalPlace):
            yield from (row.asDict() for row in frame.toLocalIterator())
            return
        from pyarrow.parquet import ParquetFile

        for part in self.place.names(f"{UNFINISHED}/{name}"):
            if part.endswith(".parquet"):
                for batch in ParquetFile(self.place.of(f"{UNFINISHED}/{name}/{part}")).iter_batches(
                    _ROWS_AT_ONCE
                ):
                    yield from batch.to_pylist()

    def whole(self, name: str) -> pa.Table:
        """A step of few rows."""
        path = self.place.of(f"{UNFINISHED}/{name}")
        if not isinstance(self.place, LocalPlace):
            return self.spark.read.parquet(path).toArrow()
        import pyarrow.parquet as pq

        return pq.read_table(path, use_threads=False)

    def table(self, name: str, columns: list[str], there: str) -> pa.Table:
        """The rows of a step that have something in the column `there`."""
        path = self.place.of(f"{UNFINISHED}/{name}")
        if not isinstance(self.place, LocalPlace):
            return self.spark.read.parquet(path).where(f"{there} is not null").select(*columns).toArrow()
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        return pq.read_table(path, columns=columns, filters=pc.field(there).is_valid(), use_threads=False)

    def batches(
        self, name: str, columns: Sequence[str], of: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Some columns of a step, many rows at once; those at least whose first column is among `of`. Without
        it the first column may come as numbers of a dictionary."""
        path = f"{UNFINISHED}/{name}"
        if not isinstance(self.place, LocalPlace):
            frame = self.spark.read.parquet(self.place.url(path)).select(*columns)
            if of is not None and len(of) <= _LISTED_MAX:
                frame = frame.where(frame[columns[0]].isin(list(of)))
            yield from frame.toArrow().to_batches()
            return
        from pyarrow.parquet import ParquetFile

        for part in self.place.names(path):
            if part.endswith(".parquet"):
                coded = [columns[0]] if of is None else None
                with ParquetFile(self.place.of(f"{path}/{part}"), read_dictionary=coded) as file:
                    yield from file.iter_batches(_ROWS_OF_A_BATCH, columns=list(columns), use_threads=False)

    def finish(self, name: str, tables: tuple[str, ...]) -> str:
        """The tables become the run `name` and the current one, in one rename each."""
        for step in self.place.names(UNFINISHED):
            if step not in (*tables, "summary.json", "report.html"):
                self.place.delete(f"{UNFINISHED}/{step}")
        self.place.delete(f"{RUNS}/{name}")
        self.place.move(UNFINISHED, f"{RUNS}/{name}")
        self.place.write(CURRENT, name + "\n")
        for old in self.place.names(RUNS)[:-RUNS_KEPT]:
            self.place.delete(f"{RUNS}/{old}")
        return self.place.of(f"{RUNS}/{name}")

    def next_name(self) -> str:
        numbers = [integer(name, (0, LONG[1] - 1)) or 0 for name in self.place.names(RUNS)]
        return f"{max(numbers, default=0) + 1:06}"

    def summaries(self) -> list[dict[str, Any]]:
        """Of the earlier runs, the oldest first."""
        found = []
        for name in self.place.names(RUNS):
            try:
                text = self.place.read(f"{RUNS}/{name}/summary.json")
                if text is not None:
                    found.append({"run": name, **json.loads(text)})
            except (ValueError, TypeError):
                continue  # damaged: a point fewer in the trend
        return found
