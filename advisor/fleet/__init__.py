"""Fleets on Spark: many configurations judged by behaviour.

    from advisor.fleet import audit_fleet
    result = audit_fleet(spark, ["s3a://configs/fleet.parquet"], out="/data/kafka-audit")

Importing this package imports no Spark and opens no session; see README.md beside this file for the plan and
the tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .options import FleetOptions

if TYPE_CHECKING:
    from .run import FleetResult

__all__ = ["FleetOptions", "audit_fleet"]


def audit_fleet(spark: Any, sources: Any, out: str, **wanted: Any) -> FleetResult:
    """Audit `sources` (paths, a table's name, or a DataFrame) on an existing SparkSession; the tables are
    written to `out`. The other words are the fields of `FleetOptions`."""
    from .run import audit_fleet as run

    return run(spark, sources, out, FleetOptions(**wanted))
