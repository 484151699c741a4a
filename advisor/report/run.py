"""A run as a table, from the steps of the JSON report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..sim.verdict import Step, table


def trace_table(trace: Sequence[Mapping[str, Any]]) -> list[str]:
    steps = [Step(step["step"], step["event"], tuple(step["effects"]), step["state"]) for step in trace]
    return table(steps)
