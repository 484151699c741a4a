"""Records of one worker's task to batches: which producer, which node, which variant of the settings.

A lane is a producer, or a share of the nodes that a busy producer writes to. Its rows come in the order of
their stretches; a stretch is replayed once it is whole, and a few at a time where they have few records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..sim.producer.accumulator import Batching
from .columns import BATCH, KEYLESS, RECORD, STRETCH_BITS
from .kernels.batching import NodeBatches
from .kernels.by_model import Keyless, ModelBatches
from .kernels.full_batches import NodePlaces
from .kernels.records import Batches, Records, after, joined
from .kernels.sorting import stable_order
from .kernels.varints import Column
from .packing import cell_starts, packed, unpacked

_RECORDS_AT_ONCE = 1 << 17
# How much of a producer also goes through the model.
_CHECKED_RECORDS = 2_000
Columns = dict[str, Column]


class Lanes:
    """`job`: checked (one producer in so many), latency_ms, sticky (by producer: records without a key go
    where batches before them went), key_first, and layouts, each with the leaders of all places, the topics
    (first place, partitions, keyless manner) and the variants that share it (number, policies, policy_of
    each producer)."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        self.layouts = [_Layout(job, one) for one in job["layouts"]]
        self.lane: tuple[int, int, int] | None = None
        self.held: list[Columns] = []
        self.made: list[tuple[int, int, Batches]] = []
        self.rows = 0

    def feed(self, batch: Any) -> dict[str, Any] | None:
        rows = {
            name: batch.column(name).to_numpy() for name in ("pid", "share", "shares", "stretch", "topic")
        }
        columns, counts = {}, np.zeros(batch.num_rows, np.int64)
        for name, kind in RECORD.items():
            if name in batch.schema.names:
                columns[name], counts = unpacked(batch.column(name), kind)
        columns["time"] = np.repeat(rows["stretch"] << STRETCH_BITS, counts) + columns.pop("at")
        columns["topic"] = np.repeat(rows["topic"], counts)
        ends = np.concatenate(([0], np.cumsum(counts)))
        pid, share = rows["pid"], rows["share"]
        cuts = (np.flatnonzero((pid[1:] != pid[:-1]) | (share[1:] != share[:-1])) + 1).tolist()
        for start, end in zip([0, *cuts], [*cuts, batch.num_rows], strict=True):
            lane = pid[start].item(), share[start].item(), rows["shares"][start].item()
            if lane != self.lane:
                self._end_lane()
                self.lane = lane
                for layout in self.layouts:
                    layout.begin(*lane)
            self.held.append({name: column[ends[start] : ends[end]] for name, column in columns.items()})
            if sum(len(part["time"]) for part in self.held) >= _RECORDS_AT_ONCE:
                self._replay(whole=False)
        return self._taken()

    def finish(self) -> dict[str, Any] | None:
        self._end_lane()
        return self._taken()

    def _replay(self, whole: bool) -> None:
        names = list(self.held[0])
        columns = {name: np.concatenate([part[name] for part in self.held]) for name in names}
        end = len(columns["time"])
        if not whole:
            # The last stretch may go on in the next rows.
            stretches = columns["time"] >> STRETCH_BITS
            end = np.searchsorted(stretches, stretches[-1], "left").item()
        self.held = [{name: column[end:] for name, column in columns.items()}]
        if end:
            order = _in_order({name: column[:end] for name, column in columns.items()})
            mine = {name: column[order] for name, column in columns.items()}
            for layout in self.layouts:
                self.made += layout.feed(mine)

    def _end_lane(self) -> None:
        if self.lane is not None:
            self._replay(whole=True)
            for layout in self.layouts:
                self.made += layout.finish()
        self.lane, self.held = None, []

    def _taken(self) -> dict[str, Any] | None:
        """A row for each variant and place of what was made since."""
        made, self.made = self.made, []
        rows = [_batch_rows(*one) for one in made if len(one[2].place)]
        if not rows:
            return None
        columns = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
        counts = columns.pop("counts")
        ends = np.cumsum(counts)
        count = len(counts)
        self.rows += count
        return {
            "variant": columns["variant"],
            "place": columns["place"],
            "producer": columns["producer"],
            "number": np.arange(self.rows - count, self.rows),
            "batches": packed(columns["batches"], ends - counts, ends),
        }


def _in_order(columns: Columns) -> Column:
    """By time; records of one millisecond come in any order, and are put into one that is the same on every
    cluster: by offset, if there is one."""
    times = columns["time"]
    order = stable_order(times)
    sorted_times = times[order]
    same = sorted_times[1:] == sorted_times[:-1]
    if np.any(same):
        tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
        mine = order[tied]
        ties = [
            columns[name][mine]
            for name in ("late", "target", "contents", "topic", "order")
            if name in columns
        ]
        order[tied] = mine[np.lexsort((*ties, sorted_times[tied]))]
    return order


def _batch_rows(variant: int, producer: int, made: Batches) -> dict[str, Column]:
    # A request is counted where its lowest partition is.
    request = made.request - made.request.min()
    lowest = np.full(request.max().item() + 1, np.iinfo(np.int64).max)
    np.minimum.at(lowest, request, made.place)
    opens = made.place == lowest[request]
    order = stable_order(made.place)
    places = made.place[order]
    cells = np.empty(len(places), BATCH)
    for name in BATCH.names or ():
        cells[name] = (opens if name == "opens" else getattr(made, name))[order]
    starts = cell_starts(places)
    return {
        "variant": np.full(len(starts), variant, np.int32),
        "place": places[starts],
        "producer": np.full(len(starts), producer, np.int64),
        "counts": np.diff(starts, append=len(places)),
        "batches": cells,
    }


class _Layout:
    """Variants that have the same partitions on the same nodes."""

    def __init__(self, job: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        self.job = job
        self.leaders = np.array(given["leaders"], np.int64)
        self.nodes = {
            node: np.flatnonzero(self.leaders == node).tolist() for node in sorted(set(given["leaders"]))
        }
        self.drained = {node: NodePlaces(places) for node, places in self.nodes.items()}
        self.topics: list[tuple[int, int, str]] = [tuple(one) for one in given["topics"]]
        self.first = np.array([one[0] for one in self.topics], np.int64)
        self.partitions = np.array([one[1] for one in self.topics], np.int64)
        self.places = len(self.leaders)
        self.variants = given["variants"]
        self.policies = [[Batching(**one) for one in variant["policies"]] for variant in self.variants]

    def begin(self, producer: int, share: int, shares: int) -> None:
        self.producer, self.share, self.shares = producer, share, shares
        self.mine = [
            policies[variant["policy_of"][producer]]
            for variant, policies in zip(self.variants, self.policies, strict=True)
        ]
        self.work: dict[int, NodeBatches] = {}
        self.rounds: dict[int, int] = {}
        self.checks: dict[int, Records] | None = None
        if self.job["checked"] and producer % self.job["checked"] == 0:
            self.checks = {}
        self.models: list[ModelBatches] = []
        latency = self.job["latency_ms"]
        if latency or self.job["sticky"][producer]:
            self.models = [
                ModelBatches(policy, self.nodes, latency, self._keyless(), keyless_from=self.places)
                for policy in self.mine
            ]

    def _keyless(self) -> list[Keyless]:
        return [
            Keyless(manner, first, partitions, self.producer * 1_000_003 + number)
            for number, (first, partitions, manner) in enumerate(self.topics)
        ]

    def feed(self, columns: Columns) -> Iterator[tuple[int, int, Batches]]:
        records = self._placed(columns)
        if self.models:
            yield from self._named([model.feed(records) for model in self.models])
            return
        nodes = self.leaders[records.places]
        order = stable_order(nodes)
        sorted_nodes = nodes[order]
        cuts = np.flatnonzero(sorted_nodes[1:] != sorted_nodes[:-1]) + 1
        for part in np.split(order, cuts) if len(nodes) else ():
            node = nodes[part[0]].item()
            if list(self.nodes).index(node) % self.shares == self.share:
                yield from self._named(self._node(node, records.at(part)))

    def finish(self) -> Iterator[tuple[int, int, Batches]]:
        if self.models:
            yield from self._named([model.finish() for model in self.models])
        for work in self.work.values():
            yield from self._named(work.finish())
        for node, records in (self.checks or {}).items():
            for policy in self.mine:
                self._compare(node, policy, records)

    def _named(self, made: list[Batches]) -> Iterator[tuple[int, int, Batches]]:
        for variant, batches in zip(self.variants, made, strict=True):
            yield variant["number"], self.producer, batches

    def _node(self, node: int, records: Records) -> list[Batches]:
        if node not in self.work:
            self.work[node] = NodeBatches(self.mine, self.drained[node])
        if self.checks is not None:
            seen = self.checks.get(node)
            left = _CHECKED_RECORDS - (0 if seen is None else len(seen.times))
            if left > 0:
                part = records.part(0, left).copied()
                self.checks[node] = part if seen is None else after(seen, part)
        return self.work[node].feed(records)

    def _placed(self, columns: Columns) -> Records:
        """Targets as places; from `self.places` on stand topics, for records whose place is not known yet."""
        times, topics, targets = columns["time"], columns["topic"], columns["target"]
        stamps = times - columns["late"] if "late" in columns else times
        partitions = self.partitions[topics]
        recorded = -1 - targets
        places = self.first[topics] + np.where(targets < 0, recorded, targets) % partitions
        records = Records(times, stamps, places, columns["contents"].astype(np.int64))
        if targets.min(initial=0) >= 0:
            return records
        places[:] = np.where(targets == KEYLESS, self.places + topics, places)
        if not self.job["key_first"]:
            # What is beyond the partitions of the configuration was counted before.
            inside = (targets >= 0) | (targets == KEYLESS) | (recorded < partitions)
            records = records.at(np.flatnonzero(inside))
        self._in_turn(records.places)
        return records

    def _in_turn(self, places: Column) -> None:
        for number, (first, partitions, manner) in enumerate(self.topics):
            if manner == "round-robin":
                mine = np.flatnonzero(places == self.places + number)
                turn = self.rounds.get(number, 0)
                places[mine] = first + (turn + np.arange(len(mine))) % partitions
                self.rounds[number] = turn + len(mine)

    def _compare(self, node: int, policy: Batching, records: Records) -> None:
        """The first records of a checked producer once more, through the kernel and through the model."""
        kernel = NodeBatches([policy], self.drained[node])
        got = joined([*kernel.feed(records), *kernel.finish()])
        model = ModelBatches(replace(policy, in_flight_max=0), {node: self.nodes[node]})
        told = joined([model.feed(records), model.finish()])
        if _rows(got) != _rows(told):
            raise RuntimeError(
                f"the kernel batches producer {self.producer} otherwise than the model of the simulator"
            )


def _rows(batches: Batches) -> list[tuple[int, ...]]:
    return sorted(zip(*(column.tolist() for column in batches), strict=True))
