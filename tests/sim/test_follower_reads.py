"""A consumer that reads from a follower: nothing is passed over, and how late it is."""

from __future__ import annotations

import pytest

from advisor.sim.follower_delay import delay
from advisor.sim.follower_reads import Policy, State, no_record_skipped, passed_over, step


@pytest.mark.parametrize("reset", ["latest", "earliest"])
def test_out_of_range_at_a_follower_is_no_reason_for_a_reset(reset: str) -> None:
    found = no_record_skipped(Policy(returns=True, reset=reset))
    assert found.verdict == "holds"
    assert len(found.witnesses) == 3


def test_a_client_that_would_reset_passes_records_over() -> None:
    policy = Policy(returns=False, reset="latest")
    found = no_record_skipped(policy)
    assert found.verdict == "broken"
    state = State()
    for event in found.run:
        assert passed_over(state) is None
        state, _ = step(policy, state, event)
    assert passed_over(state) == found.reason


@pytest.mark.parametrize(
    ("wait_ms", "gap_ms", "least", "most"),
    [
        (500, None, 500, 550),
        (500, 1_800, 500, 550),  # the wait, whatever comes later
        (2_000, 1_800, 1_800, 1_850),  # the next record ends the wait
        (500, 20, 20, 50),
    ],
)
def test_how_late_a_follower_is(wait_ms: int, gap_ms: int | None, least: int, most: int) -> None:
    found = delay(wait_ms, gap_ms)
    assert least <= found.follower_ms <= most
    assert found.leader_ms < 50
