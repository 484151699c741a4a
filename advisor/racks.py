"""Which replicas share a rack: the brokers' racks and Kafka's own placement give the worst partition."""

from __future__ import annotations

from collections.abc import Sequence

from .model import Deployment

# Enough partitions that every broker leads one and every shift of the followers is seen.
_ROUNDS = 4


def broker_racks(deployment: Deployment) -> tuple[str, ...] | None:
    """The rack of every broker in sight, in order; None where one of them names none, or a template."""
    racks = []
    for document in deployment.cluster:
        found = [one.value for one in document.settings if one.key == "broker.rack"]
        if not found or not isinstance(found[0], str) or not found[0].strip():
            return None
        racks.append(found[0].strip())
    return tuple(racks) if len(racks) > 1 else None


def worst_placement(racks: Sequence[str], replicas: int, kraft: bool) -> tuple[int, ...] | None:
    """The racks of the replicas of the partition with the most of them in one rack, numbered in the order of
    assignment; None where Kafka cannot place that many."""
    from .sim.placement import Broker, PlacementError, assign_replicas, place_striped

    brokers = [Broker(number, rack, False) for number, rack in enumerate(racks)]
    partitions = _ROUNDS * len(brokers)
    try:
        if kraft:
            assignments = [tuple(one) for one in place_striped(brokers, partitions, replicas)]
        else:
            placed = assign_replicas(brokers, partitions, replicas)
            assignments = [tuple(one) for one in placed.values()]
    except PlacementError:
        return None
    numbers = {rack: number for number, rack in enumerate(dict.fromkeys(racks))}
    shared = [tuple(numbers[racks[broker]] for broker in assignment) for assignment in assignments]
    return max(shared, key=lambda one: (max(one.count(rack) for rack in one), [-rack for rack in one]))
