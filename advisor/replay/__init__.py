"""Recorded workloads on Spark: what a configuration makes of the traffic that was really there.

    from advisor.replay import replay_workload
    result = replay_workload(spark, "trace.parquet", out="/data/replay", config=["kafka/"])

Importing this package imports no Spark and opens no session; see README.md beside this file for the plan and
the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .options import ReplayOptions

if TYPE_CHECKING:
    from .result import ReplayResult

__all__ = ["ReplayOptions", "replay_workload"]


def replay_workload(
    spark: Any, source: Any, out: str, *, progress: Callable[[str], None] = lambda text: None, **wanted: Any
) -> ReplayResult:
    """Replay `source` (a path, a table's name, or a DataFrame) on an existing SparkSession; the tables are
    written to `out`, and `progress` is told each step. The other words are the fields of `ReplayOptions`."""
    from .run import replay_workload as run

    for name in ("config", "sets"):
        if isinstance(wanted.get(name), str):
            wanted[name] = (wanted[name],)
        elif name in wanted:
            wanted[name] = tuple(map(str, wanted[name]))
    where = source if not hasattr(source, "__fspath__") else str(source)
    return run(spark, where, out, ReplayOptions(**wanted), progress)
