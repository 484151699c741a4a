"""report.html of a fleet: tolerance, findings with their reach, drift, one example run of each rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...tell import html
from .gathered import RANK, Gathered, Rule, Shown

# More rows than this are in the table `findings` alone.
ROWS_MAX = 100_000
COLUMNS = (
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
# What a row is told with besides: which example it opens, and what clears it.
LINE = (*COLUMNS, "cause", "remedy")
_KINDS = {"severity": "severity", "code": "run", "owner": "facet", "cluster": "facet", "line": "number"}
_TOLERANCE = (
    ("none", "error"),
    ("1 broker", "good"),
    ("2 or more", "note"),
    ("not known", ""),
)


Line = tuple[Any, ...]


def lines_of(gathered: Gathered, counted: Mapping[Rule, int]) -> list[Line]:
    """The findings that a page shows, the gravest first; of every rule there is one at least."""
    ranks = {"error": "0", "warning": "1"}
    return sorted(
        gathered.shown(_that_fit(counted), LINE),
        key=lambda row: (ranks.get(row[0], "2"), *(str(cell) for cell in row)),
    )


def _that_fit(counted: Mapping[Rule, int]) -> Shown:
    """The rules, the gravest first, that there is room for; of the next one, for how many."""
    order = sorted(counted, key=lambda rule: (RANK.get(rule[1], 3), rule[0]))
    room = ROWS_MAX
    for place, rule in enumerate(order):
        if counted[rule] > room:
            return Shown(order[:place], rule, room, counted[rule], order[place:])
        room -= counted[rule]
    return Shown(order, None, room, 0, [])


def fleet_page(summary: dict[str, Any], findings: list[tuple[Any, ...]]) -> str:
    total = sum(summary[f"{severity}s"] for severity in RANK)
    topics = _losing_topics(summary, findings)
    errors = _errors(findings)
    sections = [
        *([_who_loses(topics, total > len(findings))] if topics else ()),
        *([_remedies(summary)] if summary["remedies"] else ()),
        *([_guarantees(summary["guarantees"])] if summary["guarantees"] else ()),
        *([_whose(errors, total > len(findings))] if errors else ()),
        *(_tolerance(summary, scope) for scope in ("team", "cluster") if summary["tolerance"][scope]),
        _top(summary),
    ]
    if summary["drift"]:
        sections += [_heat(summary["drift"]), _drift(summary["drift"])]
    if len(summary["trend"]) > 1:
        sections.append(_trend(summary["trend"]))
    columns = [(name, _KINDS.get(name, "text")) for name in COLUMNS]
    note = "" if total <= len(findings) else f"{len(findings)} of {total}: the table findings has all"
    shown = [line[: len(COLUMNS)] for line in findings]
    sections.append(html.table("findings", "Findings", columns, shown, note, _opens(summary, findings)))
    if summary["quarantine"]:
        lines = [f"{q['rows']} x {q['reason']} (such as {q['example']})" for q in summary["quarantine"]]
        sections.append(html.text("Quarantine", lines))
    about = " ".join(word for word in (summary["at"], f"kafka-advisor {summary['tool']['version']}") if word)
    headline, lead = _answer(summary, topics, total > len(findings))
    return html.page("Kafka fleet", about, [_counts(summary), *sections], summary["examples"], headline, lead)


def _counts(summary: dict[str, Any]) -> html.Section:
    rows = summary["rows"]
    unit = "files" if summary["source"] == "files" else "rows"
    return html.numbers(
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
    )


# -- which topics, and whose -------------------------------------------------------------------------------

_LOSES = "acked-records-survive"


def _losing_topics(summary: dict[str, Any], findings: list[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    """Each topic that one broker's death can rob of a confirmed record: owner, cluster, topic, how."""
    codes = {
        example["code"]: example["name"]
        for example in summary["examples"].values()
        if example["evidence"].get("guarantee") == _LOSES
    }
    place = {
        name: COLUMNS.index(name) for name in ("severity", "code", "owner", "cluster", "topic", "deployment")
    }
    found: dict[tuple[str, str, str], set[str]] = {}
    for row in findings:
        if row[place["severity"]] == "error" and row[place["code"]] in codes:
            topic = row[place["topic"]] or row[place["deployment"]] or ""
            where = row[place["owner"]] or "(nobody)", row[place["cluster"]] or "(none)", topic
            found.setdefault(where, set()).add(f"{row[place['code']]} {codes[row[place['code']]]}")
    return [(*where, ", ".join(sorted(rules))) for where, rules in sorted(found.items())]


def _who_loses(topics: list[tuple[str, ...]], partly: bool) -> html.Section:
    note = "of the findings that this page shows; the table findings has all" if partly else ""
    title = "Topics that can lose confirmed records when one broker dies"
    return html.drill("losing", title, "topics", ("team", "cluster"), ("topic", "rules"), topics, note)


def _answer(summary: dict[str, Any], topics: list[tuple[str, ...]], partly: bool) -> tuple[str, str]:
    """The fleet's question, answered: which topics lose data when one broker dies, and whose are they?"""
    counted: dict[str, int] = {}
    for owner, *_ in topics:
        counted[owner] = counted.get(owner, 0) + 1
    if not topics:
        return "No topic was found that loses confirmed records when one broker dies", ""
    teams = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    least = "At least " if partly else ""
    word = "topic" if len(topics) == 1 else "topics"
    headline = f"{least}{len(topics):,} {word} can lose confirmed records when one broker dies"
    listed = ", ".join(f"{owner} ({count:,})" for owner, count in teams[:5])
    more = f" and {len(teams) - 5:,} more" if len(teams) > 5 else ""
    return headline, f"Owned by {listed}{more}."


def _opens(summary: dict[str, Any], findings: list[Line]) -> list[str]:
    """Of each row the example of its own cause; of a cause that has none, that of its rule."""
    names: dict[Any, str] = {example["cause"]: name for name, example in summary["examples"].items()}
    code, cause = LINE.index("code"), LINE.index("cause")
    return [names.get(line[cause], str(line[code])) for line in findings]


def _errors(findings: list[Line]) -> list[tuple[str, ...]]:
    """Of each error: team, cluster, what it is about, the rule, what clears it."""
    found = set()
    for line in findings:
        row = dict(zip(LINE, line, strict=True))
        if row["severity"] == "error":
            about = row["topic"] or row["client"] or row["deployment"] or row["file"] or ""
            who = row["owner"] or "(nobody)", row["cluster"] or "(none)"
            found.add((*who, about, f"{row['code']} {row['name']}", row["remedy"] or ""))
    return sorted(found)


def _whose(errors: list[tuple[str, ...]], partly: bool) -> html.Section:
    note = "of the findings that this page shows; the table findings has all" if partly else ""
    columns = ("topic or client", "rule", "smallest change that clears it")
    return html.drill("errors", "Errors of each team", "errors", ("team", "cluster"), columns, errors, note)


def _remedies(summary: dict[str, Any]) -> html.Section:
    columns = [
        ("errors", "number"),
        ("change", "text"),
        ("rules", "text"),
        ("teams", "number"),
        ("clusters", "number"),
    ]
    rows = [
        (one["errors"], one["change"], ", ".join(one["rules"]), one["teams"], one["clusters"])
        for one in summary["remedies"]
    ]
    note = "errors whose smallest verified change is this one"
    return html.table("remedies", "What clears most errors", columns, rows, note)


def _guarantees(counted: list[dict[str, Any]]) -> html.Section:
    """Which guarantees each cluster's deployments can break, those that most can first."""
    cells: dict[tuple[str, str], float] = {}
    for row in counted:
        judged = row["holds"] + row["broken"]
        if judged:
            cells[row["cluster"], row["name"]] = row["broken"] / judged
    clusters, names = ({place[side] for place in cells} for side in (0, 1))

    def worst(side: int, name: str) -> tuple[float, str]:
        return -sum(share for place, share in cells.items() if place[side] == name), name

    columns = sorted(names, key=lambda name: worst(1, name))
    rows = [
        (cluster, [cells.get((cluster, name)) for name in columns])
        for cluster in sorted(clusters, key=lambda cluster: worst(0, cluster))
    ]
    note = (
        "a cell is the share of a cluster's deployments for which a run was found that breaks the guarantee"
    )
    return html.heat("Guarantees by cluster", columns, rows, note, ("not judged", "can break it"))


def _tolerance(summary: dict[str, Any], scope: str) -> html.Section:
    names: dict[str, list[int]] = {}
    for row in summary["tolerance"][scope]:
        survives = row["survives_lost"]
        place = 3 if survives is None else min(2, survives)
        names.setdefault(row["name"], [0, 0, 0, 0])[place] += row["deployments"]
    rows = sorted(names.items(), key=lambda item: (-item[1][0], -sum(item[1]), item[0]))
    title = f"How many lost brokers the deployments of each {scope} survive"
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
    series = [(f"{tone}s", tone, [point[f"{tone}s"] or 0 for point in points]) for tone in RANK]
    return html.trend("Trend", labels, series)
