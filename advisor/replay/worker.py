"""What the executors do: rows to packed records, records to batches, batches to segments and hours.

Each function takes an iterator of Arrow batches and a JSON text that says what to do, as
`spark/shipping.sent` calls it. Rows come sorted by what they belong to, so only some records of one producer,
or one partition's batches, are held at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ..spark.tables import arrow_schema
from .columns import BATCH, BATCH_COLUMNS, CELL_MAX, KEYLESS


def pack_records(batches: Iterable[Any], argument: str) -> Iterator[Any]:
    from .packing import pack

    yield from pack(batches, json.loads(argument))


def count_beyond(batches: Iterable[Any], argument: str) -> Iterator[Any]:
    """Of packed records how many were recorded in a partition from `partitions` of their topic on."""
    import pyarrow as pa

    from .packing import unpacked

    partitions = json.loads(argument)
    for batch in batches:
        for topic, cell in zip(batch.column("topic").to_pylist(), range(batch.num_rows), strict=True):
            targets, _ = unpacked(batch.column("target").slice(cell, 1), "<i8")
            beyond = (targets > KEYLESS) & (-1 - targets >= partitions[topic])
            yield pa.RecordBatch.from_pydict({"topic": [topic], "records": [beyond.sum().item()]})


def make_batches(batches: Iterable[Any], argument: str) -> Iterator[Any]:
    """Packed records, sorted by lane and stretch, to packed batches of every variant."""
    from .lanes import Lanes

    lanes = Lanes(json.loads(argument))
    for batch in batches:
        yield from _rows(lanes.feed(batch))
    yield from _rows(lanes.finish())


def _rows(columns: Any) -> Iterator[Any]:
    import pyarrow as pa

    if columns is not None:
        schema = arrow_schema(BATCH_COLUMNS)
        arrays = [pa.array(columns[field.name], field.type) for field in schema]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def list_batches(batches: Iterable[Any], argument: str) -> Iterator[Any]:
    """Packed batches as a row each."""
    import numpy as np
    import pyarrow as pa

    for batch in batches:
        cells = batch.column("batches")
        rows = [np.frombuffer(cell.as_buffer(), BATCH) for cell in cells]
        counts = [len(row) for row in rows]
        whole = np.concatenate(rows) if rows else np.empty(0, BATCH)
        columns = {name: np.repeat(batch.column(name).to_numpy(), counts) for name in ("place", "producer")}
        # Cells are numbered, and so are the batches of each.
        nth = np.concatenate([np.arange(count) for count in counts]) if counts else np.empty(0, np.int64)
        columns["number"] = np.repeat(batch.column("number").to_numpy(), counts) * CELL_MAX + nth
        told = {name: whole[name].astype(np.int64) for name in json.loads(argument)}
        yield pa.RecordBatch.from_pydict({**columns, **told})


def make_logs(batches: Iterable[Any], argument: str) -> Iterator[Any]:
    """Packed batches, sorted by variant, place and producer, to a row an hour with the segments that began
    in it."""
    import pyarrow as pa

    from .logs import HOUR_COLUMNS, Logs

    logs = Logs(json.loads(argument))
    schema = arrow_schema(HOUR_COLUMNS)
    for batch in batches:
        for rows in logs.feed(batch):
            yield from pa.Table.from_pylist(rows, schema).to_batches()
    for rows in logs.finish():
        yield from pa.Table.from_pylist(rows, schema).to_batches()
