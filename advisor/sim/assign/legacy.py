"""Sticky and cooperative-sticky up to 2.8 (AbstractStickyAssignor before KAFKA-12464 and KAFKA-12675).

They keep the first partitions a member lists, take the partitions that are missing from the fullest members
in queue order, and believe only the members of the highest generation. With unequal subscriptions they read
the data of some members twice and find it empty the second time, so those members' past counts for nothing:
it is the past of all members that come, in hash order, before the first whose topics differ.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from ...tuples import NamedTuple
from .general import General
from .java_order import TopicPartition, computed_map_order, java_sorted, spread_partition_hash, table_size
from .members import NEVER, Assignment, AssignmentFailed, Member, Metadata
from .sticky import changing_hands, first_different, withhold


class _Past(NamedTuple):
    owned: tuple[TopicPartition, ...]
    generation: int


def assign_sticky(members: Sequence[Member], metadata: Metadata, *, cooperative: bool) -> Assignment:
    existing = metadata.existing(members)
    different = first_different(members)
    if different is None:
        pasts = {member.id: _past(member, cooperative) for member in members}
        owned, contested = _claims(pasts, existing)
        assignment, moving = _fill(existing, owned, contested)
    else:
        pasts = {
            member.id: _past(member, cooperative, read_before=position < different)
            for position, member in enumerate(members)
        }
        assignment = _balance(members, existing, pasts)
        moving = changing_hands(members, assignment) if cooperative else {}
    if cooperative:
        withhold(assignment, moving)
    return assignment


def _past(member: Member, cooperative: bool, read_before: bool = False) -> _Past:
    if cooperative:
        # The list of owned partitions travels sorted, beside the data that holds the generation.
        return _Past(tuple(sorted(member.owned)), NEVER if read_before else member.generation)
    if read_before:
        return _Past((), NEVER)
    topics = computed_map_order(topic for topic, _ in member.owned)
    return _Past(
        tuple(part for topic in topics for part in member.owned if part[0] == topic), member.generation
    )


def _claims(
    pasts: Mapping[str, _Past], existing: Mapping[str, int]
) -> tuple[dict[str, list[TopicPartition]], set[TopicPartition]]:
    """What the members of the highest generation owned, and what two of them claim."""
    owned: dict[str, list[TopicPartition]] = {}
    owner: dict[TopicPartition, str] = {}
    contested: set[TopicPartition] = set()
    latest = NEVER
    for name, past in pasts.items():
        owned[name] = []
        if past.generation < latest:
            continue
        if past.generation > latest:
            latest = past.generation
            owner.clear()
            contested.clear()
            for partitions in owned.values():
                partitions.clear()
        for partition in past.owned:
            if partition[0] not in existing:
                continue
            if partition not in owner:
                owner[partition] = name
                owned[name].append(partition)
            else:
                contested.add(partition)
                if partition in owned[owner[partition]]:
                    owned[owner[partition]].remove(partition)
    return owned, contested


def _fill(
    existing: Mapping[str, int], owned: Mapping[str, list[TopicPartition]], contested: set[TopicPartition]
) -> tuple[Assignment, dict[TopicPartition, str]]:
    """Equal subscriptions: keep up to the greatest quota, fill the least, steal, hand out the rest."""
    total = sum(existing.values())
    least, rest = divmod(total, len(owned))
    most = least + (rest > 0)
    assignment: Assignment = {}
    revoked: set[TopicPartition] = set()
    below: list[str] = []
    at_least: deque[str] = deque()
    at_most: deque[str] = deque()
    for name, partitions in owned.items():
        kept = [part for part in partitions if part not in contested]
        assignment[name] = kept[:most]
        revoked.update(kept[most:])
        if len(kept) < least:
            below.append(name)
        else:
            if len(assignment[name]) == least:
                at_least.append(name)
            if len(assignment[name]) == most:
                at_most.append(name)
    taken = {part for partitions in assignment.values() for part in partitions}
    waiting = deque(
        (topic, number)
        for topic in sorted(existing)
        for number in range(existing[topic])
        if (topic, number) not in taken
    )
    moving: dict[TopicPartition, str] = {}

    def give(partition: TopicPartition, name: str) -> None:
        assignment[name].append(partition)
        if partition in revoked or partition in contested:
            moving[partition] = name

    below = java_sorted(below)
    while below and waiting:
        for name in list(below):
            if not waiting:
                break
            give(waiting.popleft(), name)
            if len(assignment[name]) == least:
                at_least.append(name)
                below.remove(name)
    for name in below:
        while len(assignment[name]) < least:
            if not at_most:
                raise AssignmentFailed("some members have too few partitions and none are left")
            stolen = assignment[at_most.popleft()].pop(0)
            assignment[name].append(stolen)
            moving[stolen] = name
        at_least.append(name)
    for partition in waiting:
        if not at_least:
            raise AssignmentFailed("some partitions are left and no member has room")
        give(partition, at_least.popleft())
    return assignment, moving


def _balance(
    members: Sequence[Member], existing: Mapping[str, int], pasts: Mapping[str, _Past]
) -> Assignment:
    by_generation: dict[TopicPartition, dict[int, str]] = {}
    for name, past in pasts.items():
        for partition in past.owned:
            by_generation.setdefault(partition, {}).setdefault(past.generation, name)
    current: Assignment = {member.id: [] for member in members}
    previous: dict[TopicPartition, str] = {}
    mask = table_size(len(by_generation)) - 1
    for partition in sorted(by_generation, key=lambda part: spread_partition_hash(part) & mask):
        owners = by_generation[partition]
        generations = sorted(owners, reverse=True)
        if partition[1] < existing.get(partition[0], 0):
            current[owners[generations[0]]].append(partition)
        if len(generations) > 1:
            previous[partition] = owners[generations[1]]
    general = General(
        members, existing, current, previous=previous, mismatch=lambda name, part: False, slack=0
    )
    general.drop_what_is_not_subscribed()
    return general.balance(by_rack=False)
