"""Groups: assigning 10,000 partitions to 500 members, ours against Kafka's own class."""

from __future__ import annotations

from typing import Any

from ._assigning import against_kafka


def run() -> dict[str, Any]:
    assigning = against_kafka()
    return {
        "name": "groups",
        "ratio": assigning.get("kafka_warm / ours", {}).get("start"),
        "goal": None,
        "others": {"assigning 10,000 partitions to 500 members": assigning},
    }
