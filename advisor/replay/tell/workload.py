"""The [workload] that a trace implies, ready for kafka-advisor.toml or `audit --workload FILE`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .gathered import Gathered
from .moments import HOUR_MS, hour_words

if TYPE_CHECKING:
    from ..run import Trace


def workload_of(trace: Trace, gathered: Gathered, distinct: Mapping[str, int]) -> dict[str, Any]:
    """Of the topic with most bytes: the file has one table for all. The rate is that of the whole trace, as
    storage adds up; the busiest hour stands beside it."""
    topics = {name: row for (variant, name), row in gathered.topics.items() if not variant and row["records"]}
    if not topics:
        return {"topic": None, "values": {}, "notes": []}
    busiest = max(topics, key=lambda name: (topics[name]["bytes"], name))
    row = topics[busiest]
    seconds = max(1.0, (trace.until - trace.begin) / 1000)
    hours = [one for one in gathered.hours if one["topic"] == busiest]
    peak = max(hours, key=lambda one: (one["records"], -one["hour"]))
    values: dict[str, Any] = {
        "records_per_second": _short(row["records"] / seconds),
        "record_bytes": max(1, round(row["bytes"] / row["records"])),
    }
    if busiest in distinct:
        values["distinct_keys"] = distinct[busiest]
    peak_rate = peak["records"] / (HOUR_MS / 1000)
    notes = [
        f"of topic {busiest}; its busiest hour, {hour_words(peak['hour'])}: {_short(peak_rate):g} records "
        "a second"
    ]
    notes += [
        f"topic {name}: records_per_second = {_short(one['records'] / seconds):g}, "
        f"record_bytes = {max(1, round(one['bytes'] / one['records']))}"
        for name, one in sorted(topics.items())
        if name != busiest
    ][:20]
    return {"topic": busiest, "values": values, "notes": notes}


def workload_text(workload: Mapping[str, Any]) -> str:
    lines = ["[workload]", *(f"# {note}" for note in workload["notes"])]
    lines += [f"{name} = {value!r}" for name, value in workload["values"].items()]
    return "\n".join(lines) + "\n"


def _short(rate: float) -> float:
    """Four digits: more would say what a trace does not."""
    from math import floor, log10

    if rate <= 0:
        return 0.0
    return round(rate, max(0, 3 - floor(log10(rate))))
