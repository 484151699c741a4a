"""`python -m tests.replay.real_broker`: a real producer writes a generated trace to a real Kafka 4.3.1,
and the replay of the same trace is compared with what lies on the broker's disk.

Needs Java and Maven, which fetches the broker's own jars. One KRaft broker on loopback.
Where the producer's own threads race (a full batch that sends the others along) no two runs are alike, so the
trace has none: many partitions only in bursts that linger.ms alone closes, full batches only where there is
one partition.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from advisor.real.cluster.cluster import Cluster
from advisor.real.cluster.jars import classpath, find_jars
from advisor.real.cluster.processes import LIGHT, Processes

HERE = Path(__file__).parent
KAFKA = "4.3.1"
LINGER_MS, BURST_EVERY_MS, BURSTS = 200, 600, 12
# Of each burst: enough of the stream for several segments, of which Kafka allows none below 1 MiB.
BURST_RECORDS, STREAM_RECORDS = 30, 1000
SEGMENT_BYTES, RETENTION_BYTES = 1 << 20, 2 << 20
TOPICS = {
    "bursts": (6, {}),
    "stream": (1, {"segment.bytes": str(SEGMENT_BYTES), "retention.bytes": str(RETENTION_BYTES)}),
}
BROKER = {
    "log.initial.task.delay.ms": "1000",  # else it looks 30 s after its start for the first time
    "log.retention.check.interval.ms": "1000",
    "log.segment.delete.delay.ms": "1000",
}
# So many looks of the broker at its log that delete nothing, and it is done.
QUIET_SECONDS, PATIENCE_SECONDS = 4, 60


@contextmanager
def broker(path: str):
    """One broker and its controller: its address, its log folder and its settings."""
    with Processes() as processes:
        cluster = Cluster(processes, path, [1], BROKER)
        cluster.start()
        yield cluster.address(), cluster.brokers[1].folder, cluster.brokers[1].properties.read_text()


def rows(begin_ms: int) -> list[dict[str, Any]]:
    """The trace: bursts of one millisecond each."""
    import random

    dice = random.Random(11)
    made = []
    for burst in range(BURSTS):
        at = burst * BURST_EVERY_MS
        for _ in range(BURST_RECORDS):
            key = f"user-{dice.randrange(50)}"
            made.append(_row(begin_ms, at, "bursts", key, dice.randrange(20, 400)))
        for _ in range(STREAM_RECORDS):
            made.append(_row(begin_ms, at, "stream", f"k{dice.randrange(1000)}", dice.randrange(200, 700)))
    return made


def _row(begin_ms: int, at: int, topic: str, key: str, size: int) -> dict[str, Any]:
    stamp = begin_ms + at
    writer = f"{topic}-writer"
    return {
        "at": at, "timestamp": stamp, "topic": topic, "producer": writer, "key": key, "value_size": size,
    }  # fmt: skip


def stored(logs: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """What is on disk: batches of each partition, and the segments that are left."""
    from advisor.replay.trace.segment_files import batches, partition_folders, segments

    found = {}
    for folder, topic, partition in partition_folders(str(logs)):
        mine, bases = [], []
        for path in segments(folder):
            data = Path(path).read_bytes()
            listed = list(batches(data))
            if listed:
                bases.append((int(Path(path).stem), len(data)))
            mine += [(one.base_offset, one.records, one.size, one.max_stamp) for one in listed]
        found[topic, partition] = {"batches": mine, "segments": bases}
    return found


def written(words: list[str], logs: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """What is on disk when all is written and nothing is deleted yet."""
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if not process.stdout.readline().startswith("written"):
                raise RuntimeError("the trace could not be written")
            found = stored(logs)
            process.stdin.write("\n")
            process.stdin.close()
            process.wait(timeout=120)
        finally:
            if process.poll() is None:
                process.kill()
    return found


def settled(
    logs: Path, before: dict[tuple[str, int], dict[str, Any]]
) -> dict[tuple[str, int], dict[str, Any]]:
    """What is on disk when retention has deleted something and then, for some looks, nothing more."""
    end = time.monotonic() + PATIENCE_SECONDS
    found, since = before, time.monotonic()
    while time.monotonic() < end and (found == before or time.monotonic() - since < QUIET_SECONDS):
        time.sleep(0.5)
        try:
            now = stored(logs)
        except FileNotFoundError:  # deleted between a look at the folder and one at the file
            continue
        if now != found:
            found, since = now, time.monotonic()
    return found


def compare(spark: Any, folder: Path) -> dict[str, Any]:
    """The differences; none is what is wanted."""
    from advisor.replay import replay_workload

    made = rows(int(time.time() * 1000) // 1000 * 1000)
    trace = folder / "trace.parquet"
    # Records of one millisecond are told in the order in which they were sent.
    recorded = [{**row, "offset": number} for number, row in enumerate(made)]
    pq.write_table(pa.Table.from_pylist(recorded).drop_columns(["at"]), trace)
    listed = folder / "trace.txt"
    listed.write_text(
        "".join(
            f"{row['at']}\t{row['topic']}\t{row['producer']}\t{row['timestamp']}\t{row['key']}\t{row['value_size']}\n"
            for row in made
        )
    )
    path = classpath(find_jars(KAFKA, fetch=True))
    with broker(path) as (address, logs, settings):
        config = folder / "config"
        config.mkdir()
        producer = {"bootstrap.servers": address, "linger.ms": LINGER_MS, "batch.size": 16_384, "acks": "all"}
        (config / "producer.properties").write_text("".join(f"{k}={v}\n" for k, v in producer.items()))
        (config / "server.properties").write_text(settings)
        (config / "kafka-advisor.toml").write_text(f'kafka_version = "{KAFKA[:3]}"\n[facts]\nbrokers = 1\n')
        topic_lines = []
        for name, (partitions, topic) in TOPICS.items():
            first = {key: value for key, value in topic.items() if key != "retention.bytes"}
            topic_lines.append("\t".join([name, str(partitions), *(f"{k}={v}" for k, v in first.items())]))
            text = "".join(f"{k}={v}\n" for k, v in topic.items())
            (config / f"topic-{name}.properties").write_text(
                f"partitions={partitions}\nreplication.factor=1\n{text}"
            )
        (folder / "topics.txt").write_text("\n".join(topic_lines) + "\n")
        (folder / "later.txt").write_text(f"stream\tretention.bytes={RETENTION_BYTES}\n")
        writer = [
            "java", *LIGHT, "-Xmx200m", "-cp", path, str(HERE / "WriteTrace.java"),
            str(config / "producer.properties"), str(folder / "topics.txt"), str(listed),
            str(folder / "later.txt"),
        ]  # fmt: skip
        before = written(writer, logs)
        after = settled(logs, before)
    result = replay_workload(
        spark,
        str(trace),
        str(folder / "out"),
        config=[str(config)],
        checked=1,
        watch_ms=60_000,
        keep_batches=True,
    )
    return differences(result, before, after)


def differences(result: Any, before: dict[Any, Any], after: dict[Any, Any]) -> dict[str, Any]:
    table = pq.read_table(Path(result.folder) / "batches").to_pylist()
    replayed: dict[tuple[str, int], list[Any]] = {}
    for row in sorted(table, key=lambda row: (row["drained"], row["producer"], row["number"])):
        replayed.setdefault((row["topic"], row["partition"]), []).append(
            (row["records"], row["size"], row["max_stamp"])
        )
    segments = pq.read_table(Path(result.folder) / "segments").to_pylist()
    lines = []
    for key in sorted({*before, *replayed}):
        real = before.get(key, {"batches": [], "segments": []})
        ours = replayed.get(key, [])
        theirs = [one[1:] for one in real["batches"]]
        mine = sorted(
            (row for row in segments if (row["topic"], row["partition"]) == key), key=lambda r: r["base"]
        )
        left = [row["base"] for row in mine if row["deleted"] is None]
        lines.append(
            {
                "topic": key[0],
                "partition": key[1],
                "records": (sum(one[0] for one in ours), sum(one[0] for one in theirs)),
                "batches": (len(ours), len(theirs)),
                "batches_that_differ": sum(a != b for a, b in zip(ours, theirs, strict=False))
                + abs(len(ours) - len(theirs)),
                "segments": ([(r["base"], r["bytes"]) for r in mine], real["segments"]),
                "left_by_retention": (left, [base for base, _ in after.get(key, real)["segments"]]),
            }
        )
    wrong = [
        one
        for one in lines
        if one["batches_that_differ"]
        or one["segments"][0][-len(one["segments"][1]) :] != one["segments"][1]
        or one["left_by_retention"][0] != one["left_by_retention"][1]
    ]
    return {"partitions": lines, "differ": wrong}


def main() -> int:
    from advisor.spark.session import open_session

    if shutil.which("mvn") is None or shutil.which("java") is None:
        print("Java and Maven are needed", file=sys.stderr)
        return 2
    spark = open_session("local[2]", None, {"spark.sql.shuffle.partitions": "2"})
    try:
        with tempfile.TemporaryDirectory(prefix="kafka-advisor-broker-") as folder:
            found = compare(spark, Path(folder))
    finally:
        spark.stop()
    print(json.dumps(found, indent=1))
    return 1 if found["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
