"""Who is to blame where the unseen decides.

A question that depends on what is not in sight is asked once more with the unseen as Kafka has it by default.
If it is broken then, each statement of the user's files is taken back, so that the default counts: one after
which it holds is to blame, though nobody can see the rest. If none is, the question stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from ...catalog import Version
from ...context import Question
from ...model import Deployment
from ...tuples import NamedTuple
from ..judge import Outcome, at, behaviours
from ..knob import Knob
from ..policies import Combination, Decoded
from ..regions import shown
from ..verdicts import Verdicts
from .statements import Pair, stated, without

SEVERAL_BROKERS = "the cluster has several brokers"
# So many statements are taken back together at the most.
_TOGETHER_MAX = 2
_LOWER = {"error": "warning", "warning": "note"}


def lower(severity: str) -> str | None:
    """Of a finding that rests on an assumption; below a note there is nothing to tell."""
    return _LOWER.get(severity)


class Blamed(NamedTuple):
    """The run that breaks it, what is to blame for it, and what is assumed of the unseen; `usual`: all of
    that is Kafka's default. `holds`: whether the question holds, of the deployment with something changed."""

    outcome: Outcome
    settings: tuple[Pair, ...]
    assuming: tuple[str, ...]
    usual: bool
    holds: Callable[[Deployment], bool]


def blame(
    question: Question,
    deployment: Deployment,
    decode: Callable[[Deployment], Decoded | None],
    verdicts: Verdicts,
) -> Blamed | None:
    decoded = decode(deployment)
    if decoded is None:
        return None
    possible, knobs = behaviours(question, decoded)
    statements = stated(pair for knob in knobs.values() for pair in knob.decided_by)
    if not possible or not statements:
        return None
    for number, combination in enumerate(_plausible(possible)):
        outcome = at(question, combination, verdicts)
        if outcome.verdict != "broken":
            continue

        def holds(changed: Deployment, elr: object = combination.choices.get("elr")) -> bool:
            return _holds(question, decode(changed), elr, verdicts)

        guilty = _guilty(deployment, statements, holds)
        if guilty:
            needed = [
                knob
                for knob in knobs.values()
                if not knob.seen and _is_needed(question, knob, combination, possible, verdicts)
            ]
            assuming = [_assumption(knob, combination, decoded.version) for knob in needed]
            several = (SEVERAL_BROKERS,) if decoded.brokers_assumed else ()
            return Blamed(outcome, guilty, (*several, *assuming), number == 0, holds)
    return None


def _plausible(possible: Sequence[Combination]) -> Iterator[Combination]:
    """The defaults, and, as no file shows that feature, the same without or with eligible leader replicas."""
    usual = possible[0]
    yield usual
    for other in possible[1:]:
        if {**usual.choices, "elr": other.choices.get("elr")} == other.choices:
            yield other


def _guilty(
    deployment: Deployment, statements: Sequence[Pair], holds: Callable[[Deployment], bool]
) -> tuple[Pair, ...]:
    """The fewest statements without which it holds; all that do so alone."""
    alone = tuple(one for one in statements if holds(without(deployment, [one])))
    if alone:
        return alone
    for size in range(2, _TOGETHER_MAX + 1):
        for several in combinations(statements, size):
            if holds(without(deployment, several)):
                return several
    return ()


def _holds(question: Question, decoded: Decoded | None, elr: object, verdicts: Verdicts) -> bool:
    possible = behaviours(question, decoded)[0] if decoded is not None else []
    chosen = [one for one in possible if one.choices.get("elr") == elr] or possible
    return bool(chosen) and at(question, chosen[0], verdicts).verdict == "holds"


def _is_needed(
    question: Question,
    knob: Knob,
    combination: Combination,
    possible: Sequence[Combination],
    verdicts: Verdicts,
) -> bool:
    """Whether it would not be broken if this one alone were otherwise."""
    others = [
        one
        for one in possible
        if one.choices[knob.field] != combination.choices[knob.field]
        if {**one.choices, knob.field: combination.choices[knob.field]} == combination.choices
    ]
    return any(at(question, one, verdicts).verdict != "broken" for one in others)


def _assumption(knob: Knob, combination: Combination, version: Version) -> str:
    value = combination.choices[knob.field]
    if knob.field == "replicas":
        return f"{knob.label} {value}"
    usual = value == knob.reference
    if knob.field == "elr":
        release = f", the default of {version.release.rpartition('.')[0]}" if usual else ""
        return f"{knob.label} are {'on' if value else 'off'}{release}"
    if knob.field == "acks":
        usual = usual and version.number >= (3, 0)
    since = " since 3.0" if knob.field == "acks" else ""
    return f"{knob.label}={shown(value)}" + (f", the default{since}" if usual else "")
