"""The life of a log as steps: who reads them sees every segment come and go, and when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.sim.log.amounts import duration, size
from advisor.sim.log.cleaning import overwritten, tombstone
from advisor.sim.log.segments import LogConfig
from advisor.sim.log.story import steady_story
from advisor.sim.log.workload import flow_of

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
COMPACT = LogConfig(compact=True, delete=False)
TRICKLE = flow_of(1 / 60, 1000)


def told(steps) -> list[tuple[str, str, list[int]]]:
    return [
        (
            duration(step["t_ms"]),
            ", ".join(step["effects"]),
            [segment["base"] for segment in step["state"]["segments"]],
        )
        for step in steps
    ]


def test_seven_days_that_are_fourteen() -> None:
    assert told(steady_story(LogConfig(), TRICKLE, segments=1)) == [
        ("0 ms", "", [0]),
        ("7 d", "kept 0: its newest record is 30 s old", [0]),
        ("7 d", "closed 0: it was old enough (9.6 MiB)", [0, 10081]),
        ("14 d", "deleted 0: its oldest record stayed 14 d", [10081]),
    ]


def test_more_segments_than_can_be_shown_are_counted() -> None:
    steps = steady_story(LogConfig(segment_ms=100), flow_of(50, 1000))
    state = steps[-1]["state"]
    assert len(state["segments"]) == 4
    # A segment every 120 ms for a week.
    assert state["more"] == pytest.approx(7 * DAY / 120, rel=0.001)


def test_an_active_segment_past_retention_goes_and_leaves_an_empty_one() -> None:
    steps = steady_story(LogConfig(retention_ms=10 * MINUTE), flow_of(1 / 7200, 1000), segments=1)
    assert told(steps)[-1] == ("10 min 30 s", "deleted 0: its oldest record stayed 10 min 30 s", [1])
    assert steps[-1]["state"]["segments"][0]["bytes"] == 0


def test_an_overwritten_value_waits_for_its_segment_to_be_closed() -> None:
    found = overwritten(COMPACT, TRICKLE)
    assert found.stayed_ms == pytest.approx(7 * DAY, rel=0.02)
    assert overwritten(replace(COMPACT, compaction_lag_max_ms=DAY), TRICKLE).stayed_ms == pytest.approx(
        DAY, rel=0.02
    )
    # A busy log closes a segment every few minutes.
    assert overwritten(COMPACT, flow_of(10_000, 1000)).stayed_ms < 10 * MINUTE


def test_more_keys_make_the_dirty_share_smaller() -> None:
    few, many = overwritten(COMPACT, TRICKLE), overwritten(COMPACT, TRICKLE, keys=5_000)
    assert many.stayed_ms > few.stayed_ms


def test_a_dirty_ratio_of_one_is_never_exceeded() -> None:
    never = replace(COMPACT, dirty_ratio_min=1.0)
    found = overwritten(never, TRICKLE)
    assert (found.stayed_ms, found.passes, found.dirty_ratio_max) == (None, 0, 1.0)
    assert "100% needed" in found.steps[-1]["effects"][0]
    # Unless a largest compaction lag makes the log overdue (KIP-354).
    assert overwritten(replace(never, compaction_lag_max_ms=DAY), TRICKLE).stayed_ms is not None


@pytest.mark.parametrize(("away_ms", "missed"), [(HOUR, False), (DAY, False), (2 * DAY, True)])
def test_a_tombstone_is_missed_by_who_is_away_for_longer_than_it_is_kept(away_ms: int, missed: bool) -> None:
    found = tombstone(COMPACT, away_ms)
    assert found.missed is missed
    assert found.gone_ms >= DAY
    assert [step["step"] for step in found.steps] == [1, 2, 3, 4, 5]
    times = [step["t_ms"] for step in found.steps]
    assert times == sorted(times)


def test_amounts_are_told_as_people_say_them() -> None:
    assert [duration(ms) for ms in (0, 5, 1500, 90_000, 7 * DAY, 7 * DAY + 30_000, 36 * HOUR)] == [
        "0 ms",
        "5 ms",
        "1 s 500 ms",
        "1 min 30 s",
        "7 d",
        "7 d",
        "1 d 12 h",
    ]
    assert [size(count) for count in (1, 1000, 1024, 1_500_000, 1 << 30)] == [
        "1 byte",
        "1000 bytes",
        "1 KiB",
        "1.4 MiB",
        "1 GiB",
    ]
