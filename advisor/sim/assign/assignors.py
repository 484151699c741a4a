"""Who reads which partition: the assignors of Kafka's consumer, as the leader of a group runs them.

Range and round robin are here; sticky and cooperative-sticky in `sticky` (3.0 on), their
predecessors in `legacy`, and what both do for unequal subscriptions in `general`. The
broker's own assignors of KIP-848 are in `server`. Everything is decided by names, hash orders and
what members bring along: the same group is always assigned alike, as by Kafka.

Checked against the classes of 2.8.2, 3.9.1 and 4.3.1. Releases between 3.0 and 3.4, which settled claims of
two members to one partition in other ways, are taken to assign as 3.9 does, without racks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle

from .java_order import TopicPartition, java_order, java_sorted, map_order
from .members import NEVER, Assignment, Member, Metadata, Version, racks_matter

LATEST: Version = (4, 3)
CONSTRAINED_REWRITTEN: Version = (3, 0)  # KAFKA-12464, KAFKA-12675
RACKS_SINCE: Version = (3, 5)  # KIP-881


Assignor = Callable[[Sequence[Member], Metadata, Version], Assignment]
"""Members in the order of their HashMap. What a plugin's assignor is, too."""

# KIP-429: a member rebalances cooperatively only if each of its assignors can.
COOPERATIVE = frozenset({"cooperative-sticky"})


def rebalance_protocol(assignors: Sequence[str], cooperative: frozenset[str] = COOPERATIVE) -> str:
    """eager | cooperative: the best that all the assignors of a member's list support."""
    return "cooperative" if assignors and all(name in cooperative for name in assignors) else "eager"


def assign(
    assignor: str,
    members: Sequence[Member],
    metadata: Metadata,
    version: Version = LATEST,
    own: Mapping[str, Assignor] | None = None,
) -> Assignment:
    """The partitions of each member; `own` are assignors of plugins.

    A partition that nobody is given although somebody subscribes to it is withheld: a cooperative member
    must give it up first, and the next rebalance hands it on.
    """
    if own is not None and assignor in own:
        function = own[assignor]
    elif assignor in BUILT_IN:
        function = BUILT_IN[assignor]
    else:
        raise ValueError(f"assignor {assignor!r} is none of {', '.join([*BUILT_IN, *(own or {})])}")
    by_id = {member.id: member for member in members}
    return function([by_id[name] for name in map_order(by_id)], metadata, version)


def withheld(assignment: Assignment, members: Sequence[Member], metadata: Metadata) -> list[TopicPartition]:
    """Partitions of subscribed topics that the assignment gives to nobody."""
    given = {partition for partitions in assignment.values() for partition in partitions}
    existing = metadata.existing(members)
    return [
        (topic, number)
        for topic in java_sorted(existing)
        for number in range(existing[topic])
        if (topic, number) not in given
    ]


def in_turn(members: Sequence[Member]) -> list[Member]:
    """Static members by their instance ids, then the others by their member ids (MemberInfo)."""
    return sorted(
        members,
        key=lambda member: (
            (0, java_order(member.instance_id))
            if member.instance_id is not None
            else (1, java_order(member.id))
        ),
    )


def round_robin(members: Sequence[Member], metadata: Metadata, version: Version = LATEST) -> Assignment:
    """All partitions of all topics in order, dealt out one by one to the members that subscribe to each."""
    existing = metadata.existing(members)
    assignment: Assignment = {member.id: [] for member in members}
    turns = cycle(in_turn(members))
    for topic in java_sorted(existing):
        for number in range(existing[topic]):
            taker = next(member for member in turns if topic in member.topics)
            assignment[taker.id].append((topic, number))
    return assignment


def range_(members: Sequence[Member], metadata: Metadata, version: Version = LATEST) -> Assignment:
    """Topic by topic, runs of partitions; the first members get one more where it does not come out even.

    From 3.5 on, where consumers and replicas have racks and not every partition is in each, a member is first
    given what has a replica in its rack, and topics with equal counts and subscribers stay aligned.
    """
    topics = [
        _TopicRange(topic, count, [member for member in members if topic in member.topics], metadata, version)
        for topic, count in metadata.existing(members).items()
    ]
    assignment: Assignment = {member.id: [] for member in members}
    by_rack = any(topic.rack_aware for topic in topics)
    if by_rack:
        _match_racks(topics, assignment)
    for topic in topics:
        topic.deal(assignment, by_rack=False)
    if by_rack:
        for partitions in assignment.values():
            partitions.sort(key=lambda partition: (java_order(partition[0]), partition[1]))
    return assignment


class _TopicRange:
    """One topic while its partitions are dealt out in ranges."""

    def __init__(
        self, topic: str, count: int, subscribers: Sequence[Member], metadata: Metadata, version: Version
    ) -> None:
        self.topic = topic
        self.members = in_turn(subscribers)
        racks = {member.id: member.rack for member in self.members if member.rack}
        self.racks = racks if version >= RACKS_SINCE else {}
        self.left = dict.fromkeys(range(count))
        self.given = dict.fromkeys((member.id for member in self.members), 0)
        self.least, self.extra = divmod(count, len(self.members))
        self.replica_racks: list[frozenset[str]] = []
        if self.racks:
            self.replica_racks = [metadata.racks.get((topic, n), frozenset()) for n in range(count)]
        self.rack_aware = racks_matter(set(self.racks.values()), self.replica_racks)

    def matches(self, member: str, number: int) -> bool:
        rack = self.racks.get(member)
        return rack is None or (number < len(self.replica_racks) and rack in self.replica_racks[number])

    def room(self, member: str) -> int:
        return max(0, self.least + (self.extra > 0) - self.given[member])

    def give(self, assignment: Assignment, member: str, numbers: Sequence[int]) -> None:
        assignment[member].extend((self.topic, number) for number in numbers)
        self.given[member] += len(numbers)
        if self.given[member] > self.least:
            self.extra -= 1
        for number in numbers:
            self.left.pop(number, None)

    def deal(self, assignment: Assignment, *, by_rack: bool) -> None:
        for member in self.members:
            if not self.left:
                return
            fitting = [n for n in self.left if not by_rack or self.matches(member.id, n)]
            taken = fitting[: self.room(member.id)]
            if taken:
                self.give(assignment, member.id, taken)


def _match_racks(topics: Sequence[_TopicRange], assignment: Assignment) -> None:
    alike: dict[tuple[object, int], list[_TopicRange]] = {}
    for topic in topics:
        subscribers = frozenset((member, topic.racks.get(member)) for member in topic.given)
        alike.setdefault((subscribers, len(topic.replica_racks)), []).append(topic)
    for (_, count), group in alike.items():
        if len(group) > 1:
            _match_aligned(group, count, assignment)
        elif group[0].rack_aware:
            group[0].deal(assignment, by_rack=True)


def _match_aligned(topics: Sequence[_TopicRange], count: int, assignment: Assignment) -> None:
    """Equal counts and subscribers: partition n of all these topics goes to one member, or waits."""
    remaining = dict.fromkeys(topics[0].given)
    for number in range(count):
        for member in remaining:
            if all(topic.matches(member, number) and topic.room(member) > 0 for topic in topics):
                for topic in topics:
                    topic.give(assignment, member, [number])
                if not any(topic.room(member) > 0 for topic in topics):
                    del remaining[member]
                break
        if not remaining:
            return


def sticky(members: Sequence[Member], metadata: Metadata, version: Version = LATEST) -> Assignment:
    """Balance first, then let everybody keep what it had. Members revoke everything before they join, and
    bring along what they remember of their last assignment: who never had one brings nothing."""
    members = [m._replace(owned=()) if m.owned and m.generation == NEVER else m for m in members]
    if version < CONSTRAINED_REWRITTEN:
        from .legacy import assign_sticky as assign_old

        return assign_old(members, metadata, cooperative=False)
    from .sticky import assign_sticky

    return assign_sticky(members, metadata, cooperative=False, by_rack=version >= RACKS_SINCE)


def cooperative_sticky(
    members: Sequence[Member], metadata: Metadata, version: Version = LATEST
) -> Assignment:
    """As sticky, but members keep reading: what changes hands is withheld until its owner has let go."""
    if version < CONSTRAINED_REWRITTEN:
        from .legacy import assign_sticky as assign_old

        return assign_old(members, metadata, cooperative=True)
    from .sticky import assign_sticky

    return assign_sticky(members, metadata, cooperative=True, by_rack=version >= RACKS_SINCE)


BUILT_IN: dict[str, Assignor] = {
    "range": range_,
    "roundrobin": round_robin,
    "sticky": sticky,
    "cooperative-sticky": cooperative_sticky,
}
