"""One replay: trace -> records -> batches -> logs -> tables."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
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
from .plan import Plan, TopicPlan, plans, schemes
from .records import (
    BatchVariants,
    Writer,
    batch_variants,
    batches,
    key_sums,
    packed_records,
    shuffle_partitions,
)
from .result import ReplayResult
from .tables import SCHEMAS
from .trace.sources import PARSED, read_trace
from .trace.table import normalised, reasons

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Progress = Callable[[str], None]
# Packed numbers are read once: to look for repeats in them, and to compress them, costs more than it saves.
_AS_IT_IS = {"compression": "none", "parquet.enable.dictionary": "false"}
# Rows of packed records are large: some are read at a time, not thousands.
_PACKED = {"spark.sql.parquet.columnarReaderBatchSize": "64"}
_OURS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
}


class Trace(NamedTuple):
    """What one look at all records says; `records` are packed, the keys with them."""

    records: DataFrame
    writers: tuple[Writer, ...]
    topics: Mapping[str, int | None]
    """The largest partition that was recorded of each, None if none was."""
    begin: int
    until: int
    records_in: int
    replayed: int
    quarantine: tuple[tuple[str, str, int], ...]
    """(topic, reason, records)"""
    columns: tuple[str, ...]
    """Which columns of packed records are not empty."""
    has_keys: bool
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
        raw, notes, ratio = read_trace(self.spark, self.source, options, self.store.place)
        frame = normalised(raw, options.columns, options.topic, options.lateness_ms)
        hashed_by = schemes(options)
        asked = {
            "source": [self.source if isinstance(self.source, str) else "a DataFrame", _held(raw)],
            "options": options._replace(resume=False, now="")._asdict(),
            "configuration": repr(plans(options, {"": None}, ratio)),
        }
        self.store.begin(asked, options.resume)
        records = self.store.step(
            "records",
            lambda: packed_records(
                frame, hashed_by, self._key_first, reasons(options.lateness_ms), self.packed
            ),
            **_AS_IT_IS,
        )
        with settings(self.spark, _PACKED):
            return self._replayed(_look(records, frame.columns)._replace(ratio=ratio, notes=tuple(notes)))

    def _replayed(self, trace: Trace) -> ReplayResult:
        options = self.options
        made = plans(options, trace.topics, trace.ratio)
        trace = self._outside(trace, made[0])
        if not trace.replayed:
            raise UsageError("no record of the trace can be replayed: the table quarantine says why")
        variants = batch_variants(made, options.latency_ms)
        self._check_swept(trace, variants)

        def make() -> DataFrame:
            records = trace.records.select("topic", "producer", "stretch", *trace.columns)
            who = trace.writers
            return batches(self.spark, records, who, variants, self._key_first, options, self.packed)

        # Batches that nobody asked for go to the logs as they are made.
        made_batches = self.store.step("sent", make, **_AS_IT_IS) if options.keep_batches else None
        logs = self.store.step(
            "logs",
            lambda: self._logs(make() if made_batches is None else made_batches, trace, made, variants),
        )
        keys = self.store.step("sums", lambda: key_sums(trace.records)) if trace.has_keys else None
        from .tell.results import write_results

        result = write_results(self, trace, made, made_batches, logs, keys)
        self.store.place.delete(PARSED)
        return result

    @property
    def _key_first(self) -> bool:
        """With another number of partitions the one that was recorded says nothing."""
        return any(key.rpartition(".")[2] == "partitions" for key in self.options.sweep)

    def _outside(self, trace: Trace, plan: Plan) -> Trace:
        """Without the records of partitions that the configuration does not have."""
        small = {
            one.topic: one.partitions
            for one in plan.topics
            if (trace.topics[one.topic] or 0) >= one.partitions
        }
        if not small or self._key_first:
            return trace
        work = sent("advisor.replay.worker:count_beyond", json.dumps(small), self.packed)
        rows = trace.records.where(
            trace.records["target"].isNotNull() & trace.records["topic"].isin(list(small))
        )
        beyond = rows.select("topic", "target").mapInArrow(work, "topic string, records bigint")
        counts = {row[0]: row[1] for row in beyond.groupBy("topic").sum("records").collect()}
        told = [
            (topic, f"a partition beyond the {small[topic]} of the configuration", count)
            for topic, count in sorted(counts.items())
            if count
        ]
        return trace._replace(
            replayed=trace.replayed - sum(counts.values()), quarantine=(*trace.quarantine, *told)
        )

    def _check_swept(self, trace: Trace, variants: BatchVariants) -> None:
        ways = {tuple(topic.scheme for topic in plan.topics) for plan in variants.plans}
        if len(ways) > 1:
            raise UsageError(
                "--sweep of a partitioner: a trace is hashed once; replay it with --set for each"
            )
        recorded = [topic for topic, partition in trace.topics.items() if partition is not None]
        if self._key_first and recorded and not (trace.has_keys or any(one.keyless for one in trace.writers)):
            raise UsageError(
                f"--sweep partitions: the trace says the partition of {recorded[0]} and not the keys, "
                "so nobody can tell where its records would go"
            )

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
            "variant", "place", "producer", "number"
        )
        work = sent("advisor.replay.worker:make_logs", json.dumps(job), self.packed)
        return rows.mapInArrow(work, ddl(HOUR_COLUMNS))


def _look(records: DataFrame, names: Sequence[str]) -> Trace:
    """Counts by topic and producer; of what is packed only its sizes are read."""
    from pyspark.sql import functions as F

    counts = (
        records.where("key is null")
        .groupBy("topic", "producer", "reason")
        .agg(
            F.sum("records").alias("records"),
            F.min("begin").alias("begin"),
            F.max("until").alias("until"),
            F.max("partition").alias("partition"),
            F.sum("keyless").alias("keyless"),
            F.max("is_late").alias("is_late"),
        )
    )
    rows = sorted((row.asDict() for row in counts.collect()), key=repr)
    good = [row for row in rows if row["reason"] is None]
    bad: dict[tuple[str, str], int] = {}
    for row in rows:
        if row["reason"] is not None:
            name = row["topic"] or "", row["reason"]
            bad[name] = bad.get(name, 0) + row["records"]
    writers: dict[str, list[Mapping[str, Any]]] = {}
    topics: dict[str, int | None] = {}
    for row in good:
        writers.setdefault(row["producer"], []).append(row)
        known = [one for one in (topics.get(row["topic"]), row["partition"]) if one is not None]
        topics[row["topic"]] = max(known, default=None)
    return Trace(
        records,
        tuple(
            Writer(
                name,
                tuple(sorted({row["topic"] for row in mine})),
                any(row["keyless"] for row in mine),
                sum(row["records"] for row in mine),
            )
            for name, mine in sorted(writers.items())
        ),
        topics,
        min([row["begin"] for row in good], default=0),
        max([row["until"] for row in good], default=0),
        sum(row["records"] for row in rows),
        sum(row["records"] for row in good),
        tuple((topic, reason, count) for (topic, reason), count in sorted(bad.items())),
        (
            *("at", "target", "contents"),
            *(["late"] if any(row["is_late"] for row in good) else []),
            *(["order"] if "offset" in names else []),
        ),
        "key" in names,
        None,
    )


def _held(raw: DataFrame) -> str | None:
    """What the source holds; what is parsed first is written anew each time, and told by its counts."""
    if any(path.rstrip("/").endswith(".parquet") and f"/{PARSED}/" in path for path in raw.inputFiles()):
        return ""
    return of_frame(raw)


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
