"""The order in which java.util.HashMap and HashSet hand out what they hold, and Java's order of strings.

Some of Kafka's assignors walk hash maps, so who gets one partition more depends on the hash codes of member
ids. Within a bucket entries keep the order in which they came, also when the table grows; a bucket that was
made a tree (eight entries or more in a table of 64) is left out of the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ..placing.offsets_topic import java_hash

SMALLEST_TABLE = 16

TopicPartition = tuple[str, int]


@lru_cache(maxsize=65536)
def spread_hash(text: str) -> int:
    """The hash of a string as HashMap uses it: high bits folded into the low ones."""
    number = java_hash(text) & 0xFFFFFFFF
    return number ^ number >> 16


def spread_partition_hash(partition: TopicPartition) -> int:
    """TopicPartition.hashCode as HashMap uses it (the same formula in every release)."""
    number = (31 * (31 + partition[1]) + java_hash(partition[0])) & 0xFFFFFFFF
    return number ^ number >> 16


def spread_uuid_hash(most: int, least: int) -> int:
    """Uuid.hashCode as HashMap uses it, of the two halves as signed longs."""
    mixed = (most ^ least) & 0xFFFFFFFFFFFFFFFF
    number = (mixed >> 32 ^ mixed) & 0xFFFFFFFF
    return number ^ number >> 16


def table_size(entries: int, smallest: int = SMALLEST_TABLE) -> int:
    """Buckets of a table after `entries` were put into it one by one: it doubles when three quarters full."""
    size = smallest
    while entries > size * 3 // 4:
        size *= 2
    return size


def map_order(keys: Iterable[str]) -> list[str]:
    """Strings in the order in which a HashMap that they were put into holds them."""
    given = list(dict.fromkeys(keys))
    mask = table_size(len(given)) - 1
    return sorted(given, key=lambda key: spread_hash(key) & mask)


def computed_map_order(calls: Iterable[str]) -> list[str]:
    """The same for a HashMap filled by computeIfAbsent: it puts what is new at the head of its bucket, and
    looks whether the table is full before it does, at each call."""
    seen: dict[str, None] = {}
    table = SMALLEST_TABLE
    for key in calls:
        table = table_size(len(seen), table)
        seen.setdefault(key)
    newest_first = list(seen)[::-1]
    return sorted(newest_first, key=lambda key: spread_hash(key) & table - 1)


def number_set_order(numbers: Iterable[int]) -> list[int]:
    """Small numbers in the order of a HashSet<Integer>: ascending, until they outgrow the table."""
    given = list(dict.fromkeys(numbers))
    mask = table_size(len(given)) - 1
    return sorted(given, key=lambda number: (number ^ number >> 16) & mask)


class PartitionSet:
    """A HashSet<TopicPartition>, as far as its first entry is asked for. Its table never shrinks."""

    __slots__ = ("_hashes", "_table")

    def __init__(self) -> None:
        self._hashes: dict[TopicPartition, int] = {}
        self._table = SMALLEST_TABLE

    def add(self, partition: TopicPartition) -> None:
        if partition not in self._hashes:
            self._hashes[partition] = spread_partition_hash(partition)
            self._table = table_size(len(self._hashes), self._table)

    def remove(self, partition: TopicPartition) -> None:
        del self._hashes[partition]

    def __bool__(self) -> bool:
        return bool(self._hashes)

    def first(self) -> TopicPartition:
        mask = self._table - 1
        return min(self._hashes, key=lambda partition: self._hashes[partition] & mask)


def java_order(text: str) -> bytes:
    """A sort key: Java compares strings by UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def java_sorted(names: Iterable[str]) -> list[str]:
    """Strings in Java's natural order; for plain ASCII that is Python's."""
    given = list(names)
    return sorted(given) if all(name.isascii() for name in given) else sorted(given, key=java_order)
