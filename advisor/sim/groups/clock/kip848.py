"""The coordinator of KIP-848 on the clock: members are led to the target by their own heartbeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import classic as classic
from .. import kip848 as epochs
from ..plans import plan
from .coordinator import Node, Side

if TYPE_CHECKING:
    from .timeline import GroupRun

UNRELEASED = "UnreleasedInstanceIdException"


class EpochSide(Side):
    def __init__(self, run: GroupRun) -> None:
        super().__init__(run)
        self.group = epochs.EpochGroup(partitions=run.partitions)
        self.assigned_at: int | None = None

    def assigner(self) -> epochs.Assign | None:
        """Who computes a target if one is due; nobody as long as the last is too young (KIP-1263, 4.3)."""
        if (
            self.assigned_at is None
            or self.clock.now >= self.assigned_at + self.run.setup.assignment_interval_ms
        ):
            return self.assign
        return None

    def assign(self, group: epochs.EpochGroup) -> epochs.Target:
        self.assigned_at = self.clock.now
        numbers = epochs.members(group)
        owned = {n: group.target[n] if n < len(group.target) else () for n in numbers}
        return plan(self.run.setup.strategies[0], self.seats(numbers, owned), self.run.topics)

    # -- requests of members -------------------------------------------------------------------------------

    def join(self, node: Node) -> None:
        if node.alive and not node.joining:
            node.joining = True
            node.keeps = True
            self.clock.after(self.trip // 2, self._arrive, node)

    def loaded(self) -> None:
        """Every change of a group of this protocol is written as it is made: nothing is lost."""

    def _arrive(self, node: Node) -> None:
        if not node.alive or self.away.until > self.clock.now:
            return
        self.run.requests += 1
        self.group, answer = epochs.join(self.group, node.number, node.instance, self.assigner())
        node.joining = False
        if answer != classic.OK:
            self.run.stop(node, UNRELEASED)
            return
        node.beat_base = self.clock.now
        self._told(node)
        self._ripple()

    def leave(self, node: Node) -> None:
        if not node.out and epochs.knows(self.group, node.number):
            node.out = True
            if self.away.until > self.clock.now:  # nobody hears it
                self.silent_since(node, self.clock.now)
            else:
                self.clock.after(self.trip // 2, self._left, node)

    def _left(self, node: Node) -> None:
        if epochs.knows(self.group, node.number):
            self.group = epochs.leave(self.group, node.number)
            if epochs.knows(self.group, node.number):
                self.clock.after(self.run.setup.session_ms, self.session_over, node.number)
            self._ripple()

    def too_slow(self, node: Node) -> None:
        node.out = True
        node.joining = False
        self.run.requests += 1
        self._left(node)

    def may_commit(self, node: Node) -> str:
        """Out of the group the client commits without an epoch, which an empty group takes."""
        epoch = classic.NO_GENERATION if node.out else node.generation
        return epochs.may_commit(self.group, node.number, epoch)

    def grow(self) -> None:
        """The coordinator hears of new partitions as every broker does, from the controller."""
        self.clock.after(self.trip, self._grown)

    def _grown(self) -> None:
        self.group = epochs.grow(self.group, self.run.partitions)
        self._ripple()

    # -- the coordinator -----------------------------------------------------------------------------------

    def expire(self, number: int) -> None:
        if epochs.knows(self.group, number):
            self.group = epochs.remove(self.group, number)
            node = self.run.by_number[number]
            if node.alive and not node.out:
                self.plan_beat(node)
            self._ripple()

    def _ripple(self) -> None:
        """Whoever would be told something new by its next heartbeat gets it planned."""
        for number in epochs.expecting(self.group):
            node = self.run.by_number[number]
            if node.alive and not node.out:
                self.plan_beat(node)

    def beat(self, node: Node) -> None:
        if not epochs.knows(self.group, node.number):
            self.drop(node)
            return
        before = self.group
        self.group, _ = epochs.heartbeat(self.group, node.number, node.owned, self.assigner())
        if self.group is not before:
            self._told(node)
            self._ripple()
        elif epochs.behind(self.group):
            self.plan_beat(node)

    def _told(self, node: Node) -> None:
        node.generation = epochs.member(self.group, node.number).epoch
        self.clock.after(self.trip // 2, self.run._in_poll, node, self._reconciled)

    def _reconciled(self, node: Node) -> None:
        """The member does as it was told: it gives up first, takes what it was given, and says so at once."""
        if node.out or not epochs.knows(self.group, node.number):
            return
        wanted = epochs.member(self.group, node.number).assigned
        gone = tuple(partition for partition in node.owned if partition not in wanted)
        self.run.give_up(node, gone, "revoked")
        if node.free_at > self.clock.now:
            # The client's assignment changes when the listener is done. A member that is out before that
            # has all of it lost, what the listener was told included (transitionToStale, -Fenced).
            node.giving = gone
        new = tuple(partition for partition in wanted if partition not in node.owned)
        if new:
            self.run.take(node, new)
        if (gone or new) and node.alive:
            node.beat_base = max(node.free_at, self.clock.now)
            self.clock.at(node.beat_base + self.trip // 2, self._acknowledged, node)

    def _acknowledged(self, node: Node) -> None:
        if node.alive and not node.out:
            node.giving = ()
            if self.away.until > self.clock.now:
                return  # it is said again when the coordinator is found
            self.run.requests += 1
            self.beat(node)
