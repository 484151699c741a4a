"""Fetches of a consumer on the clock: held by the broker, given up by the client, sent again.

The broker answers a fetch when fetch.min.bytes are there or fetch.max.wait.ms is over (DelayedFetch). The
client waits for any answer for request.timeout.ms; then it drops the connection, and with it whatever the
broker answers later (NetworkClient.handleTimedOutRequests), connects again and sends the same fetch. The
broker counts from the beginning each time, but what was written stays there.
"""

from __future__ import annotations

from typing import Any

from ....tuples import NamedTuple
from ...clock.clock import Clock
from .phases import ROUND_TRIP, FetchSetup

RECONNECT_MS = 50  # reconnect.backoff.ms


class Fetched(NamedTuple):
    timeouts: int
    answers: int
    first_read_ms: int | None  # when the first record came to the client, if it ever did
    rows: tuple[dict[str, Any], ...]


def fetched(setup: FetchSetup, for_ms: int, rows_max: int = 7) -> Fetched:
    """A record is written when the first fetch has just arrived, others follow at the stated rate."""
    return _Fetching(setup, rows_max).play(for_ms)


class _Fetching:
    def __init__(self, setup: FetchSetup, rows_max: int) -> None:
        self.setup = setup
        self.rows_max = rows_max
        self.clock = Clock()
        self.trip = ROUND_TRIP[1]
        self.fetch = 0  # the number of the one that is under way
        self.timeouts = self.answers = 0
        self.first_read: int | None = None
        self.rows: list[dict[str, Any]] = []

    def play(self, for_ms: int) -> Fetched:
        self._send()
        self.clock.run(for_ms, lambda: False)
        return Fetched(self.timeouts, self.answers, self.first_read, tuple(self.rows))

    def _written(self, at: int) -> int:
        return self.setup.record_bytes + int(self.setup.bytes_per_second * at / 1000)

    def _send(self) -> None:
        self.fetch += 1
        now = self.clock.now
        self._row("fetch", "a fetch is sent" if self.fetch == 1 else "the fetch is sent again", [])
        self.clock.after(self._held(now) + self.trip, self._answer, self.fetch)
        self.clock.after(self.setup.request_timeout_ms, self._give_up, self.fetch)

    def _held(self, now: int) -> int:
        setup = self.setup
        missing = setup.min_bytes - self._written(now)
        if missing <= 0:
            return 0
        if setup.bytes_per_second <= 0:
            return setup.max_wait_ms
        return min(setup.max_wait_ms, int(missing * 1000 / setup.bytes_per_second))

    def _answer(self, number: int) -> None:
        if number != self.fetch:
            return  # to a connection that is gone
        self.answers += 1
        self.fetch += 1
        if self.first_read is None:
            self.first_read = self.clock.now
            self._row("answer", "the broker answers", [f"{self._written(self.clock.now)} bytes are read"])

    def _give_up(self, number: int) -> None:
        if number != self.fetch:
            return
        self.timeouts += 1
        self.fetch += 1
        self._row("timeout", "request.timeout.ms is over", ["the connection is dropped, nothing is read"])
        self.clock.after(RECONNECT_MS, self._send)

    def _row(self, name: str, text: str, effects: list[str]) -> None:
        if len(self.rows) == self.rows_max:
            return
        now = self.clock.now
        cells = {"written": f"{self._written(now)} bytes", "given up": str(self.timeouts)}
        self.rows.append(
            {
                "step": len(self.rows) + 1,
                "t_ms": now,
                "event": {"name": name, "text": text},
                "effects": effects,
                "state": {"kind": "reading", "cells": cells},
            }
        )
