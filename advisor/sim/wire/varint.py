"""Variable-length integers of the record format (KIP-98, 0.11 on) and of flexible requests (KIP-482).

Seven bits a byte, the lowest first; the high bit says that more follow. Signed values are zigzagged before,
so that small negatives stay short: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4. A varint holds 32 bits in at most
5 bytes, a varlong 64 bits in at most 10; a value that fits both is written alike.
"""

from __future__ import annotations

_LOW = 0x7F
_MORE = 0x80


def zigzag(value: int) -> int:
    """The sign moved to the lowest bit."""
    return -2 * value - 1 if value < 0 else 2 * value


def unzigzag(number: int) -> int:
    return -(number >> 1) - 1 if number & 1 else number >> 1


def _within(value: int, bits: int) -> int:
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise ValueError(f"{value} does not fit {bits} bits")
    return value


def _groups(number: int) -> bytes:
    out = bytearray()
    while number > _LOW:
        out.append(number & _LOW | _MORE)
        number >>= 7
    out.append(number)
    return bytes(out)


def _groups_size(number: int) -> int:
    return (number.bit_length() + 6) // 7 or 1


def varint(value: int) -> bytes:
    """A signed 32-bit value as ByteUtils.writeVarint writes it."""
    return _groups(zigzag(_within(value, 32)))


def varlong(value: int) -> bytes:
    """A signed 64-bit value as ByteUtils.writeVarlong writes it."""
    return _groups(zigzag(_within(value, 64)))


def unsigned_varint(value: int) -> bytes:
    """The 32 bits of a Java int read without sign: a negative value takes all 5 bytes."""
    return _groups(_within(value, 32) & 0xFFFFFFFF)


def unsigned_varlong(value: int) -> bytes:
    """The 64 bits of a Java long read without sign: a negative value takes all 10 bytes."""
    return _groups(_within(value, 64) & 0xFFFFFFFFFFFFFFFF)


def varint_size(value: int) -> int:
    """Bytes of a zigzagged value, varint or varlong. No range check: this is called for every record."""
    return ((~value if value < 0 else value).bit_length() + 7) // 7


def unsigned_varint_size(value: int) -> int:
    return _groups_size(_within(value, 32) & 0xFFFFFFFF)


def unsigned_varlong_size(value: int) -> int:
    return _groups_size(_within(value, 64) & 0xFFFFFFFFFFFFFFFF)


def read_unsigned(data: bytes, at: int = 0) -> tuple[int, int]:
    """(value, where the next field begins)."""
    number = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("the data ends within a variable-length integer")
        if shift > 63:
            raise ValueError("a variable-length integer of more than 10 bytes")
        byte = data[at]
        at += 1
        number |= (byte & _LOW) << shift
        if byte < _MORE:
            return number, at
        shift += 7


def read_signed(data: bytes, at: int = 0) -> tuple[int, int]:
    """(value, where the next field begins) of a zigzagged varint or varlong."""
    number, at = read_unsigned(data, at)
    return unzigzag(number), at
