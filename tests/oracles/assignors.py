"""assignors: range, round robin, sticky and cooperative-sticky of the consumer, rebalance after rebalance."""

from __future__ import annotations

from typing import Any

from advisor.sim.assign.assignors import assign, withheld
from advisor.sim.assign.java_order import TopicPartition
from advisor.sim.assign.members import Member, Metadata


def partition(name: str) -> TopicPartition:
    topic, _, number = name.rpartition("-")
    return topic, int(number)


def names(partitions: list[TopicPartition]) -> list[str]:
    return [f"{topic}-{number}" for topic, number in partitions]


def group(given: dict[str, Any]) -> tuple[list[Member], Metadata]:
    """The members and the cluster of a case."""
    members = [
        Member(
            id=member["id"],
            topics=tuple(member["topics"]),
            owned=tuple(partition(name) for name in member["owned"]),
            generation=member["generation"],
            instance_id=member["instance_id"],
            rack=member["rack"],
        )
        for member in given["members"]
    ]
    racks = given["brokers"]
    replicas = {
        partition(name): frozenset(rack for broker in brokers if (rack := racks[str(broker)]) is not None)
        for name, brokers in given["replicas"].items()
    }
    return members, Metadata(given["partitions"], replicas)


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """Our assignment, in the form of the recorded output."""
    members, metadata = group(case["input"])
    major, minor, *_ = case["version"].split(".")
    assignment = assign(case["input"]["assignor"], members, metadata, (int(major), int(minor)))
    return {
        "assignment": {member: names(partitions) for member, partitions in assignment.items()},
        "unassigned": names(withheld(assignment, members, metadata)),
    }


def as_sets(assignment: dict[str, list[str]]) -> dict[str, list[str]]:
    return {member: sorted(partitions) for member, partitions in sorted(assignment.items())}


def compare(case: dict[str, Any]) -> str | None:
    """None if every member gets what Kafka gave it, or gave in another order of members."""
    ours, kafka = answer(case), case["output"]
    mine, theirs = as_sets(ours["assignment"]), as_sets(kafka["assignment"])
    if mine != theirs:
        others = [as_sets(other.get("assignment", other)) for other in kafka.get("alternatives", [])]
        if mine in others:
            return None
        member = next(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))
        return f"{member} gets {mine.get(member)}, Kafka {theirs.get(member)}"
    if sorted(ours["unassigned"]) != sorted(kafka["unassigned"]):
        return f"unassigned {ours['unassigned']}, Kafka {kafka['unassigned']}"
    return None
