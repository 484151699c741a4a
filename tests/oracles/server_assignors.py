"""server_assignors: uniform and range of the group coordinator (KIP-848), in hash order and sorted."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from typing import Any

from advisor.sim.assign.java_order import spread_uuid_hash, table_size
from advisor.sim.assign.server import ServerMember, assign, flat

from .assignors import as_sets, names, partition


def member_of(given: dict[str, Any]) -> ServerMember:
    current: dict[str, list[int]] = {}
    for name in given["current"]:
        topic, number = partition(name)
        current.setdefault(topic, []).append(number)
    return ServerMember(given["id"], frozenset(given["topics"]), current, given["instance_id"])


def in_id_order(given: dict[str, Any]) -> dict[str, int]:
    """Topics as a hash set of their ids holds them."""
    hashes = {}
    for topic, text in given["topic_ids"].items():
        raw = urlsafe_b64decode(text + "==")
        hashes[topic] = spread_uuid_hash(int.from_bytes(raw[:8]), int.from_bytes(raw[8:]))
    mask = table_size(len(hashes)) - 1
    return {topic: given["partitions"][topic] for topic in sorted(hashes, key=lambda t: hashes[t] & mask)}


def answer(case: dict[str, Any]) -> dict[str, Any]:
    given = case["input"]
    members = {member["id"]: member_of(member) for member in given["members"]}
    partitions = in_id_order(given)

    def assigned(order: list[str]) -> dict[str, list[str]]:
        target = flat(assign(given["assignor"], [members[name] for name in order], partitions))
        return as_sets({member: names(own) for member, own in target.items()})

    return {
        "assignment": assigned(given["member_map_order"]),
        "assignment_sorted_members": assigned(sorted(members)),
    }


def compare(case: dict[str, Any]) -> str | None:
    """None if both orders of members give what Kafka gave, else the first member that differs."""
    ours, kafka = answer(case), case["output"]
    for field in ("assignment", "assignment_sorted_members"):
        theirs = as_sets(kafka[field])
        for member in sorted(ours[field].keys() | theirs.keys()):
            if ours[field].get(member) != theirs.get(member):
                return f"{field}: {member} gets {ours[field].get(member)}, Kafka {theirs.get(member)}"
    return None
