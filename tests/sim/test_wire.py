"""The wire: record batches, message sets, codecs, and a group's partition of `__consumer_offsets`."""

from __future__ import annotations

import gzip
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.sim.placing.offsets_topic import java_abs, java_hash, offsets_partition
from advisor.sim.wire.batches import (
    BATCH_OVERHEAD,
    Batch,
    Record,
    batch_size,
    crc32c,
    encode_batch,
    estimated_size,
    next_ratio,
    next_sequence,
    record_size,
    record_sizes,
    upper_bound,
)
from advisor.sim.wire.compression import compress, compressed_size
from advisor.sim.wire.legacy import encode_message_set, message_size
from advisor.sim.wire.varint import (
    read_signed,
    read_unsigned,
    unsigned_varint,
    unsigned_varint_size,
    unsigned_varlong,
    varint,
    varint_size,
    varlong,
    zigzag,
)
from tests.oracles.__main__ import HERE, replay

INTS = st.integers(-(2**31), 2**31 - 1)
LONGS = st.integers(-(2**63), 2**63 - 1)


@pytest.mark.parametrize(("kind", "least"), [("varint", 50), ("coordinator", 100), ("batch_size", 80)])
def test_recorded_answers_of_kafka(kind: str, least: int) -> None:
    lines, passed, failed, _ = replay(kind, f"{HERE}/data/{kind}.jsonl")
    assert failed == 0, lines
    assert passed > least


def test_zigzag_keeps_small_negatives_short() -> None:
    assert [zigzag(value) for value in (0, -1, 1, -2, 2)] == [0, 1, 2, 3, 4]
    assert varint(-65) == b"\x81\x01"


@given(LONGS)
def test_what_is_written_is_read_again(value: int) -> None:
    data = varlong(value)
    assert read_signed(b"\x00" + data, 1) == (value, 1 + len(data))
    assert varint_size(value) == len(data) <= 10


@given(INTS)
def test_an_int_is_written_alike_as_varint_and_varlong(value: int) -> None:
    assert varint(value) == varlong(value)
    assert len(unsigned_varint(value)) == unsigned_varint_size(value) <= 5
    assert read_unsigned(unsigned_varint(value))[0] == value % 2**32


def test_a_value_out_of_range_and_cut_data_are_refused() -> None:
    with pytest.raises(ValueError, match="does not fit 32 bits"):
        varint(2**31)
    with pytest.raises(ValueError, match="does not fit 64 bits"):
        unsigned_varlong(2**63)
    with pytest.raises(ValueError, match="ends within"):
        read_unsigned(b"\x80")
    with pytest.raises(ValueError, match="more than 10 bytes"):
        read_unsigned(b"\x80" * 11)


def test_the_one_int_without_absolute_value_maps_to_partition_0() -> None:
    assert java_hash("polygenelubricants") == -(2**31)
    assert java_abs(-(2**31)) == 0
    assert offsets_partition("polygenelubricants") == 0


def test_a_character_beyond_16_bits_is_hashed_as_two() -> None:
    assert java_hash("\U0001f600") == 31 * 0xD83D + 0xDE00
    with pytest.raises(ValueError, match="at least one partition"):
        offsets_partition("group", 0)


BYTES = st.one_of(st.none(), st.binary(max_size=80))
RECORDS = st.lists(
    st.builds(
        Record,
        st.integers(0, 2**45),
        BYTES,
        BYTES,
        st.lists(st.tuples(st.text(max_size=4), BYTES), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=8,
)


def sized(data: bytes, at: int) -> tuple[bytes | None, int]:
    length, at = read_signed(data, at)
    return (None, at) if length < 0 else (data[at : at + length], at + length)


def read_records(data: bytes, count: int, first: int) -> list[Record]:
    """A reader written from the format's description, apart from the writer."""
    records, at = [], 0
    for nth in range(count):
        length, at = read_signed(data, at)
        end = at + length
        stamp, at = read_signed(data, at + 1)
        offset, at = read_signed(data, at)
        assert offset == nth
        key, at = sized(data, at)
        value, at = sized(data, at)
        headers_count, at = read_signed(data, at)
        headers = []
        for _ in range(headers_count):
            name, at = sized(data, at)
            header, at = sized(data, at)
            headers.append(((name or b"").decode(), header))
        assert at == end
        records.append(Record(first + stamp, key, value, tuple(headers)))
    assert at == len(data)
    return records


@given(RECORDS)
def test_a_batch_is_as_long_as_counted_and_reads_back(records: list[Record]) -> None:
    data = encode_batch(records)
    assert len(data) == batch_size(records) == BATCH_OVERHEAD + sum(record_sizes(records))
    assert struct.unpack(">I", data[17:21])[0] == crc32c(data[21:])
    (count,) = struct.unpack(">i", data[57:61])
    assert read_records(data[BATCH_OVERHEAD:], count, records[0].timestamp) == records


@given(RECORDS)
def test_the_upper_bound_holds_for_every_place_in_a_batch(records: list[Record]) -> None:
    for size, record in zip(record_sizes(records), records, strict=True):
        without_headers = record._replace(headers=())
        key, value = (-1 if part is None else len(part) for part in (record.key, record.value))
        assert record_sizes([without_headers])[0] == record_size(key, value)
        assert size - record_sizes([record])[0] <= 20
        assert BATCH_OVERHEAD + record_size(key, value) <= upper_bound(key, value)


def test_the_smallest_batch_has_68_bytes() -> None:
    assert batch_size([Record(0, None, None)]) == 68
    assert record_size(-1, 100) == 109
    assert [message_size(magic, -1, 100) for magic in (0, 1)] == [126, 134]
    assert [upper_bound(-1, 100, magic=magic, compressed=True) for magic in (0, 1, 2)] == [140, 156, 186]


def test_attributes_tell_codec_time_transaction_control_and_horizon() -> None:
    assert Batch().attributes() == 0
    assert Batch(compression="zstd", log_append_time=5, transactional=True, control=True).attributes() == 0x3C
    horizon = encode_batch([Record(1000, b"k", None)], Batch(delete_horizon_ms=900))
    assert horizon[22] == 0x40
    assert struct.unpack(">qq", horizon[27:43]) == (900, 1000)


def test_crc32c_of_the_check_digits() -> None:
    assert crc32c(b"123456789") == 0xE3069283


def test_a_sequence_begins_again_at_0() -> None:
    assert next_sequence(2**31 - 1, 1) == 0
    assert next_sequence(2**31 - 3, 5) == 2
    assert next_sequence(7, 3) == 10


def test_the_ratio_worsens_quickly_and_improves_slowly() -> None:
    assert next_ratio(1.0, 0.2) == pytest.approx(0.995)
    assert next_ratio(0.5, 0.52) == pytest.approx(0.55)
    assert next_ratio(0.5, 0.9) == pytest.approx(0.9)
    assert next_ratio(0.5, 0.5) == 0.5
    # Compared as floats: a ratio seen again is no change.
    assert next_ratio(next_ratio(1.0, 1.1), 1.1) == next_ratio(1.0, 1.1)
    assert estimated_size(61, 1000) == 61 + 1050


def unpacked_lz4(block: bytes) -> bytes:
    def extended(length: int, at: int) -> tuple[int, int]:
        more = length == 15
        while more:
            length, more, at = length + block[at], block[at] == 255, at + 1
        return length, at

    out, at = bytearray(), 0
    while True:
        token = block[at]
        length, at = extended(token >> 4, at + 1)
        out += block[at : at + length]
        at += length
        if at == len(block):
            return bytes(out)
        offset = block[at] | block[at + 1] << 8
        length, at = extended(token & 15, at + 2)
        for _ in range(length + 4):
            out.append(out[-offset])


def unpacked_snappy(block: bytes) -> bytes:
    size, at = read_unsigned(block)
    out = bytearray()
    while at < len(block):
        tag, at = block[at], at + 1
        length = tag >> 2
        if tag & 3 == 0:
            if length >= 60:
                width = length - 59
                length, at = int.from_bytes(block[at : at + width], "little"), at + width
            out += block[at : at + length + 1]
            at += length + 1
            continue
        if tag & 3 == 1:
            length, offset, at = (length & 7) + 3, tag >> 5 << 8 | block[at], at + 1
        else:
            offset, at = block[at] | block[at + 1] << 8, at + 2
        for _ in range(length + 1):
            out.append(out[-offset])
    assert len(out) == size
    return bytes(out)


REPETITIVE = st.lists(
    st.tuples(st.binary(min_size=1, max_size=30), st.integers(1, 40)), min_size=1, max_size=12
).map(lambda parts: b"".join(part * times for part, times in parts))


@given(REPETITIVE)
def test_compressed_blocks_can_be_read(data: bytes) -> None:
    assert gzip.decompress(compress(data, "gzip")) == data
    assert unpacked_snappy(compress(data, "snappy")[20:]) == data
    frame = compress(data, "lz4")
    (length,) = struct.unpack("<I", frame[7:11])
    block = frame[11:-4]
    assert (block if length >> 31 else unpacked_lz4(block)) == data
    assert 0 < compressed_size(data, "zstd") <= len(data) + 12


def test_larger_batches_compress_better() -> None:
    record = Record(0, None, b'{"id":12345,"name":"kafka","ok":true}')
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        one, many = batch_size([record], codec), batch_size([record] * 100, codec)
        assert many < 20 * one


def test_unknown_codecs_and_formats_are_refused() -> None:
    record = Record(0, None, b"v")
    with pytest.raises(ValueError, match="no such codec"):
        compressed_size(b"", "brotli")
    with pytest.raises(ValueError, match="not the bytes"):
        encode_batch([record], Batch(compression="zstd"))
    with pytest.raises(ValueError, match="format V2"):
        encode_message_set(1, [record], compression="zstd")
    with pytest.raises(ValueError, match="magic 0 or 1"):
        encode_message_set(2, [record])
    with pytest.raises(ValueError, match="at least one record"):
        encode_batch([])
