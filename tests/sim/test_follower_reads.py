"""A consumer that reads from a follower: nothing is passed over, and how late it is."""

from __future__ import annotations

import pytest

from advisor.sim.groups.clock.follower_delay import delay
from advisor.sim.groups.search.follower_reads import Policy, State, no_record_skipped, passed_over, step


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


# Three brokers of 4.3.1 in three racks, one quiet partition, 40 records that are 1.5 to 2.2 s apart: from
# send() to poll() with the client.rack of a follower. From the leader the same records took 14 to 137 ms.
RECORDED_MS = {
    500: (522, 552, 680),  # least, median, all but one (of 871 ms)
    2_000: (1_549, 1_904, 2_068),
}


@pytest.mark.parametrize("wait_ms", RECORDED_MS)
def test_a_real_follower_is_as_late(wait_ms: int) -> None:
    least, median, most = RECORDED_MS[wait_ms]
    shortest, longest = (delay(wait_ms, gap).follower_ms for gap in (1_500, 2_200))
    assert shortest <= least <= 1.15 * shortest
    assert shortest <= median <= 1.15 * longest
    # The client's own time comes on top.
    assert most <= longest + 200


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
