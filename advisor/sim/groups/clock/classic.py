"""The coordinator of the classic protocol on the clock: when its answers reach the members.

A side stands between a `GroupRun` and the rules: `ClassicSide` here and those of group.py, `EpochSide` in
group_clocked_epochs.py and those of group_epochs.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import classic as classic
from ..plans import plan, plan_anew
from .coordinator import Happened, Node, Side

if TYPE_CHECKING:
    from .timeline import GroupRun

FENCED = "FencedInstanceIdException"
INCONSISTENT = "InconsistentGroupProtocolException"


class ClassicSide(Side):
    def __init__(self, run: GroupRun) -> None:
        super().__init__(run)
        self.group = classic.Group()
        self.prepared = 0  # counts the join phases
        self.holds_until = 0  # group.initial.rebalance.delay.ms is not over
        self.came = False  # somebody joined since
        self.written = self.group  # as __consumer_offsets has it: a rebalance under way is not in it
        self._arriving: dict[int, list[Node]] = {}
        self._seen: tuple[classic.Member | None, ...] = ()
        self._here: list[int] = []

    # -- requests of members -------------------------------------------------------------------------------

    def join(self, node: Node) -> None:
        if not node.alive or node.joining:
            return
        if not node.keeps:
            self.run.give_up(node, node.owned, "revoked")
        node.joining = True
        # Work done inside the listener keeps the join waiting.
        self._sent([node], max(node.free_at, self.clock.now))

    def _sent(self, nodes: list[Node], at: int) -> None:
        at += self.trip // 2
        if at in self._arriving:
            self._arriving[at] += nodes
        else:
            self._arriving[at] = nodes
            self.clock.at(at, self._arrivals, at)

    def _beats(self, at: int) -> None:
        """Idle members that are told of a rebalance at one time give up and join: done in one."""
        run, group, now = self.run, self.group, self.clock.now
        nodes = self._beating.pop(at)
        if run.reads or run.setup.listener_ms or group.phase != classic.PREPARING:
            for node in nodes:
                self._beat(node, at)
            return
        roster, generation = group.roster, group.generation
        joining, told, make = [], [], tuple.__new__
        for node in nodes:
            if (
                node.eager
                and node.alive
                and not node.out
                and not node.joining
                and node.beat_planned == at
                and node.muted_until <= at
                and node.free_at <= now
                and node.generation == generation
                and roster[node.number] is not None
            ):
                node.beat_planned = -1
                node.beat_base = at
                node.joining = True
                joining.append(node)
                if node.owned:
                    told.append(make(Happened, (now, "revoked", node.name, node.owned, "")))
                    node.owned = ()
            else:
                self._beat(node, at)
        run.history += told
        run.requests += len(joining)
        if joining:
            self._sent(joining, now)

    def loaded(self) -> None:
        self.group = self.written
        self.prepared += 1
        self.holds_until = 0

    def _arrivals(self, at: int) -> None:
        nodes = self._arriving.pop(at)
        if self.away.until > self.clock.now:
            return
        group = self.group
        roster = group.roster
        old = [
            node
            for node in nodes
            if not node.instance
            and node.alive
            and node.joining
            and node.number < len(roster)
            and (entry := roster[node.number]) is not None
            and entry.strategies == node.strategies
        ]
        if len(old) > 1:
            self.run.requests += len(old)
            self.came = True
            before = group.phase
            for node in old:
                node.beat_base = at
            owned = {node.number: node.owned for node in old if node.keeps}
            self.group = classic.rejoin(group, [node.number for node in old], owned)
            self._prepared(before)
            nodes = [node for node in nodes if node not in old] if len(old) < len(nodes) else []
        for node in nodes:
            self._arrive(node)

    def _arrive(self, node: Node) -> None:
        if not node.alive:
            return
        self.run.requests += 1
        before = self.group.phase
        node.beat_base = self.clock.now
        request = classic.Member(node.strategies, node.instance, node.owned)
        holder = classic.holding(self.group, node.instance)
        here = None if node.instance or classic.knows(self.group, node.number) else self._numbers()
        self.group, answer = classic.join(self.group, node.number, request)
        if here is not None and classic.knows(self.group, node.number):
            self._seen, self._here = self.group.roster, sorted((*here, node.number))
        if answer == classic.INCONSISTENT:
            self.run.stop(node, INCONSISTENT)
        elif answer == classic.FENCED_INSTANCE:
            self.run.stop(node, FENCED)
        else:
            old = self.run.by_number.get(holder)
            if old is not None and old is not node and old.alive:
                self.plan_beat(old)
            if answer == classic.RETURNED:
                self.clock.after(self.trip, self._deliver, node, self.group.generation)
                return
            self.came = True
            self._prepared(before)

    def leave(self, node: Node) -> None:
        """A dynamic member says so; a static one falls silent and is waited for (KIP-345)."""
        node.joining = False
        if node.instance and classic.knows(self.group, node.number):
            self.silent(node)
        elif not node.out:
            node.out = True
            if self.away.until > self.clock.now:  # nobody hears it
                self.silent_since(node, self.clock.now)
            else:
                self.clock.after(self.trip // 2, self.expire, node.number)

    def too_slow(self, node: Node) -> None:
        """The heartbeat thread found max.poll.interval.ms over: it leaves, or stops its heartbeats."""
        if node.instance:
            self.silent(node)
            node.out = True
            return
        node.out = True
        node.joining = False
        self.run.requests += 1
        self.expire(node.number)

    def may_commit(self, node: Node) -> str:
        generation = classic.NO_GENERATION if node.out else node.generation
        # The client itself refuses to commit once it has lost its generation: it is a member of nothing.
        return classic.UNKNOWN_MEMBER if node.out else classic.may_commit(self.group, node.number, generation)

    def grow(self) -> None:
        """Only the leader compares its metadata with what it assigned (ConsumerCoordinator)."""
        leader = self.run.by_number.get(self.group.leader)
        if leader is not None:
            age = int(self.run.setup.metadata_max_age_ms * self.run.phase.age)
            self.clock.after(age, self.run._in_poll, leader, self._found_growth)

    def _found_growth(self, node: Node) -> None:
        self.run.found_growth = node
        self.join(node)

    # -- the coordinator -----------------------------------------------------------------------------------

    def expire(self, number: int) -> None:
        """A session is over, or a member left."""
        if classic.knows(self.group, number):
            node = self.run.by_number[number]
            before, here = self.group.phase, self._numbers()
            self.group = classic.remove(self.group, number)
            self._seen, self._here = self.group.roster, [other for other in here if other != number]
            if node.alive and not node.out:
                self.plan_beat(node)
            self._prepared(before)

    def _prepared(self, before: str) -> None:
        setup = self.run.setup
        if self.group.phase != classic.PREPARING:
            return
        if before != classic.PREPARING:
            self.prepared += 1
            self.clock.after(setup.max_poll_interval_ms, self._timeout, self.prepared)
            known = [node for node in self._nodes() if node.alive and not node.out]
            self.plan_beats([node for node in known if not node.joining])
            if before == classic.COMPLETING:
                for node in known:
                    if node.joining and node.number not in self.group.joined:
                        self.clock.after(self.trip, self._sync_refused, node)
            if before == classic.EMPTY and setup.initial_delay_ms:
                self.holds_until = self.clock.now + setup.max_poll_interval_ms
                self.came = False
                self.clock.after(setup.initial_delay_ms, self._delayed, self.prepared)
        self._maybe_complete()

    def _numbers(self) -> list[int]:
        """The members there are; looked for only when the roster is another one."""
        if self._seen is not self.group.roster:
            self._seen, self._here = self.group.roster, classic.members(self.group)
        return self._here

    def _nodes(self) -> list[Node]:
        by_number = self.run.by_number
        return [by_number[number] for number in self._numbers()]

    def _sync_refused(self, node: Node) -> None:
        """It waited for the plan of a generation that another join has ended: it joins again."""
        if node.alive and node.joining and not node.out and node.number not in self.group.joined:
            node.joining = False
            self.run.in_poll(node, self.join)

    def _delayed(self, prepared: int) -> None:
        """The first join phase of a group is held open, again as long as somebody came meanwhile."""
        if prepared == self.prepared and self.group.phase == classic.PREPARING:
            left = self.holds_until - self.clock.now
            if self.came and left > 0:
                self.came = False
                self.clock.after(min(self.run.setup.initial_delay_ms, left), self._delayed, prepared)
                return
            self.holds_until = 0
            self._maybe_complete()

    def _timeout(self, prepared: int) -> None:
        if prepared == self.prepared and self.group.phase == classic.PREPARING:
            self._complete()

    def _maybe_complete(self) -> None:
        held = self.holds_until > self.clock.now
        if not held and self.group.phase == classic.PREPARING and classic.everybody_joined(self.group):
            self._complete()

    def _complete(self) -> None:
        # Whoever is not there is dropped, and learns it from its next heartbeat.
        before = [] if classic.everybody_joined(self.group) else classic.members(self.group)
        self.group = classic.complete(self.group)
        for number in before:
            node = self.run.by_number[number]
            if not classic.knows(self.group, number) and node.alive and not node.out:
                self.plan_beat(node)
        if self.group.phase == classic.COMPLETING:
            self.clock.after(self.trip, self._sync, self.group.generation)

    def _sync(self, generation: int) -> None:
        """The leader has its answer, computes the plan and sends it."""
        group = self.group
        if group.generation != generation or group.phase != classic.COMPLETING:
            return
        if self.away.until > self.clock.now:
            return
        if not self.run.by_number[group.leader].alive:
            return
        numbers = self._numbers()
        # What members had counts for the sticky ones only: they brought it along, or the leader remembers it.
        setup, topics, strategy = self.run.setup, self.run.topics, group.strategy
        if strategy in ("range", "roundrobin"):
            wanted = plan_anew(strategy, self.in_order(numbers), topics)
        else:
            entries = [(number, classic.member(group, number)) for number in numbers]
            owned = {n: entry.assigned if strategy == "sticky" else entry.owned for n, entry in entries}
            wanted = plan(strategy, self.seats(numbers, owned), topics, setup.own)
        self.group, _ = classic.sync(group, group.leader, generation, wanted)
        self._seen = self.group.roster  # of the same members
        self.written = self.group
        self.run.requests += 2 * len(numbers)
        self.clock.after(self.trip, self._deliver_all, numbers, generation)

    def _deliver_all(self, numbers: list[int], generation: int) -> None:
        """The plan reaches everybody. Who owns nothing and is in poll() takes its part and no more."""
        run, group, now = self.run, self.group, self.clock.now
        calm = group.phase == classic.STABLE and group.generation == generation and not run.reads
        told, make, by_number = [], tuple.__new__, run.by_number
        for number in numbers:
            node = by_number[number]
            if calm and node.joining and node.alive and not node.owned and node.free_at <= now:
                entry = group.roster[number]
                if entry is not None:
                    node.joining = False
                    node.generation = generation
                    node.beat_base = now
                    node.owned = entry.assigned
                    told.append(make(Happened, (now, "assigned", node.name, entry.assigned, "")))
            else:
                self._deliver(node, generation)
        run.history += told

    def _deliver(self, node: Node, generation: int) -> None:
        if node.alive and node.joining and classic.knows(self.group, node.number):
            node.generation = generation
            self.run.in_poll(node, self._assigned)

    def _assigned(self, node: Node) -> None:
        if not node.joining or not classic.knows(self.group, node.number):
            return
        node.joining = False
        node.beat_base = self.clock.now
        node.commit_at = self.clock.now + self.run.setup.auto_commit_interval_ms
        wanted = classic.member(self.group, node.number).assigned
        gone = tuple(partition for partition in node.owned if partition not in wanted)
        self.run.give_up(node, gone, "revoked")
        self.run.take(node, tuple(partition for partition in wanted if partition not in node.owned))
        if not node.alive:
            return
        if gone and node.keeps:
            self.run.in_poll(node, self.join)
        elif classic.heartbeat(self.group, node.number, node.generation) != classic.OK:
            self.plan_beat(node)

    def beat(self, node: Node) -> None:
        if node.joining:
            return
        answer = classic.heartbeat(self.group, node.number, node.generation)
        if answer == classic.REBALANCING:
            if node.free_at <= self.clock.now:
                self.join(node)
            else:
                self.run.in_poll(node, self.join)
        elif answer == classic.FENCED_INSTANCE:
            self.run.stop(node, FENCED)
        elif answer != classic.OK:
            self.drop(node)
