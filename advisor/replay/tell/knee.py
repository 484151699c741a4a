"""The knee of a sweep: the value after which more of it buys little.

Of the points (what a value costs, what it saves), both scaled from 0 to 1, the one farthest from the straight
line between the ends, on the side of those that save more than they cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# What a setting costs and what it saves: columns of the table `variants`.
TRADES = {
    "linger.ms": ("added_ms", "requests"),
    "batch.size": ("added_ms", "requests"),
    "segment.bytes": ("retained_bytes", "files"),
    "segment.ms": ("retained_bytes", "files"),
    "partitions": ("files", "hottest_share"),
}
_LEAST = 0.1


def with_knees(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with `knee`: true for one value of each setting that was swept, where there is one."""
    knees = set()
    for setting in dict.fromkeys(row["setting"] for row in rows if row["setting"]):
        swept = [row for row in rows if row["setting"] == setting]
        trade = TRADES.get(
            setting.partition(".")[2] if setting.startswith(("producer.", "topic.")) else setting
        )
        found = knee([(row[trade[0]] or 0, row[trade[1]] or 0) for row in swept]) if trade else None
        if found is not None:
            knees.add(swept[found]["variant"])
    return [{**row, "knee": row["variant"] in knees} for row in rows]


def knee(points: Sequence[tuple[float, float]]) -> int | None:
    """The place of the knee among (cost, what is left to save); None if three points or more do not bend."""
    order = sorted(range(len(points)), key=lambda n: points[n])
    if len(order) < 3:
        return None
    (low_cost, high_left), (high_cost, low_left) = points[order[0]], points[order[-1]]
    if high_cost <= low_cost or high_left <= low_left:
        return None
    # How far below the line between the two ends each lies.
    depth = {
        n: 1
        - (points[n][0] - low_cost) / (high_cost - low_cost)
        - (points[n][1] - low_left) / (high_left - low_left)
        for n in order
    }
    best = max(order, key=lambda n: depth[n])
    return best if depth[best] >= _LEAST else None
