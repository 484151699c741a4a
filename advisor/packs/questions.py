"""What the rules ask, held against what the guarantees can be asked: a slip is told when a pack is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..context import Question
from ..hookspecs import NUMBER, SEARCHED, ModelSpec
from ..model import UsageError
from ..syntax.numbers import LONG
from ..tuples import NamedTuple
from .pack import Rule

# A param whose name ends in a unit or a bound is a number.
_NUMBERS = ("_ms", "_bytes", "_per_second", "_min", "_max")

# Params of the project file, by the code or the name of their rule.
Stated = Mapping[str, Mapping[str, Any]]


class ActiveRule(NamedTuple):
    """A rule that counts in this audit: with the severity it has here, and what it asks."""

    rule: Rule
    severity: str
    question: Question


def question_of(rule: Rule, stated: Stated) -> Question:
    params = rule.params
    if stated:
        params = {**params, **stated.get(rule.name, {}), **stated.get(rule.code, {})}
    return Question(rule.code, rule.guarantee or "", rule.part, params, rule.environment, rule.faults)


def check_rules(rules: Sequence[Rule], guarantees: Mapping[str, ModelSpec], stated: Stated) -> None:
    """A guarantee, part, param or fault that nobody knows is told before anything is asked."""
    for rule in rules:
        if rule.guarantee is None:
            continue
        spec = guarantees.get(rule.guarantee)
        if spec is None:
            known = ", ".join(sorted(guarantees))
            raise _wrong(rule, f"names guarantee {rule.guarantee!r}; there is {known}", colon=False)
        _check_part(rule, spec)
        if spec.params is not None:
            _check_params(rule, spec.params, stated)
        if spec.kind == SEARCHED:
            _check_faults(rule)
        elif spec.faults is not None:
            _check_counted(rule, spec.faults)


def _check_part(rule: Rule, spec: ModelSpec) -> None:
    if rule.part in spec.parts or not (rule.part or spec.parts):
        return
    known = ", ".join(part for part in spec.parts if part) or "none"
    told = f"is {rule.part!r}" if rule.part else "is missing"
    raise _wrong(rule, f"part {told}; {rule.guarantee} has {known}")


def _check_params(rule: Rule, allowed: Mapping[str, tuple[str, ...]], stated: Stated) -> None:
    params = question_of(rule, stated).params
    for name in params:
        if name not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            raise _wrong(rule, f"{rule.guarantee} has no param {name!r}; there is {known}")
    for name, words in allowed.items():
        given = params.get(name, "")
        if words == NUMBER or (not words and name.endswith(_NUMBERS)):
            if name in params and not _is_number(given):
                raise _no_number(rule, name, given, stated)
        elif words and (given not in words or (name in params and given == "")):
            # The empty word says that the param may be left out; written down, it is no word.
            told = f"is {given!r}" if name in params else "is missing"
            known = ", ".join(word for word in words if word)
            raise _wrong(rule, f"params.{name} {told}; {rule.guarantee} takes {known}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LONG[1]


def _no_number(rule: Rule, name: str, given: object, stated: Stated) -> UsageError:
    places: Iterable[str] = (one for one in (rule.code, rule.name) if name in stated.get(one, {}))
    told = f"is {given!r}, must be a number from 0 to {LONG[1]}"
    for place in places:
        return UsageError(f"kafka-advisor.toml: params.{place}.{name} {told}")
    return _wrong(rule, f"params.{name} {told}")


def _check_faults(rule: Rule) -> None:
    from .faults import known_faults

    for counts in (rule.environment, *rule.faults):
        try:
            known_faults(rule.guarantee or "", counts)
        except UsageError as error:
            raise _wrong(rule, str(error)) from None


def _check_counted(rule: Rule, faults: Sequence[str]) -> None:
    for name in (name for counts in (rule.environment, *rule.faults) for name in counts):
        if name not in faults:
            from ..schemas.explain import did_you_mean

            raise _wrong(rule, f"{rule.guarantee} is not asked about {name!r}{did_you_mean(name, faults)}")


def _wrong(rule: Rule, what: str, colon: bool = True) -> UsageError:
    return UsageError(f"{rule.at}: rule {rule.code}{':' if colon else ''} {what}")
