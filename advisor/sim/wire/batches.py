"""Record batches as they are sent and stored: exact bytes and sizes of format V2 (0.11 on).

A batch is a header of 61 bytes and its records; a record keeps offset and timestamp as differences to the
batch's first, in variable-length integers, so that its size depends on its place. The checksum (CRC-32C)
covers all from the attributes on: partition leader epoch and base offset can be set without a new one.
Message sets of V0 and V1 are in `wire_legacy`, compressed sizes in `wire_compression`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...tuples import NamedTuple
from .compression import CODECS, compress, compressed_size
from .legacy import LOG_OVERHEAD, legacy_upper_bound
from .varint import varint, varint_size, varlong

BATCH_OVERHEAD = 61
MAX_RECORD_OVERHEAD = 21
"""The most a record needs besides key, value and headers: length 5, attributes 1, timestamp 10, offset 5."""

NO_TIMESTAMP = NO_PRODUCER_ID = NO_PRODUCER_EPOCH = NO_SEQUENCE = NO_LEADER_EPOCH = -1
SEQUENCE_MAX = 2**31 - 1

_LOG_APPEND_TIME = 0x08
_TRANSACTIONAL = 0x10
_CONTROL = 0x20
_DELETE_HORIZON = 0x40
_CASTAGNOLI = 0x82F63B78

Header = tuple[str, bytes | None]


class Record(NamedTuple):
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """What the header of a batch says besides its records; the defaults are a producer's without
    idempotence."""

    base_offset: int = 0
    compression: str = "none"
    log_append_time: int | None = None
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE
    transactional: bool = False
    control: bool = False
    partition_leader_epoch: int = NO_LEADER_EPOCH
    delete_horizon_ms: int | None = None

    def attributes(self) -> int:
        bits = CODECS[self.compression]
        bits |= _LOG_APPEND_TIME if self.log_append_time is not None else 0
        bits |= _TRANSACTIONAL if self.transactional else 0
        bits |= _CONTROL if self.control else 0
        return bits | (_DELETE_HORIZON if self.delete_horizon_ms is not None else 0)


def _crc_table() -> tuple[int, ...]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (_CASTAGNOLI if number & 1 else 0)
        table.append(number)
    return tuple(table)


_CRC_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    """CRC-32 with Castagnoli's polynomial, the checksum of a V2 batch."""
    table, crc = _CRC_TABLE, 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def headers_size(headers: Sequence[Header]) -> int:
    """Bytes of the headers of one record with their count; 1 if there are none."""
    size = varint_size(len(headers))
    for name, value in headers:
        name_size = len(name.encode("utf-8", "replace"))
        value_size = 0 if value is None else len(value)
        size += varint_size(name_size) + name_size
        size += varint_size(-1 if value is None else value_size) + value_size
    return size


def contents_size(key_size: int, value_size: int, headers_bytes: int = 1) -> int:
    """Bytes of key, value and headers with their lengths, the part that no place in a batch changes; -1 is
    null. `headers_bytes` comes from `headers_size`."""
    size = varint_size(key_size) + varint_size(value_size) + headers_bytes
    if key_size > 0:
        size += key_size
    if value_size > 0:
        size += value_size
    return size


def placed_size(contents_bytes: int, offset_delta: int, timestamp_delta: int) -> int:
    """Bytes of a record whose contents take `contents_bytes`, at this place of a batch."""
    # varint_size thrice, written out: replays ask this for every record.
    stamp = ~timestamp_delta if timestamp_delta < 0 else timestamp_delta
    body = 1 + (stamp.bit_length() + 7) // 7 + (offset_delta.bit_length() + 7) // 7 + contents_bytes
    return body + (body.bit_length() + 7) // 7


def record_size(
    key_size: int,
    value_size: int,
    headers_bytes: int = 1,
    *,
    offset_delta: int = 0,
    timestamp_delta: int = 0,
) -> int:
    """Bytes of one V2 record before compression; a size of -1 is null."""
    return placed_size(contents_size(key_size, value_size, headers_bytes), offset_delta, timestamp_delta)


def record_sizes(records: Iterable[Record]) -> list[int]:
    """Bytes of each record of one V2 batch, before compression."""
    sizes: list[int] = []
    base = None
    for delta, (timestamp, key, value, headers) in enumerate(records):
        base = timestamp if base is None else base
        contents = contents_size(
            -1 if key is None else len(key), -1 if value is None else len(value), headers_size(headers)
        )
        sizes.append(placed_size(contents, delta, timestamp - base))
    return sizes


def upper_bound(
    key_size: int, value_size: int, headers_bytes: int = 1, *, magic: int = 2, compressed: bool = False
) -> int:
    """The most that a batch of this one record takes before compression, as the producer estimates it.

    What max.request.size and buffer.memory are compared with in send(), and what a batch larger than
    batch.size is allocated by (AbstractRecords.estimateSizeInBytesUpperBound).
    """
    if magic < 2:
        return legacy_upper_bound(magic, key_size, value_size, compressed)
    return BATCH_OVERHEAD + MAX_RECORD_OVERHEAD + contents_size(key_size, value_size, headers_bytes)


def next_sequence(sequence: int, records: int) -> int:
    """The sequence after a batch of `records`: past the largest int it begins again at 0."""
    following = sequence + records
    return following - SEQUENCE_MAX - 1 if following > SEQUENCE_MAX else following


def _sized(data: bytes | None) -> bytes:
    return varint(-1) if data is None else varint(len(data)) + data


def encode_record(record: Record, offset_delta: int, timestamp_delta: int) -> bytes:
    """One V2 record; its attributes are never used."""
    headers = b"".join(
        _sized(name.encode("utf-8", "replace")) + _sized(value) for name, value in record.headers
    )
    body = b"".join(
        (
            b"\x00",
            varlong(timestamp_delta),
            varint(offset_delta),
            _sized(record.key),
            _sized(record.value),
            varint(len(record.headers)),
            headers,
        )
    )
    return varint(len(body)) + body


def base_timestamp(records: Sequence[Record], batch: Batch) -> int:
    """The first record's, also with LogAppendTime; a batch with a delete horizon (KIP-534) keeps it there."""
    return records[0].timestamp if batch.delete_horizon_ms is None else batch.delete_horizon_ms


def max_timestamp(records: Sequence[Record], batch: Batch) -> int:
    if batch.log_append_time is not None:
        return batch.log_append_time
    return max(record.timestamp for record in records)


_PLAIN = Batch()


def encode_batch(records: Sequence[Record], batch: Batch = _PLAIN) -> bytes:
    """The bytes of a V2 batch; zstd's are not made, see `wire_compression`."""
    if not records:
        raise ValueError("a batch has at least one record")
    first = base_timestamp(records, batch)
    body = b"".join(
        encode_record(record, delta, record.timestamp - first) for delta, record in enumerate(records)
    )
    body = compress(body, batch.compression)
    checked = (
        struct.pack(
            ">hiqqqhii",
            batch.attributes(),
            len(records) - 1,
            first,
            max_timestamp(records, batch),
            batch.producer_id,
            batch.producer_epoch,
            batch.base_sequence,
            len(records),
        )
        + body
    )
    length = BATCH_OVERHEAD - LOG_OVERHEAD + len(body)
    head = struct.pack(">qiibI", batch.base_offset, length, batch.partition_leader_epoch, 2, crc32c(checked))
    return head + checked


def batch_size(records: Sequence[Record], compression: str = "none") -> int:
    """Bytes of a V2 batch: exact, but for zstd (see `wire_compression`)."""
    if compression == "none":
        return BATCH_OVERHEAD + sum(record_sizes(records))
    body = b"".join(
        encode_record(record, delta, record.timestamp - records[0].timestamp)
        for delta, record in enumerate(records)
    )
    return BATCH_OVERHEAD + compressed_size(body, compression)


def _float(number: float) -> float:
    """Rounded as a Java float is."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


_ESTIMATE_FACTOR = _float(1.05)


def estimated_size(header_bytes: int, records_bytes: int, ratio: float = 1.0) -> int:
    """What a producer takes an open, compressed batch for: the ratio it has seen, and 5 % to be careful."""
    return header_bytes + int(_float(_float(_float(records_bytes) * _float(ratio)) * _ESTIMATE_FACTOR))


def next_ratio(ratio: float, observed: float) -> float:
    """The topic's compression ratio after one more batch: quick to worsen, slow to improve
    (CompressionRatioEstimator, 0.11 on)."""
    observed = _float(observed)
    if observed > ratio:
        return _float(max(ratio + _float(0.05), observed))
    if observed < ratio:
        return _float(max(ratio - _float(0.005), observed))
    return ratio
