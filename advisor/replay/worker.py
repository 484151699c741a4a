"""What the executors do: keys to hashes, records to batches, batches to segments and hours.

Each function takes an iterator of Arrow batches and a JSON text that says what to do, as
`spark/shipping.sent` calls it. Rows come sorted by what they belong to, so only one producer's unsent
records, or one partition's batches, are held at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ..spark.tables import arrow_schema
from .columns import BATCH_COLUMNS, HASH_COLUMNS


def hash_keys(batches: Iterable[Any], argument: str) -> Iterator[Any]:
    """Adds `hash` to distinct keys."""
    import pyarrow as pa

    from .kernels.hashes import hashes

    schemes = json.loads(argument)
    for batch in batches:
        topics = batch.column("topic").to_pylist()
        keys = batch.column("key").to_pylist()
        found: list[int | None] = [None] * len(keys)
        for scheme in sorted(set(schemes.values())):
            places = [
                n
                for n, (topic, key) in enumerate(zip(topics, keys, strict=True))
                if schemes.get(topic, "java") == scheme and (key or scheme != "consistent_random")
            ]
            made = hashes([keys[n] for n in places], scheme).tolist()
            for place, value in zip(places, made, strict=True):
                found[place] = value
        columns = [batch.column(name) for name in ("topic", "key", "records", "raw", "live")]
        yield pa.RecordBatch.from_arrays([*columns, pa.array(found, pa.int64())], names=list(HASH_COLUMNS))


def make_batches(batches: Iterable[Any], argument: str) -> Iterator[Any]:
    """Records, sorted by lane and time, to batches of every variant."""
    from .lanes import Lanes

    lanes = Lanes(json.loads(argument))
    schema = arrow_schema(BATCH_COLUMNS)
    for batch in batches:
        yield from _recorded(lanes.feed(batch), schema)
    yield from _recorded(lanes.finish(), schema)


def _recorded(columns: Any, schema: Any) -> Iterator[Any]:
    import pyarrow as pa

    if columns is not None and len(columns[0]):
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def make_logs(batches: Iterable[Any], argument: str) -> Iterator[Any]:
    """Batches, sorted by variant, place and time, to a row an hour with the segments that began in it."""
    import pyarrow as pa

    from .logs import HOUR_COLUMNS, Logs

    logs = Logs(json.loads(argument))
    schema = arrow_schema(HOUR_COLUMNS)
    for batch in batches:
        for rows in logs.feed(batch):
            yield from pa.Table.from_pylist(rows, schema).to_batches()
    for rows in logs.finish():
        yield from pa.Table.from_pylist(rows, schema).to_batches()
