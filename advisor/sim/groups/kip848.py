"""A consumer group under the protocol of KIP-848 (group.protocol=consumer): epochs and reconciliation.

The coordinator keeps a target assignment; each member is led to it by its own heartbeats, without a barrier
for the others. A partition is given to its new owner only when the old one has acknowledged giving it up.
Pure, as group.py: a heartbeat is a function from the group to the group after it and what the member is told.

Where Kafka has it: ConsumerGroup, CurrentAssignmentBuilder and GroupMetadataManager of the group coordinator
(3.7 as a preview, 4.0 in general use).

- Every change of members or partitions bumps the group epoch. The target for it is computed by the next
  heartbeat of any member (`retarget`), since 4.3 not before group.consumer.assignment.interval.ms is over
  since the last one; until then members are led to the target there is.
- `reconcile`: first a member is asked to give up what is no longer its own, and stays in its epoch until it
  has; then it moves to the target's epoch and gets what nobody else still holds.
- A static member that closes sends epoch -2: its partitions wait for its return. One that is still there is
  not replaced: a second member under its instance id is refused with UNRELEASED_INSTANCE_ID until the
  session of the first is over (so a static member that was killed cannot come back before that).
- A commit must carry the member's epoch; an empty group takes one without (validateOffsetCommit). A member
  that left because it polled too late therefore commits successfully if nobody else is there.

Left out: client-side assignors and members of the classic protocol in a group of this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from ...tuples import NamedTuple
from .classic import NO_GENERATION, NOBODY, OK, UNKNOWN_MEMBER

UNRELEASED_INSTANCE = "UNRELEASED_INSTANCE_ID"
STALE_EPOCH = "STALE_MEMBER_EPOCH"

STABLE, UNREVOKED, UNRELEASED = "STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS"
AWAY = -2  # the epoch of a static member that closed and may come back
JOINING = 0

T = TypeVar("T")
Target = Mapping[int, tuple[int, ...]]
Assign = Callable[["EpochGroup"], Target]


class EpochMember(NamedTuple):
    instance: str = ""
    epoch: int = JOINING
    state: str = STABLE
    assigned: tuple[int, ...] = ()
    revoking: tuple[int, ...] = ()


class EpochGroup(NamedTuple):
    epoch: int = 0
    partitions: int = 0
    roster: tuple[EpochMember | None, ...] = ()
    target: tuple[tuple[int, ...], ...] = ()  # by member number
    target_epoch: int = 0  # the group epoch that the target was computed for


def members(group: EpochGroup) -> list[int]:
    return [number for number, member in enumerate(group.roster) if member is not None]


def knows(group: EpochGroup, number: int) -> bool:
    return number < len(group.roster) and group.roster[number] is not None


def member(group: EpochGroup, number: int) -> EpochMember:
    found = group.roster[number]
    if found is None:
        raise KeyError(number)
    return found


def join(group: EpochGroup, number: int, instance: str, assign: Assign | None) -> tuple[EpochGroup, str]:
    """The first heartbeat of a member (epoch 0). No `assign`: it is too early for another target."""
    holder = _holding(group, instance)
    if holder != NOBODY:
        old = member(group, holder)
        if old.epoch != AWAY:
            return group, UNRELEASED_INSTANCE
        # The target stays: what waited for the member is given back to it.
        target = _put(group.target, number, group.target[holder], ())
        target = _put(target, holder, (), ())
        roster = _put(_put(group.roster, holder, None, None), number, EpochMember(instance), None)
        return reconcile(group._replace(roster=roster, target=target), number, ()), OK
    roster = _put(group.roster, number, EpochMember(instance), None)
    group = bump(group._replace(roster=roster, target=_put(group.target, number, (), ())))
    return reconcile(retarget(group, assign), number, ()), OK


def bump(group: EpochGroup) -> EpochGroup:
    """Members or partitions changed: another epoch, whose target is still to be computed."""
    return group._replace(epoch=group.epoch + 1)


def behind(group: EpochGroup) -> bool:
    """Is the target one of an earlier epoch?"""
    return group.target_epoch < group.epoch


def retarget(group: EpochGroup, assign: Assign | None) -> EpochGroup:
    if assign is None or not behind(group):
        return group
    wanted = assign(group)
    target = tuple(wanted.get(number, ()) for number in range(len(group.roster)))
    return group._replace(target=target, target_epoch=group.epoch)


def heartbeat(
    group: EpochGroup, number: int, owned: tuple[int, ...], assign: Assign | None = None
) -> tuple[EpochGroup, str]:
    """A regular heartbeat, which says what the member owns; it is told `member(group, number).assigned`."""
    if not knows(group, number):
        return group, UNKNOWN_MEMBER
    return reconcile(retarget(group, assign), number, owned), OK


def reconcile(group: EpochGroup, number: int, owned: tuple[int, ...]) -> EpochGroup:
    """One step of the member towards its target (CurrentAssignmentBuilder.build)."""
    entry = member(group, number)
    if entry.state == UNREVOKED:
        if any(partition in owned for partition in entry.revoking):
            return group
        entry = entry._replace(revoking=(), state=STABLE)
    elif entry.state == STABLE and entry.epoch == group.target_epoch:
        return group
    return group._replace(roster=_put(group.roster, number, _next(group, number, entry, owned), None))


def _next(group: EpochGroup, number: int, entry: EpochMember, owned: tuple[int, ...]) -> EpochMember:
    target = group.target[number]
    kept = tuple(partition for partition in entry.assigned if partition in target)
    leaving = tuple(partition for partition in entry.assigned if partition not in target)
    if any(partition in owned for partition in leaving):
        return entry._replace(state=UNREVOKED, assigned=kept, revoking=leaving)
    held = holders(group, number)
    free = tuple(partition for partition in target if partition not in kept and partition not in held)
    waits = len(kept) + len(free) < len(target)
    return entry._replace(
        epoch=group.target_epoch,
        state=UNRELEASED if waits else STABLE,
        assigned=tuple(sorted((*kept, *free))),
        revoking=(),
    )


def holders(group: EpochGroup, but: int) -> dict[int, int]:
    """Which partition is held by which other member, those still to be given up included."""
    held: dict[int, int] = {}
    for number, entry in enumerate(group.roster):
        if entry is not None and number != but:
            for partition in (*entry.assigned, *entry.revoking):
                held[partition] = number
    return held


def expecting(group: EpochGroup) -> list[int]:
    """The members whose next heartbeat would tell them anything."""
    held: set[int] | None = None
    found = []
    for number, entry in enumerate(group.roster):
        if entry is None or entry.epoch == AWAY:
            continue
        if entry.state == UNREVOKED and not behind(group):
            continue
        if behind(group) or entry.epoch != group.target_epoch:
            found.append(number)
        elif entry.state == UNRELEASED:
            if held is None:
                held = {p for one in group.roster if one for p in (*one.assigned, *one.revoking)}
            if any(partition not in held for partition in group.target[number]):
                found.append(number)
    return found


def leave(group: EpochGroup, number: int, assign: Assign | None = None) -> EpochGroup:
    """A clean close: a dynamic member is gone, a static one (epoch -2) is waited for."""
    entry = member(group, number)
    if entry.instance:
        return group._replace(roster=_put(group.roster, number, entry._replace(epoch=AWAY), None))
    return remove(group, number, assign)


def remove(group: EpochGroup, number: int, assign: Assign | None = None) -> EpochGroup:
    """A member is gone for good: it left, or its session is over."""
    if not knows(group, number):
        return group
    roster, target = _put(group.roster, number, None, None), _put(group.target, number, (), ())
    return retarget(bump(group._replace(roster=roster, target=target)), assign)


def grow(group: EpochGroup, partitions: int, assign: Assign | None = None) -> EpochGroup:
    """The coordinator sees new partitions in its own metadata: no client has to find them."""
    return retarget(bump(group._replace(partitions=partitions)), assign)


def may_commit(group: EpochGroup, number: int, epoch: int) -> str:
    if not members(group) and epoch == NO_GENERATION:
        return OK
    if not knows(group, number):
        return UNKNOWN_MEMBER
    return OK if epoch == member(group, number).epoch else STALE_EPOCH


def _holding(group: EpochGroup, instance: str) -> int:
    if instance:
        for number, entry in enumerate(group.roster):
            if entry is not None and entry.instance == instance:
                return number
    return NOBODY


def _put(items: tuple[T, ...], index: int, value: T, filler: T) -> tuple[T, ...]:
    if index >= len(items):
        items = (*items, *(filler,) * (index + 1 - len(items)))
    return (*items[:index], value, *items[index + 1 :])
