"""The controller in time: there is one, or there is none for a while, and what the cluster does about it.

Voters are processes of their own (`seats` empty) or brokers of the partition (combined roles, and ZooKeeper,
where any broker may control). The first voter is active at the start. How long a takeover takes is said by
quorum.py; where in its range it falls, by the phase.
"""

from __future__ import annotations

from collections.abc import Callable

from .clock import Clock
from .grid import Phase
from .quorum import Control

APART = -1  # a voter that is no broker of the partition


class Controller:
    def __init__(
        self,
        clock: Clock,
        phase: Phase,
        control: Control,
        seats: tuple[int, ...],
        found: Callable[[], None],
    ) -> None:
        self.clock, self.phase, self.control, self.found = clock, phase, control, found
        self.seats = seats
        self.active = True
        self.seat = seats[0] if seats else APART  # of whom is active
        self.away = 0  # voters that are no brokers here
        self.gone = 0  # voters that are: a mask
        self._turn = 0

    def lost(self) -> int:
        return self.away + self.gone.bit_count()

    # -- voters of their own -------------------------------------------------------------------------------

    def leave(self, clean: bool) -> None:
        """The active controller's process ends."""
        if self.seat == APART and self.control.controls(self.lost()):
            self.away += 1
            self._vacate(clean)

    def come_back(self) -> None:
        if self.away:
            self.away -= 1
            self._returned()

    def fail_over(self) -> None:
        """Another voter takes over, and the last one is a voter again at once."""
        self._vacate(clean=False)

    # -- brokers that are voters ---------------------------------------------------------------------------

    def broker_left(self, broker: int, clean: bool = False) -> None:
        if broker in self.seats and not self.gone >> broker & 1:
            self.gone |= 1 << broker
            if broker == self.seat or not self.control.controls(self.lost()):
                self._vacate(clean)

    def broker_came(self, broker: int) -> None:
        if broker in self.seats and self.gone >> broker & 1:
            self.gone &= ~(1 << broker)
            self._returned()

    # -- taking over ---------------------------------------------------------------------------------------

    def _vacate(self, clean: bool) -> None:
        self.active = False
        self._plan(clean)

    def _returned(self) -> None:
        if not self.active:
            self._plan(clean=False)

    def _plan(self, clean: bool) -> None:
        self._turn += 1
        span = self.control.takeover(self.lost(), clean)
        if span is not None:
            self.clock.after(span.at(1 - self.phase.heartbeat_age), self._take_over, self._turn)

    def _take_over(self, turn: int) -> None:
        if turn == self._turn and not self.active:
            self.active = True
            there = [seat for seat in self.seats if not self.gone >> seat & 1]
            self.seat = there[0] if there else APART
            self.found()
