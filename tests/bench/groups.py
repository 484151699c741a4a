"""Groups: a large one rolled twice, against SimPy; assigning partitions, against Kafka's own class."""

from __future__ import annotations

from typing import Any

from ._assigning import against_kafka
from ._rolling import against_simpy


def run() -> dict[str, Any]:
    rolled = against_simpy()
    return {
        "name": "groups",
        "ratio": rolled["ratio"],
        "goal": 8,
        "rolled": rolled,
        "others": {"assigning 10,000 partitions to 500 members": against_kafka()},
    }
