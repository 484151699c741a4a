"""A group that the broker assigns for, while it is rolled: members of both protocols side by side (KIP-848).

The first member of the consumer protocol that joins a classic group turns it into a group of the broker's
(ConsumerGroup.fromClassicGroup): epoch and assignments stay, and from then on the broker's assignor plans for
all. Classic members are told of every new epoch by their heartbeats and join and sync as ever; what they get
is their part of the broker's plan. When the last member of the consumer protocol is gone it is a classic
group again.
"""

from __future__ import annotations

from collections.abc import Callable

from . import group as classic
from . import group_epochs as epochs
from .group_plans import UNIFORM, Seat, plan


class AtBroker:
    def __init__(self, partitions: int, place: Callable[[int], int]) -> None:
        self.group = epochs.EpochGroup(partitions=partitions)
        self.place = place  # where a member's number sorts

    def take_over(self, group: classic.Group) -> None:
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

    def handed_back(self, strategies: Callable[[int], tuple[str, ...]]) -> classic.Group:
        """The classic group that is left, with everybody to join again."""
        roster = tuple(
            entry and classic.Member(strategies(number), entry.instance, assigned=entry.assigned)
            for number, entry in enumerate(self.group.roster)
        )
        here = epochs.members(self.group)
        left = classic.Group(roster=roster, generation=self.group.epoch, leader=here[0], size=len(here))
        return classic.prepare(left._replace(phase=classic.STABLE, strategy=classic.vote(left)))

    def holds(self, number: int) -> bool:
        return epochs.knows(self.group, number)

    def join(self, number: int, instance: str) -> bool:
        """True if it is given what waited for its instance id, and nobody else notices."""
        epoch = self.group.epoch
        self.group, _ = epochs.join(self.group, number, instance, self._assign)
        return self.group.epoch == epoch

    def leave(self, number: int) -> None:
        self.group = epochs.leave(self.group, number, self._assign)

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
