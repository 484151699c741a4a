"""How much later a record is read from a follower than from its leader, on the clock.

A record is readable where the high watermark is past it. The follower's fetch brings the record (round 1);
its next fetch tells the leader, whose high watermark moves (round 2); but that fetch has nothing to bring, so
the leader holds it for replica.fetch.wait.max.ms, or until something else is written, and only its answer
tells the follower the new high watermark. From 2.6 on: before, a high watermark that moved ended the wait of
followers that others read from (KAFKA-9952).
"""

from __future__ import annotations

from typing import Any

from ....tuples import NamedTuple
from ...clock.clock import Clock
from .phases import ROUND_TRIP

TRIP = ROUND_TRIP[0] // 2  # one way, within a cluster
RECORDS = 3


class Delay(NamedTuple):
    leader_ms: int  # from the append to the moment at which a reader of the leader may see the record
    follower_ms: int
    rows: tuple[dict[str, Any], ...]


def delay(wait_ms: int, gap_ms: int | None) -> Delay:
    """The worst of a few records that are `gap_ms` apart and never end; None: the first is the only one."""
    return _Played(wait_ms, gap_ms).delay()


class _Played:
    def __init__(self, wait_ms: int, gap_ms: int | None) -> None:
        self.wait_ms, self.gap_ms = wait_ms, gap_ms
        self.clock = Clock()
        self.leader = self.follower = 0  # log ends
        self.high = self.follower_high = 0
        self.parked: int | None = None  # the number of a fetch that the leader holds
        self.fetch = 0
        self.appended: list[int] = []
        self.seen: dict[str, list[int]] = {"leader": [], "follower": []}
        self.rows: list[dict[str, Any]] = []

    def delay(self) -> Delay:
        self._ask(0)
        self.clock.run(10 * TRIP, lambda: False)
        appends = 1 if self.gap_ms is None else RECORDS + 1
        for place in range(appends):
            self.clock.after(place * (self.gap_ms or 0), self._append)
        self.clock.run(self.clock.now + appends * (self.gap_ms or 0) + 3 * self.wait_ms + 1_000, self._done)
        late = {
            where: max(time - at for time, at in zip(times[: self.wanted], self.appended, strict=False))
            for where, times in self.seen.items()
        }
        return Delay(late["leader"], late["follower"], tuple(self.rows))

    @property
    def wanted(self) -> int:
        """Records that are measured: each of them but the first has another one after it."""
        return 1 if self.gap_ms is None else RECORDS

    def _done(self) -> bool:
        return len(self.seen["follower"]) >= self.wanted

    def _append(self) -> None:
        self.leader += 1
        self.appended.append(self.clock.now)
        self._row("append", f"the leader appends r{self.leader - 1}")
        if self.parked is not None:
            self._answer(self.parked)

    def _ask(self, offset: int) -> None:
        self.fetch += 1
        self.clock.after(TRIP, self._arrive, self.fetch, offset)

    def _arrive(self, number: int, offset: int) -> None:
        """What the follower has is known from what it asks for."""
        if min(self.leader, offset) > self.high:
            self.high = min(self.leader, offset)
            self._visible("leader", self.high)
        if offset < self.leader:
            self._answer(number)
            return
        self.parked = number
        if self.appended and not self._done():
            self._row("held", "its next fetch is held: there is nothing new")
        self.clock.after(self.wait_ms, self._over, number)

    def _over(self, number: int) -> None:
        if self.parked == number:
            if self.appended:
                self._row("answered", "replica.fetch.wait.max.ms is over: the fetch is answered")
            self._answer(number)

    def _answer(self, number: int) -> None:
        self.parked = None
        self.clock.after(TRIP, self._take, self.leader, self.high)

    def _take(self, end: int, high: int) -> None:
        if end > self.follower:
            self.follower = end
            self._row("copy", f"the follower has r{end - 1}")
        if min(end, high) > self.follower_high:
            self.follower_high = min(end, high)
            self._visible("follower", self.follower_high)
        self._ask(self.follower)

    def _visible(self, where: str, high: int) -> None:
        times = self.seen[where]
        while len(times) < high:
            times.append(self.clock.now)
        self._row("visible", f"r{high - 1} can be read from the {where}")

    def _row(self, name: str, text: str) -> None:
        if self.appended and len(self.rows) < 8:
            self.rows.append(
                {
                    "step": len(self.rows) + 1,
                    "t_ms": self.clock.now - self.appended[0],
                    "event": {"name": name, "text": text},
                    "effects": [],
                    "state": {
                        "kind": "reading",
                        "cells": {
                            "leader": f"end {self.leader}, high watermark {self.high}",
                            "follower": f"end {self.follower}, high watermark {self.follower_high}",
                        },
                    },
                }
            )
