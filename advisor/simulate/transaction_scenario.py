"""Scenarios about transactions: searched, given event by event, or played on a clock (`[time]`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..ask.answers.transactions.reads import readers, seen
from ..ask.answers.transactions.times import TIMEOUT, check_of
from ..ask.policies import Decoded
from ..ask.verdicts import Verdicts
from ..join.reader import Reader
from ..model import Deployment, UsageError
from ..packs.faults import counted
from ..sim.search.verdict import Broken, Holds, Trace, Verdict
from ..sim.transactions.questions import BOUNDS, GUARANTEES, replay, spent, trace_of
from ..sim.transactions.step import Event, TransactionPolicy, initial
from ..sim.transactions.timeline import Plan, Told, in_time
from .by_hand import with_reader
from .scenario_values import Played, Scenario

Outcome = tuple[Verdict, Trace, dict[str, int]]
# Of other producers, in a run on a clock: each is a step of it.
RECORDS_MAX = 1_000


def played(
    scenario: Scenario,
    deployment: Deployment,
    decoded: Decoded,
    verdicts: Verdicts,
    unmet: Callable[[Scenario, Any, Trace], tuple[str, ...]],
) -> Played:
    if scenario.bounds is not None:
        raise UsageError(f"{scenario.file}: bounds: the model of transactions has none to choose")
    deployment = with_reader(deployment)
    reader = readers(deployment)[0]
    look = Reader(deployment, group=reader)
    policy = _policy(scenario, seen(look, reader).combinations[0].policy)
    environment, faults = counted(scenario.environment), counted(scenario.faults)
    if scenario.time is not None:
        verdict, trace, faults = _in_time(scenario, look, policy, scenario.time)
    elif scenario.events:
        verdict, trace, faults = _driven(scenario, policy, faults)
    else:
        verdict = verdicts.ask(scenario.guarantee or "", policy, environment, faults)
        trace = verdict.trace if isinstance(verdict, Broken) else ()
    missing = unmet(scenario, verdict, trace)
    return Played(scenario, deployment, decoded, policy, environment, faults, verdict, trace, missing)


def _policy(scenario: Scenario, policy: TransactionPolicy) -> TransactionPolicy:
    for name in scenario.policy:
        if name not in policy._fields:
            raise UsageError(f"{scenario.file}: policy.{name}: the transaction model has no such field")
    return policy._replace(**scenario.policy)


def _driven(scenario: Scenario, policy: TransactionPolicy, faults: Mapping[str, int]) -> Outcome:
    events = [Event(*text.split(" ", 1)) for text in scenario.events]
    counted = spent(events)
    first = initial(policy, {**counted, **faults}, BOUNDS.records)
    try:
        states = replay(policy, first, events)
    except ValueError as error:
        raise UsageError(f"{scenario.file}: events: {error}") from None
    trace = trace_of(policy, first, events)
    broken = GUARANTEES[scenario.guarantee or ""]
    for number, (_, _, state) in enumerate(states, 1):
        reason = broken(policy, state)
        if reason is not None:
            why = f"at step {number}, {reason}"
            return Broken(scenario.guarantee or "", trace, counted, len(trace), BOUNDS, why), trace, counted
    return Holds(BOUNDS._replace(note="this one run"), len(trace), ()), trace, counted


def _in_time(
    scenario: Scenario, look: Reader, policy: TransactionPolicy, stated: Mapping[str, int]
) -> Outcome:
    timeout, _ = look.number("producer", TIMEOUT)
    check, _ = check_of(look)
    if timeout is None or not policy.transactional:
        raise UsageError(f"{scenario.file}: time: needs a producer with transactional.id and its timeout")
    fields = {name: value for name, value in stated.items() if name != "within_ms"}
    gap_ms = stated.get("gap_ms", Plan._field_defaults["gap_ms"])
    if stated["until_ms"] // gap_ms > RECORDS_MAX:
        raise UsageError(
            f"{scenario.file}: time: a record each {gap_ms} ms until {stated['until_ms']} ms are more than "
            f"{RECORDS_MAX:,}; write a longer gap_ms or a smaller until_ms"
        )
    told = in_time(policy, Plan(timeout, check, **{"check_at_ms": check, **fields}))
    counted = {"producer_crash": 1} if "crash_ms" in stated else {}
    guarantee = scenario.guarantee or ""
    bounds = BOUNDS._replace(note="this one run")
    reason = _broken_in_time(guarantee, told, stated.get("within_ms", 0))
    if reason is None:
        return Holds(bounds, len(told.steps), ()), told.steps, counted
    return Broken(guarantee, told.steps, counted, len(told.steps), bounds, reason), told.steps, counted


def _broken_in_time(guarantee: str, told: Told, within_ms: int) -> str | None:
    last = told.steps[-1]
    shown = last.state["reader"]["read"]
    if guarantee == "only-committed-read":
        return (
            "r0 was read, but its transaction was aborted" if told.fate == "abort" and "r0" in shown else None
        )
    if last.state["reader"]["isolation"] != "read_committed":
        return None
    if told.pinned_ms is None:
        return (
            f"the LSO still stands at r0 after {last.t_ms} ms; {told.hidden} records behind it are not shown"
        )
    if told.pinned_ms > within_ms:
        return f"the LSO stood at r0 for {told.pinned_ms} ms; {told.hidden} records behind it were not shown"
    return None
