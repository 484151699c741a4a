"""Who gets which partition in a rebalance: Kafka's assignors over partitions that are plain numbers.

Members are `Seat`s in the order in which an assignor sorts them (by group.instance.id, else by member id).
Partitions count through the topics: of topics with 4 and 2 partitions, number 5 is the second topic's 1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from ...tuples import NamedTuple
from ..assign import assignors
from ..assign import server as server_assignors
from ..assign.assignors import Assignor
from ..assign.members import NEVER, Member, Metadata

UNIFORM, SERVER_RANGE = "uniform", "server-range"
_SERVER = {UNIFORM: "uniform", SERVER_RANGE: "range"}


class Seat(NamedTuple):
    member: int
    owned: tuple[int, ...] = ()


Plan = dict[int, tuple[int, ...]]


class OwnAssignors(NamedTuple):
    """Assignors that are not Kafka's, by the names that strategies have; `mark` is another one for every text
    of their code, and stands for it where an answer is remembered."""

    functions: tuple[tuple[str, Assignor], ...] = ()
    mark: str = ""

    def __repr__(self) -> str:
        return f"OwnAssignors({[name for name, _ in self.functions]}, {self.mark!r})"

    @property
    def cooperative(self) -> frozenset[str]:
        return frozenset(name for name, function in self.functions if getattr(function, "cooperative", False))


NO_OWN = OwnAssignors()


def plan(
    strategy: str, seats: Sequence[Seat], topics: tuple[int, ...], own: OwnAssignors | None = None
) -> Plan:
    """What each member is to read; of a cooperative step what it may read already."""
    given = _assigned(strategy, tuple(seat.owned for seat in seats), topics, own or NO_OWN)
    return {seat.member: partitions for seat, partitions in zip(seats, given, strict=True)}


def plan_anew(
    strategy: str, members: Sequence[int], topics: tuple[int, ...], own: OwnAssignors | None = None
) -> Plan:
    """The same for members that own nothing, or whose assignor does not ask."""
    given = _assigned(strategy, ((),) * len(members), topics, own or NO_OWN)
    return dict(zip(members, given, strict=True))


@lru_cache(maxsize=1024)
def _assigned(
    strategy: str, owned: tuple[tuple[int, ...], ...], topics: tuple[int, ...], own: OwnAssignors
) -> tuple[tuple[int, ...], ...]:
    firsts = (0, *accumulate(topics))
    names = tuple(f"t{number:03d}" for number in range(len(topics)))
    ids = [f"m{place:05d}" for place in range(len(owned))]
    counts = dict(zip(names, topics, strict=True))

    def pair(partition: int) -> tuple[str, int]:
        topic = bisect_right(firsts, partition) - 1
        return names[topic], partition - firsts[topic]

    pairs = [[pair(partition) for partition in mine] for mine in owned]
    if strategy in _SERVER:
        members = []
        for name, mine in zip(ids, pairs, strict=True):
            current: dict[str, list[int]] = {}
            for topic, number in mine:
                current.setdefault(topic, []).append(number)
            members.append(server_assignors.ServerMember(name, frozenset(names), current))
        found = server_assignors.flat(server_assignors.assign(_SERVER[strategy], members, counts))
    else:
        clients = [
            Member(name, names, tuple(mine), generation=1 if mine else NEVER)
            for name, mine in zip(ids, pairs, strict=True)
        ]
        found = assignors.assign(strategy, clients, Metadata(counts), own=dict(own.functions))
    place = dict(zip(names, firsts, strict=False))
    return tuple(
        tuple(sorted(place[topic] + number for topic, number in found.get(name, ()))) for name in ids
    )
