"""The virtual clock: what is to happen, in the order of (time, number)."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

Action = Callable[..., None]
# As many as it takes; who plays a schedule that somebody wrote allows for fewer.
UNBOUNDED = 1 << 62


class TooManyEvents(Exception):
    """The run has more events than were allowed for."""


class Clock:
    """Events happen at their time, those of one time in the order in which they were planned.

    An `idle` event does nothing unless something is wrong (a timeout, a periodic check): it does not keep a
    healthy stretch from being taken in one stride.
    """

    def __init__(self, events_max: int = UNBOUNDED) -> None:
        self.now = 0
        self.planned: list[tuple[int, int, bool, Action, tuple[Any, ...]]] = []
        self.horizon = 0
        """Before when the schedule does not intervene, as far as that is a matter of time alone."""
        self.events = 0
        self.events_max = events_max
        self.until = 0
        self._number = 0

    def at(self, time: int, action: Action, *arguments: Any, idle: bool = False) -> None:
        self._number = number = self._number + 1
        now = self.now
        heappush(self.planned, (time if time > now else now, number, idle, action, arguments))

    def after(self, delay: int, action: Action, *arguments: Any, idle: bool = False) -> None:
        # `at`, written out: a run plans a thousand times, half of them so.
        self._number = number = self._number + 1
        now = self.now
        time = now + delay if delay > 0 else now
        heappush(self.planned, (time, number, idle, action, arguments))

    def skip_to(self, time: int) -> bool:
        """What would happen then happens now, the clock being moved on: if nothing else is planned before."""
        if time > self.until or (self.planned and self.planned[0][0] <= time):
            return False
        self.now = time
        self.events += 1
        return True

    def next_disturbance(self) -> int:
        """When the schedule may intervene, or an event that is not idle is planned."""
        return min(
            (entry[0] for entry in self.planned if not entry[2] and entry[0] < self.horizon),
            default=self.horizon,
        )

    def run(self, until: int, done: Callable[[], bool]) -> None:
        """Let events happen until one makes `done` true, or that time has come."""
        planned = self.planned
        self.until = until
        most = self.events_max
        while not done():
            if self.events > most:
                raise TooManyEvents
            if not planned or planned[0][0] > until:
                self.now = max(self.now, until)
                return
            self.now, _, _, action, arguments = heappop(planned)
            self.events += 1
            action(*arguments)
