"""A scenario as it came out: as JSON, as text, and as an exit code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import verdict_report as shown
from .by_hand import settings_of
from .guarantees import every_guarantee
from .scenario_values import Played

# What a key says is overruled by the field of the simulator that the scenario states.
_FIELDS = {
    "acks": "acks",
    "min.insync.replicas": "min_isr",
    "unclean.leader.election.enable": "unclean",
    "replication factor": "replicas",
    "eligible leader replicas": "elr",
    "enable.idempotence": "idempotence",
    "max.in.flight.requests.per.connection": "in_flight",
    "retries": "retries",
}


def scenario_data(played: Played, changed: bool) -> dict[str, Any]:
    """`changed`: the command line asks something else, so that what the file expects says nothing."""
    scenario, verdict = played.scenario, played.verdict
    settings = settings_of(played.deployment, played.decoded, [scenario.guarantee or "replicas-agree"])
    trace = [step.as_dict() for step in played.trace]
    data: dict[str, Any] = {
        "scenario": {"file": scenario.file, "title": scenario.title, "story": scenario.story},
        "settings": [
            shown.setting_row(component, setting)
            for component, setting in settings
            if _FIELDS.get(setting.key) not in scenario.policy
        ],
        "policy": dict(scenario.policy),
        "expected": None if changed else scenario.expect,
        "unmet": [] if changed else list(played.unmet),
        "guarantees": [],
    }
    if verdict is None:
        return data | {"trace": trace}
    entry = shown.guarantee_entry(
        scenario.guarantee or "",
        verdict.verdict,
        verdict,
        played.environment,
        played.faults,
        given=bool(scenario.events) or scenario.time is not None,
    )
    return data | {"guarantees": [entry | {"trace": trace}]}


def exit_code(data: Mapping[str, Any]) -> int:
    """1 if it is not as expected; where nothing is expected, if a guarantee is broken."""
    broken = any(entry["verdict"] == "broken" for entry in data["guarantees"])
    return int(bool(data["unmet"]) or (data["expected"] is None and broken))


def scenario_lines(data: Mapping[str, Any], changed: Sequence[str]) -> Iterator[str]:
    yield from shown.opening_lines(data, changed)
    for name, value in data["policy"].items():
        yield f"  policy: {name} = {json.dumps(value)}"
    yield ""
    for entry in data["guarantees"]:
        if not entry["given"]:
            yield f"may go wrong: {shown.counts_text(entry['environment'], entry['faults'])}"
            yield ""
        yield from shown.verdict_lines(entry, every_guarantee()[entry["guarantee"]])
    if "trace" in data:
        yield from shown.run_lines(data["trace"])
    for what in data["unmet"]:
        yield ""
        yield f"NOT AS EXPECTED: {what}"
