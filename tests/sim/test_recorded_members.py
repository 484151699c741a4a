"""Long work in rebalance listeners, and static members under new names, as a real 4.3.1 broker had them.

Recorded with Java consumers: four partitions, heartbeats of 3 s, sessions of 10 s (listeners of the
classic protocol) or 15 s. A lane is what happened from the moment of a third member, or a restart:
milliseconds, what, and partitions in all.
"""

from __future__ import annotations

import pytest

from advisor.sim.groups.clock.classic import Node
from advisor.sim.groups.clock.phases import OPEN, ROUND_TRIP, GroupSetup, Phase
from advisor.sim.groups.clock.timeline import GroupRun

Lane = list[tuple[int, str, int]]
RANGE, COOPERATIVE, CONSUMER = "range", "cooperative-sticky", "consumer"

# By assignor (or protocol), max.poll.interval.ms, what is left of a batch, work in the listener.
LISTENERS: dict[tuple[str, int, int, int], Lane] = {
    (RANGE, 8_000, 0, 12_000): [
        (2_472, "revoked", 4),
        (8_092, "assigned", 4),
        (17_093, "revoked", 4),
        (22_488, "assigned", 4),
        (31_490, "revoked", 4),
        (37_105, "assigned", 4),
        (46_120, "revoked", 4),
        (51_520, "assigned", 4),
    ],
    (RANGE, 10_000, 6_000, 7_000): [
        (2_427, "revoked", 2),
        (5_933, "revoked", 2),
        (10_049, "assigned", 4),
        (13_050, "revoked", 4),
        (20_061, "assigned", 4),
    ],
    (COOPERATIVE, 10_000, 6_000, 7_000): [(5_990, "revoked", 1), (15_146, "assigned", 1)],
    (COOPERATIVE, 8_000, 0, 12_000): [
        (2_490, "revoked", 1),
        (11_497, "assigned", 2),
        (14_499, "lost", 1),
        (14_727, "revoked", 1),
        (23_739, "assigned", 2),
        (26_727, "lost", 1),
        (26_744, "revoked", 1),
        (35_750, "assigned", 2),
        (38_745, "lost", 1),
        (38_763, "revoked", 1),
        (47_775, "assigned", 2),
        (50_764, "lost", 1),
        (50_784, "revoked", 1),
    ],
}
# The same of the consumer protocol, by max.poll.interval.ms and work in the listener.
LOST: dict[tuple[int, int], Lane] = {
    (8_000, 12_000): [
        (2_610, "revoked", 1),
        (12_168, "assigned", 2),
        (14_613, "lost", 2),
        (17_706, "revoked", 1),
        (26_745, "assigned", 2),
        (29_707, "lost", 2),
        (29_854, "revoked", 1),
        (38_838, "assigned", 2),
        (41_854, "lost", 2),
        (44_851, "revoked", 1),
    ],
    (6_000, 10_000): [
        (2_627, "revoked", 1),
        (9_138, "assigned", 2),
        (12_628, "lost", 2),
        (14_590, "revoked", 1),
        (21_764, "assigned", 2),
        (24_590, "lost", 2),
        (24_786, "revoked", 1),
        (33_720, "assigned", 2),
        (34_787, "lost", 2),
        (36_825, "revoked", 1),
    ],
    (5_000, 7_000): [
        (1_327, "revoked", 1),
        (8_328, "lost", 2),
        (8_528, "assigned", 1),
        (9_138, "assigned", 1),
    ],
}
# By assignor, the id before and after the restart.
NAMES: dict[tuple[str, str, str], Lane] = {
    (RANGE, "pod-a", "pod-c"): [(6, "revoked", 2), (2_493, "revoked", 2), (14_502, "assigned", 4)],
    (RANGE, "pod-a", "pod-a"): [(13, "revoked", 2), (2_023, "assigned", 2)],
    (RANGE, "", ""): [(1, "revoked", 2), (2_496, "revoked", 2), (2_510, "assigned", 4)],
    (COOPERATIVE, "pod-a", "pod-c"): [(0, "revoked", 2), (14_508, "assigned", 2)],
}


def started(setup: GroupSetup, instances: tuple[str, str]) -> tuple[GroupRun, list[Node]]:
    run = GroupRun(setup._replace(partitions=4, initial_delay_ms=0), Phase(), records=False)
    nodes = [run.start("m0", instance=instances[0]), run.start("m1", instance=instances[1], delay=50)]
    run.until(lambda: all(len(node.owned) == 2 for node in nodes), 60_000)
    run.wait(3_500)
    return run, nodes


def told(run: GroupRun, since: int, *what: str) -> Lane:
    """What changed hands, members that did the same at one time taken together."""
    found: Lane = []
    for entry in run.history:
        at = entry.time - since
        if at < 0 or not entry.partitions or entry.what not in what:
            continue
        if found and found[-1][1] == entry.what and at - found[-1][0] < 300:
            found[-1] = (found[-1][0], entry.what, found[-1][2] + len(entry.partitions))
        else:
            found.append((at, entry.what, len(entry.partitions)))
    return found


def alike(played: Lane, recorded: Lane) -> bool:
    return [step[1:] for step in played] == [step[1:] for step in recorded] and all(
        abs(mine - theirs) <= 250 + 0.03 * theirs
        for (mine, _, _), (theirs, _, _) in zip(played, recorded, strict=True)
    )


@pytest.mark.parametrize("lane", LISTENERS, ids=str)
def test_long_work_in_a_listener(lane: tuple[str, int, int, int]) -> None:
    assignor, interval, busy, work = lane
    setup = GroupSetup(
        strategies=(assignor,), max_poll_interval_ms=interval, session_ms=10_000, heartbeat_ms=3_000
    )
    run, nodes = started(setup, ("", ""))
    if busy:
        run.stall(nodes[0], busy)
        run.wait(80)
    run.setup = run.setup._replace(listener_ms=work)
    since = run.clock.now
    run.start("m2", delay=run.phase.open)
    run.wait(2 * interval + 3 * work)
    played = told(run, since, "assigned", "revoked", "lost")
    assert alike(played, LISTENERS[lane]), played


@pytest.mark.parametrize("lane", LOST, ids=str)
def test_what_a_listener_was_giving_up_is_lost_too(lane: tuple[int, int]) -> None:
    """A member of the consumer protocol that is out while its listener works loses all that it had. How its
    member id sorts, and where between two heartbeats the third member found it, is in no recording."""
    places = [(order, share / 30) for order in range(4) for share in range(30)]
    assert any(alike(_lost(lane, order, share), LOST[lane]) for order, share in places)


def _lost(lane: tuple[int, int], order: int, share: float) -> Lane:
    interval, work = lane
    setup = GroupSetup(
        protocol=CONSUMER,
        strategies=("uniform",),
        partitions=4,
        max_poll_interval_ms=interval,
        session_ms=15_000,
        heartbeat_ms=3_000,
        assignment_interval_ms=1_000,
    )
    run = GroupRun(setup, Phase(order=order, round_trip=ROUND_TRIP[0], open=OPEN[0]), records=False)
    nodes = [run.start("m0", delay=OPEN[0])]
    run.until(lambda: len(nodes[0].owned) == 4)
    nodes.append(run.start("m1", delay=OPEN[0]))
    run.until(lambda: all(len(node.owned) == 2 for node in nodes))
    run.wait(3_500)
    run.to_beat(nodes[1], share)
    run.setup = run.setup._replace(listener_ms=work)
    since = run.clock.now
    run.start("m2", delay=OPEN[0])
    run.wait(2 * interval + 3 * work)
    return told(run, since, "assigned", "revoked", "lost")


@pytest.mark.parametrize("lane", NAMES, ids=str)
def test_a_static_member_that_is_restarted(lane: tuple[str, str, str]) -> None:
    assignor, before, after = lane
    setup = GroupSetup(strategies=(assignor,), session_ms=15_000, heartbeat_ms=3_000)
    run, nodes = started(setup, (before, "pod-b" if before else ""))
    since = run.clock.now
    run.close(nodes[0])
    nodes.append(run.start("m2", instance=after, delay=2_000))
    run.until(lambda: run.owned_by(nodes) == 4 and bool(nodes[2].owned), 80_000)
    played = told(run, since, "assigned", "revoked")
    assert alike(played, NAMES[lane]), played
