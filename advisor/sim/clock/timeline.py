"""The transition rules on a virtual clock: a schedule of faults and sends, and the set of its outcomes.

    setup = Setup(Policy(...), ClusterPolicy(...), ClientPolicy(...))
    schedule = [Step("send", 400, gap=10_000), Step("sleep", timeout=1_000_000), Step("kill9", 0), ...]
    outcomes(setup, [schedule])     # what can come of it: a set, of one run a phase (timeline_table.GRID)
    runs(setup, [schedule])         # the same, one outcome a phase
    record(setup, schedule, phase)  # timeline_record: one run as timed rows (leader, ISR, LEO, HW, acks)

Brokers are places in the partition's assignment (0 leads at the start), times are microseconds. A `Step` may
say when it began in a recorded run: it then begins no earlier. The names of steps are in `Run._act`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from ...tuples import NamedTuple
from ..partition.state import Policy, in_office, members
from ..ranges import MILLISECOND, SECOND
from .clock import UNBOUNDED, Clock
from .cluster import Cluster
from .grid import GRID, Phase
from .producer.calm import calm, ends, still
from .producer.client import Client
from .producer.policy import ClientPolicy
from .replicas import ClusterPolicy

STRIDE_MARGIN = 60 * MILLISECOND
STRIDE_PAUSE = 40 * MILLISECOND
STRIDE_GAP_MAX = 100 * MILLISECOND
UNDER_WAY_MAX = 8  # batches that are answered within the pause, if all is well
END_MAX = 180 * SECOND
STOP_MAX = 400 * SECOND  # a broker that no controller lets go waits for minutes


class Step(NamedTuple):
    """`name` and arguments in the schedule's vocabulary: brokers are places in the assignment, times are
    microseconds, a topic's settings are the fields of a policy."""

    name: str
    value: Any = None
    timeout: int = 0
    size: int = 100
    gap: int = 0
    not_before: int = 0


class Setup(NamedTuple):
    partition: Policy
    cluster: ClusterPolicy
    client: ClientPolicy


class Outcome(NamedTuple):
    sent: int
    acked: int
    acked_lost: int
    failed_but_readable: int
    duplicates: int
    descents: int
    errors: tuple[str, ...]


class Run:
    """One schedule under one phase."""

    def __init__(self, setup: Setup, phase: Phase, strides: bool = True, events_max: int = UNBOUNDED) -> None:
        self.clock = Clock(events_max)
        self.phase = phase
        self.cluster, self.client = self._make(setup)
        # Who counts messages looks into bursts: no stretch is like another.
        by_time = setup.cluster.lag_messages is None
        self.strides = self.client.backlog.strides = strides and by_time
        self.streams = 0
        self.ahead: Sequence[Step] = ()  # the steps that are still to come

    def _make(self, setup: Setup) -> tuple[Cluster, Client]:
        cluster = Cluster(self.clock, self.phase, setup.partition, setup.cluster)
        return cluster, Client(self.clock, cluster, setup.client)

    def play(self, schedule: Sequence[Step]) -> Outcome:
        for place, step in enumerate(schedule):
            self.ahead = schedule[place:]
            self._wait(max(0, step.not_before - self.clock.now))
            self.ahead = schedule[place + 1 :]
            self._step(step)
        self._recover()
        return self._outcome()

    # -- waiting -------------------------------------------------------------------------------------------

    def _wait(self, delay: int, then_acts: bool = False) -> None:
        until = self.clock.now + delay
        self.clock.horizon = until if then_acts else self._acts_from(until)
        self.clock.run(until, _never)

    def _until(self, condition: Callable[[], bool], timeout: int) -> None:
        """Nothing idle makes a condition true: what does is in the way of a stride, or the timeout is."""
        until = self.clock.now + timeout
        self.clock.horizon = self._acts_from(until)
        self.clock.run(until, condition)

    def _acts_from(self, time: int) -> int:
        """Before when the schedule cannot intervene, if it comes to its next step at that time. (Its end is
        looked at, too. While somebody sends, nobody who awaits the answers goes on.)"""
        for step in self.ahead:
            time = max(time, step.not_before)
            if step.name == "sleep" or (step.name == "await" and self.streams):
                time += step.timeout
            elif step.name not in WAITING:
                break
        return time

    def _all_answered(self) -> bool:
        return not self.streams and self.client.idle()

    # -- steps ---------------------------------------------------------------------------------------------

    def _step(self, step: Step) -> None:
        if step.name in FAULTS and step.name != "wipe":
            self._wait(self.phase.shift, then_acts=True)
            if self.phase.stalled:
                self.cluster.stall(2 * self.phase.stalled)
                self._wait(self.phase.stalled, then_acts=True)
        self._act(step)

    def _act(self, step: Step) -> None:
        cluster = self.cluster
        broker = step.value
        match step.name:
            case "send":
                self.streams += 1
                Stream(self, step).next()
            case "await":
                self._until(self._all_answered, step.timeout)
            case "sleep":
                self._wait(step.timeout)
            case "sigstop":
                cluster.freeze(broker)
            case "sigcont":
                cluster.thaw(broker)
            case "kill9":
                cluster.kill(broker)
            case "wipe":
                cluster.wipe(broker)
            case "term":
                cluster.shut_down(broker)
                self._until(lambda: not cluster.alive(broker), STOP_MAX)
                self._wait(self.phase.stop // 2)
            case "start":
                cluster.boot(broker)
            case "wait_leader":
                self._until(lambda: in_office(cluster.state) in broker, step.timeout)
            case "wait_isr":
                self._until(lambda: list(members(cluster.state.isr)) == sorted(broker), step.timeout)
            case "wait_nodes":
                self._until(lambda: cluster.registered() == sorted(broker), step.timeout)
            case "elect":
                cluster.prefer()
            case "controller_kill9":
                cluster.controller.leave(clean=False)
            case "controller_term":
                cluster.controller.leave(clean=True)
            case "controller_start":
                self.clock.after(self.phase.boot, cluster.controller.come_back)
            case "controller_failover":
                cluster.controller.fail_over()
            case "topic_config":
                cluster.reconfigure(**step.value)
            case "isolate":
                self._isolate(broker)
            case "unisolate":
                self._join()
            case _:
                raise ValueError(f"no step of a schedule is called {step.name!r}")

    def _isolate(self, kind: str) -> None:
        cluster = self.cluster
        place = max(cluster.state.leader, 0)
        leader = 1 << place
        match kind:
            case "brokers":
                cluster.isolate(leader, leader)
            case "minority":
                self.client.listener.behind_cut_with = place
                cluster.isolate(leader, leader)
            case "controller-only":
                cluster.isolate(0, leader)
            case "replication-only":
                cluster.isolate(leader, 0)
            case _:
                raise ValueError(f"nothing is isolated by {kind!r}")

    def _join(self) -> None:
        self.client.listener.behind_cut_with = None
        self.cluster.rejoin()

    # -- the end -------------------------------------------------------------------------------------------

    def _recover(self) -> None:
        """Every broker is started again, then the log is read."""
        cluster = self.cluster
        self._until(lambda: not self.streams, END_MAX)
        self._join()
        while cluster.controller.away:
            cluster.controller.come_back()
        for broker in cluster.brokers:
            cluster.thaw(broker)
            cluster.boot(broker)
        everybody = (1 << len(cluster.brokers)) - 1

        def recovered() -> bool:
            whole = cluster.state.isr == everybody and all(map(cluster.alive, cluster.brokers))
            return whole and in_office(cluster.state) >= 0 and self._all_answered()

        self._until(recovered, END_MAX)
        self._wait(SECOND)  # what nobody waits for an answer of may still be on its way

    def _outcome(self) -> Outcome:
        cluster, client = self.cluster, self.client
        leader = in_office(cluster.state)
        readable: list[int] = []
        if leader >= 0:
            for _, entry in cluster.state.replicas[leader].log:
                readable.extend(cluster.appends[entry].records)
        once = list(dict.fromkeys(readable))
        there = set(once)
        failed = client.failures.keys()
        in_order = once == sorted(once)  # the usual case, told quickly
        return Outcome(
            sent=client.sent,
            acked=client.answered - len(failed),
            acked_lost=len(client.acknowledged() - there),
            failed_but_readable=len(there & failed),
            duplicates=len(readable) - len(once),
            descents=0 if in_order else sum(after < before for before, after in pairwise(once)),
            errors=tuple(sorted(set(client.failures.values()))),
        )


def _never() -> bool:
    return False


# Steps of a schedule that do nothing themselves.
WAITING = ("await", "sleep", "wait_leader", "wait_isr", "wait_nodes")
FAULTS = ("sigstop", "kill9", "wipe", "term", "isolate", "elect")


class Stream:
    """A thread that sends: one record after another, with a gap between them."""

    def __init__(self, run: Run, step: Step) -> None:
        self.run, self.step = run, step
        self.left: int = step.value
        self.blocked_since = -1
        self.gap = step.gap or run.phase.pace
        self.due = 0  # records that a leap not taken left behind: sent at once
        self.next_at = run.clock.now  # when the next record is sent, as far as it is planned

    def next(self) -> None:
        client, clock = self.run.client, self.run.clock
        looks = self.blocked_since < 0
        while self.left:
            if looks and not self.due:
                if self._long_calm(STRIDE_PAUSE + 2 * STRIDE_MARGIN):
                    # Let what is under way come to rest, then take the stretch in one.
                    self.next_at = clock.now + STRIDE_PAUSE
                    clock.after(STRIDE_PAUSE, self._leap, clock.now, idle=True)
                    return
                looks = False  # it does not become calm by what is sent here
            if not client.offer(self.step.size):
                self._block()
                return
            self.blocked_since = -1
            self.left -= 1
            if self.due:
                self.due -= 1
            elif self.left:
                due = self.next_at = clock.now + self.gap
                if not clock.skip_to(due):
                    clock.at(due, self.next, idle=True)
                    return
        self.run.streams -= 1

    def _block(self) -> None:
        """No memory: send() waits for max.block.ms, and the thread with it."""
        client, clock = self.run.client, self.run.clock
        if self.blocked_since < 0:
            self.blocked_since = clock.now
            clock.after(client.policy.max_block, self._give_up, clock.now)
        client.on_memory.append(self._again)

    def _again(self) -> None:
        if self.blocked_since >= 0:
            self.next()

    def _give_up(self, since: int) -> None:
        if self.blocked_since != since:
            return
        self.blocked_since = -1
        self.run.client.on_memory.clear()
        self.run.client.fail_next("BufferExhaustedException")
        self.left -= 1
        self.run.clock.after(self.gap, self.next)

    def _long_calm(self, least: int) -> bool:
        run, gap = self.run, self.gap
        if not run.strides or self.left * gap < least or len(run.client.unfinished) > UNDER_WAY_MAX:
            return False
        if self.left < 2 or not self.step.gap or gap > STRIDE_GAP_MAX:
            return False
        if run.streams > 1 or run.clock.horizon - run.clock.now <= least:
            return False
        return run.client.sent > 0 and calm(run.client)

    def _leap(self, since: int) -> None:
        client, clock = self.run.client, self.run.clock
        end = ends(client)
        if client.idle() and still(client) and end - clock.now > STRIDE_MARGIN:
            count = min(self.left - 1, (end - STRIDE_MARGIN - since) // self.gap)
            if count > 0:
                client.stride(count)
                self.left -= count
                self.next_at = since + count * self.gap
                clock.at(self.next_at, self.next, idle=True)
                return
        self.due = max(1, (clock.now - since) // self.gap)
        self.next()


def runs(setup: Setup, schedules: Sequence[Sequence[Step]], grid: Sequence[Phase] = GRID) -> list[Outcome]:
    """What comes of a schedule under each phase, in the grid's order. Several schedules are recordings of
    one, which the phases take in turn."""
    return [Run(setup, phase).play(schedules[place % len(schedules)]) for place, phase in enumerate(grid)]


def outcomes(setup: Setup, schedules: Sequence[Sequence[Step]], grid: Sequence[Phase] = GRID) -> set[Outcome]:
    """What can come of a schedule: one run for every phase."""
    return set(runs(setup, schedules, grid))
