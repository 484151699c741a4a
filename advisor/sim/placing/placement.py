"""Where the replicas of a new topic go: the two algorithms of Kafka, without their dice.

`assign_replicas` is AdminUtils of the ZooKeeper controller (KIP-36 made it rack aware in 0.10; the same in
every release up to 3.9). `place_striped` is StripedReplicaPlacer of the KRaft controller (2.8 on). Both
begin at random places; here the caller names them, and the defaults are fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ...tuples import NamedTuple

_T = TypeVar("_T")
NextInt = Callable[[int], int]
"""Java's Random.nextInt: given a bound, a number from 0 to before it."""


class Broker(NamedTuple):
    id: int
    rack: str | None = None
    fenced: bool = False


class PlacementError(ValueError):
    """Kafka refuses to place the replicas; `error` is the class it answers with."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(message)
        self.error = error


def _bad_factor(message: str) -> PlacementError:
    return PlacementError("InvalidReplicationFactorException", message)


def _java_order(text: str) -> bytes:
    """Java compares strings by UTF-16 code units, so a rack named with an emoji sorts before U+FFFD."""
    return text.encode("utf-16-be", "surrogatepass")


def assign_replicas(
    brokers: Sequence[Broker],
    partitions: int,
    replication_factor: int,
    *,
    start_index: int = 0,
    replica_shift: int | None = None,
    start_partition: int = 0,
) -> dict[int, tuple[int, ...]]:
    """Replicas of each partition as AdminUtils places them, the preferred leader first.

    The first replicas go round the broker list from `start_index`; the others follow at a distance that
    grows by one each time the partitions have gone round the brokers, so that the load of a lost broker is
    spread. With racks, the brokers are dealt rack by rack, and no rack gets a second replica before each
    has one. Kafka draws start index and shift at random; a fixed start index fixes both.
    """
    if partitions <= 0:
        raise PlacementError("InvalidPartitionsException", f"{partitions} partitions: at least one is needed")
    if replication_factor <= 0:
        raise _bad_factor(f"replication factor {replication_factor}: at least 1 is needed")
    if replication_factor > len(brokers):
        raise _bad_factor(f"replication factor {replication_factor} with {len(brokers)} brokers")
    racks = {broker.id: broker.rack for broker in brokers if broker.rack is not None}
    if racks and len(racks) < len({broker.id for broker in brokers}):
        without = ", ".join(str(broker.id) for broker in brokers if broker.rack is None)
        raise PlacementError("AdminOperationException", f"some brokers have a rack, but not {without}")
    order = rack_alternated(racks) if racks else [broker.id for broker in brokers]
    shift = start_index if replica_shift is None else replica_shift
    placed: dict[int, tuple[int, ...]] = {}
    first_id = max(0, start_partition)
    for partition in range(first_id, first_id + partitions):
        if partition > 0 and partition % len(order) == 0:
            shift += 1
        first = (partition + start_index) % len(order)
        if racks:
            placed[partition] = _spread_over_racks(order, racks, first, shift, replication_factor)
        else:
            followers = (order[_follower(first, shift, n, len(order))] for n in range(replication_factor - 1))
            placed[partition] = (order[first], *followers)
    return placed


def _follower(first: int, shift: int, nth: int, brokers: int) -> int:
    """Position of the nth follower: never the leader's own, hence the modulus of one less."""
    return (first + 1 + (shift + nth) % (brokers - 1)) % brokers


def _spread_over_racks(
    order: Sequence[int], racks: Mapping[int, str], first: int, shift: int, replication_factor: int
) -> tuple[int, ...]:
    rack_count = len(set(racks.values()))
    replicas = [order[first]]
    nth = 0
    while len(replicas) < replication_factor:
        broker = order[_follower(first, shift * rack_count, nth, len(order))]
        nth += 1
        used = {racks[replica] for replica in replicas}
        fresh_rack = racks[broker] not in used or len(used) == rack_count
        if fresh_rack and broker not in replicas:
            replicas.append(broker)
    return tuple(replicas)


def rack_alternated(racks: Mapping[int, str]) -> list[int]:
    """Brokers dealt out rack by rack: racks in order of their names, the brokers of each by id."""
    by_rack: dict[str, list[int]] = {}
    for broker in sorted(racks):
        by_rack.setdefault(racks[broker], []).append(broker)
    columns = [by_rack[rack] for rack in sorted(by_rack, key=_java_order)]
    longest = max((len(column) for column in columns), default=0)
    return [column[row] for row in range(longest) for column in columns if row < len(column)]


def lowest(bound: int) -> int:
    """The default dice of `place_striped`: every start offset 0, every shuffle the same."""
    return 0


def place_striped(
    brokers: Iterable[Broker],
    partitions: int,
    replication_factor: int,
    *,
    next_int: NextInt = lowest,
    rack_order: Sequence[str | None] | None = None,
) -> list[tuple[int, ...]]:
    """Replicas of each partition as the KRaft controller stripes them over the racks, the leader first.

    Each partition begins at the next rack, and within a rack at the next broker; fenced brokers are taken
    only when a rack has no other left, and never as the leader. After as many partitions as there are
    unfenced brokers everything is shuffled. `rack_order` is the order in which a Java HashMap holds the
    racks, which decides the order of the random draws; without it, racks are sorted.
    """
    stripes = _Stripes.of(brokers, next_int, rack_order)
    if replication_factor <= 0:
        raise _bad_factor(f"replication factor {replication_factor}: at least 1 is needed")
    if stripes.unfenced == 0:
        raise _bad_factor("every broker is fenced")
    if replication_factor > stripes.total:
        raise _bad_factor(f"replication factor {replication_factor} with {stripes.total} brokers")
    return [stripes.place(replication_factor) for _ in range(partitions)]


@dataclass(slots=True)
class _Ring:
    """Brokers of one rack, fenced or unfenced, walked once per partition from an offset that moves by one."""

    brokers: list[int] = field(default_factory=list)
    offset: int = 0
    taken: int = 0
    epoch: int = 0

    def take(self, epoch: int) -> int | None:
        # The offset moves when the ring is first asked in a new epoch, so a ring that was not asked stays.
        if self.brokers and self.epoch != epoch:
            self.epoch, self.taken = epoch, 0
            self.offset = (self.offset + 1) % len(self.brokers)
        if self.taken >= len(self.brokers):
            return None
        self.taken += 1
        return self.brokers[(self.taken - 1 + self.offset) % len(self.brokers)]


@dataclass(slots=True)
class _Rack:
    fenced: _Ring = field(default_factory=_Ring)
    unfenced: _Ring = field(default_factory=_Ring)

    def rings(self) -> tuple[_Ring, _Ring]:
        """In the order in which Kafka draws for them."""
        return self.fenced, self.unfenced

    def take(self, epoch: int) -> int | None:
        broker = self.unfenced.take(epoch)
        return self.fenced.take(epoch) if broker is None else broker


def _shuffle(items: list[_T], next_int: NextInt) -> None:
    """java.util.Collections.shuffle."""
    for size in range(len(items), 1, -1):
        other = next_int(size)
        items[size - 1], items[other] = items[other], items[size - 1]


@dataclass(slots=True)
class _Stripes:
    racks: dict[str | None, _Rack]
    names: list[str | None]
    next_int: NextInt
    offset: int
    total: int
    unfenced: int
    epoch: int = 0

    @classmethod
    def of(
        cls, brokers: Iterable[Broker], next_int: NextInt, rack_order: Sequence[str | None] | None
    ) -> _Stripes:
        known: dict[str | None, _Rack] = {}
        for broker in sorted(brokers, key=lambda broker: broker.id):
            rack = known.setdefault(broker.rack, _Rack())
            (rack.fenced if broker.fenced else rack.unfenced).brokers.append(broker.id)
        # Brokers without a rack share one nameless rack, which sorts first.
        names = sorted(known, key=lambda name: (name is not None, _java_order(name or "")))
        racks = {name: known[name] for name in (names if rack_order is None else rack_order)}
        for rack in racks.values():
            for ring in rack.rings():
                if ring.brokers:
                    ring.offset = next_int(len(ring.brokers))
        return cls(
            racks=racks,
            names=names,
            next_int=next_int,
            offset=next_int(len(names)) if names else 0,
            total=sum(len(ring.brokers) for rack in racks.values() for ring in rack.rings()),
            unfenced=sum(len(rack.unfenced.brokers) for rack in racks.values()),
        )

    def place(self, replication_factor: int) -> tuple[int, ...]:
        # With a single unfenced broker the epoch is never taken back: its ring would not be walked again.
        if self.epoch == self.unfenced and self.unfenced > 1:
            self._shuffle_all()
            self.epoch = 0
        self.offset %= len(self.names)
        leader_rack, leader = self._leader()
        replicas = [leader]
        turn = self.offset
        leader_rack_passed = False
        while len(replicas) < replication_factor:
            # The leader's rack has had its turn in the first round; after that it is a rack like the others.
            if turn == leader_rack and not leader_rack_passed:
                leader_rack_passed = True
            else:
                broker = self.racks[self.names[turn]].take(self.epoch)
                if broker is not None:
                    replicas.append(broker)
            turn = (turn + 1) % len(self.names)
        self.epoch += 1
        self.offset += 1
        return tuple(replicas)

    def _leader(self) -> tuple[int, int]:
        """The first rack from the offset on that has an unfenced broker left, and that broker."""
        for step in range(len(self.names)):
            rack = (self.offset + step) % len(self.names)
            broker = self.racks[self.names[rack]].unfenced.take(self.epoch)
            if broker is not None:
                return rack, broker
        raise AssertionError("an unfenced broker exists")

    def _shuffle_all(self) -> None:
        _shuffle(self.names, self.next_int)
        for rack in self.racks.values():
            for ring in rack.rings():
                _shuffle(ring.brokers, self.next_int)


def surviving_replicas(
    replicas: Iterable[int], racks: Mapping[int, str | None], lost_rack: str | None
) -> tuple[int, ...]:
    """The replicas left when every broker of `lost_rack` is gone, in their order.

    Brokers without a rack are taken to share one (`None`), as the striped placer takes them: nothing is known
    that keeps them from failing together.
    """
    return tuple(replica for replica in replicas if racks.get(replica) != lost_rack)


def rack_lost(
    assignment: Iterable[Sequence[int]], racks: Mapping[int, str | None]
) -> dict[str | None, tuple[tuple[int, ...], ...]]:
    """For each rack that may be lost: the surviving replicas of each partition of `assignment`."""
    partitions = [tuple(replicas) for replicas in assignment]
    names = sorted(set(racks.values()), key=lambda name: (name is not None, _java_order(name or "")))
    return {
        name: tuple(surviving_replicas(replicas, racks, name) for replicas in partitions) for name in names
    }


def fewest_survivors(assignment: Iterable[Sequence[int]], racks: Mapping[int, str | None]) -> int:
    """How many replicas the worst-placed partition keeps when the worst rack is lost."""
    lost = rack_lost(assignment, racks)
    return min((len(replicas) for partitions in lost.values() for replicas in partitions), default=0)
