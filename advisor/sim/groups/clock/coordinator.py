"""What both protocols have in common on the clock: heartbeats, sessions, and a coordinator that goes away.

A `Node` is a consumer's process as the clock sees it. A side knows for each when its next heartbeat is due
and plans it only if it brings news; members that do the same at the same time are one event.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from ....tuples import NamedTuple
from ...assign.assignors import rebalance_protocol
from .. import classic as classic
from ..consumer import Consumer
from ..plans import Seat
from .phases import BEAT_DRIFT

if TYPE_CHECKING:
    from .timeline import GroupRun


class Node:
    """A consumer's process as the clock sees it."""

    __slots__ = (
        "alive",
        "batch_at",
        "batches",
        "beat_base",
        "beat_planned",
        "commit_at",
        "consumer",
        "eager",
        "free_at",
        "generation",
        "giving",
        "instance",
        "joining",
        "keeps",
        "last_poll",
        "muted_until",
        "name",
        "number",
        "out",
        "owned",
        "poll_at",
        "polled",
        "slow_at",
        "strategies",
        "working",
    )

    def __init__(
        self, name: str, instance: str, strategies: tuple[str, ...], number: int, cooperative: frozenset[str]
    ) -> None:
        self.name = name
        self.instance = instance
        self.strategies = strategies
        self.number = number  # of the member it is now
        self.alive = True
        self.out = False  # the coordinator dropped it, or it left; it joins again with its next poll
        self.joining = False
        # Partitions are kept while it joins.
        self.keeps = rebalance_protocol(strategies, cooperative) == "cooperative"
        self.eager = not self.keeps and not instance  # a dynamic member that gives all up before it joins
        self.generation = classic.NO_GENERATION  # or epoch
        self.owned: tuple[int, ...] = ()
        self.giving: tuple[int, ...] = ()  # a listener gives them up, the client still counts them as its own
        self.consumer: Consumer | None = None
        self.free_at = 0  # when the application is in poll() again
        self.last_poll = 0
        self.slow_at = -1
        self.beat_base = 0  # a heartbeat was sent then
        self.beat_planned = -1
        self.muted_until = 0  # no heartbeat is sent before
        self.poll_at = -1  # the next poll that is planned
        self.commit_at = 0
        self.working = False
        self.batch_at = 0
        self.batches = 0
        self.polled = 0


class Happened(NamedTuple):
    """An entry of the history: `what` is assigned, revoked, lost, left-slow or an exception's name; in a run
    that narrates also what the application does (`detail` says more)."""

    time: int
    what: str
    node: str
    partitions: tuple[int, ...] = ()
    detail: str = ""


class Away(NamedTuple):
    """Nobody coordinates until then; a client knows who does when it has found out."""

    until: int = 0
    found: int = 0


def next_beat(node: Node, now: int, interval: int) -> int:
    after = max(now, node.muted_until)
    interval += BEAT_DRIFT
    return node.beat_base + ((after - node.beat_base) // interval + 1) * interval


def last_beat(node: Node, now: int, interval: int) -> int:
    interval += BEAT_DRIFT
    return node.beat_base + max(0, now - node.beat_base) // interval * interval


class Side(ABC):
    """What both protocols have in common: heartbeats and sessions."""

    def __init__(self, run: GroupRun) -> None:
        self.run = run
        self.clock = run.clock
        self.trip = run.phase.round_trip
        # Members that do the same at the same time are one event.
        self._beating: dict[int, list[Node]] = {}
        self.away = Away()

    def seats(self, numbers: list[int], owned: dict[int, tuple[int, ...]]) -> list[Seat]:
        """Members as an assignor sorts them, with what they own."""
        return [Seat(number, owned.get(number, ())) for number in self.in_order(numbers)]

    def in_order(self, numbers: list[int]) -> list[int]:
        """Static members are sorted by their instance, others by a random id."""
        order = self.run.phase.order
        if not order and not self.run.has_instances:
            return numbers
        named = [(self.run.by_number[number], number) for number in numbers]
        if all(node.instance for node, _ in named):
            named.sort(key=lambda pair: pair[0].instance)
        elif order == 1:
            named.reverse()
        elif order == 2 and len(named) > 1:
            named.insert(len(named) // 2, named.pop())
        elif order >= 3:
            named.sort(key=lambda pair: (pair[1] * (order - 1) + 3) % 7)
        return [number for _, number in named]

    def plan_beat(self, node: Node) -> None:
        now, interval = self.clock.now, self.run.setup.heartbeat_ms + BEAT_DRIFT
        if node.muted_until > now:
            at = next_beat(node, now, interval - BEAT_DRIFT)
        else:
            at = node.beat_base + ((now - node.beat_base) // interval + 1) * interval
        if node.beat_planned != at:
            node.beat_planned = at
            if at in self._beating:
                self._beating[at].append(node)
            else:
                self._beating[at] = [node]
                self.clock.at(at + self.trip // 2, self._beats, at)

    def plan_beats(self, nodes: list[Node]) -> None:
        """The same of many, most of which send their heartbeats at the same times."""
        now, interval = self.clock.now, self.run.setup.heartbeat_ms + BEAT_DRIFT
        next_at: dict[int, int] = {}
        for node in nodes:
            if node.muted_until > now:
                self.plan_beat(node)
                continue
            base = node.beat_base
            if base not in next_at:
                next_at[base] = at = base + ((now - base) // interval + 1) * interval
                if at not in self._beating:
                    self._beating[at] = []
                    self.clock.at(at + self.trip // 2, self._beats, at)
            at = next_at[base]
            if node.beat_planned != at:
                node.beat_planned = at
                self._beating[at].append(node)

    def _beats(self, at: int) -> None:
        for node in self._beating.pop(at):
            self._beat(node, at)

    def _beat(self, node: Node, at: int) -> None:
        if not node.alive or node.out or node.beat_planned != at:
            return
        node.beat_planned = -1
        if node.muted_until > at:
            self.plan_beat(node)
            return
        if self.away.until > self.clock.now:
            self.clock.at(self.away.found, self._found, node)
            return
        self.run.requests += 1
        node.beat_base = at
        self.beat(node)

    @abstractmethod
    def beat(self, node: Node) -> None:
        """A heartbeat arrives, and is answered as the protocol answers it."""

    @abstractmethod
    def join(self, node: Node) -> None:
        """The member asks to be let in, or to join again."""

    @abstractmethod
    def expire(self, number: int) -> None:
        """A session is over."""

    def silent(self, node: Node) -> None:
        """No heartbeat comes any more."""
        if not node.out:
            self.silent_since(node, last_beat(node, self.clock.now, self.run.setup.heartbeat_ms))

    def silent_since(self, node: Node, last: int) -> None:
        self.clock.at(last + self.run.setup.session_ms, self.session_over, node.number)

    def session_over(self, number: int) -> None:
        """No heartbeat came. Another coordinator has given everybody a whole session from when it began."""
        ends = self.away.until + self.run.setup.session_ms if self.away.until else 0
        if ends > self.clock.now:
            self.clock.at(ends, self.session_over, number)
        else:
            self.expire(number)

    # -- the coordinator's broker is gone --------------------------------------------------------------------

    def lose(self, until: int, found: int) -> None:
        """Nothing is answered until another broker coordinates, and clients find it a little later. Members
        that wait for the answer to a join lost it: they join again."""
        self.away = Away(until, found)
        self.clock.at(until, self.loaded)
        for node in self.run.nodes:
            if node.alive and not node.out:
                self.clock.at(found, self._found, node)

    @abstractmethod
    def loaded(self) -> None:
        """Another broker has read the group from its partition of __consumer_offsets."""

    def _found(self, node: Node) -> None:
        """The member has found the coordinator: it sends what it could not."""
        if not node.alive or node.out:
            return
        if self.away.until > self.clock.now:  # and lost it again
            self.clock.at(self.away.found, self._found, node)
            return
        if node.joining:
            node.joining = False
            self.run.in_poll(node, self.join)
        else:
            self.run.requests += 1
            node.beat_base = self.clock.now
            self.beat(node)

    def mute(self, node: Node, until: int) -> None:
        """Heartbeats fail to come until then: if that outlasts the session the member is dropped."""
        interval = self.run.setup.heartbeat_ms
        ends = last_beat(node, self.clock.now, interval) + self.run.setup.session_ms
        node.muted_until = until
        if next_beat(node, self.clock.now, interval) > ends:
            self.clock.at(ends, self.session_over, node.number)
        if node.beat_planned >= 0:
            self.plan_beat(node)

    def drop(self, node: Node) -> None:
        """The member learns that it is out."""
        node.out = True
        self.run.in_poll(node, self.run.rejoin)
