"""A whole replay: what it counts equals the simulator's models run by hand, however the rows come."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from advisor.model import UsageError
from advisor.replay import ReplayOptions, replay_workload
from advisor.replay.plan import plans
from advisor.sim.log.log import Batch, drive
from advisor.sim.placing.partitioner import partition_for
from advisor.sim.producer.accumulator import Arrival, replay

from .conftest import CONFIG, LATENESS_MS


def rows_of(result, name):
    return pq.read_table(Path(result.folder) / name).to_pylist()


def by_hand(trace, plan):
    """Records of the trace through the readable models: batches of each partition, in order."""
    rows = [
        row
        for row in pq.read_table(trace).to_pylist()
        if row["value_size"] is not None and row["arrived"] - row["timestamp"] <= LATENESS_MS
    ]
    rows.sort(key=lambda row: row["arrived"])
    topics = {topic.topic: topic for topic in plan.topics}
    lanes = defaultdict(list)
    for row in rows:
        topic = topics[row["topic"]]
        key = row["key"].encode()
        partition = partition_for(key, topic.partitions, topic.scheme)
        lanes[row["producer"], topic.replicas[partition][0]].append((row, topic, partition, key))
    made = defaultdict(list)
    for (producer, node), mine in sorted(lanes.items()):
        places = [n for n, leader in enumerate(plan.leaders) if leader == node]
        mine.sort(key=lambda one: _order(*one))
        arrivals = [
            Arrival(row["arrived"], topic.first_place + partition, len(key), row["value_size"])
            for row, topic, partition, key in mine
        ]
        policy = replace(min((one[1] for one in mine), key=lambda t: t.topic).batching, in_flight_max=0)
        for request in replay(policy, {node: places}, arrivals).requests:
            for batch in request.batches:
                stamps = [mine[n][0]["timestamp"] for n in batch.records]
                made[batch.partition].append(
                    (batch.drained, producer, request.number, len(stamps), batch.records, stamps)
                )
    return made


def _order(row, topic, partition, key):
    from advisor.sim.wire.batches import contents_size

    late = row["arrived"] - row["timestamp"]
    return row["arrived"], topic.first_place + partition, contents_size(len(key), row["value_size"]), late


def test_records_are_counted(replayed, trace):
    """Records in = replayed + quarantined, by reason."""
    reasons = Counter(
        (row["topic"], "no value size" if row["value_size"] is None else "later than 20000 ms")
        for row in pq.read_table(trace).to_pylist()
        if row["value_size"] is None or row["arrived"] - row["timestamp"] > LATENESS_MS
    )
    assert {reason for _, reason in reasons} == {"no value size", "later than 20000 ms"}
    gone = sum(reasons.values())
    assert replayed.summary["records"] == {"in": 6003, "replayed": 6003 - gone, "quarantined": gone}
    told = {(row["topic"], row["reason"]): row["records"] for row in rows_of(replayed, "quarantine")}
    assert told == dict(reasons)
    hours = rows_of(replayed, "hours")
    for variant in {row["variant"] for row in hours}:
        assert sum(row["records"] for row in hours if row["variant"] == variant) == 6003 - gone


@pytest.mark.parametrize("linger", [None, "0", "2000"])
def test_batches_are_the_models_own(replayed, trace, linger):
    options = ReplayOptions(config=(str(CONFIG),), sets=() if linger is None else (f"linger.ms={linger}",))
    plan = plans(options, {"clicks": None, "orders": None}, None)[0]
    told = by_hand(trace, plan)
    counted = Counter()
    for place, batches in told.items():
        topic, partition = plan.named(place)
        counted[topic.topic, partition] += len(batches)
    got = Counter()
    variant = "" if linger is None else f"linger.ms={linger}"
    for row in rows_of(replayed, "hours"):
        if row["variant"] == variant:
            got[row["topic"], row["partition"]] += row["batches"]
    assert got == counted


def test_segments_are_the_models_own(replayed):
    """What the table of segments says adds up to what the hours say."""
    segments = [row for row in rows_of(replayed, "segments") if row["variant"] == "segment.ms=600000"]
    hours = [row for row in rows_of(replayed, "hours") if row["variant"] == "segment.ms=600000"]
    assert len(segments) > 50
    for topic, partition in {(row["topic"], row["partition"]) for row in segments}:
        mine = [row for row in segments if (row["topic"], row["partition"]) == (topic, partition)]
        mine.sort(key=lambda row: row["base"])
        here = [row for row in hours if (row["topic"], row["partition"]) == (topic, partition)]
        written = sum(row["bytes"] for row in here)
        assert sum(row["bytes"] for row in mine) == written
        assert [row["closed_by"] for row in mine] == ["age"] * (len(mine) - 1) + [None]
        rolls = sum(
            row["rolls_age"] for row in hours if (row["topic"], row["partition"]) == (topic, partition)
        )
        assert rolls == len(mine) - 1


def test_more_linger_is_fewer_requests(replayed):
    rows = {row["variant"]: row for row in rows_of(replayed, "variants")}
    assert rows["linger.ms=0"]["requests"] > rows[""]["requests"] > rows["linger.ms=2000"]["requests"]
    assert rows["linger.ms=0"]["added_ms"] == 0 < rows[""]["added_ms"] < rows["linger.ms=2000"]["added_ms"]
    assert rows["segment.ms=600000"]["files"] > rows[""]["files"]
    assert rows["partitions=3"]["files"] < rows[""]["files"] < rows["partitions=12"]["files"]


def test_the_page_and_the_workload(replayed, advisor):
    folder = Path(replayed.folder)
    page = (folder / "report.html").read_text()
    assert "Records an hour" in page
    assert "The trade of linger.ms" in page
    assert "<link" not in page
    assert "src=" not in page
    assert json.loads((folder / "summary.json").read_text())["records"]["in"] == 6003
    told = advisor("audit", "--workload", folder / "workload.toml", "--format", "json", CONFIG)
    report = json.loads(told.stdout)
    assert told.returncode in (0, 1), told.stderr
    assert report["findings"] is not None


def test_any_order_and_any_partitioning(spark, generate, tmp_path):
    """Many records of one millisecond, from two producers, some without a key, rows in any order."""
    made = generate.table(1500, days=0.002, producers=2, keyless=0.3, keys=20, seed=5)
    path = tmp_path / "trace.parquet"
    generate.write(path, made)
    frame = spark.read.parquet(str(path))
    wanted = {"config": [str(CONFIG)], "checked": 1}
    first = replay_workload(spark, frame.coalesce(1), str(tmp_path / "one"), partitions=1, **wanted)
    mixed = frame.orderBy("value_size").repartition(5)
    second = replay_workload(spark, mixed, str(tmp_path / "two"), partitions=3, **wanted)

    def sorted_rows(result, name):
        return sorted(map(str, rows_of(result, name)))

    for name in ("hours", "segments", "brokers", "keys", "findings"):
        assert sorted_rows(first, name) == sorted_rows(second, name)
    assert sum(row["records"] for row in rows_of(first, "hours")) == 1500


def test_what_a_trace_lacks_is_told(spark, tmp_path):
    frame = spark.createDataFrame([(1, 2)], "a int, b int")
    with pytest.raises(UsageError, match="no column timestamp; it has a, b"):
        replay_workload(spark, frame, str(tmp_path), config=[str(CONFIG)])


def test_the_log_equals_a_drive(replayed, trace):
    """One partition of the base configuration, its batches through the simulator's own run."""
    options = ReplayOptions(config=(str(CONFIG),))
    plan = plans(options, {"clicks": None, "orders": None}, None)[0]
    told = by_hand(trace, plan)
    place = max(told, key=lambda one: len(told[one]))
    topic, partition = plan.named(place)
    rows = [r for r in rows_of(replayed, "hours") if not r["variant"]]
    mine = [r for r in rows if (r["topic"], r["partition"]) == (topic.topic, partition)]
    sizes = sum(row["bytes"] for row in mine)
    appends = [
        (at, Batch(count, 100, max(stamps), min(stamps)))
        for at, _, _, count, _, stamps in sorted(told[place])
    ]
    history = drive(topic.log, appends, schedule=topic.schedule)
    assert history.appended == sum(row["batches"] for row in mine)
    assert sizes > 0
