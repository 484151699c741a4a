"""The group scenarios as text. `python -m tests.sim.groups.golden` rewrites traces/."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from advisor.sim.groups.consumer import Reading, Store
from advisor.sim.groups.search.questions import (
    Answer,
    every_record_processed,
    processed_in_order,
    processed_once,
    table,
    trace_of,
)
from advisor.sim.groups.search.states import Event, GroupPolicy
from advisor.sim.groups.search.step import initial

HERE = Path(__file__).parent
SCENARIOS = sorted((HERE / "scenarios").glob("*.toml"))
GUARANTEES = {
    "every-record-processed": every_record_processed,
    "processed-in-order": processed_in_order,
    "processed-once": processed_once,
}


def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def trace_file(path: Path) -> Path:
    return HERE / "traces" / f"{path.stem}.txt"


def policy_of(scenario: dict[str, Any]) -> GroupPolicy:
    store = Store(**scenario["store"]) if "store" in scenario else None
    group = {name: tuple(v) if isinstance(v, list) else v for name, v in scenario["group"].items()}
    return GroupPolicy(**group, reading=Reading(**scenario["reading"], store=store))


def ask(scenario: dict[str, Any]) -> Answer:
    return GUARANTEES[scenario["guarantee"]](policy_of(scenario), scenario["faults"])


def drive(scenario: dict[str, Any]) -> list[str]:
    """The run that a scenario spells out, event by event."""
    policy = policy_of(scenario).searched
    events = []
    for text in scenario["events"]:
        name, member, *how = text.split(" ", 2)
        events.append(Event(name, int(member[1:]), *how))
    return table(trace_of(policy, initial(policy, scenario["faults"]), events))


def text_of(name: str, scenario: dict[str, Any]) -> str:
    """What a person reads: the scenario, the run if there is one, the verdict, how many states were seen."""
    parts = [scenario.get(part, {}) for part in ("group", "reading", "store")]
    words = [f"{key}={value}" for part in parts for key, value in part.items()]
    faults = " ".join(f"{key}={value}" for key, value in scenario["faults"].items())
    lines = [f"scenario {name}: {' '.join(words)}; {faults}", scenario["story"]]
    if "events" in scenario:
        return "\n".join([*lines, *drive(scenario)]) + "\n"
    answer = ask(scenario)
    lines += table(answer.trace)
    lines.append(f"{answer.verdict} {scenario['guarantee']}: {answer.reason}".rstrip(": "))
    lines.append(f"{answer.states} states")
    lines += [f"  seen: {witness}" for witness in answer.witnesses]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for path in SCENARIOS:
        trace_file(path).write_text(text_of(path.stem, read(path)), encoding="utf-8")
