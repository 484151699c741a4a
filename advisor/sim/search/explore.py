"""Breadth-first exploration of every run of a model, within stated bounds.

The search knows nothing of Kafka: a state is any hashable value, an event any value, and a model is a
function from a state to its successors in a fixed order. Breadth-first, so the first run that breaks the
guarantee is a shortest one; no set is ever iterated, so two explorations of one model are equal.

No clock is read here. A caller who wants a limit of seconds injects `expired`, which is asked now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

from ...tuples import NamedTuple

S = TypeVar("S", bound=Hashable)
E = TypeVar("E")
F = TypeVar("F")

# The budget of DESIGN: beyond it the verdict is Unknown, with the bound that was reached.
STATES_MAX = 200_000
ASK_EVERY = 1_024


class Explored(NamedTuple, Generic[S, E]):
    """What an exploration found. `run` is None if no run breaks the guarantee among the states seen."""

    states: int
    transitions: int
    depth: int
    witnessed: tuple[str, ...]
    run: tuple[E, ...] | None = None
    reason: str | None = None
    stopped: str | None = None  # why the exploration is not exhaustive; None: it is


def explore(
    start: S,
    successors: Callable[[S], Iterable[tuple[E, F, S]]],
    broken: Callable[[S], str | None],
    *,
    states_max: int = STATES_MAX,
    witnesses: Mapping[str, Callable[[E, F, S], bool]] | None = None,
    canonical: Callable[[S], Hashable] | None = None,
    expired: Callable[[], bool] | None = None,
) -> Explored[S, E]:
    """Explore all runs from `start`, shortest first, until `broken` names a reason or nothing is left.

    `successors` yields (event, effects, next state) in a fixed order. `witnesses` are things that must be
    reachable, else a verdict of Holds says nothing: each is asked of a transition until it is seen once.
    `canonical` maps a state to the representative of its symmetry class: two states of one class are explored
    once, but the states kept are real ones, so that the run found is a run of the model and can be replayed.
    """
    unseen = dict(witnesses or {})
    witnessed: list[str] = []
    came_from: dict[S, tuple[S, E] | None] = {start: None}
    # With symmetry the classes are what is counted; without, the keys of came_from are.
    classes: set[Hashable] | None = None if canonical is None else {canonical(start)}

    def found(states: int, state: S, reason: str) -> Explored[S, E]:
        run = path(came_from, state)
        return Explored(states, transitions, len(run), tuple(witnessed), run, reason)

    transitions = 0
    depth = 0
    reason = broken(start)
    if reason is not None:
        return found(1, start, reason)
    level: list[S] = [start]
    count = 1
    while level:
        following: list[S] = []
        for position, state in enumerate(level):
            if expired is not None and position % ASK_EVERY == 0 and expired():
                return Explored(count, transitions, depth, tuple(witnessed), stopped="time")
            for event, effects, after in successors(state):
                transitions += 1
                if unseen:
                    for name in [name for name, seen in unseen.items() if seen(event, effects, after)]:
                        del unseen[name]
                        witnessed.append(name)
                if after in came_from:
                    continue
                if classes is not None and canonical is not None:
                    representative = canonical(after)
                    if representative in classes:
                        continue
                    classes.add(representative)
                came_from[after] = (state, event)
                count += 1
                reason = broken(after)
                if reason is not None:
                    return found(count, after, reason)
                if count >= states_max:
                    return Explored(
                        count, transitions, depth, tuple(witnessed), stopped=f"{states_max:,} states"
                    )
                following.append(after)
        level = following
        depth += bool(level)
    return Explored(count, transitions, depth, tuple(witnessed))


def path(came_from: Mapping[S, tuple[S, E] | None], state: S) -> tuple[E, ...]:
    """The events that lead from the start to a state."""
    events: list[E] = []
    step = came_from[state]
    while step is not None:
        state, event = step
        events.append(event)
        step = came_from[state]
    return tuple(reversed(events))
