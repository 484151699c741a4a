"""The tables of a run, made of the hours of each partition, and the summary of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...spark.session import INTERPRETED, settings
from ...spark.shipping import sent
from ..columns import BATCH
from ..plan import Plan
from ..result import ReplayResult
from ..tables import HOURS, TABLES
from .compaction import Live
from .findings import findings
from .gathered import Gathered, gather
from .knee import with_knees

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..run import Run, Trace

_KEYS_SHOWN = 20
_TOTALS = ("records", "batches", "requests", "bytes", "segments", "files", "retained_bytes", "lag_max")


def write_results(
    run: Run,
    trace: Trace,
    plans: Sequence[Plan],
    batches: DataFrame | None,
    logs: DataFrame,
    keys: DataFrame | None,
) -> ReplayResult:
    from .page import replay_page
    from .summary import as_json, summary_of
    from .workload import workload_of, workload_text

    store = run.store
    run.progress("summing up")
    places = _places(run, plans)
    named = logs.join(places, ["variant", "place"])
    with settings(run.spark, INTERPRETED):
        store.step("hours", lambda: _hours(named))
        store.step("segments", lambda: _segments(named))
        store.step("brokers", lambda: _brokers(run, plans, named))
    if batches is not None:
        store.step("batches", lambda: _batches(run, batches, places))
    live = _live(keys)
    store.put("keys", _keys(keys, live))
    store.put("quarantine", ({"topic": t, "reason": r, "records": n} for t, r, n in trace.quarantine))
    with settings(run.spark, INTERPRETED):
        gathered = gather(store, plans)
    variants = with_knees(_variants(plans, gathered))
    store.put("variants", variants)
    workload = workload_of(trace, gathered, {topic: one.keys for topic, one in live.items()})
    found = findings(trace, plans[0], gathered)
    store.put("findings", found)
    summary = summary_of(run.options, trace, plans, gathered, variants, found, workload, live)
    store.place.write("unfinished/summary.json", as_json(summary))
    store.place.write("unfinished/workload.toml", workload_text(workload))
    store.place.write("unfinished/report.html", replay_page(summary))
    name = store.next_name()
    folder = store.finish(name, (*TABLES, "batches", "workload.toml"))
    return ReplayResult(summary, folder)


def _places(run: Run, plans: Sequence[Plan]) -> Any:
    from pyspark.sql import functions as F

    rows = [
        (number, topic.first_place + partition, plan.label, topic.topic, partition, list(replicas))
        for number, plan in enumerate(plans)
        for topic in plan.topics
        for partition, replicas in enumerate(topic.replicas)
    ]
    columns = "variant int, place bigint, label string, topic string, partition int, replicas array<int>"
    return F.broadcast(run.spark.createDataFrame(rows, columns))


def _moment(name: str) -> Any:
    from pyspark.sql import functions as F

    return F.timestamp_millis(F.col(name))


def _batches(run: Run, packed: DataFrame, places: Any) -> DataFrame:
    """Those of the configuration as it is, which is the first of all."""
    told = [name for name in BATCH.names or () if name != "opens"]
    work = sent("advisor.replay.worker:list_batches", json.dumps(told), run.packed)
    columns = ", ".join(f"{name} bigint" for name in ("place", "producer", "number", *told))
    mine = packed.where("variant = 0").mapInArrow(work, columns)
    return mine.join(places.where("variant = 0"), "place").select(
        "topic", "partition", "producer", "number", *told
    )


def _hours(named: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    measures = [name for name in HOURS if name not in ("variant", "topic", "partition", "leader", "hour")]
    return named.select(
        F.col("label").alias("variant"),
        "topic",
        "partition",
        F.element_at("replicas", 1).alias("leader"),
        _moment("hour").alias("hour"),
        *measures,
    )


def _segments(named: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    rows = named.select(
        F.col("label").alias("variant"), "topic", "partition", F.explode("began").alias("segment")
    )

    def moment(name: str) -> Any:
        return F.timestamp_millis(F.col(f"segment.{name}")).alias(name)

    return rows.select(
        "variant", "topic", "partition", "segment.base", "segment.bytes", moment("began"), moment("closed"),
        "segment.closed_by", moment("deleted"), "segment.deleted_by",
    )  # fmt: skip


def _brokers(run: Run, plans: Sequence[Plan], named: DataFrame) -> DataFrame:
    """Every replica holds the log; the leader takes the producers' bytes, the others fetch them."""
    from pyspark.sql import functions as F

    rows = named.select(
        "label", "hour", "bytes", "requests", "disk_bytes_max", "files_max", "maps_max",
        F.posexplode("replicas").alias("nth", "broker"),
    )  # fmt: skip
    leads = F.col("nth") == 0
    return (
        rows.groupBy("label", "broker", "hour")
        .agg(
            F.sum(F.when(leads, F.col("bytes")).otherwise(0)).alias("bytes_in"),
            F.sum(F.when(leads, 0).otherwise(F.col("bytes"))).alias("bytes_replicated"),
            F.sum(F.when(leads, F.col("requests")).otherwise(0)).alias("requests"),
            F.sum("disk_bytes_max").alias("disk_bytes"),
            F.sum("files_max").alias("files"),
            F.sum("maps_max").alias("maps"),
        )
        .select(
            F.col("label").alias("variant"), "broker", _moment("hour").alias("hour"), "bytes_in",
            "bytes_replicated", "requests", "disk_bytes", "files", "maps",
        )
    )  # fmt: skip


def _live(keys: DataFrame | None) -> Mapping[str, Live]:
    if keys is None:
        return {}
    from pyspark.sql import functions as F

    counted = keys.groupBy("topic").agg(
        F.count(F.lit(1)).alias("keys"), F.sum("live").alias("live"), F.sum("records").alias("records")
    )
    return {row["topic"]: Live(row["keys"], row["live"], row["records"]) for row in counted.collect()}


def _keys(keys: DataFrame | None, live: Mapping[str, Live]) -> list[dict[str, Any]]:
    """The keys of most records, of each topic some."""
    if keys is None:
        return []
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    most = Window.partitionBy("topic").orderBy(F.desc("records"), "key")
    ranked = keys.select("*", F.row_number().over(most).alias("rank")).where(F.col("rank") <= _KEYS_SHOWN)
    return [
        {
            "topic": row["topic"],
            "key": bytes(row["key"]).decode("utf-8", "backslashreplace"),
            "records": row["records"],
            "bytes": row["raw"],
            "share": row["records"] / live[row["topic"]].records,
        }
        for row in sorted(ranked.collect(), key=lambda row: (row["topic"], row["rank"]))
    ]


def _variants(plans: Sequence[Plan], gathered: Gathered) -> list[dict[str, Any]]:
    """One row a plan; a variant of no batches (all were refused) has none."""
    made = []
    for plan in plans:
        totals = gathered.totals.get(plan.label)
        if totals is None:
            continue
        setting, _, value = plan.label.partition("=")
        made.append(
            {
                "variant": plan.label,
                "setting": setting,
                "value": value,
                **{name: totals[name] for name in _TOTALS},
                "records_a_batch": totals["records"] / max(1, totals["batches"]),
                "added_ms": totals["waited_ms"] / max(1, totals["records"]),
                "hottest_share": gathered.hottest_share(plan.label),
            }
        )
    return made
