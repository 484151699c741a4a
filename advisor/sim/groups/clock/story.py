"""A group's run on the clock as rows for a report: what happened when, who owned what after it."""

from __future__ import annotations

from typing import Any

from .timeline import COORDINATOR, GroupRun

_WORDS = {
    "assigned": "gets",
    "revoked": "gives up",
    "lost": "has lost",
    "left-slow": "is out: max.poll.interval.ms is over",
    "killed": "is killed",
    "closed": "closes",
    "TimeoutException": "ends: its commit timed out (TimeoutException)",
    "InvalidSessionTimeoutException": "is refused and stops: InvalidSessionTimeoutException",
    "CommitFailedException": "finishes its batch: the commit is refused",
    "RebalanceInProgressException": "cannot commit during the rebalance",
}
_QUIET = ("left-slow",)


def story(run: GroupRun, since: int = 0, rows_max: int = 24) -> tuple[dict[str, Any], ...]:
    """The first rows of a run that narrates, from that time on."""
    owned: dict[str, set[int]] = {}
    rows: list[dict[str, Any]] = []
    for entry in run.history:
        mine = owned.setdefault(entry.node, set()) if entry.node != COORDINATOR else set()
        if entry.what == "assigned":
            mine |= set(entry.partitions)
        elif entry.what in ("revoked", "lost"):
            mine -= set(entry.partitions)
        elif entry.what in ("killed", "closed"):
            mine.clear()
        if entry.time < since or (entry.what == "assigned" and not entry.partitions):
            continue
        if len(rows) == rows_max:
            break
        rows.append(
            {
                "step": len(rows) + 1,
                "t_ms": entry.time - since,
                "event": {"name": entry.what, "text": _text(entry), "member": entry.node},
                "effects": [],
                "state": {
                    "kind": "group",
                    "cells": {name: short(partitions) for name, partitions in owned.items()},
                    "owned": {name: sorted(partitions) for name, partitions in owned.items()},
                },
            }
        )
    return tuple(rows)


def _text(entry: Any) -> str:
    parts = [entry.node, _WORDS.get(entry.what, entry.what), entry.detail]
    if entry.partitions and entry.what not in _QUIET:
        parts.append(short(set(entry.partitions)))
    return " ".join(part for part in parts if part)


def short(partitions: set[int]) -> str:
    """p0 p1 p2, or p0-p9."""
    ordered = sorted(partitions)
    if len(ordered) > 3 and ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"p{ordered[0]}-p{ordered[-1]}"
    return " ".join(f"p{partition}" for partition in ordered) or "-"
