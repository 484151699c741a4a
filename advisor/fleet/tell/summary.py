"""The run in a page: counted by the driver, told as JSON, Markdown or text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...output.text import json_text, printable
from ...tuples import NamedTuple
from ..store.verdict_table import SIMULATOR
from .causes import cause_of
from .gathered import RANK, Gathered, Row, Rule

if TYPE_CHECKING:
    from ..run import Run

_TOP = 500
_MANY = 5000
# More causes of one rule than this have no example of their own.
_CAUSES_OF_A_RULE = 6


def summarise(
    run: Run,
    gathered: Gathered,
    reach: Reach,
    examples: Mapping[Rule, Row],
    drifted: list[Row],
    name: str,
    since: str | None,
    changed: list[Row] | None,
) -> Row:
    """summary.json. `examples` are places to look at, `changed` rows of the table `changes` (None: not
    compared)."""
    reached = gathered.reached(reach.rules)
    found: list[Row] = [
        {
            "code": code,
            "name": reach.names[code],
            "severity": severity,
            "count": count,
            "topics": reached[code, severity].topics,
            "clients": reached[code, severity].clients,
            "teams": len(reach.teams[code, severity]),
            "partitions": reach.partitions[code, severity],
            "example": examples[code, severity],
            "exact": reached[code, severity].exact,
        }
        for (code, severity), count in reach.rules.items()
    ]
    found.sort(key=lambda f: (RANK.get(f["severity"], 3), -f["count"], f["code"]))
    summary: Row = {
        "tool": {"name": "kafka-advisor", "version": __version__, "simulator": SIMULATOR},
        "at": run.options.now,
        "source": gathered.source,
        "rows": {
            "in": gathered.rows_in,
            "audited": gathered.rows_in - gathered.quarantined,
            "quarantined": gathered.quarantined,
            # Among the audited: they say what another row says, and count once.
            "repeated": gathered.repeated,
        },
        # Files by their names that no format recognises: not ours, and no row.
        "ignored": gathered.ignored,
        "quarantine": sorted(gathered.reasons, key=lambda r: (-r["rows"], r["reason"])),
        "deployments": sum(cell.deployments for cell in gathered.cells),
        "behaviours": len(set(gathered.marks.values())),
        **{f"{severity}s": reach.total(severity) for severity in RANK},
        "findings": found,
        "examples": _examples(gathered, reach),
        "remedies": reach.remedies()[:_TOP],
        "guarantees": _guarantees(gathered),
        "tolerance": _tolerance(gathered),
        "teams": _by(reach.owners),
        "clusters": _by(reach.clusters),
        "drift": drifted[:_TOP],
        "since": since,
        "changes": None if changed is None else _changes(changed),
    }
    earlier = [_point(point) for point in run.store.summaries()]
    summary["trend"] = [*earlier, _point({"run": name, **summary})]
    run.store.place.write("unfinished/summary.json", json_text(summary, 1))
    return summary


def _changes(changed: list[Row]) -> Row:
    """How many findings are new and fixed, in all and by rule."""
    counted = {word: [row for row in changed if row["change"] == word] for word in ("new", "fixed")}
    rules = sorted({(row["code"], row["name"], row["severity"]) for row in changed})
    return {
        **{word: sum(row["findings"] for row in rows) for word, rows in counted.items()},
        "rules": [
            {
                "code": code,
                "name": name,
                "severity": severity,
                **{
                    word: sum(
                        row["findings"] for row in rows if (row["code"], row["severity"]) == (code, severity)
                    )
                    for word, rows in counted.items()
                },
            }
            for code, name, severity in rules
        ],
    }


def _point(summary: Row) -> Row:
    kept = ("run", "at", "deployments", "behaviours", "errors", "warnings", "notes")
    return {**{name: summary.get(name) for name in kept}, "quarantined": summary["rows"]["quarantined"]}


class _Cleared(NamedTuple):
    """Errors that one change clears."""

    codes: set[str]
    teams: set[str]
    clusters: set[str | None]
    counts: list[int]

    def note(self, code: str, owner: str, cluster: str | None, count: int) -> None:
        self.codes.add(code)
        self.teams.add(owner)
        self.clusters.add(cluster)
        self.counts.append(count)


class Reach:
    """How many findings each rule, each owner and each cluster has; what is suppressed does not count."""

    def __init__(self, gathered: Gathered) -> None:
        self.rules: dict[tuple[str, str], int] = {}
        self.partitions: dict[tuple[str, str], int] = {}
        self.teams: dict[tuple[str, str], set[str]] = {}
        self.names: dict[str, str] = {}
        self.owners: dict[str, dict[str, int]] = {}
        self.clusters: dict[str, dict[str, int]] = {}
        self.causes: dict[str, dict[str, int]] = {}
        self._cleared: dict[str, _Cleared] = {}
        for findings, owner, cluster, count, partitions in _counted(gathered):
            for found in findings:
                if found["suppressed"]:
                    continue
                rule = found["code"], found["severity"]
                self.names[found["code"]] = found["name"]
                self.rules[rule] = self.rules.get(rule, 0) + count
                self.partitions[rule] = self.partitions.get(rule, 0) + partitions
                self.teams.setdefault(rule, set()).add(owner)
                causes = self.causes.setdefault(found["code"], {})
                causes[found["cause"]] = causes.get(found["cause"], 0) + count
                if found["severity"] == "error" and found["remedy"] is not None:
                    cleared = self._cleared.setdefault(found["remedy"], _Cleared(set(), set(), set(), []))
                    cleared.note(found["code"], owner, cluster, count)
                for scope, name in ((self.owners, owner), (self.clusters, cluster or "(none)")):
                    one = scope.setdefault(name, dict.fromkeys(RANK, 0))
                    one[found["severity"]] = one.get(found["severity"], 0) + count

    def remedies(self) -> list[Row]:
        """The changes that clear errors, those that clear most first."""
        found: list[Row] = [
            {
                "change": change,
                "errors": sum(one.counts),
                "rules": sorted(one.codes),
                "teams": len(one.teams),
                "clusters": len(one.clusters),
            }
            for change, one in self._cleared.items()
        ]
        return sorted(found, key=lambda row: (-row["errors"], row["change"]))

    def total(self, severity: str) -> int:
        return sum(count for (_, one), count in self.rules.items() if one == severity)


def _counted(gathered: Gathered) -> Iterator[tuple[Iterable[Row], str, str | None, int, int]]:
    """Findings with who has them: owner, cluster, how many, and their partitions."""
    if gathered.source == "files":
        for found in gathered.findings():
            yield (found,), found["owner"], found["cluster"], 1, found["partitions"] or 0
        return
    for document in gathered.documents:
        said = gathered.alone[gathered.alone_mark(document.fp, document.cluster)].findings
        yield said, document.owner, document.cluster, document.configs, document.partitions
    for cell in gathered.cells:
        said = gathered.judged[gathered.marks[cell.behaviour]].findings
        yield said, cell.owner, cell.cluster, cell.deployments, cell.partitions


def _examples(gathered: Gathered, reach: Reach) -> dict[str, Any]:
    """Findings with their run and their fix: of each rule its commonest cause, under the rule's code, then
    others (KA101-2, ...). Of several that share a cause the shortest text, so the least to read."""
    best: dict[str, tuple[int, str]] = {}
    every = {**gathered.alone, **gathered.judged}
    for mark, said in every.items():
        for found in said.findings:
            one = said.size, mark
            best[found["cause"]] = min(best.get(found["cause"], one), one)
    examples = {}
    for code, counted in sorted(reach.causes.items()):
        causes = sorted(
            (cause for cause in counted if cause in best), key=lambda cause: (-counted[cause], cause)
        )
        for number, cause in enumerate(causes[:_CAUSES_OF_A_RULE], 1):
            told = json.loads(every[best[cause][1]].payload)["findings"]
            example = next(one for one in told if cause_of(one) == cause)
            name = code if number == 1 else f"{code}-{number}"
            examples[name] = {**example, "cause": cause, "rows": counted[cause]}
    return examples


def _guarantees(gathered: Gathered) -> list[Row]:
    """Of each cluster and guarantee, how many deployments have which verdict."""
    counted: dict[tuple[str, str], Row] = {}
    for cell in gathered.cells:
        for one in gathered.judged[gathered.marks[cell.behaviour]].guarantees:
            place = cell.cluster or "(none)", one["name"]
            row = counted.setdefault(place, {"holds": 0, "broken": 0, "unknown": 0})
            row[one["verdict"]] = row.get(one["verdict"], 0) + cell.deployments
    found = [{"cluster": cluster, "name": name, **row} for (cluster, name), row in sorted(counted.items())]
    return found[:_MANY]


def _tolerance(gathered: Gathered) -> dict[str, list[Row]]:
    counted: dict[tuple[str, str, int | None, int | None], int] = {}
    for cell in gathered.cells:
        said = gathered.judged[gathered.marks[cell.behaviour]]
        for scope, name in (("team", cell.owner), ("cluster", cell.cluster or "(none)")):
            place = scope, name, said.survives_lost, said.writes_with_away
            counted[place] = counted.get(place, 0) + cell.deployments
    found: dict[str, list[Row]] = {"team": [], "cluster": []}
    for (scope, name, survives, writes), count in sorted(counted.items(), key=str):
        found[scope].append(
            {"name": name, "survives_lost": survives, "writes_with_away": writes, "deployments": count}
        )
    return {scope: rows[:_MANY] for scope, rows in found.items()}


def _by(counted: dict[str, dict[str, int]]) -> list[Row]:
    found: list[Row] = [{"name": name, **counts} for name, counts in counted.items()]
    return sorted(found, key=lambda r: (-r["error"], -r["warning"], -r["note"], r["name"]))[:_MANY]


# Telling it.


def render(summary: dict[str, Any], kind: str, folder: str) -> str:
    if kind == "json":
        return json_text({**summary, "folder": folder}, 1) + "\n"
    return (_markdown if kind == "markdown" else _text)(summary, folder)


def _headline(summary: dict[str, Any]) -> list[str]:
    rows = summary["rows"]
    unit = "files" if summary["source"] == "files" else "rows"
    ignored = f" ({summary['ignored']} more are no Kafka configuration)" if summary["ignored"] else ""
    repeated = f"; {rows['repeated']} of them repeat another and count once" if rows["repeated"] else ""
    return [
        f"{rows['in']} {unit} = {rows['audited']} audited + {rows['quarantined']} in quarantine"
        f"{repeated}{ignored}",
        f"{summary['deployments']} deployments, {summary['behaviours']} that behave differently",
        f"{summary['errors']} errors, {summary['warnings']} warnings, {summary['notes']} notes"
        + _since(summary),
    ]


def _since(summary: dict[str, Any]) -> str:
    changes = summary["changes"]
    if changes is None:
        return ""
    return f"; since run {summary['since']} {changes['new']} findings are new, {changes['fixed']} fixed"


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
    return "".join(printable(line) + "\n" for part in lines for line in part.split("\n"))


_COLUMNS = ("code", "name", "severity", "count", "topics", "partitions", "clients", "teams")


def _rows(summary: dict[str, Any], most: int) -> list[list[Any]]:
    return [[finding[column] for column in _COLUMNS] for finding in summary["findings"][:most]]


def _markdown(summary: dict[str, Any], folder: str) -> str:
    def cell(value: object) -> str:
        text = printable(str(value))
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
