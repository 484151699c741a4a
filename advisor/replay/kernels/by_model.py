"""A producer through the simulator's own accumulator, record by record.

For what columns cannot say: requests that take time and are bounded in flight, and records without a key,
whose partition depends on the batches before them (sticky, KIP-480 and KIP-794). Fed in pieces, as the kernel
is; a share of all producers takes this way too, and must come out alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush

import numpy as np

from ...sim.placing.partitioner import StickyBytes, draw_partition, sticky, uniform_sticky
from ...sim.producer.accumulator import Accumulator, Batching, Request
from ...sim.wire.batches import BATCH_OVERHEAD
from .records import Batches, Records, joined

_MASK = (1 << 64) - 1


def draws(seed: int) -> Iterator[int]:
    """Numbers as good as random, the same for every run (splitmix64)."""
    state = seed & _MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & _MASK
        yield (mixed ^ (mixed >> 31)) >> 32


class Keyless:
    """Where the records without a key of one topic go."""

    def __init__(self, manner: str, first_place: int, partitions: int, seed: int) -> None:
        self.manner, self.first, self.partitions = manner, first_place, partitions
        self.draws = draws(seed)
        self.available = tuple(range(partitions))
        self.state = StickyBytes(draw_partition(next(self.draws), self.available, partitions))

    @property
    def place(self) -> int:
        return self.first + self.state.partition

    def appended(self, size: int, batch_size: int, is_full: bool, new_batch: bool) -> None:
        if self.manner == "uniform-sticky":
            # The next partition is drawn only where it is taken, as the client does.
            moved = uniform_sticky(self.state, size, batch_size, is_full, -1)
            if moved.partition < 0:
                following = draw_partition(next(self.draws), self.available, self.partitions)
                moved = StickyBytes(following)
            self.state = moved
        elif new_batch:
            current = self.state.partition
            self.state = StickyBytes(sticky(current, current, self.available, self.partitions, self.draws))


class ModelBatches:
    """`nodes` as `Accumulator` takes them; a place at or above `keyless_from` is the topic of that number."""

    def __init__(
        self,
        policy: Batching,
        nodes: Mapping[int, Sequence[int]],
        latency_ms: int = 0,
        keyless: Sequence[Keyless] = (),
        keyless_from: int = 1 << 62,
    ) -> None:
        self.state: Accumulator[tuple[int, int]] = Accumulator(policy, nodes)
        self.latency_ms, self.keyless, self.keyless_from = latency_ms, keyless, keyless_from
        self.answers: list[tuple[int, int]] = []
        self.requests: dict[int, Request[tuple[int, int]]] = {}
        self.now: int | None = None
        self.due: int | None = None
        self.rows: list[tuple[int, ...]] = []

    def feed(self, records: Records) -> Batches:
        for time, stamp, place, contents in zip(*(column.tolist() for column in records), strict=True):
            if self.now is not None and time > self.now:
                self._send(self.now)
                self._until(time)
            self.now = time
            self._answered(time)
            self._append(time, stamp, place, contents)
        return self._taken()

    def finish(self) -> Batches:
        if self.now is not None:
            self._send(self.now)
            self._until(None)
        return self._taken()

    def _append(self, time: int, stamp: int, place: int, contents: int) -> None:
        if place < self.keyless_from:
            self.state.append(time, place, contents, (time, stamp), stamp)
            return
        topic = self.keyless[place - self.keyless_from]
        where = topic.place
        queue = self.state.queues[where]
        before = queue[-1].size if queue else BATCH_OVERHEAD
        old = queue[-1] if queue else None
        self.state.append(time, where, contents, (time, stamp), stamp)
        new = queue[-1] is not old
        size = queue[-1].size - (BATCH_OVERHEAD if new else before)
        topic.appended(size, self.state.policy.batch_size, queue[-1].is_full(), new and old is not None)

    def _answered(self, now: int) -> None:
        while self.answers and self.answers[0][0] <= now:
            self.state.complete(self.requests.pop(heappop(self.answers)[1]))

    def _until(self, end: int | None) -> None:
        """Every moment before `end` at which the sender has something to do."""
        while True:
            moments = [at for at, _ in self.answers[:1]]
            if self.due is not None:
                moments.append(self.due)
            now = min(moments, default=None)
            if now is None or (end is not None and now >= end):
                return
            self._answered(now)
            self._send(now)

    def _send(self, now: int) -> None:
        self._answered(now)
        sent, self.due = self.state.send(now)
        for request in sent:
            for batch in request.batches:
                times = [time for time, _ in batch.records]
                stamps = [stamp for _, stamp in batch.records]
                self.rows.append(
                    (
                        batch.partition, batch.created, now, len(times), batch.records_bytes, batch.size,
                        max(stamps), min(stamps), sum(now - time for time in times),
                        request.number,
                    )
                )  # fmt: skip
            if self.state.policy.in_flight_max:
                self.requests[request.number] = request
                heappush(self.answers, (now + max(1, self.latency_ms), request.number))

    def _taken(self) -> Batches:
        rows, self.rows = self.rows, []
        if not rows:
            return joined([])
        return Batches(*(np.array(column, np.int64) for column in zip(*rows, strict=True)))
