"""How far a reader is behind: records that have come and that it has not had the time to process.

The readable twin, `by_step`, goes from one arrival to the next. A reader of a partition takes its share of
what its member can process; it never takes more than has come.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .varints import Column


def lag_of(times: Column, records: Column, capacity: float) -> Column:
    """Records behind just after each arrival; `capacity` is records a millisecond."""
    if not len(times):
        return np.empty(0, np.int64)
    since = (times - times[0]) * capacity
    before = np.cumsum(records) - records
    # What was free of work: the most that the reader could have done beyond what had come.
    idle = np.maximum.accumulate(since - before)
    behind: Column = np.ceil(before + records - (since - np.maximum(idle, 0)) - 1e-9).astype(np.int64)
    return behind


def by_step(times: Sequence[int], records: Sequence[int], capacity: float) -> list[float]:
    behind, last, found = 0.0, times[0] if times else 0, []
    for time, count in zip(times, records, strict=True):
        behind = max(0.0, behind - (time - last) * capacity) + count
        last = time
        found.append(behind)
    return found
