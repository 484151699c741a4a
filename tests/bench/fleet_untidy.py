"""A fleet whose rows all differ in their numbers: CPU of the whole audit for each behaviour.

No behaviour is shared by two rows, so every one is judged. `python -m tests.bench fleet_untidy [ROWS]`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from ._family import Family
from .measure import ROOT

ROWS = 30_000
GOAL_MS = 5


def run(rows: int = ROWS) -> dict[str, Any]:
    from advisor.fleet import audit_fleet
    from advisor.spark.session import open_session

    sys.path.insert(0, str(ROOT / "samples/fleet"))
    import generate

    family = Family()
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="kafka-advisor-bench-") as name:
        source = Path(name) / "untidy.parquet"
        generate.write_table(source, generate.rows(rows, untidy=True))
        spark = open_session("local[2]", None, {})
        try:
            taken = family.cpu_of(
                lambda: results.append(audit_fleet(spark, str(source), f"{name}/out").summary)
            )
        finally:
            spark.stop()
    summary = results[0]
    return {
        "name": "fleet_untidy",
        "ratio": round(1000 * taken / summary["behaviours"], 1),
        "goal": f"at most {GOAL_MS} ms of CPU for each behaviour",
        "others": {"peak resident MB of driver, JVM and workers": family.peak_megabytes},
        "raw": {"rows": rows, "behaviours": summary["behaviours"], "cpu_seconds": round(taken, 1)},
    }
