"""report.html of a fleet: tolerance, findings with their reach, drift, one example run of each rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..report import html
from .summary import _RANK

if TYPE_CHECKING:
    from .run import Run

# More rows than this are in the table `findings` alone.
ROWS_MAX = 100_000
_COLUMNS = (
    "severity",
    "code",
    "name",
    "message",
    "owner",
    "cluster",
    "topic",
    "client",
    "deployment",
    "file",
    "line",
)
_KINDS = {"severity": "severity", "code": "run", "owner": "facet", "cluster": "facet", "line": "number"}
_TOLERANCE = (
    ("survives no broker lost", "error"),
    ("survives 1 broker lost", "good"),
    ("survives 2 or more lost", "note"),
    ("not known", ""),
)


def write_page(run: Run, summary: dict[str, Any]) -> None:
    from pyspark.sql import functions as F

    findings = run.spark.read.parquet(run.store.place.of("unfinished/findings")).where(~F.col("suppressed"))
    whole, rest = _that_fit(summary["findings"])
    rule = F.concat_ws(" ", "severity", "code")
    chosen = findings.where(rule.isin(whole)).select(*_COLUMNS)
    if rest is not None:
        last, room = rest
        order = ("owner", "cluster", "deployment", "file", "line")
        some = findings.where(rule == last).select(*_COLUMNS)
        chosen = chosen.unionByName(some.orderBy(*order).limit(room))
    ranks = {"error": "0", "warning": "1"}
    rows = sorted(
        (tuple(row) for row in chosen.collect()),
        key=lambda row: (ranks.get(row[0], "2"), *(str(cell) for cell in row)),
    )
    run.store.place.write("unfinished/report.html", fleet_page(summary, rows))


def _that_fit(found: list[dict[str, Any]]) -> tuple[list[str], tuple[str, int] | None]:
    """The rules, the gravest first, whose findings the page has room for; of the next one, how many."""
    whole: list[str] = []
    room = ROWS_MAX
    for rule in sorted(found, key=lambda f: (_RANK.get(f["severity"], 3), f["code"])):
        name = f"{rule['severity']} {rule['code']}"
        if rule["count"] > room:
            return whole, (name, room) if room else None
        room -= rule["count"]
        whole.append(name)
    return whole, None


def fleet_page(summary: dict[str, Any], findings: list[tuple[Any, ...]]) -> str:
    total = sum(summary[f"{severity}s"] for severity in _RANK)
    rows = summary["rows"]
    unit = "files" if summary["source"] == "files" else "rows"
    sections = [
        html.numbers(
            [
                (f"{unit} in", rows["in"], ""),
                ("audited", rows["audited"], ""),
                ("in quarantine", rows["quarantined"], "warning" if rows["quarantined"] else ""),
                ("deployments", summary["deployments"], ""),
                ("behaviours", summary["behaviours"], ""),
                ("errors", summary["errors"], "error"),
                ("warnings", summary["warnings"], "warning"),
                ("notes", summary["notes"], "note"),
            ]
        ),
        *(_tolerance(summary, scope) for scope in ("team", "cluster") if summary["tolerance"][scope]),
        _top(summary),
    ]
    if summary["drift"]:
        sections += [_heat(summary["drift"]), _drift(summary["drift"])]
    if len(summary["trend"]) > 1:
        sections.append(_trend(summary["trend"]))
    columns = [(name, _KINDS.get(name, "text")) for name in _COLUMNS]
    note = (
        ""
        if total <= len(findings)
        else f"the first {len(findings)} of {total}: the rest is in the table findings"
    )
    sections.append(html.table("findings", "Findings", columns, findings, note))
    if summary["quarantine"]:
        lines = [f"{q['rows']} x {q['reason']} (such as {q['example']})" for q in summary["quarantine"]]
        sections.append(html.text("Quarantine", lines))
    about = " ".join(word for word in (summary["at"], f"kafka-advisor {summary['tool']['version']}") if word)
    return html.page("Kafka fleet", about, sections, summary["examples"])


def _tolerance(summary: dict[str, Any], scope: str) -> html.Section:
    names: dict[str, list[int]] = {}
    for row in summary["tolerance"][scope]:
        survives = row["survives_lost"]
        place = 3 if survives is None else min(2, survives)
        names.setdefault(row["name"], [0, 0, 0, 0])[place] += row["deployments"]
    rows = sorted(names.items(), key=lambda item: (-item[1][0], -sum(item[1]), item[0]))
    title = f"Deployments by {scope}: how many brokers may be lost for good before an acknowledged record is"
    return html.bars(title, _TOLERANCE, rows)


def _top(summary: dict[str, Any]) -> html.Section:
    columns = [
        ("severity", "severity"),
        ("code", "run"),
        ("name", "text"),
        ("found", "number"),
        ("topics", "number"),
        ("partitions", "number"),
        ("clients", "number"),
        ("teams", "number"),
        ("message", "text"),
    ]
    rows = [
        (
            f["severity"],
            f["code"],
            f["name"],
            f["count"],
            f["topics"],
            f["partitions"],
            f["clients"],
            f["teams"],
            f["example"]["message"],
        )
        for f in summary["findings"]
    ]
    estimated = any(not f["exact"] for f in summary["findings"])
    note = "a code opens one example: the settings, the shortest run found, the smallest change"
    return html.table(
        "rules",
        "What was found, and how far it reaches",
        columns,
        rows,
        note + ("; topics, clients and teams are estimates within 2%" if estimated else ""),
    )


def _heat(drift: list[dict[str, Any]]) -> html.Section:
    """How many of a scope's configurations differ from its usual value."""
    cells: dict[tuple[str, str], float] = {}
    for row in drift:
        place = f"{row['scope']} {row['name']} {row['component']}", row["key"]
        cells[place] = cells.get(place, 0.0) + row["configs"] / row["of"]
    lines = sorted(
        {line for line, _ in cells}, key=lambda line: (-sum(1 for a, _ in cells if a == line), line)
    )
    keys = sorted({key for _, key in cells}, key=lambda key: (-sum(1 for _, b in cells if b == key), key))
    rows = [(line, [cells.get((line, key)) for key in keys]) for line in lines]
    note = "a cell is the share of configurations that differ from what most of the same cluster or team have"
    return html.heat("Drift", keys, rows, note)


def _drift(drift: list[dict[str, Any]]) -> html.Section:
    columns = [
        ("scope", "facet"),
        ("name", "facet"),
        ("component", "facet"),
        ("key", "text"),
        ("usual", "text"),
        ("here", "text"),
        ("configs", "number"),
        ("of", "number"),
    ]
    rows = [
        (d["scope"], d["name"], d["component"], d["key"], d["usual"], d["value"], d["configs"], d["of"])
        for d in drift
    ]
    return html.table("drift", "Drift, outliers first", columns, rows)


def _trend(points: list[dict[str, Any]]) -> html.Section:
    labels = [point["at"] or point["run"] for point in points]
    series = [(f"{tone}s", tone, [point[f"{tone}s"] or 0 for point in points]) for tone in _RANK]
    return html.trend("Trend", labels, series)
