"""A batch that the topic's limit refuses as too large, and what the client makes of it.

The Java client splits a refused batch of several records and sends the pieces (Sender.completeBatch,
RecordAccumulator.splitAndReenqueue). A piece is filled up to the size of a batch again, so a batch that was
no larger than that comes out whole, is refused again, and so on until its delivery timeout is over: seen with
clients 3.9, 4.0 and 4.1. From 4.2 a batch that was split before is split in halves (KAFKA-8350). librdkafka
does not split: every record of the batch fails.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...tuples import NamedTuple
from ..wire.batches import BATCH_OVERHEAD, record_size, upper_bound

SPLITS, HALVES, FAILS = "splits", "halves", "fails"


class Sent(NamedTuple):
    """One batch sent: its records and bytes, and what became of it: stored, split (into so many), the same
    (split into itself), or failed."""

    records: int
    size: int
    outcome: str
    pieces: int = 0


# Offset deltas of one length as zigzag varints: within a range all records are of one size.
_DELTAS = ((0, 1 << 6), (1 << 6, 1 << 13), (1 << 13, 1 << 20), (1 << 20, 1 << 27), (1 << 27, 1 << 34))


def batch_bytes(records: int, value: int) -> int:
    """Records of one instant, values of one size, no keys."""
    size = BATCH_OVERHEAD
    for first, after in _DELTAS:
        if first < records:
            size += (min(after, records) - first) * record_size(-1, value, offset_delta=first)
    return size


def fitting(batch_size: int, value: int) -> int:
    """How many records a batch takes: one in any case, then as long as there is room for an upper bound of
    the next (MemoryRecordsBuilder.hasRoomFor)."""
    count, size = 1, BATCH_OVERHEAD + record_size(-1, value)
    bound = upper_bound(-1, value) - BATCH_OVERHEAD
    for _, after in _DELTAS:
        each = record_size(-1, value, offset_delta=count)
        # As many as begin while there is still room for the bound.
        more = min(after - count, max(0, (batch_size - bound - size) // each + 1))
        count, size = count + more, size + more * each
        if count < after:
            break
    return count


def settle(batch_size: int, limit: int, value: int, manner: str) -> Iterator[Sent]:
    """A full batch until it is stored or known never to be."""
    waiting = [(fitting(batch_size, value), False)]
    while waiting:
        records, was_split = waiting.pop(0)
        size = batch_bytes(records, value)
        if size <= limit:
            yield Sent(records, size, "stored")
            continue
        if manner == FAILS or records == 1:
            yield Sent(records, size, "failed")
            continue
        target = max(upper_bound(-1, value), size // 2) if manner == HALVES and was_split else batch_size
        fit = fitting(target, value)
        if fit >= records and not (manner == HALVES and not was_split):
            yield Sent(records, size, "the same", 1)
            return
        pieces = [min(fit, records - start) for start in range(0, records, min(fit, records))]
        yield Sent(records, size, "split", len(pieces))
        waiting = [(piece, True) for piece in pieces] + waiting
