"""Fleets on Spark: many configurations judged by behaviour.

    from advisor.fleet import audit_fleet
    result = audit_fleet(spark, ["s3a://configs/fleet.parquet"], out="/data/kafka-audit")

Importing this package imports no Spark and opens no session; see README.md beside this file for the plan and
the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .options import FleetOptions

if TYPE_CHECKING:
    from .result import FleetResult

__all__ = ["FleetOptions", "audit_fleet", "findings_by_row"]


def audit_fleet(
    spark: Any, sources: Any, out: str, progress: Callable[[str], None] | None = None, **wanted: Any
) -> FleetResult:
    """Audit `sources` (paths, a table's name, or a DataFrame) on an existing SparkSession; the tables are
    written to `out`. `progress` is called with a line for each step (`print`, say). The other words are the
    fields of `FleetOptions`."""
    from .run import audit_fleet as run

    return run(spark, sources, out, FleetOptions(**wanted), progress or (lambda text: None))


def findings_by_row(spark: Any, folder: str, where: str = "true") -> Any:
    """The findings of a run, one for each deployment or configuration that has it. `folder` is that of the
    result; `where` is a condition on the table `findings`, such as "code = 'KA101'"."""
    from .tell.by_row import findings_by_row as rows

    return rows(spark, folder, where)
