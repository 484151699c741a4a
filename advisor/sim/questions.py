"""Which smallest model answers which guarantee, and how far it is searched.

`QUESTIONS` is the registry: a guarantee's name to a function of (policy, environment, faults, bounds). The
full product of all parts of Kafka is not searchable; each guarantee has the smallest model that can break it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .partition import guarantees
from .partition.essence import classes
from .partition.state import EVENT_OF, Event, Model, Policy, State, start
from .partition.step import enabled, run, step
from .search.explore import explore
from .search.verdict import Bounds, Broken, Effect, Holds, Trace, Unknown, Verdict

Counts = Mapping[str, int]
Expired = Callable[[], bool]
Predicate = Callable[[Model, State], str | None]
Witness = Callable[[Event, tuple[Effect, ...], State], bool]
Question = Callable[[Any, Counts, Counts, Bounds | None, Expired | None], Verdict]

# A partition of more replicas is searched at this many, with the same margin: what matters is how many copies
# an acknowledgement waits for and how many of them the faults take.
REPLICAS_SEARCHED = 3
# Without records a partition is a few sets: up to here it is searched as it is, in its own numbers.
REPLICAS_AS_THEY_ARE = 5
# Which replicas share a rack does not scale, nor which are out of sync when brokers go away.
REPLICAS_TOLD_APART_MAX = 8


def ask(
    guarantee: str,
    policy: Any,
    environment: Counts | None = None,
    faults: Counts | None = None,
    bounds: Bounds | None = None,
    expired: Expired | None = None,
) -> Verdict:
    """Look for a run that breaks the guarantee.

    `environment` is free of charge, `faults` are counted, both as name to number; without `bounds` those of
    the question are taken. The search ends at its budget of states, or when `expired` says so.
    """
    if guarantee not in QUESTIONS:
        raise ValueError(f"no question is called {guarantee!r}: there are {', '.join(sorted(QUESTIONS))}")
    return QUESTIONS[guarantee](policy, environment or {}, faults or {}, bounds, expired)


# -- the questions of a partition --------------------------------------------------------------------------


def acked_records_survive(
    policy: Policy,
    environment: Counts,
    faults: Counts,
    bounds: Bounds | None = None,
    expired: Expired | None = None,
) -> Verdict:
    """One record, two elections, atomic fetches; followers keep a high watermark only where they truncate to
    it (before 0.11)."""
    budget = _sum(environment, faults)
    if bounds is None:
        policy, budget, note = scaled(policy, budget)
        old = policy.truncation == "high-watermark"
        # A roll moves the leadership with every broker it restarts, at the worst.
        elections = max(2, policy.replicas * budget.get("roll", 0))
        bounds = Bounds(policy.replicas, 1, elections, follower_hw=old, note=note)
    witnesses: dict[str, Witness] = {"a record is acknowledged": _acked}
    _add_fault_witnesses(witnesses, policy, budget)
    return _search(
        "acked-records-survive",
        guarantees.acked_records_survive,
        policy,
        budget,
        bounds,
        witnesses,
        expired,
        pursued=guarantees.may_be_acked,
    )


def replicas_agree(
    policy: Policy,
    environment: Counts,
    faults: Counts,
    bounds: Bounds | None = None,
    expired: Expired | None = None,
) -> Verdict:
    """Two replicas, two records on top of a committed one, three elections, fetch in rounds, leadership
    learnt late."""
    if policy.replicas < 2:
        return Unknown("a single replica has none to agree with", ("replicas",))
    budget = _sum(environment, faults)
    if bounds is None:
        note = "" if policy.replicas == 2 else f"RF {policy.replicas} searched at 2 with the same margin"
        policy = policy._replace(
            replicas=2, min_isr=max(1, policy.min_isr - (policy.replicas - 2)), racks=policy.racks[:2]
        )
        bounds = Bounds(2, records=2, elections=3, fetch="rounds", follower_hw=True, committed=1, note=note)
    witnesses: dict[str, Witness] = {"two replicas count a record as committed": _committed_twice}
    _add_fault_witnesses(witnesses, policy, budget)
    return _search("replicas-agree", guarantees.replicas_agree, policy, budget, bounds, witnesses, expired)


def committed_on_isr(
    policy: Policy,
    environment: Counts,
    faults: Counts,
    bounds: Bounds | None = None,
    expired: Expired | None = None,
) -> Verdict:
    """The invariant of the public specification, within given bounds. No rule asks it; by hand it is asked of
    every behaviour that is possible, so without bounds one record must do."""
    budget = _sum(environment, faults)
    if bounds is None:
        bounds = Bounds(policy.replicas, records=1, elections=2, fetch="rounds", follower_hw=True)
    witnesses: dict[str, Witness] = {"two replicas count a record as committed": _committed_twice}
    return _search(
        "committed-on-isr", guarantees.committed_on_isr, policy, budget, bounds, witnesses, expired
    )


def writes_available(
    policy: Policy,
    environment: Counts,
    faults: Counts,
    bounds: Bounds | None = None,
    expired: Expired | None = None,
) -> Verdict:
    return _available("writes-available", policy, environment, faults, bounds, expired)


def group_available(
    policy: Policy,
    environment: Counts,
    faults: Counts,
    bounds: Bounds | None = None,
    expired: Expired | None = None,
) -> Verdict:
    """The policy is that of the internal topic: its leader is the coordinator, a commit is a write to it."""
    return _available("group-available", policy, environment, faults, bounds, expired)


def _available(
    guarantee: str,
    policy: Policy,
    environment: Counts,
    faults: Counts,
    bounds: Bounds | None,
    expired: Expired | None,
) -> Verdict:
    """Sets of live and in-sync brokers only: no record is written. Brokers that are away stay away, but for
    those of a roll, which come back in turn; everybody else may do whatever restores the partition."""
    budget = _sum(environment, faults)
    if bounds is None:
        policy, budget, note = scaled_away(policy, budget)
        # Each broker that goes away costs one election at most, so this many are never used up.
        rolls = 1 + budget.get("roll", 0) + budget.get("leader_move", 0)
        bounds = Bounds(policy.replicas, records=0, elections=2 * policy.replicas * rolls, note=note)
    # How a log is cut does not matter where none is written.
    policy = policy._replace(truncation="kip-320")
    witnesses: dict[str, Witness] = {}
    _add_fault_witnesses(witnesses, policy, budget, elected=False)

    def only_recovery(state: State, event: Event) -> bool:
        if event.name == "return":
            return event.broker == state.rolling
        if event.name == "fetch":
            return not state.isr >> event.broker & 1  # a fetch of an in-sync replica moves no set
        return event.name != "heal"

    predicate = guarantees.writes_available if guarantee == "writes-available" else guarantees.group_available
    last = [Event("produce", value=0)]
    return _search(
        guarantee, predicate, policy, budget, bounds, witnesses, expired, allowed=only_recovery, last=last
    )


# -- searching ---------------------------------------------------------------------------------------------


def _search(
    guarantee: str,
    predicate: Predicate,
    policy: Policy,
    budget: Counts,
    bounds: Bounds,
    witnesses: Mapping[str, Witness],
    expired: Expired | None,
    *,
    allowed: Callable[[State, Event], bool] | None = None,
    pursued: Callable[[Model, State], bool] | None = None,
    last: Sequence[Event] = (),
) -> Verdict:
    """Explore, and put the outcome into words. `allowed` leaves out events that cannot matter, `pursued`
    states from which the guarantee cannot break; `last` is what a client tries at the end of a broken run."""
    if "rack_lost" in budget and len(policy.racks) != policy.replicas:
        return Unknown("the racks of the replicas are not known", ("racks",))
    if policy.replicas > REPLICAS_TOLD_APART_MAX:
        most = REPLICAS_TOLD_APART_MAX
        return Unknown(f"{policy.replicas} replicas: this is searched with at most {most}", ("replicas",))
    model, first = start(policy, bounds, budget)

    def successors(state: State) -> Iterator[tuple[Event, tuple[Effect, ...], State]]:
        if pursued is not None and not pursued(model, state):
            return
        for event in enabled(model, state):
            if allowed is None or allowed(state, event):
                after, effects = step(model, state, event)
                yield event, effects, after

    found = explore(
        first,
        successors,
        lambda state: predicate(model, state),
        states_max=bounds.states,
        witnesses=witnesses,
        canonical=None if model.follows or model.proposals else classes(model),
        expired=expired,
    )
    if found.run is not None:
        trace, _ = run(model, first, [*found.run, *last])
        reason = _in_steps(trace, found.reason or "")
        return Broken(guarantee, trace, spent(trace, policy.replicas), found.states, bounds, reason)
    if found.stopped is not None:
        among = "in the time given" if found.stopped == "time" else f"among the first {found.stopped}"
        return Unknown(f"no run found {among}, within {bounds.text()}", (), bounds, found.states)
    missing = [name for name in witnesses if name not in found.witnessed]
    if missing:
        return Unknown(f"never seen within {bounds.text()}: {'; '.join(missing)}", (), bounds, found.states)
    return Holds(bounds, found.states, tuple(sorted(found.witnessed)))


def spent(trace: Trace, replicas: int) -> dict[str, int]:
    """The faults a run uses up, slow followers and the like included."""
    counts: dict[str, int] = {}
    for step_ in trace:
        fault = step_.event.get("fault")
        if fault is not None:
            counts[fault] = counts.get(fault, 0) + 1
    if "roll" in counts:
        counts["roll"] = -(-counts["roll"] // replicas)  # one roll restarts every broker
    return counts


def _in_steps(trace: Trace, reason: str) -> str:
    """Says at which steps a lost record was acknowledged and was gone, where the reason is about one."""
    record, colon, why = reason.partition(": ")
    acked = [step_.number for step_ in trace if f"acked {record}" in step_.effects]
    if not colon or not acked:
        return reason
    if f"dropped {record}" in trace[acked[0] - 1].effects:
        return f"{record} was confirmed in step {acked[0]}; no broker stored it"
    when = "in" if why.startswith("the new leader") else "after"
    return f"{record} was confirmed in step {acked[0]}; {why} {when} step {trace[-1].number}"


def scaled(policy: Policy, budget: Counts) -> tuple[Policy, dict[str, int], str]:
    """A partition of more than three replicas as one of three with the same margin.

    As many in-sync replicas are left by the slow followers; of the copies that an acknowledgement waits for,
    as many are left by the faults; and if a replica may lack an acknowledged record, so may one of the three.
    """
    surplus = policy.replicas - REPLICAS_SEARCHED
    if surplus <= 0 or "rack_lost" in budget:
        return policy, dict(budget), ""  # which replicas share a rack does not scale
    minimum = policy.effective_min_isr
    if minimum > policy.replicas:  # before 3.7: every write refused, at any size
        less, smaller = 0, REPLICAS_SEARCHED + 1
    else:
        copies = REPLICAS_SEARCHED if minimum == policy.replicas else REPLICAS_SEARCHED - 1
        smaller = min(minimum, copies)
        less = minimum - smaller
    counts = {
        name: min(max(1, count - less), REPLICAS_SEARCHED)
        for name, count in budget.items()
        if name != "slow_follower"
    }
    slow = budget.get("slow_follower", 0) - surplus
    if slow > 0:
        counts["slow_follower"] = slow
    policy = policy._replace(
        replicas=REPLICAS_SEARCHED, min_isr=smaller, racks=policy.racks[:REPLICAS_SEARCHED]
    )
    return (
        policy,
        counts,
        f"RF {policy.replicas + surplus} searched at {REPLICAS_SEARCHED} with the same margin",
    )


# Of these every one takes a broker away for as long as the question lasts; a roll takes one at a time.
_AWAY = ("broker_crash", "broker_lost", "power_loss", "disk_wiped", "clean_stop", "partitioned")


def scaled_away(policy: Policy, budget: Counts) -> tuple[Policy, dict[str, int], str]:
    """For whether writes are taken: a partition of many replicas as a small one with the same margin.

    Writes stop where more brokers are away than the replicas have to spare: those beyond the ones that a
    write needs, or beyond the leader without acks=all. So nothing changes where as many of those that are
    needed are left out of both, and as many of those away out of the faults and of what there is to spare.
    """
    if policy.replicas <= REPLICAS_AS_THEY_ARE or "rack_lost" in budget or "slow_follower" in budget:
        return policy, dict(budget), ""
    kinds = [name for name in _AWAY if name in budget]
    away = sum(budget[name] for name in kinds)
    fewer = max(0, away - len(kinds) - 1)
    counts = {name: min(count, 2) for name, count in budget.items() if name not in kinds}
    left = away - fewer
    for name in kinds:
        # Each happens at least once; the first has what is beyond that.
        counts[name] = 1 + (left - len(kinds) if name == kinds[0] else 0)
    together = left + ("roll" in budget)
    needed = policy.effective_min_isr if policy.acks == "all" else 1
    if needed > policy.replicas:  # before 3.7: every write refused, at any size
        replicas = REPLICAS_SEARCHED
        minimum = replicas + 1
    else:
        spare = min(max(0, policy.replicas - needed - fewer), together)
        replicas = max(min(needed, 2) + spare, 2)
        minimum = replicas - spare if policy.acks == "all" else min(policy.min_isr, replicas)
    note = f"RF {policy.replicas} searched at {replicas} with the same margin"
    return policy._replace(replicas=replicas, min_isr=minimum, racks=()), counts, note


def _sum(environment: Counts, faults: Counts) -> dict[str, int]:
    unknown = sorted((set(environment) | set(faults)) - set(EVENT_OF))
    if unknown:
        raise ValueError(f"no fault of a partition is called {', '.join(unknown)}")
    total = {name: count for name, count in environment.items() if count > 0}
    for name, count in faults.items():
        if count > 0:
            total[name] = total.get(name, 0) + count
    return total


# -- witnesses: what must be reachable, else Holds would say nothing ----------------------------------------


def _acked(event: Event, effects: tuple[Effect, ...], state: State) -> bool:
    return any(effect.name == "acked" for effect in effects)


def _committed_twice(event: Event, effects: tuple[Effect, ...], state: State) -> bool:
    # The last record written is one of the model's, whatever was committed before.
    return event.name in ("write", "fetch") and sum(r.hw == state.sent > 0 for r in state.replicas) > 1


def _elected(event: Event, effects: tuple[Effect, ...], state: State) -> bool:
    return event.name == "elect"


def _happens(verb: str) -> Witness:
    return lambda event, effects, state: event.name == verb


def _add_fault_witnesses(
    witnesses: dict[str, Witness], policy: Policy, budget: Counts, elected: bool = True
) -> None:
    for fault in budget:
        # One replica has no follower to be slow and nobody to move the lead to.
        if policy.replicas > 1 or fault not in ("slow_follower", "leader_move"):
            witnesses[f"{fault} happens"] = _happens(EVENT_OF[fault])
    if elected and any(fault in _ENDS_A_TERM for fault in budget):
        witnesses["a leader is elected"] = _elected


_ENDS_A_TERM = ("broker_crash", "broker_lost", "power_loss", "disk_wiped", "partitioned", "rack_lost")


def _of_producer(name: str) -> Question:
    """A question of the producer model, which is imported when it is first asked."""

    def ask_producer(
        policy: Any, environment: Counts, faults: Counts, bounds: Bounds | None, expired: Expired | None
    ) -> Verdict:
        from .producer.questions import GUARANTEES

        return GUARANTEES[name](policy, environment, faults, bounds, expired)

    return ask_producer


def _of_transactions(name: str) -> Question:
    def ask_transactions(
        policy: Any, environment: Counts, faults: Counts, bounds: Bounds | None, expired: Expired | None
    ) -> Verdict:
        from .transactions.questions import ask as ask_it

        return ask_it(name, policy, environment, faults, bounds, expired)

    return ask_transactions


# The registry. A guarantee of another part (producer, groups) adds its function here.
QUESTIONS: dict[str, Question] = {
    "acked-records-survive": acked_records_survive,
    "replicas-agree": replicas_agree,
    "committed-on-isr": committed_on_isr,
    "writes-available": writes_available,
    "group-available": group_available,
    "records-stored-once": _of_producer("records-stored-once"),
    "send-order-kept": _of_producer("send-order-kept"),
    "only-committed-read": _of_transactions("only-committed-read"),
    "records-visible": _of_transactions("records-visible"),
}
