"""Scenarios of consumer groups: the table names members and partitions, and a change is played at once."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT

SAMPLES = ROOT / "samples/scenarios"


def test_the_storm_and_its_safe_region(simulate):
    done = simulate(SAMPLES / "slow-consumer.toml")
    assert done.code == 0
    assert "member 0 is out: max.poll.interval.ms is over" in done.out
    assert "offsets committed: 0 of 4000" in done.out
    assert "safe with max.poll.records=100: up to 3 s a record" in done.out
    assert "m0 p0: member 0 owns partition 0" in done.out


def test_a_smaller_batch_is_stable(simulate):
    done = simulate(SAMPLES / "slow-consumer.toml", "--set", "consumer.max.poll.records=200")
    assert done.code == 0
    assert "group-stable: not broken within these bounds" in done.out


def test_a_commit_given_up_while_the_coordinator_is_away(simulate):
    done = simulate(SAMPLES / "coordinator-dies.toml")
    assert done.code == 0
    assert "member 0 ends: its commit timed out (TimeoutException)" in done.out
    patient = simulate(SAMPLES / "coordinator-dies.toml", "--set", "consumer.default.api.timeout.ms=60000")
    assert "rebalance-pause: not broken within these bounds" in patient.out


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("long-work-in-a-listener", "consumer.max.poll.interval.ms=120000"),
        ("away-for-too-long", "broker.offsets.retention.minutes=10080"),
        ("away-for-too-long", "consumer.auto.offset.reset=earliest"),
        ("read-from-a-follower", "broker.replica.fetch.wait.max.ms=500"),
    ],
)
def test_a_change_that_helps(simulate, name, change):
    assert "BROKEN" in simulate(SAMPLES / f"{name}.toml").out
    assert "not broken within these bounds" in simulate(SAMPLES / f"{name}.toml", "--set", change).out


def test_the_shortest_run_that_skips_a_record(simulate):
    done = simulate(SAMPLES / "commit-before-processing.toml")
    assert "3  member 0 crashes  m0 gone" in done.out
    assert "p0:0 and p0:1 are skipped" in done.out


def test_a_guarantee_of_groups_needs_its_kind(simulate, tmp_path):
    path = tmp_path / "a.toml"
    path.write_text('title = "t"\nstory = "s"\nguarantee = "group-stable"\n[faults]\nroll = 1\n')
    done = simulate(path)
    assert (done.code, done.out) == (2, "")
    assert 'kind = "group"' in done.err
