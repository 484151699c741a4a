"""Files of many services: files per core-second of `fleet` against `audit`'s, on the same folder.

`fleet` is measured in a session that is up (its start is told beside it), CPU of driver, JVM and workers;
`audit` as a command, its start included. Both from an empty cache.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from ._family import Family
from .measure import ROOT

SERVICES = 300
FILES = int(os.environ.get("FLEET_FILES", "5000"))
ROUNDS = int(os.environ.get("FLEET_ROUNDS", "5"))


def run() -> dict[str, Any]:
    from advisor.fleet import audit_fleet
    from advisor.spark.session import open_session

    sys.path.insert(0, str(ROOT / "samples/fleet"))
    import generate

    with tempfile.TemporaryDirectory(prefix="kafka-advisor-bench-") as name:
        folder = Path(name)
        generate.write_files(folder / "repos", min(SERVICES, FILES), FILES)
        family = Family()
        start = family.cpu()
        spark = open_session("local[2]", None, {})
        started = family.cpu() - start

        def fleet(number: int) -> None:
            # Of another day, so that a worker that is still there does not know the answers.
            today = str(date(2027, 1, 2) + timedelta(days=number))
            audit_fleet(spark, str(folder / "repos"), str(folder / f"out{number}"), today=today)

        def audit(number: int) -> None:
            words = [sys.executable, "-m", "advisor", "audit", "--format", "json", "repos"]
            env = {
                **os.environ,
                "KAFKA_ADVISOR_CACHE": str(folder / f"cache{number}"),
                "PYTHONPATH": str(ROOT),
            }
            subprocess.run(words, cwd=folder, env=env, stdout=subprocess.DEVNULL, check=False)

        try:
            fleet(-1)
            taken: dict[str, list[float]] = {"fleet": [], "audit": []}
            for number in range(ROUNDS):
                taken["fleet"].append(family.cpu_of(lambda number=number: fleet(number)))  # type: ignore[misc]
                taken["audit"].append(family.cpu_of(lambda number=number: audit(number)))  # type: ignore[misc]
        finally:
            spark.stop()
    rates = {name: FILES / statistics.median(times) for name, times in taken.items()}
    return {
        "name": "fleet_files",
        "ratio": round(rates["fleet"] / rates["audit"], 2),
        "goal": "files per core-second at least audit's",
        "others": {"cpu seconds to start the session": round(started, 1)},
        "raw": {
            "files": FILES,
            "services": SERVICES,
            "files_per_core_second": {name: round(rate, 1) for name, rate in rates.items()},
            "cpu_seconds": {name: [round(t, 2) for t in times] for name, times in taken.items()},
        },
    }
