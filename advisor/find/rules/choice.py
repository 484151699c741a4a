"""Which rules count, and the checks they make together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from ...context import Context, Hit, Question
from ...hookspecs import CheckSpec
from ...model import UsageError
from ...packs.condition_names import check_names
from ...packs.conditions import compile_condition
from ...packs.pack import Rule
from ...packs.questions import ActiveRule
from ...registry import Registry, function, is_foreign
from ...syntax.numbers import is_digits
from ...tuples import NamedTuple
from ..failures import BUILT_IN
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
                raise UsageError(no_rule(item, {word for pair in names for word in pair}))


def no_rule(name: str, known: Collection[str]) -> str:
    """That there is none, and which one was meant."""
    from difflib import get_close_matches

    # Codes are near to one another by their nature: of them only letters taken for digits are a slip.
    meant = name.upper().replace("O", "0").replace("I", "1").replace("L", "1")
    names = sorted(one for one in known if not is_digits(one[-1:]))
    near = [meant] if meant in known else get_close_matches(name, names, n=1)
    return f"no rule is called {name!r}; " + (
        f"did you mean {near[0]!r}?" if near else "`kafka-advisor rules` lists them"
    )


ALL = Choice((), ())


class Check(NamedTuple):
    """One function or condition that looks at every subject, and the rules it answers, by check name."""

    ask: Callable[[Any, Context], Iterable[Hit]]
    per_deployment: bool
    question: Question  # of the first of its rules; those that share a function share their params
    components: set[str]
    rules: dict[str | None, list[ActiveRule]]
    ours: bool = True  # no plugin's code, which may read any name

    def rules_of(self, hit: Hit) -> Iterable[ActiveRule]:
        """Without a check's name a hit is for all that the function answers."""
        if hit.check is None:
            return self.rules_asked
        return self.rules.get(hit.check, ())

    @property
    def rules_asked(self) -> list[ActiveRule]:
        return [one for asked in self.rules.values() for one in asked]

    def skips(self, present: tuple[str, ...]) -> bool:
        return bool(self.components) and self.components.isdisjoint(present)


def checks_of(rules: Iterable[ActiveRule], registry: Registry) -> list[Check]:
    """Rules that one function answers are one check: a subject is looked at once."""
    found: dict[object, Check] = {}
    for active in rules:
        rule, question = active.rule, active.question
        if rule.check is None:
            condition = compile_condition(rule.when or {})
            check_names(rule, condition.reads, registry.clients)
            check = Check(hits_of(condition), per_deployment(condition), question, set(rule.components), {})
            found[rule.code] = check
        else:
            spec = _check(rule, registry.checks)
            mark = (spec.function, rule.code if question.params else "")
            if mark not in found:
                per, components = spec.reads == "deployment", set(rule.components)
                ours = not is_foreign(spec.function)
                found[mark] = Check(_code(spec.function, ours), per, question, components, {}, ours)
            check = found[mark]
            # One rule without components makes the check one for all.
            if not (check.components and rule.components):
                check.components.clear()
            check.components.update(rule.components if check.components else ())
        check.rules.setdefault(rule.check, []).append(active)
    return [*found.values()]


def _code(target: str, ours: bool) -> Callable[[Any, Context], Iterable[Hit]]:
    """What is skipped is not imported; that the code of a plugin cannot be loaded is told at once."""
    if not ours:
        return function(target, "hits")
    return lambda subject, context: function(target, "hits")(subject, context)


def _check(rule: Rule, checks: Mapping[str, CheckSpec]) -> CheckSpec:
    spec = checks.get(rule.check or "")
    if spec is None:
        known = ", ".join(sorted(checks))
        raise UsageError(f"{rule.at}: rule {rule.code} names check {rule.check!r}; there is {known}")
    return spec
