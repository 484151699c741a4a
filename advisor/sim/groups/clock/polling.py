"""A member's application on the clock: it polls, processes, commits, and is told that it may not.

What a poll returns and a commit carries is consumer.py's matter; who owns what, and whether the coordinator
takes a commit, is asked of the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .. import consumer as reading
from ..classic import OK
from ..consumer import AFTER, AUTO, BEFORE
from .coordinator import Node
from .phases import LOOP

if TYPE_CHECKING:
    from .timeline import GroupRun

COMMIT_FAILED = "CommitFailedException"
COMMIT_TIMED_OUT = "TimeoutException"
REBALANCE_IN_PROGRESS = "RebalanceInProgressException"


class PollLoop:
    def __init__(self, run: GroupRun) -> None:
        self.run = run
        self.clock = run.clock

    def wake(self, node: Node) -> None:
        self._plan_poll(node, max(node.free_at, self.clock.now + LOOP))

    def _plan_poll(self, node: Node, at: int) -> None:
        if node.poll_at < 0 or at < node.poll_at:
            node.poll_at = at
            self.clock.at(at, self._poll, node, at)

    def _poll(self, node: Node, planned: int) -> None:
        if node.poll_at != planned:  # one that was planned since came before
            return
        node.poll_at = -1
        if node.free_at > self.clock.now:
            self._plan_poll(node, node.free_at)
            return
        if not node.alive or node.out or node.consumer is None or (node.joining and not node.keeps):
            return
        policy, setup = self.run.setup.reading, self.run.setup
        before = node.consumer
        node.consumer = reading.fetch(before, self.run.ends, policy.batch)
        returned = 0
        if node.consumer is not before:
            returned = reading.in_hand(node.consumer) - reading.in_hand(before)
        if policy.commits == AUTO and self.clock.now >= node.commit_at:
            late = policy.late_commit and self.run.phase.late
            self.commit(node, reading.consumed(node.consumer if late else before))
            node.commit_at = self.clock.now + setup.auto_commit_interval_ms
        if policy.commits == BEFORE and returned:
            self._commit_sync(node, reading.consumed(node.consumer))
        node.batches += bool(returned)
        node.polled += returned
        if returned:
            self.run.tell(node, "polls", f"{returned} record" + ("s" if returned > 1 else ""))
        if policy.workers:
            self._hand_over(node)
            due = [node.commit_at] if policy.commits == AUTO and not returned else []
            if returned or (due and self._uncommitted(node)):
                self._plan_poll(node, max([self.clock.now + LOOP, *due]))
        elif returned:
            node.batch_at = max(node.free_at, self.clock.now)
            self.run.occupy(node, node.batch_at + int(returned * setup.process_ms))
            self._halt_within(node)
            self.clock.at(node.free_at, self._batch_done, node, node.batches)
        elif policy.commits == AUTO and self._uncommitted(node):
            self._plan_poll(node, max(self.clock.now + LOOP, node.commit_at))

    def _batch_done(self, node: Node, batch: int) -> None:
        if not node.alive or node.consumer is None or node.batches != batch:
            return
        if node.free_at > self.clock.now:  # a stall came in between
            self.clock.at(node.free_at, self._batch_done, node, batch)
            return
        node.consumer, done = reading.process(node.consumer, reading.in_hand(node.consumer))
        self._count(done)
        if self.run.setup.reading.commits == AFTER:
            offsets = reading.consumed(node.consumer)
            for span in done:  # what was lost meanwhile is committed all the same, and refused
                offsets.setdefault(span.partition, span.end)
            self._commit_sync(node, offsets)
        self.wake(node)

    def _hand_over(self, node: Node) -> None:
        if not node.working and node.consumer is not None and node.consumer.hand:
            node.working = True
            self._halt_within(node)
            self.clock.after(max(LOOP, int(self.run.setup.process_ms)), self._worker_done, node)

    def _worker_done(self, node: Node) -> None:
        if not node.alive or node.consumer is None:
            return
        node.working = False
        node.consumer, done = reading.process(node.consumer)
        self._count(done)
        self._hand_over(node)

    def _halt_within(self, node: Node) -> None:
        """A process that halts before a certain record: plan it if that record is next in hand."""
        if self.run.before_record is None or node.consumer is None:
            return
        ahead = 0
        for span in node.consumer.hand:
            partition, offset = self.run.before_record
            if span.partition == partition and span.first <= offset < span.end:
                delay = int((ahead + offset - span.first) * self.run.setup.process_ms)
                if not self.run.setup.reading.workers or delay == 0:
                    self.clock.at(max(node.batch_at, self.clock.now) + delay, self._halt, node)
                return
            ahead += span.end - span.first

    def _halt(self, node: Node) -> None:
        if node.alive:
            self.run.before_record = None
            self.run.kill(node)

    def _count(self, spans: Iterable[reading.Span]) -> None:
        for partition, first, end in spans:
            times = self.run.times[partition]
            for offset in range(first, end):
                times[offset] = times.get(offset, 0) + 1

    def count_partly(self, node: Node) -> None:
        """A loop that dies within a batch has processed what its time was enough for."""
        if node.consumer is None or self.run.setup.reading.workers or node.free_at <= self.clock.now:
            return
        if self.run.setup.process_ms:
            records = int((self.clock.now - node.batch_at) / self.run.setup.process_ms)
            _, done = reading.process(node.consumer, records)
            self._count(done)

    def _uncommitted(self, node: Node) -> bool:
        return node.consumer is not None and any(
            self.run.committed[partition] != offset
            for partition, offset in reading.consumed(node.consumer).items()
        )

    def _commit_sync(self, node: Node, offsets: dict[int, int]) -> None:
        """The application waits for the answer; what is written meanwhile comes with the next poll."""
        asked = not node.joining or node.out
        self.commit(node, offsets)
        if asked and node.alive:
            self.run.occupy(node, max(node.free_at, self.clock.now + self.run.phase.round_trip))

    def commit(self, node: Node, offsets: dict[int, int], closing: bool = False) -> None:
        """The coordinator takes a commit or refuses it. A cooperative member that is joining is told so by
        its own client and tries again with the next batch."""
        if self.run.side.away.until > self.clock.now:
            self._commit_later(node, offsets, closing)
            return
        if node.joining and not node.out and not closing:
            self.run.note(node, REBALANCE_IN_PROGRESS)
            return
        answer = self.run.side.may_commit(node)
        if answer == OK:
            before, self.run.committed = self.run.committed, reading.commit(self.run.committed, offsets)
            moved = [f"p{p}={self.run.committed[p]}" for p in offsets if self.run.committed[p] != before[p]]
            if moved:
                self.run.tell(node, "commits", " ".join(moved))
        elif not closing:
            self.run.note(node, COMMIT_FAILED)

    def _commit_later(self, node: Node, offsets: dict[int, int], closing: bool) -> None:
        """Nobody is there to commit to. A commit of auto-commit is lost, the next one carries more; one that
        the application waits for is tried until default.api.timeout.ms is over, and then ends it."""
        if closing or self.run.setup.reading.commits == AUTO:
            return
        found, gives_up = self.run.side.away.found, self.clock.now + self.run.setup.api_timeout_ms
        self.run.tell(node, "waits", "to commit")
        self.run.occupy(node, min(found, gives_up))
        if found <= gives_up:
            self.clock.at(found, self._commit_again, node, offsets)
        else:
            self.clock.at(gives_up, self._commit_given_up, node)

    def _commit_again(self, node: Node, offsets: dict[int, int]) -> None:
        if node.alive:
            self.commit(node, offsets)

    def _commit_given_up(self, node: Node) -> None:
        if node.alive:
            self.run.stop(node, COMMIT_TIMED_OUT)
