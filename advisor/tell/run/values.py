"""A run as typed rows: what text, pages and editors draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...tuples import NamedTuple

# What a column stands for, so that a page knows how to draw it.
KINDS = ("broker", "client", "member", "producer", "reader", "coordinator", "log", "link", "fact")


class Column(NamedTuple):
    """`id` is short and unique in the run (b0, m1, ISR), `title` is for a heading (broker 0). A column that
    is not `brief` is left out where room is short: by `audit`, but not by `simulate`."""

    id: str
    title: str
    kind: str
    brief: bool = True


class Cell(NamedTuple):
    """What a column shows after a step. `text` is complete in itself; `data` has the same as values, by the
    kind of the column:

    broker    log, leo, hw, leads, in_sync, eligible, alive, frozen, gone
    client    records (confirmed, failed, on the wire) or a count
    member    owns, positions, in_hand, alive
    link      measured, limit, passes
    """

    text: str
    changed: bool = False
    marks: tuple[str, ...] = ()  # leads, out of sync, down, gone, frozen
    data: Mapping[str, Any] = {}


class Row(NamedTuple):
    """One step. `sentence` says what happens ("broker 0 crashes"), `notes` what follows at once ("r0 is
    confirmed"), `words` both for a reader who has never heard of an ISR. `fault`: something goes wrong
    here that the question allows."""

    number: int
    t_ms: int | None
    sentence: str
    notes: tuple[str, ...]
    words: str
    cells: tuple[Cell, ...]
    fault: bool = False


class Run(NamedTuple):
    """`ending` is what the run comes to ("r0 is lost"); empty where only its steps are told. `legend`
    explains the signs of the cells."""

    kind: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    ending: str = ""
    legend: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As plain data, for a page."""
        return {
            "kind": self.kind,
            "columns": [column._asdict() for column in self.columns],
            "rows": [
                {
                    **row._asdict(),
                    "notes": list(row.notes),
                    "cells": [
                        {**cell._asdict(), "marks": list(cell.marks), "data": dict(cell.data)}
                        for cell in row.cells
                    ],
                }
                for row in self.rows
            ],
            "ending": self.ending,
            "legend": list(self.legend),
        }


class Said(NamedTuple):
    """A step in words, as the module of its kind makes it."""

    sentence: str
    notes: tuple[str, ...] = ()
    words: str = ""


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
