"""partitioner: murmur2 of a key, and its partition for several partition counts."""

from __future__ import annotations

from typing import Any

from advisor.sim.placing.partitioner import murmur2, partition_for, positive


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What we compute, in the form of the recorded output."""
    key = bytes.fromhex(case["input"]["key_hex"])
    counts = case["output"]["partition"]
    return {
        "murmur2": murmur2(key),
        "positive": positive(murmur2(key)),
        "partition": {count: partition_for(key, int(count), "java") for count in counts},
    }


def compare(case: dict[str, Any]) -> str | None:
    """None if we answer as Kafka did, else the first difference."""
    ours, kafka = answer(case), case["output"]
    for field in ("murmur2", "positive", "partition"):
        if ours[field] != kafka[field]:
            return f"{field} {ours[field]}, Kafka {kafka[field]}"
    return None
