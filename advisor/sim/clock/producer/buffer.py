"""A producer's buffer of one partition: batches as a Java client makes them, when a record comes, or as
librdkafka does, when they are sent."""

from __future__ import annotations

from dataclasses import replace

from ...producer.accumulator import Accumulator
from ...wire.batches import BATCH_OVERHEAD
from .connections import Batch

MESSAGES_MAX = 10_000
"""batch.num.messages, librdkafka's default."""


class Buffer(Accumulator[int]):
    """The accumulator of one partition, drained one batch at a time."""

    late_size: int | None = None  # of batches that are made when they are sent
    parts: dict[int, list[Batch]]  # of such a batch: the records as they waited

    def ready(self, now: int) -> tuple[list[int], int | None]:
        queue = self.queues[0]
        if self.late_size is None or not queue or queue[0].backs_off(now) or self.memory_awaited:
            return super().ready(now)
        first = queue[0]
        many = min(MESSAGES_MAX, self.late_size // max(1, first.size - BATCH_OVERHEAD))
        due = first.last_attempt + self.policy.linger_ms
        return ([0], None) if first.attempts or len(queue) >= many or due <= now else ([], due)

    def gather(self, first: Batch) -> list[int]:
        """A batch takes in what waits behind it. The numbers of what it took."""
        queue = self.queues[0]
        assert self.late_size is not None, "asked of librdkafka alone"
        parts = [replace(first, records=list(first.records))]
        while queue and not queue[0].attempts and len(first.records) < MESSAGES_MAX:
            size = first.size + queue[0].size - BATCH_OVERHEAD
            if size > self.late_size:
                break
            part = queue.popleft()
            first.records += part.records
            first.size, first.limit = size, first.limit + part.limit
            self.incomplete.discard(part.number)
            parts.append(part)
        if not queue:
            self.queued.pop(0, None)
        self.parts[first.number] = parts
        return [part.number for part in parts[1:]]

    def head(self) -> Batch | None:
        queue = self.queues[0]
        return queue[0] if queue else None

    def take(self, now: int) -> Batch:
        queue = self.queues[0]
        batch = queue.popleft()
        if not queue:
            del self.queued[0]
        self._close(batch)
        batch.drained = now
        return batch

    def finish(self, batch: Batch) -> None:
        self._finish(batch)

    def put_back(self, batch: Batch, place: int) -> None:
        """Where a retry goes that is not to go first."""
        self.queues[0].insert(place, batch)
        self.queued[0] = self.queues[0]

    def sort_in(self, batch: Batch) -> None:
        """A retry that was put first goes where its records belong (rd_kafka_retry_msgq, by message id)."""
        queue = self.queues[0]
        queue.popleft()
        place = 0
        while place < len(queue) and queue[place].records[0] < batch.records[0]:
            place += 1
        queue.insert(place, batch)
