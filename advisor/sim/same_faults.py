"""A run that broke a guarantee, and the run that the same faults make of other settings.

`same_faults` looks, in the model of the other settings, for the shortest run in which the client does the
same and the same faults hit the same brokers or members in the same order, and which ends well. Nothing is
shown that the model cannot do: where the faults cannot happen so, the answer is None.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ..tuples import NamedTuple
from .partition import guarantees
from .partition import step as partition
from .partition.state import FAULT_OF, Event, Policy, State, in_office, start
from .questions import scaled, scaled_away
from .search.verdict import Bounds, Trace

S = TypeVar("S", bound=Hashable)
E = TypeVar("E")
Steps = Sequence[Mapping[str, Any]]  # of a trace as the report has it
STATES_MAX = 20_000


Labels = Callable[[Any, Sequence[str]], Iterable[str]]


class Way(NamedTuple):
    """How closely a run follows another: the marks that it must pass, in this order; until then no transition
    has an effect that begins with one of `without`."""

    marks: tuple[str, ...]
    without: tuple[str, ...] = ()


def follow(
    first: S,
    successors: Callable[[S], Iterable[tuple[E, Sequence[str], S]]],
    way: Way,
    labels: Labels,
    is_fault: Callable[[E], bool],
    is_end: Callable[[S], bool],
) -> tuple[E, ...] | None:
    """The shortest run that passes all marks and ends where `is_end` says; None if there is none. `labels`
    are the marks that a transition may be. A fault happens only where it is the next mark."""
    marks = way.marks
    came_from: dict[tuple[S, int], tuple[tuple[S, int], E] | None] = {(first, 0): None}
    waiting = deque([(first, 0)])
    while waiting and len(came_from) < STATES_MAX:
        place = waiting.popleft()
        state, passed = place
        if passed == len(marks) and is_end(state):
            return _path(came_from, place)
        for event, effects, after in successors(state):
            now = passed
            for label in labels(event, effects):
                if now < len(marks) and label == marks[now]:
                    now += 1
            if is_fault(event) and now == passed:
                continue
            if passed < len(marks) and any(effect.startswith(way.without or ("\0",)) for effect in effects):
                continue
            if (after, now) not in came_from:
                came_from[after, now] = place, event
                waiting.append((after, now))
    return None


def _path(came_from: Mapping[Any, Any], place: Any) -> tuple[Any, ...]:
    events = []
    while (step := came_from[place]) is not None:
        place, event = step
        events.append(event)
    return tuple(reversed(events))


def same_faults(guarantee: str, policy: Any, broken: Steps) -> Trace | None:
    """The run of `policy` under the faults of a run that broke the guarantee."""
    if guarantee in ("records-stored-once", "send-order-kept"):
        return _of_producer(policy, broken)
    if guarantee in ("only-committed-read", "records-visible"):
        return _of_transactions(policy, broken)
    return _of_partition(guarantee, policy, broken)


def spent(broken: Steps) -> dict[str, int]:
    counts: dict[str, int] = {}
    for step in broken:
        fault = step["event"].get("fault")
        if fault is not None:
            counts[fault] = counts.get(fault, 0) + 1
    return counts


# -- a partition -------------------------------------------------------------------------------------------


def _of_partition(guarantee: str, policy: Policy, broken: Steps) -> Trace | None:
    away = guarantee in ("writes-available", "group-available")
    budget = spent(broken)
    replicas = len(broken[0]["state"]["replicas"])
    if "roll" in budget:
        budget["roll"] = -(-budget["roll"] // replicas)
    if guarantee == "replicas-agree":
        policy = policy._replace(
            replicas=2, min_isr=max(1, policy.min_isr - (policy.replicas - 2)), racks=policy.racks[:2]
        )
        bounds = Bounds(2, records=2, elections=3, fetch="rounds", follower_hw=True, committed=1)
    elif away:
        policy, _, note = scaled_away(policy._replace(truncation="kip-320"), budget)
        rolls = 1 + budget.get("roll", 0) + budget.get("leader_move", 0)
        bounds = Bounds(policy.replicas, records=1, elections=2 * policy.replicas * rolls, note=note)
    else:
        policy, _, note = scaled(policy, budget)
        old = policy.truncation == "high-watermark"
        elections = max(2, policy.replicas * budget.get("roll", 0))
        bounds = Bounds(policy.replicas, 1, elections, follower_hw=old, note=note)
    model, first = start(policy, bounds, budget)
    agree = guarantee == "replicas-agree"
    broken_by = guarantees.replicas_agree if agree else guarantees.acked_records_survive

    def successors(state: State) -> Iterator[tuple[Event, Sequence[str], State]]:
        events = partition.enabled(model, state)
        for event in events:
            if away and (event.name == "heal" or (event.name == "return" and event.broker != state.rolling)):
                continue
            after, effects = partition.step(model, state, event)
            yield event, [effect.text() for effect in effects], after

    def is_end(state: State) -> bool:
        if agree and len({(one.log, one.life, one.epoch) for one in state.replicas}) > 1:
            return False
        return in_office(state) >= 0 and broken_by(model, state) is None

    def stands(state: State) -> bool:
        """Nobody leads and nobody can: what was confirmed is still there."""
        return broken_by(model, state) is None and not guarantees.recovering(model, state)

    def refused(state: State) -> Iterator[tuple[Event, Sequence[str], State]]:
        """Also a write that is turned down: the producer is told, and nothing changes."""
        yield from successors(state)
        event = Event("produce", value=state.sent)
        if state.sent < bounds.records + bounds.committed and event not in partition.enabled(model, state):
            yield event, ["rejected"], state

    for way in _ways_of_partition(broken, away):
        for ways, end in ((successors, is_end), (refused, is_end), (refused, stands)):
            found = follow(first, ways, way, _labels, lambda event: event.name in FAULT_OF, end)
            if found is not None:
                return partition.run(model, first, found)[0]
    return None


def _labels(event: Event, effects: Sequence[str]) -> Iterator[str]:
    yield f"produce r{event.value}" if event.name == "produce" else event.text()
    yield f"any {event.name}"
    yield from (effect for effect in effects if effect.startswith("acked "))


def _ways_of_partition(broken: Steps, away: bool) -> Iterator[Way]:
    """The closest first: the controller notices the same, records are confirmed where they were, and who fell
    behind stays behind. The last: faults of the same kind that hit whom they can."""
    asked = [(step["event"], [e for e in step["effects"] if e.startswith("acked ")]) for step in broken]

    def marks(seen: Sequence[str], acks: bool, kinds: bool = False) -> tuple[str, ...]:
        found: list[str] = []
        for event, acked in asked:
            if "fault" in event:
                found.append(f"any {event['name']}" if kinds else event["text"])
            elif event["name"] == "produce":
                found.append(f"produce {event['record']}")
                # What was refused is to be taken now.
                found += [f"acked {event['record']}"] if acks and away else []
            elif event["name"] in seen:
                found.append(event["text"])
            found += acked if acks and not away else []
        return tuple(found)

    yield Way(marks(("fence",), acks=True), ("joined ",))
    yield Way(marks((), acks=True), ("joined ",))
    yield Way(marks((), acks=True))
    yield Way(marks((), acks=False))
    yield Way(marks((), acks=False, kinds=True))


# -- a producer --------------------------------------------------------------------------------------------


def _of_producer(policy: Any, broken: Steps) -> Trace | None:
    from .producer.questions import BOUNDS, reordered, stored_twice, successors, trace_of
    from .producer.state import FAULTS, initial

    policy = policy.searched
    first = initial(policy, spent(broken), BOUNDS.records)
    written = {record for step in broken for record in step["state"]["replicas"][0]["log"]}

    def is_end(state: Any) -> bool:
        done = {f"r{batch}" for batch, outcome in enumerate(state.outcomes) if outcome == "acked"}
        return written <= done and not state.wire and not stored_twice(state) and not reordered(state)

    for way in _ways_of_client(broken, ("send",)):
        found = follow(
            first,
            lambda state: successors(policy, state),
            way,
            lambda event, effects: (event.text(),),
            lambda event: event.name in FAULTS,
            is_end,
        )
        if found is not None:
            return trace_of(policy, first, found)
    return None


def _ways_of_client(
    broken: Steps, own: Sequence[str], name: Callable[[Mapping[str, Any]], str] = lambda event: event["text"]
) -> Iterator[Way]:
    """All that the client did, and the faults; what it did up to the last fault; the faults alone."""
    events = [step["event"] for step in broken]
    places = [place for place, event in enumerate(events) if "fault" in event]
    until = events[: places[-1] + 1] if places else events
    yield Way(tuple(name(event) for event in events if "fault" in event or event["name"] in own))
    yield Way(tuple(name(event) for event in until if "fault" in event or event["name"] in own))
    yield Way(tuple(name(event) for event in until if "fault" in event))


# -- transactions ------------------------------------------------------------------------------------------


def _of_transactions(policy: Any, broken: Steps) -> Trace | None:
    from .transactions.questions import aborted_read, pinned_for_ever, successors, trace_of
    from .transactions.step import FAULTS, initial

    first = initial(policy, spent(broken), 2)
    others = {entry for entry in broken[-1]["state"]["log"] if entry.startswith("o")}

    def is_end(state: Any) -> bool:
        """The reader has come to the end, and nothing is under way."""
        fine = aborted_read(policy, state) is None and pinned_for_ever(policy, state) is None
        at_rest = state.phase == "none" and not state.wire
        return fine and at_rest and state.position == len(state.log) and others <= set(state.read)

    for way in _ways_of_client(broken, ("begin", "send", "write", "commit", "abort", "other")):
        found = follow(
            first,
            lambda state: successors(policy, state),
            way,
            lambda event, effects: (event.text(),),
            lambda event: event.name in FAULTS,
            is_end,
        )
        if found is not None:
            return trace_of(policy, first, found)
    return None


# -- a group -----------------------------------------------------------------------------------------------


def same_faults_of_group(policy: Any, broken: Steps) -> tuple[dict[str, Any], ...] | None:
    """Of a consumer group: every record is processed, and no offset is past one that is not."""
    from .groups.search.questions import skipped, successors, trace_of, twice
    from .groups.search.states import ENDS
    from .groups.search.step import initial

    policy = policy.searched
    first = initial(policy, spent(broken))

    def is_end(state: Any) -> bool:
        return (state.stored or state.committed) == ENDS and not skipped(state) and not twice(state)

    def member(event: Mapping[str, Any]) -> str:
        return f"{event['name']} {event['member']}"

    for way in _ways_of_client(broken, ("poll", "process"), member):
        found = follow(
            first,
            lambda state: successors(policy, state),
            way,
            lambda event, effects: (f"{event.name} m{event.member}",),
            lambda event: event.name in ("member_crash", "leave", "drop"),
            is_end,
        )
        if found is not None:
            return trace_of(policy, first, found)
    return None
