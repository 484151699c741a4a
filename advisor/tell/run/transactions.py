"""Runs of transactions: two instances of one application, a partition's log, a reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .build import made, sentences
from .endings import ending_of
from .values import Cell, Column, Run, Said

Step = Mapping[str, Any]

_EVENTS = {
    "begin": "{producer} begins a transaction",
    "send": "{record} is sent",
    "write": "the leader gets {record}",
    "commit": "{producer} commits",
    "abort": "{producer} aborts",
    "mark": "the coordinator writes the marker",
    "expire": "the transaction times out",
    "take_over": "p1 starts in p0's place",
    "other": "another producer writes {record}",
    "producer_crash": "p0 dies",
    "producer_pause": "p0 stalls and is taken for dead",
    "late_request": "p0 gives {record} up",
}
_MEANING = {
    "commit": "It has finished its work.",
    "expire": "The coordinator finds it older than its timeout.",
    "other": "It uses no transactions.",
    "producer_pause": "It may go on later, as a zombie.",
    "late_request": "Its delivery timeout is over. The request is still on its way.",
}
_WITHOUT = {
    "begin": "{producer} begins a piece of work",
    "commit": "{producer} has finished its work",
}
_EFFECTS = {
    "fenced": "{what} is fenced: its epoch is old",
    "not-in-transaction": "{what} is refused: it is in no transaction",
    "initialised": "{what} has its epoch and can begin",
    "waiting": "{what} has to wait until that is done",
    "started": "nothing tells p0 that it was replaced",
    "skipped": "the reader passes over {what}, which was aborted",
    "failed": "the application is told that {what} failed",
}
_KINDS = {"log": "log", "read": "reader", "transaction": "coordinator", "epoch": "coordinator", "LSO": "log"}
LEGEND = (
    "p0, p1: two instances of one application; r0, r1: their records; o0: a record of others",
    "LSO (last stable offset): the first offset of the oldest open transaction, else the end of the log; a "
    "read_committed reader stops there",
)


def build(trace: Sequence[Step], guarantee: str | None) -> Run:
    names = list(dict.fromkeys(name for step in trace for name in step["state"]["cells"]))
    columns = [Column(name, name, _KINDS.get(name, "fact"), name != "epoch") for name in names]
    rows = [[_cell(step, name) for name in names] for step in trace]
    said = [_say(step) for step in trace]
    return made("transaction", trace, columns, rows, said, ending_of(guarantee, trace), LEGEND)


def _cell(step: Step, name: str) -> Cell:
    state = step["state"]
    text = state["cells"].get(name, "")
    data: dict[str, Any] = {}
    if name == "log":
        data = {"log": list(state.get("log", ())), "hw": state.get("hw"), "lso": state.get("lso")}
    elif name == "read":
        data = dict(state.get("reader", {}))
    elif name == "transaction":
        data = dict(state.get("coordinator", {})) | {"producers": state.get("producers", {})}
    return Cell(text, data=data)


def _say(step: Step) -> Said:
    event = step["event"]
    words = _EVENTS if "lso" in step["state"] else {**_EVENTS, **_WITHOUT}
    notes = tuple(note for effect in step["effects"] for note in _effect(effect))
    if event["name"] == "read":
        read = [effect.removeprefix("read ") for effect in step["effects"] if effect.startswith("read ")]
        if read:
            return Said(f"the reader processes {', '.join(read)}", notes)
        return Said(notes[0], notes[1:]) if notes else Said("the reader passes a marker")
    sentence = words.get(event["name"], event["name"].replace("_", " ")).format_map(event)
    if event["name"] == "write" and any(effect.startswith("stored") for effect in step["effects"]):
        sentence = f"the leader stores {event['record']}"
    means = _MEANING.get(event["name"], "") if words is _EVENTS or event["name"] not in _WITHOUT else ""
    full = " ".join(part for part in (sentences(sentence), means, sentences(notes)) if part)
    return Said(sentence, notes, full)


def _effect(effect: str) -> Iterator[str]:
    name, _, rest = effect.partition(" ")
    if name == "decided":
        fate, _, record = rest.partition(" ")
        yield f"{record} is to be {'committed' if fate == 'commit' else 'aborted'}"
    elif name in _EFFECTS:
        yield _EFFECTS[name].format(what=rest)
    elif name not in ("stored", "read", "timed-out", "done"):
        yield effect
