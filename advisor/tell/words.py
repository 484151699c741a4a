"""The steps of a run in plain words, for a reader who has never heard of an ISR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_EVENTS = {
    "lead": "{b} learns that it leads now.",
    "fence": "The controller notices that {b} is gone.",
    "return": "{b} starts again, with the log it has on disk.",
    "heal": "{b} reaches the others again.",
    "confirm": "The controller confirms the new list of in-sync replicas.",
    "lag": "{b} has not kept up for so long that nobody waits for it any more.",
    "shrink": "{b} falls behind and no longer counts as in sync: nobody waits for it now.",
    "crash": "{b} crashes. Its log stays on its disk.",
    "lose": "{b} is lost for good, and its disk with it.",
    "wipe": "{b} loses its disk: it will come back empty.",
    "stop": "{b} is shut down properly.",
    "restart": "{b} is restarted, as its turn has come.",
    "cut_off": "{b} is cut off from the other brokers and the controller.",
    "lose_rack": "Every broker of rack {rack} is lost for good.",
    "fail_over": "Another controller takes over.",
    "answer": "The answer about {record} reaches the producer.",
    "lost_request": "The connection breaks before {record} reaches the broker.",
    "lost_response": "The connection breaks before the answer about {record} reaches the producer.",
    "retriable_error": "The broker refuses {record} for a moment: an error that passes.",
    "producer_crash": "The producer's process dies.",
}
_EFFECTS = {
    "acked": "The producer is told that {what} is stored.",
    "dropped": "But {what} reached no broker.",
    "rejected": "The write of {what} is refused: {how}.",
    "failed": "The producer is told that {what} failed.",
    "joined": "{what} counts as in sync again.",
    "truncated": "{what} cuts its log {how}: what it had beyond is gone.",
    "retried": "It is a second attempt.",
    "stored": "The leader appends it.",
    "duplicate": "The leader has it already and does not store it again.",
    "out-of-order": "The leader refuses it: its number is not the next one.",
    "fenced": "The leader refuses it: a newer producer has taken over.",
    "not-leader": "That broker does not lead any more and says so.",
    "committed": "All in-sync replicas have {what} now.",
    "requeued": "The producer will send {what} again.",
    "lost": "{what} was never sent and is lost with it.",
    "stopped": "The producer gives up.",
}
_HOW = {
    "clean": "a replica that counts as in sync.",
    "unclean": "a replica that is not in sync: no other is there, and the settings allow it.",
    "from ELR": "an eligible leader replica: it is taken to have every record that counts.",
    "last known leader": "the last known leader, as no other replica is eligible.",
    "moved": "an in-sync replica, by a planned move.",
}


def in_words(trace: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """One line a step."""
    width = len(str(len(trace)))
    before: Mapping[str, Any] | None = None
    for step in trace:
        yield f"  {step['step']:>{width}}  " + " ".join(_sentences(step, before))
        before = step["state"]


def _sentences(step: Mapping[str, Any], before: Mapping[str, Any] | None) -> Iterator[str]:
    event, state = step["event"], step["state"]
    name = event["name"]
    fields = {key: str(value) for key, value in event.items()}
    broker = event.get("broker")
    if broker is not None:
        fields["b"] = f"b{broker}"
    refused = any(effect.startswith("rejected") for effect in step["effects"])
    match name:
        case "produce":
            to = fields.get("b") or (None if state["leader"] is None else f"b{state['leader']}")
            if to is None:
                yield f"The producer finds no leader to send {event['record']} to."
            else:
                done = "." if refused or "dropped" in " ".join(step["effects"]) else ", which appends it."
                yield f"The producer sends {event['record']} to {to}{done}"
        case "send":
            yield f"The producer sends {event['record']}."
        case "handle":
            yield f"The broker takes up the request with {event['record']}."
        case "fetch":
            yield _fetch(broker, state, before)
        case "write":
            own = state["replicas"][broker]
            yield f"b{broker} has its answer: LEO {own['leo']}, high watermark {own['hw']}."
        case "follow":
            leader = state["leader"]
            of = f" of b{leader}" if leader is not None and state["epoch"] == event.get("epoch") else ""
            yield f"b{broker} becomes a follower{of}."
        case "lose_power":
            cut = any(effect.startswith("cut ") for effect in step["effects"])
            had = f"what lies at offset {event['keep']} and beyond had not reached its disk"
            yield f"b{broker} loses power: {had if cut else 'its whole log had reached its disk'}."
        case "elect" | "move" | "leader_move":
            pass  # the effects tell it
        case _:
            yield _EVENTS[name].format(**fields) if name in _EVENTS else f"{event.get('text', name)}."
    for effect in step["effects"]:
        yield from _effect(effect)


def _fetch(broker: int | None, state: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    if broker is None:
        return "The follower fetches."
    own = state["replicas"][broker]
    old = before["replicas"][broker] if before is not None else None
    copied = old is not None and own["log"] != old["log"]
    heard = state["remote_leo"].get(str(broker))
    leader = state["leader"]
    if copied and leader is not None and own["leo"] > (old or own)["leo"]:
        return f"b{broker} fetches from b{leader} and copies what it lacks."
    if heard is not None and leader is not None and not copied:
        return (
            f"b{broker} asks b{leader} for what comes at offset {heard}: so b{leader} learns how far it is."
        )
    return f"b{broker} fetches."


def _effect(text: str) -> Iterator[str]:
    name, _, rest = text.partition(" ")
    what, _, how = rest.partition(" ")
    if name == "elected":
        yield f"The controller makes {what} the leader: {_HOW.get(how, how + '.')}"
    elif name == "truncated" and what.startswith("r"):
        yield f"{what} was not copied yet and is cut off."
    elif name in ("cut", "refused"):
        return  # the event has told it
    elif name in _EFFECTS:
        yield _EFFECTS[name].format(what=what, how=how)
    else:
        yield f"{text}."
