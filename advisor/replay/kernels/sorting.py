"""The order of many numbers, sixteen bits at a time: numpy sorts such short ones by counting, in a tenth of
the time that comparing takes."""

from __future__ import annotations

import numpy as np

from .varints import Column

_BITS = 16


def stable_order(numbers: Column) -> Column:
    """Positions in the order of the numbers, equal ones as they come; of few different numbers it takes one
    pass."""
    if not len(numbers):
        return np.empty(0, np.int64)
    rest = numbers - numbers.min()
    most = rest.max().item()
    order: Column = np.argsort(rest.astype(np.uint16), kind="stable")
    for shift in range(_BITS, most.bit_length(), _BITS):
        digit = (rest >> shift).astype(np.uint16)[order]
        order = order[np.argsort(digit, kind="stable")]
    return order
