"""Lanes in which the broker that coordinates a group goes away."""

from __future__ import annotations

from itertools import pairwise

from advisor.sim.groups.clock.phases import GroupSetup, Phase
from advisor.sim.groups.clock.timeline import GroupRun
from tests.oracles.group_lanes import Input, Outcome, gather, number, stopped


def C1(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    steps = given["steps"]
    partitions, rate = number(steps, r"of (\d+) partitions"), number(steps, r"(\d+) rec/s")
    run = GroupRun(policy._replace(partitions=partitions), phase)
    nodes = gather(run, number(steps, r"(\d+) members"))
    watched = number(steps, r"watch (\d+) s")
    run.stream(rate * (watched + 4), rate, range(partitions))
    run.wait(2_000)
    run.narrates = True
    since = run.clock.now
    run.lose_coordinator(clean=any("stops" in step for step in steps))
    run.wait(watched * 1_000)
    polls = [[h.time for h in run.history if h.what == "polls" and h.node == node.name] for node in nodes]
    return {
        "rebalanced": any(h.time > since and h.what in ("assigned", "revoked", "lost") for h in run.history),
        "processed_twice": run.processed_twice(),
        "errors": stopped(run),
        "longest_gap_ms": max(b - a for times in polls for a, b in pairwise(times)),
    }
