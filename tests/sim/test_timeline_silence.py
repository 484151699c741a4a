"""Connections after a cut: when they speak again, and what a cut may end that is shorter than a timeout."""

from __future__ import annotations

import pytest

from advisor.sim.quorum import Ensemble, Quorum
from advisor.sim.ranges import MILLISECOND, SECOND
from advisor.sim.timeline import Run, Step
from advisor.sim.timeline_silence import FETCH_PATIENCE, METADATA_PATIENCE, silence
from advisor.sim.timeline_table import GRID
from tests.sim.test_timeline import setup, sleep


def of(resend_ms: int = 200, setup_s: int = 10):
    return GRID[0]._replace(resend=resend_ms * MILLISECOND, setup=setup_s * SECOND)


@pytest.mark.parametrize(
    ("cut", "again"),
    [(0.1, 0.2), (0.5, 0.6), (3.1, 6.2), (7, 12.6), (25.5, 30), (30.2, 31), (38, 40)],
)
def test_a_follower_is_sent_again_what_it_lacks_ever_later_until_it_connects_anew(cut, again):
    assert silence(int(cut * SECOND), FETCH_PATIENCE, of()) == int(again * SECOND)


@pytest.mark.parametrize(
    ("cut", "again"), [(1.5, 2), (2.5, 3), (4, 5), (6, 9), (9.5, 12), (20, 27), (28, 32)]
)
def test_a_broker_asks_for_metadata_anew_ever_later(cut, again):
    assert silence(int(cut * SECOND), METADATA_PATIENCE, of()) == again * SECOND


def test_a_slower_round_trip_may_bring_a_follower_back_sooner():
    assert silence(3_100 * MILLISECOND, FETCH_PATIENCE, of(resend_ms=210)) == 3_150 * MILLISECOND


def test_nobody_speaks_before_the_cut_is_over():
    for phase in GRID:
        for cut in range(0, 60 * SECOND, 700 * MILLISECOND):
            for patience in (SECOND, METADATA_PATIENCE, FETCH_PATIENCE):
                assert cut <= silence(cut, patience, phase) <= 2 * cut + FETCH_PATIENCE


def leaders(kind: str, seconds: float) -> set[int]:
    """Who leads when a cut around the first broker has been over for a while."""
    found = set()
    for phase in GRID:
        run = Run(setup(), phase)
        for step in (sleep(1), Step("isolate", kind), sleep(seconds), Step("unisolate"), sleep(6)):
            run._step(step)
        found.add(run.cluster.state.leader)
    return found


def test_a_cut_that_is_shorter_than_a_session_may_end_it():
    """The session is 6 s: after 5.5 s the next attempt to connect to the controller comes too late."""
    assert leaders("controller-only", 2) == {0}
    assert 1 in leaders("controller-only", 5.5)


def test_a_cut_that_is_shorter_than_the_lag_allowed_may_shrink_the_isr():
    """A follower may lag for 4 s: it was cut off for 3.1 s, and asks again after as long."""
    smallest = set()
    for phase in GRID:
        run = Run(setup(min_isr=1), phase)
        load = Step("send", 500, gap=20 * MILLISECOND)
        for step in (load, sleep(1), Step("isolate", "replication-only"), sleep(3.1), Step("unisolate")):
            run._step(step)
        sizes = []
        for _ in range(40):
            run._wait(100 * MILLISECOND)
            sizes.append(run.cluster.state.isr.bit_count())
        smallest.add(min(sizes))
        run._wait(6 * SECOND)
        assert run.cluster.state.isr == 0b111
    assert smallest == {1, 3}


@pytest.mark.parametrize("control", [Quorum(), Ensemble(3, 6 * SECOND, 2 * SECOND)])
def test_a_broker_hears_of_a_new_leader_by_itself_or_once_it_is_registered(control):
    waits = set()
    for phase in GRID:
        made = setup()
        run = Run(made._replace(cluster=made.cluster._replace(control=control)), phase)
        for step in (sleep(1), Step("isolate", "brokers"), sleep(12), Step("unisolate")):
            run._step(step)
        cluster = run.cluster
        run._until(lambda of=cluster: of.informed[0] == 1, 30 * SECOND)
        waits.add(bool(cluster.cut_from_controller))
    assert waits == ({True, False} if isinstance(control, Quorum) else {False})


def test_a_broker_that_is_started_behind_a_cut_registers_when_the_network_is_whole():
    for phase in GRID:
        run = Run(setup(), phase)
        behind = (Step("isolate", "brokers"), Step("kill9", 0), sleep(10), Step("start", 0), sleep(15))
        for step in behind:
            run._step(step)
        assert run.cluster.registered() == [1, 2]
        for step in (Step("unisolate"), sleep(3)):
            run._step(step)
        assert run.cluster.registered() == [0, 1, 2]
