"""The timeline's model once more, as one would write it in SimPy: processes that wait for time and for
events.

Brokers with a log each, followers that fetch, a leader that keeps the high watermark and the ISR, a
controller with sessions, an idempotent producer with batches, requests in flight, timeouts and metadata. The
same latencies (one phase of the table), the same schedule, every batch and every fetch by itself. Only what
the schedule of the bench meets is here: acks=all, freezes and kills and clean stops of one broker at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from typing import Any

import simpy

from advisor.sim.ranges import FETCH_WAIT
from advisor.sim.timeline import Setup, Step
from advisor.sim.timeline_table import Phase

Process = Generator[Any, Any, None]
RECORD_BYTES = 109
BATCH_BYTES = 61


class Batch:
    __slots__ = ("created", "first", "records")

    def __init__(self, created: int, first: int) -> None:
        self.created, self.first, self.records = created, first, 1


class Twin:
    def __init__(self, setup: Setup, phase: Phase) -> None:
        self.env = simpy.Environment()
        self.phase, self.cluster, self.client = phase, setup.cluster, setup.client
        self.min_isr = setup.partition.min_isr
        brokers = range(setup.partition.replicas)
        self.brokers = brokers
        # Brokers.
        self.logs: list[list[tuple[int, int]]] = [[] for _ in brokers]  # (first record, records)
        self.remote = [0 for _ in brokers]  # ends of logs in batches, as the leader knows them
        self.hw = 0
        self.leader, self.epoch, self.isr = 0, 0, set(brokers)
        self.acting = True  # the elected leader knows that it leads
        self.alive = [True for _ in brokers]
        self.frozen = [False for _ in brokers]
        self.fenced = [False for _ in brokers]
        self.stale_since: list[int | None] = [None for _ in brokers]
        self.news = [self.env.event() for _ in brokers]
        self.thaws = [self.env.event() for _ in brokers]
        self.moved = self.env.event()  # the high watermark, or the leader
        self.history: list[tuple[int, int, tuple[int, ...]]] = []  # time, leader, ISR
        # The producer.
        self.sent = self.acked = 0
        self.sending = 0
        self.queue: deque[Batch] = deque()
        self.in_flight: deque[Batch] = deque()
        self.known = 0
        self.connection: simpy.Store | None = None
        self.awake = self.env.event()
        self.waking = False
        for broker in brokers:
            self.env.process(self.follow(broker))
        self.env.process(self.check_isr())
        self.env.process(self.send())

    # -- brokers -------------------------------------------------------------------------------------------

    def acts(self, broker: int) -> bool:
        return self.alive[broker] and not self.frozen[broker]

    def tell(self, broker: int) -> None:
        if not self.news[broker].triggered:
            self.news[broker].succeed()

    def follow(self, me: int) -> Process:
        env = self.env
        while True:
            leader = self.leader
            if not self.acts(me) or leader in (me, -1) or not self.acting or not self.acts(leader):
                yield self.news[me]
                self.news[me] = env.event()
                continue
            yield env.timeout(self.phase.fetch)
            if not self.acts(me) or self.leader != leader or not self.acts(leader):
                continue
            log, mine = self.logs[leader], self.logs[me]
            self.hear(me, len(mine))
            if len(mine) < len(log):
                taken = log[len(mine) :]
                yield env.timeout(self.phase.fetch)
                if self.acts(me) and self.leader == leader:
                    mine.extend(taken)
                continue
            yield self.news[me] | env.timeout(FETCH_WAIT)
            if self.news[me].triggered:
                self.news[me] = env.event()

    def hear(self, follower: int, end: int) -> None:
        self.remote[follower] = end
        if follower not in self.isr and end >= self.hw and not self.fenced[follower]:
            self.isr.add(follower)
            self.stale_since[follower] = None
            self.note()
        self.raise_hw()

    def raise_hw(self) -> None:
        if len(self.isr) < self.min_isr or not self.acting or self.leader < 0:
            return
        ends = [self.remote[broker] for broker in self.isr if broker != self.leader]
        end = min([len(self.logs[self.leader]), *ends])
        if end > self.hw:
            self.hw = end
            self.announce()

    def announce(self) -> None:
        moved, self.moved = self.moved, self.env.event()
        moved.succeed()

    def note(self) -> None:
        self.history.append((self.env.now, self.leader, tuple(sorted(self.isr))))

    def check_isr(self) -> Process:
        lag = self.cluster.lag_time_max
        while True:
            yield self.env.timeout(lag // 2)
            if self.leader < 0 or not self.acting or not self.acts(self.leader):
                continue
            for broker in sorted(self.isr - {self.leader}):
                since = self.stale_since[broker]
                late = since is not None and self.env.now - since >= lag
                if late and self.remote[broker] < len(self.logs[self.leader]):
                    self.isr.discard(broker)
                    self.note()
                    self.raise_hw()

    def serve(self, broker: int, line: simpy.Store) -> Process:
        """One connection: one request at a time, answered when it is committed."""
        env = self.env
        while self.connection is line:
            batch = yield line.get()
            while self.frozen[broker]:
                yield self.thaws[broker]
            if not self.alive[broker] or self.leader != broker or not self.acting:
                return
            log = self.logs[broker]
            place = len(log)
            if log and log[-1][0] >= batch.first:  # a repetition
                place = next(n for n in range(len(log) - 1, -1, -1) if log[n][0] == batch.first)
            else:
                log.append((batch.first, batch.records))
                for other in self.brokers:
                    self.tell(other)
                self.raise_hw()
            while self.hw <= place:
                yield self.moved
                if self.connection is not line or self.leader != broker:
                    return
            env.process(self.answer(batch, line))

    # -- the controller ------------------------------------------------------------------------------------

    def silent(self, broker: int) -> None:
        self.stale_since[broker] = self.env.now
        self.env.process(self.session(broker))

    def session(self, broker: int) -> Process:
        age = int(self.phase.heartbeat_age * self.cluster.heartbeat_interval)
        yield self.env.timeout(self.cluster.session_timeout - age + self.phase.fence_late)
        if not self.acts(broker):
            self.fence(broker)

    def fence(self, broker: int) -> None:
        self.fenced[broker] = True
        if broker in self.isr:
            self.isr.discard(broker)
            if self.leader != broker:
                self.note()
        if self.leader == broker:
            self.elect(min(self.isr))
        else:
            self.raise_hw()

    def elect(self, broker: int) -> None:
        self.leader, self.epoch, self.acting = broker, self.epoch + 1, False
        self.note()
        self.env.process(self.take_office(broker))

    def take_office(self, broker: int) -> Process:
        yield self.env.timeout(self.phase.notify_leader)
        self.acting = True
        self.remote = [0 for _ in self.brokers]
        for other in self.brokers:
            end = min(len(self.logs[other]), len(self.logs[broker]))
            while self.logs[other][:end] != self.logs[broker][:end]:
                end -= 1
            if other != broker:
                del self.logs[other][end:]
            self.tell(other)
        self.announce()

    # -- the schedule --------------------------------------------------------------------------------------

    def play(self, schedule: Sequence[Step]) -> None:
        self.env.process(self.steps(schedule))
        self.env.run()

    def steps(self, schedule: Sequence[Step]) -> Process:
        env = self.env
        for step in schedule:
            broker = step.value
            if step.name == "send":
                self.sending += 1
                env.process(self.produce(step))
            elif step.name == "sleep":
                yield env.timeout(step.timeout)
            elif step.name == "sigstop":
                self.frozen[broker] = True
                self.silent(broker)
            elif step.name == "sigcont":
                self.frozen[broker] = False
                self.thaws[broker].succeed()
                self.thaws[broker] = env.event()
                env.process(self.back(broker, int(self.phase.heartbeat * self.cluster.heartbeat_interval)))
            elif step.name == "kill9":
                self.alive[broker] = False
                self.silent(broker)
                env.process(self.disconnect(broker, self.phase.death))
            elif step.name == "term":
                if self.leader == broker:
                    self.elect(min(self.isr - {broker}))
                yield env.timeout(self.phase.stop // 2)
                self.alive[broker] = False
                self.fence(broker)
                env.process(self.disconnect(broker, 0))
                yield env.timeout(self.phase.stop // 2)
            elif step.name == "start":
                env.process(self.back(broker, self.phase.boot))
            elif step.name == "await":
                while self.sending or self.acked < self.sent:
                    yield env.timeout(10_000)
                raise simpy.core.StopSimulation(None)

    def back(self, broker: int, delay: int) -> Process:
        yield self.env.timeout(delay)
        self.alive[broker], self.fenced[broker], self.stale_since[broker] = True, False, None
        self.tell(broker)

    # -- the producer --------------------------------------------------------------------------------------

    def produce(self, step: Step) -> Process:
        limit = self.client.batch_size
        for _ in range(step.value):
            last = self.queue[-1] if self.queue else None
            if last is not None and BATCH_BYTES + (last.records + 1) * RECORD_BYTES <= limit:
                last.records += 1
            else:
                self.queue.append(Batch(self.env.now, self.sent))
            self.sent += 1
            self.wake()
            yield self.env.timeout(step.gap)
        self.sending -= 1

    def wake(self) -> None:
        if not self.waking:
            self.waking = True
            self.awake.succeed()

    def send(self) -> Process:
        """The sender's thread."""
        env = self.env
        while True:
            yield self.awake
            self.awake, self.waking = env.event(), False
            if self.connection is None:
                yield env.process(self.connect())
            while self.queue and self.connection is not None and len(self.in_flight) < self.client.in_flight:
                rest = self.queue[0].created + self.client.linger - env.now
                if rest > 0 and len(self.queue) == 1:
                    env.process(self.wake_later(rest))
                    break
                batch = self.queue.popleft()
                self.in_flight.append(batch)
                env.process(self.deliver(batch, self.connection))

    def wake_later(self, delay: int) -> Process:
        yield self.env.timeout(delay)
        self.wake()

    def deliver(self, batch: Batch, line: simpy.Store) -> Process:
        yield self.env.timeout(self.phase.network)
        yield line.put(batch)

    def answer(self, batch: Batch, line: simpy.Store) -> Process:
        yield self.env.timeout(self.phase.network)
        if self.connection is line:
            self.in_flight.remove(batch)
            self.acked += batch.records
            self.wake()

    def connect(self) -> Process:
        """Until the leader is one that answers: metadata again and again."""
        while True:
            self.known = self.leader
            if self.acting and self.known >= 0 and self.acts(self.known):
                break
            yield self.env.timeout(self.client.retry_backoff)
        yield self.env.timeout(2 * self.phase.network)
        self.connection = simpy.Store(self.env)
        self.env.process(self.serve(self.known, self.connection))

    def disconnect(self, broker: int, delay: int) -> Process:
        yield self.env.timeout(delay + self.phase.network)
        if self.known == broker and self.connection is not None:
            self.connection = None
            self.queue.extendleft(reversed(self.in_flight))
            self.in_flight.clear()
            self.wake()

    # -- what came of it -----------------------------------------------------------------------------------

    def readable(self) -> list[int]:
        return [record for first, n in self.logs[self.leader] for record in range(first, first + n)]
