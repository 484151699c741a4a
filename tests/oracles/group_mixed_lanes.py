"""Lanes in which two members of a group are set up in different ways: other assignors, or other protocols.

`c1` and `c2` of a lane's input give each member's own settings; what neither they nor `consumer` give is the
default. Members of one protocol are played on the clock. A group with both protocols is rolling.py's matter,
which knows no time: both are settled long before a lane ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.sim.group_phases import GroupSetup, Phase
from advisor.sim.group_timeline import GroupRun
from advisor.sim.rolling import CLASSIC, CONSUMER, Brokers, Kind, join
from tests.oracles.group_lanes import WATCHED_MS, Input, Outcome, number, revoked, settle

STRATEGIES = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
POLICY = "group.consumer.migration.policy"
ENDS_WITH = {
    "GROUP_ID_NOT_FOUND": "GroupIdNotFoundException",
    "INCONSISTENT_GROUP_PROTOCOL": "InconsistentGroupProtocolException",
}


def strategies(consumer: Mapping[str, Any]) -> tuple[str, ...]:
    """partition.assignment.strategy: a string or a list of class names; Kafka's default if there is none."""
    given = consumer.get("partition.assignment.strategy")
    if not given:
        return Kind().strategies
    names = given.split(",") if isinstance(given, str) else given
    return tuple(STRATEGIES[name.strip().rsplit(".", 1)[-1]] for name in names)


def kind(consumer: Mapping[str, Any]) -> Kind:
    static = "group.instance.id" in consumer
    if str(consumer.get("group.protocol", CLASSIC)).lower() == CONSUMER:
        return Kind(static=static, protocol=CONSUMER)
    return Kind(strategies(consumer), static)


def brokers(given: Mapping[str, Any]) -> Brokers:
    policy = str(given.get(POLICY, "bidirectional")).lower()
    return Brokers(
        online_upgrade=policy in ("upgrade", "bidirectional"),
        online_downgrade=policy in ("downgrade", "bidirectional"),
        classic_joins=policy != "disabled",
    )


def members(given: Input) -> tuple[Kind, Kind]:
    """How the two are set up. Where neither states a protocol, both are of the lane's."""
    settings = [{**given.get("consumer", {}), **given.get(one, {})} for one in ("c1", "c2")]
    if not any("group.protocol" in one for one in settings):
        settings = [{**one, "group.protocol": given.get("protocol", CLASSIC)} for one in settings]
    first, second = settings
    return kind(first), kind(second)


def T4(given: Input, policy: GroupSetup, phase: Phase) -> Outcome:
    partitions = number(given["steps"], r"of (\d+) partitions")
    first, second = members(given)
    if first.protocol != second.protocol:
        found = join(first, second, partitions, brokers(given.get("broker", {})))
        return {
            "c1_error": [],
            "c2_error": [ENDS_WITH[found.refused]] if found.refused else [],
            "c1_partitions_revoked": found.revoked,
            "owned": [[str(partition) for partition in reads] for reads in found.reads],
        }
    run = GroupRun(policy._replace(partitions=partitions), phase, records=False)
    mine, theirs = (one.strategies if one.protocol == CLASSIC else None for one in (first, second))
    c1 = run.start("c1", strategies=mine, instance="i1" if first.static else "")
    settle(run, [c1])
    start = len(run.history)
    c2 = run.start("c2", strategies=theirs, instance="i2" if second.static else "", delay=phase.open)
    run.wait(WATCHED_MS)
    return {
        "c1_error": run.errors("c1"),
        "c2_error": run.errors("c2"),
        "c1_partitions_revoked": sum(len(e.partitions) for e in revoked(run, start) if e.node == "c1"),
        "owned": [[str(partition) for partition in node.owned] for node in (c1, c2)],
    }
