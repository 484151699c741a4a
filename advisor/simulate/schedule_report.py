"""A schedule as it came out: the timed run as a table, the set of outcomes, JSON, and an exit code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..sim.clock.grid import GRID
from . import verdict_report as shown
from .schedule import COUNTS, Played, Schedule, failed

_SAID = {
    "sent": "sent",
    "acked": "acked",
    "acked_lost": "acked, lost",
    "failed": "failed",
    "failed_but_readable": "failed, readable",
    "duplicates": "duplicates",
    "descents": "out of order",
}


def schedule_data(schedule: Schedule, played: Played, changed: bool) -> dict[str, Any]:
    """`changed`: other settings than the file's were played, so that what it expects says nothing."""
    return {
        "schedule": {"file": schedule.file, "title": schedule.title, "story": schedule.story},
        "settings": [shown.setting_row(component, one) for component, one in played.timed.settings],
        "assumed": list(played.timed.assumed),
        "unknown": list(played.timed.unknown),
        "replicas": list(played.replicas),
        "phases": len(GRID),
        "phase": played.phase,
        "outcomes": _outcomes(played),
        "unmet": [] if changed else list(played.unmet),
        "trace": list(played.record.rows),
    }


def _outcomes(played: Played) -> list[dict[str, Any]]:
    """Each outcome once, the commonest first, with the phases that gave it."""
    found: dict[Any, list[int]] = {}
    for number, outcome in enumerate(played.outcomes, 1):
        found.setdefault(outcome, []).append(number)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[1]))
    return [
        {name: failed(one) if name == "failed" else getattr(one, name) for name in COUNTS}
        | {"errors": list(one.errors), "phases": phases}
        for one, phases in ordered
    ]


def exit_code(data: Mapping[str, Any]) -> int:
    return int(bool(data["unmet"]))


# -- text --------------------------------------------------------------------------------------------------


def schedule_lines(data: Mapping[str, Any], changed: Sequence[str]) -> Iterator[str]:
    yield data["schedule"]["title"]
    yield ""
    if data["schedule"]["story"]:
        yield from data["schedule"]["story"].splitlines()
        yield ""
    note = f" ({data['note']})" if "note" in data else ""
    yield f"Kafka {data['kafka_version']}{note}" + (f", changed: {', '.join(changed)}" if changed else "")
    yield from shown.settings_lines(data["settings"])
    if data["unknown"]:
        yield f"  not known, so the default was played: {', '.join(data['unknown'])}"
    yield ""
    yield f"One run, phase {data['phase']} of {data['phases']}: {phase_text(data['phase'])}"
    yield from timed_table(data["trace"])
    yield ""
    yield from _LEGEND
    yield ""
    phases = data["phases"]
    yield f"What can come of it, over {phases} choices of what it leaves open (--phase N shows another run):"
    yield from outcome_table(data["outcomes"], phases)
    for what in data["unmet"]:
        yield ""
        yield f"NOT AS EXPECTED: {what}"


_LEGEND = (
    "b1 15/5: broker 1's log ends at 15 (LEO) and it knows 5 to be on all in-sync replicas (HW). ISR: those.",
    "waiting: sent, not answered yet. replicate: records written, copied, acknowledged since the row before.",
)


def phase_text(number: int) -> str:
    phase = GRID[number - 1]
    return (
        f"a broker that dies sent its last heartbeat {phase.heartbeat_age:g} x the interval before, one that "
        f"lags leaves the ISR after {phase.shrink_ratio:g} x replica.lag.time.max.ms, one that starts takes "
        f"{phase.boot / 1_000_000:g} s"
    )


def timed_table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    brokers = [f"b{one['id']} LEO/HW" for one in rows[0]["state"]["replicas"]] if rows else []
    heads = ["seconds", "event", "leader", "epoch", "ISR", "ELR", *brokers, "acked", "waiting", "errors", ""]
    return table(heads, [_row(row) for row in _gathered(rows)], right=1)


def _gathered(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of rows that only say that records were copied, the last, while it goes on smoothly."""
    kept: list[Mapping[str, Any]] = []
    begun = 0
    for row in rows:
        last = kept[-1] if kept else None
        if last is not None and _only_copied(last) and _only_copied(row) and _smooth(begun, last, row):
            acked = last["event"]["acked"] + row["event"]["acked"]
            text = "replicate" + (f", {acked} acked" if acked else "")
            kept[-1] = {**row, "event": {"name": "replicate", "acked": acked, "text": text}}
        else:
            begun = row["t_ms"]
            kept.append(row)
    return kept


def _only_copied(row: Mapping[str, Any]) -> bool:
    return row["event"]["name"] == "replicate" and not row["effects"]


def _smooth(begun: int, last: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Within a second of the first, or at least one of them acknowledged in every two seconds. What comes
    after the last acknowledgement is a row of its own, or they would seem to be as late."""
    if last["event"]["acked"] and not row["event"]["acked"]:
        return False
    acknowledged = bool(row["event"]["acked"])
    return row["t_ms"] - begun <= 1000 or (acknowledged and row["t_ms"] - last["t_ms"] <= 2000)


def _row(row: Mapping[str, Any]) -> list[str]:
    state = row["state"]
    producer = state["clients"]["producer"]
    return [
        f"{row['t_ms'] / 1000:.3f}",
        str(row["event"].get("text", row["event"]["name"])),
        "none" if state["leader"] is None else f"b{state['leader']}",
        str(state["epoch"]),
        ",".join(f"b{broker}" for broker in state["isr"]) or "none",
        ",".join(f"b{broker}" for broker in state["elr"]),
        *(_replica(replica) for replica in state["replicas"]),
        str(producer["acked"]),
        str(producer["waiting"] or ""),
        str(sum(producer["errors"].values()) or ""),
        ", ".join(row["effects"]),
    ]


def _replica(replica: Mapping[str, Any]) -> str:
    life = " down" if not replica["alive"] else " frozen" if replica.get("frozen") else ""
    return f"{replica['leo']}/{replica['hw']}{life}"


def outcome_table(outcomes: Sequence[Mapping[str, Any]], phases: int) -> list[str]:
    heads = ["phases", *(_SAID[name] for name in COUNTS), "errors"]
    rows = [
        [
            f"{len(one['phases'])} of {phases}",
            *(str(one[name]) for name in COUNTS),
            ", ".join(one["errors"]) or "none",
        ]
        for one in outcomes
    ]
    return table(heads, rows)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: int = 0) -> list[str]:
    """Columns that say nothing are left out; the first `right` ones are numbers."""
    used = [column for column in range(len(heads)) if any(row[column] for row in rows)]
    widths = {column: max(len(heads[column]), *(len(row[column]) for row in rows)) for column in used}

    def line(cells: Sequence[str]) -> str:
        padded = (
            cells[column].rjust(widths[column]) if column < right else cells[column].ljust(widths[column])
            for column in used
        )
        return ("  " + "  ".join(padded)).rstrip()

    return [line(heads), *(line(row) for row in rows)]
