"""The replicas of a partition in time: what leader and followers do, each event at its moment.

What an event does is said by partition.py and its kin; here is when it happens: appends, fetches that take
time, the leader's look for followers that lag. A frozen broker (SIGSTOP) keeps its sockets and its state:
whatever is sent to it waits, and on thawing it acts on what it knew. Sessions, elections and processes:
timeline_cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...tuples import NamedTuple
from ..partition.replication import source
from ..partition.state import (
    NOBODY,
    UP,
    Event,
    Policy,
    Replica,
    State,
    in_office,
    members,
    presumes_leadership,
    start,
)
from ..partition.step import step
from ..producer.sequences import CACHED_BATCHES, DUPLICATE, STORED, Numbered, ProducerState, judge, remember
from ..ranges import FETCH_WAIT, SECOND
from ..search.verdict import Bounds
from .clock import Clock
from .grid import ANSWERS, FETCHES, Phase
from .quorum import Control, Quorum

MANY = 1_000_000
FAULTS = ("slow_follower", "broker_crash", "disk_wiped", "clean_stop", "leader_move")

# What a broker answers.
OK, NOT_LEADER, NOT_ENOUGH_REPLICAS, NOT_ENOUGH_AFTER_APPEND = (
    "ok",
    "not leader",
    "not enough",
    "after append",
)
TOO_LARGE = "too large"


class ClusterPolicy(NamedTuple):
    """What settings make of a cluster, besides the partition's policy. Times are microseconds."""

    session_timeout: int
    lag_time_max: int
    max_message_bytes: int = 1_048_588
    # broker.heartbeat.interval.ms; to ZooKeeper a client speaks three times in a session (ClientCnxn).
    heartbeat_interval: int = 2 * SECOND
    # How long it waits for an answer to one before it connects anew (see timing.py).
    heartbeat_patience: int = 2 * SECOND
    # ZooKeeper lets sessions end on its ticks (ExpiryQueue): up to one later. KRaft has none.
    session_tick: int = 0
    # Who elects the controller, and the brokers (as places) that are voters themselves; none: they are apart.
    control: Control = Quorum()
    voters_at: tuple[int, ...] = ()
    # auto.leader.rebalance.enable: how often leadership is moved back to the first replica; 0: never.
    # (leader.imbalance.per.broker.percentage has no meaning in KRaft, and to one partition none at all.)
    rebalance_interval: int = 0
    # replica.lag.max.messages (before 0.9, KAFKA-1546): a follower that many records behind leaves the ISR,
    # however short a time it has been behind. None: time alone counts.
    lag_messages: int | None = None
    # Brokers of the cluster that hold no replica: they tell a client who leads.
    others: int = 0


class Append(NamedTuple):
    """One batch as it was appended once: a retry that is stored again is another one."""

    records: Sequence[int]
    number: Numbered | None


class Replicas:
    """One partition on its brokers, numbered in the order of its assignment."""

    def __init__(self, clock: Clock, phase: Phase, partition: Policy, policy: ClusterPolicy) -> None:
        self.clock, self.phase, self.policy = clock, phase, policy
        bounds = Bounds(partition.replicas, MANY, MANY, fetch="rounds", follower_hw=True)
        self.model, self.state = start(partition, bounds, dict.fromkeys(FAULTS, MANY))
        brokers = range(partition.replicas)
        self.brokers = brokers
        self.fetch_by = [Event("fetch", broker) for broker in brokers]
        self.write_by = [Event("write", broker) for broker in brokers]
        self.frozen = [False for _ in brokers]
        self.stale_since: list[int | None] = [None for _ in brokers]  # to the leader: no fetch since
        self.fetching = [False for _ in brokers]
        self.waiting = [False for _ in brokers]  # a fetch that found nothing waits at the leader
        self.told = [0 for _ in brokers]  # the leader epoch each broker last heard of; UNKNOWN at its start
        self.informed = [0 for _ in brokers]  # the leader it would tell a client
        self.cut = 0  # brokers cut off from the other brokers
        self.cut_from_controller = 0  # brokers that the controller does not hear of
        self.uninformed = 0  # brokers that hear nothing from the controller
        self.parked: list[int] = [NOBODY for _ in brokers]
        self.appends: list[Append] = []
        self.on_commit: Callable[[], None] = _nothing
        self.on_down: Callable[[int], None] = _nothing_of
        self.on_thaw: Callable[[int], None] = _nothing_of
        self.on_ready: Callable[[int], None] = _nothing_of
        self.applying = [0 for _ in brokers]  # until when it is busy with the news of a leader
        if policy.lag_messages is not None:
            part = phase.shrink_ratio - 1
            clock.after(int(part * policy.lag_time_max), self._count_messages, idle=True)
        self.stalled_until = 0
        self.stalls = [False for _ in brokers]  # it has written since the stall began, and does not ask
        self.answers_from = 0  # no answer is sent before
        self.check_at: int | None = None  # when the leader next looks for followers that lag

    # -- asking ------------------------------------------------------------------------------------------

    def alive(self, broker: int) -> bool:
        return self.state.replicas[broker].life == UP

    # The next two are asked at every turn of a run: no call of each other.

    def acts(self, broker: int) -> bool:
        return not self.frozen[broker] and self.state.replicas[broker].life == UP

    def serves(self, broker: int) -> bool:
        """It takes requests of clients."""
        return (
            not self.frozen[broker]
            and self.state.replicas[broker].life == UP
            and self.applying[broker] <= self.clock.now
        )

    def linked(self, one: int, other: int) -> bool:
        return not (self.cut >> one & 1) and not (self.cut >> other & 1)

    def registered(self) -> list[int]:
        return [broker for broker in self.brokers if not self.state.fenced >> broker & 1]

    def controlled(self) -> bool:
        """There is a controller to write an ISR."""
        return True

    # -- rules -------------------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        self.state, _ = step(self.model, self.state, event)

    # -- writing -----------------------------------------------------------------------------------------

    def produce(self, broker: int, append: Append, size: int) -> tuple[str, int]:
        """A batch reaches a broker: what it answers, or "" and the offset whose commit it waits for."""
        state = self.state
        if not presumes_leadership(state, broker):
            return NOT_LEADER, -1
        if size > self.policy.max_message_bytes:
            return TOO_LARGE, -1
        leader = state.replicas[broker]
        acks = self.model.policy.acks
        if acks == "all" and leader.isr.bit_count() < self.model.min_isr:
            return NOT_ENOUGH_REPLICAS, -1
        offset = len(leader.log)
        if append.number is not None:
            verdict = judge(self._remembered(leader), append.number)
            if verdict == DUPLICATE:
                offset = self._offset_of(leader, append.number)
                return ("", offset) if leader.hw <= offset else (OK, offset)
            if verdict != STORED:
                return verdict, -1
        self.appends.append(append)
        self.apply(Event("produce", broker, state.sent))
        for follower in self.brokers:
            if follower != broker:
                self._news(broker, follower)
        self._check_later()
        return (OK, offset) if acks != "all" or self.state.replicas[broker].hw > offset else ("", offset)

    def committed(self, broker: int, epoch: int, offset: int) -> str:
        """What a request that waits for an offset is answered by now; "": nothing yet."""
        replica = self.state.replicas[broker]
        if not presumes_leadership(self.state, broker) or replica.epoch != epoch:
            return NOT_LEADER
        if replica.hw <= offset:
            return ""
        return NOT_ENOUGH_AFTER_APPEND if self.state.failed >> replica.log[offset][1] & 1 else OK

    def _remembered(self, leader: Replica) -> ProducerState | None:
        known: ProducerState | None = None
        for _, entry in leader.log[-CACHED_BATCHES:]:
            number = self.appends[entry].number
            if number is not None:
                known = remember(known, number)
        return known

    def _offset_of(self, leader: Replica, number: Numbered) -> int:
        for offset in range(len(leader.log) - 1, -1, -1):
            if self.appends[leader.log[offset][1]].number == number:
                return offset
        raise AssertionError("a repetition is of something in the log")

    def stride(self, leader: int, followers: int, records: Sequence[int], number: Numbered | None) -> None:
        """A calm stretch in one: appended, copied and, if it can be, committed."""
        self.appends.append(Append(records, number))
        self.apply(Event("produce", leader, self.state.sent))
        for _ in range(2):
            for follower in members(followers):
                self.apply(self.fetch_by[follower])
                self.apply(self.write_by[follower])

    # -- replication -------------------------------------------------------------------------------------

    def _news(self, leader: int, follower: int) -> None:
        """The leader has something for a follower, whose parked fetch it answers."""
        if self.parked[follower] >= self.clock.now and source(self.model, self.state, follower) == leader:
            # Into the socket of a frozen follower, once; it reads it when it thaws.
            self.parked[follower] = NOBODY
            self.apply(self.fetch_by[follower])
        self.fetch_soon(follower)

    def fetch_soon(self, follower: int) -> None:
        if not self.fetching[follower] and self.acts(follower):
            if self.cut and not self._reaches_leader(follower):
                return
            self.fetching[follower] = True
            clock = self.clock
            begins = max(self.stalled_until, clock.now) if self.stalls[follower] else clock.now
            clock.at(begins + self.phase.fetch, self._fetch, follower)

    def stall(self, duration: int) -> None:
        """Followers write what they are brought next and do not ask again for so long; or answers are not
        sent for so long, as the phase says."""
        self.stalled_until = self.clock.now + duration
        if self.phase.stall == ANSWERS:
            self.answers_from = self.stalled_until

    def _reaches_leader(self, follower: int) -> bool:
        leader = source(self.model, self.state, follower)
        return leader >= 0 and self.acts(leader) and self.linked(leader, follower)

    def _fetch(self, follower: int) -> None:
        self.fetching[follower] = False
        if not self.acts(follower):
            return
        replica = self.state.replicas[follower]
        if replica.answer is not None:
            self._write(follower)
            return
        if not self._reaches_leader(follower):
            return
        before = self.state
        if self.controlled() or before.isr >> follower & 1:
            self.apply(self.fetch_by[follower])
        else:
            self._fetch_outside(follower)
        answer = self.state.replicas[follower].answer
        if answer is None or answer.entries:
            self.fetching[follower] = True
            self.clock.after(self.phase.fetch, self._write, follower)
        else:
            self.apply(self.write_by[follower])
            self._park(follower)
        if self.state.isr != before.isr and self.state.isr >> follower & 1:
            self.stale_since[follower] = None
        self._committed_more(before)

    def _fetch_outside(self, follower: int) -> None:
        """Nobody writes an ISR: a follower that has caught up stays out, as one that is fenced does. (That
        the leader's high watermark already waits for it is left out.)"""
        fenced = self.state.fenced
        self.state = self.state._replace(fenced=fenced | 1 << follower)
        self.apply(self.fetch_by[follower])
        self.state = self.state._replace(fenced=fenced)

    def _park(self, follower: int) -> None:
        """A fetch that finds nothing waits at the leader; its answer brings the high watermark at the least
        (FetchSession: a partition whose high watermark moved is in the answer)."""
        if not self.waiting[follower]:
            self.waiting[follower] = True
            self.clock.after(FETCH_WAIT, self._unpark, follower, idle=True)

    def _unpark(self, follower: int) -> None:
        self.waiting[follower] = False
        leader = in_office(self.state)
        if leader >= 0 and self.state.replicas[follower].hw < self.state.replicas[leader].hw:
            self.fetch_soon(follower)

    def _write(self, follower: int) -> None:
        self.fetching[follower] = False
        if not self.acts(follower):
            return
        if self.state.replicas[follower].answer is not None:
            self.apply(self.write_by[follower])
        self.stalls[follower] = self.phase.stall == FETCHES and self.clock.now < self.stalled_until
        self.fetch_soon(follower)

    def _committed_more(self, before: State) -> None:
        if self.state is not before:
            self.on_commit()

    # -- the ISR -----------------------------------------------------------------------------------------

    def _count_messages(self) -> None:
        """Before 0.9 (ReplicaManager's isr-expiration, Partition.getOutOfSyncReplicas), once in a
        replica.lag.time.max.ms: who lacks too many records at that very moment leaves, and is back with
        the fetch that brings it to the high watermark."""
        before = self.state
        leader = in_office(before)
        limit = self.policy.lag_messages
        if leader >= 0 and self.acts(leader) and limit is not None and self.controlled():
            for follower in members(before.isr):
                if follower != leader and self._records_behind(leader, follower) > limit:
                    self.apply(Event("shrink", follower))
        self._committed_more(before)
        self.clock.after(self.policy.lag_time_max, self._count_messages, idle=True)

    def _records_behind(self, leader: int, follower: int) -> int:
        ahead = self.state.replicas[leader]
        return sum(len(self.appends[entry].records) for _, entry in ahead.log[ahead.remote[follower] :])

    def _check_later(self) -> None:
        """The leader looks for stuck followers every half of replica.lag.time.max.ms; the phase says when,
        counted from the moment a follower was last level."""
        if self.check_at is not None:
            return
        late = [since for since in self.stale_since if since is not None]
        if not late:
            return
        due = min(late) + int(self.phase.shrink_ratio * self.policy.lag_time_max)
        while due <= self.clock.now:
            due += self.policy.lag_time_max // 2
        self._check_at(due)

    def _check_at(self, time: int) -> None:
        self.check_at = time
        self.clock.at(time, self._check, idle=True)

    def _check(self) -> None:
        self.check_at = None
        before = self.state
        leader = in_office(self.state)
        writes_isr = self.controlled() and not self.cut_from_controller >> max(leader, 0) & 1
        if leader >= 0 and self.acts(leader) and writes_isr:
            for follower in members(self.state.isr):
                since = self.stale_since[follower]
                lags = since is not None and self.clock.now - since >= self.policy.lag_time_max
                behind = self.state.replicas[leader].remote[follower] < len(self.state.replicas[leader].log)
                if follower != leader and lags and behind:
                    self.apply(Event("shrink", follower))
        if self.state is not before:
            for follower in members(self.state.isr):
                self._park(follower)
        self._committed_more(before)
        if any(since is not None for since in self.stale_since):
            self._check_at(self.clock.now + self.policy.lag_time_max // 2)


def _nothing() -> None:
    return None


def _nothing_of(broker: int) -> None:
    return None
