"""A trace becomes a Run: by the kind of its states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from .values import Cell, Column, Row, Run, Said

Step = Mapping[str, Any]
_MODULES = {
    "partition": "partitions",
    "producer": "producers",
    "schedule": "schedules",
    "timeline": "schedules",
    "transaction": "transactions",
    "group": "groups",
}


def run_of(trace: Sequence[Step], guarantee: str | None = None) -> Run:
    """The run that a trace of the JSON report tells; `guarantee` is what it breaks."""
    kind = kind_of(trace)
    module = import_module(f"{__package__}.{_MODULES.get(kind, 'tables')}")
    run: Run = module.build(trace, guarantee)
    return run


def kind_of(trace: Sequence[Step]) -> str:
    """As the states say; those of a partition do not, for they came first."""
    if not trace:
        return "empty"
    state = trace[0]["state"]
    if "kind" in state:
        kind: str = state["kind"]
        # Only the search keeps the members themselves; others tell them in cells.
        return "told group" if kind == "group" and "members" not in state and "owned" not in state else kind
    if "t_ms" in trace[0]:
        return "schedule"
    return "producer" if "in_flight" in state.get("clients", {}).get("producer", {}) else "partition"


def made(
    kind: str,
    trace: Sequence[Step],
    columns: Sequence[Column],
    cells: Sequence[Sequence[Cell]],
    said: Sequence[Said],
    ending: str = "",
    legend: Sequence[str] = (),
    first: Sequence[str] = (),
) -> Run:
    """Rows of parallel steps, cells and words; what changed is marked, in the first row for the columns
    `first`, since no row stands before it."""
    rows = []
    for place, (step, row, words) in enumerate(zip(trace, cells, said, strict=True)):
        if place:
            shown = tuple(
                cell._replace(changed=(cell.text, cell.marks) != (old.text, old.marks))
                for cell, old in zip(row, cells[place - 1], strict=True)
            )
        else:
            shown = tuple(
                cell._replace(changed=column.id in first) for column, cell in zip(columns, row, strict=True)
            )
        rows.append(
            Row(
                step["step"],
                step.get("t_ms"),
                words.sentence,
                words.notes,
                words.words or sentences(words.sentence, words.notes),
                shown,
                "fault" in step["event"],
            )
        )
    return Run(kind, tuple(columns), tuple(rows), ending, tuple(legend))


def sentences(*parts: str | Sequence[str]) -> str:
    """Each part as a sentence of its own: a capital letter, a full stop."""
    flat = [one for part in parts for one in ((part,) if isinstance(part, str) else part) if one]
    return " ".join(f"{one[0].upper()}{one[1:].rstrip('.')}." for one in flat)
