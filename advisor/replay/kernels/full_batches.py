"""One request of a node at a time: where a batch fills up, or a request outgrows max.request.size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...sim.producer.accumulator import Batching
from ...sim.wire.batches import BATCH_OVERHEAD, MAX_RECORD_OVERHEAD, next_ratio
from .records import Batches, Records, after
from .sorting import stable_order
from .varints import Column, placed_sizes

_CAREFUL = np.float32(1.05)
FOREVER = np.iinfo(np.int64).max


class NodePlaces:
    """A node's partitions in the order in which they are drained; made once for all producers."""

    def __init__(self, places: Sequence[int]) -> None:
        self.order = {place: number for number, place in enumerate(places)}
        # The same as a column.
        self.first = min(places)
        self.number = np.zeros(max(places) + 1 - self.first, np.int64)
        self.number[np.array(places) - self.first] = np.arange(len(places))


class NodeState:
    """What a producer knows between two requests to a node besides the records that are not sent."""

    def __init__(self, policy: Batching, places: NodePlaces) -> None:
        self.policy = policy
        self.order, self.first_place, self.number = places.order, places.first, places.number
        self.ratio = 1.0
        self.drain_from = 0
        self.requests = 0
        # The estimate that an unsent batch was begun with.
        self.begun_with: dict[int, float] = {}
        self.made: list[Batches] = []

    def limits(self, first_contents: Column) -> Column:
        bound: Column = np.maximum(
            self.policy.batch_size, BATCH_OVERHEAD + MAX_RECORD_OVERHEAD + first_contents
        )
        return bound

    def one_request(
        self, ahead: Records, given: Records, start: int, horizon: int
    ) -> tuple[Records, int] | None:
        """Send the next request, or those of one millisecond; None if it cannot be known yet. `ahead` are
        unsent records before `start`."""
        count = len(given.times)
        first = (ahead.times if len(ahead.times) else given.times[start:])[0].item()
        by_linger = first + self.policy.linger_ms
        size = 512
        while True:
            end = min(count, start + size)
            at = min(by_linger, self._first_full(after(ahead, given.part(start, end))))
            if at < (given.times[end - 1].item() if end < count else horizon):
                break
            if end == count:
                return None
            size *= 4
        end = np.searchsorted(given.times, at, "right").item()
        left = after(ahead, given.part(start, end))
        begun_with = self.ratio
        while len(left.times) and self._is_ready(left, at):
            left = self._drain(left, at)
            for place in np.unique(left.places).tolist():
                self.begun_with.setdefault(place, begun_with)
        return left, end

    def _grouped(self, records: Records) -> tuple[Column, Records, Column]:
        order = stable_order(records.places)
        grouped = records.at(order)
        begins = np.flatnonzero(np.concatenate(([True], grouped.places[1:] != grouped.places[:-1])))
        return order, grouped, begins

    def _filled(self, grouped: Records, begins: Column) -> tuple[Column, Column, Column]:
        """For each record of groups that each begin a batch: whether it does not fit any more, whether the
        batch is full with it, and the bytes up to it."""
        sizes, counts = _sizes(grouped, begins)
        running = np.cumsum(sizes)
        bytes_ = running - np.repeat(running[begins] - sizes[begins], counts)
        limits = np.repeat(self.limits(grouped.contents[begins]), counts)
        if self.policy.compression_ratio is None:
            taken, before = BATCH_OVERHEAD + bytes_, BATCH_OVERHEAD + bytes_ - sizes
        else:
            places = grouped.places[begins].tolist()
            ratios = np.repeat(
                np.array([self.begun_with.get(place, self.ratio) for place in places], np.float32), counts
            )
            taken = _estimated(bytes_, ratios)
            before = np.where(bytes_ == sizes, BATCH_OVERHEAD, _estimated(bytes_ - sizes, ratios))
        # The first record goes in whatever its size.
        first = np.zeros(len(sizes), bool)
        first[begins] = True
        return (before + sizes > limits) & ~first, taken >= limits, bytes_

    def _first_full(self, records: Records) -> int:
        _, grouped, begins = self._grouped(records)
        outgrown, full, _ = self._filled(grouped, begins)
        found = grouped.times[outgrown | full]
        return found.min().item() if len(found) else FOREVER

    def _is_ready(self, records: Records, now: int) -> bool:
        if now - records.times[0].item() >= self.policy.linger_ms:
            return True
        return self._first_full(records) <= now

    def _drain(self, records: Records, now: int) -> Records:
        """One request: the first batch of each partition, from where the last request ended."""
        order, grouped, begins = self._grouped(records)
        outgrown, full, _ = self._filled(grouped, begins)
        ends = np.append(begins[1:], len(grouped.times))
        places = grouped.places[begins].tolist()
        sizes, _ = _sizes(grouped, begins)
        count = len(self.order)
        turns = sorted(((self.order[place] - self.drain_from) % count, n) for n, place in enumerate(places))
        sent: list[tuple[int, int, int, int, int]] = []
        total, begun_with = 0, self.ratio
        self.drain_from = (self.drain_from - 1) % count
        for _, group in turns:
            begin, end = begins[group].item(), ends[group].item()
            stop = np.flatnonzero(outgrown[begin:end] | full[begin:end])
            if len(stop):
                at = begin + stop[0].item()
                end = at if outgrown[at] else at + 1
            raw = sizes[begin:end].sum().item()
            estimate = BATCH_OVERHEAD + raw
            if self.policy.compression_ratio is not None:
                ratio = self.begun_with.get(places[group], begun_with)
                estimate = _estimated(np.array([raw]), np.array([ratio], np.float32))[0].item()
            if sent and total + estimate > self.policy.max_request_size:
                self.drain_from = self.order[places[group]]
                break
            packed = BATCH_OVERHEAD + raw
            if self.policy.compression_ratio is not None:
                packed = max(1, round(raw * self.policy.compression_ratio))
                self.ratio, packed = next_ratio(self.ratio, packed / raw), BATCH_OVERHEAD + packed
            total += packed
            sent.append((group, begin, end, raw, packed))
        return self._taken(records, order, sent, places, now)

    def _taken(
        self,
        records: Records,
        order: Column,
        sent: Sequence[tuple[int, int, int, int, int]],
        places: Sequence[int],
        now: int,
    ) -> Records:
        """The records that stay; the others leave as batches."""
        kept = np.ones(len(order), bool)
        rows = []
        for group, begin, end, raw, packed in sent:
            taken = order[begin:end]
            kept[taken] = False
            stamps, times = records.stamps[taken], records.times[taken]
            rows.append(
                (
                    places[group], times[0].item(), now, end - begin, raw, packed, stamps.max().item(),
                    stamps.min().item(), (now - times).sum().item(), self.requests,
                )
            )  # fmt: skip
            self.begun_with.pop(places[group], None)
        self.requests += 1
        self.made.append(Batches(*(np.array(column, np.int64) for column in zip(*rows, strict=True))))
        return records.at(np.flatnonzero(kept))


def _sizes(grouped: Records, begins: Column) -> tuple[Column, Column]:
    """Bytes of each record if each group is one batch; how many records each group has."""
    counts = np.diff(np.append(begins, len(grouped.times)))
    deltas = np.arange(len(grouped.times)) - np.repeat(begins, counts)
    stamps = grouped.stamps - np.repeat(grouped.stamps[begins], counts)
    return placed_sizes(grouped.contents, deltas, stamps), counts


def _estimated(raw: Column, ratios: Column) -> Column:
    """As Java has it: in floats of four bytes."""
    taken: Column = BATCH_OVERHEAD + (raw.astype(np.float32) * ratios * _CAREFUL).astype(np.int64)
    return taken
