"""A recorded workload replayed, against the same records repartitioned by topic-partition, sorted by time
within it and aggregated in windows of ten seconds by Spark.

`python -m tests.bench replay [RECORDS]`: 5,000,000 unless told, some minutes on two cores; the goals are
stated for 50,000,000, which takes ten times as long. CPU of the driver, the JVM and the Python workers
together, everything warm, taken in turns in one session. The trace has keys of four topics, in no order: a
day, in which nearly every record is a batch of its own, and the same records in a rush, where batches have
several.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._family import Family

RECORDS, ROUNDS = 5_000_000, 2
TOPICS, PARTITIONS, PRODUCERS, KEYS = 4, 24, 8, 100_000
DAY_MS = 24 * 3_600_000
RUSH_RECORDS_A_MS = 50
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


def made(spark: Any, folder: Path, records: int, span_ms: int) -> str:
    """Records in no order, by Spark: times, keys and sizes are hashes of the row's number."""
    from pyspark.sql import functions as F

    out = folder / f"trace-{records}-{span_ms}.parquet"

    def drawn(seed: int, below: int) -> Any:
        return F.pmod(F.xxhash64("id", F.lit(seed)), F.lit(below))

    key = F.concat(F.lit("user-"), F.pmod(drawn(3, KEYS) * drawn(4, 1000), F.lit(KEYS)).cast("string"))
    columns = [
        (F.lit(BEGIN_MS) + drawn(1, span_ms)).alias("timestamp"),
        F.concat(F.lit("topic-"), drawn(2, TOPICS).cast("string")).alias("topic"),
        F.concat(F.lit("service-"), drawn(5, PRODUCERS).cast("string")).alias("producer"),
        (drawn(6, 400) + 100).alias("value_size"),
        key.alias("key"),
    ]
    if not out.exists():
        spark.range(records).select(*columns).write.parquet(str(out))
    return str(out)


def bare(spark: Any, source: str) -> None:
    """What any such job must do at the least: the records of a partition together, in order, summed up."""
    from pyspark.sql import functions as F

    rows = spark.read.parquet(source)
    rows = rows.withColumn("partition", F.pmod(F.hash("key"), F.lit(PARTITIONS)))
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


def run(records: int = RECORDS) -> dict[str, Any]:
    from advisor.spark.session import open_session

    family = Family()
    with tempfile.TemporaryDirectory(prefix="kafka-advisor-bench-") as name:
        folder = Path(name)
        (folder / "config").mkdir()
        for file, text in CONFIG.items():
            (folder / "config" / file).write_text(text)
        spark = open_session("local[2]", None, {})
        try:
            day = made(spark, folder, records, DAY_MS)
            fifth = made(spark, folder, records // 5, DAY_MS)
            rush = made(spark, folder, records, max(1000, records // RUSH_RECORDS_A_MS))
            works: dict[str, Callable[[], object]] = {
                "bare": lambda: bare(spark, day),
                "replay": lambda: replayed(spark, day, folder),
                "sweep": lambda: replayed(spark, day, folder, SWEEP),
                "bare, a rush": lambda: bare(spark, rush),
                "replay, a rush": lambda: replayed(spark, rush, folder),
                "a fifth": lambda: replayed(spark, fifth, folder),
            }
            taken: dict[str, list[float]] = {name: [] for name in works}
            bare(spark, fifth)
            summary = replayed(spark, fifth, folder, SWEEP)
            for _ in range(ROUNDS):
                for name, work in works.items():
                    taken[name].append(family.cpu_of(work))
        finally:
            spark.stop()
    medians = {name: statistics.median(times) for name, times in taken.items()}
    each = {
        name: round(seconds / (records // 5 if name == "a fifth" else records) * 1e6, 2)
        for name, seconds in medians.items()
    }
    return {
        "name": "replay",
        "ratio": round(medians["replay"] / medians["bare"], 2),
        "goal": "a whole replay at most 2x the same records shuffled, sorted and summed in windows",
        "others": {
            "a rush": round(medians["replay, a rush"] / medians["bare, a rush"], 2),
            "a sweep of 8 values / one (goal: at most 2)": round(medians["sweep"] / medians["replay"], 2),
            "all records / a fifth of them (linear: 5)": round(medians["replay"] / medians["a fifth"], 2),
            "peak resident MB of driver, JVM and workers": family.peak_megabytes,
            "CPU microseconds of a record": each,
        },
        "raw": {
            "records": records,
            "batches of a fifth": summary["totals"]["batches"],
            "cpu_seconds": {name: [round(t, 1) for t in times] for name, times in taken.items()},
        },
    }
