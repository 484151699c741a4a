"""A topic's own segment files (`*.log`): record batches of V2 and message sets of V0 and V1, read in Python.

A folder is a broker's log.dirs, or one `TOPIC-PARTITION` folder of it. gzip is decoded by Python's own
library, the other codecs by the wheel that is installed (zstandard, lz4, cramjam); a batch that nothing
here decodes is counted by its header, with the sizes of its records guessed alike, and said so.
"""

from __future__ import annotations

import io
import os
import re
import struct
from collections.abc import Iterator
from typing import Any

from ...sim.wire.compression import CODECS
from ...sim.wire.legacy import LOG_OVERHEAD
from ...tuples import NamedTuple
from .dump_log import Compression

_HEADER = struct.Struct(">qiibIhiqqqhii")
_NAMES = {number: name for name, number in CODECS.items()}
_CONTROL = 0x20
_FOLDER = re.compile(r"(.+)-([0-9]{1,9})")


class StoredBatch(NamedTuple):
    """A batch as it lies in a segment; `body` are its records, still compressed."""

    base_offset: int
    last_offset: int
    size: int
    magic: int
    codec: str
    first_stamp: int
    max_stamp: int
    producer_id: int
    records: int
    control: bool
    body: bytes


class StoredRecord(NamedTuple):
    offset: int
    timestamp: int
    key: bytes | None
    value_size: int
    headers_size: int


class Undecodable(Exception):
    """No wheel here reads this codec, or the bytes are damaged."""


def batches(data: bytes) -> Iterator[StoredBatch]:
    """Those of one file; a tail that is cut short, or that was reserved and never written, ends it."""
    place = 0
    while place + LOG_OVERHEAD + 5 <= len(data):
        offset, length = struct.unpack_from(">qi", data, place)
        end = place + LOG_OVERHEAD + length
        if length < 14 or end > len(data):
            return
        magic = data[place + 16]
        if magic >= 2:
            yield _v2(data, place, end)
        else:
            yield _legacy(data, place, end, offset, magic)
        place = end


def _v2(data: bytes, place: int, end: int) -> StoredBatch:
    values = _HEADER.unpack_from(data, place)
    (base, _, _, _, _, attributes, delta, first, newest, producer, _, _, count) = values
    return StoredBatch(
        base, base + delta, end - place, 2, _NAMES.get(attributes & 7, "none"), first, newest, producer,
        count, bool(attributes & _CONTROL), data[place + _HEADER.size : end],
    )  # fmt: skip


def _legacy(data: bytes, place: int, end: int, offset: int, magic: int) -> StoredBatch:
    """One message; a compressed one holds a whole set as its value."""
    attributes = data[place + 17]
    head = 26 if magic else 18
    stamp = struct.unpack_from(">q", data, place + 18)[0] if magic else -1
    codec = _NAMES.get(attributes & 7, "none")
    return StoredBatch(
        offset, offset, end - place, magic, codec, stamp, stamp, -1, 1, False, data[place + head : end]
    )


def records(batch: StoredBatch) -> list[StoredRecord]:
    if batch.magic < 2:
        return _legacy_records(batch)
    body = decompressed(batch.body, batch.codec)
    found, place = [], 0
    for _ in range(batch.records):
        length, place = _varint(body, place)
        end = place + length
        place += 1
        stamp, place = _varint(body, place)
        delta, place = _varint(body, place)
        key_size, place = _varint(body, place)
        key = None if key_size < 0 else body[place : place + key_size]
        place += max(0, key_size)
        value_size, place = _varint(body, place)
        place += max(0, value_size)
        if end > len(body) or place > end:
            raise Undecodable("damaged")
        headers = end - place
        found.append(
            StoredRecord(batch.base_offset + delta, batch.first_stamp + stamp, key, value_size, headers)
        )
        place = end
    return found


def _legacy_records(batch: StoredBatch) -> list[StoredRecord]:
    key, place = _sized(batch.body, 0)
    value, _ = _sized(batch.body, place)
    if batch.codec == "none":
        size = -1 if value is None else len(value)
        return [StoredRecord(batch.last_offset, batch.max_stamp, key, size, 1)]
    inner = list(batches(decompressed(value or b"", batch.codec)))
    found = [record for one in inner for record in _legacy_records(one)]
    # Within V1 offsets are relative, and the last one is the wrapper's.
    if batch.magic == 1 and found:
        shift = batch.last_offset - found[-1].offset
        found = [record._replace(offset=record.offset + shift) for record in found]
    return found


def _sized(data: bytes, place: int) -> tuple[bytes | None, int]:
    (size,) = struct.unpack_from(">i", data, place)
    if size < 0:
        return None, place + 4
    return data[place + 4 : place + 4 + size], place + 4 + size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    shift = number = 0
    while True:
        if place >= len(data) or shift > 63:
            raise Undecodable("damaged")
        byte = data[place]
        number |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), place
        shift += 7


def decompressed(data: bytes, codec: str) -> bytes:
    """By whichever library is there."""
    try:
        if codec == "none":
            return data
        if codec == "gzip":
            import zlib

            return zlib.decompress(data, 31)
        if codec == "zstd":
            return _zstd(data)
        if codec == "lz4":
            return _lz4(data)
        return _snappy(data)
    except Undecodable:
        raise
    except ImportError:
        raise Undecodable(f"{codec}: install {_WHEELS[codec]} to read it") from None
    except Exception as error:
        raise Undecodable(f"{codec}: {type(error).__name__}") from None


_WHEELS = {"zstd": "zstandard", "lz4": "lz4", "snappy": "cramjam"}


def _zstd(data: bytes) -> bytes:
    from importlib import import_module

    found: bytes = import_module("zstandard").ZstdDecompressor().stream_reader(io.BytesIO(data)).read()
    return found


def _lz4(data: bytes) -> bytes:
    from importlib import import_module

    found: bytes = import_module("lz4.frame").decompress(data)
    return found


def _snappy(data: bytes) -> bytes:
    """snappy-java's blocks: a header of 16 bytes, then sizes and blocks; old clients write a bare block."""
    from importlib import import_module

    raw: Any = import_module("cramjam").snappy
    if not data.startswith(b"\x82SNAPPY\x00"):
        return bytes(raw.decompress_raw(data))
    place, parts = 16, []
    while place < len(data):
        (size,) = struct.unpack_from(">i", data, place)
        parts.append(bytes(raw.decompress_raw(data[place + 4 : place + 4 + size])))
        place += 4 + size
    return b"".join(parts)


def partition_folders(folder: str) -> list[tuple[str, str, int]]:
    """(path, topic, partition) of each folder with segments, in order."""
    found = []
    for path, _, names in sorted(os.walk(folder)):
        named = _FOLDER.fullmatch(os.path.basename(os.path.abspath(path)))
        if named is not None and any(name.endswith(".log") for name in names):
            from ...syntax.numbers import integer

            found.append((path, named[1], integer(named[2], (0, 10**9)) or 0))
    return [one for one in found if not one[1].startswith("__")]


def segments(folder: str) -> list[str]:
    """The files of one partition, oldest first; those that are being deleted are left out."""
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".log"))


class SegmentReader:
    """Rows of all records below a folder; `compression`, `records` and `unread` count while they are read."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.compression = Compression()
        self.records = 0
        self.unread: dict[str, int] = {}

    def rows(self) -> Iterator[dict[str, Any]]:
        for folder, topic, partition in partition_folders(self.folder):
            for path in segments(folder):
                with open(path, "rb") as file:
                    data = file.read()
                for batch in batches(data):
                    if not batch.control:
                        yield from self._batch(batch, topic, partition)

    def _batch(self, batch: StoredBatch, topic: str, partition: int) -> Iterator[dict[str, Any]]:
        try:
            found = records(batch)
        except Undecodable as error:
            self.unread[str(error)] = self.unread.get(str(error), 0) + 1
            return
        self.records += len(found)
        if batch.codec != "none" and batch.magic == 2:
            raw = len(decompressed(batch.body, batch.codec))
            packed, before = self.compression
            self.compression = Compression(packed + len(batch.body), before + raw)
        for record in found:
            yield {
                "timestamp": record.timestamp, "topic": topic, "partition": partition,
                "offset": record.offset, "key": record.key, "value_size": record.value_size,
                "key_size": None if record.key is None else len(record.key),
                "headers_size": record.headers_size,
                "producer": None if batch.producer_id < 0 else f"producer-{batch.producer_id}",
            }  # fmt: skip
