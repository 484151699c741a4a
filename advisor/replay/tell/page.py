"""report.html of a replay: one plot a question, over the hours of the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...sim.log.amounts import duration, size
from ...tell import html
from .moments import moment

# Hours that a plot shows one by one; more are taken together, the largest of each.
_POINTS = 96
_TONES = ("note", "warning", "good", "error", "")
_TOPICS = 4


def replay_page(summary: Mapping[str, Any]) -> str:
    sections: list[html.Section] = [_counts(summary)]
    plots = (
        ("Records an hour", "records", 1),
        ("Batches an hour", "batches", 1),
        ("Bytes written an hour, in KiB", "bytes", 1024),
        ("Bytes kept at the end of the hour, in MiB", "retained_bytes", 1 << 20),
        ("Oldest record, in minutes", "oldest_ms_max", 60_000),
        ("Records that wait for the slowest reader of a partition", "lag_max", 1),
    )
    for title, name, unit in plots:
        section = _plot(summary, title, name, unit)
        if section is not None:
            sections.append(section)
    sections += [_brokers(summary)] if summary["broker_hours"] else []
    sections += _sweeps(summary)
    sections.append(_topics(summary))
    if summary["findings"]:
        sections.append(_findings(summary))
    told = [f"{name} = {value}" for name, value in summary["workload"]["values"].items()]
    if told:
        sections.append(html.text("The [workload] it implies", [*summary["workload"]["notes"], *told]))
    if summary["assumed"]:
        sections.append(html.text("Assumed", summary["assumed"]))
    if summary["quarantine"]:
        lines = [
            f"{one['records']:,} {one['topic'] or '(no topic)'}: {one['reason']}"
            for one in summary["quarantine"]
        ]
        sections.append(html.text("Not replayed", lines))
    about = " ".join(word for word in (summary["at"], f"kafka-advisor {summary['tool']['version']}") if word)
    return html.page("Kafka replay", about, sections, None, _headline(summary), _lead(summary))


def _headline(summary: Mapping[str, Any]) -> str:
    found = summary["findings"]
    if not found:
        return "Nothing in the trace goes against the configuration"
    return str(found[0]["message"])


def _lead(summary: Mapping[str, Any]) -> str:
    return (
        f"{summary['records']['replayed']:,} of {summary['records']['in']:,} records replayed, "
        f"{summary['began'][:16]} to {summary['ended'][:16]} UTC."
    )


def _counts(summary: Mapping[str, Any]) -> html.Section:
    totals = summary["totals"]
    quarantined = summary["records"]["quarantined"]
    return html.numbers(
        [
            ("records in", summary["records"]["in"], ""),
            ("replayed", summary["records"]["replayed"], ""),
            ("in quarantine", quarantined, "warning" if quarantined else ""),
            ("batches", totals.get("batches", 0), ""),
            ("requests", totals.get("requests", 0), ""),
            ("written", size(totals.get("bytes", 0)), ""),
            ("kept at most", size(totals.get("retained_bytes_max", 0)), ""),
            ("errors", summary["errors"], "error"),
            ("warnings", summary["warnings"], "warning"),
            ("notes", summary["notes"], "note"),
        ]
    )


def _together(hours: Sequence[int]) -> tuple[list[str], list[int]]:
    """Labels of the points, and the point of each hour."""
    step = max(1, -(-len(hours) // _POINTS))
    labels = [f"{moment(hour):%a %d %H:%M}" for hour in hours[::step]]
    return labels, [number // step for number in range(len(hours))]


def _plot(summary: Mapping[str, Any], title: str, name: str, unit: int) -> html.Section | None:
    # What lingers after the last record may be sent in an hour of its own, in which nothing else happens.
    rows = [row for row in summary["hours"] if f"{moment(row['hour']):%Y-%m-%dT%H:%M:%S}" <= summary["ended"]]
    if not any(row[name] for row in rows):
        return None
    hours = sorted({row["hour"] for row in rows})
    labels, point = _together(hours)
    at = dict(zip(hours, point, strict=True))
    weight: dict[str, int] = {}
    for row in rows:
        weight[row["topic"]] = weight.get(row["topic"], 0) + (row[name] or 0)
    shown = sorted(weight, key=lambda topic: (-weight[topic], topic))[:_TOPICS]
    series = []
    for topic, tone in zip(shown, _TONES, strict=False):
        values = [0] * len(labels)
        for row in rows:
            if row["topic"] == topic:
                values[at[row["hour"]]] = max(values[at[row["hour"]]], (row[name] or 0) // unit)
        series.append((topic, tone, values))
    return html.trend(title, labels, series)


def _brokers(summary: Mapping[str, Any]) -> html.Section:
    """The most that each broker takes in an hour, from producers and from leaders."""
    worst: dict[int, list[int]] = {}
    for row in summary["broker_hours"]:
        have = worst.setdefault(row["broker"], [0, 0])
        now = [row["bytes_in"], row["bytes_replicated"]]
        worst[row["broker"]] = max(have, now, key=sum)
    unit, shift = ("MiB", 20) if max(map(sum, worst.values())) >= 100 << 20 else ("KiB", 10)
    rows = [(f"broker {broker}", [one >> shift for one in mine]) for broker, mine in sorted(worst.items())]
    series = [("from producers", "note"), ("from leaders", "good")]
    return html.bars(f"{unit} that each broker takes in its busiest hour", series, rows)


def _sweeps(summary: Mapping[str, Any]) -> list[html.Section]:
    swept = [one for one in summary["variants"] if one["setting"]]
    if not swept:
        return []
    made: list[html.Section] = []
    columns = [
        ("variant", "text"), ("requests", "number"), ("batches", "number"), ("records a batch", "number"),
        ("ms added", "number"), ("MiB written", "number"), ("files", "number"), ("MiB kept", "number"),
        ("hottest, %", "number"), ("knee", "text"),
    ]  # fmt: skip
    rows = [
        (
            one["variant"] or "as it is", one["requests"], one["batches"], round(one["records_a_batch"], 1),
            round(one["added_ms"], 1), _mib(one["bytes"]), one["files"], _mib(one["retained_bytes"]),
            round(100 * one["hottest_share"], 1), "knee" if one["knee"] else "",
        )
        for one in summary["variants"]
    ]  # fmt: skip
    made.append(html.table("variants", "What if", columns, rows))
    for setting in dict.fromkeys(one["setting"] for one in swept):
        mine = [one for one in swept if one["setting"] == setting]
        # Each on a scale of its own, so that one chart shows the trade.
        series = []
        for name, label, tone in (
            ("added_ms", "latency added", "warning"),
            ("requests", "requests", "note"),
            ("bytes", "bytes written", "good"),
            ("files", "files", "error"),
        ):
            most = max(one[name] for one in mine) or 1
            series.append((f"{label} (% of the most)", tone, [round(100 * one[name] / most) for one in mine]))
        made.append(html.trend(f"The trade of {setting}", [one["value"] for one in mine], series))
    return made


def _mib(count: int) -> float:
    return round(count / (1 << 20), 1)


def _topics(summary: Mapping[str, Any]) -> html.Section:
    columns = [
        ("topic", "text"), ("partitions", "number"), ("records", "number"), ("batches", "number"),
        ("MiB written", "number"), ("MiB kept", "number"), ("oldest", "text"), ("compression", "text"),
        ("lag", "number"),
    ]  # fmt: skip
    rows = [
        (
            one["topic"], one["partitions"], one["records"], one["batches"], _mib(one["bytes"]),
            _mib(one["retained_bytes_max"]), duration(one["oldest_ms_max"]), one["compression"],
            one["lag_max"],
        )
        for one in summary["topics"]
        if one.get("batches")
    ]  # fmt: skip
    return html.table("topics", "Topics", columns, rows)


def _findings(summary: Mapping[str, Any]) -> html.Section:
    columns = [
        ("severity", "severity"),
        ("code", "text"),
        ("name", "text"),
        ("message", "text"),
        ("run", "text"),
    ]
    rows = [
        (one["severity"], one["code"], one["name"], one["message"], "; ".join(one["run"]))
        for one in summary["findings"]
    ]
    return html.table("findings", "Findings, by the trace's own numbers", columns, rows)
