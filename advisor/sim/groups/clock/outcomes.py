"""Every outcome of a schedule of a group: the grid of phases, and what lies between two of its points.

A phase is a place in a range (of a heartbeat interval, of a metadata age), and what comes of it may be a
count that grows along the range: records written until somebody noticed a new partition. Between two
neighbours of the grid the middle is run too as long as a count between theirs is in no outcome, and so on:
the set then holds every count of the range. Where the mechanism jumps, halving ends at a range too small to
matter, and the set has a gap there. Times (`..._ms`) are not refined: the grid has both ends of every range.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from .phases import GRID, Phase

Outcome = dict[str, Any]
HALVINGS = 7  # a hundredth of a grid step: two milliseconds of a second


def outcomes(*schedules: Callable[[Phase], Outcome]) -> tuple[Outcome, ...]:
    """What can come of any of the schedules; each outcome once, in the order of the grid."""
    found: dict[str, Outcome] = {}
    for schedule in schedules:
        found.update((repr(outcome), outcome) for outcome in _Outcomes(schedule).all())
    return tuple(found.values())


class _Outcomes:
    def __init__(self, schedule: Callable[[Phase], Outcome]) -> None:
        self.schedule = schedule
        self.found: list[Outcome] = []

    def all(self) -> tuple[Outcome, ...]:
        ran = [(phase, self.run(phase)) for phase in GRID]
        for low, high in pairwise(ran):
            alike = low[0].order == high[0].order and low[0].in_step == high[0].in_step
            if alike and self.gap(low[1], high[1]):
                # What is a choice, not a place in a range, stays as it is at the first end.
                end = high[0]._replace(late=low[0].late)
                self.between(low, high if end == high[0] else (end, self.run(end)), HALVINGS)
        return tuple(self.found)

    def run(self, phase: Phase) -> Outcome:
        outcome = self.schedule(phase)
        if outcome not in self.found:
            self.found.append(outcome)
        return outcome

    def between(self, low: tuple[Phase, Outcome], high: tuple[Phase, Outcome], halvings: int) -> None:
        if halvings and self.gap(low[1], high[1]):
            phase = _middle(low[0], high[0])
            middle = phase, self.run(phase)
            self.between(low, middle, halvings - 1)
            self.between(middle, high, halvings - 1)

    def gap(self, one: Outcome, other: Outcome) -> bool:
        """Is there a count between those of the two that no outcome has?"""
        return any(self.lacks(name, one, other) for name in one if is_count(name, one))

    def lacks(self, name: str, one: Outcome, other: Outcome) -> bool:
        if not is_count(name, other):
            return False
        least, most = sorted((one[name], other[name]))
        return not set(range(least + 1, most)) <= {outcome[name] for outcome in self.found}


def is_count(name: str, outcome: Outcome) -> bool:
    value = outcome[name]
    return isinstance(value, int) and not isinstance(value, bool) and not name.endswith("_ms")


def _middle(low: Phase, high: Phase) -> Phase:
    return low._replace(
        beat=(low.beat + high.beat) / 2,
        further=(low.further + high.further) / 2,
        age=(low.age + high.age) / 2,
        round_trip=(low.round_trip + high.round_trip) // 2,
        boot=(low.boot + high.boot) // 2,
        open=(low.open + high.open) // 2,
        timer=(low.timer + high.timer) // 2,
        followed=(low.followed + high.followed) // 2,
        parked=(low.parked + high.parked) // 2,
    )
