"""Runs of a producer that retries: requests on the wire, one leader and one follower."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import brokers
from .brokers import broker, name_of
from .build import made, sentences
from .endings import ending_of
from .partitions import grown, replica_of
from .values import Run, Said

Step = Mapping[str, Any]

_EVENTS = {
    "answer": "the producer hears about {record}",
    "lost_request": "the request with {record} is lost",
    "lost_response": "the answer about {record} is lost",
    "retriable_error": "{record} is refused for a moment",
    "producer_crash": "the producer dies",
    "late_request": "the producer gives up the connection that {record} is on",
    "delivery_expired": "the delivery timeout of {record} is over",
    "leader_move": "leadership moves to {leader}",
}
_MEANING = {
    "lost_request": "The connection breaks before the request reaches the broker.",
    "lost_response": "The connection breaks before the answer reaches the producer.",
    "retriable_error": "It is an error that passes, so the producer will try again.",
    "late_request": "The broker has the request in its socket and has not handled it yet.",
    "delivery_expired": "Whether it is stored is not known.",
}
_EFFECTS = {
    "acked": ("{what} is confirmed", "The producer is told that {what} is stored."),
    "failed": ("{what} fails", "The producer is told that {what} failed."),
    "requeued": ("{what} will be sent again", "The producer will send {what} again."),
    "duplicate": ("{what} is there already", "The leader has it already and does not store it again."),
    "out-of-order": ("{what} is out of sequence", "The leader refuses it: its number is not the next one."),
    "fenced": ("a newer producer has taken over", "The leader refuses it: a newer producer has taken over."),
    "not-leader": ("it does not lead any more", "That broker does not lead any more and says so."),
    "committed": ("{what} is on all replicas", "All in-sync replicas have {what} now."),
    "lost": ("{what} was never sent", "{what} was never sent and is lost with it."),
    "stopped": ("the producer gives up", "The producer gives up."),
    "truncated": ("{what} was not copied yet", "{what} was not copied yet and is cut off."),
}
_LEGEND_WIRE = "r0>b0: a request with r0 is on its way to broker 0, or its answer back"
# The sentence of the step says it.
_SAID = ("stored", "retried", "refused", "elected")


def build(trace: Sequence[Step], guarantee: str | None) -> Run:
    ends = any(step["state"]["remote_leo"] for step in trace)
    cells = brokers.broker_cells(trace, ends=False)
    wire = [" ".join(map(_request, [*_late(step), *_in_flight(step)])) for step in trace]
    more = [*brokers.fact("on the wire", wire, True, "client"), *brokers.cluster_facts(trace)]
    columns, rows = brokers.joined(brokers.broker_columns(trace), cells, more)
    said = [_say(step, trace[place - 1] if place else None) for place, step in enumerate(trace)]
    legend = [*brokers.legend(cells, False, ends), _LEGEND_WIRE]
    return made("producer", trace, columns, rows, said, ending_of(guarantee, trace), legend, ["on the wire"])


def _in_flight(step: Step) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = step["state"]["clients"]["producer"]["in_flight"]
    return found


def _late(step: Step) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = step["state"]["clients"]["producer"].get("late", [])
    return found


def _request(request: Mapping[str, Any]) -> str:
    return f"{request['record']}>b{request['broker']}"


def _say(step: Step, before: Step | None) -> Said:
    sentence = _sentence(step, before)
    told = list(_effects(step))
    means = _MEANING.get(step["event"]["name"], "")
    words = " ".join(part for part in (sentences(sentence), means, *(more for _, more in told)) if part)
    return Said(sentence, tuple(note for note, _ in told if note), words)


def _sentence(step: Step, before: Step | None) -> str:
    event, state = step["event"], step["state"]
    names = [effect.partition(" ")[0] for effect in step["effects"]]
    match event["name"]:
        case "send":
            return f"the producer sends {event['record']}" + (" again" if "retried" in names else "")
        case "handle":
            to = _receiver(event["record"], before) or broker(state["leader"])
            return f"{to} stores {event['record']}" if "stored" in names else f"{to} gets {event['record']}"
        case "handle_late":
            to = _late_receiver(event["record"], before) or broker(state["leader"])
            does = "stores" if "stored" in names else "gets"
            return f"{to} {does} {event['record']} from the connection that was given up"
        case "fetch":
            follower = next(one["id"] for one in state["replicas"] if one["id"] != state["leader"])
            new = grown(replica_of(state, follower), before["state"] if before is not None else None)
            return f"{broker(follower)} copies {new}" if new else f"{broker(follower)} fetches again"
    fields = {**event, "leader": broker(state["leader"])}
    return _EVENTS.get(str(event["name"]), str(event["name"]).replace("_", " ")).format_map(fields)


def _receiver(record: str, before: Step | None) -> str:
    for request in _in_flight(before) if before is not None else ():
        if request["record"] == record and request["answer"] is None:
            return broker(request["broker"])
    return ""


def _late_receiver(record: str, before: Step | None) -> str:
    for request in _late(before) if before is not None else ():
        if request["record"] == record:
            return broker(request["broker"])
    return ""


def _effects(step: Step) -> Iterator[tuple[str, str]]:
    for effect in step["effects"]:
        name, _, rest = effect.partition(" ")
        what = name_of(rest.partition(" ")[0])
        if name in _EFFECTS:
            note, words = _EFFECTS[name]
            yield note.format(what=what), words.format(what=what)
        elif name not in _SAID:
            yield effect, sentences(effect)
