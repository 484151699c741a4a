"""The run in a page: counted by Spark, told as JSON, Markdown or text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import __version__
from .verdict_table import SIMULATOR
from .worker import END, MARK

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from .run import Run

_RANK = {"error": 0, "warning": 1, "note": 2}
_TOP = 500
_EXACT_MAX = 300_000


def summarise(run: Run, made: dict[str, Any], answered: DataFrame, name: str) -> dict[str, Any]:
    from pyspark.sql import functions as F

    store, spark = run.store, run.spark
    findings = spark.read.parquet(store.place.of("unfinished/findings")).where(~F.col("suppressed"))
    behaviours = spark.read.parquet(store.place.of("unfinished/behaviours"))
    counts = made["counts"]
    rows_in = sum(row["rows"] for row in counts)
    quarantined = sum(row["rows"] for row in counts if not row["good"])
    reach = _reach(made["reach"](answered))
    total = {severity: sum(r["n"] for r in reach["code"] if r["severity"] == severity) for severity in _RANK}
    found = _found(findings, reach["code"])
    judged = behaviours.agg(F.sum("deployments"), F.countDistinct("judged")).collect()[0]
    summary: dict[str, Any] = {
        "tool": {"name": "kafka-advisor", "version": __version__, "simulator": SIMULATOR},
        "at": run.options.now,
        "source": made["source"],
        "rows": {"in": rows_in, "audited": rows_in - quarantined, "quarantined": quarantined},
        # Files by their names that no format recognises: not ours, and no row.
        "ignored": made.get("ignored", 0),
        "quarantine": _reasons(made["quarantine"]),
        "deployments": judged[0] or 0,
        "behaviours": judged[1],
        "errors": total["error"],
        "warnings": total["warning"],
        "notes": total["note"],
        "findings": found,
        "examples": _examples(answered, {f["code"] for f in found}),
        "tolerance": _tolerance(made["cells"], behaviours),
        "teams": _by(reach["owner"]),
        "clusters": _by(reach["cluster"]),
        "drift": _drift(spark.read.parquet(store.place.of("unfinished/drift"))),
    }
    earlier = [_point(point) for point in store.summaries()]
    summary["trend"] = [*earlier, _point({"run": name, **summary})]
    store.place.write("unfinished/summary.json", json.dumps(summary, indent=1, ensure_ascii=False))
    return {**summary, "trend_rows": summary["trend"]}


def _point(summary: dict[str, Any]) -> dict[str, Any]:
    kept = ("run", "at", "deployments", "behaviours", "errors", "warnings", "notes")
    return {**{name: summary.get(name) for name in kept}, "quarantined": summary["rows"]["quarantined"]}


def _reach(reach: DataFrame) -> dict[str, list[dict[str, Any]]]:
    """How many findings each rule, each owner and each cluster has, counted in one look."""
    from pyspark.sql import functions as F

    counted = F.sum("n").alias("n"), F.coalesce(F.sum("partitions"), F.lit(0)).alias("partitions")
    severity = F.col("severity")
    scopes = (
        ("code", [severity, F.col("code").alias("id"), F.col("name")]),
        ("owner", [severity, F.lit(None).cast("string").alias("id"), _or_none("owner")]),
        ("cluster", [severity, F.lit(None).cast("string").alias("id"), _or_none("cluster")]),
    )
    whole = None
    # Summed up first, so that the three looks are at few rows.
    few = reach.groupBy("owner", "cluster", "code", "name", "severity").agg(*counted)
    for scope, columns in scopes:
        one = few.groupBy(F.lit(scope).alias("scope"), *columns).agg(*counted)
        whole = one if whole is None else whole.unionByName(one)
    assert whole is not None
    found: dict[str, list[dict[str, Any]]] = {scope: [] for scope, _ in scopes}
    for row in whole.collect():
        found[row["scope"]].append(row.asDict())
    return found


def _or_none(column: str) -> Column:
    from pyspark.sql import functions as F

    return F.coalesce(column, F.lit("(none)")).alias("name")


def _found(findings: DataFrame, counted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each rule with how far it reaches; beyond some rows the distinct counts are estimates within 2%."""
    from pyspark.sql import functions as F

    exact = sum(row["n"] for row in counted) <= _EXACT_MAX

    def distinct(name: str, *columns: str) -> Column:
        value = F.concat_ws("/", *columns) if len(columns) > 1 else F.col(columns[0])
        value = F.when(F.col(columns[-1]).isNotNull(), value)
        if exact:
            return F.countDistinct(value).alias(name)
        # A sketch, unlike approx_count_distinct, has Spark keep the groups in a table instead of sorting.
        return F.coalesce(F.hll_sketch_estimate(F.hll_sketch_agg(value, 12)), F.lit(0)).alias(name)

    asked = findings.groupBy("code", "severity").agg(
        distinct("topics", "cluster", "topic"),
        distinct("clients", "client"),
        distinct("teams", "owner"),
        F.min(F.struct("message", "deployment", "file", "line")).alias("example"),
    )
    reached = {(row["code"], row["severity"]): row for row in asked.collect()}
    made = []
    for rule in counted:
        row = reached[rule["id"], rule["severity"]]
        made.append(
            {
                "code": rule["id"],
                "name": rule["name"],
                "severity": rule["severity"],
                "count": rule["n"],
                **{name: row[name] for name in ("topics", "clients", "teams")},
                "partitions": rule["partitions"],
                "example": row["example"].asDict(),
                "exact": exact,
            }
        )
    return sorted(made, key=lambda f: (_RANK.get(f["severity"], 3), -f["count"], f["code"]))


def _reasons(quarantine: DataFrame) -> list[dict[str, Any]]:
    from pyspark.sql import functions as F

    rows = quarantine.groupBy("reason").agg(
        F.sum("rows").alias("rows"), F.min(F.coalesce("file", "row_id")).alias("example")
    )
    return sorted((row.asDict() for row in rows.collect()), key=lambda r: (-r["rows"], r["reason"]))


def _examples(answered: DataFrame, codes: set[str]) -> dict[str, Any]:
    """One judged behaviour of each rule, with its run and its fix: of the shortest text, so the least to
    read."""
    from pyspark.sql import functions as F

    spread = answered.select("mark", F.length("payload").alias("size"), F.explode("said.findings").alias("f"))
    chosen = spread.groupBy(F.col("f.code").alias("code")).agg(F.min(F.struct("size", "mark")).alias("first"))
    marks = {row["code"]: row["first"]["mark"] for row in chosen.collect() if row["code"] in codes}
    if not marks:
        return {}
    payloads = {
        row["mark"]: json.loads(row["payload"])
        for row in answered.where(F.col("mark").isin(sorted(set(marks.values()))))
        .select("mark", "payload")
        .collect()
    }
    found = {}
    for code, mark in sorted(marks.items()):
        finding = next(f for f in payloads[mark]["findings"] if f["code"] == code)
        found[code] = json.loads(plain(json.dumps(finding, ensure_ascii=False)))
    return found


def plain(text: str) -> str:
    """Marks for names as words."""
    return re.sub(f"(?:dev/)?{MARK}(?:file:)?([a-z]+)([0-9]*){END}", r"\1\2", text)


def _tolerance(cells: DataFrame, behaviours: DataFrame) -> dict[str, list[dict[str, Any]]]:
    from pyspark.sql import functions as F

    known = behaviours.select("behaviour", "survives_lost", "writes_with_away")
    few = cells.groupBy("owner", "cluster", "behaviour").agg(F.sum("n").alias("n")).join(known, "behaviour")
    whole = None
    for scope, column in (("team", "owner"), ("cluster", "cluster")):
        one = few.groupBy(
            F.lit(scope).alias("scope"), _or_none(column), "survives_lost", "writes_with_away"
        ).agg(F.sum("n").alias("deployments"))
        whole = one if whole is None else whole.unionByName(one)
    assert whole is not None
    found: dict[str, list[dict[str, Any]]] = {"team": [], "cluster": []}
    for row in whole.collect():
        told = row.asDict()
        found[told.pop("scope")].append(told)
    return {
        scope: sorted(rows, key=lambda r: (r["name"], str(r["survives_lost"]), str(r["writes_with_away"])))[
            :5000
        ]
        for scope, rows in found.items()
    }


def _by(counted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in counted:
        one = found.setdefault(row["name"], {"name": row["name"], **dict.fromkeys(_RANK, 0)})
        one[row["severity"]] = row["n"]
    return sorted(found.values(), key=lambda r: (-r["error"], -r["warning"], -r["note"], r["name"]))[:5000]


def _drift(drift: DataFrame) -> list[dict[str, Any]]:
    rows = [row.asDict() for row in drift.limit(_TOP).collect()]
    return sorted(
        rows,
        key=lambda r: (
            -r["usual_share"],
            -r["of"],
            r["scope"],
            r["name"],
            r["component"],
            r["key"],
            r["value"],
        ),
    )


# Telling it.


def render(summary: dict[str, Any], kind: str, folder: str) -> str:
    if kind == "json":
        return json.dumps({**summary, "folder": folder}, indent=1, ensure_ascii=False) + "\n"
    return (_markdown if kind == "markdown" else _text)(summary, folder)


def _headline(summary: dict[str, Any]) -> list[str]:
    rows = summary["rows"]
    unit = "files" if summary["source"] == "files" else "rows"
    ignored = f" ({summary['ignored']} more are no Kafka configuration)" if summary["ignored"] else ""
    return [
        f"{rows['in']} {unit} = {rows['audited']} audited + {rows['quarantined']} in quarantine{ignored}",
        f"{summary['deployments']} deployments, {summary['behaviours']} that behave differently",
        f"{summary['errors']} errors, {summary['warnings']} warnings, {summary['notes']} notes",
    ]


def _text(summary: dict[str, Any], folder: str) -> str:
    from tabulate import tabulate

    lines = [*_headline(summary), ""]
    top = _rows(summary, 20)
    if top:
        names = ["rule", "", "severity", "found", "topics", "partitions", "clients", "teams"]
        lines += [tabulate(top, headers=names, tablefmt="plain"), ""]
    teams = [[t["name"], t["error"], t["warning"], t["note"]] for t in summary["teams"][:15]]
    if teams:
        lines += [tabulate(teams, headers=["team", "errors", "warnings", "notes"], tablefmt="plain"), ""]
    for reason in summary["quarantine"][:10]:
        lines.append(f"quarantine: {reason['rows']} x {reason['reason']} (such as {reason['example']})")
    lines.append(f"tables and report.html: {folder}")
    return "".join(escaped(line) + "\n" for part in lines for line in part.split("\n"))


_COLUMNS = ("code", "name", "severity", "count", "topics", "partitions", "clients", "teams")


def _rows(summary: dict[str, Any], most: int) -> list[list[Any]]:
    return [[finding[column] for column in _COLUMNS] for finding in summary["findings"][:most]]


def escaped(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _markdown(summary: dict[str, Any], folder: str) -> str:
    def cell(value: object) -> str:
        text = escaped(str(value))
        return re.sub(r"([\\`*_{}\[\]<>|#&])", r"\\\1", text)

    def table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
        head = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
        return [*head, *("| " + " | ".join(cell(value) for value in row) + " |" for row in rows), ""]

    lines = ["# Kafka fleet", "", *(f"- {line}" for line in _headline(summary)), ""]
    found = _rows(summary, 50)
    lines += table(("rule", "name", "severity", "found", "topics", "partitions", "clients", "teams"), found)
    lines += ["## Teams", ""]
    teams = [(t["name"], t["error"], t["warning"], t["note"]) for t in summary["teams"][:50]]
    lines += table(("team", "errors", "warnings", "notes"), teams)
    if summary["drift"]:
        lines += ["## Drift, outliers first", ""]
        rows = [
            (
                f"{d['scope']} {d['name']}",
                d["component"],
                d["key"],
                d["usual"],
                d["value"],
                f"{d['configs']} of {d['of']}",
            )
            for d in summary["drift"][:30]
        ]
        lines += table(("where", "what", "key", "usual", "here", "configs"), rows)
    return "\n".join(lines) + "\n"
