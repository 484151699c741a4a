"""The transaction scenarios as text. `python -m tests.sim.transactions.golden` rewrites traces/."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from advisor.sim import ask
from advisor.sim.search.verdict import Broken, Holds, Verdict
from advisor.sim.transactions.step import TransactionPolicy
from advisor.sim.transactions.timeline import Plan, in_time
from advisor.tell.run import run_lines, run_of

HERE = Path(__file__).parent
SCENARIOS = sorted((HERE / "scenarios").glob("*.toml"))


def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def trace_file(path: Path) -> Path:
    return HERE / "traces" / f"{path.stem}.txt"


def asked(scenario: dict[str, Any]) -> Verdict:
    policy = TransactionPolicy(**scenario["policy"])
    return ask(scenario["guarantee"], policy, {}, scenario["faults"])


def text_of(name: str, scenario: dict[str, Any]) -> str:
    """What a person reads: the scenario, the run if there is one, the verdict, how many states were seen."""
    policy = " ".join(f"{key}={value}" for key, value in scenario["policy"].items())
    if "plan" in scenario:
        told = in_time(TransactionPolicy(**scenario["policy"]), Plan(**scenario["plan"]))
        plan = " ".join(f"{key}={value}" for key, value in scenario["plan"].items())
        held = "held still" if told.pinned_ms is None else f"held for {told.pinned_ms} ms"
        errors = ", ".join(told.errors) or "no error"
        end = f"{told.fate or 'open'}; LSO {held}, {told.hidden} records of others waited; {errors}"
        return (
            "\n".join(
                [
                    f"scenario {name}: {policy}; {plan}",
                    scenario["story"],
                    *run_lines(run_of([step.as_dict() for step in told.steps])),
                    end,
                ]
            )
            + "\n"
        )
    faults = " ".join(f"{key}={value}" for key, value in scenario["faults"].items())
    lines = [f"scenario {name}: {policy}; {faults}", scenario["story"]]
    verdict = asked(scenario)
    match verdict:
        case Broken():
            lines += [
                *run_lines(run_of([step.as_dict() for step in verdict.trace])),
                verdict.text(),
                f"{verdict.states} states",
            ]
        case Holds():
            lines += [verdict.text(), *(f"  seen: {witness}" for witness in verdict.witnesses)]
        case _:
            lines.append(verdict.text())
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for path in SCENARIOS:
        trace_file(path).write_text(text_of(path.stem, read(path)), encoding="utf-8")
