"""Long work in rebalance listeners, and static members under new names, as a real 4.3.1 broker had them.

Recorded with Java consumers: four partitions, heartbeats of 3 s, sessions of 10 s (listeners) or 15 s. A lane
is what happened from the moment of a third member, or a restart: milliseconds, what, and partitions in all.
"""

from __future__ import annotations

import pytest

from advisor.sim.group_clocked import Node
from advisor.sim.group_phases import GroupSetup, Phase
from advisor.sim.group_timeline import GroupRun

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
    # What its listener was giving up counts as lost once more; the model has it given up.
    (CONSUMER, 8_000, 0, 12_000): [
        (2_528, "revoked", 1),
        (12_099, "assigned", 2),
        (15_148, "revoked", 1),
        (23_600, "assigned", 2),
        (29_621, "revoked", 1),
        (39_211, "assigned", 2),
        (42_236, "revoked", 1),
        (50_703, "assigned", 2),
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


def alike(played: Lane, recorded: Lane) -> None:
    assert [step[1:] for step in played] == [step[1:] for step in recorded]
    for (mine, _, _), (theirs, _, _) in zip(played, recorded, strict=True):
        assert abs(mine - theirs) <= 250 + 0.03 * theirs


@pytest.mark.parametrize("lane", LISTENERS, ids=str)
def test_long_work_in_a_listener(lane: tuple[str, int, int, int]) -> None:
    assignor, interval, busy, work = lane
    classic = assignor != CONSUMER
    setup = GroupSetup(
        protocol="classic" if classic else CONSUMER,
        strategies=(assignor,) if classic else ("uniform",),
        max_poll_interval_ms=interval,
        session_ms=10_000 if classic else 15_000,
        heartbeat_ms=3_000,
    )
    run, nodes = started(setup, ("", ""))
    if busy:
        run.stall(nodes[0], busy)
        run.wait(80)
    run.setup = run.setup._replace(listener_ms=work)
    since = run.clock.now
    run.start("m2", delay=run.phase.open)
    run.wait(2 * interval + 3 * work)
    kinds = ("assigned", "revoked", *(("lost",) if classic else ()))
    alike(told(run, since, *kinds), LISTENERS[lane])


@pytest.mark.parametrize("lane", NAMES, ids=str)
def test_a_static_member_that_is_restarted(lane: tuple[str, str, str]) -> None:
    assignor, before, after = lane
    setup = GroupSetup(strategies=(assignor,), session_ms=15_000, heartbeat_ms=3_000)
    run, nodes = started(setup, (before, "pod-b" if before else ""))
    since = run.clock.now
    run.close(nodes[0])
    nodes.append(run.start("m2", instance=after, delay=2_000))
    run.until(lambda: run.owned_by(nodes) == 4 and bool(nodes[2].owned), 80_000)
    alike(told(run, since, "assigned", "revoked"), NAMES[lane])
