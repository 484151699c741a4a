"""The broker that coordinates a group dies or stops: who waits, who goes on, what is lost.

`python -m tests.sim.test_coordinator` rewrites groups/clocked/coordinator-dies.txt.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from advisor.sim.consumer import AFTER, AUTO, Reading
from advisor.sim.group_phases import GRID, GroupSetup, Phase
from advisor.sim.group_story import story
from advisor.sim.group_timeline import COORDINATOR, GroupRun

GOLDEN = Path(__file__).parent / "groups/clocked/coordinator-dies.txt"
PROTOCOLS = (("classic", ("range",)), ("classic", ("cooperative-sticky",)), ("consumer", ("uniform",)))
SETUP = GroupSetup(
    partitions=4,
    session_ms=6_000,
    heartbeat_ms=1_000,
    initial_delay_ms=0,
    reading=Reading(commits=AFTER),
    auto_commit_interval_ms=1_000,
)


def settled(setup: GroupSetup, phase: Phase, records: int = 4_000) -> GroupRun:
    """Two members with two partitions each, and 100 records a second."""
    run = GroupRun(setup, phase)
    run.narrates = True
    nodes = [run.start("m0"), run.start("m1", delay=phase.open)]
    run.until(lambda: all(len(node.owned) == 2 for node in nodes), 60_000)
    run.stream(records, 100, range(4))
    run.wait(5_000)
    return run


def since(run: GroupRun, at: int) -> list[tuple[int, str, str]]:
    return [(entry.time - at, entry.node, entry.what) for entry in run.history if entry.time >= at]


@pytest.mark.parametrize("phase", GRID[:3])
@pytest.mark.parametrize(("protocol", "strategies"), PROTOCOLS)
def test_nobody_rebalances_though_the_session_is_shorter(protocol, strategies, phase):
    run = settled(SETUP._replace(protocol=protocol, strategies=strategies), phase)
    at = run.clock.now
    run.lose_coordinator()
    run.wait(60_000)
    told = since(run, at)
    assert not {what for _, _, what in told} & {"assigned", "revoked", "lost"}
    assert run.errors() == []
    assert (run.never_processed(), run.processed_twice()) == (0, 0)
    # Kills of such a broker kept commits waiting for 9.8 to 10.8 s.
    waits = next(time for time, node, what in told if what == "commits" and node == "m0")
    assert 7_000 < waits < 11_500


@pytest.mark.parametrize(("protocol", "strategies"), PROTOCOLS)
def test_a_broker_that_stops_in_good_order_hands_over_at_once(protocol, strategies):
    for phase in GRID[:3]:
        run = settled(SETUP._replace(protocol=protocol, strategies=strategies), phase)
        at = run.clock.now
        run.lose_coordinator(clean=True)
        run.wait(20_000)
        waits = next(time for time, node, what in since(run, at) if what == "commits" and node == "m0")
        assert waits < 3_100
        assert "assigned" not in {what for _, _, what in since(run, at)}


def test_auto_commit_goes_on_and_commits_later():
    run = settled(SETUP._replace(reading=Reading(commits=AUTO)), GRID[0])
    at = run.clock.now
    run.lose_coordinator()
    run.wait(20_000)
    polls = [time for time, node, what in since(run, at) if (node, what) == ("m0", "polls")]
    assert max(later - sooner for sooner, later in itertools.pairwise(polls)) < 200
    first = min(time for time, _, what in since(run, at + 1) if what == "commits")
    assert first >= run.side.away.until - at


def test_a_member_killed_meanwhile_has_a_whole_session_more():
    run = settled(SETUP, GRID[0])
    at = run.clock.now
    run.lose_coordinator()
    run.wait(500)
    run.kill(run.nodes[1])
    run.wait(60_000)
    taken = [time for time, node, what in since(run, at) if (node, what) == ("m0", "assigned")]
    assert taken[0] >= run.side.away.until - at + SETUP.session_ms


def test_a_rebalance_under_way_is_begun_anew():
    run = settled(SETUP, GRID[0])
    run.stall(run.nodes[0], 3_000)  # so that the join phase stays open
    third = run.start("m2")
    run.wait(2_000)
    assert not third.owned
    at = run.clock.now
    run.lose_coordinator()
    run.until(lambda: all(node.owned for node in run.nodes), 60_000)
    assert run.clock.now >= run.side.away.until
    assert sorted(partition for node in run.nodes for partition in node.owned) == [0, 1, 2, 3]
    assert "m2" in {node for _, node, what in since(run, at) if what == "assigned"}


def test_a_commit_that_is_given_up_ends_the_member():
    run = settled(SETUP._replace(api_timeout_ms=5_000), GRID[0])
    run.lose_coordinator()
    run.wait(30_000)
    assert sorted(run.errors()) == ["TimeoutException", "TimeoutException"]


def golden() -> str:
    run = settled(SETUP._replace(partitions=4), Phase(), records=0)
    at = run.clock.now
    run.lose_coordinator()
    run.produce(0)
    run.clock.after(2_000, run.produce, 2)
    run.wait(1_000)
    run.kill(run.nodes[1])
    run.wait(30_000)
    lines = ["two members, commits after processing; the coordinator's broker is killed, then m1 too"]
    for row in story(run, at):
        cells = "  ".join(f"{name}={owned}" for name, owned in row["state"]["cells"].items())
        lines.append(f"{row['t_ms']:6}  {row['event']['text']:34}  {cells}")
    return "\n".join(lines) + "\n"


def test_the_golden_trace():
    assert golden() == GOLDEN.read_text(encoding="utf-8")
    assert COORDINATOR in golden()


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(golden(), encoding="utf-8")
