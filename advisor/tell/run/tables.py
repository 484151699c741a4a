"""Kinds whose steps are sentences already and whose columns are what they say of themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .build import kind_of, made
from .endings import ending_of
from .groups import full_sentence, in_full, member
from .values import Cell, Column, Run, Said

Step = Mapping[str, Any]

# Each kind with what its columns are and its legend. A kind that is not here is drawn all the same.
TOLD: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "log": (
        "log",
        (
            "A segment is named by its first offset; * marks the active one, which takes the appends. Others "
            "wait for retention or for the cleaner. k0@7 is the record of key k0 at offset 7",
        ),
    ),
    "size-chain": ("link", ()),
    "batch": ("link", ()),
    "producer-memory": ("log", ()),
    "reading": ("fact", ()),
    "session": ("broker", ()),
    "told group": ("fact", ()),
}
_MEMBER = re.compile(r"m\d{1,6}")
_BROKER = re.compile(r"\bb(\d{1,6})\b")
# Steps that a kind names by a bare verb.
_SENTENCES: Mapping[str, Mapping[str, str]] = {
    "producer-memory": {
        "write": "the leader stores r0",
        "lost_response": "the answer about r0 is lost",
        "forget": "the leader forgets the producer",
        "retry": "the producer sends r0 again",
        "delete": "retention deletes the segment",
        "renumber": "the producer numbers anew from 0",
    },
    "session": {"heartbeat": "the broker sends a heartbeat", "session_ends": "the session ends"},
}
# The first word of an effect.
_NOTES: Mapping[str, Mapping[str, str]] = {
    "producer-memory": {
        "stored": "{what} is stored",
        "deleted": "{what} is gone",
        "refused": "{what} is refused: {why}",
    },
    "log": {
        "closed": "segment {what} is closed: {why}",
        "kept": "segment {what} is kept: {why}",
        "deleted": "segment {what} is deleted: {why}",
        "tombstone": "the tombstone is gone",
        "away": "the reader is away",
    },
}


def build(trace: Sequence[Step], guarantee: str | None) -> Run:
    kind = kind_of(trace)
    what, legend = TOLD.get(kind, ("fact", ()))
    names = list(dict.fromkeys(name for step in trace for name in step["state"].get("cells", ())))
    columns = [_column(name, what) for name in names]
    rows = [[_cell(step, name) for name in names] for step in trace]
    said = [
        Said(_sentence(step, kind), tuple(_note(effect, kind) for effect in step["effects"]))
        for step in trace
    ]
    return made(kind, trace, columns, rows, said, ending_of(guarantee, trace), legend)


def _column(name: str, what: str) -> Column:
    if _MEMBER.fullmatch(name):
        return Column(name, member(name[1:]), "member")
    return Column(name, name, what, name not in ("generation", "strategy"))


def _cell(step: Step, name: str) -> Cell:
    state = step["state"]
    text = str(state["cells"].get(name, ""))
    if state.get("kind") == "log":
        return Cell(text, data={"segments": state.get("segments", []), "more": state.get("more", 0)})
    links = state.get("links", {})
    return Cell(text, data=dict(links.get(name, {})))


def _full(text: Any) -> str:
    return _BROKER.sub(r"broker \1", in_full(str(text)))


def _sentence(step: Step, kind: str) -> str:
    """As the step words it; a bare verb, `stop m1`, becomes a sentence."""
    event = step["event"]
    known = _SENTENCES.get(kind, {})
    if event["name"] in known:
        return known[event["name"]]
    text = str(event.get("text", event["name"].replace("_", " ")))
    first, _, rest = text.partition(" ")
    return f"the producer sends {rest}" if first == "send" else _full(full_sentence(text))


def _note(effect: Any, kind: str) -> str:
    text = str(effect)
    first, _, rest = text.partition(" ")
    what, _, why = rest.partition(": ")
    known = _NOTES.get(kind, {})
    if first not in known:
        return _full(text)
    return known[first].format(what=what, why=why)
