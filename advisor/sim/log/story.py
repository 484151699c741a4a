"""The life of a log as the steps of a report: what happened when, and the segments after it.

A step is {step, t_ms, event {name, text}, effects, state}; the state of a log is {kind: "log", cells,
segments, more}. A segment is {base, bytes, first_ms, last_ms, closed} and, where the story is about keys, its
`records`; `more` counts segments that are there besides; `cells` say the same in words, a star marking the
active segment. Times count from the first record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .amounts import duration, size
from .log import Schedule
from .segments import LogConfig
from .workload import Flow, Life, life, shape

Step = Mapping[str, Any]

_SHOWN_MAX = 4
_FOLLOWED_MAX = 400
CLOSED_BY = {
    "size": "it was full",
    "age": "it was old enough",
    "offset-index-full": "its offset index was full",
    "time-index-full": "its time index was full",
    "offset-range": "its offsets could count no further",
    "retention": "its newest record was past retention",
}


def step(
    number: int,
    name: str,
    text: str,
    time_ms: int,
    effects: Iterable[str],
    segments: Sequence[Mapping[str, Any]],
    more: int = 0,
) -> Step:
    return {
        "step": number,
        "t_ms": time_ms,
        "event": {"name": name, "text": text},
        "effects": list(effects),
        "state": log_state(time_ms, segments, more),
    }


def log_state(time_ms: int, segments: Sequence[Mapping[str, Any]], more: int = 0) -> dict[str, Any]:
    oldest = min((segment["first_ms"] for segment in segments if segment["bytes"]), default=None)
    told = [_told(segment) for segment in segments] + ([f"and {more:,} more"] if more else [])
    return {
        "kind": "log",
        "cells": {
            "oldest record": "none" if oldest is None else duration(time_ms - oldest),
            "segments": ", ".join(told) or "none",
        },
        "segments": list(segments),
        "more": more,
    }


def _told(segment: Mapping[str, Any]) -> str:
    mark = "" if segment["closed"] else "*"
    if "records" in segment:
        return f"{segment['base']}{mark} [{' '.join(segment['records'])}]"
    return f"{segment['base']}{mark} {size(segment['bytes'])}"


def steady_story(
    config: LogConfig,
    flow: Flow,
    schedule: Schedule = Schedule(),  # noqa: B008
    segments: int = 2,
) -> tuple[Step, ...]:
    """From the first record until the first segments are deleted: each roll of them, the check that would
    have deleted the first record if records went one by one, and the checks that delete."""
    rows = life(config, flow, schedule, segments)
    moments: list[tuple[int, int, str, str, list[str]]] = [
        (0, 0, "append", "the first record is written", [])
    ]
    for row in rows:
        if row.closed_ms is not None and row.reason != "retention":
            effect = f"closed {row.base}: {CLOSED_BY[row.reason]} ({size(row.bytes)})"
            moments.append((row.closed_ms, 1, "roll", f"a new segment begins after {row.base}", [effect]))
        if row.deleted_ms is not None:
            stayed = duration(row.deleted_ms - row.first_ms)
            effect = f"deleted {row.base}: its oldest record stayed {stayed}"
            moments.append((row.deleted_ms, 3, "check", "retention is checked", [effect]))
    oldest = rows[0]
    if config.delete and config.retention_ms >= 0 and oldest.deleted_by == "age":
        due = schedule.first_check_ms
        due += max(0, -(-(config.retention_ms + 1 - due) // schedule.check_interval_ms)) * (
            schedule.check_interval_ms
        )
        if oldest.deleted_ms is not None and due < oldest.deleted_ms:
            newest = min(oldest.last_ms, flow.at(flow.arrived(due) - 1))
            kept = f"kept {oldest.base}: its newest record is {duration(due - newest)} old"
            text = f"the first record is {duration(config.retention_ms)} old"
            moments.append((due, 2, "check", text, [kept]))
    last = max((row.deleted_ms or row.closed_ms or 0) for row in rows)
    every = life(config, flow, schedule, min(_FOLLOWED_MAX, _until(config, flow, last)))
    merged: dict[tuple[int, int, str, str], list[str]] = {}
    for time_ms, order, name, text, effects in sorted(moments):
        merged.setdefault((time_ms, order, name, text), []).extend(effects)
    return tuple(
        step(number, name, text, time_ms, effects, *_present(config, flow, every, time_ms, name == "check"))
        for number, ((time_ms, _, name, text), effects) in enumerate(merged.items(), 1)
    )


def _until(config: LogConfig, flow: Flow, time_ms: int) -> int:
    return time_ms * 1000 // shape(config, flow).period_us + 2


def _present(
    config: LogConfig, flow: Flow, rows: Sequence[Life], now: int, checked: bool
) -> tuple[list[dict[str, Any]], int]:
    """The segments that are there, the oldest and the newest of them, and how many there are besides."""
    found: list[dict[str, Any]] = []
    for row in rows:
        gone = row.deleted_ms is not None and (row.deleted_ms < now or (checked and row.deleted_ms == now))
        if row.first_ms > now or gone:
            continue
        closed = row.closed_ms is not None and row.closed_ms <= now
        arrived = flow.arrived(now) - flow.arrived(row.first_ms) + 1
        written = row.bytes if closed else min(row.bytes, arrived * flow.batch_bytes)
        newest = row.last_ms if closed else min(row.last_ms, flow.at(flow.arrived(now) - 1))
        found.append(
            {
                "base": row.base,
                "bytes": written,
                "first_ms": row.first_ms,
                "last_ms": newest,
                "closed": closed,
            }
        )
    if not found:
        found.append(
            {
                "base": flow.arrived(now) * flow.batch_records,
                "bytes": 0,
                "first_ms": now,
                "last_ms": now,
                "closed": False,
            }
        )
    if len(rows) >= _FOLLOWED_MAX and flow.arrived(now) // shape(config, flow).batches > len(rows):
        # So many that only the oldest were followed.
        beyond = flow.arrived(now) // shape(config, flow).batches + 1 - len(rows)
        return found[:_SHOWN_MAX], beyond + max(0, len(found) - _SHOWN_MAX)
    return trimmed(found)


def trimmed(segments: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """The oldest and the newest, and how many lie between."""
    if len(segments) <= _SHOWN_MAX:
        return segments, 0
    kept = segments[: _SHOWN_MAX // 2] + segments[-(_SHOWN_MAX // 2) :]
    return kept, len(segments) - len(kept)


def written_once(config: LogConfig, schedule: Schedule = Schedule()) -> tuple[Step, ...]:  # noqa: B008
    """One record, and nothing after it: the check that finds it old closes its segment and deletes it. Who
    starts the day after finds nothing."""
    alone = Flow(1, 1000, 10**18)
    steps = list(steady_story(config, alone, schedule, segments=1))
    if not steps or not steps[-1]["effects"]:
        return tuple(steps)
    later = steps[-1]["t_ms"] + 86_400_000
    state = log_state(later, steps[-1]["state"]["segments"])
    event = {"name": "start", "text": "a reader starts and reads from the beginning"}
    last = {"t_ms": later, "event": event, "effects": ["nothing is there"], "state": state}
    return (*steps, {"step": len(steps) + 1, **last})
