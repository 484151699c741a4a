"""A producer's batches for one node, many requests at a time.

The readable twin is `sim/producer/accumulator.py` with requests that are answered at once. Two ways, by
what a stretch of records needs:

- While no batch is full and no request too large, requests are a chain: the first unsent record and linger.ms
  say when the node is drained, and everything up to then goes out. The chain is a pointer walk over columns;
  sizes and groups are made for all its requests at once.
- Where a batch fills up (or a request outgrows max.request.size), one request is looked at by itself.

Between two requests the state is nothing but the records that are not yet sent: a batch is rebuilt from its
first record. So a stream is fed in pieces, and only what is unsent is kept from one to the next. As in the
model, all records of a millisecond are appended before the sender runs in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...sim.producer.accumulator import Batching
from ...sim.wire.batches import BATCH_OVERHEAD, MAX_RECORD_OVERHEAD, next_ratio
from ...tuples import NamedTuple
from .varints import Column, placed_sizes

_PIECE_MIN, _PIECE_MAX = 256, 1 << 16
_CAREFUL = np.float32(1.05)
_FOREVER = np.iinfo(np.int64).max


class Records(NamedTuple):
    """Records in the order of their arrival: when, their timestamps, where they go, bytes of their
    contents."""

    times: Column
    stamps: Column
    places: Column
    contents: Column

    def part(self, start: int, end: int | None = None) -> Records:
        return Records(*(column[start:end] for column in self))

    def at(self, order: Column) -> Records:
        return Records(*(column[order] for column in self))


COLUMNS = (
    "place", "created", "drained", "records", "raw_bytes", "size", "first_stamp", "max_stamp", "min_stamp",
    "waited", "request",
)  # fmt: skip


class Batches(NamedTuple):
    """Batches in the order in which they are sent. `raw_bytes` are those of the records before compression,
    `waited` the milliseconds that the records waited for the request, summed."""

    place: Column
    created: Column
    drained: Column
    records: Column
    raw_bytes: Column
    size: Column
    first_stamp: Column
    max_stamp: Column
    min_stamp: Column
    waited: Column
    request: Column


def no_records() -> Records:
    return Records(*(np.empty(0, np.int64) for _ in range(4)))


def joined(parts: Sequence[Batches]) -> Batches:
    if not parts:
        return Batches(*(np.empty(0, np.int64) for _ in COLUMNS))
    return Batches(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class NodeBatches:
    """One producer's queues for one node. `places` are the node's partitions in the order in which they are
    drained."""

    def __init__(self, policy: Batching, places: Sequence[int]) -> None:
        self.policy = policy
        self.order = {place: number for number, place in enumerate(places)}
        self.ratio = 1.0
        self.drain_from = 0
        self.requests = 0
        self.unsent = no_records()
        # The estimate that an unsent batch was begun with.
        self.begun_with: dict[int, float] = {}
        self.piece = 4096
        self.made: list[Batches] = []

    def feed(self, records: Records) -> Batches:
        """What is sent for sure, whatever comes next."""
        return self._run(records, last=False)

    def finish(self) -> Batches:
        """The rest: nothing comes any more."""
        return self._run(no_records(), last=True)

    def _run(self, records: Records, last: bool) -> Batches:
        given = Records(*(np.concatenate(pair) for pair in zip(self.unsent, records, strict=True)))
        # More may come in the millisecond of the last record.
        horizon = _FOREVER if last else (given.times[-1].item() if len(given.times) else 0)
        ahead = no_records()
        start, count = 0, len(given.times)
        while True:
            if not len(ahead.times):
                start = self._chain(given, start, horizon)
            if start >= count and not len(ahead.times):
                break
            done = self._one_request(ahead, given, start, horizon)
            if done is None:
                break
            ahead, start = done
        rest = given.part(start)
        self.unsent = Records(*(np.concatenate(pair) for pair in zip(ahead, rest, strict=True)))
        made, self.made = self.made, []
        return joined(made)

    # -- many requests at once

    def _chain(self, given: Records, start: int, horizon: int) -> int:
        """Send while nothing is full; gives the first record that is not sent."""
        count, linger = len(given.times), self.policy.linger_ms
        while start < count:
            end = min(count, start + self.piece)
            piece = given.part(start, end)
            following = np.searchsorted(piece.times, piece.times + linger, "right").tolist()
            known = piece.times[-1].item() if end < count else horizon
            heads: list[int] = []
            head, size = 0, end - start
            due = (piece.times + linger).tolist()
            while head < size and due[head] < known:
                heads.append(head)
                head = following[head]
            if not heads:
                if end == count:
                    return start
                self.piece *= 4
                continue
            sent = self._send_plain(piece.part(0, head), np.array(heads), due)
            start += sent
            if sent < head:
                self.piece = max(_PIECE_MIN, self.piece // 2)
                return start
            self.piece = min(_PIECE_MAX, self.piece * 2)
        return start

    def _send_plain(self, records: Records, heads: Column, due: list[int]) -> int:
        """The requests that begin at `heads`, up to the first in which something is full; how many records
        they have."""
        request = np.zeros(len(records.times), np.int64)
        request[heads[1:]] = 1
        request = np.cumsum(request)
        order = np.lexsort((records.places, request))
        grouped = records.at(order)
        of = request[order]
        begins = np.flatnonzero(
            np.concatenate(([True], (of[1:] != of[:-1]) | (grouped.places[1:] != grouped.places[:-1])))
        )
        sizes, counts = _sizes(grouped, begins)
        raw = np.add.reduceat(sizes, begins)
        limits = self._limits(grouped.contents[begins])
        # With compression an estimate is compared; it is never more than this.
        most = raw if self.policy.compression_ratio is None else raw * (1.2 * max(1.0, self.ratio))
        full = BATCH_OVERHEAD + most >= limits
        whole = np.bincount(of[begins], weights=BATCH_OVERHEAD + most, minlength=len(heads))
        bad = np.union1d(of[begins][full], np.flatnonzero(whole > self.policy.max_request_size))
        good = bad[0].item() if len(bad) else len(heads)
        if good == 0:
            return 0
        batches = np.searchsorted(of[begins], good, "left").item()
        taken = heads[good].item() if good < len(heads) else len(records.times)
        drained = np.array([due[head] for head in heads[:good].tolist()], np.int64)[of[begins[:batches]]]
        self._emit(grouped, begins[:batches], counts[:batches], raw[:batches], drained, of[begins[:batches]])
        return taken

    def _limits(self, first_contents: Column) -> Column:
        bound: Column = np.maximum(
            self.policy.batch_size, BATCH_OVERHEAD + MAX_RECORD_OVERHEAD + first_contents
        )
        return bound

    def _emit(
        self, grouped: Records, begins: Column, counts: Column, raw: Column, drained: Column, request: Column
    ) -> None:
        """Batches that are drained, in any order of places within a request; `request` counts from 0."""
        end = (begins[-1] + counts[-1]).item()
        stamps, times = grouped.stamps[:end], grouped.times[:end]
        waited = counts * drained - np.add.reduceat(times, begins)
        sizes = BATCH_OVERHEAD + raw
        if self.policy.compression_ratio is not None:
            sizes = BATCH_OVERHEAD + self._compressed(grouped.places[begins], raw, request)
        else:
            self.drain_from -= request[-1].item() + 1
        made = Batches(
            grouped.places[begins], times[begins], drained, counts, raw, sizes, stamps[begins],
            np.maximum.reduceat(stamps, begins), np.minimum.reduceat(stamps, begins), waited,
            request + self.requests,
        )  # fmt: skip
        self.requests += request[-1].item() + 1
        self.begun_with.clear()
        self.made.append(made)

    def _compressed(self, places: Column, raw: Column, request: Column) -> Column:
        """Sizes by the stated ratio; the estimate moves with each batch, in the order of the drain."""
        ratio = self.policy.compression_ratio
        assert ratio is not None
        packed = np.maximum(1, np.rint(raw * ratio)).astype(np.int64)
        count = len(self.order)
        number = np.array([self.order[place] for place in places.tolist()])
        turn = (number - (self.drain_from - request)) % count
        observed = (packed / raw)[np.lexsort((turn, request))].tolist()
        for one in observed:
            self.ratio = next_ratio(self.ratio, one)
        self.drain_from = (self.drain_from - (request[-1].item() + 1)) % count
        return packed

    # -- one request

    def _one_request(
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
            records = Records(
                *(np.concatenate(pair) for pair in zip(ahead, given.part(start, end), strict=True))
            )
            at = min(by_linger, self._first_full(records))
            if at < (given.times[end - 1].item() if end < count else horizon):
                break
            if end == count:
                return None
            size *= 4
        end = np.searchsorted(given.times, at, "right").item()
        left = Records(*(np.concatenate(pair) for pair in zip(ahead, given.part(start, end), strict=True)))
        begun_with = self.ratio
        while len(left.times) and self._is_ready(left, at):
            left = self._drain(left, at)
            for place in np.unique(left.places).tolist():
                self.begun_with.setdefault(place, begun_with)
        return left, end

    def _grouped(self, records: Records) -> tuple[Column, Records, Column]:
        order = np.argsort(records.places, kind="stable")
        grouped = records.at(order)
        begins = np.flatnonzero(np.concatenate(([True], grouped.places[1:] != grouped.places[:-1])))
        return order, grouped, begins

    def _filled(self, grouped: Records, begins: Column) -> tuple[Column, Column, Column]:
        """For each record of groups that each begin a batch: whether it does not fit any more, whether the
        batch is full with it, and the bytes up to it."""
        sizes, counts = _sizes(grouped, begins)
        running = np.cumsum(sizes)
        bytes_ = running - np.repeat(running[begins] - sizes[begins], counts)
        limits = np.repeat(self._limits(grouped.contents[begins]), counts)
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
        return found.min().item() if len(found) else _FOREVER

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
                    places[group], times[0].item(), now, end - begin, raw, packed, stamps[0].item(),
                    stamps.max().item(), stamps.min().item(), (now - times).sum().item(), self.requests,
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
