"""A group that is away: what becomes of its offsets and its unread records meanwhile, played on the clock.

One partition, read to its end before; ten records are written while nobody reads, at even distances. Offsets
go when they have been kept for their time (of a group from the moment it is empty, of a standalone consumer
from the commit: KIP-211), records when they have been kept for theirs, both at the earliest moment that Kafka
may do so. Then the group comes back and reads from where it may.
"""

from __future__ import annotations

from typing import Any

from ....tuples import NamedTuple
from ..consumer import AFTER, NEVER, Reading, offsets_expire_after
from .phases import Absence, GroupSetup, Phase
from .timeline import GroupRun

READ = 10  # before the group goes
WRITTEN = 10  # while it is away
RESTART_MS = 10_000  # of a standalone consumer


class Outcome(NamedTuple):
    skipped: int  # of the records written while it was away
    again: int  # records that it had processed before and processes again
    error: str
    rows: tuple[dict[str, Any], ...]


def absent(setup: GroupSetup, absence: Absence) -> Outcome:
    return _Played(setup, absence).outcome()


class _Played:
    def __init__(self, setup: GroupSetup, absence: Absence) -> None:
        small = setup._replace(
            partitions=1, process_ms=0, initial_delay_ms=0, listener_ms=0, reading=Reading(500, AFTER)
        )
        self.absence = absence
        self.reset = setup.reset
        self.run = GroupRun(small, Phase())
        self.rows: list[dict[str, Any]] = []
        self.since = 0

    def outcome(self) -> Outcome:
        run, absence = self.run, self.absence
        run.committed = (0,)
        run.produce(0, READ)
        first = run.start("m0")
        run.until(lambda: run.committed == (READ,), 60_000)
        self.since = run.clock.now
        if absence.idle_ms:
            self._row("commits", "m0 commits; then nothing is written")
        else:
            run.close(first)
            self._row("stops", "the group stops")
        self._plan()
        run.wait(absence.idle_ms)
        if absence.idle_ms:
            run.close(first)
        away = absence.away_ms or RESTART_MS
        for place in range(WRITTEN):
            run.clock.after(away * place // WRITTEN, self._write)
        run.wait(away)
        before = run.committed
        second = run.start("m1")
        run.until(lambda: bool(second.owned) or bool(run.errors("m1")), 60_000)
        at = run.clock.now
        run.wait(1_000)
        return self._back(before[0], at)

    def _plan(self) -> None:
        clock, absence = self.run.clock, self.absence
        if absence.offsets_ms is not None:
            due, _ = offsets_expire_after(clock.now, absence.offsets_ms, 0)
            clock.at(due, self._forget)
        if absence.records_ms is not None:
            clock.after(absence.records_ms, self._delete)

    def _write(self) -> None:
        self.run.produce(0)
        if self.absence.records_ms is not None:
            self.run.clock.after(self.absence.records_ms, self._delete)

    def _forget(self) -> None:
        if not any(node.alive and node.name == "m1" for node in self.run.nodes):
            self.run.committed = (NEVER,)
            self._row("expire", "the committed offset is deleted")

    def _delete(self) -> None:
        """Records that are older than their time; only the first that nobody has read is told."""
        run = self.run
        oldest = run.clock.now - (self.absence.records_ms or 0)
        start = sum(stamp <= oldest for stamp in run.stamps[0])
        if run.log_start[0] <= READ < start:
            run.log_start[0] = start
            self._row("delete", "the first record that nobody has read is deleted")
        run.log_start[0] = max(run.log_start[0], start)

    def _back(self, committed: int, at: int) -> Outcome:
        run = self.run
        errors = run.errors("m1")
        skipped = run.never_processed()
        again = run.processed_twice()
        held = committed != NEVER and run.log_start[0] <= committed
        why = "" if held else f"auto.offset.reset={self.reset} decides"
        if errors:
            told = [errors[0]]
        else:
            told = [f"{skipped} of {WRITTEN} records are skipped" if skipped else "nothing is skipped"]
            if again:
                told.append(f"{again} are processed again")
        self._row("starts", "the group starts again", [part for part in (why, *told) if part], committed)
        self.rows[-1]["t_ms"] = at - self.since
        return Outcome(0 if errors else skipped, again, errors[0] if errors else "", tuple(self.rows))

    def _row(self, name: str, text: str, effects: list[str] | None = None, held: int | None = None) -> None:
        run = self.run
        committed = run.committed[0] if held is None else held
        self.rows.append(
            {
                "step": len(self.rows) + 1,
                "t_ms": run.clock.now - self.since,
                "event": {"name": name, "text": text},
                "effects": effects or [],
                "state": {
                    "kind": "reading",
                    "cells": {
                        "committed": "-" if committed == NEVER else str(committed),
                        "log": f"{run.log_start[0]} to {run.ends[0]}",
                    },
                },
            }
        )
