"""The log of one partition: rolls, retention, compaction, and what a run of it shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sim.log.compaction import (
    TOMBSTONE,
    Append,
    CleanError,
    KeyedLog,
    clean,
    cleanable,
    extend,
    open_keyed,
    roll_keyed,
)
from advisor.sim.log.log import drive
from advisor.sim.log.retention import (
    OffsetOutOfRange,
    delete_old_segments,
    delete_records,
    move_high_watermark,
)
from advisor.sim.log.segments import AppendError, Batch, Log, LogConfig, append, open_log, roll, roll_reason
from tests.oracles.__main__ import HERE, replay

SMALL = LogConfig(segment_bytes=1000, segment_ms=100)


@pytest.mark.parametrize("kind", ["segment_roll", "retention", "compaction"])
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
        ([Batch(1, 10, 3_600_006)], False, "RecordValidationException"),
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


def filled(*sizes: int) -> Log:
    """A log with a segment of ten records for each size, written at 0, 10, 20, ..., all committed."""
    log = open_log(0)
    for number, size in enumerate(sizes):
        log = append(LogConfig(), roll(log, number * 10), number * 10, [Batch(10, size, number * 10)])
    return move_high_watermark(log, log.end_offset)


def test_age_deletes_whole_segments_and_the_active_one_too() -> None:
    config = LogConfig(retention_ms=100)
    log = filled(5, 5, 5)
    assert delete_old_segments(config, log, 100) == (log, ())
    kept, deleted = delete_old_segments(config, log, 101)
    assert [segment.base for segment in deleted] == [0]
    assert kept.start_offset == 10
    emptied, deleted = delete_old_segments(config, log, 1000)
    assert len(deleted) == 3
    assert [(segment.base, segment.size) for segment in emptied.segments] == [(30, 0)]
    assert delete_old_segments(config, emptied, 10_000) == (emptied, ())


def test_a_late_timestamp_keeps_every_segment_behind_it() -> None:
    log = append(LogConfig(), open_log(0), 0, [Batch(1, 5, 3_000_000)])
    log = append(LogConfig(), roll(log, 0), 0, [Batch(1, 5, 0)])
    log = move_high_watermark(log, 2)
    assert delete_old_segments(LogConfig(retention_ms=100), log, 1_000_000)[1] == ()


def test_size_keeps_the_limit_and_up_to_a_segment_more() -> None:
    log = filled(40, 40, 40)
    assert delete_old_segments(LogConfig(retention_ms=-1, retention_bytes=81), log, 0)[1] == ()
    assert len(delete_old_segments(LogConfig(retention_ms=-1, retention_bytes=80), log, 0)[1]) == 1
    assert len(delete_old_segments(LogConfig(retention_ms=-1, retention_bytes=0), log, 0)[1]) == 3


def test_nothing_above_the_high_watermark_is_deleted() -> None:
    log = move_high_watermark(filled(5, 5, 5), 19)
    assert len(delete_old_segments(LogConfig(retention_ms=1), log, 1000)[1]) == 1
    assert move_high_watermark(log, 99).high_watermark == 30


def test_deleted_records_free_their_segments_under_every_policy() -> None:
    log = delete_records(filled(5, 5, 5), 25)
    assert delete_records(log, 3) is log
    kept, deleted = delete_old_segments(LogConfig(delete=False, compact=True), log, 10**12)
    assert [segment.base for segment in deleted] == [0, 10]
    assert (kept.start_offset, kept.active.base) == (25, 20)
    with pytest.raises(OffsetOutOfRange):
        delete_records(log, 31)


COMPACT = LogConfig(compact=True, delete=False, tombstone_retention_ms=100)


def compacted(*segments: list[Append]) -> KeyedLog:
    """A log with a sealed segment for each list, and an empty active one."""
    keyed = open_keyed(0)
    for appends in segments:
        keyed = roll_keyed(extend(COMPACT, keyed, appends), 0)
    return keyed


def one_pass(
    keyed: KeyedLog, now: int, dirty: int = 0, entries_max: int | None = None
) -> tuple[KeyedLog, int]:
    return clean(COMPACT, keyed, now, dirty, keyed.log.active.base, entries_max)


def left(keyed: KeyedLog) -> list[tuple[int, bytes | None]]:
    return [(record.offset, record.key) for record in keyed.records]


def test_the_newest_record_of_a_key_stays_and_the_active_segment_is_untouched() -> None:
    keyed = compacted([Append(0, [(b"a", 1, 0), (b"b", 1, 0)]), Append(1, [(b"a", 2, 1)])])
    keyed = extend(COMPACT, keyed, [Append(2, [(b"a", 3, 2)]), Append(2, [(b"b", 3, 2)])])
    cleaned, dirty = one_pass(keyed, 5)
    assert left(cleaned) == [(1, b"b"), (2, b"a"), (3, b"a"), (4, b"b")]
    assert dirty == 3


def test_a_tombstone_goes_in_a_pass_at_its_horizon_and_the_last_batch_stays_empty() -> None:
    keyed = compacted([Append(0, [(b"a", 1, 0)]), Append(1, [(b"a", TOMBSTONE, 1)])])
    first, dirty = one_pass(keyed, 1000)
    assert left(first) == [(1, b"a")]
    assert [batch.delete_horizon for batch in first.batches] == [1100]
    again = roll_keyed(extend(COMPACT, first, [Append(2, [(b"b", 1, 2)])]), 2)
    assert left(one_pass(again, 1099, dirty)[0]) == [(1, b"a"), (2, b"b")]
    assert left(one_pass(again, 1100, dirty)[0]) == [(2, b"b")]
    emptied, _ = clean(COMPACT, first, 1100, 0, dirty)
    assert [(batch.last_offset, batch.size) for batch in emptied.batches] == [(1, 61)]


def test_the_last_batch_of_a_producer_is_kept_without_records() -> None:
    keyed = compacted([Append(0, [(b"a", 1, 0)], 7), Append(0, [(b"a", 1, 0)]), Append(0, [(b"a", 1, 0)])])
    assert [(b.last_offset, len(b.records)) for b in one_pass(keyed, 0)[0].batches] == [(0, 0), (2, 1)]


def test_small_segments_are_joined_up_to_the_size_of_one() -> None:
    appends = [[Append(0, [(b"%d" % n, 10, 0)])] for n in range(4)]
    assert [s.base for s in one_pass(compacted(*appends), 0)[0].log.segments] == [0, 4]


def test_a_full_map_ends_the_pass_early() -> None:
    keyed = compacted([Append(0, [(b"a", 1, 0)]), Append(0, [(b"b", 1, 0)]), Append(0, [(b"a", 1, 0)])])
    cleaned, dirty = one_pass(keyed, 0, entries_max=2)
    assert (left(cleaned), dirty) == ([(0, b"a"), (1, b"b"), (2, b"a")], 2)


def test_what_may_be_cleaned() -> None:
    keyed = compacted([Append(0, [(b"a", 1, 10)])], [Append(0, [(b"a", 1, 50)])])
    log = move_high_watermark(keyed.log, 2)
    seen = cleanable(COMPACT, log, None, 100)
    assert (seen.first_dirty, seen.first_uncleanable, seen.ratio, seen.due(COMPACT)) == (0, 2, 1.0, True)
    assert cleanable(COMPACT, log, 1, 100).ratio == 0.5
    assert not cleanable(COMPACT, log, 1, 100).due(COMPACT)
    assert cleanable(COMPACT, log, 2, 100).cleanable_bytes == 0
    assert cleanable(COMPACT, keyed.log, None, 100).first_uncleanable == 0
    lagging = LogConfig(compact=True, compaction_lag_min_ms=60)
    assert cleanable(lagging, log, None, 100).first_uncleanable == 1
    urgent = LogConfig(compact=True, compaction_lag_max_ms=49)
    assert cleanable(urgent, log, 1, 100).due(urgent)
    assert not cleanable(urgent, log, 1, 99).due(urgent)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([TOMBSTONE, 1]), st.booleans()), max_size=20)
)
def test_compaction_keeps_what_each_key_was_last(written: list[tuple[str, int, bool]]) -> None:
    keyed = open_keyed(0)
    for key, size, rolls in written:
        keyed = extend(COMPACT, keyed, [Append(0, [(key.encode(), size, 0)])])
        keyed = roll_keyed(keyed, 0) if rolls else keyed
    newest = {record.key: record for record in keyed.records}
    dirty = 0
    for now in (0, 1000, 2000):
        if dirty < keyed.log.active.base:
            keyed, dirty = one_pass(keyed, now, dirty)
        after = {record.key: record for record in keyed.records}
        assert after == {key: record for key, record in newest.items() if key in after}
        assert all(newest[key].value_size == TOMBSTONE for key in newest.keys() - after.keys())


def test_offsets_that_no_segment_holds_together_leave_a_new_empty_one() -> None:
    log = append(SMALL, open_log(0), 0, [Batch(1, 10, 0, -1, 0, 0)], follower=True)
    far = [Batch(1, 10, 0, -1, 5, 5), Batch(1, 10, 0, -1, 2**31 + 5, 2**31 + 5)]
    with pytest.raises(AppendError, match="LogSegmentOffsetOverflowException") as refused:
        append(SMALL, log, 3, far, follower=True)
    left_behind = refused.value.left
    assert left_behind is not None
    assert [(segment.base, segment.size) for segment in left_behind.segments] == [(0, 10), (5, 0)]
    assert left_behind.end_offset == 1


def test_an_index_too_small_for_joined_segments_makes_a_log_uncleanable() -> None:
    config = LogConfig(compact=True, index_bytes_max=36, index_interval_bytes=60)
    keyed = open_keyed(0)
    for n in range(8):
        keyed = roll_keyed(extend(config, keyed, [Append(n, [(b"%d" % n, 10, -1)])]), n)
    with pytest.raises(CleanError) as failed:
        clean(config, keyed, 0, 0, 8)
    assert failed.value.error == "IllegalArgumentException"


DAY = 86_400_000


def trickle(days: int, gap: int, size: int = 100) -> list[tuple[int, Batch]]:
    return [(now, Batch(1, size, now)) for now in range(0, days * DAY, gap)]


def test_a_trickle_is_kept_for_the_age_of_a_segment_and_retention_together() -> None:
    history = drive(LogConfig(), trickle(30, 600_000))
    assert history.appended == 30 * 144
    assert history.rolls == (("age", 4),)
    # Seven days until the segment is rolled, seven more until its last record is due, then the next check.
    assert 14 * DAY < history.age_max_ms <= 14 * DAY + 600_000 + 300_000
    assert history.deleted_age_min_ms is not None
    assert history.deleted_age_min_ms > 7 * DAY
    assert history.segments_max == 2


def test_size_bounds_the_bytes_to_the_limit_a_segment_and_what_comes_between_checks() -> None:
    config = LogConfig(segment_bytes=10_000, retention_bytes=50_000)
    history = drive(config, trickle(1, 1000))
    per_check = 300 * 100
    assert 50_000 < history.bytes_max <= 50_000 + 10_000 + per_check
    assert history.bytes_max < history.disk_bytes_max <= history.bytes_max + 60 * 100
    assert dict(history.rolls)["size"] == history.deleted_segments + len(history.log.sealed)


def test_files_of_deleted_segments_stay_for_a_while() -> None:
    config = LogConfig(segment_bytes=100, retention_ms=1)
    history = drive(config, [(0, Batch(1, 100, 0)), (1, Batch(1, 100, 1))], until=200_000)
    # Two logs with their indexes, one snapshot of producers, and the two files of the partition.
    assert [(s.now, s.segments, s.files, s.disk_bytes) for s in history.samples] == [
        (30_000, 2, 9, 200),
        (90_000, 1, 6 + 7, 200),
        (200_000, 1, 6, 0),
    ]
    assert history.rolls == (("retention", 1), ("size", 1))
    assert (history.age_max_ms, history.deleted_age_min_ms) == (30_000, 29_999)


def test_refused_appends_are_counted_and_an_idle_log_is_checked() -> None:
    history = drive(LogConfig(segment_bytes=50), [(0, Batch(1, 51, 0))], until=1_000_000)
    assert history.refused == (("RecordBatchTooLargeException", 1),)
    assert history.bytes_max == 0
    assert drive(LogConfig(), []).segments_max == 1


@given(st.lists(st.tuples(st.integers(0, 200_000), st.integers(1, 400)), max_size=60))
def test_a_run_keeps_the_end_of_the_log(steps: list[tuple[int, int]]) -> None:
    config = LogConfig(segment_bytes=1000, segment_ms=500_000, retention_ms=900_000)
    now, appends = 0, []
    for gap, size in steps:
        now += gap
        appends.append((now, Batch(1, size, now)))
    history = drive(config, appends)
    log = history.log
    assert log.end_offset == len(steps)
    assert log.start_offset == log.segments[0].base
    assert log.size == sum(size for _, size in steps[log.start_offset :])
    if history.deleted_age_min_ms is not None:
        assert history.deleted_age_min_ms > 900_000


def test_a_compacted_topic_refuses_records_without_a_key() -> None:
    with pytest.raises(AppendError, match="RecordValidationException"):
        extend(COMPACT, open_keyed(0), [Append(0, [(b"a", 1, 0), (None, 1, 0)])])
