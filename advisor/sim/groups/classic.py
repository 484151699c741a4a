"""A consumer group as its coordinator keeps it: the classic protocol of join, sync, heartbeat and leave.

Pure: each request is a function from a group to the group after it and the coordinator's answer. Members are
numbers in the order of their first join; which name a member has, and so where it is sorted, is the caller's
matter. The leader's plan comes from outside, as in Kafka, where a client computes it.

    Empty -> PreparingRebalance -> CompletingRebalance -> Stable
    join of anybody, leave, expiry ^   all have joined ^   ^ the leader's sync

Where Kafka has it (ClassicGroup and GroupMetadataManager in 4.x, GroupMetadata and GroupCoordinator before):

- A join is parked until every known member has joined, or the rebalance timeout (the largest
  max.poll.interval.ms of the members) is over: `complete` then drops dynamic members that did not come.
  Static ones (KIP-345, 2.3 on) stay until their session ends.
- The strategy is voted from those that every member supports; a join that would leave none in common is
  refused with INCONSISTENT_GROUP_PROTOCOL and changes nothing.
- Each completed join is a new generation. A commit of an earlier one is refused (ILLEGAL_GENERATION), of a
  member that was dropped likewise (UNKNOWN_MEMBER_ID); this is what fences a late commit.
- A static member that comes back into a stable group gets its old assignment at once and nobody else learns
  of it; whoever held the instance id before is fenced (FENCED_INSTANCE_ID).

Left out: the round in which a dynamic member is first told its id (KIP-394), and groups that are too large.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...tuples import NamedTuple
from ..assign.java_order import map_order

EMPTY, PREPARING, COMPLETING, STABLE = "Empty", "PreparingRebalance", "CompletingRebalance", "Stable"

# Answers of the coordinator.
OK = "ok"
PARKED = "parked"  # a join that waits for the others
RETURNED = "returned"  # a static member given its old assignment at once
REBALANCING = "REBALANCE_IN_PROGRESS"
UNKNOWN_MEMBER = "UNKNOWN_MEMBER_ID"
STALE_GENERATION = "ILLEGAL_GENERATION"
FENCED_INSTANCE = "FENCED_INSTANCE_ID"
INCONSISTENT = "INCONSISTENT_GROUP_PROTOCOL"

NOBODY = -1
NO_GENERATION = -1


class Member(NamedTuple):
    """What the coordinator knows of a member."""

    strategies: tuple[str, ...] = ("range",)
    instance: str = ""  # group.instance.id; "": a dynamic member
    owned: tuple[int, ...] = ()  # what it said it owns, with its last join
    assigned: tuple[int, ...] = ()


class Group(NamedTuple):
    phase: str = EMPTY
    generation: int = 0
    strategy: str = ""
    leader: int = NOBODY
    roster: tuple[Member | None, ...] = ()  # by member number; None: dropped, its number is not used again
    fenced: tuple[int, ...] = ()  # members whose instance id another one took
    joined: frozenset[int] = frozenset()  # members whose join is parked
    size: int = 0  # how many members there are: counted, because every join asks


def members(group: Group) -> list[int]:
    return [number for number, member in enumerate(group.roster) if member is not None]


def knows(group: Group, number: int) -> bool:
    return number < len(group.roster) and group.roster[number] is not None


def member(group: Group, number: int) -> Member:
    found = group.roster[number]
    if found is None:
        raise KeyError(number)
    return found


def everybody_joined(group: Group) -> bool:
    """May the join phase end without waiting for anybody?"""
    return len(group.joined) == group.size


def join(group: Group, number: int, request: Member) -> tuple[Group, str]:
    """A JoinGroup request. `request.owned` is what the member says it owns (eager members own nothing)."""
    if number in group.fenced:
        return group, FENCED_INSTANCE
    known = group.roster[number] if knows(group, number) else None
    same = known is not None and known.strategies == request.strategies
    if not same and not _in_common(group, request.strategies, number, request.instance):
        return group, INCONSISTENT
    holder = holding(group, request.instance)
    if holder not in (NOBODY, number):
        return _take_over(group, holder, number, request)
    entry = request._replace(assigned=known.assigned if known else ())
    return prepare(_parked(_with(group, number, entry), number)), PARKED


def rejoin(group: Group, numbers: Iterable[int], owned: Mapping[int, tuple[int, ...]]) -> Group:
    """Many dynamic members at once, known, with the strategies they have: as so many calls of join. `owned`
    is what those say who keep it; the others gave everything up, as they did before."""
    roster = group.roster
    if owned:
        entries = list(roster)
        for number, mine in owned.items():
            entry = member(group, number)
            if entry.owned != mine:
                entries[number] = entry._replace(owned=mine)
        roster = tuple(entries)
    return prepare(group._replace(roster=roster, joined=group.joined.union(numbers)))


def _parked(group: Group, number: int) -> Group:
    return group._replace(joined=group.joined | {number})


def holding(group: Group, instance: str) -> int:
    """Which member has this group.instance.id, if any."""
    if instance:
        for number, entry in enumerate(group.roster):
            if entry is not None and entry.instance == instance:
                return number
    return NOBODY


def _take_over(group: Group, holder: int, number: int, request: Member) -> tuple[Group, str]:
    """A static member under a new member id: the old one is fenced. In a stable group whose vote would come
    out the same nothing is rebalanced (updateStaticMemberThenRebalanceOrCompleteJoin)."""
    old = member(group, holder)
    group = _with(_with(group, holder, None), number, request._replace(assigned=old.assigned))
    group = group._replace(
        fenced=(*group.fenced, holder), leader=number if group.leader == holder else group.leader
    )
    if group.phase == STABLE and vote(group) == group.strategy:
        return group, RETURNED
    return prepare(_parked(group, number)), PARKED


def prepare(group: Group) -> Group:
    """Everybody has to join again."""
    if group.phase == PREPARING:
        return group
    return group._replace(phase=PREPARING)


def complete(group: Group) -> Group:
    """The join phase ends: who has not joined is dropped (static members are not), a new generation begins,
    the strategy is voted and the leader is the first that is there."""
    if not everybody_joined(group):
        roster = tuple(
            entry if entry is None or entry.instance or number in group.joined else None
            for number, entry in enumerate(group.roster)
        )
        group = group._replace(roster=roster, size=sum(entry is not None for entry in roster))
    group = group._replace(joined=frozenset(), generation=group.generation + 1)
    if not group.size:
        return group._replace(phase=EMPTY, leader=NOBODY, strategy="")
    leader = group.leader
    if leader == NOBODY or not knows(group, leader):
        leader = members(group)[0]
    return group._replace(phase=COMPLETING, strategy=vote(group), leader=leader)


def sync(
    group: Group, number: int, generation: int, plan: Mapping[int, tuple[int, ...]] | None
) -> tuple[Group, str]:
    """A SyncGroup request; the leader's carries the plan and makes the group stable."""
    answer = standing(group, number, generation)
    if answer != OK:
        return group, answer
    if group.phase == PREPARING:
        return group, REBALANCING
    if group.phase == COMPLETING and number == group.leader and plan is not None:
        make, roster = tuple.__new__, list(group.roster)
        if len(plan) < group.size:
            plan = {other: plan.get(other, ()) for other in members(group)}
        for other, given in plan.items():
            entry = roster[other]
            if entry is not None:
                strategies, instance, owned, _ = entry
                roster[other] = make(Member, (strategies, instance, owned, given))
        return group._replace(phase=STABLE, roster=tuple(roster)), OK
    return group, OK if group.phase == STABLE else PARKED


def heartbeat(group: Group, number: int, generation: int) -> str:
    answer = standing(group, number, generation)
    if answer == OK and group.phase == PREPARING:
        return REBALANCING
    return answer


def standing(group: Group, number: int, generation: int) -> str:
    """Is this still a member, and is it of this generation?"""
    if number in group.fenced:
        return FENCED_INSTANCE
    if not knows(group, number):
        return UNKNOWN_MEMBER
    return OK if generation == group.generation else STALE_GENERATION


def session_taken(session_ms: int, bounds_ms: tuple[int, int]) -> bool:
    """A join with a session outside of group.min and group.max.session.timeout.ms is refused with
    INVALID_SESSION_TIMEOUT, which ends the consumer (GroupMetadataManager.classicGroupJoin)."""
    return bounds_ms[0] <= session_ms <= bounds_ms[1]


def may_commit(group: Group, number: int, generation: int) -> str:
    """Would an offset commit be taken (ClassicGroup.validateOffsetCommit)? Between the end of a join phase
    and the leader's plan it is refused with a request to come back; while a join phase is open it is
    taken, so that members may commit before they join. An empty group takes a commit without a generation,
    which is how a standalone consumer commits."""
    if group.phase == EMPTY and generation == NO_GENERATION:
        return OK
    answer = standing(group, number, generation)
    if answer == OK and group.phase == COMPLETING:
        return REBALANCING
    return answer


def remove(group: Group, number: int) -> Group:
    """A member left, or its session is over: the others join again."""
    if not knows(group, number):
        return group
    group = _with(group, number, None)
    if group.leader == number:
        group = group._replace(leader=NOBODY)
    if not members(group):
        return group._replace(phase=EMPTY, generation=group.generation + 1, strategy="")
    return prepare(group)


def vote(group: Group) -> str:
    """Every member votes for the first of its strategies that all support; the most votes win, and of equals
    the one that comes first in a HashMap of names (ClassicGroup.selectProtocol)."""
    entries = [entry for entry in group.roster if entry is not None]
    first = entries[0].strategies
    for entry in entries:
        if entry.strategies is not first:
            break
    else:
        return first[0]
    common = [
        strategy
        for strategy in entries[0].strategies
        if all(strategy in entry.strategies for entry in entries)
    ]
    votes: dict[str, int] = {}
    for entry in entries:
        choice = next(strategy for strategy in entry.strategies if strategy in common)
        votes[choice] = votes.get(choice, 0) + 1
    return max(map_order(votes), key=lambda strategy: votes[strategy])


def _in_common(group: Group, strategies: Iterable[str], number: int, instance: str) -> bool:
    others = {
        entry.strategies
        for other, entry in enumerate(group.roster)
        if entry is not None and other != number and not (instance and entry.instance == instance)
    }
    return any(all(strategy in theirs for theirs in others) for strategy in strategies)


def _with(group: Group, number: int, entry: Member | None) -> Group:
    roster = group.roster
    if number >= len(roster):
        roster = (*roster, *(None,) * (number + 1 - len(roster)))
    size = group.size + (entry is not None) - (roster[number] is not None)
    joined = group.joined - {number} if number in group.joined else group.joined
    return group._replace(roster=(*roster[:number], entry, *roster[number + 1 :]), joined=joined, size=size)
