"""Numbers that driver and executors hand to each other: how records are packed, what batches have."""

from __future__ import annotations

# Bits of `at` below the lane: milliseconds since the trace's origin, 34 years.
TIME_BITS = 40
CONTENTS_BITS = 31
BATCH_COLUMNS = {
    "variant": "int", "place": "bigint", "producer": "bigint", "number": "bigint", "opens": "bigint",
    "drained": "bigint", "records": "bigint", "raw_bytes": "bigint", "size": "bigint",
    "max_stamp": "bigint", "min_stamp": "bigint", "waited": "bigint",
}  # fmt: skip
HASH_COLUMNS = {
    "topic": "string",
    "key": "binary",
    "records": "bigint",
    "raw": "bigint",
    "live": "bigint",
    "hash": "bigint",
}
