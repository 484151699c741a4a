"""The page of `audit` and `compare`: the two numbers, then the causes, each with its run and its fix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .causes import SEVERITIES, Drawing, causes
from .compared import upgrade
from .document import document, top
from .markup import Markup, join, tag, wide
from .player import SCRIPTS, STYLES
from .tolerance_numbers import two_numbers

Report = Mapping[str, Any]


def audit_page(report: Report) -> str:
    """`report["fixed_runs"]`, if it is there, are runs with a finding's fix made, by fingerprint."""
    compared = "compared" in report
    titles = {rule["code"]: rule["title"] for rule in report.get("rules", ())}
    drawing = Drawing(report.get("fixed_runs", {}), titles)
    found = causes(one for one in report["findings"] if _counts(one))
    section = drawing.section(found)
    version = f"Kafka {report['kafka_version']}, profile {report['profile']['name']}"
    body = join(
        top("compare" if compared else "audit", version),
        tag(
            "main",
            tag("h1", _headline(report)),
            tag("p", _lead(report, len(found)), class_="lead"),
            two_numbers([one["headline"] for one in report["deployments"]]),
            _changes(report),
            upgrade(report),
            section,
            _deployments(report),
            _files(report),
        ),
    )
    scripts = ("dom.js", "theme.js", *SCRIPTS, "findings.js", "audit.js")
    title = "Kafka deploy" if compared else "Kafka audit"
    return document(title, body, ("base.css", *STYLES, "findings.css"), scripts, {"runs": drawing.runs})


def _counts(finding: Mapping[str, Any]) -> bool:
    """What is suppressed, or known to a baseline, is not told again."""
    return finding["suppressed"] is None and finding.get("baseline") != "known"


def _changes(report: Report) -> Markup | None:
    """Of --diff-base: what the change makes worse, what it costs, and what it makes better."""
    changes = report.get("changes")
    if changes is None:
        return None
    told = (("worse", "Worse", "error"), ("costs", "Cost", "warning"), ("better", "Better", "good"))
    rows = [
        [tag("dt", word, class_=tone), tag("dd", sentence)]
        for key, word, tone in told
        for sentence in changes[key]
    ]
    heading = tag("h2", f"Compared with {changes['base']}")
    none = tag("p", "Nothing is worse or better.", class_="soft")
    return join(heading, tag("dl", rows, class_="facts") if rows else none)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")


def _headline(report: Report) -> str:
    if "compared" in report:
        old, new = (report["compared"][side] for side in ("old", "new"))
        if old["path"] == new["path"]:
            return f"From Kafka {old['kafka_version']} to {new['kafka_version']}"
        return f"From {old['path']} to {new['path']}"
    deployments = report["deployments"]
    if len(deployments) == 1:
        return " → ".join(str(deployments[0]["id"]).split(" -> "))
    return f"{_count(len(deployments), 'deployment')} of Kafka" if deployments else "Kafka audit"


def _lead(report: Report, count: int) -> str:
    summary = report["summary"]
    counts = [_count(summary[f"{one}s"], one) for one in SEVERITIES if summary[f"{one}s"]]
    told = f"{', '.join(counts)} from {_count(count, 'cause')}" if counts else "Nothing found"
    text = f"{told}, in {_count(summary['files'], 'file')}."
    if summary["unknown"]:
        text += f" {_count(summary['unknown'], 'question')} cannot be answered from these files alone."
    return text


# -- what was read -----------------------------------------------------------------------------------------


def _deployments(report: Report) -> Markup | None:
    deployments = report["deployments"]
    if not deployments:
        return None
    rows = []
    for one in deployments:
        lost, away = one["headline"]["survives_lost"], one["headline"]["writes_with_away"]
        rows.append(
            tag(
                "tr",
                tag("td", one["id"]),
                tag("td", "?" if lost is None else lost, class_="number"),
                tag("td", "?" if away is None else away, class_="number"),
                tag("td", [tag("div", reason) for reason in one["joined_by"]], class_="soft"),
            )
        )
    heads = (("Deployment", None), ("survives", "number"), ("may be down", "number"), ("Joined by", None))
    head = tag("tr", [tag("th", word, class_=kind, scope="col") for word, kind in heads])
    table = tag("table", tag("thead", head), tag("tbody", rows), class_="plain")
    return join(tag("h2", "Who writes where"), wide("who writes where", table))


def _files(report: Report) -> Markup | None:
    rows = []
    for one in report["files"]:
        status = one["status"] if one["status"] == "audited" else f"{one['status']}: {one['reason']}"
        roles = ", ".join(one["roles"]) or one["format"]
        rows.append(tag("tr", tag("td", tag("code", one["file"])), tag("td", roles), tag("td", status)))
    table = tag("table", tag("tbody", rows), class_="plain")
    return join(tag("h2", "What was read"), wide("what was read", table)) if rows else None
