"""Scenarios as data: `scenarios/*.toml` with a policy, bounds and what must come out, `traces/*.txt` beside.

A file has settings shared by its cases and one `[[case]]` each. A case is either asked (`guarantee`, with
`environment`, `faults` and perhaps `bounds`; expected `verdict`, `states`, `witnesses`) or driven (`events`;
`cannot` lists what must not be enabled at the end). Broken and driven cases have a golden trace.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from advisor.sim import Bounds, Broken, Policy, Verdict, ask, run, start, table
from advisor.sim.search.verdict import Trace

HERE = Path(__file__).parent
SCENARIOS = HERE / "scenarios"
TRACES = HERE / "traces"
_ASKED: dict[str, Verdict] = {}


class Case(NamedTuple):
    file: str
    name: str
    policy: Policy
    environment: Mapping[str, int]
    faults: Mapping[str, int]
    bounds: Bounds | None
    guarantee: str | None
    events: tuple[str, ...]
    cannot: tuple[str, ...]
    expected: Mapping[str, Any]

    @property
    def id(self) -> str:
        return f"{self.file}-{self.name}" if self.name else self.file

    @property
    def trace_path(self) -> Path:
        return TRACES / f"{self.id}.txt"

    def ask(self) -> Verdict:
        """Asked once, however many tests look at the answer."""
        assert self.guarantee is not None
        if self.id not in _ASKED:
            _ASKED[self.id] = ask(self.guarantee, self.policy, self.environment, self.faults, self.bounds)
        return _ASKED[self.id]

    def drive(self) -> Trace:
        assert self.bounds is not None, f"{self.id}: a driven case states its bounds"
        model, first = start(self.policy, self.bounds, {**self.environment, **self.faults})
        return run(model, first, self.events)[0]


def load(path: Path) -> Iterator[Case]:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    for own in data["case"]:
        merged = {
            key: {**data.get(key, {}), **own.get(key, {})}
            for key in ("policy", "environment", "faults", "bounds")
        }
        policy = merged["policy"]
        if "racks" in policy:
            policy["racks"] = tuple(policy["racks"])
        yield Case(
            path.stem,
            own.get("name", ""),
            Policy(**policy),
            merged["environment"],
            merged["faults"],
            Bounds(**merged["bounds"]) if merged["bounds"] else None,
            own.get("guarantee", data.get("guarantee")) if "events" not in own else None,
            tuple(own.get("events", ())),
            tuple(own.get("cannot", ())),
            own,
        )


def cases() -> list[Case]:
    return [case for path in sorted(SCENARIOS.glob("*.toml")) for case in load(path)]


def text_of(case: Case, verdict: Verdict | None, trace: Trace) -> str:
    lines = [f"scenario {case.id}: {case.policy.text()}", *table(trace)]
    if verdict is not None:
        lines.append(verdict.text())
    return "\n".join(lines) + "\n"


def golden(case: Case) -> str | None:
    """The text of the case's golden trace; None if it has none, as nothing breaks."""
    if case.events:
        return text_of(case, None, case.drive())
    verdict = case.ask()
    return text_of(case, verdict, verdict.trace) if isinstance(verdict, Broken) else None
