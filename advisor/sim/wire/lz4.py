"""LZ4 as the Java client writes it: the frame of KIP-57 and the fast block compressor, byte for byte.

Blocks of 64 KiB, each for itself and without checksums. In a V0 message set the frame's header checksum
covers the magic number too, a mistake that was kept for old readers.
"""

from __future__ import annotations

import struct

from .matching import common_length, words_of

BLOCK_BYTES = 1 << 16
_MAGIC = struct.pack("<I", 0x184D2204)
_DESCRIPTOR = b"\x60\x40"  # version 1, independent blocks; blocks of 64 KiB
_UNCOMPRESSED = 0x80000000
_HASH_BITS = 13
_MIN_MATCH = 4
_LAST_LITERALS = 5
_SEARCH_END = 12


def frame(data: bytes, *, magic_in_checksum: bool = False) -> bytes:
    """The whole frame; a block that does not shrink is stored as it is."""
    checked = _MAGIC + _DESCRIPTOR if magic_in_checksum else _DESCRIPTOR
    parts = [_MAGIC, _DESCRIPTOR, bytes([_xxh32(checked) >> 8 & 0xFF])]
    for start in range(0, len(data), BLOCK_BYTES):
        block = data[start : start + BLOCK_BYTES]
        packed = compress_block(block)
        if len(packed) < len(block):
            parts += [struct.pack("<I", len(packed)), packed]
        else:
            parts += [struct.pack("<I", len(block) | _UNCOMPRESSED), block]
    parts.append(bytes(4))
    return b"".join(parts)


def _xxh32(data: bytes) -> int:
    """XXH32 with seed 0 of fewer than 16 bytes, all that a frame header needs."""
    prime1, prime2, prime3, prime4, prime5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    number = prime5 + len(data) & 0xFFFFFFFF
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        number = number + int.from_bytes(data[at : at + 4], "little") * prime3 & 0xFFFFFFFF
        number = ((number << 17 | number >> 15) & 0xFFFFFFFF) * prime4 & 0xFFFFFFFF
    for byte in data[whole:]:
        number = number + byte * prime5 & 0xFFFFFFFF
        number = ((number << 11 | number >> 21) & 0xFFFFFFFF) * prime1 & 0xFFFFFFFF
    number = (number ^ number >> 15) * prime2 & 0xFFFFFFFF
    number = (number ^ number >> 13) * prime3 & 0xFFFFFFFF
    return number ^ number >> 16


def _length(number: int) -> bytes:
    return b"\xff" * (number // 255) + bytes([number % 255])


def _sequence(literals: bytes, offset: int, match: int) -> bytes:
    """Literals, then a copy of `match` bytes from `offset` back; the last sequence has no copy (0)."""
    count, extra = len(literals), match - _MIN_MATCH if match else 0
    out = bytes([min(count, 15) << 4 | min(extra, 15)])
    if count >= 15:
        out += _length(count - 15)
    out += literals
    if match:
        out += struct.pack("<H", offset)
        if extra >= 15:
            out += _length(extra - 15)
    return out


def compress_block(data: bytes) -> bytes:
    """One block of at most 64 KiB: the first match a hash table of positions offers is taken, and the longer
    none is found the larger the steps (LZ4_compress_fast, acceleration 1)."""
    size = len(data)
    search_end, match_end = size - _SEARCH_END + 1, size - _LAST_LITERALS
    out: list[bytes] = []
    anchor = 0
    if size > _SEARCH_END:
        words = words_of(data)
        hashes = [(word * 2654435761 & 0xFFFFFFFF) >> 32 - _HASH_BITS for word in words]
        table = [0] * (1 << _HASH_BITS)
        at = 1
        while True:
            following, step, tries = at, 1, 64
            while True:
                at, following = following, following + step
                step = tries >> 6
                tries += 1
                if following > search_end:
                    break
                place = hashes[at]
                candidate, table[place] = table[place], at
                if words[candidate] == words[at]:
                    break
            if following > search_end:
                break
            while at > anchor and candidate > 0 and data[at - 1] == data[candidate - 1]:
                at, candidate = at - 1, candidate - 1
            while True:
                start = at
                at += _MIN_MATCH + common_length(data, candidate + _MIN_MATCH, at + _MIN_MATCH, match_end)
                out.append(_sequence(data[anchor:start], start - candidate, at - start))
                anchor = at
                if at >= search_end:
                    break
                table[hashes[at - 2]] = at - 2
                place = hashes[at]
                candidate, table[place] = table[place], at
                if words[candidate] != words[at]:
                    break
            if at >= search_end:
                break
            at += 1
    out.append(_sequence(data[anchor:], 0, 0))
    return b"".join(out)
