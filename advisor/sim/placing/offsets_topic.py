"""Which partition of `__consumer_offsets` keeps a group, and so which broker coordinates it.

The coordinator is the leader of that partition: the group's name alone decides it, and a change of the
number of partitions (offsets.topic.num.partitions, 50 unless told) moves nearly every group.
"""

from __future__ import annotations

OFFSETS_PARTITIONS = 50
"""Kafka's default of offsets.topic.num.partitions."""


def java_hash(text: str) -> int:
    """String.hashCode: over UTF-16 code units, so a character beyond U+FFFF counts as two; a signed int."""
    units = text.encode("utf-16-be", "surrogatepass")
    number = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        number = (31 * number + (high << 8 | low)) & 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def java_abs(number: int) -> int:
    """Utils.abs: the absolute value of an int, and 0 for the one int that has none."""
    return 0 if number == -(1 << 31) else abs(number)


def offsets_partition(group_id: str, partitions: int = OFFSETS_PARTITIONS) -> int:
    """The partition of `__consumer_offsets` that holds the group's offsets (every release since 0.8.2)."""
    if partitions < 1:
        raise ValueError(f"a topic has at least one partition, not {partitions}")
    return java_abs(java_hash(group_id)) % partitions
