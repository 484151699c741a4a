"""How the cost of something grows with its input: CPU time over growing sizes, and the slope that fits it.

No time is asserted. A cost counts only where it is material, and the least of several runs is taken: a busy
machine makes single runs slow, not all of them alike.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from math import log
from time import process_time
from typing import NamedTuple

# Below this a cost is noise; above it, at small sizes, growth can be told.
MATERIAL = 0.02
STEEP = 1.5
SIZES = (8, 12, 16, 20, 24, 28, 32, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192)


class Steep(NamedTuple):
    """A cost that grows faster than its input."""

    exponent: float
    size: int
    seconds: float


def cpu(run: Callable[[], object], times: int = 1) -> float:
    """The least CPU seconds of several runs, without the collector's."""
    least = float("inf")
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(times):
            start = process_time()
            run()
            least = min(least, process_time() - start)
    finally:
        if enabled:
            gc.enable()
    return least


def slope(points: Iterable[tuple[float, float]]) -> float:
    """Of the line through the logarithms, by least squares."""
    logs = [(log(size), log(max(cost, 1e-7))) for size, cost in points]
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def steepness(
    cost_at: Callable[[int], Callable[[], object]], sizes: Iterable[int] = SIZES, material: float = MATERIAL
) -> Steep | None:
    """None if it is cheap at every size, or grows no faster than its input. `cost_at(size)` makes a run."""
    tried: list[int] = []
    for size in sizes:
        tried.append(size)
        if cpu(cost_at(size)) > material:
            break
    else:
        return None
    if len(tried) < 3:
        return None
    points = [(size, cpu(cost_at(size), 3)) for size in tried[-4:]]
    if points[-1][1] <= material:  # somebody else's noise
        return steepness(cost_at, [size for size in sizes if size > tried[-1]], material)
    exponent = slope(points[-3:])
    return Steep(exponent, *points[-1]) if exponent > STEEP else None
