"""Sequence numbers as an idempotent producer gives them (TransactionManager)."""

from __future__ import annotations

from collections.abc import Mapping

from ...producer.accumulator import QueuedBatch
from ...producer.sequences import Numbered


class Numbers:
    """The numbers of batches that are not finished, by batch."""

    def __init__(self) -> None:
        self.of: dict[int, Numbered] = {}
        self.epoch = 0
        self.next = 0
        self.last_acked = -1
        self.gap = False
        """A batch that had a number failed: nothing new is numbered until what has one is finished."""

    def give(self, batch: int, records: int) -> Numbered:
        """The number it has, or the next one."""
        if batch not in self.of:
            self.of[batch] = Numbered(self.epoch, self.next, self.next + records - 1)
            self.next += records
        return self.of[batch]

    def lowest(self) -> Numbered:
        return min(self.of.values())

    def acked(self, batch: int) -> None:
        number = self.of.pop(batch, None)
        if number is not None and number.epoch == self.epoch:
            self.last_acked = max(self.last_acked, number.last)
        self._close_gap()

    def failed(self, batch: int, noted: bool = True) -> None:
        """`noted`: Java forgets the sequence of a batch that expires in its first try
        (Sender.sendProducerData marks what is `inRetry`): those behind it are refused until they expire."""
        if self.of.pop(batch, None) is not None and noted:
            self.gap = True
        self._close_gap()

    def _close_gap(self) -> None:
        if self.gap and not self.of:
            self._next_epoch()

    def _next_epoch(self) -> None:
        self.epoch, self.next, self.last_acked, self.gap = self.epoch + 1, 0, -1, False

    def refused(
        self, batch: int, number: Numbered | None, unfinished: Mapping[int, QueuedBatch[int]]
    ) -> None:
        """OUT_OF_ORDER_SEQUENCE for the number that a batch was sent with. If it ought to have fitted, the
        log has a gap: a new epoch (KIP-360, 2.5), and what is unfinished is numbered anew, in its order."""
        if number is None or self.of.get(batch) != number:
            return
        if number.first == self.last_acked + 1 or self.gap:
            self._next_epoch()
            order = sorted((number, batch) for batch, number in self.of.items())
            self.of.clear()
            for _, each in order:
                self.give(each, len(unfinished[each].records))
