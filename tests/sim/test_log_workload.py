"""Steady traffic by arithmetic: the same segments, to the millisecond, as the log itself makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.sim.log.log import Append, History, Schedule, clean, cleanable, drive, extend, open_keyed
from advisor.sim.log.segments import Batch, LogConfig
from advisor.sim.log.workload import Flow, compacted, flow_of, life, shape, steady

DAY = 86_400_000
# Logs of the real UnifiedLog of 4.3.1 under steady appends, checked for retention at equal distances: the
# first segments (base offset, clock from the first append) that a check deleted.
RECORDED = [
    json.loads(line) for line in (Path(__file__).parent / "steady_logs.jsonl").read_text().splitlines()
]
HOUR = 3_600_000


def driven(config: LogConfig, flow: Flow, schedule: Schedule, batches: int) -> History:
    appends = [(flow.at(n), Batch(flow.batch_records, flow.batch_bytes, flow.at(n))) for n in range(batches)]
    return drive(config, appends, schedule=schedule)


@settings(max_examples=80, deadline=None)
@given(
    st.builds(Flow, st.integers(1, 9), st.integers(1, 60), st.integers(1000, 40_000)),
    st.builds(
        LogConfig,
        segment_bytes=st.integers(60, 900),
        segment_ms=st.integers(1, 300),
        segment_jitter_ms=st.sampled_from([0, 0, 20, 400]),
        index_bytes_max=st.integers(24, 120),
        index_interval_bytes=st.integers(0, 100),
        retention_ms=st.sampled_from([-1, 0, 7, 30, 200, 1000]),
        retention_bytes=st.sampled_from([-1, 1, 100, 700, 3000]),
    ),
    st.builds(Schedule, st.integers(1, 60), st.integers(1, 80), st.integers(0, 30)),
)
def test_the_first_segments_are_those_of_the_log_itself(
    flow: Flow, config: LogConfig, schedule: Schedule
) -> None:
    history = driven(config, flow, schedule, 200)
    end = flow.at(199)
    told = life(config, flow, schedule, 6)
    deleted = {base: now for now, base in history.deletions}
    for row in told:
        if row.deleted_ms is not None and row.deleted_ms <= end:
            assert deleted.get(row.base) == row.deleted_ms
        elif row.closed_ms is not None and row.closed_ms <= end:
            assert row.base not in deleted
            assert row.base in [segment.base for segment in history.log.segments]
    for segment in history.log.sealed:
        for row in told:
            if row.base == segment.base:
                assert (row.bytes, row.first_ms, row.last_ms) == (
                    segment.size,
                    segment.first_write,
                    segment.last_write,
                )


@settings(max_examples=50, deadline=None)
@given(
    st.builds(Flow, st.integers(1, 3), st.integers(5, 60), st.integers(2, 40).map(lambda ms: ms * 1000)),
    st.builds(
        LogConfig,
        segment_bytes=st.integers(60, 900),
        segment_ms=st.integers(10, 300),
        retention_ms=st.sampled_from([-1, 45, 200, 400]),
        retention_bytes=st.sampled_from([-1, 100, 700, 3000]),
    ),
)
def test_the_long_run_is_never_beyond_what_is_told(flow: Flow, config: LogConfig) -> None:
    schedule = Schedule(5, 20, 10)
    told = steady(config, flow, schedule)
    history = driven(config, flow, schedule, 300)
    if told.stays_max_ms is None:
        assert history.deleted_segments == 0
        return
    assert history.age_max_ms <= told.stays_max_ms + 1
    assert history.segments_max <= told.segments_max
    assert history.bytes_max <= told.bytes_max
    assert history.disk_bytes_max <= told.disk_bytes_max
    assert history.files_max <= told.files_max
    if history.deleted_age_min_ms is not None:
        assert history.deleted_age_min_ms >= told.stays_min_ms


@pytest.mark.parametrize(
    "case", RECORDED, ids=lambda case: f"{case['config']['segment_bytes']}-{case['flow'][2]}"
)
def test_segments_go_when_kafka_itself_deletes_them(case) -> None:
    config, flow = LogConfig(**case["config"]), Flow(*case["flow"])
    told = life(config, flow, Schedule(*case["schedule"]), 6)
    gone = [
        [row.base, row.deleted_ms]
        for row in told
        if row.deleted_ms is not None and row.deleted_ms <= case["until_ms"]
    ]
    assert gone == case["deleted"]


def test_seven_days_of_retention_keep_a_trickle_for_fourteen() -> None:
    trickle = flow_of(1 / 60, 1000)
    told = steady(LogConfig(), trickle)
    assert told.segment.reason == "age"
    assert told.stays_min_ms == 7 * DAY
    assert 14 * DAY < told.stays_max_ms < 14 * DAY + HOUR
    oldest = life(LogConfig(), trickle)[0]
    assert oldest.closed_ms == 7 * DAY + 60_000
    assert oldest.deleted_by == "age"
    assert 14 * DAY < oldest.oldest_stayed_ms <= told.stays_max_ms


def test_a_busy_partition_keeps_little_more_than_it_was_told() -> None:
    busy = flow_of(10_000, 1000)
    told = steady(LogConfig(), busy)
    assert told.segment.reason == "size"
    assert told.stays_max_ms < 7 * DAY + HOUR
    # Ten megabytes a second for a week.
    assert told.bytes_max == pytest.approx(10_000_000 * 7 * 86_400, rel=0.01)
    assert told.maps_max == pytest.approx(2 * told.bytes_max / 2**30, rel=0.01)


def test_every_condition_can_close_a_segment() -> None:
    flow = Flow(1, 1000, 1_000_000)
    assert shape(LogConfig(segment_bytes=10_500), flow)[:2] == (10, 10_000)
    assert shape(LogConfig(segment_ms=10_000), flow).batches == 11
    assert shape(LogConfig(segment_ms=10_000, segment_jitter_ms=10_001), flow).batches == 1
    # Sixteen slots, of which an entry comes every fifth batch; the time index has ten and keeps one.
    indexed = LogConfig(index_bytes_max=128, segment_ms=DAY)
    assert shape(indexed, flow) == (46, 46_000, 45_000_000, 46_000_000, "time-index-full")
    assert shape(LogConfig(index_bytes_max=128, segment_ms=DAY), Flow(1, 1000, 10)).reason == (
        "offset-index-full"
    )
    assert shape(LogConfig(segment_bytes=2**62), Flow(1 << 20, 1000, 1))[::4] == (2048, "offset-range")


def test_rare_records_go_one_by_one() -> None:
    """The newest record of the active segment is too old before the next one comes."""
    rare = flow_of(1 / 86_400, 1000)
    told = steady(LogConfig(retention_ms=HOUR), rare)
    assert told.segment.reason == "retention"
    assert told.stays_max_ms == HOUR + 300_000
    assert [row.reason for row in life(LogConfig(retention_ms=HOUR), rare)] == ["retention"] * 3


def test_nothing_goes_where_nothing_is_deleted() -> None:
    compacted = LogConfig(delete=False, compact=True)
    assert steady(compacted, flow_of(1, 100)).stays_max_ms is None
    assert life(compacted, flow_of(1, 100))[0].deleted_ms is None


@pytest.mark.parametrize(("keys", "segment_ms", "ratio"), [(1, 100, 0.5), (400, 100, 0.5), (300, 500, 0.8)])
def test_segments_of_a_compacted_log_pile_up_until_the_cleaner_comes(keys, segment_ms, ratio):
    """The log itself, cleaned when it is due: never more segments than the arithmetic says, nor far fewer."""
    config = LogConfig(segment_ms=segment_ms, delete=False, compact=True, dirty_ratio_min=ratio)
    flow = flow_of(20, 200)
    keyed, checkpoint, most = open_keyed(0), None, 0
    for number in range(1600):
        now = flow.at(number)
        keyed = extend(config, keyed, [Append(now, [(b"k%d" % (number % keys), 120, now)])])
        keyed = keyed._replace(log=keyed.log._replace(high_watermark=keyed.log.end_offset))
        most = max(most, len(keyed.log.sealed) + 1)
        if number % 100 == 0:  # every five seconds
            found = cleanable(config, keyed.log, checkpoint, now)
            if found.due(config):
                keyed, checkpoint = clean(config, keyed, now, found.first_dirty, found.first_uncleanable)
    told = compacted(config, flow, keys, backoff_ms=5000)
    assert told.segments_max is not None
    assert most <= told.segments_max <= 1.3 * most + 3
