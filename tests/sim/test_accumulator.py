"""The producer's buffer: recorded answers, the rules one by one, and laws that every run obeys."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sim.producer.accumulator import (
    APPENDED,
    BATCH_FULL,
    BLOCKED,
    NEW_BATCH,
    Accumulator,
    Arrival,
    Batching,
    QueuedBatch,
    Replay,
    replay,
)
from advisor.sim.wire.batches import BATCH_OVERHEAD, contents_size, record_size
from tests.oracles.__main__ import HERE
from tests.oracles.__main__ import replay as replay_recorded


def sends(done: Replay) -> list[tuple[int, list[list[int]]]]:
    return [(request.sent, [batch.records for batch in request.batches]) for request in done.requests]


def test_recorded_answers_of_kafka() -> None:
    lines, passed, failed, _ = replay_recorded("producer_batching", f"{HERE}/data/producer_batching.jsonl")
    assert failed == 0, lines
    assert passed > 15


def test_a_lone_record_waits_for_linger() -> None:
    done = replay(Batching(16384, 20), {0: [0]}, [Arrival(3, 0, -1, 100), Arrival(22, 0, -1, 100)])
    assert sends(done) == [(23, [[0, 1]])]
    assert done.appended == [NEW_BATCH, APPENDED]


def test_a_full_batch_does_not_wait_and_takes_the_young_ones_of_its_node_along() -> None:
    arrivals = [Arrival(0, 0, -1, 10), *[Arrival(1, 1, -1, 100)] * 2, Arrival(1, 2, -1, 10)]
    done = replay(Batching(200, 50), {0: [0, 1], 1: [2]}, arrivals)
    assert sends(done) == [(1, [[0], [1]]), (51, [[2]]), (51, [[3]])]


def test_a_record_larger_than_batch_size_waits_for_linger_all_the_same() -> None:
    done = replay(Batching(200, 50), {0: [0]}, [Arrival(0, 0, -1, 5000)])
    assert sends(done) == [(50, [[0]])]


def test_a_batch_opened_by_a_large_record_may_take_a_tiny_one() -> None:
    # The bound of the first record allows 21 bytes of overhead, of which it needs fewer.
    done = replay(Batching(100, 5), {0: [0]}, [Arrival(0, 0, -1, 500), Arrival(0, 0, -1, 1)])
    assert sends(done) == [(5, [[0, 1]])]


def test_batch_size_0_means_a_batch_for_each_record() -> None:
    done = replay(Batching(0, 5), {0: [0]}, [Arrival(0, 0, -1, 50), Arrival(0, 0, -1, 50)])
    assert [len(batch.records) for request in done.requests for batch in request.batches] == [1, 1]


def test_a_partition_that_did_not_fit_the_request_comes_first_in_the_next() -> None:
    arrivals = [Arrival(0, partition, -1, 600) for partition in (0, 1, 2)]
    done = replay(Batching(500, 0, max_request_size=1500), {0: [0, 1, 2]}, arrivals)
    assert [[batch.partition for batch in request.batches] for request in done.requests] == [[0, 1], [2]]


def test_a_batch_beyond_the_request_limit_is_sent_alone() -> None:
    arrivals = [Arrival(0, partition, -1, 600) for partition in (0, 1)]
    done = replay(Batching(500, 0, max_request_size=100), {0: [0, 1]}, arrivals)
    assert [len(request.batches) for request in done.requests] == [1, 1]


def test_requests_in_flight_hold_the_next_back_and_batches_grow_meanwhile() -> None:
    arrivals = [Arrival(at, 0, -1, 10) for at in range(4)]
    done = replay(Batching(16384, 0, in_flight_max=1), {0: [0]}, arrivals, latency_ms=3)
    assert sends(done) == [(0, [[0]]), (3, [[1, 2, 3]])]


def test_a_flush_sends_all_that_is_queued() -> None:
    arrivals = [Arrival(0, 0, -1, 10), Arrival(4, 0, -1, 10)]
    done = replay(Batching(16384, 1000, in_flight_max=5), {0: [0]}, arrivals, latency_ms=9, flush_at=[2])
    # The second record falls into the flush, which lasts until the answer at 11.
    assert sends(done) == [(2, [[0]]), (4, [[1]])]


def test_without_memory_send_blocks_until_an_answer_or_max_block_ms() -> None:
    policy = Batching(1000, 0, in_flight_max=5, buffer_memory=1000)
    arrivals = [Arrival(0, 0, -1, 990), Arrival(1, 0, -1, 10)]
    waited = replay(policy, {0: [0]}, arrivals[1:] * 2, latency_ms=30)
    assert sends(waited) == [(1, [[0, 1]])]
    with pytest.raises(ValueError, match="never fits a buffer"):
        replay(policy, {0: [0]}, arrivals, latency_ms=30)
    apart = [Arrival(0, 0, -1, 10), Arrival(5, 0, -1, 10)]
    assert sends(replay(policy, {0: [0]}, apart, latency_ms=30)) == [(0, [[0]]), (30, [[1]])]
    refused = replay(policy, {0: [0]}, apart, latency_ms=30, max_block_ms=10)
    assert refused.appended == [NEW_BATCH, BLOCKED]


def test_a_lack_of_memory_hurries_the_batches_of_every_partition() -> None:
    state: Accumulator[int] = Accumulator(Batching(500, 1000, buffer_memory=1000), {0: [0, 1, 2]})
    for partition in (0, 1):
        assert state.append(0, partition, 20, partition) == NEW_BATCH
    assert state.send(0) == ([], 1000)
    assert state.append(1, 2, 20, 2) == BLOCKED
    sent, _ = state.send(1)
    assert [batch.partition for batch in sent[0].batches] == [0, 1]
    state.complete(sent[0])
    assert state.append(2, 2, 20, 2) == NEW_BATCH
    assert state.memory_used == 500


def test_a_batch_requeued_waits_for_its_backoff_at_the_head_of_the_queue() -> None:
    state: Accumulator[str] = Accumulator(Batching(500, 0), {0: [0]})
    state.append(0, 0, 20, "first")
    (request,), _ = state.send(0)
    batch = request.batches[0]
    state.complete(request, unfinished=[batch])
    state.requeue(batch, 10, backoff_ms=100)
    assert state.append(11, 0, 20, "second") == NEW_BATCH | BATCH_FULL
    assert state.send(50) == ([], 110)
    sent, _ = state.send(110)
    assert [[b.records for b in request.batches] for request in sent] == [[["first"]], [["second"]]]


def test_queued_batches_expire_by_age_since_creation() -> None:
    state: Accumulator[str] = Accumulator(Batching(500, 10_000), {0: [0, 1]})
    state.append(0, 1, 20, "old")
    state.append(5, 0, 20, "young")
    expired = state.expire(30, 30)
    assert [batch.records for batch in expired] == [["old"]]
    assert sorted(state.queued) == [0]
    assert state.incomplete == {1}


def test_batches_grow_as_the_producer_learns_that_its_records_compress() -> None:
    arrivals = [Arrival(at, 0, -1, 100) for at in range(3000)]
    plain = replay(Batching(1000, 100_000), {0: [0]}, arrivals)
    packed = replay(Batching(1000, 100_000, compression_ratio=0.25), {0: [0]}, arrivals)
    sizes = [len(request.batches[0].records) for request in packed.requests]
    assert len(packed.requests) < len(plain.requests)
    assert sizes[0] < max(sizes)


ARRIVALS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-1, 20), st.integers(-1, 400)), max_size=60
)


@given(
    ARRIVALS,
    st.sampled_from([0, 100, 300, 2000]),
    st.sampled_from([0, 1, 7]),
    st.sampled_from([200, 1000, 1 << 20]),
    st.sampled_from([0, 1, 2]),
    st.integers(0, 9),
    st.lists(st.integers(0, 80), max_size=3),
)
def test_every_record_is_sent_once_in_order_within_bounds(
    gaps: list[tuple[int, int, int, int]],
    batch_size: int,
    linger: int,
    request_max: int,
    in_flight: int,
    latency: int,
    flush_at: list[int],
) -> None:
    arrivals, now = [], 0
    for gap, partition, key, value in gaps:
        now += gap
        arrivals.append(Arrival(now, partition, key, value))
    policy = Batching(batch_size, linger, request_max, in_flight)
    done = replay(policy, {0: [2, 0], 1: [1, 3]}, arrivals, latency_ms=latency, flush_at=flush_at)
    batches = [batch for request in done.requests for batch in request.batches]
    for partition in range(4):
        order = [record for batch in batches if batch.partition == partition for record in batch.records]
        assert order == [n for n, arrival in enumerate(arrivals) if arrival.partition == partition]
    for batch in batches:
        assert batch.size == _exact_size(batch, arrivals) <= batch.limit
        if not in_flight:
            assert batch.drained - batch.created <= linger
    for request in done.requests:
        assert request.batches
        size = sum(batch.size for batch in request.batches)
        assert len(request.batches) == 1 or size <= request_max
        assert max(Counter(batch.partition for batch in request.batches).values()) == 1


def _exact_size(batch: QueuedBatch[int], arrivals: list[Arrival]) -> int:
    first = arrivals[batch.records[0]].at
    return BATCH_OVERHEAD + sum(
        record_size(
            arrivals[record].key_size,
            arrivals[record].value_size,
            offset_delta=nth,
            timestamp_delta=arrivals[record].at - first,
        )
        for nth, record in enumerate(batch.records)
    )


def test_contents_are_counted_with_their_lengths() -> None:
    assert contents_size(-1, -1) == 3
    assert contents_size(0, 64) == 1 + 2 + 64 + 1
