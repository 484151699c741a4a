"""A fleet of a million configurations: the whole audit against a bare grouping of the same parquet, and
against a row-at-a-time Python function that runs the same rules.

CPU of the driver, the JVM and the Python workers together, everything warm, taken in turns in one session.
The audit is run from nothing each time: no verdict and no step of an earlier run is used, nor what a worker
process that is still there has learnt; `again` is a run the day after, with the verdicts kept.
`python -m tests.bench fleet [ROWS]` takes another size; `FLEET_ROUNDS` sets another number of rounds,
`FLEET_UDF_SHARE` what part of the rows the function is given, `FLEET_MASTER` another master; `FLEET_GROWTH=1`
adds a run at four times the size.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from ._family import Family
from .measure import ROOT

ROWS = 1_000_000
ROUNDS = int(os.environ.get("FLEET_ROUNDS", "2"))
UDF_SHARE = int(os.environ.get("FLEET_UDF_SHARE", "20"))
GROWTH = os.environ.get("FLEET_GROWTH", "0") == "1"
MASTER = os.environ.get("FLEET_MASTER", "local[2]")
KEYS, BEHAVIOURS = 40, 500
GOAL = 1.3


def made(folder: Path, rows: int) -> str:
    sys.path.insert(0, str(ROOT / "samples/fleet"))
    import generate

    out = folder / f"fleet-{rows}.parquet"
    generate.write_table(out, generate.rows(rows, KEYS, BEHAVIOURS))
    return str(out)


def bare(spark: Any, source: Any, kind: str = "parquet") -> int:
    from pyspark.sql import functions as F

    from advisor.fleet.options import FleetOptions
    from advisor.fleet.rows.sources import read_table

    rows = source if kind == "frame" else read_table(spark, source, kind, FleetOptions())
    config = F.from_json("config", "map<string,string>") if kind == "csv" else F.col("config")
    return int(rows.groupBy(F.xxhash64(F.array_sort(F.map_entries(config)))).count().count())


def by_kind(spark: Any, family: Family, source: str, folder: Path) -> dict[str, float]:
    """The same rows as a DataFrame, as CSV and as JSON: each audit against a bare grouping of that source."""
    from pyspark.sql import functions as F

    rows = spark.read.parquet(source)
    flat = rows.drop("truth").withColumn("config", F.to_json("config"))
    flat.write.option("header", True).option("escape", '"').csv(str(folder / "fleet.csv"))
    rows.drop("truth").write.json(str(folder / "fleet.json"))
    sources = {"frame": rows, "csv": str(folder / "fleet.csv"), "json": str(folder / "fleet.json")}
    ratios = {}
    for kind, one in sources.items():
        works: dict[str, Callable[[], object]] = {
            "bare": lambda one=one, kind=kind: bare(spark, one, kind),  # type: ignore[misc]
            "audit": lambda one=one: audit(spark, one, folder / "out"),  # type: ignore[misc]
        }
        taken: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(max(1, ROUNDS // 2) + 1):
            for name, work in works.items():
                taken[name].append(family.cpu_of(work))
        # The first of each warms up.
        halves = {name: statistics.median(times[1:]) for name, times in taken.items()}
        ratios[kind] = round(halves["audit"] / halves["bare"], 2)
    return ratios


_DAYS = count(1)


def audit(spark: Any, source: Any, out: Path, link: bool = True, again: bool = False) -> dict[str, Any]:
    from advisor.fleet import audit_fleet

    if not again:
        shutil.rmtree(out, ignore_errors=True)
    # A worker keeps what it has learnt for as long as it is asked the same; of another day it is not.
    today = str(date(2027, 1, 1) + timedelta(days=next(_DAYS)))
    return audit_fleet(spark, source, str(out), link=link, today=today).summary


def row_at_a_time(spark: Any, source: str, rows: int) -> None:
    """The same rules asked of each row by itself, in a plain Python function."""
    from pyspark.sql import functions as F

    def judge(component: str, config: dict[str, str]) -> str:
        from advisor.fleet.canonical import Canonical
        from advisor.fleet.worker import (
            SECTION,
            Job,
            job_text,
            judge_deployments,
            judge_documents,
            judge_of,
        )

        job = Job(None, None, (), (), (), (), "", True, {})
        asked = judge_of(job_text(job))
        text = Canonical({"component": component}, tuple(sorted(config.items()))).text()
        slot = component if component in ("producer", "topic") else f"{component}0"
        both = *judge_documents(asked, [text]), *judge_deployments(asked, [f"{slot}={text}"])
        assert SECTION not in text
        return json.dumps([len(json.loads(said)["findings"]) for said in both])

    asked = F.udf(judge, "string")
    part = spark.read.parquet(source).limit(rows).repartition(2)
    part.select(asked("component", "config").alias("said")).groupBy("said").count().collect()


def run(rows: int = ROWS) -> dict[str, Any]:
    from advisor.spark.session import open_session

    family = Family()
    with tempfile.TemporaryDirectory(prefix="kafka-advisor-bench-") as name:
        folder = Path(name)
        source, quarter = made(folder, rows), made(folder, rows // 4)
        four = made(folder, rows * 4) if GROWTH else None
        spark = open_session(MASTER, None, {})
        try:
            works: dict[str, Callable[[], object]] = {
                "bare": lambda: bare(spark, source),
                "audit": lambda: audit(spark, source, folder / "out"),
                "again": lambda: audit(spark, source, folder / "out", again=True),
                "audit_no_link": lambda: audit(spark, source, folder / "out", link=False),
            }
            taken: dict[str, list[float]] = {name: [] for name in works}
            for work in works.values():
                work()
            for _ in range(ROUNDS):
                for name, work in works.items():
                    taken[name].append(family.cpu_of(work))
            summary = audit(spark, source, folder / "out")
            peak = family.peak_megabytes
            sizes = {rows // 4: family.cpu_of(lambda: audit(spark, quarter, folder / "out"))}
            sizes[rows] = statistics.median(taken["audit"])
            if four is not None:
                sizes[rows * 4] = family.cpu_of(lambda: audit(spark, four, folder / "out"))
            kinds = by_kind(spark, family, source, folder)
            part = rows // UDF_SHARE
            udf = family.cpu_of(lambda: row_at_a_time(spark, source, part)) * UDF_SHARE
        finally:
            spark.stop()
    medians = {name: statistics.median(times) for name, times in taken.items()}
    return {
        "name": "fleet",
        "ratio": round(medians["audit"] / medians["bare"], 2),
        "goal": f"whole audit at most {GOAL}x a bare groupBy of the same parquet",
        "others": {
            "without the link join (goal: at most 1.3)": round(medians["audit_no_link"] / medians["bare"], 2),
            "other sources against a bare grouping of each (goal: at most 1.5)": kinds,
            "the day after, with the verdicts kept": round(medians["again"] / medians["bare"], 2),
            f"row-at-a-time Python function / audit (goal: at least 10; of 1/{UDF_SHARE} of the rows)": round(
                udf / medians["audit"], 1
            ),
            "peak resident MB of driver, JVM and workers": peak,
            "CPU milliseconds of a row, by number of rows (goal: falls or stays)": {
                str(many): round(1000 * seconds / many, 4) for many, seconds in sizes.items()
            },
        },
        "raw": {
            "rows": rows,
            "keys": KEYS,
            "behaviours": summary["behaviours"],
            "deployments": summary["deployments"],
            "rounds": ROUNDS,
            "cpu_seconds": {name: [round(t, 1) for t in times] for name, times in taken.items()},
            "row_at_a_time_cpu_seconds_extrapolated": round(udf, 1),
        },
    }
