"""The search itself, on models small enough to count by hand."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.sim.search.explore import explore

Pair = tuple[int, int]


def counters(state: Pair) -> Iterator[tuple[str, tuple[()], Pair]]:
    """Two counters that each go up to 3, in any order."""
    left, right = state
    if left < 3:
        yield "left", (), (left + 1, right)
    if right < 3:
        yield "right", (), (left, right + 1)


def never(state: Pair) -> str | None:
    return None


def test_it_sees_every_state_once() -> None:
    found = explore((0, 0), counters, never)
    assert (found.states, found.transitions, found.depth) == (16, 24, 6)
    assert found.run is None
    assert found.stopped is None


def test_the_first_run_found_is_a_shortest_one_in_the_order_of_events() -> None:
    found = explore((0, 0), counters, lambda state: "both" if min(state) == 1 else None)
    assert found.run == ("left", "right")
    assert found.reason == "both"


def test_a_start_that_is_broken_needs_no_event() -> None:
    found = explore((0, 0), counters, lambda state: "at once")
    assert (found.run, found.states) == ((), 1)


def test_the_budget_of_states_stops_it() -> None:
    found = explore((0, 0), counters, never, states_max=5)
    assert (found.states, found.stopped) == (5, "5 states")


def test_a_deadline_stops_it() -> None:
    answers = iter([False, False, True])
    found = explore((0, 0), counters, never, expired=lambda: next(answers))
    assert found.stopped == "time"


def test_witnesses_are_seen_or_not() -> None:
    found = explore(
        (0, 0),
        counters,
        never,
        witnesses={
            "goes left": lambda event, effects, state: event == "left",
            "reaches the corner": lambda event, effects, state: state == (3, 3),
            "leaves the board": lambda event, effects, state: max(state) > 3,
        },
    )
    assert found.witnessed == ("goes left", "reaches the corner")


def test_symmetry_explores_one_of_a_class_and_gives_a_real_run() -> None:
    def broken(state: Pair) -> str | None:
        return "far right" if max(state) == 3 and min(state) == 1 else None

    found = explore((0, 0), counters, never, canonical=lambda state: tuple(sorted(state)))
    assert found.states == 10
    found = explore((0, 0), counters, broken, canonical=lambda state: tuple(sorted(state)))
    assert found.run is not None
    state = (0, 0)
    for event in found.run:
        state = next(after for name, _, after in counters(state) if name == event)
    assert broken(state)
