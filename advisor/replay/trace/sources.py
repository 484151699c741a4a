"""Where a trace comes from: a DataFrame, a table that Spark reads, or a text or folder that is parsed first.

What is parsed here (dumps, segment files) is written as parquet beside the results, a part at a time, so that
Spark reads it wherever its executors are and no dump is held whole.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...model import UsageError
from ...output.files import reason
from ...spark.places import Place
from ...spark.session import spark_words
from ...spark.tables import arrow_schema
from ..options import ReplayOptions
from .dump_log import Compression, DumpReader
from .perf_tests import read_perf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = ("parquet", "json", "csv", "orc", "avro", "delta", "table", "dump", "perf", "segments")
PARSED = "trace"
_ENDINGS = {"jsonl": "json", "ndjson": "json"} | {
    kind: kind for kind in ("parquet", "json", "csv", "orc", "avro", "delta")
}
_ROWS_A_PART = 500_000
_COLUMNS = {
    "timestamp": "bigint", "topic": "string", "partition": "bigint", "offset": "bigint", "key": "binary",
    "key_size": "bigint", "value_size": "bigint", "headers_size": "bigint", "producer": "string",
}  # fmt: skip


def guess_format(source: str) -> str:
    name = source.rstrip("/").lower()
    if name.startswith("table:"):
        return "table"
    _, dot, ending = name.rpartition(".")
    if dot and ending in _ENDINGS:
        return _ENDINGS[ending]
    if os.path.isdir(source):
        from .segment_files import partition_folders

        if partition_folders(source):
            return "segments"
    if os.path.isfile(source):
        head = "\n".join(_lines(source, 50))
        if "baseOffset:" in head or "Dumping " in head:
            return "dump"
        if read_perf(head.split("\n")) is not None:
            return "perf"
    raise UsageError(f"{source}: --source-format says what it is: {', '.join(FORMATS)}")


def read_trace(
    spark: SparkSession, source: Any, options: ReplayOptions, place: Place
) -> tuple[DataFrame, Sequence[str], float | None]:
    """The rows, what a reader must know of them, and the compression that they show, if they do."""
    if not isinstance(source, str):
        return source, (), None
    kind = options.source_format or guess_format(source)
    if kind not in FORMATS:
        raise UsageError(f"--source-format {kind}: there is {', '.join(FORMATS)}")
    if kind == "perf":
        return _perf(spark, source)
    if kind == "dump":
        return _dump(spark, source, options, place)
    if kind == "segments":
        return _segments(spark, source, place)
    try:
        return _read(spark, source, kind, options), (), None
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"{source} cannot be read as {kind}: {spark_words(error)}") from None


def _read(spark: SparkSession, source: str, kind: str, options: ReplayOptions) -> DataFrame:
    reader = spark.read.options(**dict(options.source_options))
    if kind == "table":
        return spark.table(source.removeprefix("table:"))
    if kind == "csv":
        return reader.option("header", True).option("escape", '"').csv(source)
    return reader.format(kind).load(source)


def _lines(path: str, most: int | None = None) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in islice(file, most):
                yield line.rstrip("\n")
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None


def _parsed(spark: SparkSession, place: Place, rows: Iterable[dict[str, Any]]) -> DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schema(_COLUMNS)
    place.delete(PARSED)
    waiting, number = iter(rows), 0
    while (chunk := list(islice(waiting, _ROWS_A_PART))) or number == 0:
        data = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(chunk, schema), data)
        place.write_bytes(f"{PARSED}/part-{number:05}.parquet", data.getvalue())
        number += 1
    return spark.read.parquet(place.url(PARSED))


def _measured(found: Compression) -> tuple[list[str], float | None]:
    if found.ratio is None:
        return [], None
    return [f"compression measured in the trace: {found.ratio:.2f} bytes of one"], found.ratio


def _dump(
    spark: SparkSession, source: str, options: ReplayOptions, place: Place
) -> tuple[DataFrame, Sequence[str], float | None]:
    reader = DumpReader(options.topic)
    frame = _parsed(spark, place, reader.rows(_lines(source)))
    if not reader.records:
        hint = "; kafka-dump-log prints records with --deep-iteration" if reader.batches else ""
        raise UsageError(f"{source}: no record of a dump is in it{hint}")
    notes, ratio = _measured(reader.compression)
    return frame, notes, ratio


def _perf(spark: SparkSession, source: str) -> tuple[DataFrame, Sequence[str], float | None]:
    from pyspark.sql import functions as F

    found = read_perf(list(_lines(source)))
    if found is None:
        raise UsageError(
            f"{source}: no output of kafka-producer-perf-test or kafka-consumer-perf-test is in it"
        )
    stretches = spark.createDataFrame(
        list(found.stretches), "begin_ms bigint, length_ms bigint, records bigint, value_size bigint"
    )
    each = stretches.where("records > 0").select(
        "*", F.explode(F.expr("sequence(0, records - 1)")).alias("n")
    )
    stamp = F.expr("begin_ms + n * length_ms div records")
    return each.select(stamp.alias("timestamp"), "value_size"), found.notes, None


def _segments(
    spark: SparkSession, source: str, place: Place
) -> tuple[DataFrame, Sequence[str], float | None]:
    from .segment_files import SegmentReader

    reader = SegmentReader(source)
    frame = _parsed(spark, place, reader.rows())
    if not reader.records:
        raise UsageError(f"{source}: no record in segment files of folders TOPIC-PARTITION is in it")
    notes, ratio = _measured(reader.compression)
    notes += [f"{count:,} batches were not read: {why}" for why, count in sorted(reader.unread.items())]
    return frame, notes, ratio
