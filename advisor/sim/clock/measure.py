"""A run of a schedule in figures: for how long nothing was acknowledged, what failed and how, for how long
send() waited for memory.

As `timeline_record` tells a run in rows, this sums it up; what is measured is the producer's own view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...tuples import NamedTuple
from ..partition.state import State
from ..ranges import MILLISECOND, SECOND, STALL
from .cluster import Cluster
from .grid import GRID, Phase
from .producer.client import Client
from .producer.connections import Batch
from .timeline import FAULTS, Outcome, Run, Setup, Step, Stream

PAUSE = 500 * MILLISECOND
# Who has had no acknowledgement for so long is not writing.
STILL = 2_500 * MILLISECOND
# A fault waits no longer than that for a record to fall upon.
WAITED_MAX = 5 * SECOND


class Measured(NamedTuple):
    """Times are microseconds. `stopped`: how long nothing was acknowledged, pauses of PAUSE or more together
    (and of more than the gap between records); where there is none, the longest. `failed`: records by the
    exception they were answered with, those that send() itself refused among them. `blocked`: how long
    send() waited, in all. `leaders`: who led, in order, by place in the assignment; -1 nobody. When the
    schedule ended, before everything is started again: `leader`, `going`, were writes acknowledged, and
    `stranded`, acknowledged records on no broker that is up."""

    outcome: Outcome
    stopped: int
    failed: tuple[tuple[str, int], ...]
    blocked: int
    leaders: tuple[int, ...]
    leader: int
    going: bool
    stranded: int


# How long a client waits for this and that: in a run that is over before, it does not matter for how long.
TIMEOUTS = ("request_timeout", "delivery_timeout", "max_block", "metadata_max_age")


class _Played(NamedTuple):
    """A run, its client's timeouts, and what a timeout must exceed to be without effect; None: nothing is
    known to be enough."""

    timeouts: tuple[int, ...]
    outlasts: int | None
    measured: Measured

    def serves(self, timeouts: Sequence[int]) -> bool:
        """Whether a client with these timeouts, alike in all else, would have the very same run."""
        return all(
            one == other or (self.outlasts is not None and min(one, other) > self.outlasts)
            for one, other in zip(self.timeouts, timeouts, strict=True)
        )


class Known:
    """Runs that were measured. Producers differ in their timeouts more than in most, and few outages last
    until one runs out: those that no timeout had a part in are not played again for another."""

    def __init__(self) -> None:
        self.played = 0
        self._runs: dict[tuple[str, Phase], list[_Played]] = {}

    def measure(self, setup: Setup, schedule: Sequence[Step], grid: Sequence[Phase] = GRID) -> list[Measured]:
        timeouts = tuple(getattr(setup.client, name) for name in TIMEOUTS)
        none: dict[str, Any] = dict.fromkeys(TIMEOUTS, 0)
        alike = repr((setup._replace(client=setup.client._replace(**none)), schedule))
        return [self._one(setup, schedule, phase, (alike, phase), timeouts) for phase in grid]

    def _one(
        self,
        setup: Setup,
        schedule: Sequence[Step],
        phase: Phase,
        mark: tuple[str, Phase],
        timeouts: tuple[int, ...],
    ) -> Measured:
        runs = self._runs.setdefault(mark, [])
        found = next((run for run in runs if run.serves(timeouts)), None)
        if found is None:
            self.played += 1
            run = _MeasuredRun(setup, phase)
            found = _Played(timeouts, measured=run.measured(schedule), outlasts=run.outlasts())
            runs.append(found)
        return found.measured


def measure(setup: Setup, schedule: Sequence[Step], grid: Sequence[Phase] = GRID) -> list[Measured]:
    """One for every phase, in the order of the grid."""
    return Known().measure(setup, schedule, grid)


class _MeasuredCluster(Cluster):
    leaders: list[int]

    def after_controller(self, before: State) -> None:
        super().after_controller(before)
        if self.state.leader != self.leaders[-1]:
            self.leaders.append(self.state.leader)


class _MeasuredClient(Client):
    longest = pauses = blocked = 0
    least = PAUSE
    last_acked: int | None = None
    last_failed = 0
    blocked_since: int | None = None

    @property
    def stopped(self) -> int:
        return self.pauses or self.longest

    @property
    def going(self) -> bool:
        """After a stride it is, or there would have been none."""
        return self.last_acked is None or self.clock.now - self.last_acked < STILL

    def _finish(self, batch: Batch, result: str) -> None:
        super()._finish(batch, result)
        if result:
            self.last_failed = self.clock.now
            if self.last_acked is None:
                self.last_acked = batch.created  # what came before was taken in one stride
        else:
            self.pause(self.clock.now)
            self.last_acked = self.clock.now

    def pause(self, until: int) -> None:
        """Nothing was acknowledged since the last time."""
        if self.last_acked is not None:
            pause = until - self.last_acked
            self.longest = max(self.longest, pause)
            self.pauses += pause if pause >= self.least else 0

    def stride(self, count: int) -> None:
        super().stride(count)
        # It reaches beyond this moment, and all of it is acknowledged.
        self.last_acked = None

    def store_line(self, count: int) -> None:
        super().store_line(count)
        self.last_acked = None  # as above

    def offer(self, size: int) -> bool:
        taken = super().offer(size)
        if taken:
            self._unblocked()
        elif self.blocked_since is None:
            self.blocked_since = self.clock.now
        return taken

    def fail_next(self, error: str) -> None:
        self._unblocked()
        super().fail_next(error)

    def _unblocked(self) -> None:
        if self.blocked_since is not None:
            self.blocked += self.clock.now - self.blocked_since
            self.blocked_since = None


class _MeasuredRun(Run):
    cluster: _MeasuredCluster
    client: _MeasuredClient
    going = False
    leader = stranded = 0

    def _make(self, setup: Setup) -> tuple[Cluster, Client]:
        self.sending: list[Stream] = []
        cluster = _MeasuredCluster(self.clock, self.phase, setup.partition, setup.cluster)
        cluster.leaders = [cluster.state.leader]
        return cluster, _MeasuredClient(self.clock, cluster, setup.client)

    def measured(self, schedule: Sequence[Step]) -> Measured:
        outcome = self.play(schedule)
        client = self.client
        if client.last_acked is not None and client.last_failed > client.last_acked:
            client.pause(client.last_failed)
        failed: dict[str, int] = {}
        for result in client.failures.values():
            failed[result] = failed.get(result, 0) + 1
        return Measured(
            outcome,
            client.stopped,
            tuple(sorted(failed.items())),
            client.blocked,
            tuple(self.cluster.leaders),
            self.leader,
            self.going,
            self.stranded,
        )

    def outlasts(self) -> int | None:
        """A timeout above this, counted from any moment of the run, ends when all is over, and beyond what
        was ever looked ahead: for a stride, which has ended too, or for a line of batches."""
        if self.streams:
            return None
        return self.clock.now + self.client.backlog.needs(self.client.sent) + SECOND

    def _step(self, step: Step) -> None:
        if step.name in FAULTS and self.client.policy.acks != "all":
            self._wait(self._until_a_record(), then_acts=True)
        super()._step(step)

    def _until_a_record(self) -> int:
        """Where nobody waits for followers, a fault between a record's append and the fetch that brings it to
        them loses it. Records that are rarer than any stall is long are waited for; so are no others."""
        waits = [one.next_at - self.clock.now for one in self.sending if one.left and one.gap > STALL[-1]]
        until = min((wait for wait in waits if 0 <= wait <= WAITED_MAX), default=None)
        if until is None:
            return 0
        phase, linger = self.phase, self.client.policy.linger
        arrives = until + max(linger, phase.wake) + phase.network
        return max(0, arrives + phase.fetch // 2 - phase.shift - phase.stalled)

    def _act(self, step: Step) -> None:
        if step.name != "send":
            super()._act(step)
            return
        self.streams += 1
        self.client.least = max(PAUSE, 2 * step.gap)
        self.sending.append(Stream(self, step))
        self.sending[-1].next()

    def _recover(self) -> None:
        self.leader = self.cluster.state.leader
        self.going = self.client.going
        self.stranded = self._stranded()
        for stream in self.sending:
            # What it has not sent by now tells nothing more.
            stream.left = min(stream.left, 1)
        super()._recover()

    def _stranded(self) -> int:
        cluster = self.cluster
        kept: set[int] = set()
        for broker, replica in enumerate(cluster.state.replicas):
            if cluster.alive(broker):
                for _, entry in replica.log:
                    kept.update(cluster.appends[entry].records)
        return len(self.client.acknowledged() - kept)
