"""Which replicas share a rack: where brokers stand and Kafka's own placement give the worst partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from .model import Deployment

# Enough partitions that every broker leads one and every shift of the followers is seen.
_ROUNDS = 4
# A fact of this form is a fix that is tried: so many racks, and every broker names its own.
NAMED = "named "


class Racks(NamedTuple):
    """The rack of every broker, in order. Kafka places by rack only what is `named` in broker.rack."""

    of_brokers: tuple[str, ...]
    named: bool = True


def broker_racks(deployment: Deployment) -> Racks | None:
    """None where they are not known: a broker names none, or a template, and nobody states how many racks
    there are. Where they are stated and no broker names its own, brokers are taken to be dealt over them in
    turn, which is the best they can be."""
    facts = {fact.name: fact.value for fact in deployment.facts}
    stated = facts.get("cluster.racks", "")
    count = facts.get("cluster.brokers", "")
    brokers = int(count) if count.isdigit() else len(deployment.cluster)
    if stated.startswith(NAMED):
        return Racks(_dealt(brokers, int(stated.removeprefix(NAMED))))
    racks = []
    for document in deployment.cluster:
        found = [one.value for one in document.settings if one.key == "broker.rack"]
        if found and (not isinstance(found[0], str) or not found[0].strip()):
            return None
        racks += [str(value).strip() for value in found[:1]]
    if racks:
        return Racks(tuple(racks)) if len(racks) == len(deployment.cluster) > 1 else None
    in_sight = any(document.settings for document in deployment.cluster)
    if in_sight and stated.isdigit() and 1 < int(stated) < brokers:
        return Racks(_dealt(brokers, int(stated)), named=False)
    return None


def _dealt(brokers: int, racks: int) -> tuple[str, ...]:
    return tuple(f"rack-{number % racks + 1}" for number in range(brokers))


class Placed(NamedTuple):
    """The brokers of one partition in the order of assignment, and the racks they stand in."""

    brokers: tuple[int, ...]
    racks: tuple[str, ...]

    def crowded(self) -> int:
        return max(self.racks.count(rack) for rack in self.racks)


def worst_placement(racks: Racks, replicas: int, kraft: bool) -> Placed | None:
    """The partition with the most replicas in one rack; None where Kafka cannot place that many."""
    from .sim.placement import Broker, PlacementError

    names = racks.of_brokers
    numbers = {rack: number for number, rack in enumerate(dict.fromkeys(names))}
    brokers = [Broker(number, rack if racks.named else None) for number, rack in enumerate(names)]
    try:
        placed = [
            Placed(one, tuple(names[broker] for broker in one))
            for one in _placements(brokers, replicas, kraft, 1 if racks.named else len(names))
        ]
    except PlacementError:
        return None
    return max(placed, key=lambda one: (one.crowded(), [-numbers[rack] for rack in one.racks]))


def _placements(brokers: Sequence[Any], replicas: int, kraft: bool, throws: int) -> Iterator[tuple[int, ...]]:
    """Partitions as Kafka places them. It throws dice where to begin, so without racks every throw counts:
    the ZooKeeper controller draws the start and the distance of the followers, KRaft shuffles the brokers."""
    from .sim.placement import assign_replicas, place_striped

    partitions = _ROUNDS * len(brokers)
    for throw in range(throws):
        if kraft:
            yield from map(tuple, place_striped(brokers, partitions, replicas, next_int=_dice(throw)))
        else:
            yield from assign_replicas(
                brokers, partitions, replicas, start_index=0, replica_shift=throw
            ).values()


def _dice(throw: int) -> Callable[[int], int]:
    return lambda bound: throw % bound
