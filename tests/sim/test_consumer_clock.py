"""A consumer and its group on the clock: absences, lost heartbeats, refused sessions, fetches given up."""

from __future__ import annotations

import pytest

from advisor.sim.groups.clock.absence import READ, WRITTEN, absent
from advisor.sim.groups.clock.fetches import fetched
from advisor.sim.groups.clock.phases import Absence, FetchSetup, GroupSetup, Phase
from advisor.sim.groups.clock.timeline import INVALID_SESSION, GroupRun
from advisor.sim.groups.consumer import NO_OFFSET, OUT_OF_RANGE, Reading

HOUR = 3_600_000


@pytest.mark.parametrize(
    ("reset", "absence", "skipped", "again", "error"),
    [
        ("latest", Absence(72 * HOUR, offsets_ms=24 * HOUR), WRITTEN, 0, ""),
        ("earliest", Absence(72 * HOUR, offsets_ms=24 * HOUR), 0, READ, ""),
        ("none", Absence(72 * HOUR, offsets_ms=24 * HOUR), 0, 0, NO_OFFSET),
        # Two thirds of the time away is longer than records are kept; latest skips the last third too.
        ("earliest", Absence(72 * HOUR, records_ms=24 * HOUR), 7, 0, ""),
        ("latest", Absence(72 * HOUR, records_ms=24 * HOUR), WRITTEN, 0, ""),
        ("none", Absence(72 * HOUR, records_ms=24 * HOUR), 0, 0, OUT_OF_RANGE),
        # A standalone consumer loses its offset while it runs.
        ("latest", Absence(0, offsets_ms=24 * HOUR, idle_ms=48 * HOUR), WRITTEN, 0, ""),
    ],
)
def test_who_is_away_for_too_long(reset: str, absence: Absence, skipped: int, again: int, error: str) -> None:
    found = absent(GroupSetup(reset=reset), absence)
    assert (found.skipped, found.again, found.error) == (skipped, again, error)


@pytest.mark.parametrize("reset", ["latest", "earliest", "none"])
def test_who_is_back_in_time_goes_on_where_it_was(reset: str) -> None:
    found = absent(GroupSetup(reset=reset), Absence(12 * HOUR, 24 * HOUR, 24 * HOUR))
    assert found[:3] == (0, 0, "")


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize(("lost", "evicted"), [(0, False), (1, False), (2, True)])
def test_lost_heartbeats(protocol: str, lost: int, evicted: bool) -> None:
    setup = GroupSetup(protocol=protocol, partitions=2, session_ms=10_000, heartbeat_ms=4_000)
    run = GroupRun(setup._replace(initial_delay_ms=0), Phase(), records=False)
    nodes = [run.start("m0"), run.start("m1", delay=100)]
    run.until(lambda: all(len(node.owned) == 1 for node in nodes), 60_000)
    run.wait(20_000)
    before = len(run.history)
    run.lose_heartbeats(nodes[0], lost)
    run.wait(60_000)
    assert any(entry.what == "lost" for entry in run.history[before:]) == evicted


@pytest.mark.parametrize(("session_ms", "refused"), [(5_999, True), (6_000, False), (1_800_001, True)])
def test_brokers_bound_sessions(session_ms: int, refused: bool) -> None:
    setup = GroupSetup(session_ms=session_ms, session_bounds_ms=(6_000, 1_800_000), initial_delay_ms=0)
    run = GroupRun(setup, Phase(), records=False)
    node = run.start("m0")
    run.wait(10_000)
    assert (run.errors() == [INVALID_SESSION]) == refused
    assert bool(node.owned) != refused


def test_a_fetch_that_is_held_for_too_long() -> None:
    quiet = FetchSetup(min_bytes=1_000, max_wait_ms=60_000, request_timeout_ms=30_000, record_bytes=100)
    found = fetched(quiet, 150_000)
    assert found.timeouts == 4
    assert found.first_read_ms is None
    # 900 bytes are missing: at 100 a second they come in the first fetch, at 20 in the second.
    assert fetched(quiet._replace(bytes_per_second=100), 150_000).timeouts == 0
    slower = fetched(quiet._replace(bytes_per_second=20), 150_000)
    assert slower.timeouts == 1
    assert slower.first_read_ms is not None
    assert 45_000 <= slower.first_read_ms <= 46_000
    # A client that waits for longer than the broker holds the fetch reads what there is.
    assert fetched(quiet._replace(max_wait_ms=500), 150_000).timeouts == 0


def test_without_a_reset_a_partition_is_owned_until_its_committed_offset_was_asked_for() -> None:
    run = GroupRun(GroupSetup(reset="none", partitions=1), Phase())
    member = run.start("m")
    assert run.until(lambda: bool(member.owned))
    assigned = run.clock.now
    assert run.until(lambda: bool(run.errors("m")))
    assert run.errors("m") == [NO_OFFSET]
    assert run.clock.now - assigned == Phase().round_trip
    assert member.owned == ()


@pytest.mark.parametrize("commits", ["after", "before"])
def test_a_synchronous_commit_takes_its_round_trip(commits: str) -> None:
    def took(trip: int) -> int:
        run = GroupRun(GroupSetup(reading=Reading(1, commits), initial_delay_ms=0), Phase(round_trip=trip))
        run.produce(0, 10)
        node = run.start("m0")
        run.until(lambda: bool(node.owned))
        at = run.clock.now
        run.until(lambda: run.committed == (10,))
        return run.clock.now - at

    assert took(40) - took(10) >= 9 * 30


@pytest.mark.parametrize(("followed", "skipped"), [(0, 1), (520, 0)])
def test_what_cannot_be_read_yet_is_not_behind_the_end(followed: int, skipped: int) -> None:
    """`latest` begins at the high watermark, which waits for the followers of an added partition."""
    setup = GroupSetup(reset="latest", initial_delay_ms=0)
    run = GroupRun(setup, Phase(age=0.0, followed=followed, parked=0))
    run.committed = (0,)
    node = run.start("m0")
    run.until(lambda: bool(node.owned))
    run.wait(1_000)
    run.grow(3)
    run.produce(2)
    run.wait(5_000)
    assert node.owned == (0, 1, 2)
    assert run.never_processed() == skipped


def test_a_question_waits_behind_a_fetch_at_the_same_broker() -> None:
    def found(parked: int) -> int:
        run = GroupRun(GroupSetup(reset="latest", initial_delay_ms=0), Phase(age=0.0, parked=parked))
        run.committed = (0,)
        node = run.start("m0")
        run.until(lambda: bool(node.owned))
        run.wait(1_000)
        at = run.clock.now
        run.grow(3)
        run.until(lambda: run.read_by([node]) == 3)
        return run.clock.now - at

    assert found(400) - found(0) == 400
