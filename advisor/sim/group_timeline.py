"""A group on a virtual clock: members that poll, process, stall, die and come back; who owns what, and when.

The rules are those of the search: group.py and group_epochs.py answer every request, consumer.py says what a
poll returns and a commit carries. Here they get durations: heartbeats, sessions, poll intervals, metadata
ages. `GroupRun` is one schedule under one `Phase`; run it over `GRID` for the set of outcomes.

A heartbeat that says nothing new is not simulated: when something is to be said, the time of a member's next
heartbeat is computed, and when a member dies, that of its last. So an idle hour costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from . import consumer as reading
from .consumer import AUTO, NEVER, NOT_OWNED, Consumer
from .group import session_taken
from .group_clocked import ClassicSide
from .group_clocked_epochs import EpochSide
from .group_phases import (
    BEAT_DRIFT,
    FENCE_LATE,
    FINDING,
    HANDED_OVER,
    LOADING,
    RETRY_BACKOFF,
    GroupSetup,
    Phase,
)
from .group_polling import PollLoop
from .group_side import Happened, Node, next_beat
from .ranges import BROKERS, HEARTBEAT_AGE
from .timeline_clock import Clock

INVALID_SESSION = "InvalidSessionTimeoutException"
COORDINATOR = "coordinator"  # of whom the history tells besides the members


class GroupRun:
    def __init__(self, setup: GroupSetup, phase: Phase, records: bool = True) -> None:
        self.setup = setup
        self.phase = phase
        self.clock = Clock()
        self.reads = records  # without records only ownership is followed
        self.narrates = False  # polls, commits and faults go into the history too
        self.nodes: list[Node] = []
        self.began = 0  # when the first of them was there
        self.by_number: dict[int, Node] = {}
        self.has_instances = False  # some member is static
        self.history: list[Happened] = []
        self.topics = setup.topics or (setup.partitions,)
        self.partitions = sum(self.topics)
        self.log_start = [0] * self.partitions
        self.ends = [0] * self.partitions
        self.stamps: list[list[int]] = [[] for _ in range(self.partitions)]
        self.committed: tuple[int, ...] = (NEVER,) * self.partitions
        self.times: list[dict[int, int]] = [{} for _ in range(self.partitions)]
        self.grown_from = self.partitions  # partitions from this one on were added,
        self.grown_at = 0  # then,
        self.found_growth: Node | None = None  # and this client has found them in its metadata
        self.before_record: tuple[int, int] | None = None  # (partition, offset) at which a process halts
        self.requests = 0
        side = ClassicSide if setup.protocol == "classic" else EpochSide
        self.side: ClassicSide | EpochSide = side(self)
        self.loop = PollLoop(self)

    # -- the schedule --------------------------------------------------------------------------------------

    def wait(self, delay: float) -> None:
        self.clock.run(self.clock.now + int(delay), lambda: False)

    def until(self, condition: Callable[[], bool], timeout: int = 600_000) -> bool:
        self.clock.run(self.clock.now + timeout, condition)
        return condition()

    def start(
        self, name: str, instance: str = "", strategies: tuple[str, ...] | None = None, delay: int = 0
    ) -> Node:
        """A consumer subscribes; it joins after `delay`."""
        setup = self.setup
        if not self.nodes:
            self.began = self.clock.now + delay
        node = Node(name, instance, strategies or setup.strategies, self._number(), setup.cooperative)
        self.nodes.append(node)
        self.has_instances = self.has_instances or bool(instance)
        self.by_number[node.number] = node
        if self.reads:
            node.consumer = Consumer((NOT_OWNED,) * self.partitions)
        node.commit_at = self.clock.now + delay + setup.auto_commit_interval_ms
        self.clock.after(delay + self.phase.round_trip, self._joins, node)
        return node

    def _joins(self, node: Node) -> None:
        self.tell(node, "joins")
        setup = self.setup
        if setup.protocol == "classic" and not session_taken(setup.session_ms, setup.session_bounds_ms):
            node.alive = False
            self.note(node, INVALID_SESSION)
            return
        self.side.join(node)

    def kill(self, node: Node) -> None:
        """kill -9: what it had in hand is gone, the coordinator learns it when the session is over."""
        self.loop.count_partly(node)
        node.alive = False
        self.tell(node, "killed")
        self.side.silent(node)

    def close(self, node: Node) -> None:
        """consumer.close(): partitions are revoked, auto-commit commits, a dynamic member leaves."""
        self.tell(node, "closed")
        self.give_up(node, node.owned, "revoked")
        node.alive = False
        self.side.leave(node)

    def stall(self, node: Node, duration: int) -> None:
        """The application is busy that much longer than its records take."""
        self.tell(node, "stalls", f"{duration / 1000:g} s")
        self.occupy(node, max(node.free_at, self.clock.now) + duration)

    def pause(self, node: Node, duration: int) -> None:
        """The whole process stands still, heartbeats and all (a collection, a frozen host)."""
        self.stall(node, duration)
        self.side.mute(node, self.clock.now + duration)

    def lose_heartbeats(self, node: Node, count: int) -> None:
        """The next heartbeats of a healthy member do not arrive."""
        self.tell(node, "loses", f"{count} heartbeats on the way" if count > 1 else "a heartbeat on the way")
        for _ in range(count):
            self.side.mute(node, next_beat(node, self.clock.now, self.setup.heartbeat_ms))

    def lose_coordinator(self, clean: bool = False) -> None:
        """The broker that coordinates the group dies, or stops in good order, and stays away. Another one
        that has the group's partition of __consumer_offsets is elected, reads it, and clients find it."""
        slow = self.phase.slow
        if clean:
            handed = HANDED_OVER[slow]
        else:
            age = int(self.setup.broker_heartbeat_ms * HEARTBEAT_AGE[slow])
            handed = self.setup.broker_session_ms - age + FENCE_LATE[slow]
        back = self.clock.now + handed + LOADING[slow]
        self.say(COORDINATOR, "stops" if clean else "dies")
        self.clock.at(back, self.say, COORDINATOR, "is another broker")
        self.side.lose(back, back + FINDING[slow] + self.phase.round_trip)

    def to_beat(self, node: Node, share: float | None = None) -> None:
        """Wait until the member is at that place in its heartbeat interval, the phase's if none is given."""
        interval = self.setup.heartbeat_ms + BEAT_DRIFT
        gone = (self.clock.now - node.beat_base) % interval
        self.wait((int((self.phase.beat if share is None else share) * interval) - gone) % interval)

    def to_growth(self, nodes: list[Node]) -> None:
        """Wait until partitions are added: anywhere in a heartbeat interval, or, as long as the two are in
        step, where the age of the leader's metadata says. In the consumer protocol no metadata matters."""
        if not self.phase.in_step:
            self.to_beat(nodes[0])
        elif self.setup.protocol == "classic":
            age = self.setup.metadata_max_age_ms
            gone = self.clock.now - self.began + int(age * self.phase.age)
            self.wait(-gone % (age + self.phase.round_trip))  # an age begins with each answer
        else:
            self.to_beat(nodes[-1])

    def grow(self, partitions: int) -> None:
        """Partitions are added to the (last) topic."""
        added = partitions - self.partitions
        self.grown_from, self.grown_at, self.found_growth = self.partitions, self.clock.now, None
        self.partitions = partitions
        self.topics = (*self.topics[:-1], self.topics[-1] + added)
        self.log_start += [0] * added
        self.ends += [0] * added
        self.stamps += [[] for _ in range(added)]
        self.times += [{} for _ in range(added)]
        self.committed += (NEVER,) * added
        for node in self.nodes:
            if node.consumer is not None:
                positions = node.consumer.positions + (NOT_OWNED,) * added
                node.consumer = node.consumer._replace(positions=positions)
        self.side.grow()

    def produce(self, partition: int, records: int = 1) -> None:
        now = self.clock.now
        seen = self.grown_at + self.phase.followed * (1 + partition % BROKERS) // BROKERS
        if partition >= self.grown_from and now < seen:
            self.clock.at(seen, self._readable, partition, records, now)
        else:
            self._readable(partition, records, now)

    def _readable(self, partition: int, records: int, written: int) -> None:
        self.ends[partition] += records
        self.stamps[partition] += [written] * records
        for node in self.nodes:
            if node.alive and partition in node.owned:
                self.loop.wake(node)

    def stream(self, records: int, per_second: float, partitions: Iterable[int], delay: float = 0) -> None:
        """Records at an even rate, round robin."""
        turn = list(partitions)
        for number in range(records):
            at = self.clock.now + int(delay + number * 1000 / per_second)
            self.clock.at(at, self.produce, turn[number % len(turn)])

    # -- what was seen -------------------------------------------------------------------------------------

    def owned_by(self, nodes: Iterable[Node]) -> int:
        return sum(len(node.owned) for node in nodes if node.alive)

    def read_by(self, nodes: Iterable[Node]) -> int:
        """Of how many partitions they own they know where to read."""
        return sum(len(reading.owned(node.consumer)) for node in nodes if node.alive and node.consumer)

    def never_processed(self) -> int:
        return sum(end - len(times) for end, times in zip(self.ends, self.times, strict=True))

    def processed_twice(self) -> int:
        return sum(count > 1 for times in self.times for count in times.values())

    def errors(self, name: str = "") -> list[str]:
        return [
            entry.what
            for entry in self.history
            if entry.what.endswith("Exception") and name in ("", entry.node)
        ]

    def note(self, node: Node, what: str, partitions: tuple[int, ...] = ()) -> None:
        self.history.append(Happened(self.clock.now, what, node.name, partitions))

    def tell(self, node: Node, what: str, detail: str = "") -> None:
        self.say(node.name, what, detail)

    def say(self, name: str, what: str, detail: str = "") -> None:
        if self.narrates:
            self.history.append(Happened(self.clock.now, what, name, (), detail))

    # -- the application's thread --------------------------------------------------------------------------

    def in_poll(self, node: Node, action: Callable[[Node], None]) -> None:
        """Callbacks and joins happen inside poll(): at once if the application is there, else when it is."""
        if node.free_at <= self.clock.now:
            action(node)
        else:
            self.clock.at(node.free_at, self._in_poll, node, action)

    def _in_poll(self, node: Node, action: Callable[[Node], None]) -> None:
        if node.alive:
            self.in_poll(node, action)

    def occupy(self, node: Node, until: int) -> None:
        """The application will not call poll() before that; if that is too long the client leaves."""
        if node.free_at <= self.clock.now:
            node.last_poll = self.clock.now
        node.free_at = until
        limit = node.last_poll + self.setup.max_poll_interval_ms
        if until > limit and node.slow_at != limit:
            node.slow_at = limit
            self.clock.at(limit + self.phase.timer, self._too_slow, node, limit)

    def _too_slow(self, node: Node, limit: int) -> None:
        if self.side.away.until > self.clock.now:  # it can leave only when it has found a coordinator
            self.clock.at(self.side.away.found + self.phase.timer, self._too_slow, node, limit)
            return
        late = node.free_at > max(limit, self.clock.now)
        still = node.last_poll + self.setup.max_poll_interval_ms == limit and late
        if still and node.alive and not node.out:
            self.note(node, "left-slow", node.owned)
            self.side.too_slow(node)
            self.clock.at(node.free_at, self._in_poll, node, self.rejoin)

    def rejoin(self, node: Node) -> None:
        """A member that finds itself out: what it owned is lost, it joins again under a new id."""
        if not node.out:
            return
        lost = tuple(sorted((*node.owned, *node.giving))) if node.giving else node.owned
        node.giving = ()
        self.give_up(node, lost, "lost")
        node.out = False
        self.tell(node, "joins", "again")
        node.number = self._number()
        self.by_number[node.number] = node
        self.side.join(node)

    def stop(self, node: Node, error: str) -> None:
        """An exception that a consumer does not survive; it is closed."""
        self.note(node, error)
        owned, node.owned = node.owned, ()
        if owned:
            self.note(node, "revoked", owned)
        node.alive = False
        self.side.leave(node)

    def _number(self) -> int:
        return len(self.by_number)

    # -- partitions come and go ----------------------------------------------------------------------------

    def give_up(self, node: Node, partitions: tuple[int, ...], how: str) -> None:
        if not partitions:
            return
        if self.reads and node.consumer is not None:
            policy = self.setup.reading
            if how == "revoked" and (policy.commits == AUTO or policy.commits_on_revoke):
                self.loop.commit(node, reading.consumed(node.consumer), closing=True)
            node.consumer = reading.revoke(node.consumer, partitions, forget=not policy.workers)
        if partitions == node.owned:
            node.owned = ()
        else:
            node.owned = tuple(partition for partition in node.owned if partition not in partitions)
        self.note(node, how, partitions)
        if how == "revoked" and self.setup.listener_ms:
            self.occupy(node, self.clock.now + self.setup.listener_ms)

    def take(self, node: Node, partitions: tuple[int, ...]) -> None:
        """Partitions are assigned: the application sees them in its next poll."""
        node.owned = tuple(sorted((*node.owned, *partitions))) if node.owned else partitions
        self.note(node, "assigned", partitions)
        if self.reads and partitions:
            self._find_positions(node, partitions)

    def _find_positions(self, node: Node, partitions: tuple[int, ...]) -> None:
        """Committed offsets are asked for, then the log of whatever has none. A partition whose leader the
        client does not know yet costs a look at the metadata between the two, and poll() tries again only
        every retry.backoff.ms (OffsetsRequestManager, OffsetFetcher). With `none` nobody asks a log: the
        consumer owns the partition until the answer says that nothing is committed. In the consumer protocol
        another thread asks, when poll() goes round, and poll() hears of it when it goes round again."""
        trip, timer = self.phase.round_trip, self.phase.timer
        turn = timer if self.setup.protocol == "consumer" else 0
        anew = tuple(p for p in partitions if self.committed[p] == NEVER)
        if len(anew) < len(partitions):
            self._position(node, tuple(partition for partition in partitions if partition not in anew))
        if self.setup.reset == reading.NONE:
            if anew:
                self.clock.after(trip + 2 * turn, self._position, node, anew)
            return
        delays: dict[int, list[int]] = {}
        for partition in anew:
            delay = 2 * trip + turn
            if not self._knows(node, partition):
                delay += RETRY_BACKOFF + timer
            if len(anew) < len(node.owned):  # it fetches others meanwhile
                delay += self.phase.parked * (partition % BROKERS) // (BROKERS - 1)
            delays.setdefault(delay, []).append(partition)
        for delay, told in delays.items():
            self.clock.after(delay, self._position, node, told)

    def _knows(self, node: Node, partition: int) -> bool:
        """Has the client's metadata this partition? Those added since are found when it is old enough."""
        if partition < self.grown_from or node is self.found_growth:
            return True
        return self.clock.now >= self.grown_at + self.setup.metadata_max_age_ms

    def _position(self, node: Node, partitions: Iterable[int]) -> None:
        if node.consumer is None or not node.alive:
            return
        starts: dict[int, int] = {}
        for partition in partitions:
            if partition not in node.owned:
                continue
            found = reading.start(
                self.setup.reset,
                self.committed[partition],
                self.log_start[partition],
                self.ends[partition],
                self._young(partition),
            )
            if isinstance(found, str):
                self.stop(node, found)
                return
            if found is None:
                self.clock.after(self.setup.request_timeout_ms, self._position, node, (partition,))
            else:
                starts[partition] = found
        node.consumer = reading.assign(node.consumer, starts)
        self.loop.wake(node)

    def _young(self, partition: int) -> int | None:
        """The first record that by_duration accepts."""
        oldest = self.clock.now - self.setup.reset_duration_ms
        for place, stamp in enumerate(self.stamps[partition]):
            if stamp >= oldest and place >= self.log_start[partition]:
                return place
        return None
