"""What the three compressors share: the four bytes at each position, and how far two positions agree."""

from __future__ import annotations


def words_of(data: bytes) -> list[int]:
    """The four bytes at each position, as one number; the last three positions have none."""
    shifted = zip(data, data[1:], data[2:], data[3:], strict=False)
    return [a | b << 8 | c << 16 | d << 24 for a, b, c, d in shifted]


def common_length(data: bytes, one: int, other: int, end: int) -> int:
    """How many bytes are equal from `one` and from `other` on, `other` staying before `end`."""
    start = other
    while other + 16 <= end and data[one : one + 16] == data[other : other + 16]:
        one, other = one + 16, other + 16
    while other < end and data[one] == data[other]:
        one, other = one + 1, other + 1
    return other - start
