"""A scenario of a log or a group as it came out: as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..find.from_hit import fill
from ..model import members_of
from ..output.terminal import terminal
from ..tell.run import run_lines, run_of
from ..tell.run.text import legend_lines
from . import verdict_report as shown
from .guarantees import every_guarantee
from .log_scenario import PlayedLog


def log_data(played: PlayedLog, changed: bool) -> dict[str, Any]:
    """`changed`: the command line asks something else, so that what the file expects says nothing."""
    scenario, judgement, hit = played.scenario, played.judgement, played.judgement.hit
    stated = [
        (document.component, setting)
        for document in members_of(played.deployment)
        for setting in document.settings
        if setting.origin.kind != "assumed"
    ]
    told = {(component, setting.key) for component, setting in hit.settings} if hit is not None else set()
    # What the workload says has lines of its own.
    rows = [
        *(pair for pair in (hit.settings if hit is not None else ()) if pair[0] != "workload"),
        *(pair for pair in stated if (pair[0], pair[1].key) not in told),
    ]
    return {
        "scenario": {"file": scenario.file, "title": scenario.title, "story": scenario.story},
        "rule": {"code": played.rule.code, "name": played.rule.name},
        "settings": [shown.setting_row(component, setting) for component, setting in rows],
        "workload": dict(scenario.workload),
        "policy": {},
        "expected": None if changed else scenario.expect,
        "unmet": [] if changed else list(played.unmet),
        "guarantees": [
            {
                "guarantee": scenario.guarantee,
                "verdict": judgement.verdict,
                "reason": fill(played.rule.message, hit.fields) if hit is not None else judgement.reason,
                "environment": {},
                "faults": {},
                "spent": {},
                "bounds": judgement.bounds,
                "states": judgement.states,
                "witnesses": [],
                "depends_on": list(judgement.depends_on),
                "given": False,
                "numbers": dict(hit.numbers) if hit is not None else {},
                "trace": [dict(step) for step in judgement.trace],
            }
        ],
    }


def log_lines(data: Mapping[str, Any], changed: Sequence[str]) -> Iterator[str]:
    yield from shown.opening_lines(data, changed)
    for name, value in data["workload"].items():
        yield f"  workload: {name} = {str(value).lower() if isinstance(value, bool) else value}"
    yield ""
    (entry,) = data["guarantees"]
    yield from _verdict(entry)
    if entry["trace"]:
        yield ""
        run, width = run_of(entry["trace"], entry["guarantee"]), terminal().width
        yield from run_lines(run, width)
        legend = legend_lines(run, width)
        yield from ["", *legend] if legend else ()
    for what in data["unmet"]:
        yield ""
        yield f"NOT AS EXPECTED: {what}"


def _verdict(entry: Mapping[str, Any]) -> Iterator[str]:
    name, meaning = entry["guarantee"], every_guarantee()[entry["guarantee"]]
    match entry["verdict"]:
        case "broken":
            yield f"BROKEN {name}: {meaning.broken}"
            yield f"  {entry['reason']}"
        case "holds":
            yield f"{name}: not broken within these bounds ({meaning.says})"
        case _:
            yield f"UNKNOWN {name}: {entry['reason']}"
    if entry["bounds"]:
        yield f"  bounds: {entry['bounds']}"
    for what, number in entry["numbers"].items():
        yield f"  {what}: {number}"
