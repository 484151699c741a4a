"""The recorded lanes of consumer groups as schedules: each family's steps in events of the clock.

A function a family, named as its lanes are: it takes the lane's input, the group's settings and a phase, and
gives the outcome in the words of the recordings. Numbers come from the steps; what the steps leave unsaid
of the harness is stated here once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from advisor.sim.group_phases import GroupSetup, Phase
from advisor.sim.group_polling import COMMIT_FAILED, REBALANCE_IN_PROGRESS
from advisor.sim.group_side import Node
from advisor.sim.group_timeline import GroupRun

WATCHED_MS = 10_000  # how long a lane looks for what does not come
JVM_PAUSE_MS = 500  # between two steps of a lane
LOOK_MS = 50  # how often a lane looks who owns what


class Glimpse(int):
    """The time of something that is over before a lane looks again: whoever recorded may have missed it."""


Input = Mapping[str, Any]
Outcome = dict[str, Any]


def number(steps: Any, pattern: str, default: int | None = None) -> int:
    found = re.search(pattern, " | ".join(steps))
    if found is None:
        if default is None:
            raise ValueError(f"no step says {pattern}")
        return default
    return int(found.group(1))


def gather(run: GroupRun, count: int, static: bool = False, before: tuple[Node, ...] = ()) -> list[Node]:
    """Members one after the other, until all own an even share."""
    nodes = list(before)
    for place in range(len(nodes), count):
        nodes.append(
            run.start(f"c{place + 1}", instance=f"i{place + 1}" if static else "", delay=run.phase.open)
        )
        settle(run, nodes)
    return nodes


def settle(run: GroupRun, nodes: list[Node], timeout: int = 120_000) -> bool:
    least, extra = divmod(run.partitions, len(nodes))

    def even() -> bool:
        return sum(len(node.owned) for node in nodes) == run.partitions and all(
            least <= len(node.owned) <= least + bool(extra) for node in nodes
        )

    return run.until(even, timeout)


def is_static(given: Input) -> bool:
    return given["consumer"].get("group.instance.id") == "static"


def changed(run: GroupRun, name: str, since: int) -> bool:
    return any(h.node == name and h.time > since and h.partitions for h in run.history)


def revoked(run: GroupRun, start: int) -> list[Any]:
    return [entry for entry in run.history[start:] if entry.what in ("revoked", "lost")]


def stopped(run: GroupRun) -> list[str]:
    """What a consumer stopped of; commits that were refused are recorded apart."""
    return [error for error in run.errors() if error not in (COMMIT_FAILED, REBALANCE_IN_PROGRESS)]


# -- G: crashes, stalls, restarts -------------------------------------------------------------------------


def G1(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    steps = given["steps"]
    records = number(steps, r"(\d+) records in")
    partitions = number(steps, r"records in (\d+) partitions")
    run = GroupRun(policy._replace(partitions=partitions), phase)
    for partition in range(partitions):
        run.produce(partition, records // partitions)
    first = run.start("c1")
    run.until(lambda: first.polled > 0, 60_000)
    polled_at = run.clock.now
    run.stall(first, given["stall_ms"])
    outcome: Outcome = {}
    if any("c2 joins" in step for step in steps):
        second = run.start("c2", delay=phase.open)
        run.until(lambda: len(second.owned) == partitions, 60_000)
        outcome["ratio_to_max_poll_interval"] = (run.clock.now - polled_at) / policy.max_poll_interval_ms
    run.wait(given["stall_ms"] + WATCHED_MS)
    outcome["processed_twice"] = run.processed_twice()
    outcome["missing"] = run.never_processed()
    outcome["commit_errors"] = [error for error in run.errors() if error == COMMIT_FAILED]
    return outcome


def G2(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    steps = given["steps"]
    run = GroupRun(policy._replace(partitions=1), phase)
    run.produce(0, number(steps, r"(\d+) records"))
    run.before_record = (0, number(steps, r"before processing seq (\d+)"))
    first = run.start("c1")
    run.until(lambda: not first.alive, 60_000)
    done = set(run.times[0])
    run.wait(JVM_PAUSE_MS)
    second = run.start("c2", delay=phase.boot)
    run.until(lambda: run.read_by([second]) == 1, 120_000)
    restart_at = second.consumer.positions[0] if second.consumer else None
    run.wait(120_000)
    again = sorted(offset for offset, times in run.times[0].items() if times > 1 and offset in done)
    return {
        "processed_twice": _range(again),
        "processed_twice_n": len(again),
        "never_processed_n": run.never_processed(),
        "c1_polled_records": first.polled,
        "c2_starts_at": restart_at if second.polled else None,
    }


def _range(offsets: list[int]) -> str:
    return f"{offsets[0]}-{offsets[-1]}" if offsets else ""


def G7_commit(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    outcome = G2(given, policy, phase)
    lost, twice = outcome["never_processed_n"], outcome["processed_twice_n"]
    return {"records_lost_if_resumed": lost, "records_reprocessed_if_resumed": twice}


def G3(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    """One of some members is killed; until the others share its partitions. T2 alike."""
    steps = given["steps"]
    members = number(steps, r"(\d+) members")
    partitions = number(steps, r"(\d+) partitions")
    run = GroupRun(policy._replace(partitions=partitions), phase, records=False)
    nodes = gather(run, members)
    run.wait(5_000)
    victim = nodes[-1]
    run.to_beat(victim)
    killed_at, count = run.clock.now, len(run.history)
    run.kill(victim)
    settle(run, nodes[:-1])
    took = run.clock.now - killed_at
    first = next(entry.time for entry in run.history[count:] if entry.what == "assigned") - killed_at
    return {
        "ratio_to_session_timeout": took / policy.session_ms,
        "reassigned_after_kill_ms": took,
        "first_reassigned_ms": first,
    }


T2 = G3


def G4(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    steps = given["steps"]
    run = GroupRun(policy._replace(partitions=number(steps, r"of (\d+) partitions")), phase, records=False)
    nodes = gather(run, number(steps, r"(\d+) members"))
    run.to_beat(nodes[0])
    before = {partition: node.name for node in nodes for partition in node.owned}
    start = len(run.history)
    nodes.append(run.start(f"c{len(nodes) + 1}", delay=phase.open))
    settle(run, nodes)
    after = {partition: node.name for node in nodes for partition in node.owned}
    return {
        "partitions_revoked_total": sum(len(entry.partitions) for entry in revoked(run, start)),
        "partitions_moved": sum(before[partition] != name for partition, name in after.items()),
    }


def G5(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    """A member stops, by kill or close, and comes back after a second in a new process."""
    steps = given["steps"]
    run = GroupRun(policy._replace(partitions=number(steps, r"(\d+) partitions")), phase, records=False)
    static = is_static(given)
    first, second = gather(run, number(steps, r"(\d+) members"), static)
    run.to_beat(second)
    since, had = run.clock.now, second.owned
    if any(step.startswith("kill") for step in steps):
        run.kill(second)
    else:
        run.close(second)
    run.wait(number(steps, r"after (\d+) s") * 1_000)
    restarted = run.clock.now
    again = run.start("c2", instance="i2" if static else "", delay=phase.boot)
    settled = settle(run, [first, again], 30_000)
    took = next((h.time for h in run.history if h.node == "c2" and h.time > restarted and h.partitions), None)
    if not settled:
        took = None
    return {
        "c1_saw_partition_change": changed(run, "c1", since),
        "c2_same_partitions": settled and again.owned == had,
        "c2_assigned_after_restart_ms": None if took is None else took - restarted,
    }


def G6(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    steps = given["steps"]
    run = GroupRun(policy._replace(partitions=number(steps, r"of (\d+) partitions")), phase, records=False)
    first, second = gather(run, 2)
    stall = number(steps, r"stalls (\d+) s") * 1_000
    run.to_beat(second)
    begun, count = run.clock.now, len(run.history)
    run.stall(first, stall)
    third = run.start("c3", delay=phase.open)
    settle(run, [first, second, third], stall + WATCHED_MS)
    owned = next(h.time for h in run.history[count:] if h.node == "c3" and h.partitions)
    return {
        "healthy_member_c2_owned_nothing_ms": _unowned(run, "c2", count),
        "stall_ms": stall,
        "c3_first_partition_after_stall_end_ms": owned - (begun + stall),
    }


def _unowned(run: GroupRun, name: str, count: int) -> int:
    """How long a member owned nothing at all."""
    owned: set[int] = set()
    for entry in run.history[:count]:
        if entry.node == name:
            owned = (
                owned - set(entry.partitions) if entry.what == "revoked" else owned | set(entry.partitions)
            )
    since, total = None, 0
    for entry in run.history[count:]:
        if entry.node != name:
            continue
        owned = owned - set(entry.partitions) if entry.what == "revoked" else owned | set(entry.partitions)
        if not owned and since is None:
            since = entry.time
        elif owned and since is not None:
            total, since = total + entry.time - since, None
    return total


def G7_static(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    steps = given["steps"]
    run = GroupRun(policy._replace(partitions=number(steps, r"(\d+) partitions")), phase, records=False)
    first, second = gather(run, 2, static=True)
    run.to_beat(second)
    killed_at, count = run.clock.now, len(run.history)
    run.kill(second)
    run.wait(number(steps, r"after (\d+) s") * 1_000)
    again = run.start("c2", instance="i2", delay=phase.boot)
    run.wait(number(steps, r"watch (\d+) s") * 1_000)
    moved = [h.time for h in run.history[count:] if h.what == "assigned" and h.node == first.name]
    return {
        "restarted_errors": run.errors(again.name),
        "first_reassigned_ms": moved[0] - killed_at if moved else None,
    }


# -- H: where reading begins ------------------------------------------------------------------------------


def _alone(given: Input, policy: GroupSetup, phase: Phase) -> GroupRun:
    return GroupRun(policy._replace(partitions=1), phase)


def H1(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    steps = given["steps"]
    run = _alone(given, policy, phase)
    run.produce(0, number(steps, r"(\d+) records written"))
    node = run.start("c1", delay=phase.open)
    run.until(lambda: bool(node.owned) or not node.alive, 60_000)
    run.wait(JVM_PAUSE_MS)
    run.produce(0, number(steps, r"(\d+) more records"))
    run.wait(WATCHED_MS)
    return {"errors": stopped(run), "skipped_count": run.never_processed()}


def H2(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    """The group is empty for longer than its offsets are kept."""
    steps = given["steps"]
    broker = given["broker"]
    run = _alone(given, policy, phase)
    read = number(steps, r"(\d+) records read")
    run.produce(0, read)
    run.committed = (read,)
    run.times[0] = dict.fromkeys(range(read), 1)
    run.produce(0, number(steps, r"(\d+) more records"))
    waits = number(steps, r"> (\d+) s pass") * 1_000
    kept = int(broker.get("offsets.retention.minutes", 10_080)) * 60_000
    if waits >= kept:
        run.committed = (-1,)
    node = run.start("c1", delay=phase.open)
    run.until(lambda: bool(node.owned) or not node.alive, 60_000)
    run.wait(JVM_PAUSE_MS)
    run.produce(0, number(steps[steps.index("group restarts") :], r"(\d+) more records"))
    run.wait(WATCHED_MS)
    return {
        "errors": stopped(run),
        "skipped_unprocessed_count": run.never_processed(),
        "reprocessed_count": run.processed_twice(),
    }


def H3(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    steps = given["steps"]
    run = _alone(given, policy, phase)
    run.produce(0, number(steps, r"(\d+) records,"))
    run.committed = (number(steps, r"committed offset (\d+)"),)
    run.log_start = [number(steps, r"log start moved to (\d+)")]
    node = run.start("c1", delay=phase.open)
    run.until(lambda: bool(node.owned) or not node.alive, 60_000)
    run.wait(JVM_PAUSE_MS)
    run.produce(0, number(steps, r"(\d+) more records"))
    run.wait(WATCHED_MS)
    skipped = run.ends[0] - run.log_start[0] - len(run.times[0])
    return {"errors": stopped(run), "still_in_log_but_skipped_count": skipped}


WRITTEN_S = 10  # the producer of H4 writes that long


def H4(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    steps = given["steps"]
    run = _alone(given, policy, phase)
    run.committed = (0,)
    gather(run, 1)
    run.wait(5_000)
    run.to_growth(run.nodes)
    run.grow(number(steps, r"createPartitions to (\d+)"))
    rate = number(steps, r"writes (\d+) rec/s")
    run.stream(rate * WRITTEN_S, rate, [1], delay=300)
    run.wait((WRITTEN_S + 10) * 1_000)
    skipped = run.ends[1] - len(run.times[1])
    return {"skipped_n": skipped, "skipped_count": skipped, "errors": stopped(run)}


# -- T: rolls, growth, mixtures ---------------------------------------------------------------------------


def T1(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    """Each member in turn is closed and comes back, at once or after the others have shared its part."""
    steps = given["steps"]
    partitions = number(steps, r"of (\d+) partitions")
    run = GroupRun(policy._replace(partitions=partitions), phase)
    static = is_static(given)
    nodes = gather(run, number(steps, r"(\d+) members"), static)
    rate = number(steps, r"(\d+) rec/s")
    run.stream(rate * 60, rate, range(partitions))
    run.wait(2_000)
    waits = any("wait until the other" in step for step in steps)
    start = len(run.history)
    own = 0
    for place, node in enumerate(list(nodes)):
        own += len(node.owned)
        others = [other for other in nodes if other is not node]
        # Each of the rolls finds the others at a place of its own between two heartbeats.
        run.to_beat(others[0], (phase.beat + place * phase.further) % 1)
        run.close(node)
        if waits:
            settle(run, others)
            run.wait(1_500)
        nodes[place] = run.start(node.name, instance=node.instance, delay=phase.open)
        settle(run, nodes)
        run.wait(1_500)
    gone = revoked(run, start)
    total = sum(len(entry.partitions) for entry in gone if entry.what == "revoked")
    return {
        "processed_twice": run.processed_twice(),
        "revoked_total": total,
        "revoked_by_other_members": total - own,
        "lost": sum(len(entry.partitions) for entry in gone if entry.what == "lost"),
    }


def T3(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    steps = given["steps"]
    members = number(steps, r"(\d+) members")
    run = GroupRun(policy._replace(partitions=number(steps, r"of (\d+) partitions")), phase)
    run.committed = (0,) * run.partitions
    nodes = gather(run, members)
    run.wait(3_000)
    run.to_growth(nodes)
    grown_at = run.clock.now
    partitions = number(steps, r"-> (\d+)")
    run.grow(partitions)
    rate, seconds = number(steps, r"(\d+) rec/s"), number(steps, r"for (\d+) s")
    run.stream(rate * seconds, rate, range(partitions), delay=phase.open)
    took: int | None = None
    if run.until(lambda: run.owned_by(nodes) == partitions, seconds * 1_000):
        took = -(-(run.clock.now - grown_at) // LOOK_MS) * LOOK_MS
        if run.until(lambda: run.owned_by(nodes) < partitions, LOOK_MS):
            took = Glimpse(took)
    run.wait(seconds * 1_000 + WATCHED_MS)
    return {
        "errors": stopped(run),
        "records_acked": sum(run.ends),
        f"all_{partitions}_owned_after_growth_ms": took,
        "skipped_count": run.never_processed(),
    }


def T5(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    steps = given["steps"]
    run = GroupRun(policy._replace(partitions=4), phase, records=False)
    run.start("c1", instance="same")
    if any("next to" in step for step in steps):
        run.start("c3", instance="other", delay=phase.open)
    run.wait(5_000)
    run.start("c2", instance="same", delay=phase.open)
    run.wait(number(steps, r"watch (\d+) s") * 1_000)
    return {"c1_error": run.errors("c1"), "c2_error": run.errors("c2")}


def T6(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    steps = given["steps"]
    run = _alone(given, policy, phase)
    gather(run, 1)
    run.wait(number(steps, r"\+(\d+) s:") * 1_000)
    records = number(steps, r"(\d+) records")
    rate = number(steps, r"at (\d+) rec/s")
    run.stream(records, rate, [0])
    run.wait(records / rate * 1_000 + number(steps, r"\+(\d+) s: what") * 1_000)
    read = sorted(run.times[0])
    return {
        "errors": stopped(run),
        "read": _range(read),
        "records_acked": records,
        "skipped_count": run.never_processed(),
    }
