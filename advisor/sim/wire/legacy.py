"""Message sets of formats V0 (before 0.10) and V1 (0.10), written by old clients and read by old brokers.

Each message stands for itself: offset 8 and length 4 before it, then CRC-32, magic, attributes, V1's
timestamp, key and value with lengths of 4 bytes. Compression wraps a whole set as the value of one message
that carries the last offset; the offsets within are absolute in V0 and relative in V1.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Protocol
from zlib import crc32

from .compression import CODECS, compress

LOG_OVERHEAD = 12
"""Offset and length before every message or batch."""

_LOG_APPEND_TIME = 0x08
_NO_TIMESTAMP = -1


class Message(Protocol):
    @property
    def timestamp(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...


def message_overhead(magic: int) -> int:
    """Bytes of a message besides key and value: V1 added the timestamp."""
    if magic not in (0, 1):
        raise ValueError(f"message sets have magic 0 or 1, not {magic}")
    return 22 if magic else 14


def message_size(magic: int, key_size: int, value_size: int) -> int:
    """Bytes of one message in a set, with its offset and length; a size of -1 is null."""
    return LOG_OVERHEAD + message_overhead(magic) + max(0, key_size) + max(0, value_size)


def legacy_upper_bound(magic: int, key_size: int, value_size: int, compressed: bool) -> int:
    """What the producer allows for one message: with compression also for the message around it."""
    return message_size(magic, key_size, value_size) + (message_overhead(magic) if compressed else 0)


def wrapper_size(magic: int, compressed: bool) -> int:
    """Bytes before the first message of a set: the wrapping message's, if there is one."""
    return LOG_OVERHEAD + message_overhead(magic) if compressed else 0


def _sized(data: bytes | None) -> bytes:
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def _message(
    magic: int, offset: int, attributes: int, timestamp: int, key: bytes | None, value: bytes | None
) -> bytes:
    checked = struct.pack(">bb", magic, attributes)
    if magic:
        checked += struct.pack(">q", timestamp)
    checked += _sized(key) + _sized(value)
    return struct.pack(">qiI", offset, 4 + len(checked), crc32(checked)) + checked


def encode_message_set(
    magic: int,
    records: Sequence[Message],
    *,
    base_offset: int = 0,
    compression: str = "none",
    log_append_time: int | None = None,
) -> bytes:
    """The bytes of a message set with offsets from `base_offset` on. The codecs: `wire_compression`."""
    message_overhead(magic)
    if not records:
        raise ValueError("a message set has at least one record")
    codec = CODECS[compression]
    if compression == "zstd":
        raise ValueError("zstd needs record batches of format V2")
    stamped = _LOG_APPEND_TIME if magic and log_append_time is not None else 0
    first = 0 if codec and magic else base_offset
    stamps = [record.timestamp if log_append_time is None else log_append_time for record in records]
    inner = b"".join(
        _message(magic, first + index, stamped, stamp, record.key, record.value)
        for index, (record, stamp) in enumerate(zip(records, stamps, strict=True))
    )
    if not codec:
        return inner
    last = base_offset + len(records) - 1
    newest = max(_NO_TIMESTAMP, *stamps)
    return _message(magic, last, codec | stamped, newest, None, compress(inner, compression, magic))
