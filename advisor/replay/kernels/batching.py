"""A producer's batches for one node, many requests at a time, for all variants of its settings.

The readable twin is `sim/producer/accumulator.py` with requests that are answered at once. Two ways, by
what a stretch of records needs:

- While no batch is full and no request too large, requests are a chain: the first unsent record and linger.ms
  say when the node is drained, and everything up to then goes out. Where each begins is looked up in the
  times alone; sizes and groups are made for all of them at once (here).
- Where a batch fills up (or a request outgrows max.request.size), one request is looked at by itself
  (`full_batches.py`).

Between two requests the state is nothing but the records that are not yet sent: a batch is rebuilt from its
first record. So a stream is fed in pieces, and only what is unsent is kept from one to the next. As in the
model, all records of a millisecond are appended before the sender runs in it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from ...sim.producer.accumulator import Batching
from ...sim.wire.batches import BATCH_OVERHEAD, next_ratio
from .full_batches import FOREVER, NodePlaces, NodeState
from .records import Batches, Grouped, Records, Window, after, by_place, joined, no_records
from .varints import Column, placed_sizes

_PIECE_MIN, _PIECE_MAX = 256, 1 << 20
# Chains that are walked side by side; fewer are walked one by one.
_SIDE_BY_SIDE = 16
# Differences of timestamps and of offsets that take one byte.
_NEAR = 63


class NodeBatches:
    """One producer's queues for one node, once for each of `policies`."""

    def __init__(self, policies: Sequence[Batching], places: NodePlaces) -> None:
        self.queues = [Queues(policy, places) for policy in policies]
        self.unsent = no_records()

    def feed(self, records: Records) -> list[Batches]:
        """For each policy what is sent for sure, whatever comes next."""
        # More may come in the millisecond of the last record.
        return self._run(records, records.times[-1].item() if len(records.times) else 0)

    def finish(self) -> list[Batches]:
        """The rest: nothing comes any more."""
        return self._run(no_records(), FOREVER)

    def _run(self, records: Records, horizon: int) -> list[Batches]:
        window = Window(after(self.unsent, records))
        made = [queues.run(window, horizon) for queues in self.queues]
        first = min(queues.start for queues in self.queues)
        # A copy: a view would keep all records that were sent.
        self.unsent = window.records.part(first).copied()
        for queues in self.queues:
            queues.start -= first
        return made


class Queues(NodeState):
    """Those of one policy: `start` is the first record of the window that is not sent, but for those that are
    `ahead` of it."""

    def __init__(self, policy: Batching, places: NodePlaces) -> None:
        super().__init__(policy, places)
        self.start = 0
        self.ahead = no_records()
        self.piece = _PIECE_MAX

    def run(self, window: Window, horizon: int) -> Batches:
        while True:
            if not len(self.ahead.times):
                self._chain(window, horizon)
            if self.start >= window.count and not len(self.ahead.times):
                break
            done = self.one_request(self.ahead, window.records, self.start, horizon)
            if done is None:
                break
            self.ahead, self.start = done
        made, self.made = self.made, []
        return joined(made)

    def _chain(self, window: Window, horizon: int) -> None:
        """Send while nothing is full."""
        linger = self.policy.linger_ms
        while self.start < window.count:
            end = min(window.count, self.start + self.piece)
            times = window.records.times[self.start : end]
            known = times[-1].item() if end < window.count else horizon
            heads = _heads(times, linger)
            sent = np.searchsorted(times[heads], known - linger, "left").item()
            if not sent:
                if end == window.count:
                    return
                self.piece *= 4
                continue
            last = heads[sent].item() if sent < len(heads) else len(times)
            if end - self.start > window.count // 8:
                grouped = window.grouped.between(self.start, self.start + last)
            else:
                grouped = by_place(window.records.part(self.start, self.start + last))
            done = self._send_plain(grouped, heads[:sent], times[heads[:sent]] + linger)
            self.start += done
            if done < last:
                self.piece = max(_PIECE_MIN, self.piece // 4)
                return
            self.piece = min(_PIECE_MAX, self.piece * 2)

    def _send_plain(self, grouped: Grouped, heads: Column, due: Column) -> int:
        """The requests that begin at `heads`, up to the first in which something is full; how many records
        they have."""
        count = len(grouped.number)
        begun = np.zeros(count, np.int64)
        begun[heads[1:]] = 1
        of, places = np.cumsum(begun)[grouped.number], grouped.records.places
        begins = np.flatnonzero(np.concatenate(([True], (of[1:] != of[:-1]) | (places[1:] != places[:-1]))))
        counts = np.diff(begins, append=count)
        batches = _batches(grouped, begins, counts, of[begins], due)
        # With compression an estimate is compared; it is never more than this.
        ratio = self.policy.compression_ratio
        raw = batches.raw_bytes
        most = BATCH_OVERHEAD + (raw if ratio is None else raw * (1.2 * max(1.0, self.ratio)))
        full = most >= self.limits(grouped.records.contents[begins])
        whole = np.bincount(batches.request, weights=most, minlength=len(heads))
        bad = np.concatenate(
            (batches.request[full], np.flatnonzero(whole > self.policy.max_request_size))
        ).min(initial=len(heads))
        good = bad.item()
        if good == 0:
            return 0
        if good < len(heads):
            inside = np.flatnonzero(batches.request < good)
            batches = Batches(*(column[inside] for column in batches))
        self._emit(batches, good)
        return heads[good].item() if good < len(heads) else count

    def _emit(self, batches: Batches, requests: int) -> None:
        """Batches that are drained, by place; `request` counts from 0."""
        if self.policy.compression_ratio is not None:
            packed = self._compressed(batches.place, batches.raw_bytes, batches.request)
            batches = batches._replace(size=BATCH_OVERHEAD + packed)
        self.drain_from -= requests
        self.made.append(batches._replace(request=batches.request + self.requests))
        self.requests += requests
        self.begun_with.clear()

    def _compressed(self, places: Column, raw: Column, request: Column) -> Column:
        """Sizes by the stated ratio; the estimate moves with each batch, in the order of the drain."""
        ratio = self.policy.compression_ratio
        assert ratio is not None
        packed = np.maximum(1, np.rint(raw * ratio)).astype(np.int64)
        number = self.number[places - self.first_place]
        turn = (number - (self.drain_from - request)) % len(self.order)
        for one in (packed / raw)[np.lexsort((turn, request))].tolist():
            self.ratio = next_ratio(self.ratio, one)
        return packed


def _heads(times: Column, linger: int) -> Column:
    """Where requests begin: a head takes all records up to linger.ms after it, the next one is a head."""
    count = len(times)
    # After a gap longer than linger.ms whatever was before is sent: chains between such gaps are independent.
    first = np.concatenate(([0], np.flatnonzero(times[1:] - times[:-1] > linger) + 1))
    end = np.append(first[1:], count)
    found = [first]
    several = times[end - 1] - times[first] > linger
    head, end = first[several], end[several]
    while len(head) > _SIDE_BY_SIDE:
        head = np.searchsorted(times, times[head] + linger, "right")
        inside = head < end
        head, end = head[inside], end[inside]
        found.append(head)
    for begin, until in zip(head.tolist(), end.tolist(), strict=True):
        found.append(begin + np.array(_walk(times[begin:until].tolist(), linger), np.int64))
    return np.sort(np.concatenate(found))


def _walk(times: list[int], linger: int) -> list[int]:
    found = []
    head = bisect_right(times, times[0] + linger)
    while head < len(times):
        found.append(head)
        head = bisect_right(times, times[head] + linger, head + 1)
    return found


def _batches(grouped: Grouped, begins: Column, counts: Column, request: Column, due: Column) -> Batches:
    """Of groups of records that each are one batch, none of them full."""
    lasts = begins + counts - 1
    times, stamps, places, _ = grouped.records
    first = stamps[begins]
    if stamps is times:
        newest, oldest = stamps[lasts], first
    else:
        newest, oldest = np.maximum.reduceat(stamps, begins), np.minimum.reduceat(stamps, begins)
    raw = np.add.reduceat(grouped.sizes, begins)
    wide = np.flatnonzero((counts > _NEAR + 1) | (newest - first > _NEAR) | (first - oldest > _NEAR + 1))
    if len(wide):
        raw[wide] = _wide_bytes(grouped, begins[wide], counts[wide])
    drained = due[request]
    waited = counts * drained - np.add.reduceat(times, begins)
    return Batches(
        places[begins], times[begins], drained, counts, raw, BATCH_OVERHEAD + raw, newest, oldest,
        waited, request,
    )  # fmt: skip


def _wide_bytes(grouped: Grouped, begins: Column, counts: Column) -> Column:
    """Bytes of batches whose differences take more than one byte each."""
    starts = np.cumsum(counts) - counts
    deltas = np.arange(counts.sum()) - np.repeat(starts, counts)
    mine = np.repeat(begins, counts) + deltas
    _, stamps, _, contents = grouped.records
    later = stamps[mine] - np.repeat(stamps[begins], counts)
    bytes_: Column = np.add.reduceat(placed_sizes(contents[mine], deltas, later), starts)
    return bytes_
