"""A small group for the search: which records does it pass over, which does it process twice?

The smallest group that can do either: two members, two partitions, three records, batches of at most two.
Join and sync are one event and nothing is timed: an adversary chooses when a member polls, processes,
commits, dies or is dropped. The coordinator's rules are those of group.py and group_epochs.py, the member's
those of consumer.py.

    poll m0        records come into its hand; with auto-commit the adversary also chooses whether a commit
                   is due (`poll m0 committing`, and for KIP-848 `poll m0 committing late`)
    process m0     the next record in hand; of a pool of workers any one may be done first (`process m0 p0:1`)
    commit m0      the application's own commit, by its style
    store m0       the same into a store of the application's own (group_store.py)
    deliver m0     an asynchronous commit reaches the coordinator, with the generation it was sent under
    expire m0      the session of a member that died is over: the others share its partitions
    return m1      a member that is out of the group joins again
    restart m1     a consumer that assigned its partitions itself and died starts again

Faults: member_crash (the process is gone with what it had in hand) and rebalance, which is a member that
leaves in an orderly way (`leave`) or one that is dropped while it works on (`drop`: a slow batch, a pause).

At the start both partitions have a committed (or stored) offset, 0: a group's first start is not a fault.
Members that assign() themselves all partitions are known to no coordinator: nobody drops them, nobody takes
over from them, and their commits carry no generation. Left out: commits that fail for other reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .. import classic as classic
from .. import kip848 as epochs
from ..consumer import (
    AUTO,
    BEFORE,
    FINISHED,
    FIRST_OPEN,
    NEVER,
    NOT_OWNED,
    WITH_OUTPUT,
    Consumer,
    Span,
    assign,
    commit,
    consumed,
    fetch,
    owned,
    process,
    process_one,
    revoke,
)
from .states import (
    COUNTED,
    ENDS,
    FAULTS,
    PARTITIONS,
    RETURNS,
    Effects,
    Event,
    GroupPolicy,
    Process,
    State,
    dead,
    generation_of,
    is_member,
    living,
    process_of,
    put,
    spend,
    without,
)
from .store import begin, refused, sought, written


def initial(policy: GroupPolicy, faults: Mapping[str, int]) -> State:
    """Two members, a partition each (or all, if they assign themselves), nothing read."""
    nobody = Process(Consumer((NOT_OWNED,) * len(ENDS)), 0)
    group: classic.Group | epochs.EpochGroup
    group = classic.Group() if policy.protocol == "classic" else epochs.EpochGroup(partitions=len(ENDS))
    nothing = (0,) * len(ENDS)
    state = State(
        group,
        (nobody, nobody),
        nothing,
        tuple((0,) * end for end in ENDS),
        tuple(faults.get(name, 0) for name in FAULTS),
        RETURNS,
        stored=nothing if policy.reading.store else (),
    )
    for number in policy.assigned:
        state = put(state, number, _alone(dict(enumerate(nothing))))
    for number in range(policy.instances, 2):
        state = without(state, number)
    subscribed = tuple(number for number in range(policy.instances) if number not in policy.assigned)
    if subscribed:
        state, _ = _regroup(policy, state, joining=subscribed)
    if policy.reading.store and not policy.automatic:
        state = state._replace(committed=(NEVER,) * len(ENDS))
    return state


def _alone(starts: Mapping[int, int]) -> Process:
    """A consumer that assigns itself every partition: its commits carry no generation."""
    consumer = assign(Consumer((NOT_OWNED,) * len(ENDS)), starts)
    return Process(consumer, classic.NO_GENERATION, alone=True)


def enabled(policy: GroupPolicy, state: State) -> Iterator[Event]:
    """What can happen now, in a fixed order: the healthy run first, then what follows a fault, then
    faults."""
    crashes, rebalances = state.left
    for number, one in enumerate(state.processes):
        if one is not None:
            yield from _working(policy, state, number, one)
    for number in dead(state):
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
        if rebalances and others_poll and len(living(state)) > 1 and is_member(state, number):
            if polls:
                yield Event("leave", number)
            yield Event("drop", number)
        if crashes:
            yield Event("member_crash", number)
    if state.returns:
        for number in policy.assigned:
            if state.processes[number] is None:
                yield Event("restart", number)


def _polls(policy: GroupPolicy, one: Process) -> bool:
    """Is this member between two polls? A rebalance reaches it only there."""
    return policy.reading.workers or (not one.consumer.hand and not one.due)


def _others_poll(policy: GroupPolicy, state: State, number: int) -> bool:
    """A rebalance ends when every member has come to it."""
    return all(
        one is None or one.out or other == number or not is_member(state, other) or _polls(policy, one)
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
        gone = not one.alone and not is_member(state, number)
        if more or gone:
            yield Event("poll", number)
        if policy.automatic and (more or lags) and not gone:
            yield Event("poll", number, "committing")
            if reading.late_commit and more:
                yield Event("poll", number, "committing late")
    if hand and not (reading.commits == BEFORE and one.due):
        yield Event("process", number)
        if reading.workers:
            # Only the order within a partition can make a difference: offsets are committed by partition.
            for offset in range(hand[0].first + 1, hand[0].end):
                yield Event("process", number, f"p{hand[0].partition}:{offset}")
    if reading.commits != AUTO and one.due and (reading.commits == BEFORE or reading.workers or not hand):
        yield Event("store" if reading.store else "commit", number)
    if one.flying is not None:
        yield Event("deliver", number)


def step(policy: GroupPolicy, state: State, event: Event) -> tuple[State, Effects]:
    """Apply one enabled event. Pure and total."""
    number = event.member
    match event.name:
        case "poll":
            return _poll(policy, state, number, event.how)
        case "process":
            return _process(policy, state, number, event.how)
        case "commit" if policy.reading.asynchronous:
            one = process_of(state, number)
            flying = (one.generation, tuple(_carried(policy, one).items()))
            return put(state, number, one._replace(due=False, flying=flying)), ()
        case "deliver":
            return _deliver(state, number)
        case "store":
            return _store(policy, state, number)
        case "restart":
            starts = {p: begin(policy, state, p) for p in PARTITIONS}
            state = state._replace(returns=state.returns - 1)
            return put(state, number, _alone(starts)), tuple(
                f"m{number} reads p{p} from {place}" for p, place in starts.items()
            )
        case "commit":
            return _commit(policy, state, number, _carried(policy, process_of(state, number)))
        case "member_crash":
            return spend(without(state, number), "member_crash"), ()
        case "expire":
            return _regroup(policy, state, leaving=number)
        case "leave":
            state, effects = _give_up(policy, state, number, owned(process_of(state, number).consumer))
            state, more = _regroup(policy, spend(without(state, number), "rebalance"), leaving=number)
            return state, (*effects, *more)
        case "drop":
            return _regroup(policy, spend(state, "rebalance"), leaving=number)
        case "return":
            return _return(policy, state, number)
    raise ValueError(f"no event of a group is called {event.name!r}")


# -- reading -----------------------------------------------------------------------------------------------


def _poll(policy: GroupPolicy, state: State, number: int, how: str) -> tuple[State, Effects]:
    one = process_of(state, number)
    if not one.alone and not is_member(state, number):
        return _lose(policy, state, number), (f"lost m{number}",)
    effects: Effects = ()
    reading = policy.reading
    before = consumed(one.consumer)
    after = fetch(one.consumer, ENDS, reading.batch)
    if how:
        state, effects = _offer(policy, state, number, consumed(after) if "late" in how else before)
        one = process_of(state, number)
    delivered = after.hand != one.consumer.hand
    # A worker that commits what it has finished does so when it has, not when a batch comes.
    due = one.due or (delivered and reading.commits != AUTO and reading.carries != FINISHED)
    return put(state, number, one._replace(consumer=after, due=due)), effects


def _process(policy: GroupPolicy, state: State, number: int, which: str) -> tuple[State, Effects]:
    one = process_of(state, number)
    if which:
        partition, _, offset = which[1:].partition(":")
        consumer, done = process_one(one.consumer, int(partition), int(offset))
    else:
        consumer, done = process(one.consumer)
    if policy.reading.commits == WITH_OUTPUT:
        return put(state, number, one._replace(consumer=consumer, pending=(*one.pending, *done))), ()
    if policy.reading.carries == FINISHED or policy.reading.store:
        finished = {**dict(one.finished), **{span.partition: span.end for span in done}}
        one = one._replace(finished=tuple(sorted(finished.items())), due=one.due or not one.out)
    state = put(state, number, one._replace(consumer=consumer))
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
    """What the application's own commit carries. Beside workers that is up to it: the first record that is
    not done, the one that was finished last, or all that was polled."""
    offsets = consumed(one.consumer)
    if not policy.reading.workers or policy.reading.commits == BEFORE:
        return offsets
    if policy.reading.carries == FINISHED:
        return {p: offset for p, offset in one.finished if p in offsets}
    if policy.reading.carries == FIRST_OPEN:
        for span in one.consumer.hand:
            offsets[span.partition] = min(offsets.get(span.partition, span.first), span.first)
    return offsets


def _offer(
    policy: GroupPolicy, state: State, number: int, offsets: Mapping[int, int]
) -> tuple[State, Effects]:
    """Offsets go to the coordinator, which takes them or refuses. A standalone consumer that is refused gets
    an exception and goes on; a member learns that it is out."""
    one = process_of(state, number)
    answer = _taken(state, number, one.generation)
    if answer != classic.OK and one.alone:
        return state, (f"refused m{number} {answer}",)
    if answer != classic.OK:
        return _lose(policy, state, number), (f"fenced m{number} {answer}",)
    changed = [
        f"committed p{partition}={offset}"
        for partition, offset in offsets.items()
        if state.committed[partition] != offset
    ]
    return state._replace(committed=commit(state.committed, offsets)), tuple(changed)


def _commit(
    policy: GroupPolicy, state: State, number: int, offsets: Mapping[int, int]
) -> tuple[State, Effects]:
    """The application's own commit; what was to take effect with it does so if it is taken."""
    state, effects = _offer(policy, state, number, offsets)
    one = process_of(state, number)
    if one.out:
        return state, effects
    reading = policy.reading
    open_work = reading.workers and bool(one.consumer.hand) and reading.carries == FIRST_OPEN
    due = one.due and open_work and reading.commits != BEFORE
    state = put(state, number, one._replace(due=due, pending=()))
    if any(effect.startswith("refused") for effect in effects):
        return state, effects
    state, counted = _count(state, one.pending)
    return state, (*counted, *effects)


def _store(policy: GroupPolicy, state: State, number: int) -> tuple[State, Effects]:
    """Offsets, and with them perhaps the output, go into a store of the application's own."""
    one = process_of(state, number)
    state = put(state, number, one._replace(due=False, pending=(), finished=()))
    if refused(policy, state, one):
        return put(state, number, sought(policy, state, process_of(state, number))), (
            f"fenced m{number} by the store",
        )
    offsets = written(policy, one)
    changed = [f"stored p{p}={offset}" for p, offset in offsets.items() if state.stored[p] != offset]
    state, counted = _count(state, one.pending)
    return state._replace(stored=commit(state.stored, offsets)), (*counted, *changed)


def _deliver(state: State, number: int) -> tuple[State, Effects]:
    """commitAsync: if it is refused its callback is told, and nothing else happens."""
    one = process_of(state, number)
    generation, offsets = one.flying or (classic.NO_GENERATION, ())
    state = put(state, number, one._replace(flying=None))
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
    one = process_of(state, number)
    consumer = revoke(one.consumer, tuple(PARTITIONS), forget=_forgets(policy))
    return put(state, number, one._replace(consumer=consumer, out=True, due=False, pending=()))


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
    if partitions and policy.automatic:
        state, effects = _offer(policy, state, number, consumed(process_of(state, number).consumer))
    elif partitions and reading.commits_on_revoke:
        state, effects = _commit(policy, state, number, _carried(policy, process_of(state, number)))
    one = process_of(state, number)
    consumer = revoke(one.consumer, partitions, forget=_forgets(policy))
    pending = tuple(span for span in one.pending if span.partition not in partitions)
    return put(state, number, one._replace(consumer=consumer, pending=pending)), effects


def _return(policy: GroupPolicy, state: State, number: int) -> tuple[State, Effects]:
    """Out of the group it has no member id: it comes back as a new member."""
    one = process_of(state, number)
    new = len(state.processes)
    state = without(state, number)
    state = state._replace(processes=(*state.processes, one._replace(out=False)), returns=state.returns - 1)
    return _regroup(policy, state, joining=(new,))


def _regroup(
    policy: GroupPolicy, state: State, joining: tuple[int, ...] = (), leaving: int = classic.NOBODY
) -> tuple[State, Effects]:
    """One rebalance to its end. Members that live and do not know themselves dropped take part."""
    before = {number: owned(process_of(state, number).consumer) for number in living(state)}
    group = state.group
    taking_part = [n for n in living(state) if n in joining or (is_member(state, n) and n != leaving)]
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
        one = process_of(state, number)
        new = [p for p in plan[number] if one.consumer.positions[p] == NOT_OWNED]
        starts = {p: begin(policy, state, p) for p in new}
        consumer = assign(one.consumer, starts)
        state = put(state, number, one._replace(consumer=consumer, generation=generation_of(group, number)))
        effects += [f"m{number} owns p{p} from {starts[p]}" for p in new]
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
