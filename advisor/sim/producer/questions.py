"""What is asked of the producer model: is a record stored once, is the order of sending kept.

Each question explores every run within its bounds and answers with a verdict; a run that breaks the
guarantee comes as a trace of the same form as the replication model's, with the producer under `clients`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from ..search.explore import explore
from ..search.small_models import Seen, concluded, effect_seen, event_seen, replayed
from ..search.verdict import Bounds, Broken, Holds, Step, Trace, Verdict
from .policy import ProducerPolicy
from .state import FAULTS, NO_BATCH, Effects, Event, State, initial
from .step import enabled, step

BOUNDS = Bounds(replicas=2, records=3, elections=1, note="one record a batch, at most 2 batches in flight")

Predicate = Callable[[State], str | None]


def records_stored_once(
    policy: ProducerPolicy,
    environment: Mapping[str, int],
    faults: Mapping[str, int],
    bounds: Bounds | None = None,
    expired: Callable[[], bool] | None = None,
) -> Verdict:
    """Does a retry store a record twice?"""
    return _ask("records-stored-once", stored_twice, policy, environment, faults, bounds, expired)


def send_order_kept(
    policy: ProducerPolicy,
    environment: Mapping[str, int],
    faults: Mapping[str, int],
    bounds: Bounds | None = None,
    expired: Callable[[], bool] | None = None,
) -> Verdict:
    """Are two records of the partition stored against the order in which they were sent?"""
    return _ask("send-order-kept", reordered, policy, environment, faults, bounds, expired)


GUARANTEES: dict[str, Callable[..., Verdict]] = {
    "records-stored-once": records_stored_once,
    "send-order-kept": send_order_kept,
}


def stored_twice(state: State) -> str | None:
    """Broken in words: the leader's log holds a record at two offsets."""
    seen: dict[int, int] = {}
    for offset, (batch, _) in enumerate(state.log):
        if batch in seen:
            return f"r{batch} stored at offset {seen[batch]} and again at offset {offset}"
        seen[batch] = offset
    return None


def reordered(state: State) -> str | None:
    """Broken in words: by first copies, a record stands behind one that was sent after it."""
    firsts = list(dict.fromkeys(batch for batch, _ in state.log))
    for before, after in pairwise(firsts):
        if before > after:
            return f"r{after} was sent before r{before} and is stored after it"
    return None


def _ask(
    guarantee: str,
    broken: Predicate,
    policy: ProducerPolicy,
    environment: Mapping[str, int],
    faults: Mapping[str, int],
    bounds: Bounds | None,
    expired: Callable[[], bool] | None,
) -> Verdict:
    bounds = bounds or BOUNDS
    policy = policy.searched
    budget = {name: environment.get(name, 0) + faults.get(name, 0) for name in FAULTS}
    budget["leader_move"] = min(budget["leader_move"], bounds.elections)
    mark = (policy, tuple(budget.items()), bounds)
    if mark in _clean:
        return _clean[mark]
    start = initial(policy, budget, bounds.records)
    expected = witnesses(policy, budget)
    # Whether any state on the way breaks the other guarantee is noted beside.
    others: list[State] = []

    def predicate(state: State) -> str | None:
        reason = broken(state)
        if reason is None and not others and (stored_twice(state) or reordered(state)):
            others.append(state)
        return reason

    found = explore(
        start,
        lambda state: successors(policy, state),
        predicate,
        states_max=bounds.states,
        witnesses=expected,
        expired=expired,
    )
    if found.run is not None and found.reason is not None:
        trace = trace_of(policy, start, found.run)
        return Broken(guarantee, trace, _spent(found.run), found.states, bounds, found.reason)
    verdict = concluded(found, bounds, expected)
    if isinstance(verdict, Holds) and not others:
        _clean[mark] = verdict
    return verdict


# Policies under which no reachable state breaks either guarantee: the two questions explore the same states,
# so the second needs no exploration of its own.
_clean: dict[object, Holds] = {}


def successors(policy: ProducerPolicy, state: State) -> Iterable[tuple[Event, Effects, State]]:
    for event in enabled(policy, state):
        after, effects = step(policy, state, event)
        yield event, effects, after


def witnesses(policy: ProducerPolicy, budget: Mapping[str, int]) -> dict[str, Seen]:
    """What must be reachable under this policy and these faults before Holds means anything."""
    seen: dict[str, Seen] = {"a record is acknowledged": effect_seen("acked")}
    failing = any(budget[name] for name in FAULTS if name not in ("producer_crash", "delivery_expired"))
    for name in FAULTS:
        if budget[name] and _can_happen(name, policy, failing):
            seen[f"{name} happens"] = event_seen(name)
    if budget["late_request"]:
        seen["a request is handled that the producer gave up"] = event_seen("handle_late")
    if failing and policy.acks != "0":
        if policy.retries == 0 and (policy.client_family == "java" or not budget["leader_move"]):
            seen["a send fails"] = effect_seen("failed")
        else:
            seen["a retry is sent"] = effect_seen("retried")
    if policy.idempotence and budget["lost_response"]:
        seen["a repeated batch is recognised"] = effect_seen("duplicate")
    lost = budget["delivery_expired"] and (budget["lost_request"] or budget["late_request"])
    gap = lost and policy.client_family == "java"
    if policy.idempotence and policy.in_flight > 1 and (budget["retriable_error"] or gap):
        seen["a batch out of sequence is refused"] = effect_seen("out-of-order")
    if policy.named and policy.idempotence and budget["producer_crash"]:
        seen["a stale producer is fenced"] = effect_seen("fenced")
    return seen


def _can_happen(fault: str, policy: ProducerPolicy, failing: bool) -> bool:
    if fault == "lost_response":
        return policy.acks != "0"  # nobody waits for an answer, so none can be lost
    if fault == "delivery_expired":
        # With acks=0 a batch is done when it is sent. librdkafka expires what waits to be sent again.
        retries = failing and policy.retries != 0
        return policy.acks != "0" and (policy.client_family == "java" or retries)
    return True


def replay(policy: ProducerPolicy, start: State, run: Iterable[Event]) -> list[tuple[Event, Effects, State]]:
    """The run again, event by event; ValueError if one is not enabled where it stands."""
    return replayed(enabled, step, policy, start, run)


def _spent(run: Iterable[Event]) -> dict[str, int]:
    names = [event.name for event in run]
    return {fault: names.count(fault) for fault in FAULTS if fault in names}


def trace_of(policy: ProducerPolicy, start: State, run: Iterable[Event]) -> Trace:
    """The run as plain data: what a finding carries and `simulate` prints."""
    return tuple(
        Step(number, _plain(event), effects, state_of(policy, state))
        for number, (event, effects, state) in enumerate(replay(policy, start, run), start=1)
    )


def _plain(event: Event) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": event.name, "text": event.text()}
    if event.batch != NO_BATCH:
        plain["record"] = f"r{event.batch}"
    if event.name in FAULTS:
        plain["fault"] = event.name
    return plain


def state_of(policy: ProducerPolicy, state: State) -> dict[str, Any]:
    """The state in the words of the report: both replicas are in the ISR all along."""
    log = [f"r{batch}" for batch, _ in state.log]
    follower = 1 - state.leader
    logs = {state.leader: log, follower: log[: state.copied]}
    return {
        "leader": state.leader,
        "epoch": state.leader,
        "isr": [0, 1],
        "elr": [],
        "hw": state.hw,
        "replicas": [
            {"id": broker, "alive": True, "leo": len(logs[broker]), "hw": state.hw, "log": logs[broker]}
            for broker in (0, 1)
        ],
        # What the follower's last fetch told: only acks=all waits for it.
        "remote_leo": {str(follower): state.hw} if policy.acks == "all" else {},
        "clients": {
            "acked": _with(state, "acked"),
            "unacked": _with(state, ""),
            "failed": _with(state, "failed"),
            "producer": _producer_of(policy, state),
        },
    }


def _with(state: State, outcome: str) -> list[str]:
    return [f"r{batch}" for batch, reached in enumerate(state.outcomes) if reached == outcome]


def _producer_of(policy: ProducerPolicy, state: State) -> dict[str, Any]:
    producer: dict[str, Any] = {
        "alive": state.alive,
        "queue": [f"r{batch}" for batch in state.queue],
        "in_flight": [
            {"record": f"r{request.batch}", "broker": request.broker, "answer": request.answer or None}
            for request in state.wire
        ],
    }
    if state.late:
        producer["late"] = [
            {"record": f"r{request.batch}", "broker": request.broker}
            for line in state.late
            for request in line
        ]
    if policy.idempotence:
        producer["epoch"] = state.epoch
        producer["sequences"] = {
            f"r{batch}": [number.epoch, number.first]
            for batch, number in enumerate(state.numbers)
            if number is not None
        }
    return producer
