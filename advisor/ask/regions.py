"""Which of the unseen decides: the widest region of behaviours in which a guarantee holds, in words.

"holds if replication factor >= 3, min.insync.replicas >= 2" names all that a reader has to look up. The
region starts at one behaviour that holds and grows by a value of a knob at a time, while all of it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..join.reader import UNSET
from .knob import Knob
from .policies import Combination

# Field to the values it may have.
Region = Mapping[str, tuple[Any, ...]]

# Knobs grow in this order: a feature that no file shows is left open rather than a setting, and what decides
# most often comes before what multiplies the searches.
_ORDER = ("elr", "acks", "idempotence", "unclean", "min_isr", "replicas")


def widest_region(
    start: Combination,
    combinations: Sequence[Combination],
    knobs: Mapping[str, Knob],
    holds: Callable[[Combination], bool],
    within: Region,
) -> Region:
    """`start` is known to hold. Beyond `within` nobody wants to know: another question is broken there."""
    region: dict[str, tuple[Any, ...]] = {
        name: (start.choices[name],) for name, knob in knobs.items() if not knob.seen
    }
    for name in sorted(region, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER)):
        for value in sorted(knobs[name].values, key=lambda value: _distance(value, start.choices[name])):
            if value in region[name] or value not in within.get(name, (value,)):
                continue
            slice_ = {**region, name: (value,)}
            inside = [one for one in combinations if _within(one, slice_)]
            # The cheapest first: fewer replicas are fewer states.
            inside.sort(key=lambda one: one.choices.get("replicas", 0))
            if inside and all(holds(one) for one in inside):
                region[name] = (*region[name], value)
    return region


def _distance(value: Any, start: Any) -> tuple[bool, int]:
    """Neighbours before those far away, so that what holds is a range."""
    numbers = isinstance(value, int) and isinstance(start, int)
    return (not numbers, abs(value - start) if numbers else 0)


def _within(combination: Combination, region: Region) -> bool:
    return all(combination.choices[name] in values for name, values in region.items())


def both(one: Region, other: Region) -> Region | None:
    """Where two guarantees hold; None if nowhere."""
    found = {}
    for name in (*one, *(name for name in other if name not in one)):
        values = one.get(name, other.get(name, ()))
        found[name] = tuple(value for value in values if value in other.get(name, values))
        if not found[name]:
            return None
    return found


def conditions(region: Region, knobs: Mapping[str, Knob]) -> tuple[tuple[str, ...], str]:
    """The names of what decides, and the region in words, with what Kafka does where nobody says anything."""
    narrow = [
        (knobs[name], values)
        for name, values in region.items()
        if name in knobs and set(values) != set(knobs[name].values)
    ]
    narrow.sort(key=lambda pair: list(knobs).index(pair[0].field))
    labels = tuple(knob.label for knob, _ in narrow)
    text = "holds if " + ", ".join(_condition(knob, values) for knob, values in narrow)
    return labels, text + _defaults(knob for knob, _ in narrow)


def _defaults(knobs: Iterable[Knob]) -> str:
    """What each of them is by default, by its name: this cluster's, with its place, where a file shows it."""
    told, owner = [], "Kafka's"
    for knob in knobs:
        if knob.default is None or not isinstance(knob.default.value, str):
            continue
        at, where = knob.default.origin.at, ""
        if at is not None:
            owner = "this cluster's"
            where = f" ({at.file} does not set it)" if knob.default.origin.note == UNSET else f" ({at})"
        told.append(f"{knob.label} {knob.default.value}{where}")
    if not told:
        return ""
    return f"; {owner} default{'s are' if len(told) > 1 else ' is'} {', '.join(told)}"


def _condition(knob: Knob, values: Sequence[Any]) -> str:
    if knob.field == "elr":
        return f"{knob.label} are {'on' if True in values else 'off'}"
    numbers = sorted(value for value in values if isinstance(value, int) and not isinstance(value, bool))
    possible = sorted(
        value for value in knob.values if isinstance(value, int) and not isinstance(value, bool)
    )
    if numbers and len(numbers) == len(values) and knob.field in ("replicas", "min_isr"):
        if possible[-len(numbers) :] == numbers:
            return f"{knob.label} >= {numbers[0]}"
        if possible[: len(numbers)] == numbers and len(numbers) > 1:
            return f"{knob.label} <= {numbers[-1]}"
    return f"{knob.label} = {' or '.join(shown(value) for value in sorted(values, key=str))}"


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "unlimited" if value is None else str(value)
