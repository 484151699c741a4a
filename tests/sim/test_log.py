"""The log of one partition: rolls, retention, compaction, and what a run of it shows."""

from __future__ import annotations

import pytest

from advisor.sim.log_segments import AppendError, Batch, LogConfig, append, open_log, roll, roll_reason
from tests.oracles.__main__ import HERE, replay

SMALL = LogConfig(segment_bytes=1000, segment_ms=100)


@pytest.mark.parametrize("kind", ["segment_roll"])
def test_recorded_answers_of_kafka(kind: str) -> None:
    lines, passed, failed, _ = replay(kind, f"{HERE}/data/{kind}.jsonl")
    assert failed == 0, "\n".join(lines[:20])
    assert passed >= 20


def test_a_segment_is_rolled_when_the_next_append_would_not_fit() -> None:
    log = append(SMALL, open_log(0), 0, [Batch(4, 600, 0)])
    assert append(SMALL, log, 0, [Batch(1, 400, 0)]).sealed == ()
    log = append(SMALL, log, 0, [Batch(1, 401, 0)])
    assert [segment.base for segment in log.segments] == [0, 4]


def test_age_is_counted_by_timestamps_and_by_the_clock_without_them() -> None:
    stamped = append(SMALL, open_log(0), 0, [Batch(1, 10, 50)])
    assert append(SMALL, stamped, 1_000_000, [Batch(1, 10, 150)]).sealed == ()
    assert len(append(SMALL, stamped, 0, [Batch(1, 10, 151)]).sealed) == 1
    bare = append(SMALL, open_log(0), 0, [Batch(1, 10, -1)])
    assert append(SMALL, bare, 100, [Batch(1, 10, 900)]).sealed == ()
    assert len(append(SMALL, bare, 101, [Batch(1, 10, -1)]).sealed) == 1


def test_jitter_and_the_largest_compaction_lag_roll_earlier() -> None:
    log = append(SMALL, open_log(0), 0, [Batch(1, 10, 0)])
    jittered = LogConfig(segment_ms=100, segment_jitter_ms=30)
    assert roll_reason(jittered, log.active, 0, 10, 1, 70) is None
    assert roll_reason(jittered, log.active, 0, 10, 1, 71) == "age"
    compacted = LogConfig(segment_ms=100, compact=True, compaction_lag_max_ms=40)
    assert roll_reason(compacted, log.active, 0, 10, 1, 41) == "age"


def test_full_indexes_and_far_offsets_roll() -> None:
    tiny = LogConfig(index_bytes_max=24, index_interval_bytes=0)
    log = open_log(0)
    for timestamp in range(3):
        log = append(tiny, log, 0, [Batch(1, 10, timestamp)])
    # The first batch finds nothing to index, the second fills the one slot that the time index offers.
    assert [(s.base, s.offset_entries, s.time_entries) for s in log.segments] == [(0, 1, 1), (2, 0, 0)]
    assert roll_reason(SMALL, open_log(0, 7).active, 0, 1, 7 + 2**31 - 1, 0) is None
    assert roll_reason(SMALL, open_log(0, 7).active, 0, 1, 7 + 2**31, 0) == "offset-range"


def test_a_followers_segment_begins_at_the_first_offset_it_is_given() -> None:
    log = append(SMALL, open_log(0), 0, [Batch(1, 900, 0, base_offset=0, last_offset=0)], follower=True)
    log = append(SMALL, log, 0, [Batch(2, 900, 0, base_offset=40, last_offset=45)], follower=True)
    assert [segment.base for segment in log.segments] == [0, 40]
    assert log.end_offset == 46


@pytest.mark.parametrize(
    ("batches", "follower", "error"),
    [
        ([Batch(1, 1001, 0)], False, "RecordBatchTooLargeException"),
        ([Batch(1, 2_000_000, 0)], False, "RecordTooLargeException"),
        ([Batch(1, 2_000_000, 0, base_offset=5, last_offset=5)], True, "RecordBatchTooLargeException"),
        ([Batch(1, 10, 0), Batch(1, 10, 0)], False, "InvalidRecordException"),
        ([Batch(1, 10, 3_600_006)], False, "InvalidTimestampException"),
        ([Batch(1, 10, 0, base_offset=0, last_offset=0)], True, "UnexpectedAppendOffsetException"),
        ([Batch(1, 10, 0, -1, 7, 7), Batch(1, 10, 0, -1, 6, 6)], True, "OffsetsOutOfOrderException"),
    ],
)
def test_refused_appends(batches: list[Batch], follower: bool, error: str) -> None:
    log = append(SMALL, open_log(5), 5, [Batch(1, 10, 5)])
    with pytest.raises(AppendError) as refused:
        append(SMALL, log, 5, batches, follower)
    assert refused.value.error == error


def test_rolling_an_empty_segment_replaces_it() -> None:
    log = roll(open_log(0), 9)
    assert [(segment.base, segment.created) for segment in log.segments] == [(0, 9)]
