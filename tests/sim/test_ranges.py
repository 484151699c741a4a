"""The table of ranges: in order, as wide as the recordings are, and met from end to end by both grids."""

from __future__ import annotations

import json
import os

import pytest

from advisor.sim import group_phases, ranges
from advisor.sim.ranges import MILLISECOND

DATA = os.path.join(os.path.dirname(__file__), "..", "oracles", "data")
FAILOVERS = ("failover.jsonl", "failover_few_replicas.jsonl", "failover_cuts.jsonl")
RANGES = {
    name: value
    for name, value in vars(ranges).items()
    if name.isupper() and isinstance(value, tuple) and name != "JITTER"
}


def lasted(step: str) -> list[int]:
    """How long every recorded step of this name took, in milliseconds."""
    found = []
    for name in FAILOVERS:
        with open(os.path.join(DATA, name), encoding="utf-8") as file:
            for given in (json.loads(line)["input"] for line in file):
                for run in given.get("times_ms") or []:
                    for (what, *_), times in zip(given["schedule"], run or [], strict=False):
                        if what == step and times and None not in times:
                            found.append(times[1] - times[0])
    return found


@pytest.mark.parametrize("name", RANGES)
def test_a_range_is_its_least_a_usual_and_its_most(name: str) -> None:
    least, usual, most = RANGES[name]
    # The soonest fence is the one with the oldest heartbeat.
    assert (least > usual > most) if name == "HEARTBEAT_AGE" else (least < usual < most)


@pytest.mark.parametrize(
    ("step", "name"), [("kill9", "DEATH"), ("term", "STOP"), ("isolate", "CUTTING")], ids=lambda each: each
)
def test_a_range_is_as_wide_as_what_was_recorded(step: str, name: str) -> None:
    times = [time * MILLISECOND for time in lasted(step)]
    least, usual, most = RANGES[name]
    assert times
    assert least <= min(times)
    assert usual <= max(times) <= most
    # No wider than what was seen, give or take a twentieth.
    assert most <= 1.05 * max(times)


def test_the_grid_of_groups_meets_both_ends_of_every_range() -> None:
    chosen = {
        "beat": (0.0, 0.95),
        "age": (0.0, 1.0),
        "round_trip": group_phases.ROUND_TRIP,
        "boot": group_phases.BOOT,
        "open": group_phases.OPEN,
        "timer": group_phases.POLL_TIMER,
        "followed": group_phases.FOLLOWED,
        "parked": group_phases.PARKED,
        "slow": (0, 1, 2),
        "order": (0, 1, 2),
        "late": (False, True),
        "in_step": (False, True),
    }
    assert {*chosen, "further"} == set(group_phases.Phase._fields)
    for field, values in chosen.items():
        met = {getattr(phase, field) for phase in group_phases.GRID}
        assert {min(values), max(values)} <= met, field
        if field not in ("order", "beat", "age"):
            assert met <= set(values), field


def test_no_phase_is_run_twice() -> None:
    assert len(set(group_phases.GRID)) == len(group_phases.GRID)


def test_milliseconds_lose_nothing() -> None:
    for name in ("ROUND_TRIP", "CLIENT_BOOT", "OPEN", "POLL_TIMER", "FENCE_LATE", "FOLLOWED", "PARKED"):
        assert [ranges.in_ms(value) * MILLISECOND for value in RANGES[name]] == list(RANGES[name])
