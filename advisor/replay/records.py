"""Records as the lanes take them: two or three numbers each, shuffled once and sorted by one of them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..sim.producer.accumulator import Batching
from ..spark.shipping import sent
from ..spark.tables import ddl
from ..tuples import NamedTuple
from .columns import BATCH_COLUMNS, CONTENTS_BITS, HASH_COLUMNS, TIME_BITS
from .plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# No hash and no partition: a record without a key.
KEYLESS = -(2**40)
# As many distinct keys are told to every executor; more are joined by a shuffle.
_BROADCAST_KEYS = 1_000_000


class Writer(NamedTuple):
    """A producer of the trace and the topics that it writes."""

    name: str
    topics: tuple[str, ...]
    keyless: bool


def key_hashes(frame: DataFrame, plan: Plan, packed: bytes | None) -> DataFrame:
    """Distinct keys, how often each was written, and its hash: a key is hashed once."""
    from pyspark.sql import functions as F

    keys = (
        frame.where("key is not null")
        .groupBy("topic", "key")
        .agg(
            F.count(F.lit(1)).alias("records"),
            F.sum("raw").alias("raw"),
            F.max_by("contents", F.struct("time", F.coalesce("offset", F.lit(-1)), "contents")).alias("live"),
        )
    )
    schemes = json.dumps({topic.topic: topic.scheme for topic in plan.topics})
    return keys.mapInArrow(sent("advisor.replay.worker:hash_keys", schemes, packed), ddl(HASH_COLUMNS))


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
    frame: DataFrame,
    keys: DataFrame | None,
    distinct: int,
    writers: Sequence[Writer],
    variants: BatchVariants,
    origin: int,
    has: Sequence[str],
    options: Any,
    packed: bytes | None,
) -> DataFrame:
    """The plan's first shuffle: records by producer and node, sorted by time, to batches."""
    from pyspark.sql import functions as F

    plan = variants.plans[0]
    swept = len({tuple(t.partitions for t in one.topics) for one in variants.plans}) > 1
    nodes = sorted({leader for one in variants.plans for leader in one.leaders})
    frame = frame.withColumn("writer", F.coalesce("producer", "topic"))
    frame = frame.join(F.broadcast(_topics(spark, plan)), "topic").join(
        F.broadcast(_writers(spark, writers)), "writer"
    )
    hashed = F.col("key_hash").bitwiseAND(0x7FFFFFFF)
    if keys is not None:
        told = keys.select("topic", "key", F.col("hash").alias("found"))
        told = F.broadcast(told) if distinct <= _BROADCAST_KEYS else told
        frame = frame.join(told, ["topic", "key"], "left")
        hashed = F.coalesce(hashed, F.col("found"))
    place = F.col("first_place") + F.coalesce(
        F.col("partition"), F.pmod(hashed, F.col("partitions").cast("bigint"))
    )
    keyless = F.col("number") + F.lit(plan.places)
    width = len(nodes) + 1
    whole = F.lit(len(nodes))
    columns = []
    if swept:
        # The key decides where there is one: what was recorded was another number of partitions.
        which = F.coalesce(hashed, -1 - F.col("partition"), F.lit(KEYLESS))
        target, lane = F.col("number"), F.col("pid") * width + whole
        columns.append(which.alias("hash"))
    else:
        target = F.coalesce(place, keyless)
        leader = F.element_at("leaders", (place - F.col("first_place") + 1).cast("int"))
        lane = F.col("pid") * width + F.when(F.col("whole"), whole).otherwise(leader)
    if "order" in has:
        # Offsets tell in which order records of one millisecond came.
        columns.append(F.coalesce("offset", F.lit(-1)).alias("order"))
    if "late" in has:
        columns.append((F.col("time") - F.col("stamp")).alias("late"))
    rows = frame.select(
        (F.shiftleft(lane.cast("bigint"), TIME_BITS) + F.col("time") - origin).alias("at"),
        (F.shiftleft(target.cast("bigint"), CONTENTS_BITS) + F.col("contents")).alias("what"),
        *columns,
    )
    count = options.partitions or shuffle_partitions(spark)
    sorted_rows = rows.repartition(count, F.shiftright("at", TIME_BITS)).sortWithinPartitions("at")
    more: list[str] = [name for name in ("order", "hash", "late") if name in rows.columns]
    job = _job(writers, variants, origin, width, more, options)
    work = sent("advisor.replay.worker:make_batches", json.dumps(job), packed)
    return sorted_rows.mapInArrow(work, ddl(BATCH_COLUMNS))


def shuffle_partitions(spark: SparkSession) -> int:
    from ..syntax.numbers import integer

    return integer(str(spark.conf.get("spark.sql.shuffle.partitions", "8")), (1, 1 << 20)) or 8


def _topics(spark: SparkSession, plan: Plan) -> DataFrame:
    nodes = {leader: number for number, leader in enumerate(sorted(set(plan.leaders)))}
    rows = [
        (t.topic, number, t.first_place, t.partitions, [nodes[replicas[0]] for replicas in t.replicas])
        for number, t in enumerate(plan.topics)
    ]
    columns = "topic string, number bigint, first_place bigint, partitions int, leaders array<int>"
    return spark.createDataFrame(rows, columns)


def _writers(spark: SparkSession, writers: Sequence[Writer]) -> DataFrame:
    rows = [(one.name, number, one.keyless) for number, one in enumerate(writers)]
    return spark.createDataFrame(rows, "writer string, pid bigint, whole boolean")


def _job(
    writers: Sequence[Writer],
    variants: BatchVariants,
    origin: int,
    width: int,
    more: list[str],
    options: Any,
) -> Mapping[str, Any]:
    made = []
    for number, plan in enumerate(variants.plans):
        policies: dict[str, int] = {}
        policy_of = []
        by_topic = {topic.topic: topic for topic in plan.topics}
        for writer in writers:
            policy = _alike(by_topic[writer.topics[0]].batching, options.latency_ms)
            text = json.dumps(dataclasses.asdict(policy))
            policy_of.append(policies.setdefault(text, len(policies)))
        made.append(
            {
                "number": number,
                "policies": [json.loads(text) for text in policies],
                "policy_of": policy_of,
                "leaders": plan.leaders,
                "topics": [(t.first_place, t.partitions, t.keyless) for t in plan.topics],
            }
        )
    return {
        "origin": origin,
        "lanes_a_producer": width,
        "checked": options.checked,
        "latency_ms": options.latency_ms,
        "keyless": KEYLESS,
        "more": more,
        "variants": made,
    }
