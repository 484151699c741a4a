"""A small group for the search: which records does it pass over, which does it process twice?

The smallest group that can do either: two members, two partitions, three records, batches of at most two.
Join and sync are one event and nothing is timed: an adversary chooses when a member polls, processes,
commits, dies or is dropped. The coordinator's rules are those of group.py and group_epochs.py, the member's
those of consumer.py.

    poll m0        records come into its hand; with auto-commit the adversary also chooses whether a commit
                   is due (`poll m0 committing`, and for KIP-848 `poll m0 committing late`)
    process m0     the next record in hand
    commit m0      the application's own commit, by its style
    deliver m0     an asynchronous commit reaches the coordinator, with the generation it was sent under
    expire m0      the session of a member that died is over: the others share its partitions
    return m1      a member that is out of the group joins again

Faults: member_crash (the process is gone with what it had in hand) and rebalance, which is a member that
leaves in an orderly way (`leave`) or one that is dropped while it works on (`drop`: a slow batch, a pause).

At the start both partitions have a committed offset, 0: a group's first start is not a fault. Left out:
commits that fail for other reasons, and offsets kept outside of Kafka (they act like `with-output` as far as
the store fences writers as the coordinator does).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from . import group as classic
from . import group_epochs as epochs
from .consumer import (
    AUTO,
    BEFORE,
    NOT_OWNED,
    WITH_OUTPUT,
    Consumer,
    Reading,
    Span,
    assign,
    commit,
    consumed,
    fetch,
    owned,
    process,
    revoke,
)

ENDS = (2, 1)  # records of each partition
PARTITIONS = range(len(ENDS))
FAULTS = ("member_crash", "rebalance")
RETURNS = 1  # how often a member that is out may come back
COUNTED = 2  # how often a record was processed is counted so far

Effects = tuple[str, ...]


class GroupPolicy(NamedTuple):
    protocol: str = "classic"  # or consumer (KIP-848)
    cooperative: bool = False
    reading: Reading = Reading()

    @property
    def searched(self) -> GroupPolicy:
        """Batches beyond two records are alike in a group of three."""
        return self._replace(reading=self.reading._replace(batch=min(self.reading.batch, max(ENDS))))


class Process(NamedTuple):
    """A member's own side. `generation` is what it believes to be of (or its epoch); `out`: it knows that it
    is not a member; `due`: its next commit is due; `pending`: processed, not in effect before the commit."""

    consumer: Consumer
    generation: int
    out: bool = False
    due: bool = False
    pending: tuple[Span, ...] = ()
    flying: tuple[int, tuple[tuple[int, int], ...]] | None = None  # an asynchronous commit, under way


class State(NamedTuple):
    group: classic.Group | epochs.EpochGroup
    processes: tuple[Process | None, ...]  # by member number; None: gone
    committed: tuple[int, ...]
    times: tuple[tuple[int, ...], ...]  # by partition and offset: how often processed
    left: tuple[int, ...]  # budget of each fault
    returns: int


class Event(NamedTuple):
    name: str
    member: int
    how: str = ""

    def text(self) -> str:
        return f"{self.name} m{self.member} {self.how}".rstrip()


def initial(policy: GroupPolicy, faults: Mapping[str, int]) -> State:
    """Two members, a partition each, nothing read."""
    nobody = Process(Consumer((NOT_OWNED,) * len(ENDS)), 0)
    group: classic.Group | epochs.EpochGroup
    group = classic.Group() if policy.protocol == "classic" else epochs.EpochGroup(partitions=len(ENDS))
    state = State(
        group,
        (nobody, nobody),
        (0,) * len(ENDS),
        tuple((0,) * end for end in ENDS),
        tuple(faults.get(name, 0) for name in FAULTS),
        RETURNS,
    )
    state, _ = _regroup(policy, state, joining=(0, 1))
    return state


def enabled(policy: GroupPolicy, state: State) -> Iterator[Event]:
    """What can happen now, in a fixed order: the healthy run first, then what follows a fault, then
    faults."""
    crashes, rebalances = state.left
    for number, one in enumerate(state.processes):
        if one is not None:
            yield from _working(policy, state, number, one)
    for number in _dead(state):
        if _others_poll(policy, state, number):
            yield Event("expire", number)
    for number, one in enumerate(state.processes):
        if one is None:
            continue
        polls = _polls(policy, one)
        others_poll = _others_poll(policy, state, number)
        if one.out:
            if state.returns and polls and others_poll:
                yield Event("return", number)
            continue
        if rebalances and others_poll and len(_living(state)) > 1 and _is_member(state, number):
            if polls:
                yield Event("leave", number)
            yield Event("drop", number)
        if crashes:
            yield Event("member_crash", number)


def _polls(policy: GroupPolicy, one: Process) -> bool:
    """Is this member between two polls? A rebalance reaches it only there."""
    return policy.reading.workers or (not one.consumer.hand and not one.due)


def _others_poll(policy: GroupPolicy, state: State, number: int) -> bool:
    """A rebalance ends when every member has come to it."""
    return all(
        one is None or one.out or other == number or not _is_member(state, other) or _polls(policy, one)
        for other, one in enumerate(state.processes)
    )


def _working(policy: GroupPolicy, state: State, number: int, one: Process) -> Iterator[Event]:
    reading = policy.reading
    hand = one.consumer.hand
    if not one.out and _polls(policy, one):
        more = any(
            position != NOT_OWNED and position < ENDS[partition]
            for partition, position in enumerate(one.consumer.positions)
        )
        lags = any(
            offset != state.committed[partition] for partition, offset in consumed(one.consumer).items()
        )
        gone = not _is_member(state, number)
        if more or gone:
            yield Event("poll", number)
        if reading.commits == AUTO and (more or lags) and not gone:
            yield Event("poll", number, "committing")
            if reading.late_commit and more:
                yield Event("poll", number, "committing late")
    if hand and not (reading.commits == BEFORE and one.due):
        yield Event("process", number)
    if reading.commits != AUTO and one.due and (reading.commits == BEFORE or reading.workers or not hand):
        yield Event("commit", number)
    if one.flying is not None:
        yield Event("deliver", number)


def step(policy: GroupPolicy, state: State, event: Event) -> tuple[State, Effects]:
    """Apply one enabled event. Pure and total."""
    number = event.member
    match event.name:
        case "poll":
            return _poll(policy, state, number, event.how)
        case "process":
            return _process(policy, state, number)
        case "commit" if policy.reading.asynchronous:
            one = _process_of(state, number)
            flying = (one.generation, tuple(_carried(policy, one).items()))
            return _put(state, number, one._replace(due=False, flying=flying)), ()
        case "deliver":
            return _deliver(state, number)
        case "commit":
            return _commit(policy, state, number, _carried(policy, _process_of(state, number)))
        case "member_crash":
            return _spend(_without(state, number), "member_crash"), ()
        case "expire":
            return _regroup(policy, state, leaving=number)
        case "leave":
            state, effects = _give_up(policy, state, number, owned(_process_of(state, number).consumer))
            state, more = _regroup(policy, _spend(_without(state, number), "rebalance"), leaving=number)
            return state, (*effects, *more)
        case "drop":
            return _regroup(policy, _spend(state, "rebalance"), leaving=number)
        case "return":
            return _return(policy, state, number)
    raise ValueError(f"no event of a group is called {event.name!r}")


# -- reading -----------------------------------------------------------------------------------------------


def _poll(policy: GroupPolicy, state: State, number: int, how: str) -> tuple[State, Effects]:
    one = _process_of(state, number)
    if not _is_member(state, number):
        return _lose(policy, state, number), (f"lost m{number}",)
    effects: Effects = ()
    before = consumed(one.consumer)
    after = fetch(one.consumer, ENDS, policy.reading.batch)
    if how:
        state, effects = _commit(policy, state, number, consumed(after) if "late" in how else before)
        one = _process_of(state, number)
    delivered = after.hand != one.consumer.hand
    due = one.due or (delivered and policy.reading.commits != AUTO)
    return _put(state, number, one._replace(consumer=after, due=due)), effects


def _process(policy: GroupPolicy, state: State, number: int) -> tuple[State, Effects]:
    one = _process_of(state, number)
    consumer, done = process(one.consumer)
    if policy.reading.commits == WITH_OUTPUT:
        return _put(state, number, one._replace(consumer=consumer, pending=(*one.pending, *done))), ()
    state = _put(state, number, one._replace(consumer=consumer))
    return _count(state, done)


def _count(state: State, spans: tuple[Span, ...]) -> tuple[State, Effects]:
    times = [list(row) for row in state.times]
    effects = []
    for partition, first, end in spans:
        for offset in range(first, end):
            again = " again" if times[partition][offset] else ""
            times[partition][offset] = min(times[partition][offset] + 1, COUNTED)
            effects.append(f"processed p{partition}:{offset}{again}")
    return state._replace(times=tuple(tuple(row) for row in times)), tuple(effects)


def _carried(policy: GroupPolicy, one: Process) -> dict[int, int]:
    """What the application's own commit carries. With workers it knows what is done and commits up to the
    first record that is not."""
    offsets = consumed(one.consumer)
    if policy.reading.workers and policy.reading.commits != BEFORE:
        for span in one.consumer.hand:
            offsets[span.partition] = min(offsets.get(span.partition, span.first), span.first)
    return offsets


def _commit(
    policy: GroupPolicy, state: State, number: int, offsets: Mapping[int, int]
) -> tuple[State, Effects]:
    one = _process_of(state, number)
    answer = _taken(state, number, one.generation)
    if answer != classic.OK:
        return _lose(policy, state, number), (f"fenced m{number} {answer}",)
    changed = [
        f"committed p{partition}={offset}"
        for partition, offset in offsets.items()
        if state.committed[partition] != offset
    ]
    due = one.due and policy.reading.workers and bool(one.consumer.hand) and policy.reading.commits != BEFORE
    state = _put(state, number, one._replace(due=due, pending=()))
    state, effects = _count(state._replace(committed=commit(state.committed, offsets)), one.pending)
    return state, (*effects, *changed)


def _deliver(state: State, number: int) -> tuple[State, Effects]:
    """commitAsync: if it is refused its callback is told, and nothing else happens."""
    one = _process_of(state, number)
    generation, offsets = one.flying or (classic.NO_GENERATION, ())
    state = _put(state, number, one._replace(flying=None))
    answer = _taken(state, number, generation)
    if answer != classic.OK:
        return state, (f"fenced m{number} {answer}",)
    changed = tuple(f"committed p{p}={offset}" for p, offset in offsets if state.committed[p] != offset)
    return state._replace(committed=commit(state.committed, dict(offsets))), changed


def _taken(state: State, number: int, generation: int) -> str:
    group = state.group
    if isinstance(group, classic.Group):
        return classic.may_commit(group, number, generation)
    return epochs.may_commit(group, number, generation)


def _lose(policy: GroupPolicy, state: State, number: int) -> State:
    """The member learns that it is out (onPartitionsLost): it owns nothing, and what it has in hand is
    finished by workers only."""
    one = _process_of(state, number)
    consumer = revoke(one.consumer, tuple(PARTITIONS), forget=_forgets(policy))
    return _put(state, number, one._replace(consumer=consumer, out=True, due=False, pending=()))


def _forgets(policy: GroupPolicy) -> bool:
    """Is what was in hand of a partition dropped with it? Workers go on, unless their output could not take
    effect any more."""
    return not policy.reading.workers or policy.reading.commits == WITH_OUTPUT


# -- rebalancing -------------------------------------------------------------------------------------------


def _give_up(
    policy: GroupPolicy, state: State, number: int, partitions: tuple[int, ...]
) -> tuple[State, Effects]:
    """onPartitionsRevoked of a living member: auto-commit, or a listener that does, commits once more."""
    effects: Effects = ()
    reading = policy.reading
    if partitions and (reading.commits == AUTO or reading.commits_on_revoke):
        one = _process_of(state, number)
        carried = consumed(one.consumer) if reading.commits == AUTO else _carried(policy, one)
        state, effects = _commit(policy, state, number, carried)
    one = _process_of(state, number)
    consumer = revoke(one.consumer, partitions, forget=_forgets(policy))
    pending = tuple(span for span in one.pending if span.partition not in partitions)
    return _put(state, number, one._replace(consumer=consumer, pending=pending)), effects


def _return(policy: GroupPolicy, state: State, number: int) -> tuple[State, Effects]:
    """Out of the group it has no member id: it comes back as a new member."""
    one = _process_of(state, number)
    new = len(state.processes)
    state = _without(state, number)
    state = state._replace(processes=(*state.processes, one._replace(out=False)), returns=state.returns - 1)
    return _regroup(policy, state, joining=(new,))


def _regroup(
    policy: GroupPolicy, state: State, joining: tuple[int, ...] = (), leaving: int = classic.NOBODY
) -> tuple[State, Effects]:
    """One rebalance to its end. Members that live and do not know themselves dropped take part."""
    before = {number: owned(_process_of(state, number).consumer) for number in _living(state)}
    group = state.group
    taking_part = [n for n in _living(state) if n in joining or (_is_member(state, n) and n != leaving)]
    if isinstance(group, classic.Group):
        if leaving != classic.NOBODY:
            group = classic.remove(group, leaving)
        for number in taking_part:
            group, _ = classic.join(group, number, classic.Member())
        group = classic.complete(group)
        plan = _shares(taking_part, before, sticky=policy.cooperative)
        group, _ = classic.sync(group, group.leader, group.generation, plan)
    else:
        plan = _shares(taking_part, before, sticky=True)
        if leaving != classic.NOBODY:
            group = epochs.remove(group, leaving, lambda _: plan)
        for number in joining:
            group, _ = epochs.join(group, number, "", lambda _: plan)
        for number in (*taking_part, *taking_part):
            group, _ = epochs.heartbeat(group, number, plan.get(number, ()))
    eager = policy.protocol == "classic" and not policy.cooperative
    effects: list[str] = []
    for number in taking_part:
        kept = () if eager else plan[number]
        state, more = _give_up(
            policy, state, number, tuple(p for p in before.get(number, ()) if p not in kept)
        )
        effects += more
    state = state._replace(group=group)
    for number in taking_part:
        one = _process_of(state, number)
        new = [p for p in plan[number] if one.consumer.positions[p] == NOT_OWNED]
        consumer = assign(one.consumer, {p: state.committed[p] for p in new})
        state = _put(state, number, one._replace(consumer=consumer, generation=_generation(group, number)))
        effects += [f"m{number} owns p{p} from {state.committed[p]}" for p in new]
    return state, tuple(effects)


def _shares(
    taking_part: list[int], before: Mapping[int, tuple[int, ...]], sticky: bool
) -> dict[int, tuple[int, ...]]:
    """Two partitions over one or two members: to one both; to two one each, kept where it can be."""
    if len(taking_part) <= 1:
        return {number: tuple(PARTITIONS) for number in taking_part}
    first, second = taking_part
    swapped = before.get(first, ())[:1] == (1,) or before.get(second, ())[:1] == (0,)
    if sticky and swapped and len(before.get(first, ())) < len(ENDS):
        return {first: (1,), second: (0,)}
    return {first: (0,), second: (1,)}


# -- small things ------------------------------------------------------------------------------------------


def _generation(group: classic.Group | epochs.EpochGroup, number: int) -> int:
    return group.generation if isinstance(group, classic.Group) else epochs.member(group, number).epoch


def _is_member(state: State, number: int) -> bool:
    group = state.group
    return classic.knows(group, number) if isinstance(group, classic.Group) else epochs.knows(group, number)


def _living(state: State) -> list[int]:
    return [number for number, one in enumerate(state.processes) if one is not None and not one.out]


def _dead(state: State) -> list[int]:
    """Members whose process is gone and whose session is not over."""
    return [n for n, one in enumerate(state.processes) if one is None and _is_member(state, n)]


def _process_of(state: State, number: int) -> Process:
    one = state.processes[number]
    if one is None:
        raise KeyError(number)
    return one


def _put(state: State, number: int, one: Process | None) -> State:
    processes = state.processes
    return state._replace(processes=(*processes[:number], one, *processes[number + 1 :]))


def _without(state: State, number: int) -> State:
    return _put(state, number, None)


def _spend(state: State, fault: str) -> State:
    place = FAULTS.index(fault)
    left = state.left
    return state._replace(left=(*left[:place], left[place] - 1, *left[place + 1 :]))
