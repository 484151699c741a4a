"""A run as a table, from the steps of the JSON report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..sim.search.verdict import Step, table


def trace_table(trace: Sequence[Mapping[str, Any]]) -> list[str]:
    if any("cells" in step["state"] for step in trace):
        return _told_table(trace)
    steps = [Step(step["step"], step["event"], tuple(step["effects"]), step["state"]) for step in trace]
    return table(steps)


def _told_table(trace: Sequence[Mapping[str, Any]]) -> list[str]:
    """Of a log, a group, a transaction: the columns are what the steps say of themselves."""
    columns = list(dict.fromkeys(name for step in trace for name in step["state"]["cells"]))
    timed = any("t_ms" in step for step in trace)
    header = ["", *(["time"] if timed else []), "event", *columns, ""]
    rows = [header]
    for step in trace:
        told = step["state"]["cells"]
        rows.append(
            [
                str(step["step"]),
                *([clock(step["t_ms"]) if "t_ms" in step else ""] if timed else []),
                event_text(step["event"]),
                *(told.get(column, "") for column in columns),
                ", ".join(effect if isinstance(effect, str) else str(effect) for effect in step["effects"]),
            ]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    return [
        ("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]


def event_text(event: Mapping[str, Any]) -> str:
    """As the simulator words it, else its name and what it names."""
    if "text" in event:
        return str(event["text"])
    return " ".join([event["name"], *(str(value) for name, value in event.items() if name != "name")])


def clock(millis: float) -> str:
    """Virtual time as a person reads it: 0.250 s, 3 min 05 s, 2 h 10 min, 8 d 4 h."""
    seconds = millis / 1000
    if seconds < 60:
        return f"{seconds:.3f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
    if seconds < 86400:
        return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60):02d} min"
    return f"{int(seconds // 86400)} d {int(seconds % 86400 // 3600)} h"
