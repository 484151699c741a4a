"""Records as they lie on a broker's disk: batches of format V2, uncompressed as our clients write them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from ...tuples import NamedTuple

_HEADER = struct.Struct(">qiibIhiqqqhii")
_CONTROL, _COMPRESSED = 0x20, 0x07


class Stored(NamedTuple):
    """Its batch lies from `begin` to `end` of the file; `control`: a marker, of a transaction for one."""

    offset: int
    timestamp: int
    value: bytes
    control: bool
    begin: int
    end: int


def stored_in(path: Path) -> Iterator[Stored]:
    """All whole batches of one file; one that is being written ends it."""
    data = path.read_bytes()
    at = 0
    while at + _HEADER.size <= len(data):
        base, length, _, magic, _, attributes, _, first, _, _, _, _, number = _HEADER.unpack_from(data, at)
        end = at + 12 + length
        if magic != 2 or end > len(data) or length <= 0:
            return
        control = bool(attributes & _CONTROL)
        if attributes & _COMPRESSED:
            # Its names cannot be told, how many they are can.
            for place in range(number):
                yield Stored(base + place, first, b"?", control, at, end)
        else:
            yield from _records(data, at, base, first, number, control, end)
        at = end


def _records(
    data: bytes, begin: int, base: int, first: int, number: int, control: bool, end: int
) -> Iterator[Stored]:
    at = begin + _HEADER.size
    for _ in range(number):
        length, at = varint(data, at)
        after = at + length
        stamp, inside = varint(data, at + 1)
        offset, inside = varint(data, inside)
        key, inside = varint(data, inside)
        inside += max(key, 0)
        value, inside = varint(data, inside)
        yield Stored(base + offset, first + stamp, data[inside : inside + max(value, 0)], control, begin, end)
        at = after


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A zigzag number and where it ends."""
    number, at = unsigned(data, at)
    return (number >> 1) ^ -(number & 1), at


def unsigned(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return number, at


def segments(folder: Path) -> list[Path]:
    """The files of one log, in order."""
    return sorted(folder.glob("*.log")) if folder.is_dir() else []
