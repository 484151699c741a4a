"""Hashes of many keys at once, one pass over all keys of one length.

The readable twins: `sim/placing/partitioner.py` (murmur2, fnv1a) and zlib's crc32.
"""

from __future__ import annotations

from itertools import pairwise
from zlib import crc32

import numpy as np

from .varints import Column

_M, _SEED = np.uint32(0x5BD1E995), 0x9747B28C


def hashes(letters: Column, offsets: Column, scheme: str) -> Column:
    """What the scheme takes the remainder of, from 0 to 2^32: see `partition_for`. Key n is the bytes of
    `letters` from offset n to the next, as Arrow has them."""
    lengths = np.diff(offsets)
    found = np.zeros(len(lengths), np.int64)
    if scheme.startswith("consistent"):
        whole, ends = letters.tobytes(), offsets.tolist()
        found[:] = [crc32(whole[begin:end]) for begin, end in pairwise(ends)]
        return found
    work = _fnv1a if scheme.startswith("fnv1a") else _murmur2
    for length in np.unique(lengths).tolist():
        places = np.flatnonzero(lengths == length)
        found[places] = work(letters[offsets[places][:, None] + np.arange(length)])
    return found


def _murmur2(keys: Column) -> Column:
    """Rows of bytes, all of one length; the sign bit is cleared as Utils.toPositive does."""
    count, length = keys.shape
    state = np.full(count, np.uint32(_SEED ^ length), np.uint32)
    whole = length & ~3
    with np.errstate(over="ignore"):
        words = (
            np.ascontiguousarray(keys[:, :whole]).view("<u4") if whole else np.empty((count, 0), np.uint32)
        )
        for column in range(words.shape[1]):
            word = words[:, column] * _M
            word = (word ^ (word >> np.uint32(24))) * _M
            state = (state * _M) ^ word
        if whole < length:
            rest = np.zeros(count, np.uint32)
            for place in range(whole, length):
                rest |= keys[:, place].astype(np.uint32) << np.uint32(8 * (place - whole))
            state = (state ^ rest) * _M
        state = (state ^ (state >> np.uint32(13))) * _M
        state ^= state >> np.uint32(15)
    found: Column = state.astype(np.int64) & 0x7FFFFFFF
    return found


def _fnv1a(keys: Column) -> Column:
    """The absolute value of the signed hash, as librdkafka has it."""
    state = np.full(keys.shape[0], 0x811C9DC5, np.uint32)
    with np.errstate(over="ignore"):
        for place in range(keys.shape[1]):
            state = (state ^ keys[:, place]) * np.uint32(0x01000193)
    found: Column = np.abs(state.view(np.int32).astype(np.int64))
    return found
