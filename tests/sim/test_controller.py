"""Who controls, for how long nobody does, and what a cluster does and does not do meanwhile."""

from __future__ import annotations

import pytest

from advisor.sim.quorum import Ensemble, Quorum, until_fenced
from advisor.sim.ranges import SECOND
from advisor.sim.timeline import Run, Setup, Step, outcomes
from advisor.sim.timeline_policy import ClientPolicy
from advisor.sim.timeline_record import record
from advisor.sim.timeline_table import GRID, Phase
from tests.sim.test_timeline import AWAIT, CLIENT, LOAD, UNSAFE, setup, sleep

THREE = Quorum(voters=3)
ZOOKEEPER = Ensemble(session_timeout=6 * SECOND)


@pytest.mark.parametrize(
    ("voters", "spare", "wasted"), [(1, 0, 0), (2, 0, 1), (3, 1, 0), (4, 1, 1), (5, 2, 0), (6, 2, 1)]
)
def test_an_even_voter_adds_no_tolerance(voters, spare, wasted):
    quorum = Quorum(voters)
    assert (quorum.spare(), quorum.wasted()) == (spare, wasted)
    assert quorum.takeover(spare) is not None or spare == 0
    assert quorum.takeover(spare + 1) is None


def test_a_takeover_follows_the_fetch_and_the_election_timeout():
    span = THREE.takeover(1)
    assert span is not None
    assert (span.least, span.most) == (1_500_000, 4_200_000)
    slow = THREE._replace(fetch_timeout=10 * SECOND).takeover(1)
    assert slow is not None
    assert slow.least == span.least + 8 * SECOND
    handed = THREE.takeover(1, clean=True)
    assert handed is not None
    assert handed.most <= SECOND


def test_zookeeper_waits_for_the_session_of_the_last_controller():
    span = ZOOKEEPER.takeover(1)
    assert span is not None
    assert (span.least, span.most) == (4 * SECOND, 8 * SECOND)
    closed = ZOOKEEPER.takeover(1, clean=True)
    assert closed is not None
    assert closed.most == 0


def test_a_leader_that_dies_with_its_controller_is_fenced_later_in_kraft():
    kraft = until_fenced(THREE, 9 * SECOND, 2 * SECOND, away=1)
    zookeeper = until_fenced(ZOOKEEPER, 6 * SECOND, 2 * SECOND, away=1)
    assert kraft is not None
    assert zookeeper is not None
    assert kraft.least == 10_500_000  # the takeover and a whole session
    assert zookeeper.most == 8 * SECOND  # one session, not two
    assert until_fenced(Quorum(2), 9 * SECOND, 2 * SECOND, away=1) is None


def controlled(client: ClientPolicy = CLIENT, **policy: object) -> Setup:
    made = setup(client)
    return made._replace(cluster=made.cluster._replace(**policy))


def elected_after(made: Setup, phase: Phase, *faults: Step) -> float | None:
    run = Run(made, phase)
    for fault in faults:
        run._act(fault)
    begun = run.clock.now
    run._act(Step("wait_leader", [1, 2], timeout=40 * SECOND))
    return (run.clock.now - begun) / SECOND if run.cluster.state.leader > 0 else None


KILL = Step("kill9", 0)
NO_CONTROLLER = Step("controller_kill9")


@pytest.mark.parametrize("phase", GRID)
def test_nobody_is_elected_while_there_is_no_majority(phase):
    for voters in (1, 2):
        assert elected_after(controlled(control=Quorum(voters)), phase, NO_CONTROLLER, KILL) is None
    span = until_fenced(THREE, 6 * SECOND, SECOND, away=1)
    assert span is not None
    waited = elected_after(controlled(control=THREE), phase, NO_CONTROLLER, KILL)
    assert waited is not None
    assert span.least / SECOND <= waited <= span.most / SECOND + 1


@pytest.mark.parametrize("phase", GRID)
def test_a_leader_with_the_controller_in_one_process(phase):
    """Combined roles: brokers 0, 1, 2 are the voters, and 0 leads and controls."""
    apart = elected_after(controlled(control=THREE), phase, KILL)
    combined = elected_after(controlled(control=THREE, voters_at=(0, 1, 2)), phase, KILL)
    zookeeper = elected_after(controlled(control=ZOOKEEPER, voters_at=(0, 1, 2)), phase, KILL)
    assert apart is not None
    assert combined is not None
    assert zookeeper is not None
    assert combined > apart + 1
    assert 4 <= zookeeper <= 8.1


def test_no_controller_no_isr_change_and_writes_go_on():
    """The last controller dies, a follower freezes: acks=all waits for it until a controller is back."""
    schedule = [
        LOAD,
        sleep(0.5),
        NO_CONTROLLER,
        Step("sigstop", 2),
        sleep(10),
        Step("controller_start"),
        sleep(20),
        Step("sigcont", 2),
        AWAIT,
    ]
    for phase in GRID:
        rows = record(controlled(), schedule, phase).rows
        back = next(row["t_ms"] for row in rows if row["event"]["name"] == "controller_start")
        shrunk = [row for row in rows if row["state"]["isr"] != [0, 1, 2]]
        assert shrunk
        assert all(row["t_ms"] >= back for row in shrunk)
        made = controlled(UNSAFE)
        assert Run(made, phase).play(schedule)[:3] == (400, 400, 0)


def test_a_controller_that_is_started_needs_the_time_of_a_process():
    for phase in GRID:
        run = Run(controlled(), phase)
        for step in (NO_CONTROLLER, Step("controller_start")):
            run._step(step)
        run._wait(phase.boot - 1)
        assert not run.cluster.controller.active
        run._wait(10 * SECOND)
        assert run.cluster.controller.active


def test_a_follower_that_caught_up_joins_when_a_controller_is_back():
    schedule = [
        Step("kill9", 2),
        Step("wait_isr", [0, 1], timeout=20 * SECOND),
        Step("start", 2),
        Step("wait_nodes", [0, 1, 2], timeout=20 * SECOND),
        NO_CONTROLLER,
        LOAD,
        sleep(3),
    ]
    late = Step("sigstop", 2), sleep(8), Step("sigcont", 2), sleep(5)
    run = Run(controlled(), GRID[0])
    for step in schedule[:4]:
        run._step(step)
    run._wait(SECOND)
    assert run.cluster.state.isr == 0b111
    # It lags with a controller there, catches up without one.
    run._step(late[0])
    run._step(Step("send", 5))
    run._wait(8 * SECOND)
    assert run.cluster.state.isr == 0b011
    run._step(NO_CONTROLLER)
    run._step(late[2])
    run._wait(5 * SECOND)
    replicas = run.cluster.state.replicas
    assert replicas[2].leo == replicas[0].leo
    assert run.cluster.state.isr == 0b011
    run._step(Step("controller_start"))
    run._wait(6 * SECOND)
    assert run.cluster.state.isr == 0b111


def test_a_broker_that_nobody_lets_go():
    """A clean stop without a controller: KRaft waits for minutes, ZooKeeper's brokers go after some tries."""
    for control, least, most in ((Quorum(), 290, 310), (ZOOKEEPER, 14, 17)):
        run = Run(controlled(control=control), GRID[0])
        run.cluster.controller.active = False
        run._act(Step("term", 0))
        assert least <= run.clock.now / SECOND <= most
        assert run.cluster.state.leader == 0  # nobody was elected
    run = Run(controlled(control=THREE), GRID[0])
    run._act(Step("controller_failover"))
    run._act(Step("term", 0))
    assert run.clock.now < 6 * SECOND
    assert run.cluster.state.leader == 1


def test_a_failover_of_the_controller_is_not_seen_by_producers():
    schedule = [LOAD, sleep(1), Step("controller_failover"), AWAIT]
    for client in (CLIENT, UNSAFE):
        assert {o[:6] for o in outcomes(controlled(client, control=THREE), [schedule])} == {
            (400, 400, 0, 0, 0, 0)
        }


def test_leadership_moves_back_by_itself():
    """auto.leader.rebalance.enable: within an interval of the first replica's return."""
    back = [Step("term", 0), Step("start", 0), Step("wait_isr", [0, 1, 2], timeout=60 * SECOND)]
    for phase in GRID:
        for interval, leader in ((0, 1), (5 * SECOND, 0)):
            run = Run(controlled(rebalance_interval=interval), phase)
            for step in back:
                run._step(step)
            run._wait(11 * SECOND)
            assert run.cluster.state.leader == leader
