"""Runs of one partition, found by the search: replication, ISR, elections, truncation, faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import brokers
from .brokers import broker, name_of
from .build import made, sentences
from .endings import ending_of
from .values import Run, Said

Step = Mapping[str, Any]

_EVENTS = {
    "lead": "{b} learns that it leads",
    "return": "{b} starts again",
    "heal": "{b} is reachable again",
    "confirm": "the controller confirms the new ISR",
    "lag": "{b} has lagged for too long",
    "shrink": "{b} falls behind",
    "crash": "{b} crashes",
    "lose": "{b} is lost for good",
    "wipe": "{b} loses its disk",
    "stop": "{b} is shut down",
    "restart": "{b} is restarted",
    "cut_off": "{b} is cut off",
    "lose_rack": "rack {rack} is lost for good",
    "fail_over": "another controller takes over",
    "elect": "{b} takes over",
    "move": "leadership moves to {b}",
    "lose_power": "{b} loses power",
}
# What a reader new to Kafka wants to know besides.
_MEANING = {
    "lead": "It takes writes from now on.",
    "return": "It has the log that is on its disk.",
    "lag": "Nobody waits for it any more.",
    "shrink": "It no longer counts as in sync: nobody waits for it now.",
    "crash": "Its log stays on its disk.",
    "lose": "Its disk is lost with it.",
    "wipe": "It will come back empty.",
    "restart": "Its turn in the rolling restart has come.",
    "cut_off": "It reaches neither the other brokers nor the controller.",
}
_HOW = {
    "clean": "It counts as in sync.",
    "unclean": "It is not in sync, but no other is there, and the settings allow it.",
    "from ELR": "It is an eligible leader replica: it is taken to have every record that counts.",
    "last known leader": "It is the last known leader, and no other replica is eligible.",
    "moved": "It is in sync, and the move is planned.",
}
_UNCLEAN = {"unclean": "it is not in sync", "last known leader": "no other is eligible"}
_REFUSED = {"no leader": "no broker leads", "not enough replicas": "too few replicas are in sync"}


def build(trace: Sequence[Step], guarantee: str | None) -> Run:
    # A model that keeps the leader's view of its followers keeps their high watermarks, too.
    ends = any(step["state"]["remote_leo"] for step in trace)
    cells = brokers.broker_cells(trace, ends)
    legend = brokers.legend(cells, ends, ends)
    columns, rows = brokers.joined(brokers.broker_columns(trace), cells, brokers.cluster_facts(trace))
    said = [say(step, trace[place - 1] if place else None) for place, step in enumerate(trace)]
    ending = ending_of(guarantee, trace)
    first = brokers.subject(trace[0]) if trace else []
    return made("partition", trace, columns, rows, said, ending, legend, first)


def say(step: Step, before: Step | None) -> Said:
    sentence = _sentence(step, before)
    told = [pair for effect in step["effects"] for pair in _effect(effect)]
    notes = tuple(note for note, _ in told if note)
    means = _means(step, before["state"] if before is not None else None)
    words = " ".join(part for part in (sentences(sentence), means, *(more for _, more in told)) if part)
    return Said(sentence, notes, words)


def _means(step: Step, before: Mapping[str, Any] | None) -> str:
    """What the step is for, or what it leaves behind."""
    event, state = step["event"], step["state"]
    number, leader = event.get("broker"), state["leader"]
    match event["name"]:
        case "produce" if leader is not None and event["record"] in replica_of(state, leader)["log"]:
            return sentences(f"{broker(leader)} leads and appends it")
        case "fence" if number not in state["isr"]:
            return sentences(f"{broker(number)} is taken off the list of in-sync replicas, the ISR")
        case "fetch" if (heard := state["remote_leo"].get(str(number))) is not None and leader is not None:
            if not grown(replica_of(state, number), before):
                return f"So {broker(leader)} learns that its log ends at {heard}."
        case "write":
            own = replica_of(state, number)
            return f"It has LEO {own['leo']} now, and knows of high watermark {own['hw']}."
    return _MEANING.get(event["name"], "")


def _sentence(step: Step, before: Step | None) -> str:
    event, state = step["event"], step["state"]
    number = event.get("broker")
    match event["name"]:
        case "produce":
            to = f" to {broker(number)}" if number is not None else ""
            return f"the producer sends {event['record']}{to}"
        case "fence":
            same = before is not None and before["event"].get("broker") == number
            return "the cluster notices" if same else f"the cluster misses {broker(number)}"
        case "fetch":
            return _fetch(number, state, before["state"] if before is not None else None)
        case "write":
            return _write(number, state, before["state"] if before is not None else None)
        case "follow":
            leader = state["leader"]
            known = leader is not None and state["epoch"] == event.get("epoch")
            return f"{broker(number)} follows {broker(leader)}" if known else f"{broker(number)} follows"
    fields = {**event, "b": broker(number) if number is not None else ""}
    return _EVENTS.get(str(event["name"]), str(event["name"]).replace("_", " ")).format_map(fields)


def _fetch(number: int, state: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    own = replica_of(state, number)
    new = grown(own, before)
    heard = state["remote_leo"].get(str(number))
    if new:
        return f"{broker(number)} copies {new}"
    if heard is not None and state["leader"] is not None:
        return f"{broker(number)} asks for offset {heard}"
    return f"{broker(number)} fetches"


def _write(number: int, state: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    own = replica_of(state, number)
    new = grown(own, before)
    return f"{broker(number)} writes {new}" if new else f"{broker(number)} hears of HW {own['hw']}"


def replica_of(state: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(one for one in state["replicas"] if one["id"] == number)
    return found


def grown(own: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    """The records that it has now and had not before."""
    old = replica_of(before, own["id"])["log"] if before is not None else []
    return " ".join(record for record in own["log"][len(old) :]) if own["log"][: len(old)] == old else ""


def _effect(text: str) -> Iterator[tuple[str, str]]:
    """A note for the table, and a sentence for `words`."""
    name, _, rest = text.partition(" ")
    what, _, how = rest.partition(" ")
    who = name_of(what)
    match name:
        case "acked":
            yield f"{what} is confirmed", f"The producer is told that {what} is stored."
        case "dropped":
            yield f"{what} reached no broker", f"But {what} reached no broker."
        case "rejected":
            why = _REFUSED.get(how, how)
            yield f"{what} is refused: {why}", f"The write of {what} is refused: {why}."
        case "failed":
            yield f"{what} fails", f"The producer is told that {what} failed: too few replicas are in sync."
        case "joined":
            yield f"{who} is in sync again", sentences(f"{who} counts as in sync again")
        case "truncated":
            yield f"{who} cuts its log {_at(how)}", sentences(f"{who} cuts its log {_at(how)}")
        case "cut":
            offset = how.removeprefix("to ")
            yield (
                f"its log is cut at offset {offset}",
                f"What lies at offset {offset} and beyond had not reached its disk.",
            )
        case "elected":
            yield _UNCLEAN.get(how, ""), _HOW.get(how, "")
        case "proposed" | "confirmed":
            isr = ", ".join(name_of(one) for one in how.split(",") if one)
            verb = "proposes" if name == "proposed" else "is"
            yield f"ISR {verb}: {isr}", f"The in-sync replicas are to be {isr}." if name == "proposed" else ""
        case _:
            yield text, sentences(text)


def _at(how: str) -> str:
    return f"at offset {how.removeprefix('to ')}"
