"""Records on Spark: packed by one look at the trace, shuffled once by producer, made into batches."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..sim.producer.accumulator import Batching
from ..spark.shipping import sent
from ..spark.tables import ddl
from ..tuples import NamedTuple
from .columns import BATCH_COLUMNS, PACKED_COLUMNS, RECORD
from .plan import ROUND_ROBIN, Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A producer of fewer records is not divided.
_SHARE_MIN = 100_000


class Writer(NamedTuple):
    """A producer of the trace and the topics that it writes."""

    name: str
    topics: tuple[str, ...]
    keyless: bool
    records: int


def packed_records(
    frame: DataFrame,
    schemes: Mapping[str, str],
    key_first: bool,
    reasons: Sequence[str],
    packed: bytes | None,
) -> DataFrame:
    """`frame` as `trace.table.normalised` gives it. `schemes` says how the producers of a topic hash keys, ""
    for all others; with `key_first` a key counts more than the partition that was recorded."""
    job = {"schemes": schemes, "key_first": key_first, "reasons": reasons}
    work = sent("advisor.replay.worker:pack_records", json.dumps(job), packed)
    return frame.mapInArrow(work, ddl(PACKED_COLUMNS))


def key_sums(records: DataFrame) -> DataFrame:
    """Distinct keys: how often each was written, and the size of its newest record."""
    from pyspark.sql import functions as F

    return (
        records.where("key is not null")
        .groupBy("topic", "key")
        .agg(
            F.sum("records").alias("records"),
            F.sum("raw").alias("raw"),
            F.max_by("live", "newest").alias("live"),
        )
    )


class BatchVariants(NamedTuple):
    """What differs in batches: plans that batch alike share one."""

    plans: list[Plan]
    of_plan: list[int]


def batch_variants(plans: Sequence[Plan], latency_ms: int) -> BatchVariants:
    seen: dict[Any, int] = {}
    kept: list[Plan] = []
    of_plan = []
    for plan in plans:
        key = tuple((t.replicas, t.keyless, t.scheme, _alike(t.batching, latency_ms)) for t in plan.topics)
        if key not in seen:
            seen[key] = len(kept)
            kept.append(plan)
        of_plan.append(seen[key])
    return BatchVariants(kept, of_plan)


def _alike(policy: Batching, latency_ms: int) -> Batching:
    # Requests that are answered at once are never in flight together.
    return policy if latency_ms else dataclasses.replace(policy, in_flight_max=0)


def batches(
    spark: SparkSession,
    records: DataFrame,
    writers: Sequence[Writer],
    variants: BatchVariants,
    key_first: bool,
    options: Any,
    packed: bytes | None,
) -> DataFrame:
    """The plan's first shuffle: records by producer, sorted by time, to batches."""
    from pyspark.sql import functions as F

    plan = variants.plans[0]
    count = options.partitions or shuffle_partitions(spark)
    numbers = spark.createDataFrame(
        [(t.topic, number) for number, t in enumerate(plan.topics)], "topic string, number bigint"
    )
    shares = _shares(writers, variants, count, options)
    who = spark.createDataFrame(
        [(one.name, pid, shares[pid]) for pid, one in enumerate(writers)],
        "producer string, pid bigint, shares bigint",
    )
    frame = records.where("target is not null").join(F.broadcast(numbers), "topic")
    frame = frame.join(F.broadcast(who), "producer")
    share: Any = F.lit(0).cast("bigint")
    if max(shares) > 1:
        share = F.explode(F.sequence(F.lit(0).cast("bigint"), F.col("shares") - 1))
    has = [name for name in RECORD if name in records.columns]
    rows = frame.select(
        "pid", share.alias("share"), "shares", "stretch", F.col("number").alias("topic"), *has
    )
    rows = rows.repartition(count, "pid", "share").sortWithinPartitions("pid", "share", "stretch")
    job = _job(writers, variants, key_first, options)
    work = sent("advisor.replay.worker:make_batches", json.dumps(job), packed)
    return rows.mapInArrow(work, ddl(BATCH_COLUMNS))


def _shares(writers: Sequence[Writer], variants: BatchVariants, tasks: int, options: Any) -> list[int]:
    """Into how many lanes a producer is divided, by the nodes that it writes to: one that has more records
    than a task should."""
    nodes = min(len(set(plan.leaders)) for plan in variants.plans)
    total = sum(one.records for one in writers)
    shares = []
    for one in writers:
        wanted = min(-(-one.records * tasks // max(1, total)), one.records // _SHARE_MIN, nodes)
        shares.append(1 if one.keyless or options.latency_ms else max(1, wanted))
    return shares


def shuffle_partitions(spark: SparkSession) -> int:
    from ..syntax.numbers import integer

    return integer(str(spark.conf.get("spark.sql.shuffle.partitions", "8")), (1, 1 << 20)) or 8


def _job(
    writers: Sequence[Writer], variants: BatchVariants, key_first: bool, options: Any
) -> Mapping[str, Any]:
    layouts: dict[Any, dict[str, Any]] = {}
    manners = {topic.topic: topic.keyless for topic in variants.plans[0].topics}
    for number, plan in enumerate(variants.plans):
        policies: dict[str, int] = {}
        policy_of = []
        by_topic = {topic.topic: topic for topic in plan.topics}
        for writer in writers:
            policy = _alike(by_topic[writer.topics[0]].batching, options.latency_ms)
            text = json.dumps(dataclasses.asdict(policy))
            policy_of.append(policies.setdefault(text, len(policies)))
        topics = tuple((t.first_place, t.partitions, t.keyless) for t in plan.topics)
        layout = layouts.setdefault(
            (tuple(plan.leaders), topics), {"leaders": plan.leaders, "topics": topics, "variants": []}
        )
        layout["variants"].append(
            {
                "number": number,
                "policies": [json.loads(text) for text in policies],
                "policy_of": policy_of,
            }
        )
    return {
        "checked": options.checked,
        "latency_ms": options.latency_ms,
        "key_first": key_first,
        "sticky": [
            one.keyless and any(manners[topic] != ROUND_ROBIN for topic in one.topics) for one in writers
        ],
        "layouts": list(layouts.values()),
    }
