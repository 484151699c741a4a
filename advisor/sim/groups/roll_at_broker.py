"""A group that the broker assigns for, while it is rolled: members of both protocols side by side (KIP-848).

The first member of the consumer protocol that joins a classic group turns it into a group of the broker's
(ConsumerGroup.fromClassicGroup): epoch and assignments stay, and from then on the broker's assignor plans for
all. Classic members are told of every new plan by their heartbeats and join and sync as ever; what they get
is their part of it. A plan is made when somebody joins, or at a heartbeat of a member of the consumer
protocol, never at one of a classic member. When the last member of the consumer protocol is gone it is a
classic group again, if the brokers are set so; else what that member read waits until somebody joins.
"""

from __future__ import annotations

from collections.abc import Callable

from . import classic as classic
from . import kip848 as epochs
from .plans import UNIFORM, Seat, plan


class AtBroker:
    def __init__(self, partitions: int, place: Callable[[int], int]) -> None:
        self.group = epochs.EpochGroup(partitions=partitions)
        self.place = place  # where a member's number sorts

    def take_over(self, group: classic.Group) -> None:
        if not classic.members(group):
            self.group = epochs.EpochGroup(partitions=self.group.partitions)
            return
        roster = tuple(
            entry
            and epochs.EpochMember(entry.instance, group.generation, epochs.STABLE, assigned=entry.assigned)
            for entry in group.roster
        )
        self.group = epochs.EpochGroup(
            group.generation,
            self.group.partitions,
            roster,
            tuple(entry.assigned if entry else () for entry in roster),
            group.generation,
        )

    def handed_back(
        self, strategies: Callable[[int], tuple[str, ...]], leaver: int | None = None
    ) -> classic.Group:
        """The classic group that is left. If somebody leaves it everybody is to join again: the broker plans
        no more for it."""
        if leaver is not None:
            self.group = epochs.remove(self.group, leaver)
        roster = tuple(
            entry and classic.Member(strategies(number), entry.instance, assigned=entry.assigned)
            for number, entry in enumerate(self.group.roster)
        )
        here = epochs.members(self.group)
        left = classic.Group(roster=roster, generation=self.group.epoch, leader=here[0], size=len(here))
        left = left._replace(phase=classic.STABLE, strategy=classic.vote(left))
        return left if leaver is None else classic.prepare(left)

    @property
    def is_empty(self) -> bool:
        return not epochs.members(self.group)

    def holds(self, number: int) -> bool:
        return epochs.knows(self.group, number)

    def join(self, number: int, instance: str) -> bool:
        """True if it is given what waited for its instance id, and nobody else notices."""
        epoch = self.group.epoch
        self.group, _ = epochs.join(self.group, number, instance, self._assign)
        return self.group.epoch == epoch

    def leave(self, number: int, planned: bool = True) -> None:
        """`planned`: somebody is there whose heartbeat makes another plan."""
        self.group = epochs.leave(self.group, number, self._assign if planned else None)

    def drop(self, number: int) -> None:
        self.group = epochs.remove(self.group, number, self._assign)

    def told(self) -> list[int]:
        """Those who have something to learn from their next heartbeat."""
        return epochs.expecting(self.group)

    def heartbeat(self, number: int, owned: tuple[int, ...]) -> tuple[int, ...]:
        """What the member may read after it."""
        self.group, _ = epochs.heartbeat(self.group, number, owned, self._assign)
        return epochs.member(self.group, number).assigned

    def _assign(self, group: epochs.EpochGroup) -> epochs.Target:
        numbers = sorted(epochs.members(group), key=self.place)
        seats = [Seat(n, group.target[n] if n < len(group.target) else ()) for n in numbers]
        return plan(UNIFORM, seats, (group.partitions,))
