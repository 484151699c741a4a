"""Sizes of V2 records by column. The readable twin: `sim/wire/batches.py` (contents_size, placed_size)."""

from __future__ import annotations

from typing import Any

import numpy as np

Column = np.ndarray[Any, Any]
# A zigzag varint takes one byte more from each of these on.
_STEPS = (1 << 6, 1 << 13, 1 << 20, 1 << 27, 1 << 34, 1 << 41, 1 << 48, 1 << 55, 1 << 62)


def varint_sizes(numbers: Column) -> Column:
    """Bytes of each number as a zigzag varint."""
    folded = np.where(numbers < 0, ~numbers, numbers)
    sizes = np.ones(len(folded), np.int64)
    most = folded.max(initial=0)
    for step in _STEPS:
        if step > most:
            break
        sizes += folded >= step
    return sizes


def contents_sizes(keys: Column, values: Column, headers: Column | int = 1) -> Column:
    """Bytes of key, value and headers with their lengths; a size of -1 is null."""
    sizes: Column = varint_sizes(keys) + varint_sizes(values) + headers
    return sizes + np.maximum(keys, 0) + np.maximum(values, 0)


def placed_sizes(contents: Column, offset_deltas: Column, timestamp_deltas: Column) -> Column:
    """Bytes of each record at its place of a batch."""
    body = 1 + varint_sizes(timestamp_deltas) + varint_sizes(offset_deltas) + contents
    sizes: Column = body + varint_sizes(body)
    return sizes
