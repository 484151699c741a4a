"""How a running group gets from one list of assignors to another: rolled once, twice, or stopped first.

The simulator's coordinator decides: a list is rolled out if nobody is refused on the way. Since 3.0 the
default list names cooperative-sticky behind range, so one roll takes the first away; from a list without it
one roll adds it in front, and a second takes the old one away.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

STRATEGY = "partition.assignment.strategy"
_PACKAGE = "org.apache.kafka.clients.consumer."
NAMES = {
    f"{_PACKAGE}RangeAssignor": "range",
    f"{_PACKAGE}RoundRobinAssignor": "roundrobin",
    f"{_PACKAGE}StickyAssignor": "sticky",
    f"{_PACKAGE}CooperativeStickyAssignor": "cooperative-sticky",
}
CLASSES = {name: word for word, name in NAMES.items()}
_MEMBERS, _PARTITIONS = 3, 6

Names = tuple[str, ...]


def lists_between(before: Names, after: Names, librdkafka: bool = False) -> list[Names]:
    """The lists to be rolled out one after the other, the last being `after`; empty where the group has to be
    stopped. librdkafka refuses a list that mixes eager and cooperative assignors."""
    from ...sim.groups.roll import Kind, roll

    both = (*after, *(name for name in before if name not in after))
    mixed = librdkafka and "cooperative-sticky" in both and len(both) > 1
    for lists in ([after], [both, after]):
        if both in lists[:-1] and mixed:
            continue
        kinds = [Kind(one) for one in (before, *lists)]
        if all(roll(*pair, _MEMBERS, _PARTITIONS).refused is None for pair in pairwise(kinds)):
            return lists
    return []


def written(names: Names, librdkafka: bool = False) -> str:
    """A list as it stands in a file."""
    spelt: Mapping[str, str] = {} if librdkafka else CLASSES
    return ",".join(spelt.get(name, name) for name in names)


def advice(before: Names, after: Names, librdkafka: bool = False) -> Names:
    """What to do, in order."""
    lists = lists_between(before, after, librdkafka)
    if not lists:
        return ("stop every member, then start them all with the new list",)
    if len(lists) == 1:
        return (
            f"one roll is enough, as every member lists {after[0]} already: "
            f"{STRATEGY}={written(after, librdkafka)}",
        )
    return (
        f"first roll: {STRATEGY}={written(lists[0], librdkafka)} on every member",
        f"second roll, when all run the first: {STRATEGY}={written(after, librdkafka)}",
    )
