"""Records of one worker's task to batches: which producer, which node, which variant of the settings.

A lane is a producer and a node, or a whole producer where its nodes cannot be told apart before (partitions
are swept, or records without a key are placed by what was sent before). `at` holds lane and time in one
number, so that Spark sorts by one column; `what` the place and the bytes of the contents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..sim.producer.accumulator import Batching
from .columns import CONTENTS_BITS, TIME_BITS
from .kernels.batching import Batches, NodeBatches, Records, joined
from .kernels.by_model import Keyless, ModelBatches
from .kernels.varints import Column

# How much of a producer also goes through the model.
_CHECKED_RECORDS = 2_000


class Lanes:
    """`job`: origin, more (columns besides `at` and `what`), lanes_a_producer, checked (one producer in so
    many), latency_ms, and for each variant its number, policies (of each producer), leaders (of each
    place), topics (first place, partitions, keyless manner), hashed (places come as topic and hash)."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.variants = [_Variant(job, one) for one in job["variants"]]
        self.lane: int | None = None
        self.made: list[list[Column]] = []
        self.numbers = 0
        self.held: list[Column] = []

    def feed(self, batch: Any) -> list[Column] | None:
        columns = [batch.column(name).to_numpy() for name in ("at", "what", *self.job["more"])]
        if not len(columns[0]):
            return None
        if self.held:
            columns = [np.concatenate(pair) for pair in zip(self.held, columns, strict=True)]
        # The last millisecond may go on in the next batch of rows.
        whole = np.searchsorted(columns[0], columns[0][-1], "left").item()
        self.held = [column[whole:] for column in columns]
        self._replay([column[:whole] for column in columns])
        return self._taken()

    def _replay(self, columns: list[Column]) -> None:
        # Records of one millisecond come in any order; in one order they are the same on every cluster.
        at_first, what, *rest = columns
        named = dict(zip(self.job["more"], rest, strict=True))
        ties = [named.pop("order")] if "order" in named else []
        order = np.lexsort((*named.values(), what, *ties, at_first))
        at, what, *rest = (column[order] for column in columns)
        more = dict(zip(self.job["more"], rest, strict=True))
        hashed, late = more.get("hash"), more.get("late")
        lanes = at >> TIME_BITS
        times = (at & ((1 << TIME_BITS) - 1)) + self.job["origin"]
        stamps = times if late is None else times - late
        targets, contents = what >> CONTENTS_BITS, what & ((1 << CONTENTS_BITS) - 1)
        bounds = np.flatnonzero(lanes[1:] != lanes[:-1]) + 1
        starts = [0, *bounds.tolist()] if len(lanes) else []
        for start, end in zip(starts, [*starts[1:], len(lanes)], strict=True):
            lane = lanes[start].item()
            if lane != self.lane:
                self._end_lane()
                self.lane = lane
                for variant in self.variants:
                    variant.begin(lane)
            part = Records(*(column[start:end] for column in (times, stamps, targets, contents)))
            hashes = None if hashed is None else hashed[start:end]
            for variant in self.variants:
                self._keep(variant, variant.feed(part, hashes))

    def finish(self) -> list[Column] | None:
        if self.held:
            self._replay(self.held)
        self._end_lane()
        return self._taken()

    def _end_lane(self) -> None:
        if self.lane is not None:
            for variant in self.variants:
                self._keep(variant, variant.finish())
        self.lane = None

    def _keep(self, variant: _Variant, parts: Iterator[Batches]) -> None:
        for got in parts:
            count = len(got.place)
            if not count:
                continue
            producer = variant.producer
            # A request's batches come together: its first one stands for it.
            opens = np.concatenate(([1], got.request[1:] != got.request[:-1])).astype(np.int64)
            self.made.append(
                [
                    np.full(count, variant.number, np.int32), got.place, np.full(count, producer, np.int64),
                    np.arange(self.numbers, self.numbers + count), opens, got.drained, got.records,
                    got.raw_bytes, got.size, got.max_stamp, got.min_stamp, got.waited,
                ]
            )  # fmt: skip
            self.numbers += count

    def _taken(self) -> list[Column] | None:
        made, self.made = self.made, []
        return [np.concatenate(columns) for columns in zip(*made, strict=True)] if made else None


class _Variant:
    def __init__(self, job: dict[str, Any], given: dict[str, Any]) -> None:
        self.job, self.number = job, given["number"]
        self.policies = [Batching(**one) for one in given["policies"]]
        self.policy_of: list[int] = given["policy_of"]
        self.leaders = np.array(given["leaders"], np.int64)
        nodes = sorted(set(given["leaders"]))
        self.nodes = {node: np.flatnonzero(self.leaders == node).tolist() for node in nodes}
        self.topics: list[tuple[int, int, str]] = [tuple(one) for one in given["topics"]]
        self.first = np.array([one[0] for one in self.topics], np.int64)
        self.partitions = np.array([one[1] for one in self.topics], np.int64)
        self.places = len(self.leaders)
        self.producer = 0
        self.work: dict[int, NodeBatches] = {}
        self.model: ModelBatches | None = None
        self.rounds: dict[int, int] = {}
        self.checks: dict[int, list[Records]] | None = None

    def begin(self, lane: int) -> None:
        self.producer = lane // self.job["lanes_a_producer"]
        self.policy = self.policies[self.policy_of[self.producer]]
        self.work, self.model, self.rounds = {}, None, {}
        self.checks = {} if self.job["checked"] and self.producer % self.job["checked"] == 0 else None

    def feed(self, records: Records, hashes: Column | None) -> Iterator[Batches]:
        records = self._placed(records, hashes)
        if self.model is None and not self.work and (self.job["latency_ms"] or self._is_sticky(records)):
            keyless = [
                Keyless(manner, first, partitions, self.producer * 1_000_003 + number)
                for number, (first, partitions, manner) in enumerate(self.topics)
            ]
            self.model = ModelBatches(
                self.policy, self.nodes, self.job["latency_ms"], keyless, keyless_from=self.places
            )
        if self.model is not None:
            yield self.model.feed(records)
            return
        nodes = self.leaders[records.places]
        first = nodes[0].item()
        if bool(np.all(nodes == first)):
            yield self._node(first, records)
            return
        for node in np.unique(nodes).tolist():
            yield self._node(node, records.at(np.flatnonzero(nodes == node)))

    def finish(self) -> Iterator[Batches]:
        if self.model is not None:
            yield self.model.finish()
        for work in self.work.values():
            yield work.finish()
        for node, parts in (self.checks or {}).items():
            self._compare(node, parts)

    def _node(self, node: int, records: Records) -> Batches:
        if node not in self.work:
            self.work[node] = NodeBatches(self.policy, self.nodes[node])
        if self.checks is not None:
            seen = self.checks.setdefault(node, [])
            left = _CHECKED_RECORDS - sum(len(part.times) for part in seen)
            if left > 0:
                seen.append(records.part(0, left))
        return self.work[node].feed(records)

    def _is_sticky(self, records: Records) -> bool:
        """A lane of records without a key: those of one producer are never in two kinds of lanes."""
        return bool(np.any(records.places >= self.places))

    def _placed(self, records: Records, hashes: Column | None) -> Records:
        """Targets as places: a topic and a hash where partitions are swept; records without a key that go
        round in turn."""
        places = records.places
        if hashes is not None:
            # A hash below zero is a partition that was recorded.
            topics = places
            recorded = -1 - hashes
            inside = np.where(
                hashes < 0, recorded % self.partitions[topics], hashes % self.partitions[topics]
            )
            places = np.where(
                hashes == self.job["keyless"], self.places + topics, self.first[topics] + inside
            )
        for number, (first, partitions, manner) in enumerate(self.topics):
            if manner != "round-robin":
                continue
            mine = np.flatnonzero(places == self.places + number)
            if len(mine):
                turn = self.rounds.get(number, 0)
                places = places.copy()
                places[mine] = first + (turn + np.arange(len(mine))) % partitions
                self.rounds[number] = turn + len(mine)
        return records._replace(places=places)

    def _compare(self, node: int, parts: list[Records]) -> None:
        """The first records of a checked producer once more, through the kernel and through the model."""
        records = Records(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        kernel = NodeBatches(self.policy, self.nodes[node])
        got = joined([kernel.feed(records), kernel.finish()])
        from dataclasses import replace

        model = ModelBatches(replace(self.policy, in_flight_max=0), {node: self.nodes[node]})
        told = joined([model.feed(records), model.finish()])
        if _rows(got) != _rows(told):
            raise RuntimeError(
                f"the kernel batches producer {self.producer} otherwise than the model of the simulator"
            )


def _rows(batches: Batches) -> list[tuple[int, ...]]:
    return sorted(zip(*(column.tolist() for column in batches), strict=True))
