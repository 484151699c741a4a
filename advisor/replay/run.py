"""One replay: trace -> records -> batches -> logs -> tables."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..model import UsageError
from ..spark.session import NEEDED, is_local, settings
from ..spark.shipping import bundle, sent
from ..spark.snapshot import of_frame
from ..spark.store import Store
from ..spark.tables import ddl
from ..tuples import NamedTuple
from .logs import HOUR_COLUMNS, HOUR_MS
from .options import ReplayOptions
from .plan import Plan, TopicPlan, plans
from .records import BatchVariants, Writer, batch_variants, batches, key_hashes, shuffle_partitions
from .result import ReplayResult
from .tables import SCHEMAS
from .trace.sources import PARSED, read_trace
from .trace.table import REASON, normalised

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Progress = Callable[[str], None]
_OURS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
}


class Trace(NamedTuple):
    """What one look at all records says."""

    frame: DataFrame
    writers: tuple[Writer, ...]
    topics: Mapping[str, int | None]
    """The largest partition that was recorded of each, None if none was."""
    begin: int
    until: int
    records_in: int
    replayed: int
    quarantine: tuple[tuple[str, str, int], ...]
    """(topic, reason, records)"""
    counted: tuple[Mapping[str, Any], ...]
    has_keys: bool
    has_late: bool
    has_order: bool
    ratio: float | None
    notes: tuple[str, ...] = ()


def replay_workload(
    spark: SparkSession,
    source: Any,
    out: str,
    options: ReplayOptions,
    progress: Progress = lambda text: None,
) -> ReplayResult:
    run = Run(spark, source, out, options, progress)
    with run.store.place.alone(options.resume), settings(spark, {**NEEDED, **_OURS}):
        return run.run()


class Run:
    def __init__(
        self, spark: SparkSession, source: Any, out: str, options: ReplayOptions, progress: Progress
    ) -> None:
        self.spark, self.source, self.options, self.progress = spark, source, options, progress
        self.store = Store(spark, out, progress, SCHEMAS)
        self.packed = None if is_local(spark) else bundle()

    def run(self) -> ReplayResult:
        options = self.options
        trace = self._look()
        made = plans(options, trace.topics, trace.ratio)
        trace = self._outside(trace, made[0])
        if not trace.replayed:
            raise UsageError("no record of the trace can be replayed: the table quarantine says why")
        asked = {
            "source": [self.source if isinstance(self.source, str) else "a DataFrame", _held(trace)],
            "options": options._replace(resume=False, now="")._asdict(),
            "counted": [trace.records_in, trace.begin, trace.until, list(trace.quarantine)],
            "plans": repr(made),
        }
        self.store.begin(asked, options.resume)
        variants = batch_variants(made, options.latency_ms)
        self._check_swept(trace, variants)
        keys, distinct = self._keys(trace, made[0])
        origin = trace.begin // HOUR_MS * HOUR_MS
        sent_batches = self.store.step(
            "sent",
            lambda: batches(
                self.spark, trace.frame, keys, distinct, trace.writers, variants, origin,
                _more(trace), options, self.packed,
            ),
        )  # fmt: skip
        logs = self.store.step("logs", lambda: self._logs(sent_batches, trace, made, variants))
        from .tell.results import write_results

        result = write_results(self, trace, made, sent_batches, logs, keys)
        self.store.place.delete(PARSED)
        return result

    def _look(self) -> Trace:
        """Counts by topic and producer; nothing is shuffled but the counts."""
        from pyspark.sql import functions as F

        raw, notes, ratio = read_trace(self.spark, self.source, self.options, self.store.place)
        frame = normalised(raw, self.options.columns, self.options.topic, self.options.lateness_ms)
        keyless = F.col("partition").isNull() & F.col("key").isNull() & F.col("key_hash").isNull()
        counts = frame.groupBy("topic", "producer", REASON).agg(
            F.count(F.lit(1)).alias("records"),
            F.min("time").alias("begin"),
            F.max("time").alias("until"),
            F.max("partition").alias("partition"),
            F.sum("raw").alias("raw"),
            F.sum("contents").alias("contents"),
            F.count("key").alias("keys"),
            F.count("offset").alias("offsets"),
            F.sum(keyless.cast("bigint")).alias("keyless"),
            F.max(F.col("time") - F.col("stamp")).alias("late"),
            F.min(F.col("time") - F.col("stamp")).alias("early"),
        )
        rows = sorted((row.asDict() for row in counts.collect()), key=repr)
        good = [row for row in rows if row[REASON] is None]
        bad: dict[tuple[str, str], int] = {}
        for row in rows:
            if row[REASON] is not None:
                name = row["topic"] or "", row[REASON]
                bad[name] = bad.get(name, 0) + row["records"]
        writers: dict[str, list[Mapping[str, Any]]] = {}
        for row in good:
            writers.setdefault(row["producer"] or row["topic"], []).append(row)
        topics: dict[str, int | None] = {}
        for row in good:
            known = [one for one in (topics.get(row["topic"]), row["partition"]) if one is not None]
            topics[row["topic"]] = max(known, default=None)
        return Trace(
            frame.where(F.col(REASON).isNull()),
            tuple(
                Writer(
                    name, tuple(sorted({row["topic"] for row in mine})), any(row["keyless"] for row in mine)
                )
                for name, mine in sorted(writers.items())
            ),
            topics,
            min([row["begin"] for row in good], default=0),
            max([row["until"] for row in good], default=0),
            sum(row["records"] for row in rows),
            sum(row["records"] for row in good),
            tuple((topic, reason, count) for (topic, reason), count in sorted(bad.items())),
            tuple(good),
            any(row["keys"] for row in good),
            any(row["late"] or row["early"] for row in good),
            any(row["offsets"] for row in good),
            ratio,
            tuple(notes),
        )

    def _outside(self, trace: Trace, plan: Plan) -> Trace:
        """Without the records of partitions that the configuration does not have."""
        from pyspark.sql import functions as F

        small = {
            one.topic: one.partitions
            for one in plan.topics
            if (trace.topics[one.topic] or 0) >= one.partitions
        }
        if not small or "partitions" in self.options.sweep:
            return trace
        beyond = F.lit(False)
        for topic, count in small.items():
            beyond = beyond | ((F.col("topic") == topic) & (F.coalesce("partition", F.lit(0)) >= count))
        counts = {
            row["topic"]: row["count"] for row in trace.frame.where(beyond).groupBy("topic").count().collect()
        }
        told = [
            (topic, f"a partition beyond the {small[topic]} of the configuration", count)
            for topic, count in sorted(counts.items())
        ]
        gone = sum(counts.values())
        return trace._replace(
            frame=trace.frame.where(~beyond),
            replayed=trace.replayed - gone,
            quarantine=(*trace.quarantine, *told),
        )

    def _check_swept(self, trace: Trace, variants: BatchVariants) -> None:
        swept = len({tuple(t.partitions for t in one.topics) for one in variants.plans}) > 1
        recorded = [row["topic"] for row in trace.counted if row["partition"] is not None]
        if swept and recorded and not (trace.has_keys or any(row["keyless"] for row in trace.counted)):
            raise UsageError(
                f"--sweep partitions: the trace says the partition of {recorded[0]} and not the keys, "
                "so nobody can tell where its records would go"
            )

    def _keys(self, trace: Trace, plan: Plan) -> tuple[DataFrame | None, int]:
        if not trace.has_keys:
            return None, 0
        keys = self.store.step("hashes", lambda: key_hashes(trace.frame, plan, self.packed))
        return keys, keys.count()

    def _logs(
        self, sent_batches: DataFrame, trace: Trace, made: list[Plan], variants: BatchVariants
    ) -> DataFrame:
        """The second shuffle: batches by partition, sorted by time, to segments and hours."""
        longest = max(topic.batching.linger_ms for plan in made for topic in plan.topics)
        job = {
            "begin": trace.begin,
            "until": trace.until + min(longest, HOUR_MS) + 1 + self.options.watch_ms,
            "checked": self.options.checked,
            "variants": [
                {"number": number, "batches": of, **_log_job(plan)}
                for number, (plan, of) in enumerate(zip(made, variants.of_plan, strict=True))
            ],
        }
        count = self.options.partitions or shuffle_partitions(self.spark)
        rows = sent_batches.repartition(count, "variant", "place").sortWithinPartitions(
            "variant", "place", "drained", "producer", "number"
        )
        work = sent("advisor.replay.worker:make_logs", json.dumps(job), self.packed)
        return rows.mapInArrow(work, ddl(HOUR_COLUMNS))


def _held(trace: Trace) -> str | None:
    """What the source holds; what is parsed first is written anew each time, and told by its counts."""
    if any(
        path.rstrip("/").endswith(".parquet") and f"/{PARSED}/" in path for path in trace.frame.inputFiles()
    ):
        return ""
    return of_frame(trace.frame)


def _more(trace: Trace) -> list[str]:
    """What a record has besides its place and its time."""
    return [name for name, has in (("order", trace.has_order), ("late", trace.has_late)) if has]


def _log_job(plan: Plan) -> dict[str, Any]:
    topic_of = [number for number, topic in enumerate(plan.topics) for _ in topic.replicas]
    return {
        "logs": [dataclasses.asdict(topic.log) for topic in plan.topics],
        "schedules": [topic.schedule._asdict() for topic in plan.topics],
        "capacities": [capacity(topic) for topic in plan.topics],
        "topic_of": topic_of,
    }


def capacity(topic: TopicPlan) -> float | None:
    """Records a millisecond that a partition's reader takes; None where nobody says how long one takes."""
    takes = topic.consumer.processing_ms
    if not takes:
        return None
    share = -(-topic.partitions // topic.consumer.members)
    return 1 / takes / share
