"""Brokers and their controller in time: the transition rules of a partition, each event at its moment.

What an event does is said by partition.py and its kin; here is when it happens: sessions that run out, ISR
checks, fetches that take time, news that travels, processes that stop and start. A frozen broker (SIGSTOP)
keeps its sockets and its state: whatever is sent to it waits, and on thawing it acts on what it knew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .elections import candidate
from .partition import step
from .partition_state import (
    NOBODY,
    UNKNOWN,
    UP,
    Event,
    Policy,
    Replica,
    State,
    in_office,
    members,
    presumes_leadership,
    put,
    start,
)
from .replication import source
from .sequences import CACHED_BATCHES, DUPLICATE, STORED, Numbered, ProducerState, judge, remember
from .timeline_clock import Clock
from .timeline_table import FETCH_WAIT, Phase
from .verdict import Bounds

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


class Append(NamedTuple):
    """One batch as it was appended once: a retry that is stored again is another one."""

    records: Sequence[int]
    number: Numbered | None


class Cluster:
    """One partition on its brokers, numbered in the order of its assignment."""

    def __init__(self, clock: Clock, phase: Phase, partition: Policy, policy: ClusterPolicy) -> None:
        self.clock, self.phase, self.policy = clock, phase, policy
        bounds = Bounds(partition.replicas, MANY, MANY, fetch="rounds", follower_hw=True)
        self.model, self.state = start(partition, bounds, dict.fromkeys(FAULTS, MANY))
        brokers = range(partition.replicas)
        self.brokers = brokers
        self.frozen = [False for _ in brokers]
        self.silent_since: list[int | None] = [None for _ in brokers]  # to the controller
        self.stale_since: list[int | None] = [None for _ in brokers]  # to the leader: no fetch since
        self.fetching = [False for _ in brokers]
        self.waiting = [False for _ in brokers]  # a fetch that found nothing waits at the leader
        self.told = [0 for _ in brokers]  # the leader epoch each broker last heard of; UNKNOWN at its start
        self.informed = [0 for _ in brokers]  # the leader it would tell a client
        self.starting = [False for _ in brokers]
        self.registering = [False for _ in brokers]
        self.cut = 0  # brokers cut off from the other brokers
        self.cut_from_controller = 0
        self.parked: list[int] = [NOBODY for _ in brokers]
        self.appends: list[Append] = []
        self.on_commit: Callable[[], None] = _nothing
        self.on_down: Callable[[int], None] = _nothing_of
        self.on_thaw: Callable[[int], None] = _nothing_of
        self.on_ready: Callable[[int], None] = _nothing_of
        self.applying = [0 for _ in brokers]  # until when it is busy with the news of a leader
        self._checks = False
        self._cuts = 0

    # -- asking ------------------------------------------------------------------------------------------

    def alive(self, broker: int) -> bool:
        return self.state.replicas[broker].life == UP

    def acts(self, broker: int) -> bool:
        return self.alive(broker) and not self.frozen[broker]

    def serves(self, broker: int) -> bool:
        """It takes requests of clients."""
        return self.acts(broker) and self.applying[broker] <= self.clock.now

    def linked(self, one: int, other: int) -> bool:
        return not (self.cut >> one & 1) and not (self.cut >> other & 1)

    def registered(self) -> list[int]:
        return [broker for broker in self.brokers if not self.state.fenced >> broker & 1]

    def healthy(self) -> bool:
        """A leader is in office, nobody in the ISR is away, and no process is on its way."""
        leader = in_office(self.state)
        quiet = not any(self.frozen) and not self.cut and not self.cut_from_controller
        return leader >= 0 and quiet and all(self.alive(broker) for broker in members(self.state.isr))

    def level(self) -> bool:
        """Everybody up, in sync and level with a leader in office: nothing is under way."""
        state = self.state
        leader = in_office(state)
        if not self.healthy() or state.isr.bit_count() < self.model.min_isr:
            return False
        end = len(state.replicas[leader].log)
        return all(
            replica.life == UP and len(replica.log) == end and replica.epoch == state.epoch
            for replica in map(state.replicas.__getitem__, members(state.isr))
        ) and not any(self.fetching[broker] for broker in self.brokers)

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

    def stride(self, records: Sequence[int], number: Numbered | None) -> None:
        """A healthy stretch in one: appended, replicated and committed."""
        leader = self.state.leader
        self.appends.append(Append(records, number))
        self.apply(Event("produce", leader, self.state.sent))
        for _ in range(2):
            for follower in members(self.state.isr):
                if follower != leader:
                    self.apply(Event("fetch", follower))
                    self.apply(Event("write", follower))

    # -- replication -------------------------------------------------------------------------------------

    def _news(self, leader: int, follower: int) -> None:
        """The leader has something for a follower, whose parked fetch it answers."""
        if self.parked[follower] >= self.clock.now and source(self.model, self.state, follower) == leader:
            # Into the socket of a frozen follower, once; it reads it when it thaws.
            self.parked[follower] = NOBODY
            self.apply(Event("fetch", follower))
        self.fetch_soon(follower)

    def fetch_soon(self, follower: int) -> None:
        if not self.fetching[follower] and self.acts(follower):
            self.fetching[follower] = True
            self.clock.after(self.phase.fetch, self._fetch, follower)

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
        self.apply(Event("fetch", follower))
        answer = self.state.replicas[follower].answer
        if answer is None or answer.entries:
            self.fetching[follower] = True
            self.clock.after(self.phase.fetch, self._write, follower)
        else:
            self.apply(Event("write", follower))
            self._park(follower)
        if self.state.isr != before.isr and self.state.isr >> follower & 1:
            self.stale_since[follower] = None
        self._committed_more(before)

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
            self.apply(Event("write", follower))
        self.fetch_soon(follower)

    def _committed_more(self, before: State) -> None:
        if self.state is not before:
            self.on_commit()

    # -- the ISR -----------------------------------------------------------------------------------------

    def _check_later(self) -> None:
        """The leader looks for stuck followers every half of replica.lag.time.max.ms; the phase says when,
        counted from the moment a follower was last level."""
        late = [since for since in self.stale_since if since is not None]
        if self._checks or not late:
            return
        self._checks = True
        due = min(late) + int(self.phase.shrink_ratio * self.policy.lag_time_max)
        while due <= self.clock.now:
            due += self.policy.lag_time_max // 2
        self.clock.at(due, self._check)

    def _check(self) -> None:
        self._checks = False
        before = self.state
        leader = in_office(self.state)
        if leader >= 0 and self.acts(leader) and not self.cut_from_controller >> leader & 1:
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
            self._checks = True
            self.clock.after(self.policy.lag_time_max // 2, self._check, idle=True)

    def _refresh_links(self) -> None:
        """Who does not fetch, and since when; who is not heard of by the controller, and since when."""
        now = self.clock.now
        leader = self.state.leader
        for broker in self.brokers:
            there = self.acts(broker)
            hears = there and (leader < 0 or leader == broker or self.linked(leader, broker))
            if leader >= 0 and leader != broker and not self.acts(leader):
                hears = there  # nobody looks while the leader is away
            self.stale_since[broker] = None if hears else (self.stale_since[broker] or now)
            heard = there and not self.cut_from_controller >> broker & 1
            if heard:
                self.silent_since[broker] = None
            elif self.silent_since[broker] is None and not self.state.fenced >> broker & 1:
                self.silent_since[broker] = now
                after = int(self.phase.fence_ratio * self.policy.session_timeout)
                self.clock.after(after, self._session_ends, broker, now)
        self._check_later()

    # -- the controller ----------------------------------------------------------------------------------

    def _session_ends(self, broker: int, since: int) -> None:
        if self.silent_since[broker] == since:
            before = self.state
            self.apply(Event("fence", broker))
            self.after_controller(before)
            if self.registering[broker]:
                self._register(broker)

    def after_controller(self, before: State) -> None:
        """Elect if there is whom to elect, and let the brokers know."""
        if self.state.leader < 0 and candidate(self.model, self.state)[0] >= 0:
            self.apply(Event("elect"))
        if self.state.epoch != before.epoch or self.state.leader != before.leader:
            for broker in self.brokers:
                self._tell(broker)
        self._refresh_links()
        self._committed_more(before)

    def _tell(self, broker: int) -> None:
        mine = self.state.leader == broker
        self.clock.after(self.phase.notify_leader if mine else self.phase.notify_others, self._learn, broker)

    def _learn(self, broker: int) -> None:
        if not self.acts(broker) or self.cut_from_controller >> broker & 1:
            return
        before = self.state
        replica = self.state.replicas[broker]
        self.told[broker] = self.state.epoch
        self.informed[broker] = self.state.leader
        if self.state.leader == broker:
            if replica.epoch != self.state.epoch:
                self.apply(Event("lead", broker, self.state.epoch))
                for other in self.brokers:
                    if other != broker:
                        self._take_up(other)
        else:
            if presumes_leadership(self.state, broker):
                self.applying[broker] = self.clock.now + self.phase.apply
                self.clock.at(self.applying[broker], self._applied, broker)
                stood_down = replica._replace(epoch=UNKNOWN, isr=0, start=0, remote=(), answer=None)
                self.state = put(self.state, broker, stood_down)
            self._take_up(broker)
        self._committed_more(before)

    def _applied(self, broker: int) -> None:
        if self.serves(broker):
            self.on_ready(broker)

    def _take_up(self, broker: int) -> None:
        """Follow the leader, once broker and leader both know of it and reach each other."""
        state = self.state
        leader = state.leader
        if leader in (NOBODY, broker) or not self.acts(broker) or self.told[broker] != state.epoch:
            return
        ready = presumes_leadership(state, leader) and state.replicas[leader].epoch == state.epoch
        if not ready or not self.acts(leader) or not self.linked(leader, broker):
            return
        if state.replicas[broker].epoch != state.epoch:
            self.apply(Event("follow", broker, state.epoch))
        self.fetch_soon(broker)

    def _take_up_all(self) -> None:
        for broker in self.brokers:
            self._take_up(broker)

    # -- what a schedule does ----------------------------------------------------------------------------

    def freeze(self, broker: int) -> None:
        if not self.acts(broker):
            return
        if not self.fetching[broker] and self.phase.parked_fetch and self.state.leader != broker:
            self.parked[broker] = self.clock.now + FETCH_WAIT
        self.frozen[broker] = True
        self._refresh_links()

    def thaw(self, broker: int) -> None:
        if not self.frozen[broker]:
            return
        self.frozen[broker] = False
        self.parked[broker] = NOBODY
        self._refresh_links()
        self.on_thaw(broker)
        self._back_in_touch(broker)
        for other in self.brokers:
            self.fetch_soon(other)

    def _back_in_touch(self, broker: int) -> None:
        if self.alive(broker):
            self.clock.after(self.phase.heartbeat, self._heard_again, broker)
            self.clock.after(self.phase.notify_others, self._learn, broker)
        self._take_up_all()

    def _heard_again(self, broker: int) -> None:
        if (
            self.state.fenced >> broker & 1
            and self.acts(broker)
            and not self.cut_from_controller >> broker & 1
        ):
            before = self.state
            self.apply(Event("heal", broker))
            self.after_controller(before)
            self._tell(broker)

    def kill(self, broker: int) -> None:
        if self.alive(broker):
            self.frozen[broker] = False
            self.apply(Event("crash", broker))
            self._gone(broker, self.phase.death)

    def wipe(self, broker: int) -> None:
        self.apply(Event("wipe", broker))

    def _gone(self, broker: int, sockets_live: int = 0) -> None:
        self.told[broker] = UNKNOWN
        self.clock.after(sockets_live, self.on_down, broker)
        self._refresh_links()

    def shut_down(self, broker: int) -> None:
        """A clean stop: the controller moves leadership away, then the broker goes."""
        if not self.acts(broker):
            return
        before = self.state
        heirs = [heir for heir in members(self.state.isr & ~self.state.fenced) if heir != broker]
        if self.state.leader == broker and heirs:
            self.apply(Event("move", heirs[0]))
            self.after_controller(before)
        self.clock.after(self.phase.stop // 2, self._stopped, broker)

    def _stopped(self, broker: int) -> None:
        if self.alive(broker):
            before = self.state
            self.apply(Event("stop", broker))
            self._gone(broker)
            self.after_controller(before)

    def boot(self, broker: int) -> None:
        if not self.alive(broker) and not self.starting[broker]:
            self.starting[broker] = True
            # Two brokers started together are up one after the other.
            self.clock.after(self.phase.boot + broker * self.phase.heartbeat // 2, self._register, broker)

    def _register(self, broker: int) -> None:
        """Nobody registers while the session of the same broker's last life is open."""
        self.registering[broker] = not self.state.fenced >> broker & 1
        if self.registering[broker] or self.alive(broker):
            return
        self.starting[broker] = False
        before = self.state
        self.apply(Event("return", broker))
        self.silent_since[broker] = None
        self.stale_since[broker] = None
        self.after_controller(before)
        self._tell(broker)

    def prefer(self) -> None:
        """Preferred leader election."""
        before = self.state
        if self.state.leader > 0 and self.state.isr & ~self.state.fenced & 1:
            self.apply(Event("move", 0))
            self.after_controller(before)

    def reconfigure(
        self, min_isr: int | None = None, unclean: bool | None = None, max_message_bytes: int | None = None
    ) -> None:
        """The topic's settings change. Where unclean election becomes possible it happens at once."""
        policy = self.model.policy
        policy = policy._replace(
            min_isr=policy.min_isr if min_isr is None else min_isr,
            unclean=policy.unclean if unclean is None else unclean,
        )
        self.model = self.model._replace(policy=policy, min_isr=policy.effective_min_isr)
        if max_message_bytes is not None:
            self.policy = self.policy._replace(max_message_bytes=max_message_bytes)
        self.after_controller(self.state)

    def isolate(self, brokers: int, from_controller: int) -> None:
        self._cuts += 1
        others = [broker for broker in self.brokers if broker != self.state.leader]
        if brokers and others:
            self.cut = 1 << others[-1]
            self._refresh_links()
        self.clock.after(self.phase.cutting, self._isolated, brokers, from_controller, self._cuts)

    def _isolated(self, brokers: int, from_controller: int, cuts: int) -> None:
        if cuts == self._cuts:
            self.cut, self.cut_from_controller = brokers, from_controller
            self._refresh_links()

    def rejoin(self) -> None:
        were = self.cut | self.cut_from_controller
        self._cuts += 1
        self.cut = self.cut_from_controller = 0
        self._refresh_links()
        for broker in members(were):
            self._back_in_touch(broker)
        self._take_up_all()


def _nothing() -> None:
    return None


def _nothing_of(broker: int) -> None:
    return None
