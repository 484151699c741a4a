"""What the small models share (producer, transactions, groups): what must be seen of them, a run again event
by event, and what an exploration that found no run comes to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from .explore import Explored
from .verdict import Bounds, Holds, Unknown

P = TypeVar("P")
S = TypeVar("S")
E = TypeVar("E", bound=Any)
Effects = tuple[str, ...]
# Of an event, its effects and the state after it.
Seen = Callable[[Any, Effects, Any], bool]


def effect_seen(name: str) -> Seen:
    return lambda event, effects, state: any(effect.startswith(name) for effect in effects)


def event_seen(name: str) -> Seen:
    return lambda event, effects, state: event.name == name


def replayed(
    enabled: Callable[[P, S], Iterable[E]],
    step: Callable[[P, S, E], tuple[S, Effects]],
    policy: P,
    start: S,
    run: Iterable[E],
) -> list[tuple[E, Effects, S]]:
    """The run again; ValueError if an event is not enabled where it stands."""
    states: list[tuple[E, Effects, S]] = []
    state = start
    for event in run:
        if event not in tuple(enabled(policy, state)):
            raise ValueError(f"{event.text()} cannot happen here")
        state, effects = step(policy, state, event)
        states.append((event, effects, state))
    return states


def concluded(found: Explored[Any, Any], bounds: Bounds, expected: Iterable[str]) -> Holds | Unknown:
    """No run was found: none breaks it within the bounds, or nobody can tell."""
    if found.stopped is not None:
        return Unknown(
            f"no run found among the first {found.stopped} within {bounds.text()}", (), bounds, found.states
        )
    missing = [name for name in expected if name not in found.witnessed]
    if missing:
        return Unknown(f"never seen within {bounds.text()}: {'; '.join(missing)}", (), bounds, found.states)
    return Holds(bounds, found.states, tuple(name for name in expected if name in found.witnessed))
