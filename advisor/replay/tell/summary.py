"""A run in a page of text, or in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...sim.log.amounts import duration, size
from ..options import ReplayOptions
from ..plan import Plan
from .compaction import Live, compaction_of
from .gathered import Gathered
from .moments import moment

if TYPE_CHECKING:
    from ..run import Trace

# Of a text: topics and findings one by one, topics that share a note.
_SHOWN, _NAMED = 50, 3


def summary_of(
    options: ReplayOptions,
    trace: Trace,
    plans: Sequence[Plan],
    gathered: Gathered,
    variants: Sequence[Mapping[str, Any]],
    findings: Sequence[Mapping[str, Any]],
    workload: Mapping[str, Any],
    live: Mapping[str, Live],
) -> dict[str, Any]:
    plan = plans[0]
    seconds = (trace.until - trace.begin) / 1000
    counted = {"error": 0, "warning": 0, "note": 0}
    for one in findings:
        counted[one["severity"]] += 1
    return {
        "tool": {"name": "kafka-advisor", "version": __version__},
        "at": options.now,
        "records": {
            "in": trace.records_in,
            "replayed": trace.replayed,
            "quarantined": trace.records_in - trace.replayed,
        },
        "quarantine": [
            {"topic": topic, "reason": reason, "records": count} for topic, reason, count in trace.quarantine
        ],
        "began": moment(trace.begin).isoformat(),
        "ended": moment(trace.until).isoformat(),
        "producers": len(trace.writers),
        "brokers": plan.brokers,
        "topics": [
            {
                "topic": topic.topic,
                "deployment": topic.deployment,
                "partitions": topic.partitions,
                "replication_factor": len(topic.replicas[0]),
                "compression": topic.codec,
                "compression_ratio": topic.batching.compression_ratio,
                "linger_ms": topic.batching.linger_ms,
                "batch_size": topic.batching.batch_size,
                **{
                    name: value
                    for name, value in gathered.topics.get(("", topic.topic), {}).items()
                    if name != "partitions"
                },
                "compaction": compaction_of(
                    topic, gathered.topics.get(("", topic.topic), {}), live.get(topic.topic), seconds
                ),
            }
            for topic in plan.topics
        ],
        "totals": gathered.totals.get("", {}),
        "hottest_share": gathered.hottest_share(""),
        "assumed": [*trace.notes, *_assumed(plan)],
        "variants": list(variants),
        "errors": counted["error"],
        "warnings": counted["warning"],
        "notes": counted["note"],
        "findings": list(findings),
        "workload": workload,
        "hours": list(gathered.hours),
        "broker_hours": list(gathered.brokers),
    }


def _assumed(plan: Plan) -> list[str]:
    """Each with the topics of which it is assumed; of many the first."""
    topics: dict[str, list[str]] = {}
    for topic in plan.topics:
        for note in topic.assumed:
            topics.setdefault(note, []).append(topic.topic)
    told = []
    for note, mine in topics.items():
        names = ", ".join(mine[:_NAMED])
        others = f" and {len(mine) - _NAMED:,} others" if len(mine) > _NAMED else ""
        told.append(f"{'all topics' if len(mine) == len(plan.topics) > 1 else names + others}: {note}")
    return told


def as_json(summary: Mapping[str, Any]) -> str:
    def plain(value: object) -> str:
        assert isinstance(value, datetime)
        return value.isoformat()

    return json.dumps(summary, indent=1, ensure_ascii=False, default=plain) + "\n"


def render(summary: Mapping[str, Any], form: str, folder: str) -> str:
    if form == "json":
        return as_json(summary)
    from tabulate import tabulate

    records = summary["records"]
    lines = [
        f"{records['in']:,} records, {summary['began'][:16]} to {summary['ended'][:16]} UTC: "
        f"{records['replayed']:,} replayed, {records['quarantined']:,} quarantined",
    ]
    lines += [
        f"  {one['records']:,} {one['topic'] or '(no topic)'}: {one['reason']}"
        for one in summary["quarantine"]
    ]
    lines += ["", tabulate(*_topic_table(summary), tablefmt="plain", disable_numparse=True)]
    if len(summary["topics"]) > _SHOWN:
        lines.append(f"and {len(summary['topics']) - _SHOWN:,} more topics: see report.html")
    if len(summary["variants"]) > 1:
        lines += ["", "What if:", tabulate(*_variant_table(summary), tablefmt="plain", disable_numparse=True)]
        lines += [f"  knee of {one['setting']}: {one['value']}" for one in summary["variants"] if one["knee"]]
    for one in summary["topics"]:
        kept = one["compaction"]
        if kept is not None:
            every = "never" if kept["pass_every_ms"] is None else f"every {duration(kept['pass_every_ms'])}"
            lines.append(
                f"{one['topic']} is compacted: {kept['distinct_keys']:,} keys, {size(kept['live_bytes'])} of "
                f"their newest records ({kept['live_share']:.0%} of what was written); "
                f"the cleaner comes {every}"
            )
    lines.append("")
    for one in summary["findings"][:_SHOWN]:
        lines.append(f"{one['severity']} {one['code']} {one['name']}: {one['message']}")
        lines += [f"    {step}" for step in one["run"]]
    if len(summary["findings"]) > _SHOWN:
        lines.append(f"and {len(summary['findings']) - _SHOWN:,} more findings: see the table findings")
    lines += [f"assumed: {note}" for note in summary["assumed"]]
    lines += ["", "[workload]"]
    lines += [f"# {note}" for note in summary["workload"]["notes"]]
    lines += [f"{name} = {value}" for name, value in summary["workload"]["values"].items()]
    lines += ["", f"tables, workload.toml and report.html: {folder}"]
    return "\n".join(lines) + "\n"


def _topic_table(summary: Mapping[str, Any]) -> tuple[list[list[str]], list[str]]:
    rows = []
    most = sorted(summary["topics"], key=lambda one: (-one.get("bytes", 0), one["topic"]))[:_SHOWN]
    for one in sorted(most, key=lambda one: one["topic"]):
        if not one.get("batches"):
            continue
        rolls = ", ".join(
            f"{one[f'rolls_{cause}']:,} by {cause}"
            for cause in ("size", "age", "index", "retention", "range")
            if one[f"rolls_{cause}"]
        )
        rows.append(
            [
                one["topic"], f"{one['records']:,}", f"{one['batches']:,}",
                f"{one['records'] / one['batches']:.1f}", f"{one['waited_ms'] / one['records']:.1f} ms",
                size(one["bytes"]), rolls or "none", size(one["retained_bytes_max"]),
                duration(one["oldest_ms_max"]),
                "unknown" if one["lag_max"] is None else f"{one['lag_max']:,}",
            ]
        )  # fmt: skip
    head = [
        "topic", "records", "batches", "a batch", "added", "written", "rolls", "kept at most", "oldest",
        "lag",
    ]  # fmt: skip
    return rows, head


def _variant_table(summary: Mapping[str, Any]) -> tuple[list[list[str]], list[str]]:
    rows = [
        [
            one["variant"] or "as it is", f"{one['requests']:,}", f"{one['batches']:,}",
            f"{one['records_a_batch']:.1f}", f"{one['added_ms']:.1f} ms", size(one["bytes"]),
            f"{one['files']:,}", size(one["retained_bytes"]), f"{one['hottest_share']:.1%}",
        ]
        for one in summary["variants"]
    ]  # fmt: skip
    return rows, [
        "",
        "requests",
        "batches",
        "a batch",
        "added",
        "written",
        "files",
        "kept",
        "hottest partition",
    ]
