"""Which rules are asked, and the questions they make together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .context import Context, Hit
from .failures import BUILT_IN
from .model import UsageError
from .packs import Rule


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

    def rules_of(self, hit: Hit) -> Iterable[tuple[Rule, str]]:
        """Without a check's name a hit is for all that the function answers."""
        if hit.check is None:
            return [pair for asked in self.rules.values() for pair in asked]
        return self.rules.get(hit.check, ())

    def skips(self, present: tuple[str, ...]) -> bool:
        return bool(self.components) and self.components.isdisjoint(present)
