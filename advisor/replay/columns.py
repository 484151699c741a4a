"""Numbers that driver and executors hand to each other: how records and batches are packed.

A row holds many records or batches, each of their columns as the bytes of an array: Spark moves rows, and one
row for each record would cost it more than the models.
"""

from __future__ import annotations

import numpy as np

# Records of one producer, one topic and one such stretch of time share rows: four minutes.
STRETCH_BITS = 18
# Numbers of a cell: Spark holds a few dozen rows at a time.
CELL_MAX = 8192
# Where a record goes: the hash of its key, from 0 on; -1 - partition if that was recorded; else this.
KEYLESS = -(2**40)
# Column -> its numbers. `at` counts from the begin of the stretch, `late` is how long before its arrival the
# timestamp is, `order` the offset; these two are null where the trace cannot say.
RECORD = {"at": "<i4", "target": "<i8", "contents": "<i4", "late": "<i8", "order": "<i8"}
# A row has records, or says how often a key was written, or how many records cannot be replayed and why.
PACKED_COLUMNS = {
    "topic": "string", "producer": "string", "stretch": "bigint", "records": "bigint", "begin": "bigint",
    "until": "bigint", "partition": "bigint", "keyless": "bigint", "is_late": "boolean",
    **dict.fromkeys(RECORD, "binary"),
    "key": "binary", "raw": "bigint", "newest": "bigint", "live": "bigint", "reason": "string",
}  # fmt: skip
BATCH = np.dtype(
    [
        ("drained", "<i8"), ("max_stamp", "<i8"), ("min_stamp", "<i8"), ("waited", "<i8"),
        ("records", "<u4"), ("raw_bytes", "<u4"), ("size", "<u4"), ("opens", "<u4"),
    ]
)  # fmt: skip
# `number` counts the rows of a producer in the order in which they are made.
BATCH_COLUMNS = {
    "variant": "int", "place": "bigint", "producer": "bigint", "number": "bigint", "batches": "binary",
}  # fmt: skip
