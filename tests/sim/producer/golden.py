"""The producer scenarios as text. `python -m tests.sim.producer.golden` rewrites traces/."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from advisor.sim.producer.policy import ProducerPolicy
from advisor.sim.producer.questions import GUARANTEES
from advisor.sim.search.verdict import Broken, Holds, Verdict, table

HERE = Path(__file__).parent
SCENARIOS = sorted((HERE / "scenarios").glob("*.toml"))


def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def trace_file(path: Path) -> Path:
    return HERE / "traces" / f"{path.stem}.txt"


def ask(scenario: dict[str, Any]) -> Verdict:
    policy = ProducerPolicy(**scenario["policy"])
    return GUARANTEES[scenario["guarantee"]](policy, {}, scenario["faults"])


def text_of(name: str, scenario: dict[str, Any], verdict: Verdict) -> str:
    """What a person reads: the scenario, the run if there is one, the verdict, how many states were seen."""
    policy = " ".join(f"{key}={value}" for key, value in scenario["policy"].items())
    faults = " ".join(f"{key}={value}" for key, value in scenario["faults"].items())
    lines = [f"scenario {name}: {policy}; {faults}", scenario["story"]]
    match verdict:
        case Broken():
            lines += [*table(verdict.trace), verdict.text(), f"{verdict.states} states"]
        case Holds():
            lines += [verdict.text(), *(f"  seen: {witness}" for witness in verdict.witnesses)]
        case _:
            lines.append(verdict.text())
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for path in SCENARIOS:
        scenario = read(path)
        trace_file(path).write_text(text_of(path.stem, scenario, ask(scenario)), encoding="utf-8")
