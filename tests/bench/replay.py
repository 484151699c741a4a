"""A recorded workload replayed, against the same records repartitioned by topic-partition, sorted by time
within it and aggregated in windows of ten seconds by Spark.

CPU of the driver, the JVM and the Python workers together, everything warm, taken in turns in one session.
`REPLAY_RECORDS` sets another size than 50,000,000, `REPLAY_ROUNDS` another number of rounds;
`REPLAY_GROWTH=0` leaves out the tenth of the size. The trace has keys of four topics; with
`REPLAY_KEYS=hash` it has their hashes.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._family import Family

RECORDS = int(os.environ.get("REPLAY_RECORDS", "50000000"))
ROUNDS = int(os.environ.get("REPLAY_ROUNDS", "3"))
GROWTH = os.environ.get("REPLAY_GROWTH", "1") == "1"
HASHED = os.environ.get("REPLAY_KEYS", "keys") == "hash"
HOURS, TOPICS, PARTITIONS, PRODUCERS, KEYS = 24, 4, 24, 8, 100_000
BEGIN_MS = 1_794_787_200_000
SWEEP = ("0", "1", "2", "5", "10", "20", "50")
CONFIG = {
    "producer.properties": "bootstrap.servers=a:9092\nlinger.ms=5\nbatch.size=16384\nacks=all\n",
    "server.properties": (
        "process.roles=broker\nnode.id=1\nnum.partitions=24\ndefault.replication.factor=3\n"
        "log.retention.hours=6\nlog.segment.bytes=104857600\n"
    ),
    "kafka-advisor.toml": 'kafka_version = "4.1"\n[facts]\nbrokers = 3\n',
}


def made(spark: Any, folder: Path, records: int) -> str:
    """A day of records in no order, by Spark: keys and sizes are hashes of the row's number."""
    from pyspark.sql import functions as F

    out = folder / f"trace-{records}.parquet"

    def drawn(seed: int, below: int) -> Any:
        return F.pmod(F.xxhash64("id", F.lit(seed)), F.lit(below))

    key = F.concat(F.lit("user-"), F.pmod(drawn(3, KEYS) * drawn(4, 1000), F.lit(KEYS)).cast("string"))
    columns = [
        (F.lit(BEGIN_MS) + drawn(1, HOURS * 3_600_000)).alias("timestamp"),
        F.concat(F.lit("topic-"), drawn(2, TOPICS).cast("string")).alias("topic"),
        F.concat(F.lit("service-"), drawn(5, PRODUCERS).cast("string")).alias("producer"),
        (drawn(6, 400) + 100).alias("value_size"),
    ]
    columns.append(F.hash(key).cast("bigint").alias("key_hash") if HASHED else key.alias("key"))
    spark.range(records).select(*columns).write.parquet(str(out))
    return str(out)


def bare(spark: Any, source: str) -> None:
    """What any such job must do at the least: the records of a partition together, in order, summed up."""
    from pyspark.sql import functions as F

    rows = spark.read.parquet(source)
    key = F.col("key_hash") if HASHED else F.col("key")
    rows = rows.withColumn("partition", F.pmod(F.hash(key), F.lit(PARTITIONS)))
    rows = rows.repartition(8, "topic", "partition").sortWithinPartitions("topic", "partition", "timestamp")
    window = (F.col("timestamp") / 10_000).cast("bigint")
    sums = rows.groupBy("topic", "partition", window.alias("window")).agg(
        F.count(F.lit(1)), F.sum("value_size"), F.min("timestamp"), F.max("timestamp")
    )
    sums.write.format("noop").mode("overwrite").save()


def replayed(spark: Any, source: str, folder: Path, sweep: tuple[str, ...] = ()) -> dict[str, Any]:
    from advisor.replay import replay_workload

    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    wanted = {"linger.ms": sweep} if sweep else {}
    done = replay_workload(spark, source, str(out), config=[str(folder / "config")], sweep=wanted)
    return dict(done.summary)


def run() -> dict[str, Any]:
    from advisor.spark.session import open_session

    family = Family()
    with tempfile.TemporaryDirectory(prefix="kafka-advisor-bench-") as name:
        folder = Path(name)
        (folder / "config").mkdir()
        for file, text in CONFIG.items():
            (folder / "config" / file).write_text(text)
        spark = open_session("local[2]", None, {})
        try:
            source = made(spark, folder, RECORDS)
            small = made(spark, folder, RECORDS // 10)
            works: dict[str, Callable[[], object]] = {
                "bare": lambda: bare(spark, source),
                "replay": lambda: replayed(spark, source, folder),
                "sweep": lambda: replayed(spark, source, folder, SWEEP),
            }
            taken: dict[str, list[float]] = {name: [] for name in works}
            bare(spark, small)
            replayed(spark, small, folder)
            for _ in range(ROUNDS):
                for name, work in works.items():
                    taken[name].append(family.cpu_of(work))
            peak = family.peak_megabytes
            summary = replayed(spark, source, folder)
            tenth = family.cpu_of(lambda: replayed(spark, small, folder)) if GROWTH else None
        finally:
            spark.stop()
    medians = {name: statistics.median(times) for name, times in taken.items()}
    return {
        "name": "replay",
        "ratio": round(medians["replay"] / medians["bare"], 2),
        "goal": "a whole replay at most 2x the same records shuffled, sorted and summed in windows",
        "others": {
            "a sweep of 8 values / one (goal: at most 2)": round(medians["sweep"] / medians["replay"], 2),
            "peak resident MB of driver, JVM and workers": peak,
            "CPU microseconds of a record": {
                name: round(seconds / RECORDS * 1e6, 2) for name, seconds in medians.items()
            },
            "CPU microseconds of a record at a tenth of the size": (
                None if tenth is None else round(tenth / (RECORDS // 10) * 1e6, 2)
            ),
        },
        "raw": {
            "records": RECORDS,
            "batches": summary["totals"]["batches"],
            "rounds": ROUNDS,
            "cpu_seconds": {name: [round(t, 1) for t in times] for name, times in taken.items()},
        },
    }
