"""The result folder of a fleet: its runs, and OUT/verdicts, what the simulator answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...spark.store import Store
from .tables import SCHEMAS
from .verdict_table import keep_verdicts, read_verdicts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class FleetStore(Store):
    def __init__(self, spark: SparkSession, out: str, progress: Callable[[str], None]) -> None:
        super().__init__(spark, out, progress, SCHEMAS)

    def verdicts(self) -> dict[str, str]:
        return read_verdicts(self.place)

    def keep_verdicts(self, new: dict[str, str]) -> None:
        keep_verdicts(self.place, new)
