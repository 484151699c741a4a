"""How large zstd makes a batch at its default level (3), without the library: an estimate.

The matches are found as the library finds them (double fast: one hash table of 8 bytes, one of 5, and the
last two offsets). Literals are counted with the lengths of a Huffman code, sequences with the logarithms of
their probabilities in place of the coder's states; so the size is nearly right, and the bytes themselves
are not made. Frames are those of a stream: no content size, no checksum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate
from math import ceil, log2

from ...tuples import NamedTuple
from .matching import common_length, words_of

_FRAME_HEADER = 6
_BLOCK_HEADER = 3
_BLOCK_BYTES = 1 << 17
_LONG_BITS, _SHORT_BITS = 17, 16
_STEP_EVERY = 256

# Extra bits of the codes for literal lengths above 15 and match lengths above 34, and where each begins.
_LITERAL_BITS = (1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
_MATCH_BITS = (1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)

# Slots of each code in the predefined tables (RFC 8878, 3.1.1.3.2.2).
_LITERAL_SLOTS = (4, 3, *[2] * 11, 1, 1, 1, *[2] * 9, 3, 2, *[1] * 9)
_MATCH_SLOTS = (1, 4, 3, *[2] * 6, *[1] * 44)
_OFFSET_SLOTS = (*[1] * 6, 2, 2, 2, *[1] * 20)


def _codes(plain: int, extra: Sequence[int], most: int) -> list[tuple[int, int]]:
    """(code, extra bits) of every length up to `most`."""
    table = [(length, 0) for length in range(plain)]
    for code, bits in enumerate(extra, plain):
        table += [(code, bits)] * min(1 << bits, most + 1 - len(table))
    return table


_LITERAL_CODES = _codes(16, _LITERAL_BITS, _BLOCK_BYTES)
_MATCH_CODES = _codes(32, _MATCH_BITS, _BLOCK_BYTES)


class Copy(NamedTuple):
    """Literals, then a copy; `offset_base` is 1 for the last offset again, else the offset and 3."""

    literals: int
    offset_base: int
    match: int


def compressed_size(data: bytes) -> int:
    """Bytes of a zstd frame that holds `data`, estimated."""
    finder = _Finder(data)
    # The client flushes before it closes, so that an empty block ends the frame.
    size = _FRAME_HEADER + _BLOCK_HEADER
    lengths: Mapping[int, int] = {}
    for start in range(0, len(data), _BLOCK_BYTES):
        end = min(start + _BLOCK_BYTES, len(data))
        sequences, literals = finder.block(start, end)
        packed, used = _literals_size(literals, lengths, len(sequences))
        packed += _sequences_size(sequences)
        if packed >= end - start - _least_gain(end - start):
            packed = end - start
        else:
            lengths = used
        size += _BLOCK_HEADER + packed
    return size


def _least_gain(size: int) -> int:
    return (size >> 6) + 2


class _Finder:
    """The tables of positions, kept from block to block."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.words = words = words_of(data)
        doubles = [low | high << 32 for low, high in zip(words, words[4:], strict=False)]
        self.doubles = doubles
        mask = (1 << 64) - 1
        self.long_hash = [(d * 0xCF1BBCDCB7A56463 & mask) >> 64 - _LONG_BITS for d in doubles]
        self.short_hash = [((d << 24 & mask) * 889523592379 & mask) >> 64 - _SHORT_BITS for d in doubles]
        self.long_at = [0] * (1 << _LONG_BITS)
        self.short_at = [0] * (1 << _SHORT_BITS)
        self.last, self.before = 1, 4

    def block(self, start: int, end: int) -> tuple[list[Copy], bytes]:
        """The sequences of one block, and all its literals."""
        data, words = self.data, self.words
        found: list[Copy] = []
        literals: list[bytes] = []
        anchor, at = start, max(start, 1)
        limit = end - 8
        kept_last, kept_before = self.last, self.before
        self.last = self.last if self.last <= at else 0
        self.before = self.before if self.before <= at else 0
        while True:
            hit = self._search(at, anchor, limit, end)
            if hit is None:
                break
            searched, at, offset, length = hit
            literals.append(data[anchor:at])
            if offset:
                self.before, self.last = self.last, offset
            found.append(Copy(at - anchor, offset + 3 if offset else 1, length))
            at += length
            anchor = at
            if at <= limit:
                self._note(searched + 2, searched + 2)
                self._note(at - 2, at - 1)
            while at <= limit and self.before and words[at] == words[at - self.before]:
                length = 4 + common_length(data, at + 4 - self.before, at + 4, end)
                self.last, self.before = self.before, self.last
                self._note(at, at)
                found.append(Copy(0, 1, length))
                at += length
                anchor = at
        self.last, self.before = self.last or kept_last, self.before or kept_before
        literals.append(data[anchor:end])
        return found, b"".join(literals)

    def _note(self, for_long: int, for_short: int) -> None:
        self.long_at[self.long_hash[for_long]] = for_long
        self.short_at[self.short_hash[for_short]] = for_short

    def _search(self, at: int, anchor: int, limit: int, end: int) -> tuple[int, int, int, int] | None:
        """(where it was found, where it begins, offset or 0 for the last one, length) of the next match."""
        data, words, doubles = self.data, self.words, self.doubles
        long_at, short_at, long_hash, short_hash = (
            self.long_at,
            self.short_at,
            self.long_hash,
            self.short_hash,
        )
        step, grow_at = 1, at + _STEP_EVERY
        ahead = at + step
        if ahead > limit:
            return None
        long_match = long_at[long_hash[at]]
        while ahead <= limit:
            short_match = short_at[short_hash[at]]
            long_at[long_hash[at]] = short_at[short_hash[at]] = at
            if self.last and words[at + 1] == words[at + 1 - self.last]:
                return at, at + 1, 0, 4 + common_length(data, at + 5 - self.last, at + 5, end)
            if long_match > 0 and doubles[long_match] == doubles[at]:
                length = 8 + common_length(data, long_match + 8, at + 8, end)
                return self._settle(at, at, long_match, length, anchor, ahead, step)
            next_match = long_at[long_hash[ahead]]
            if short_match > 0 and words[short_match] == words[at]:
                length = 4 + common_length(data, short_match + 4, at + 4, end)
                if next_match > 0 and doubles[next_match] == doubles[ahead]:
                    longer = 8 + common_length(data, next_match + 8, ahead + 8, end)
                    if longer > length:
                        return self._settle(at, ahead, next_match, longer, anchor, ahead, step)
                return self._settle(at, at, short_match, length, anchor, ahead, step)
            if ahead >= grow_at:
                step += 1
                grow_at += _STEP_EVERY
            at, ahead, long_match = ahead, ahead + step, next_match
        return None

    def _settle(
        self, searched: int, at: int, match: int, length: int, anchor: int, ahead: int, step: int
    ) -> tuple[int, int, int, int]:
        """Lengthen a match backwards; while steps are small the position ahead is noted too."""
        offset = at - match
        while at > anchor and match > 0 and self.data[at - 1] == self.data[match - 1]:
            at, match, length = at - 1, match - 1, length + 1
        if step < 4:
            self.long_at[self.long_hash[ahead]] = ahead
        return searched, at, offset, length


def _literals_size(
    literals: bytes, before: Mapping[int, int], sequences: int
) -> tuple[int, Mapping[int, int]]:
    """(bytes of the literals section, the code lengths a following block may use again)."""
    size = len(literals)
    raw = size + (1 if size < 32 else 2 if size < 4096 else 3)
    if size < 64:
        return raw, before
    counts = Counter(literals)
    most = max(counts.values())
    if most == size:
        return raw - size + 1, before
    if most <= (size >> 7) + 4:
        return raw, before
    lengths = _huffman(counts, _table_bits(size, max(counts), 11, 1))
    header = 3 + (size >= 1 << 10) + (size >= 1 << 14)
    packed = _weights_size(lengths) + _streams_size(literals, lengths)
    if before and all(symbol in before for symbol in counts):
        again = _streams_size(literals, before)
        if size <= 1024 or again <= packed:
            packed, lengths = again, dict(before)
    if packed >= size - _least_gain(size):
        return raw, before
    return header + packed, lengths


def _streams_size(literals: bytes, lengths: Mapping[int, int]) -> int:
    """One stream below 256 literals, else four with a jump table of 6 bytes; each ends with a set bit."""
    size = len(literals)
    part = size if size < 256 else (size + 3) // 4
    total = 0 if size < 256 else 6
    for start in range(0, size, part):
        counts = Counter(literals[start : start + part])
        total += (sum(count * lengths[symbol] for symbol, count in counts.items()) + 8) // 8
    return total


def _table_bits(total: int, symbol_max: int, most: int, slack: int) -> int:
    """Bits of a table of states or of the longest code (FSE_optimalTableLog)."""
    bits = min(most, (total - 1).bit_length() - 1 - slack)
    least = min(total.bit_length(), max(1, symbol_max).bit_length() + 1)
    return min(max(bits, least, 5), most)


def _huffman(counts: Mapping[int, int], longest: int) -> dict[int, int]:
    """Code lengths of at most `longest` bits."""
    heap: list[tuple[int, int, tuple[int, ...]]] = [(count, s, (s,)) for s, count in counts.items()]
    heapify(heap)
    lengths = dict.fromkeys(counts, 0)
    while len(heap) > 1:
        one, other = heappop(heap), heappop(heap)
        for symbol in one[2] + other[2]:
            lengths[symbol] += 1
        heappush(heap, (one[0] + other[0], other[1], one[2] + other[2]))
    lengths = {symbol: min(length, longest) for symbol, length in lengths.items()}
    # Codes cut short overfill the tree: lengthen the rarest that can be, until it fits.
    room = 1 << longest
    used = sum(room >> length for length in lengths.values())
    while used > room:
        symbol = max((s for s in lengths if lengths[s] < longest), key=lambda s: (lengths[s], -counts[s]))
        used -= room >> lengths[symbol] + 1
        lengths[symbol] += 1
    return lengths


def _weights_size(lengths: Mapping[int, int]) -> int:
    """The description of a Huffman code: a weight for each symbol below the last, coded or in half bytes."""
    last = max(lengths)
    longest = max(lengths.values())
    weights = [longest + 1 - lengths[s] if s in lengths else 0 for s in range(last)]
    plain = 1 + (last + 1) // 2 if last <= 128 else None
    counts = Counter(weights)
    if len(counts) > 1:
        bits = _table_bits(len(weights), max(counts), 6, 2)
        slots = _normalised(counts, bits)
        coded = 1 + _slots_size(slots, bits) + ceil((_cost(counts, slots, bits) + bits) / 8)
        if coded < last // 2 or plain is None:
            return coded
    return plain or 1 + last // 2


def _sequences_size(sequences: Sequence[Copy]) -> int:
    count = len(sequences)
    size = 1 if count < 128 else 2 if count < 0x7F00 else 3
    if not count:
        return size
    literal = [_LITERAL_CODES[sequence.literals] for sequence in sequences]
    match = [_MATCH_CODES[sequence.match - 3] for sequence in sequences]
    offset = [sequence.offset_base.bit_length() - 1 for sequence in sequences]
    bits = float(sum(extra for _, extra in literal) + sum(extra for _, extra in match) + sum(offset))
    size += 1
    for codes, predefined, predefined_bits, most in (
        ([code for code, _ in literal], _LITERAL_SLOTS, 6, 9),
        (offset, _OFFSET_SLOTS, 5, 8),
        ([code for code, _ in match], _MATCH_SLOTS, 6, 9),
    ):
        table, coded = _coded(codes, predefined, predefined_bits, most)
        size += table
        bits += coded
    return size + int(bits + 8) // 8


def _coded(codes: Sequence[int], predefined: Sequence[int], bits: int, most: int) -> tuple[int, float]:
    """(bytes of the table, bits of the codes): one code for all, the predefined table, or one of its own."""
    counts = Counter(codes)
    total = len(codes)
    frequent = max(counts.values())
    if frequent == total and total > 2:
        return 1, 0.0
    # The last code costs a state's bits and no more, which is where the coder begins.
    rest = counts - Counter([codes[-1]])
    if total < 1 << bits or frequent < total >> bits - 1:
        return 0, _cost(rest, dict(enumerate(predefined)), bits) + bits
    own = _table_bits(total, max(counts), most, 2)
    slots = _normalised(counts if counts[codes[-1]] == 1 else rest, own)
    return _slots_size(slots, own), _cost(rest, slots, own) + own


def _cost(counts: Mapping[int, int], slots: Mapping[int, int], bits: int) -> float:
    return sum(count * (bits - log2(slots[code])) for code, count in counts.items())


def _normalised(counts: Mapping[int, int], bits: int) -> dict[int, int]:
    """Slots by frequency, at least one each, the most frequent code taking what is left."""
    total = sum(counts.values())
    slots = {code: max(1, round((count << bits) / total)) for code, count in sorted(counts.items())}
    frequent = max(slots, key=lambda code: (slots[code], -code))
    over = sum(slots.values()) - (1 << bits)
    while over >= slots[frequent]:
        largest = max(slots, key=lambda code: slots[code])
        slots[largest] -= 1
        over -= 1
    slots[frequent] -= over
    return slots


def _slots_size(slots: Mapping[int, int], bits: int) -> int:
    """The description of a table: for each code as many bits as the slots left need."""
    left = [
        (1 << bits) + 1,
        *((1 << bits) + 1 - used for used in accumulate(slots[c] for c in sorted(slots))),
    ]
    total = 4
    before = -1
    for code, remaining in zip(sorted(slots), left, strict=False):
        gap = code - before - 1
        if gap:
            total += 2 * (gap // 3 + 1) + remaining.bit_length() - 1
        # A small number of slots takes one bit less.
        short = slots[code] + 1 < (2 << remaining.bit_length() - 1) - 1 - remaining
        total += remaining.bit_length() - (1 if short else 0)
        before = code
    return (total + 7) // 8
