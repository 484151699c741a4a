"""Brokers as columns: their logs, who leads, who is in sync. Shared by all runs of a partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .values import Cell, Column

Step = Mapping[str, Any]
DOWN = "✗"
LEADS, OUT, ELIGIBLE = "leads", "out of sync", "eligible"
# For good, with their logs.
_ENDS = ("lose", "lose_rack")

_LEGEND = (
    (LEADS, "b0*: broker 0 leads"),
    (OUT, "b1~: broker 1 is not in sync, nobody waits for it"),
    ("down", f"{DOWN}: down"),
)
LEGEND_LOG = "[r0]: its copy of the log"
LEGEND_ENDS = (
    "1/0: the log ends at offset 1 (LEO), and up to offset 0 it is known to be on all in-sync replicas (HW, "
    "the high watermark)"
)
LEGEND_KNOWS = "leader knows: the LEO of each follower as its last fetch told; its own log may be further"
LEGEND_EPOCH = "r2@1: record r2, written under leader epoch 1"


def broker(number: int | str) -> str:
    return f"broker {number}"


def name_of(text: str) -> str:
    """b1 -> broker 1; anything else as it is."""
    return broker(text[1:]) if text[:1] == "b" and text[1:].isalnum() else text


def broker_columns(trace: Sequence[Step]) -> list[Column]:
    return [
        Column(f"b{one['id']}", broker(one["id"]), "broker")
        for one in (trace[0]["state"]["replicas"] if trace else ())
    ]


def broker_cells(trace: Sequence[Step], ends: bool, logs: bool = True) -> list[list[Cell]]:
    """A row of cells for each step. `ends`: with LEO and HW; without `logs`, with those alone."""
    gone: set[int] = set()
    rows = []
    for place, step in enumerate(trace):
        if step["event"]["name"] in _ENDS:
            before = trace[place - 1]["state"] if place else None
            gone |= _fallen(step["state"], before)
        rows.append([_cell(step["state"], one, ends, logs, gone) for one in step["state"]["replicas"]])
    return rows


def _fallen(state: Mapping[str, Any], before: Mapping[str, Any] | None) -> set[int]:
    """Those that this step took down."""
    up = {one["id"] for one in before["replicas"] if one["alive"]} if before is not None else None
    return {one["id"] for one in state["replicas"] if not one["alive"] and (up is None or one["id"] in up)}


def _cell(state: Mapping[str, Any], one: Mapping[str, Any], ends: bool, logs: bool, gone: set[int]) -> Cell:
    number = one["id"]
    lost = number in gone and not one["alive"]
    marks = []
    if state["leader"] == number:
        marks.append(LEADS)
    if number not in state["isr"]:
        marks.append(ELIGIBLE if number in state["elr"] else OUT)
    if not one["alive"]:
        marks.append("gone" if lost else "down")
    if one.get("frozen"):
        marks.append("frozen")
    data = {
        "log": list(one["log"]),
        "leo": one["leo"],
        "hw": one["hw"],
        "leads": state["leader"] == number,
        "in_sync": number in state["isr"],
        "eligible": number in state["elr"],
        "alive": one["alive"],
        "frozen": bool(one.get("frozen")),
        "gone": lost,
    }
    return Cell(_text(one, ends, logs, lost), False, tuple(marks), data)


def _text(one: Mapping[str, Any], ends: bool, logs: bool, lost: bool) -> str:
    if lost:
        return DOWN
    parts = [f"[{' '.join(one['log']) or ' '}]"] if logs else []
    if ends:
        parts.append(f"{one['leo']}/{one['hw']}")
    text = " ".join(parts)
    if not one["alive"]:
        return f"{DOWN} {text}"
    return f"{text} frozen" if one.get("frozen") else text


def fact(
    name: str, texts: Sequence[str], brief: bool = False, kind: str = "fact"
) -> list[tuple[Column, list[Cell]]]:
    """A column of words; none if it never says anything."""
    if not any(texts):
        return []
    return [(Column(name, name, kind, brief), [Cell(text) for text in texts])]


def names(brokers: Sequence[int]) -> str:
    return ",".join(f"b{one}" for one in brokers) or "none"


def cluster_facts(trace: Sequence[Step], knows: bool = True) -> list[tuple[Column, list[Cell]]]:
    """What no broker says alone: leader epoch, ELR, what the leader knows of its followers. The ISR is marked
    on the brokers."""
    states = [step["state"] for step in trace]
    epochs = [str(state["epoch"]) for state in states]
    return [
        *fact("epoch", epochs if len(set(epochs)) > 1 or epochs[:1] != ["0"] else []),
        *fact("ELR", [names(state["elr"]) if state["elr"] else "" for state in states]),
        *fact("leader knows", [_heard(state) for state in states] if knows else []),
    ]


def _heard(state: Mapping[str, Any]) -> str:
    return " ".join(f"b{one}={'?' if leo is None else leo}" for one, leo in state["remote_leo"].items())


def joined(
    columns: Sequence[Column], cells: Sequence[Sequence[Cell]], more: Sequence[tuple[Column, Sequence[Cell]]]
) -> tuple[list[Column], list[list[Cell]]]:
    """The columns with more of them behind."""
    rows = [[*row, *(column[place] for _, column in more)] for place, row in enumerate(cells)]
    return [*columns, *(column for column, _ in more)], rows


def legend(rows: Sequence[Sequence[Cell]], ends: bool, knows: bool, logs: bool = True) -> list[str]:
    """Only of signs that occur."""
    cells = [cell for row in rows for cell in row]
    marks = {"down" if mark == "gone" else mark for cell in cells for mark in cell.marks}
    lines = [text for mark, text in _LEGEND if mark in marks]
    lines += [LEGEND_LOG] if logs else []
    lines += [LEGEND_ENDS] if ends else []
    lines += [LEGEND_KNOWS] if knows else []
    if logs and any("@" in record for cell in cells for record in cell.data.get("log", ())):
        lines.append(LEGEND_EPOCH)
    return lines


def subject(step: Step) -> list[str]:
    """The brokers that a step is about, as columns."""
    number = step["event"].get("broker")
    if number is None and step["event"]["name"] == "produce":
        number = step["state"]["leader"]
    if number is None:
        return [f"b{one['id']}" for one in step["state"]["replicas"] if not one["alive"]]
    return [f"b{number}"]
