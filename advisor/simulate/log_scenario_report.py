"""A scenario of a log or a group as it came out: as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..find.asker import fill
from ..model import members_of
from ..packs.vocabulary import COMPUTED
from ..tell.run_table import trace_table
from . import verdict_report as shown
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


_LEGENDS = {
    "log": (
        "A segment is named by its first offset; * marks the active one, which takes the appends. Others",
        "wait for retention or for the cleaner. k0@7 is the record of key k0 at offset 7.",
    ),
    "group": (
        "A column is a member and shows the partitions that it owns; p0@2 means that it reads p0 from offset",
        "2, and behind the bar stand the records that it has in hand.",
    ),
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
        yield from trace_table(entry["trace"])
        yield ""
        yield from _LEGENDS.get(entry["trace"][0]["state"].get("kind", ""), ())
    for what in data["unmet"]:
        yield ""
        yield f"NOT AS EXPECTED: {what}"


def _verdict(entry: Mapping[str, Any]) -> Iterator[str]:
    name, (says, broken) = entry["guarantee"], COMPUTED[entry["guarantee"]]
    match entry["verdict"]:
        case "broken":
            yield f"BROKEN {name}: {broken}"
            yield f"  {entry['reason']}"
        case "holds":
            yield f"{name}: not broken within these bounds ({says})"
        case _:
            yield f"UNKNOWN {name}: {entry['reason']}"
    if entry["bounds"]:
        yield f"  bounds: {entry['bounds']}"
    for what, number in entry["numbers"].items():
        yield f"  {what}: {number}"
