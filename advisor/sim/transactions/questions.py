"""What is asked of the transaction model: is nothing read but what was committed, does the last stable offset
always move on.

Each question explores every run within its bounds; a run that breaks the guarantee comes as a trace of the
same form as the other models', with coordinator, producers and reader under `clients`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..search.explore import explore
from ..search.small_models import Seen, concluded, effect_seen, event_seen, replayed
from ..search.verdict import Bounds, Broken, Step, Trace, Verdict
from .step import (
    ABORT,
    FAULTS,
    Effects,
    Event,
    State,
    TransactionPolicy,
    enabled,
    initial,
    last_stable_offset,
    open_since,
    step,
)

BOUNDS = Bounds(
    replicas=1,
    records=2,
    elections=0,
    note="one producer and one that takes over, a transaction a record, one record of others, "
    "a coordinator that does not fail",
)

Predicate = Callable[[TransactionPolicy, State], str | None]


def aborted_read(policy: TransactionPolicy, state: State) -> str | None:
    """Broken in words: the reader was shown a record of work that was aborted or given up."""
    for work, fate in enumerate(state.fates):
        if fate == ABORT and f"r{work}" in state.read:
            what = (
                "its transaction was aborted"
                if policy.transactional
                else "the work it is part of was given up"
            )
            return f"r{work} was read, but {what}"
    return None


def pinned_for_ever(policy: TransactionPolicy, state: State) -> str | None:
    """Broken in words: a record that counts lies behind a transaction that nobody will end."""
    first = open_since(policy, state.log)
    if first is None or state.phase != "none" or policy.isolation != "read_committed":
        return None
    behind = [entry.what for entry in state.log[first:] if entry.what.startswith("o")]
    if not behind:
        return None
    opener = state.log[first].what
    return f"{behind[0]} is not shown: the LSO stands at {opener}, whose transaction no coordinator knows"


GUARANTEES: dict[str, Predicate] = {
    "only-committed-read": aborted_read,
    "records-visible": pinned_for_ever,
}


def ask(
    guarantee: str,
    policy: TransactionPolicy,
    environment: Mapping[str, int],
    faults: Mapping[str, int],
    bounds: Bounds | None = None,
    expired: Callable[[], bool] | None = None,
) -> Verdict:
    bounds = bounds or BOUNDS
    broken = GUARANTEES[guarantee]
    unknown = sorted((set(environment) | set(faults)) - set(FAULTS))
    if unknown:
        raise ValueError(f"no fault of a transaction is called {', '.join(unknown)}")
    budget = {name: environment.get(name, 0) + faults.get(name, 0) for name in FAULTS}
    start = initial(policy, budget, bounds.records)
    expected = witnesses(policy, budget)
    found = explore(
        start,
        lambda state: successors(policy, state),
        lambda state: broken(policy, state),
        states_max=bounds.states,
        witnesses=expected,
        expired=expired,
    )
    if found.run is not None and found.reason is not None:
        trace = trace_of(policy, start, found.run)
        return Broken(guarantee, trace, spent(found.run), found.states, bounds, found.reason)
    return concluded(found, bounds, expected)


def successors(policy: TransactionPolicy, state: State) -> Iterable[tuple[Event, Effects, State]]:
    for event in enabled(policy, state):
        after, effects = step(policy, state, event)
        yield event, effects, after


def witnesses(policy: TransactionPolicy, budget: Mapping[str, int]) -> dict[str, Seen]:
    """What must be reachable under this policy and these faults before Holds means anything."""
    seen: dict[str, Seen] = {
        "a record of finished work is read": _committed_read,
        "a record of others is read": effect_seen("read o0"),
    }
    for name in FAULTS:
        if budget[name]:
            seen[f"{name} happens"] = event_seen(name)
    if not policy.transactional:
        return seen
    seen["a transaction is aborted"] = effect_seen("decided abort")
    if policy.isolation == "read_committed":
        seen["an aborted record is skipped"] = effect_seen("skipped")
    if budget["producer_crash"] or budget["producer_pause"]:
        seen["a transaction times out"] = event_seen("expire")
        seen["another producer takes over"] = effect_seen("initialised p1")
    if budget["producer_pause"]:
        seen["a zombie is fenced"] = effect_seen("fenced p0")
    if budget["late_request"] and policy.verifies and not policy.epoch_each:
        seen["a late record is refused"] = effect_seen("not-in-transaction")
    return seen


def _committed_read(event: Event, effects: Effects, state: State) -> bool:
    return event.name == "read" and any(
        fate == "commit" and f"read r{work}" in effects for work, fate in enumerate(state.fates)
    )


def spent(run: Iterable[Event]) -> dict[str, int]:
    names = [event.name for event in run]
    return {fault: names.count(fault) for fault in FAULTS if fault in names}


def replay(
    policy: TransactionPolicy, start: State, run: Iterable[Event]
) -> list[tuple[Event, Effects, State]]:
    """The run again, event by event; ValueError if one is not enabled where it stands."""
    return replayed(enabled, step, policy, start, run)


def trace_of(policy: TransactionPolicy, start: State, run: Iterable[Event]) -> Trace:
    """The run as plain data: what a finding carries and `simulate` prints."""
    return tuple(
        Step(number, plain(event), effects, state_of(policy, state))
        for number, (event, effects, state) in enumerate(replay(policy, start, run), start=1)
    )


def plain(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = {"name": event.name, "text": event.text()}
    if event.subject[:1] in ("r", "o"):
        found["record"] = event.subject
    elif event.subject:
        found["producer"] = event.subject
    if event.name in FAULTS:
        found["fault"] = event.name
    return found


def state_of(policy: TransactionPolicy, state: State) -> dict[str, Any]:
    """The state in the words of the report; `cells` are the columns of its table."""
    log = [entry.what for entry in state.log]
    cells = {"log": f"[{' '.join(log)}]", "read": " ".join(state.read) or "-"}
    told: dict[str, Any] = {
        "kind": "transaction",
        "cells": cells,
        "log": log,
        "hw": len(log),
        "reader": {"isolation": policy.isolation, "position": state.position, "read": list(state.read)},
        "producers": _producers(policy, state),
    }
    if policy.transactional:
        lso = last_stable_offset(policy, state)
        phase = _PHASES[state.phase]
        told |= {"lso": lso, "coordinator": {"transaction": phase, "epoch": state.epoch}}
        told["cells"] = {"transaction": phase, "epoch": str(state.epoch), "LSO": str(lso), **cells}
    return told


_PHASES = {"none": "none", "ongoing": "ongoing", "commit": "committing", "abort": "aborting"}


def _producers(policy: TransactionPolicy, state: State) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for number, producer in enumerate(state.producers):
        if producer.phase == "away":
            continue
        zombie = number == 0 and state.suspected and producer.phase != "fenced"
        name = f"p{number}"
        shown[name] = {
            "phase": "zombie" if zombie else producer.phase,
            "on_the_way": [f"r{request.record}" for request in state.wire if request.producer == number],
        }
        if policy.transactional:
            shown[name]["epoch"] = producer.epoch
    return shown
