"""A run of transactions in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Step = Mapping[str, Any]

_EVENTS = {
    "begin": "{producer} begins a transaction.",
    "send": "{record} is sent.",
    "write": "The partition's leader takes up the request with {record}.",
    "commit": "{producer} has finished its work and commits.",
    "abort": "{producer} aborts its transaction.",
    "mark": "The coordinator writes the marker into the partition.",
    "expire": "The coordinator finds the transaction older than its timeout.",
    "take_over": "p1 starts in p0's place.",
    "other": "Another producer, without transactions, writes {record}.",
    "producer_crash": "p0's process dies.",
    "producer_pause": "p0 stops for so long that it is taken for dead. It may go on later, as a zombie.",
    "late_request": "p0 gives {record} up, as its delivery timeout is over. The request is still on its way.",
}
_EFFECTS = {
    "stored": "It is stored.",
    "fenced": "{what} is fenced: its epoch is old.",
    "not-in-transaction": "The leader asks the coordinator and refuses it: it is in no transaction.",
    "initialised": "{what} has its epoch and can begin.",
    "waiting": "{what} has to wait until that is done.",
    "started": "Nothing tells p0 that it was replaced.",
    "skipped": "The reader passes over {what}, which was aborted.",
    "read": "The reader processes {what}.",
    "failed": "The application is told that {what} failed.",
    "timed-out": "",
    "done": "",
}
_WITHOUT = {
    "begin": "{producer} begins a piece of work.",
    "commit": "{producer} has finished its work.",
}
LEGEND = (
    "LSO (last stable offset): the first offset of the oldest open transaction, else the end of the log; a",
    "read_committed reader stops there. p0, p1: two instances of one application; r0, r1: their records.",
)


def in_words(trace: Sequence[Step]) -> Iterator[str]:
    width = len(str(len(trace)))
    for step in trace:
        told = " ".join(part for part in _sentences(step) if part)
        yield f"  {step['step']:>{width}}  {told or 'The reader passes a marker.'}"


def _sentences(step: Step) -> Iterator[str]:
    event = step["event"]
    fields = {key: str(value) for key, value in event.items()}
    words = _EVENTS if "lso" in step["state"] else {**_EVENTS, **_WITHOUT}
    if event["name"] in words:
        yield words[event["name"]].format(**fields)
    for effect in step["effects"]:
        name, _, rest = effect.partition(" ")
        if name == "decided":
            fate, _, record = rest.partition(" ")
            yield f"The coordinator decides: {fate} ({record})."
        else:
            yield _EFFECTS.get(name, effect + ".").format(what=rest)
