"""The producer's buffer: how records become batches, and batches requests (RecordAccumulator and Sender).

A queue of batches per partition. A batch takes records up to batch.size, or up to the upper bound of its
first record if that is larger: such a batch is rarely full, and waits for linger.ms or a second record. A
node is ready once one of its partitions has a full batch, two batches, or one that has waited linger.ms,
and at once while a flush or a lack of buffer memory asks for it. A ready node is drained for all its
partitions, one batch each, as far as a request may grow, if it has a request to spare.

`Accumulator` takes one event at a time: `append`, `begin_flush`, `send`, `complete`, `requeue`, `expire`.
It has no clock, every call says what time it is. `replay` drives it by a list of arrivals. Left out:
sequence numbers and transactions, which never change where a batch ends, and the pool of reused buffers.
As from Kafka 3.3 on; before, one place to begin the drain was shared by all nodes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heappush
from typing import Generic, TypeVar

from ...tuples import NamedTuple
from ..wire.batches import (
    BATCH_OVERHEAD,
    MAX_RECORD_OVERHEAD,
    contents_size,
    estimated_size,
    next_ratio,
    placed_size,
)

_T = TypeVar("_T")

APPENDED = 0
NEW_BATCH = 1
BATCH_FULL = 2
BLOCKED = -1
"""What `append` did: flags, or that there is no memory and nothing was appended."""


@dataclass(frozen=True, slots=True)
class Batching:
    """The producer's settings that decide batches and requests."""

    batch_size: int
    linger_ms: int
    max_request_size: int = 1 << 20
    in_flight_max: int = 5
    """Requests in flight per node; 0: a request is complete as soon as it is sent."""
    buffer_memory: int | None = None
    """None: memory never runs out."""
    compression_ratio: float | None = None
    """Compressed bytes of records by their bytes, as this data compresses; None: no compression."""


@dataclass(slots=True, eq=False)
class QueuedBatch(Generic[_T]):
    """A batch from its first record to its answer. `records` holds what the caller gave for each record."""

    number: int
    partition: int
    created: int
    limit: int
    ratio: float | None
    base_timestamp: int
    records: list[_T] = field(default_factory=list)
    records_bytes: int = 0
    closed: bool = False
    drained: int = -1
    attempts: int = 0
    last_attempt: int = 0
    backoff_ms: int = 0
    size: int = BATCH_OVERHEAD
    """Bytes as far as the producer knows: estimated while open, if compressed; exact when drained."""

    def is_full(self) -> bool:
        return self.closed or self.limit <= self.size

    def backs_off(self, now: int) -> bool:
        return self.attempts > 0 and now - self.last_attempt < self.backoff_ms


class Request(NamedTuple, Generic[_T]):
    number: int
    node: int
    sent: int
    batches: tuple[QueuedBatch[_T], ...]


class Accumulator(Generic[_T]):
    """All that a producer holds for one topic. The state is plain data; two equal histories give equal
    states."""

    def __init__(self, policy: Batching, nodes: Mapping[int, Sequence[int]]) -> None:
        """`nodes`: for each node the partitions it leads, in the order in which they are drained."""
        self.policy = policy
        self.nodes = {node: tuple(nodes[node]) for node in sorted(nodes)}
        self.leader = {partition: node for node, parts in self.nodes.items() for partition in parts}
        self.queues: dict[int, deque[QueuedBatch[_T]]] = {partition: deque() for partition in self.leader}
        self.queued: dict[int, deque[QueuedBatch[_T]]] = {}
        """The queues that are not empty: the sender looks at no others."""
        self.drain_from = dict.fromkeys(self.nodes, 0)
        self.in_flight = dict.fromkeys(self.nodes, 0)
        self.incomplete: set[int] = set()
        self.flushes: list[int] = []
        """For each flush in progress the number of the first batch it does not wait for."""
        self.memory_used = 0
        self.memory_awaited = False
        self.ratio = 1.0
        self.batches = 0
        self.requests = 0

    # -- the caller's thread

    def append(
        self, now: int, partition: int, contents_bytes: int, record: _T, timestamp: int | None = None
    ) -> int:
        """Queue a record whose key, value and headers take `contents_bytes` (`wire.contents_size`).

        BLOCKED: buffer.memory is used up; the caller waits and asks again, or gives up (`give_up`).
        """
        stamp = now if timestamp is None else timestamp
        queue = self.queues[partition]
        if queue:
            last = queue[-1]
            if not last.closed and last.limit > last.size:
                size = placed_size(contents_bytes, len(last.records), stamp - last.base_timestamp)
                if last.limit >= last.size + size:
                    self._add(last, size, record)
                    full = len(queue) > 1 or last.limit <= last.size
                    return BATCH_FULL if full else APPENDED
            last.closed = True
        limit = max(self.policy.batch_size, BATCH_OVERHEAD + MAX_RECORD_OVERHEAD + contents_bytes)
        if not self._allocate(limit):
            return BLOCKED
        ratio = None if self.policy.compression_ratio is None else self.ratio
        batch: QueuedBatch[_T] = QueuedBatch(self.batches, partition, now, limit, ratio, stamp, [])
        batch.last_attempt = now
        self.batches += 1
        self.incomplete.add(batch.number)
        self._add(batch, placed_size(contents_bytes, 0, 0), record)
        queue.append(batch)
        self.queued[partition] = queue
        return NEW_BATCH | BATCH_FULL if len(queue) > 1 or batch.is_full() else NEW_BATCH

    def _add(self, batch: QueuedBatch[_T], size: int, record: _T) -> None:
        batch.records.append(record)
        batch.records_bytes += size
        if batch.ratio is None:
            batch.size += size
        else:
            batch.size = estimated_size(BATCH_OVERHEAD, batch.records_bytes, batch.ratio)

    def _allocate(self, limit: int) -> bool:
        memory = self.policy.buffer_memory
        if memory is not None and limit > memory:
            raise ValueError(f"a batch of {limit} bytes never fits a buffer of {memory}")
        self.memory_awaited = memory is not None and self.memory_used + limit > memory
        if not self.memory_awaited:
            self.memory_used += limit
        return not self.memory_awaited

    def give_up(self) -> None:
        """The blocked caller has waited max.block.ms: its send() fails, nothing waits for memory any more."""
        self.memory_awaited = False

    def begin_flush(self) -> None:
        """flush(): until every batch of now is complete, all that is queued is ready."""
        self.flushes.append(self.batches)

    def end_flushes(self) -> None:
        """Forget the flushes whose batches are all complete."""
        if self.flushes:
            oldest = min(self.incomplete, default=self.batches)
            self.flushes = [end for end in self.flushes if oldest < end]

    # -- the sender's thread

    def ready(self, now: int) -> tuple[list[int], int | None]:
        """(nodes with something to send, the earliest time at which waiting alone makes another batch ready).

        Requests in flight are not looked at.
        """
        linger = self.policy.linger_ms
        hurried = bool(self.flushes) or self.memory_awaited
        nodes: set[int] = set()
        due: int | None = None
        for partition, queue in self.queued.items():
            node = self.leader[partition]
            if node in nodes:
                continue
            first = queue[0]
            if first.attempts and first.backs_off(now):
                at = first.last_attempt + first.backoff_ms
            elif (
                hurried
                or first.closed
                or len(queue) > 1
                or first.limit <= first.size
                or now - first.last_attempt >= linger
            ):
                nodes.add(node)
                continue
            else:
                at = first.last_attempt + linger
            if due is None or at < due:
                due = at
        return sorted(nodes), due

    def send(self, now: int) -> tuple[list[Request[_T]], int | None]:
        """Requests for every ready node that may have one more in flight, until there is no such node; and
        when to ask again if nothing else happens."""
        sent: list[Request[_T]] = []
        while True:
            ready, due = self.ready(now)
            most = self.policy.in_flight_max
            free = [node for node in ready if not most or self.in_flight[node] < most]
            if not free:
                return sent, due
            for node in free:
                request = Request(self.requests, node, now, self._drain(node, now))
                self.requests += 1
                self.in_flight[node] += 1
                sent.append(request)
                if not most:
                    self.complete(request)

    def _drain(self, node: int, now: int) -> tuple[QueuedBatch[_T], ...]:
        """The first batch of each partition of the node, due or not, while the request stays within bounds.

        The place where it ended is where the next request begins: a partition that did not fit comes first.
        """
        partitions = self.nodes[node]
        start = self.drain_from[node]
        size = 0
        drained: list[QueuedBatch[_T]] = []
        for step in range(len(partitions)):
            index = (start + step) % len(partitions)
            self.drain_from[node] = index
            queue = self.queued.get(partitions[index])
            if not queue or queue[0].backs_off(now):
                continue
            # A batch alone is sent whatever its size.
            if drained and size + queue[0].size > self.policy.max_request_size:
                break
            batch = queue.popleft()
            if not queue:
                del self.queued[partitions[index]]
            self._close(batch)
            size += batch.size
            batch.drained = now
            drained.append(batch)
        return tuple(drained)

    def _close(self, batch: QueuedBatch[_T]) -> None:
        batch.closed = True
        ratio = self.policy.compression_ratio
        if ratio is not None and batch.attempts == 0:
            compressed = max(1, round(batch.records_bytes * ratio))
            batch.size = BATCH_OVERHEAD + compressed
            self.ratio = next_ratio(self.ratio, compressed / batch.records_bytes)

    def complete(self, request: Request[_T], unfinished: Sequence[QueuedBatch[_T]] = ()) -> None:
        """The request is answered: its batches are done, except `unfinished` ones that will be requeued."""
        self.in_flight[request.node] -= 1
        for batch in request.batches:
            if batch not in unfinished:
                self._finish(batch)

    def _finish(self, batch: QueuedBatch[_T]) -> None:
        self.incomplete.discard(batch.number)
        self.memory_used -= batch.limit

    def requeue(self, batch: QueuedBatch[_T], now: int, backoff_ms: int) -> None:
        """Put a batch that failed back at the head of its queue, not to be sent for `backoff_ms`."""
        batch.attempts += 1
        batch.last_attempt = now
        batch.backoff_ms = backoff_ms
        queue = self.queues[batch.partition]
        queue.appendleft(batch)
        self.queued[batch.partition] = queue

    def expire(self, now: int, delivery_timeout_ms: int) -> list[QueuedBatch[_T]]:
        """Give up the queued batches that were created delivery.timeout.ms ago or earlier."""
        expired: list[QueuedBatch[_T]] = []
        for partition in sorted(self.queued):
            queue = self.queued[partition]
            while queue and now - queue[0].created >= delivery_timeout_ms:
                batch = queue.popleft()
                batch.closed = True
                self._finish(batch)
                expired.append(batch)
            if not queue:
                del self.queued[partition]
        return expired


class Arrival(NamedTuple):
    """A call of send(): sizes in bytes, -1 for null."""

    at: int
    partition: int
    key_size: int
    value_size: int
    headers_bytes: int = 1


class Replay(NamedTuple):
    requests: list[Request[int]]
    """Each with its batches; a batch's records are positions in the arrivals."""
    appended: list[int]
    """What `append` answered for each arrival; BLOCKED: max.block.ms ran out."""


_contents_size = lru_cache(maxsize=1 << 16)(contents_size)


def replay(
    policy: Batching,
    nodes: Mapping[int, Sequence[int]],
    arrivals: Iterable[Arrival],
    *,
    latency_ms: int = 0,
    flush_at: Iterable[int] = (),
    max_block_ms: int | None = None,
) -> Replay:
    """Run arrivals, in order of time, through one producer whose requests all take `latency_ms`.

    In each millisecond: answers come in, records are appended, flushes begin, the sender runs. The
    milliseconds between two events are skipped. One thread calls send(): while it is blocked, later
    arrivals wait behind it.
    """
    state: Accumulator[int] = Accumulator(policy, nodes)
    calls = list(arrivals)
    flushes = sorted(flush_at)
    results: list[int] = []
    requests: list[Request[int]] = []
    answers: list[tuple[int, int]] = []
    blocked_since: int | None = None
    flushed = 0
    now: int | None = min([call.at for call in calls[:1]] + flushes[:1], default=None)
    while now is not None:
        while answers and answers[0][0] <= now:
            state.complete(requests[heappop(answers)[1]])
        state.end_flushes()
        while len(results) < len(calls) and calls[len(results)].at <= now:
            call = calls[len(results)]
            contents = _contents_size(call.key_size, call.value_size, call.headers_bytes)
            done = state.append(now, call.partition, contents, len(results), call.at)
            if done == BLOCKED:
                blocked_since = now if blocked_since is None else blocked_since
                if max_block_ms is None or now < blocked_since + max_block_ms:
                    break
                state.give_up()
            blocked_since = None
            results.append(done)
        while flushed < len(flushes) and flushes[flushed] <= now:
            state.begin_flush()
            flushed += 1
        sent, due = state.send(now)
        requests += sent
        if policy.in_flight_max:
            for request in sent:
                heappush(answers, (now + max(1, latency_ms), request.number))
        state.end_flushes()
        moments = [at for at, _ in answers[:1]] + flushes[flushed : flushed + 1]
        if due is not None:
            moments.append(due)
        if blocked_since is None:
            moments += [call.at for call in calls[len(results) : len(results) + 1]]
        elif not policy.in_flight_max:
            moments.append(now + 1)
        elif max_block_ms is not None:
            moments.append(blocked_since + max_block_ms)
        now = min(moments, default=None)
    return Replay(requests, results)
