"""Which replicas share a rack: where brokers stand and Kafka's own placement give the worst partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..model import Deployment
from ..syntax.numbers import fact_count
from ..tuples import NamedTuple
from .controllers import holds_partitions

# Enough partitions that every broker leads one and every shift of the followers is seen.
_ROUNDS = 4
# Every throw of Kafka's dice is tried where racks are not named: of more brokers nothing is asked.
BROKERS_PLACED_MAX = 100
# A fact of this form is a fix that is tried: so many racks, and every broker names its own.
NAMED = "named "


class Racks(NamedTuple):
    """Where every broker stands, in order, and what Kafka knows of it: the rack it names in broker.rack."""

    of_brokers: tuple[str, ...]
    names: tuple[str | None, ...]

    @property
    def named(self) -> bool:
        return None not in self.names


# Brokers that name no rack, too many to place by trying.
TOO_MANY = Racks((), ())


def all_named(racks: tuple[str, ...]) -> Racks:
    return Racks(racks, racks)


def broker_racks(deployment: Deployment) -> Racks | None:
    """None where they are not known: a broker names none, or a template, and nobody states how many racks
    there are. Where that is stated, brokers that name none are taken to stand where there is most room, which
    is the best they can do; TOO_MANY where there are more of them than are placed."""
    facts = {fact.name: fact.value for fact in deployment.facts}
    stated = facts.get("cluster.racks", "")
    cluster = [document for document in deployment.cluster if holds_partitions(document)]
    brokers = fact_count("cluster.brokers", facts.get("cluster.brokers")) or len(cluster)
    racks = fact_count("cluster.racks", stated.removeprefix(NAMED))
    if stated.startswith(NAMED) and racks is not None and brokers <= BROKERS_PLACED_MAX:
        return all_named(_settled((None,) * brokers, racks))
    names: list[str | None] = []
    for document in cluster:
        found = next((one.value for one in document.settings if one.key == "broker.rack"), None)
        if found is not None and (not isinstance(found, str) or not found.strip()):
            return None
        names.append(found.strip() if isinstance(found, str) else None)
    if not any(document.settings for document in cluster) and racks is not None and 1 < racks < brokers:
        # Nobody sees the brokers: as well placed as can be, each naming its rack.
        return all_named(_settled((None,) * brokers, racks)) if brokers <= BROKERS_PLACED_MAX else None
    if None not in names:
        return all_named(tuple(filter(None, names))) if len(names) > 1 else None
    if not any(document.settings for document in cluster) or racks is None:
        return None
    if brokers > BROKERS_PLACED_MAX:
        return TOO_MANY
    known = (*names, *(None,) * (brokers - len(names)))
    return Racks(_settled(known, racks), known) if 1 < racks < len(known) else None


def _settled(names: Sequence[str | None], count: int) -> tuple[str, ...]:
    """A rack for every broker: its own, else the emptiest of `count`, the first of several."""
    racks = list(dict.fromkeys(name for name in names if name is not None))
    racks += [f"rack-{number}" for number in range(len(racks) + 1, count + 1)]
    crowd = {rack: names.count(rack) for rack in racks}
    settled = []
    for name in names:
        if name is None:
            name = min(racks, key=lambda rack: crowd[rack])
            crowd[name] += 1
        settled.append(name)
    return tuple(settled)


class Placed(NamedTuple):
    """The brokers of one partition in the order of assignment, and the racks they stand in."""

    brokers: tuple[int, ...]
    racks: tuple[str, ...]

    def crowded(self) -> int:
        return max(self.racks.count(rack) for rack in self.racks)


def worst_placement(racks: Racks, replicas: int, kraft: bool) -> Placed | None:
    """The partition with the most replicas in one rack; None where Kafka cannot place that many."""
    from ..sim.placing.placement import Broker, PlacementError

    names = racks.of_brokers
    numbers = {rack: number for number, rack in enumerate(dict.fromkeys(names))}
    brokers = [Broker(number, name) for number, name in enumerate(racks.names)]
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
    from ..sim.placing.placement import assign_replicas, place_striped

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
