"""What `simulate` found, as one page for a browser: a view of its JSON, with every run to play."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..tell.fixed_runs import good_ending
from ..tell.html.causes import facts, settings_table
from ..tell.html.document import document, top
from ..tell.html.markup import Child, Markup, join, tag, wide
from ..tell.html.player import SCRIPTS, STYLES, Played, player
from ..tell.html.tolerance_numbers import two_numbers
from .guarantees import every_guarantee
from .schedule_report import OUTCOMES, gathered, phase_text
from .verdict_report import counts_text

Data = Mapping[str, Any]
_VERDICTS = {"broken": ("broken", "error"), "holds": ("no run found", "good"), "unknown": ("unknown", "soft")}


def simulate_page(simulated: Sequence[Data]) -> str:
    runs: dict[str, Any] = {}
    first = simulated[0]
    parts = [simulated_part(data, number, runs, len(simulated) == 1) for number, data in enumerate(simulated)]
    version = f"Kafka {first['kafka_version']}" + (f" ({first['note']})" if "note" in first else "")
    body = join(top("simulate", version), tag("main", parts))
    scripts = ("dom.js", "theme.js", *SCRIPTS, "findings.js", "audit.js")
    title = f"Kafka: {_title(first)}" if len(simulated) == 1 else f"Kafka: {len(simulated)} scenarios"
    return document(title, body, ("base.css", *STYLES, "findings.css"), scripts, {"runs": runs})


def _title(data: Data) -> str:
    told = data.get("scenario") or data.get("schedule")
    if told or data["deployment"]:
        return str(told["title"] if told else data["deployment"])
    given = [row for row in data["settings"] if row["origin"]["kind"] == "set"]
    return ", ".join(f"{row['key']}={row['value']}" for row in given) or "The reference deployment"


def simulated_part(data: Data, number: int, runs: dict[str, Any], alone: bool) -> list[Child]:
    """What one scenario, schedule or deployment came to; `alone`: it is all of a page."""
    told = data.get("scenario") or data.get("schedule") or {}
    made: list[Child] = [tag("h1" if alone else "h2", _title(data))]
    made += [tag("p", text, class_="lead") for text in str(told.get("story", "")).split("\n\n") if text]
    made += [tag("p", f"Not as expected: {what}", class_="error") for what in data.get("unmet", ())]
    if "headline" in data:
        made.append(two_numbers([data["headline"]]))
    if "schedule" in data:
        made += _schedule(data, number, runs)
    elif "trace" in data:
        made.append(player(f"run-{number}", None, [Played("", data["trace"], "")], runs))
    many = len(data.get("guarantees", ())) > 1
    for place, entry in enumerate(data.get("guarantees", ())):
        made += _verdict(entry, f"run-{number}-{place}", runs, many)
    made += _played_on(data)
    return made


def _verdict(entry: Data, name: str, runs: dict[str, Any], many: bool) -> Iterator[Child]:
    meaning = every_guarantee()[entry["guarantee"]]
    word, tone = _VERDICTS[entry["verdict"]]
    if entry["given"] and entry["verdict"] == "holds":
        word = "kept in this run"
    says = meaning.broken if entry["verdict"] == "broken" else meaning.says
    body = [*_run(entry, name, runs), _searched(entry)]
    if not many:
        yield tag("h2", tag("span", f"{word}: ", class_=tone), says)
        yield body
        return
    summary = tag(
        "summary",
        tag("span", word, class_=f"severity {tone}"),
        tag("span", says, class_="title"),
        tag("span", class_="code"),
        tag("span", entry["guarantee"], class_="place"),
    )
    is_broken = entry["verdict"] == "broken"
    yield tag("details", summary, tag("div", body, class_="body"), class_="finding", id=name, open=is_broken)


def _run(entry: Data, name: str, runs: dict[str, Any]) -> Iterator[Child]:
    if entry["reason"] and entry["verdict"] != "broken":
        yield tag("p", entry["reason"])
    if not entry["trace"]:
        return
    broken = entry["verdict"] == "broken"
    versions = [Played("As configured", entry["trace"], "error" if broken else "")]
    fixed = entry.get("fixed")
    if fixed is not None:
        changes, trace = fixed
        change = ", ".join(f"{one.key}={one.after}" for one in changes)
        versions.append(Played(f"With {change}", trace, "good", good_ending(entry["guarantee"], trace)))
    yield player(f"play-{name}", entry["guarantee"], versions, runs)


def _searched(entry: Data) -> Markup | None:
    given = "the run that the scenario gives; other runs were not looked at" if entry["given"] else None
    states = f"{entry['states']:,}" if entry["states"] else None
    asked = None if entry["given"] else counts_text(entry["environment"], entry["faults"])
    return facts(
        [
            ("May go wrong", asked),
            ("Played", given),
            ("Searched", entry["bounds"]),
            ("States seen", states),
            *entry.get("numbers", {}).items(),
        ]
    )


def _played_on(data: Data) -> Iterator[Child]:
    yield tag("h2", "Played on")
    rows = [{**row, "key": f"{row['component']}: {row['key']}"} for row in data["settings"]]
    for group in ("workload", "policy"):
        origin = {"kind": "project", "note": f"[{group}] of the scenario"}
        rows += [
            {"key": f"{group}: {name}", "value": str(value), "origin": origin}
            for name, value in data.get(group, {}).items()
        ]
    yield settings_table(rows)
    if data.get("unknown"):
        yield tag("p", f"Not known, so the default was played: {', '.join(data['unknown'])}.", class_="note")


def _schedule(data: Data, number: int, runs: dict[str, Any]) -> Iterator[Child]:
    yield player(f"run-{number}", None, [Played("", gathered(data["trace"]), "")], runs)
    yield tag(
        "p",
        f"One run of {data['phases']}, phase {data['phase']}: {phase_text(data['phase'])}.",
        class_="note",
    )
    yield tag("h2", "What can come of it")
    names = list(OUTCOMES)
    head = tag(
        "tr",
        tag("th", "runs", class_="number", scope="col"),
        [tag("th", OUTCOMES[name], class_="number", scope="col") for name in names],
        tag("th", "errors", scope="col"),
    )
    rows = [
        tag(
            "tr",
            tag("td", f"{len(one['phases'])} of {data['phases']}", class_="number"),
            [tag("td", f"{one[name]:,}", class_="number") for name in names],
            tag("td", ", ".join(one["errors"])),
        )
        for one in data["outcomes"]
    ]
    table = tag("table", tag("thead", head), tag("tbody", rows), class_="plain")
    yield wide("what can come of it", table)
