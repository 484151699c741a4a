"""Whole numbers: the one way from text to an int, and the limits that Kafka itself has.

Python's int() takes `1_000`, spaces and any number of digits, and isdigit() takes `²`, which int() then
refuses. Every value that somebody wrote is read here instead.
"""

from __future__ import annotations

SHORT = (-(2**15), 2**15 - 1)
INT = (-(2**31), 2**31 - 1)
LONG = (-(2**63), 2**63 - 1)
TYPES = {"short": SHORT, "int": INT, "long": LONG}

# Zeros may stand before a number, so this is more than the 19 digits of a long; beyond, it is no number.
_DIGITS_MAX = 400

# What is counted and is no configuration key: the largest that Kafka's protocol can carry. A replication
# factor is an int16 of CreateTopics; partitions, broker ids and the size of a group are int32.
COUNTS_MAX = {
    "topic.replication_factor": SHORT[1],
    "topic.partitions": INT[1],
    "cluster.brokers": INT[1],
    "pool.brokers": INT[1],
    "cluster.racks": INT[1],
    "group.members": INT[1],
}


def integer(text: str, bounds: tuple[int, int] = LONG) -> int | None:
    """Java's Integer.parseInt and its kin: a sign and decimal digits of any script, nothing else; None for
    every other text and for a number outside of `bounds`."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits or len(digits) > _DIGITS_MAX or not digits.isdecimal():
        return None
    if not digits.isascii() and any(ord(c) > 0xFFFF for c in digits):
        return None  # Java reads UTF-16 units one by one, and half of a pair is no digit
    value = -int(digits) if text[0] == "-" else int(digits)
    return value if bounds[0] <= value <= bounds[1] else None


def count(text: str | None, most: int = INT[1]) -> int | None:
    """A number of things, at least one: brokers, partitions, members."""
    return None if text is None else integer(text, (1, most))


def is_digits(text: str) -> bool:
    """ASCII digits and nothing else, of any number: a port, an index, a part of a version."""
    return text.isascii() and text.isdecimal()


def fact_count(name: str, text: str | None) -> int | None:
    """What a fact counts, within what Kafka can hold; None where it says no such number."""
    return count(text, COUNTS_MAX.get(name, INT[1]))
