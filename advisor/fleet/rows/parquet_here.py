"""Parquet files of this machine, read by the workers themselves.

Parquet numbers the texts of a column (its dictionary), and narrowing asks for just these numbers; Spark's
reader would make eighty texts of each row, and Arrow's writer copy them, only for a worker to number them
again. Whatever is not plain (folders in folders, columns of other types, files that differ) is left to Spark.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from ...tuples import NamedTuple

# About what one task reads, and what it holds at once.
_ROWS_OF_A_TASK = 250_000
_ROWS_AT_ONCE = 20_000
_TEXTS = (pa.string(), pa.large_string())


class Splits(NamedTuple):
    """`columns` our names -> the files', `parts` the file and row groups of each task, `rows` in all."""

    columns: dict[str, str]
    parts: list[tuple[str, list[int]]]
    rows: int


def splits(path: str, named: Callable[[list[str]], dict[str, str]]) -> Splits | None:
    """None: not for us. `named` gives our names of the files' columns."""
    files = _files(path)
    if not files:
        return None
    try:
        opened = [pq.ParquetFile(file) for file in files]
    except (OSError, pa.ArrowException):
        return None
    schema = opened[0].schema_arrow
    if any(not file.schema_arrow.equals(schema) for file in opened[1:]):
        return None
    columns = named(schema.names)
    if "config" not in columns or not all(_plain(*column, schema) for column in columns.items()):
        return None
    found: list[tuple[str, list[int]]] = []
    for name, file in zip(files, opened, strict=True):
        groups: list[int] = []
        held = 0
        for number in range(file.num_row_groups):
            groups.append(number)
            held += file.metadata.row_group(number).num_rows
            if held >= _ROWS_OF_A_TASK or number == file.num_row_groups - 1:
                found.append((name, groups))
                groups, held = [], 0
    rows = sum(file.metadata.num_rows for file in opened)
    return Splits(columns, found, rows) if found else None


def _files(path: str) -> list[str]:
    if os.path.isfile(path):
        return [path]
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        return []
    seen = [entry for entry in entries if not entry.name.startswith(("_", "."))]
    return [entry.path for entry in seen] if all(entry.is_file() for entry in seen) else []


def _plain(ours: str, theirs: str, schema: pa.Schema) -> bool:
    """Types that read the same as text here and in Spark."""
    kind = schema.field(theirs).type
    if ours == "config":
        return pa.types.is_map(kind) and kind.key_type in _TEXTS and kind.item_type in _TEXTS
    return kind in _TEXTS or pa.types.is_signed_integer(kind) or pa.types.is_null(kind)


def read_split(split: tuple[str, list[int]], named: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
    """The rows of a split, under our names; `named` as in Splits."""
    name, groups = split
    columns = {theirs: ours for ours, theirs in named.items()}
    with pq.ParquetFile(name) as file:
        # Values are many, and Arrow does not read a nested column whose numbering ends midway.
        keys = next(column.path for column in file.schema if column.path.startswith(f"{named['config']}."))
    with pq.ParquetFile(name, read_dictionary=[keys]) as file:
        for group in groups:
            for batch in file.iter_batches(_ROWS_AT_ONCE, row_groups=[group], columns=list(columns)):
                yield batch.rename_columns([columns[field] for field in batch.schema.names])
