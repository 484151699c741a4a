"""Which rules are asked, and the questions they make together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..context import Context, Hit
from ..hookspecs import CheckSpec
from ..model import UsageError
from ..packs.condition_names import check_names
from ..packs.conditions import compile_condition
from ..packs.pack import Rule
from ..registry import Registry, function, is_foreign
from .failures import BUILT_IN
from .when import hits_of, per_deployment


class Choice(NamedTuple):
    """Which rules count: codes, their beginnings (KA1 = all of KA1xx), or names."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]

    def wants(self, code: str, name: str) -> bool:
        def named(wanted: Sequence[str]) -> bool:
            return any(code.startswith(item.upper()) or name == item for item in wanted)

        return (not self.select or named(self.select)) and not named(self.ignore)

    def check(self, rules: Sequence[Rule]) -> None:
        """A code that no rule has is a mistake, not a filter that matches nothing."""
        names = [(rule.code, rule.name) for rule in rules] + list(BUILT_IN.items())
        for item in (*self.select, *self.ignore):
            if not any(code.startswith(item.upper()) or name == item for code, name in names):
                raise UsageError(f"no rule is called {item!r}; `kafka-advisor rules` lists them")


ALL = Choice((), ())


class Question(NamedTuple):
    """One function (or condition) asked of every subject, and the rules it answers, by check name."""

    ask: Callable[[Any, Context], Iterable[Hit]]
    per_deployment: bool
    params: Mapping[str, Any]
    components: set[str]
    rules: dict[str | None, list[tuple[Rule, str]]]
    ours: bool = True  # no plugin's code, which may read any name

    def rules_of(self, hit: Hit) -> Iterable[tuple[Rule, str]]:
        """Without a check's name a hit is for all that the function answers."""
        if hit.check is None:
            return [pair for asked in self.rules.values() for pair in asked]
        return self.rules.get(hit.check, ())

    def skips(self, present: tuple[str, ...]) -> bool:
        return bool(self.components) and self.components.isdisjoint(present)


def questions_of(
    rules: Iterable[tuple[Rule, str]], stated: Mapping[str, Mapping[str, Any]], registry: Registry
) -> list[Question]:
    """Rules that one function answers are one question: a subject is looked at once. `stated` are the params
    of the project file, by a rule's code or name."""
    asked: dict[object, Question] = {}
    for rule, severity in rules:
        params = {**rule.params, **stated.get(rule.name, {}), **stated.get(rule.code, {})}
        if rule.check is None:
            condition = compile_condition(rule.when or {})
            check_names(rule, condition.reads, registry.clients)
            question = Question(
                hits_of(condition), per_deployment(condition), params, set(rule.components), {}
            )
            asked[rule.code] = question
        else:
            spec = _check(rule, registry.checks)
            mark = (spec.function, rule.code if params else "")
            if mark not in asked:
                code, ours = function(spec.function, "hits"), not is_foreign(spec.function)
                asked[mark] = Question(
                    code, spec.reads == "deployment", params, set(rule.components), {}, ours
                )
            question = asked[mark]
            # One rule without components makes the question one for all.
            if not (question.components and rule.components):
                question.components.clear()
            question.components.update(rule.components if question.components else ())
        question.rules.setdefault(rule.check, []).append((rule, severity))
    return [*asked.values()]


def _check(rule: Rule, checks: Mapping[str, CheckSpec]) -> CheckSpec:
    spec = checks.get(rule.check or "")
    if spec is None:
        known = ", ".join(sorted(checks))
        raise UsageError(f"{rule.at}: rule {rule.code} names check {rule.check!r}; there is {known}")
    return spec
