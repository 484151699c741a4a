"""batch_size: record batches and message sets, byte for byte where the whole bytes were recorded."""

from __future__ import annotations

from typing import Any

from advisor.sim.wire.batches import (
    BATCH_OVERHEAD,
    Batch,
    Record,
    base_timestamp,
    batch_size,
    encode_batch,
    estimated_size,
    max_timestamp,
    record_sizes,
)
from advisor.sim.wire.compression import TOLERANCE
from advisor.sim.wire.legacy import encode_message_set, message_size, wrapper_size

TEXT = b'{"id":12345,"name":"kafka","ok":true} '


def contents(mode: int, salt: int, size: int) -> bytes | None:
    """Zeros, a text that repeats, or bytes of a linear congruence, as the cases describe them."""
    if size < 0:
        return None
    if mode == 0:
        return bytes(size)
    if mode == 1:
        start = salt % len(TEXT)
        return (TEXT * (size // len(TEXT) + 2))[start : start + size]
    out, number = bytearray(), salt
    for _ in range(size):
        number = (number * 1103515245 + 12345) & 0x7FFFFFFF
        out.append(number >> 16 & 0xFF)
    return bytes(out)


def records_of(given: dict[str, Any]) -> list[Record]:
    mode = given["content_mode"]
    return [
        Record(
            record["ts"],
            contents(mode, index, record["key_size"]),
            contents(mode, index + 1, record["value_size"]),
            tuple(
                (header["key"], contents(1, nth, header["value_size"]))
                for nth, header in enumerate(record["headers"])
            ),
        )
        for index, record in enumerate(given["records"])
    ]


def batch_of(given: dict[str, Any]) -> Batch:
    return Batch(
        base_offset=given["base_offset"],
        compression=given["compression"],
        log_append_time=given["log_append_time"] if given["timestamp_type"] == "LogAppendTime" else None,
        producer_id=given["producer_id"],
        producer_epoch=given["producer_epoch"],
        base_sequence=given["base_sequence"],
        transactional=given["transactional"],
        partition_leader_epoch=given["partition_leader_epoch"],
    )


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What we compute, in the form of the recorded output; `data` is None where the bytes are not made."""
    given = case["input"]
    magic, compression = given["magic"], given["compression"]
    records, batch = records_of(given), batch_of(given)
    compressed = compression != "none"
    if magic == 2:
        header, sizes = BATCH_OVERHEAD, record_sizes(records)
        data = None if compression == "zstd" else encode_batch(records, batch)
        size = batch_size(records, compression) if data is None else len(data)
    else:
        header = wrapper_size(magic, compressed)
        sizes = [message_size(magic, r["key_size"], r["value_size"]) for r in given["records"]]
        data = encode_message_set(
            magic,
            records,
            base_offset=batch.base_offset,
            compression=compression,
            log_append_time=batch.log_append_time,
        )
        size = len(data)
    written = header + sum(sizes)
    answered = {
        "size": size,
        "batches": 1 if magic == 2 or compressed else len(records),
        "uncompressed_written": written,
        "estimated_before_close": estimated_size(header, sum(sizes)) if compressed else written,
        "data": data,
    }
    if not compressed:
        answered["record_sizes"] = sizes
    if magic == 2:
        answered |= {
            "uncompressed_size": batch_size(records),
            "base_timestamp": base_timestamp(records, batch),
            "max_timestamp": max_timestamp(records, batch),
            "base_offset": batch.base_offset,
            "last_offset": batch.base_offset + len(records) - 1,
        }
    return answered


def compare(case: dict[str, Any]) -> str | None:
    """None if we write as Kafka did, else the first difference; compressed sizes within the tolerance."""
    ours, kafka = answer(case), dict(case["output"])
    data, size = ours.pop("data"), kafka["size"]
    whole = kafka.pop("hex", None)
    least, part = TOLERANCE[case["input"]["compression"]]
    if abs(ours["size"] - size) > max(least, part * size):
        return f"size {ours['size']}, Kafka {size}"
    for field in sorted(ours.keys() | kafka.keys() - {"size"}):
        if field != "size" and ours.get(field) != kafka.get(field):
            return f"{field} {ours.get(field)}, Kafka {kafka.get(field)}"
    # Another build of zlib writes other bytes: of gzip the size alone is compared.
    if whole is not None and data is not None and case["input"]["compression"] != "gzip":
        return None if data.hex() == whole else f"bytes {data.hex()}, Kafka {whole}"
    return None


def summary(cases: list[dict[str, Any]]) -> list[str]:
    """How far the compressed sizes are from Kafka's, by codec."""
    off: dict[str, list[int]] = {}
    for case in cases:
        codec = case["input"]["compression"]
        off.setdefault(codec, []).append(abs(answer(case)["size"] - case["output"]["size"]))
    return [
        f"{codec}: {len(off[codec])} sizes, {off[codec].count(0)} exact, at most {max(off[codec])} bytes off"
        for codec in sorted(off)
    ]
