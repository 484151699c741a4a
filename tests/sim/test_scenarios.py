"""Every scenario answers as its file says, in as many states, and every golden trace replays line by line."""

from __future__ import annotations

import re

import pytest

from advisor.sim import Broken, Holds, NotEnabled, enabled, run, start, step, table
from advisor.sim.partition.state import parse

from .scenario import TRACES, Case, cases, golden

CASES = cases()
ASKED = [case for case in CASES if not case.events]
DRIVEN = [case for case in CASES if case.events]


@pytest.mark.parametrize("case", ASKED, ids=lambda case: case.id)
def test_verdict(case: Case) -> None:
    verdict = case.ask()
    assert verdict.verdict == case.expected["verdict"], verdict.text()
    assert verdict.states == case.expected["states"]
    if isinstance(verdict, Holds):
        assert set(case.expected.get("witnesses", ())) <= set(verdict.witnesses)
        assert verdict.witnesses or not {**case.environment, **case.faults}
    if isinstance(verdict, Broken):
        spent = {**case.environment, **case.faults}
        assert all(count <= spent[name] for name, count in verdict.faults.items())


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.events or c.expected["verdict"] == "broken"], ids=lambda case: case.id
)
def test_golden(case: Case) -> None:
    assert golden(case) == case.trace_path.read_text(encoding="utf-8")


def test_no_golden_without_a_scenario() -> None:
    wanted = {c.trace_path.name for c in CASES if c.events or c.expected["verdict"] == "broken"}
    assert {path.name for path in TRACES.glob("*.txt")} == wanted


@pytest.mark.parametrize("case", [c for c in ASKED if c.expected["verdict"] == "broken"], ids=lambda c: c.id)
def test_a_golden_trace_replays_line_by_line(case: Case) -> None:
    """The events are read back from the text alone; each line's state is what stepping gives."""
    verdict = case.ask()
    assert isinstance(verdict, Broken)
    policy = case.policy._replace(replicas=verdict.bounds.replicas)
    model, state = start(policy, verdict.bounds, {**case.environment, **case.faults})
    lines = case.trace_path.read_text(encoding="utf-8").splitlines()[1:-1]
    trace = run(model, state, [re.split(r"  +", line.strip())[1] for line in lines])[0]
    assert table(trace) == lines


@pytest.mark.parametrize("case", DRIVEN, ids=lambda case: case.id)
def test_what_cannot_happen(case: Case) -> None:
    assert case.bounds is not None
    model, state = start(case.policy, case.bounds, {**case.environment, **case.faults})
    for text in case.events:
        event = parse(text)
        if event in enabled(model, state):
            state, _ = step(model, state, event)
    for text in case.cannot:
        assert parse(text) not in enabled(model, state)
        with pytest.raises(NotEnabled, match=text):
            run(model, state, [text])
