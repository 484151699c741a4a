"""coordinator: the hash of a group's name, and its partition of `__consumer_offsets`."""

from __future__ import annotations

from typing import Any

from advisor.sim.placing.offsets_topic import java_abs, java_hash, offsets_partition


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What we compute, in the form of the recorded output."""
    group = case["input"]["group_id"]
    counts = case["output"]["partition"]
    return {
        "hash_code": java_hash(group),
        "abs": java_abs(java_hash(group)),
        "partition": {count: offsets_partition(group, int(count)) for count in counts},
    }


def compare(case: dict[str, Any]) -> str | None:
    """None if we answer as Kafka did, else the first difference."""
    ours, kafka = answer(case), case["output"]
    for field in ("hash_code", "abs", "partition"):
        if ours[field] != kafka[field]:
            return f"{field} {ours[field]}, Kafka {kafka[field]}"
    return None
