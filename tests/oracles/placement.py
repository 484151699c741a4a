"""placement: AdminUtils, and the KRaft placer fed with the random numbers it drew."""

from __future__ import annotations

from typing import Any

from advisor.sim.placing.placement import Broker, PlacementError, assign_replicas, place_striped


class _Dice:
    """Gives the recorded draws back, and insists that they are asked for in the same order."""

    def __init__(self, calls: list[list[int]]) -> None:
        self.calls = calls
        self.used = 0

    def __call__(self, bound: int) -> int:
        if self.used == len(self.calls):
            raise LookupError(f"draw {self.used + 1} below {bound}, Kafka drew {self.used} times")
        recorded, value = self.calls[self.used]
        self.used += 1
        if recorded != bound:
            raise LookupError(f"draw {self.used} below {bound}, Kafka's below {recorded}")
        return value


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What we place, in the form of the recorded output; an error is its class alone."""
    given = case["input"]
    brokers = [Broker(b["id"], b["rack"], b.get("fenced", False)) for b in given["brokers"]]
    try:
        if given["algorithm"] == "striped":
            return {"replicas": _striped(case, brokers)}
        placed = assign_replicas(
            brokers,
            given["partitions"],
            given["replication_factor"],
            start_index=given["fixed_start_index"],
            start_partition=given["start_partition"],
        )
        return {"replicas": {str(partition): list(replicas) for partition, replicas in placed.items()}}
    except PlacementError as refused:
        return {"error": refused.error}


def _striped(case: dict[str, Any], brokers: list[Broker]) -> list[list[int]]:
    given = case["input"]
    dice = _Dice(case["output"]["random_calls"])
    placed = place_striped(
        brokers,
        given["partitions"],
        given["replication_factor"],
        next_int=dice,
        rack_order=given["rack_map_order"],
    )
    if dice.used != len(dice.calls):
        raise LookupError(f"{dice.used} draws, Kafka {len(dice.calls)}")
    return [list(replicas) for replicas in placed]


def compare(case: dict[str, Any]) -> str | None:
    """None if we place as Kafka did, or refuse with the same class, else the difference."""
    try:
        ours = answer(case)
    except LookupError as difference:
        return str(difference)
    kafka = case["output"]
    if "error" in kafka or "error" in ours:
        theirs = kafka.get("error", "no error").partition(":")[0]
        mine = ours.get("error", "no error")
        return None if mine == theirs else f"{mine}, Kafka {theirs}"
    return None if ours["replicas"] == kafka["replicas"] else f"{ours['replicas']}, Kafka {kafka['replicas']}"
