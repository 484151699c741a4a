"""Traces that are no tables: dumps, segment files, output of the perf tools."""

from __future__ import annotations

import zlib
from importlib.util import find_spec

import pytest

from advisor.replay.trace.dump_log import DumpReader
from advisor.replay.trace.perf_tests import BEGIN_MS, Stretch, read_perf
from advisor.replay.trace.segment_files import SegmentReader, Undecodable, batches, decompressed, records
from advisor.replay.trace.sources import guess_format
from advisor.sim.wire.batches import Batch, Record, encode_batch
from advisor.sim.wire.legacy import encode_message_set

DUMP = """\
Dumping /var/lib/kafka/clicks-3/00000000000000000000.log
Log starting offset: 0
baseOffset: 0 lastOffset: 1 count: 2 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 \
partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty \
CreateTime: 1794787200005 size: 81 magic: 2 compresscodec: zstd crc: 1 isvalid: true
| offset: 0 CreateTime: 1794787200000 keySize: 2 valueSize: 30 headerKeys: [] key: k payload: a: b
| offset: 1 CreateTime: 1794787200005 keySize: -1 valueSize: 10 sequence: -1 headerKeys: []
"""


def test_a_dump():
    reader = DumpReader(None)
    rows = list(reader.rows(DUMP.splitlines()))
    assert rows == [
        {"timestamp": 1794787200000, "topic": "clicks", "partition": 3, "offset": 0, "key_size": 2,
         "value_size": 30},
        {"timestamp": 1794787200005, "topic": "clicks", "partition": 3, "offset": 1, "key_size": -1,
         "value_size": 10},
    ]  # fmt: skip
    # 20 bytes of the batch are its records: 39 and 17 before.
    assert reader.compression == (20, 56)
    assert reader.batches == 1


def test_a_dump_of_an_old_release():
    line = "offset: 7 position: 0 CreateTime: 1794787200000 isvalid: true keysize: 4 valuesize: 9 magic: 2 \
compresscodec: NONE producerId: -1"
    assert [row["offset"] for row in DumpReader("clicks").rows([line])] == [7]


def test_a_producers_output():
    text = [
        "5000 records sent, 1000.0 records/sec (0.95 MB/sec), 2.5 ms avg latency, 40.0 ms max latency.",
        "10000 records sent, 2000.0 records/sec (1.91 MB/sec), 2.0 ms avg latency, 9.0 ms max latency.",
        "16000 records sent, 1500.0 records/sec (1.43 MB/sec), 2.1 ms avg latency, 40.0 ms max latency, 1 ms "
        "50th, 5 ms 95th, 9 ms 99th, 12 ms 99.9th.",
    ]
    found = read_perf(text)
    assert found.stretches == (
        Stretch(BEGIN_MS, 5000, 5000, 996),
        Stretch(BEGIN_MS + 5000, 5000, 10_000, 1001),
        Stretch(BEGIN_MS + 10_000, 667, 1000, 1000),
    )
    assert "1,500 records a second of 1000 bytes" in found.notes[0]


def test_a_consumers_output():
    text = [
        "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance",
        "2026-11-16 10:00:00:000, 2026-11-16 10:00:02:500, 95.3674, 38.1, 100000, 40000.0, 300",
    ]
    (stretch,) = read_perf(text).stretches
    assert stretch == Stretch(1794823200000, 2500, 100_000, 1000)
    assert read_perf(["acks=all"]) is None


WHEELS = {"lz4": "lz4", "snappy": "cramjam"}
RECORDS = [
    Record(1794787200000 + n, None if n == 2 else b"k%d" % n, b"v" * (10 + n), (("h", b"x"),) if n else ())
    for n in range(5)
]


@pytest.mark.parametrize("codec", ["none", "gzip", "lz4", "snappy"])
def test_batches_of_v2(codec):
    data = encode_batch(RECORDS, Batch(base_offset=40, compression=codec, producer_id=9))
    (batch,) = batches(data + b"\0" * 100)
    assert (batch.base_offset, batch.last_offset, batch.size, batch.codec) == (40, 44, len(data), codec)
    if codec in WHEELS and find_spec(WHEELS[codec]) is None:
        with pytest.raises(Undecodable, match="install"):
            records(batch)
        return
    found = records(batch)
    assert [(one.offset, one.timestamp, one.key, one.value_size) for one in found] == [
        (40 + n, one.timestamp, one.key, len(one.value)) for n, one in enumerate(RECORDS)
    ]
    assert [one.headers_size for one in found] == [1, 5, 5, 5, 5]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_message_sets(magic, codec):
    data = encode_message_set(magic, RECORDS, base_offset=40, compression=codec)
    found = [record for batch in batches(data) for record in records(batch)]
    assert [one.offset for one in found] == [40, 41, 42, 43, 44]
    assert [one.value_size for one in found] == [10, 11, 12, 13, 14]
    assert [one.key for one in found] == [one.key for one in RECORDS]


def test_what_is_damaged_is_told():
    with pytest.raises(Undecodable, match="gzip"):
        decompressed(b"no gzip", "gzip")
    batch = next(batches(encode_batch(RECORDS)))
    with pytest.raises(Undecodable, match="damaged"):
        records(batch._replace(body=batch.body[:-8]))


def test_a_folder_of_segments(tmp_path):
    """As on a broker's disk; the compression that it shows is measured."""
    folder = tmp_path / "clicks-2"
    folder.mkdir()
    first = encode_batch(RECORDS, Batch(base_offset=0, compression="gzip"))
    (folder / "00000000000000000000.log").write_bytes(first)
    (folder / "00000000000000000005.log").write_bytes(encode_batch(RECORDS, Batch(base_offset=5)))
    (folder / "00000000000000000005.index").write_bytes(b"")
    (tmp_path / "__consumer_offsets-0").mkdir()
    (tmp_path / "__consumer_offsets-0" / "00000000000000000000.log").write_bytes(first)
    assert guess_format(str(tmp_path)) == "segments"
    reader = SegmentReader(str(tmp_path))
    rows = list(reader.rows())
    assert [(row["topic"], row["partition"], row["offset"]) for row in rows] == [
        ("clicks", 2, offset) for offset in range(10)
    ]
    plain = len(encode_batch(RECORDS)) - 61
    assert reader.compression == (len(first) - 61, plain)
    assert zlib.decompress(first[61:], 31)


def test_formats_are_guessed(tmp_path):
    (tmp_path / "dump.txt").write_text(DUMP)
    assert guess_format(str(tmp_path / "dump.txt")) == "dump"
    assert guess_format("s3a://bucket/trace.parquet") == "parquet"
    assert guess_format("table:platform.trace") == "table"
