"""A schedule as it came out: the timed run as a table, the set of outcomes, JSON, and an exit code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..output.terminal import terminal, wrapped
from ..sim.clock.grid import GRID
from ..tell.run import run_lines, run_of
from ..tell.run.text import legend_lines
from . import verdict_report as shown
from .schedule import COUNTS, Played, Schedule, failed

# What is counted, in the words of a table.
OUTCOMES = {
    "sent": "sent",
    "acked": "confirmed",
    "acked_lost": "confirmed, lost",
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
    run, width = run_of(gathered(data["trace"])), terminal().width
    one = f"One run, phase {data['phase']} of {data['phases']}: {phase_text(data['phase'])}"
    yield from wrapped(one, width)
    yield from run_lines(run, width, brief=True)
    yield ""
    yield from legend_lines(run, width)
    yield ""
    phases = data["phases"]
    yield f"What can come of it, over {phases} choices of what it leaves open (--phase N shows another run):"
    yield from outcome_table(data["outcomes"], phases)
    for what in data["unmet"]:
        yield ""
        yield f"NOT AS EXPECTED: {what}"


def phase_text(number: int) -> str:
    phase = GRID[number - 1]
    return (
        f"a broker that dies sent its last heartbeat {phase.heartbeat_age:g} x the interval before, one that "
        f"lags leaves the ISR after {phase.shrink_ratio:g} x replica.lag.time.max.ms, one that starts takes "
        f"{phase.boot / 1_000_000:g} s"
    )


def gathered(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
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
    return [{**row, "step": number} for number, row in enumerate(kept, 1)]


def _only_copied(row: Mapping[str, Any]) -> bool:
    return row["event"]["name"] == "replicate" and not row["effects"]


def _smooth(begun: int, last: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Within a second of the first, or at least one of them acknowledged in every two seconds. What comes
    after the last acknowledgement is a row of its own, or they would seem to be as late."""
    if last["event"]["acked"] and not row["event"]["acked"]:
        return False
    acknowledged = bool(row["event"]["acked"])
    return row["t_ms"] - begun <= 1000 or (acknowledged and row["t_ms"] - last["t_ms"] <= 2000)


def outcome_table(outcomes: Sequence[Mapping[str, Any]], phases: int) -> list[str]:
    heads = ["phases", *(OUTCOMES[name] for name in COUNTS), "errors"]
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
