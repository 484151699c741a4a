"""Snappy as the Java client writes it: snappy-java's stream of blocks, and Google's block compressor.

A stream header of 16 bytes, then blocks of 32 KiB with their compressed length in 4 bytes. A block is never
stored as it is: data that does not compress grows a little.
"""

from __future__ import annotations

import struct

from .matching import common_length, words_of
from .varint import unsigned_varint

BLOCK_BYTES = 1 << 15
_HEADER = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
_MARGIN = 15
_TABLE_BITS_MAX = 14


def stream(data: bytes) -> bytes:
    parts = [_HEADER]
    for start in range(0, len(data), BLOCK_BYTES):
        packed = compress_block(data[start : start + BLOCK_BYTES])
        parts += [struct.pack(">i", len(packed)), packed]
    return b"".join(parts)


def _literal(data: bytes) -> bytes:
    rest = len(data) - 1
    if rest < 60:
        return bytes([rest << 2]) + data
    width = (rest.bit_length() + 7) // 8
    return bytes([59 + width << 2]) + rest.to_bytes(width, "little") + data


def _copy_once(offset: int, size: int) -> bytes:
    if size < 12 and offset < 2048:
        return bytes([1 | size - 4 << 2 | offset >> 8 << 5, offset & 0xFF])
    return bytes([2 | size - 1 << 2]) + struct.pack("<H", offset)


def _copy(offset: int, size: int) -> bytes:
    """A copy of at most 64 bytes at a time, split so that none is shorter than 4."""
    out = b""
    while size >= 68:
        out += _copy_once(offset, 64)
        size -= 64
    if size > 64:
        out += _copy_once(offset, 60)
        size -= 60
    return out + _copy_once(offset, size)


def compress_block(data: bytes) -> bytes:
    """One block of at most 32 KiB with its length before it (snappy 1.1.10, without hardware hashing)."""
    size = len(data)
    out = [unsigned_varint(size)]
    emitted = 0
    if size >= _MARGIN:
        bits = min(max((size - 1).bit_length(), 8), _TABLE_BITS_MAX)
        mask = (1 << bits) - 1
        words = words_of(data)
        hashes = [(word * 0x1E35A7BD & 0xFFFFFFFF) >> 31 - _TABLE_BITS_MAX + 1 & mask for word in words]
        table = [0] * (1 << bits)
        limit = size - _MARGIN
        at = 0
        while at < limit or at == 0:
            found, candidate = _find(words, hashes, table, at + 1, limit)
            if found < 0:
                break
            out.append(_literal(data[emitted:found]))
            at = found
            while True:
                length = 4 + common_length(data, candidate + 4, at + 4, size)
                out.append(_copy(at - candidate, length))
                at += length
                emitted = at
                if at >= limit:
                    break
                table[hashes[at - 1]] = at - 1
                place = hashes[at]
                candidate, table[place] = table[place], at
                if words[candidate] != words[at]:
                    break
    if emitted < size:
        out.append(_literal(data[emitted:]))
    return b"".join(out)


def _find(words: list[int], hashes: list[int], table: list[int], at: int, limit: int) -> tuple[int, int]:
    """(position, earlier position of the same four bytes), or -1: every byte of the next 16 is tried, then
    in steps that grow."""
    skip = 32
    if limit - at >= 16:
        for near in range(at, at + 16):
            place = hashes[near]
            candidate, table[place] = table[place], near
            if words[candidate] == words[near]:
                return near, candidate
        at += 16
        skip += 16
    while True:
        step = skip >> 5
        skip += step
        if at + step > limit:
            return -1, 0
        place = hashes[at]
        candidate, table[place] = table[place], at
        if words[candidate] == words[at]:
            return at, candidate
        at += step
