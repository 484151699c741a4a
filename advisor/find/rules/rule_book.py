"""The rules of an audit: those that were chosen, and all that count, which a fix is held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ...packs.pack import Rule
from ...packs.questions import ActiveRule, question_of
from ...read.project import Project
from ...registry import Registry
from .choice import ALL, Check, Choice, checks_of


class RuleBook:
    def __init__(self, rules: Sequence[Rule], choice: Choice, project: Project, registry: Registry) -> None:
        self.rules, self.choice = rules, choice
        self._project, self._registry = project, registry

    @cached_property
    def guarantees(self) -> list[ActiveRule]:
        """The chosen rules that name a guarantee."""
        return [one for one in self._active(self.choice) if one.rule.guarantee is not None]

    @cached_property
    def checks(self) -> list[Check]:
        """The chosen rules that name a check or a condition."""
        return self._checks(self.choice)

    @cached_property
    def serious_guarantees(self) -> list[ActiveRule]:
        """Every guarantee above a note, chosen or not: a fix must break none."""
        active = self._active(ALL)
        return [one for one in active if one.rule.guarantee is not None and one.severity != "note"]

    @cached_property
    def every_check(self) -> list[Check]:
        return self.checks if self.choice == ALL else self._checks(ALL)

    def severity(self, code: str, name: str, default: str | None) -> str | None:
        """What the project file says instead; None: the rule is off."""
        stated: Mapping[str, str] = self._project.severity
        chosen = stated.get(code, stated.get(name, default))
        return None if chosen == "off" else chosen

    def _checks(self, choice: Choice) -> list[Check]:
        return checks_of([one for one in self._active(choice) if one.rule.guarantee is None], self._registry)

    def _active(self, choice: Choice) -> list[ActiveRule]:
        return [
            ActiveRule(rule, severity, question_of(rule, self._project.params))
            for rule in self.rules
            if rule.enabled and choice.wants(rule.code, rule.name)
            if (severity := self.severity(rule.code, rule.name, rule.severity)) is not None
        ]
