"""Every kernel against its readable twin, on any stream of records."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.replay.columns import BATCH, RECORD
from advisor.replay.kernels.batching import NodeBatches
from advisor.replay.kernels.by_model import ModelBatches
from advisor.replay.kernels.full_batches import NodePlaces
from advisor.replay.kernels.hashes import hashes
from advisor.replay.kernels.lag import by_step, lag_of
from advisor.replay.kernels.log_segments import NEVER, Appends, log_of
from advisor.replay.kernels.log_segments import by_model as by_twin
from advisor.replay.kernels.records import Records, joined
from advisor.replay.kernels.sorting import stable_order
from advisor.replay.kernels.varints import contents_sizes, placed_sizes
from advisor.replay.lanes import Lanes
from advisor.sim.log.log import Batch, LogConfig, Schedule, drive
from advisor.sim.placing.partitioner import SCHEMES, is_hashed, partition_for
from advisor.sim.producer.accumulator import Arrival, Batching, replay
from advisor.sim.wire.batches import contents_size, placed_size

_LONG = 2**62


@given(st.lists(st.tuples(st.integers(-1, 1 << 20), st.integers(-1, 1 << 28)), max_size=20))
def test_contents(sizes):
    keys, values = (np.array([pair[n] for pair in sizes], np.int64) for n in (0, 1))
    assert contents_sizes(keys, values).tolist() == [contents_size(*pair) for pair in sizes]


@given(st.lists(st.tuples(st.integers(0, 1 << 28), st.integers(0, 1 << 30), st.integers(-_LONG, _LONG))))
def test_places_in_a_batch(given):
    columns = [np.array([row[n] for row in given], np.int64) for n in range(3)]
    assert placed_sizes(*columns).tolist() == [placed_size(*row) for row in given]


@given(st.lists(st.integers(-(2**40), 2**43) | st.integers(0, 5)))
def test_orders(numbers):
    assert stable_order(np.array(numbers, np.int64)).tolist() == sorted(
        range(len(numbers)), key=numbers.__getitem__
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=30)
@given(keys=st.lists(st.binary(max_size=40), max_size=20), partitions=st.integers(1, 50))
def test_hashes(scheme, keys, partitions):
    keys = [key for key in keys if is_hashed(key, scheme)]
    offsets = np.cumsum([0, *map(len, keys)])
    found = hashes(np.frombuffer(b"".join(keys), np.uint8), offsets, scheme) % partitions
    assert found.tolist() == [partition_for(key, partitions, scheme) for key in keys]


def by_model(policy: Batching, places, arrivals):
    """What the readable accumulator sends, as rows of a comparison."""
    done = replay(policy, {0: places}, arrivals)
    rows = []
    for request in done.requests:
        for batch in request.batches:
            at = [arrivals[number].at for number in batch.records]
            rows.append(
                (request.number, batch.partition, batch.created, batch.drained, len(at), batch.size,
                 sum(batch.drained - one for one in at), max(at))
            )  # fmt: skip
    return sorted(rows)


def records_of(arrivals) -> Records:
    at = [one.at for one in arrivals]
    contents = [contents_size(one.key_size, one.value_size) for one in arrivals]
    rows = (at, [one.partition for one in arrivals], contents)
    times, places, sizes = (np.array(column, np.int64) for column in rows)
    return Records(times, times, places, sizes)


def by_kernel(policies, places, arrivals, cuts, piece):
    """What each of the policies sends, made side by side."""
    work = NodeBatches(policies, NodePlaces(places))
    for queues in work.queues:
        queues.piece = piece
    columns = records_of(arrivals)
    made, start = [], 0
    for end in [*sorted(min(cut, len(arrivals)) for cut in cuts), len(arrivals)]:
        made.append(work.feed(columns.part(start, end)))
        start = end
    made.append(work.finish())
    for one in zip(*made, strict=True):
        got = joined(one)
        rows = zip(got.request, got.place, got.created, got.drained, got.records, got.size, got.waited,
                   got.max_stamp, strict=True)  # fmt: skip
        yield sorted(tuple(value.item() for value in row) for row in rows)


@st.composite
def policies(draw):
    return Batching(
        batch_size=draw(st.sampled_from([0, 200, 1000, 4000, 16_384])),
        linger_ms=draw(st.sampled_from([0, 1, 5, 50, 1000])),
        max_request_size=draw(st.sampled_from([1500, 30_000, 1 << 20])),
        in_flight_max=0,
        compression_ratio=draw(st.sampled_from([None, None, 0.3, 0.7])),
    )


@st.composite
def streams(draw):
    gaps = st.sampled_from([0, 0, 1, 1, 2, 5, 20, 200])
    sizes = st.sampled_from([0, 10, 60, 70, 200, 900, 3000, 20_000])
    count = draw(st.integers(1, 60))
    places = draw(st.integers(1, 4))
    now, arrivals = 0, []
    for _ in range(count):
        now += draw(gaps)
        arrivals.append(
            Arrival(now, draw(st.integers(0, places - 1)), draw(st.sampled_from([-1, 8])), draw(sizes))
        )
    return draw(policies()), list(range(places)), arrivals


@settings(max_examples=300, deadline=None)
@given(streams(), policies(), st.lists(st.integers(0, 60), max_size=3), st.sampled_from([1, 3, 16, 4096]))
def test_batches(stream, other, cuts, piece):
    policy, places, arrivals = stream
    told = [by_model(one, places, arrivals) for one in (policy, other)]
    assert list(by_kernel([policy, other], places, arrivals, cuts, piece)) == told


@pytest.mark.parametrize("linger", [0, 5, 100])
@pytest.mark.parametrize("ratio", [None, 0.4])
def test_batches_of_a_long_stream(linger, ratio):
    """Quiet and busy hours of some thousand records, fed as Spark feeds them."""
    dice = np.random.default_rng(7)
    gaps = np.where(dice.random(6000) < 0.5, dice.integers(0, 3, 6000), dice.integers(0, 40, 6000))
    gaps[2000:3500] = dice.random(1500) < 0.05
    times = np.cumsum(gaps).tolist()
    where = dice.integers(0, 6, 6000).tolist()
    sizes = dice.integers(20, 900, 6000).tolist()
    arrivals = [Arrival(*row) for row in zip(times, where, [8] * 6000, sizes, strict=True)]
    policy = Batching(16_384, linger, in_flight_max=0, compression_ratio=ratio)
    places = list(range(6))
    got = by_kernel([policy], places, arrivals, [1000, 1001, 4000], 4096)
    assert list(got) == [by_model(policy, places, arrivals)]


@st.composite
def logs(draw):
    gaps = st.sampled_from([0, 1, 50, 400, 3000])
    count = draw(st.integers(1, 50))
    now, rows = 0, []
    for _ in range(count):
        now += draw(gaps)
        stamp = max(0, now - draw(st.sampled_from([0, 0, 0, 30, 2000, -500])))
        rows.append((now, draw(st.integers(1, 5)), draw(st.sampled_from([70, 100, 300, 900])), stamp, stamp))
    config = LogConfig(
        segment_bytes=draw(st.sampled_from([350, 1000, 5000])),
        segment_ms=draw(st.sampled_from([100, 2000, 10**9])),
        index_bytes_max=draw(st.sampled_from([36, 10 << 20])),
        index_interval_bytes=draw(st.sampled_from([100, 4096])),
        batch_bytes_max=draw(st.sampled_from([500, 10_000])),
        log_append_time=draw(st.booleans()),
        delete=draw(st.booleans()),
        retention_ms=draw(st.sampled_from([-1, 1000, 8000, 10**9])),
        retention_bytes=draw(st.sampled_from([-1, 0, 400, 2000])),
    )
    schedule = Schedule(draw(st.sampled_from([10, 500])), draw(st.sampled_from([300, 2500])))
    return config, schedule, rows, draw(st.sampled_from([0, 1, 10_000]))


@settings(max_examples=400, deadline=None)
@given(logs())
def test_logs(log):
    """The kernel equals the twin, and the twin what the simulator's own run counts."""
    config, schedule, rows, after = log
    appends = Appends(*(np.array(column, np.int64) for column in zip(*rows, strict=True)))
    until = rows[-1][0] + after
    got = log_of(config, schedule, appends, 0, until)
    told = by_twin(config, schedule, appends, 0, until)
    assert got.taken.tolist() == told.taken.tolist()
    assert got.segments == told.segments
    history = drive(
        config, [(row[0], Batch(row[1], row[2], row[3], row[4])) for row in rows], until, schedule, begin=0
    )
    assert sum(told.taken.tolist()) == history.appended
    assert [(one.deleted_at, one.base) for one in told.segments if one.deleted_at != NEVER] == list(
        history.deletions
    )
    by = Counter(one.closed_by for one in told.segments if one.closed_by)
    assert by == Counter(dict(history.rolls))
    left = [s.base for s in history.log.segments if s.size]
    assert [one.base for one in told.segments if one.deleted_at == NEVER] == left


@settings(max_examples=100, deadline=None)
@given(streams(), st.lists(st.integers(0, 60), max_size=3), st.integers(0, 2), st.integers(0, 30))
def test_the_model_in_pieces(stream, cuts, in_flight, latency):
    """Fed in pieces the accumulator does what it does in one."""
    policy, places, arrivals = stream
    policy = replace(policy, in_flight_max=in_flight)
    done = replay(policy, {0: places}, arrivals, latency_ms=latency)
    told = sorted(
        (request.number, batch.partition, batch.drained, len(batch.records), batch.size)
        for request in done.requests
        for batch in request.batches
    )
    work = ModelBatches(policy, {0: places}, latency)
    columns = records_of(arrivals)
    made, start = [], 0
    for end in [*sorted(min(cut, len(arrivals)) for cut in cuts), len(arrivals)]:
        made.append(work.feed(columns.part(start, end)))
        start = end
    got = joined([*made, work.finish()])
    rows = zip(got.request, got.place, got.drained, got.records, got.size, strict=True)
    assert sorted(tuple(value.item() for value in row) for row in rows) == told


@given(
    st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 500)), min_size=1, max_size=40),
    st.sampled_from([0.01, 0.1, 1.0, 3.0]),
)
def test_lag(rows, capacity):
    times = np.cumsum([gap for gap, _ in rows])
    records = np.array([count for _, count in rows])
    told = by_step(times.tolist(), records.tolist(), capacity)
    got = lag_of(times, records, capacity).tolist()
    assert all(behind - 1e-6 <= whole < behind + 1 + 1e-6 for whole, behind in zip(got, told, strict=True))


def test_a_kernel_that_differs_fails_the_run(monkeypatch):
    """A checked producer goes through the model too."""
    policy = {"batch_size": 1000, "linger_ms": 5, "max_request_size": 1 << 20, "in_flight_max": 0}
    layout = {
        "leaders": [0, 0],
        "topics": [(0, 2, "uniform-sticky")],
        "variants": [{"number": 0, "policies": [policy], "policy_of": [0]}],
    }
    job = {"checked": 1, "latency_ms": 0, "key_first": False, "sticky": [False], "layouts": [layout]}
    cells = {"at": [0, 3, 9], "target": [0, 1, 0], "contents": [100, 200, 50]}
    rows = pa.record_batch(
        {
            **{name: [0] for name in ("pid", "share", "stretch", "topic")},
            "shares": [1],
            **{name: [np.array(column, RECORD[name]).tobytes()] for name, column in cells.items()},
        }
    )

    def replayed():
        lanes = Lanes({**job})
        lanes.feed(rows)
        cells = lanes.finish()["batches"]
        return [np.frombuffer(cell.as_buffer(), BATCH)["records"].tolist() for cell in cells]

    assert replayed() == [[1], [1], [1]]
    monkeypatch.setattr("advisor.replay.kernels.batching.BATCH_OVERHEAD", 62)
    with pytest.raises(RuntimeError, match="otherwise than the model"):
        replayed()
