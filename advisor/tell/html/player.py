"""The run player in a page: its place, with every step in words for who has no script, reads or prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...tuples import NamedTuple
from ..run.build import run_of
from ..run.values import clock
from .frames import frames
from .markup import Markup, tag

STYLES = ("player.css",)
SCRIPTS = (
    "player.js",
    "stage-brokers.js",
    "stage-lanes.js",
    "stage-curves.js",
    "stage-logs.js",
    "stage-table.js",
)
Trace = Sequence[Mapping[str, Any]]


class Played(NamedTuple):
    """A run as it goes with some settings. tone: error, good or "" (it just is)."""

    label: str
    trace: Trace
    tone: str = "error"
    ending: str | None = None


def player(name: str, guarantee: str | None, versions: Sequence[Played], runs: dict[str, Any]) -> Markup:
    """The element; what the script draws is put into `runs` under this name."""
    runs[name] = [
        {"label": one.label, "tone": one.tone, "run": frames(one.trace, guarantee, one.ending)}
        for one in versions
    ]
    told = [
        [tag("p", one.label, class_="soft") if len(versions) > 1 else None, _steps(one, guarantee)]
        for one in versions
    ]
    transcript = tag("details", tag("summary", "Every step in words"), told, class_="transcript")
    return tag(
        "div", transcript, class_="player", id=f"run-{name}", data_run=name, aria_label="How it happens"
    )


def _steps(one: Played, guarantee: str | None) -> Markup:
    run = run_of(one.trace, guarantee)
    steps = []
    for row in run.rows:
        time = f"{clock(row.t_ms)}: " if row.t_ms is not None else ""
        pairs = zip(run.columns, row.cells, strict=True)
        cells = "   ".join(f"{column.id} {cell.text}" for column, cell in pairs if cell.text)
        steps.append(tag("li", time + row.words, tag("div", cells, class_="drawn")))
    ending = run.ending if one.ending is None else one.ending
    last = tag("p", tag("strong", ending)) if ending else None
    return tag("div", tag("ol", steps), last)
