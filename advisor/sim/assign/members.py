"""Who takes part in an assignment and what they know: the values that every assignor works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...tuples import NamedTuple
from .java_order import TopicPartition, map_order

NEVER = -1
"""The generation of a member that never had one."""

Version = tuple[int, int]
Assignment = dict[str, list[TopicPartition]]


class Member(NamedTuple):
    """What a member says when it joins. `owned` and `generation` are what it kept of its last assignment."""

    id: str
    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...] = ()
    generation: int = NEVER
    instance_id: str | None = None
    rack: str | None = None
    # KIP-792: the generation beside the subscription, which settles whose claim to a partition is newer.
    # None: the same as `generation`. A member that was thrown out states none (NEVER) and may still bring the
    # sticky assignor's memory of what it had.
    stated_generation: int | None = None


class Metadata(NamedTuple):
    """What the group's leader knows of topics: partition counts (0: unknown), racks of their replicas."""

    partitions: Mapping[str, int]
    racks: Mapping[TopicPartition, frozenset[str]] = {}

    def existing(self, members: Sequence[Member]) -> dict[str, int]:
        """The topics that somebody subscribes to and that exist, as HashMap holds them."""
        lists = dict.fromkeys(member.topics for member in members)
        subscribed = map_order(topic for topics in lists for topic in topics)
        known = [topic for topic in subscribed if self.partitions.get(topic, 0) > 0]
        return {topic: self.partitions[topic] for topic in map_order(known)}


class AssignmentFailed(ValueError):
    """Kafka's assignor throws: the leader leaves with the error and the group stays without assignment."""


def racks_matter(consumer_racks: set[str], replica_racks: Sequence[frozenset[str]]) -> bool:
    """Racks are looked at if some consumer is in a rack of some replica and not every partition is in all."""
    everywhere: frozenset[str] = frozenset().union(*replica_racks)
    return not consumer_racks.isdisjoint(everywhere) and any(racks != everywhere for racks in replica_racks)
