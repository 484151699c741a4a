"""Sticky and cooperative-sticky since 3.0 (AbstractStickyAssignor): balance, then keep, then match racks.

Equal subscriptions are filled to quotas; unequal ones go to `assignors_general`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from .general import General
from .java_order import TopicPartition, java_sorted
from .members import NEVER, Assignment, AssignmentFailed, Member, Metadata, racks_matter

Owned = dict[str, list[TopicPartition]]


def assign_sticky(
    members: Sequence[Member], metadata: Metadata, *, cooperative: bool, by_rack: bool
) -> Assignment:
    existing = metadata.existing(members)
    owned, contested = _claims(members, existing)
    racks = Racks(members, existing, metadata if by_rack else Metadata({}))
    if first_different(members) is None:
        quotas = _Quotas(existing, owned, contested, racks)
        assignment = quotas.fill()
        moving = quotas.moving
    else:
        general = General(members, existing, owned, previous=_previous(members), mismatch=racks.mismatch)
        general.drop_what_is_not_subscribed()
        assignment = general.balance(racks.aware)
        moving = changing_hands(members, assignment) if cooperative else {}
    if cooperative:
        withhold(assignment, moving)
    return assignment


def first_different(members: Sequence[Member]) -> int | None:
    """Position of the first member whose topics are not those of the members before it."""
    topics: set[str] = set()
    for position, member in enumerate(members):
        if not topics:
            topics = set(member.topics)
        elif len(member.topics) != len(topics) or not topics.issuperset(member.topics):
            return position
    return None


def changing_hands(members: Sequence[Member], assignment: Assignment) -> dict[TopicPartition, str]:
    """Partitions that somebody still owns and somebody else is to have."""
    added: dict[TopicPartition, str] = {}
    revoked: set[TopicPartition] = set()
    owned = {member.id: set(member.owned) for member in members}
    for member, partitions in assignment.items():
        for partition in partitions:
            if partition not in owned[member]:
                added[partition] = member
        revoked |= owned[member].difference(partitions)
    return {partition: member for partition, member in added.items() if partition in revoked}


def withhold(assignment: Assignment, moving: Mapping[TopicPartition, str]) -> None:
    for member in dict.fromkeys(moving.values()):
        assignment[member] = [part for part in assignment[member] if moving.get(part) != member]


def _claims(members: Sequence[Member], existing: Mapping[str, int]) -> tuple[Owned, set[TopicPartition]]:
    """What each member owned of topics that exist, and what two claimed in one generation.

    A claim is compared with the generation that the other member *stated beside* its subscription, as Kafka
    does, also where the claim itself came in the assignor's own data.
    """
    everything = [partition for member in members for partition in member.owned]
    if len(set(everything)) == len(everything):
        return {member.id: [p for p in member.owned if p[0] in existing] for member in members}, set()
    stated = {
        member.id: member.generation if member.stated_generation is None else member.stated_generation
        for member in members
    }
    owner: dict[TopicPartition, str] = {}
    owned: Owned = {}
    contested: set[TopicPartition] = set()
    for member in members:
        mine: list[TopicPartition] = []
        owned[member.id] = mine
        for partition in member.owned:
            if partition[0] not in existing:
                continue
            other = owner.get(partition)
            if other is None:
                mine.append(partition)
                owner[partition] = member.id
            elif member.generation == stated[other]:
                contested.add(partition)
                _drop(owned[other], partition)
                owner[partition] = member.id
            elif member.generation > stated[other]:
                mine.append(partition)
                _drop(owned[other], partition)
                owner[partition] = member.id
    return owned, contested


def _drop(partitions: list[TopicPartition], partition: TopicPartition) -> None:
    if partition in partitions:
        partitions.remove(partition)


def _previous(members: Sequence[Member]) -> dict[TopicPartition, str]:
    """Who had a partition in an older generation than the latest that any member knows."""
    latest = max((member.generation for member in members), default=NEVER)
    kept: dict[TopicPartition, tuple[str, int]] = {}
    for member in members:
        # A sticky member without data of its own counts as having none; it also has no partitions.
        if member.generation < latest:
            for partition in member.owned:
                known = kept.get(partition)
                if known is None or member.generation > known[1]:
                    kept[partition] = (member.id, member.generation)
    return {partition: member for partition, (member, _) in kept.items()}


class Racks:
    """Which member is in a rack of which partition's replicas (KIP-881)."""

    def __init__(self, members: Sequence[Member], existing: Mapping[str, int], metadata: Metadata) -> None:
        racks = {member.id: member.rack for member in members if member.rack} if metadata.racks else {}
        counts: dict[str, int] = {}
        for rack in racks.values():
            counts[rack] = counts.get(rack, 0) + 1
        replicas: dict[TopicPartition, frozenset[str]] = {}
        if racks:
            replicas = {
                (topic, number): metadata.racks.get((topic, number), frozenset())
                for topic, count in existing.items()
                for number in range(count)
            }
        self.aware = racks_matter(set(racks.values()), list(replicas.values()))
        self.of_member = racks if self.aware else {}
        self.of_partition = replicas if self.aware else {}
        # Kafka orders partitions by these numbers even where it then pays no heed to racks.
        self._near = {part: sum(counts.get(rack, 0) for rack in own) for part, own in replicas.items()}

    def mismatch(self, member: str, partition: TopicPartition) -> bool:
        rack = self.of_member.get(member)
        return rack is not None and rack not in self.of_partition.get(partition, ())

    def fewest_first(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        if not self._near:
            return partitions
        return sorted(partitions, key=lambda partition: self._near.get(partition, 0))

    def next_match(self, partition: TopicPartition, members: Sequence[str], start: int) -> int | None:
        """Position of the first member from `start` on, going round, in a rack of the partition."""
        racks = self.of_partition.get(partition, frozenset())
        for step in range(len(members)):
            position = (start + step) % len(members)
            if self.of_member.get(members[position]) in racks:
                return position
        return None


class _Quotas:
    """Equal subscriptions: each member gets the quota, some one more, and keeps what it had within it."""

    def __init__(
        self, existing: Mapping[str, int], owned: Owned, contested: set[TopicPartition], racks: Racks
    ) -> None:
        self.existing = existing
        self.owned = owned
        self.contested = contested
        self.racks = racks
        total = sum(existing.values())
        self.least, self.with_more = divmod(total, len(owned))
        self.most = self.least + (self.with_more > 0)
        self.over = 0  # members that have one more than the least
        self.below: list[str] = []
        self.at_least: list[str] = []
        self.revoked: dict[TopicPartition, str] = {}
        self.assignment: Assignment = {}
        self.moving: dict[TopicPartition, str] = {}

    def fill(self) -> Assignment:
        for member, partitions in self.owned.items():
            self.assignment[member] = self._keep(member, partitions)
        self.below = java_sorted(self.below)
        self.at_least = java_sorted(self.at_least)
        waiting = self.racks.fewest_first(self._unassigned())
        if self.racks.aware:
            waiting = self._give_by_rack(waiting)
        self._give_in_turn(waiting)
        self._check()
        return self.assignment

    def _keep(self, member: str, partitions: list[TopicPartition]) -> list[TopicPartition]:
        if self.racks.aware:
            misplaced = [part for part in partitions if self.racks.mismatch(member, part)]
            self.revoked.update(dict.fromkeys(misplaced, member))
            gone = self.contested.union(misplaced)
        else:
            gone = self.contested
        kept = [part for part in partitions if part not in gone] if gone else list(partitions)
        kept.sort(key=lambda part: (part[1], part[0]))
        if len(kept) < self.least:
            self.below.append(member)
            return kept
        if len(kept) >= self.most and self.over < self.with_more:
            self.over += 1
            if self.over == self.with_more:
                self.at_least.clear()
            limit = self.most
        else:
            limit = self.least
            if self.over < self.with_more:
                self.at_least.append(member)
        for partition in kept[limit:]:
            self.revoked[partition] = member
        return kept[:limit]

    def _unassigned(self) -> list[TopicPartition]:
        kept = {partition for partitions in self.assignment.values() for partition in partitions}
        topics = java_sorted(self.existing)
        phantoms = [part for part in kept if part[1] >= self.existing[part[0]]]
        if not phantoms:
            return [(t, n) for t in topics for n in range(self.existing[t]) if (t, n) not in kept]
        # Kafka walks two sorted lists side by side and stops matching at a partition that exists no more (a
        # topic made anew with fewer): everything after it is assigned a second time.
        rank = {topic: position for position, topic in enumerate(topics)}
        stop = min((rank[topic], number) for topic, number in phantoms)
        return [
            (topic, number)
            for topic in topics
            for number in range(self.existing[topic])
            if (rank[topic], number) > stop or (topic, number) not in kept
        ]

    def _give(self, partition: TopicPartition, member: str) -> int:
        self.assignment[member].append(partition)
        self._note_moves([partition], member)
        return len(self.assignment[member])

    def _give_by_rack(self, waiting: list[TopicPartition]) -> list[TopicPartition]:
        """Round robin among members of fitting racks; what is left fits nobody who has room."""
        left, start = [], 0
        for partition in waiting:
            position = self.racks.next_match(partition, self.below, start)
            member = None
            if position is not None:
                member = self.below[position]
                count = len(self.assignment[member]) + 1
                if count >= self.least:
                    del self.below[position]
                    if count < self.most and self.over < self.with_more:
                        self.at_least.append(member)
                else:
                    position += 1
                start = position % len(self.below) if self.below else 0
            elif self.at_least:
                member = self._lift_by_rack(partition)
            if member is None:
                left.append(partition)
            else:
                self._give(partition, member)
        return left

    def _lift_by_rack(self, partition: TopicPartition) -> str | None:
        position = self.racks.next_match(partition, self.at_least, 0)
        if position is None:
            return None
        member = self.at_least[position]
        if len(self.assignment[member]) + 1 == self.most:
            del self.at_least[position]
            self.over += 1
            if self.over == self.with_more:
                self.at_least.clear()
        return member

    def _give_in_turn(self, waiting: list[TopicPartition]) -> None:
        """Rounds over the members below the quota, then one more for each that may have it."""
        at_least = deque(self.at_least)
        below, place = self.below, 0
        done = self._give_rounds(waiting, at_least)
        for partition in waiting[done:]:
            if place >= len(below):
                place = 0
            if below:
                member = below[place]
            elif at_least:
                member = at_least.popleft()
            else:
                raise AssignmentFailed("no member has room for the partitions that are left")
            count = self._give(partition, member)
            if count == self.least:
                if not below:
                    raise AssignmentFailed("a member without a partition of its own was filled twice")
                del below[place]
                at_least.append(member)
            else:
                place += 1
                if count == self.most:
                    self.over += 1

    def _give_rounds(self, waiting: list[TopicPartition], at_least: deque[str]) -> int:
        """Whole rounds at once, as long as nobody is filled within one; how many partitions that gave out.

        In each round everybody below the quota gets one, so a member gets every nth of the partitions.
        """
        done = 0
        watched = self.contested.union(self.revoked)
        while self.below:
            width = len(self.below)
            rounds = min(self.least - len(self.assignment[member]) for member in self.below)
            end = done + rounds * width
            if rounds < 1 or end > len(waiting):
                break
            still_below: list[str] = []
            for position, member in enumerate(self.below):
                given = waiting[done + position : end : width]
                self.assignment[member].extend(given)
                if not watched.isdisjoint(given):
                    self._note_moves(given, member)
                full = len(self.assignment[member]) == self.least
                (at_least if full else still_below).append(member)
            self.below[:] = still_below
            done = end
        return done

    def _note_moves(self, partitions: list[TopicPartition], member: str) -> None:
        for partition in partitions:
            if self.revoked.get(partition, member) != member or partition in self.contested:
                self.moving[partition] = member

    def _check(self) -> None:
        if self.below and self.over != self.with_more:
            raise AssignmentFailed("some members have too few partitions and none are left")
        if any(len(self.assignment[member]) != self.least for member in self.below):
            raise AssignmentFailed("a member has fewer partitions than the others must have")
