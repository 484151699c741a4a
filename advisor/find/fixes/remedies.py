"""A finding with its fix: the smallest change that helps and harms nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...ask.models import Models
from ...context import Context, Hit
from ...guard.calls import PluginError
from ...model import Edit, Finding
from ...packs.pack import Rule
from ...packs.questions import ActiveRule
from ..failures import crashed
from ..rules.relevance import Relevance
from ..rules.rule_book import RuleBook

if TYPE_CHECKING:
    from ...ask.verdicts import Verdicts
    from ...fix.edits import Subject
    from ...fix.smallest_change import Problem, SmallestChange, Solved, Sought


class Remedies:
    """`searches` gives the verdicts of the search, which is loaded when a fix is looked for. Not `wanted`:
    nobody asks for one."""

    def __init__(
        self,
        book: RuleBook,
        context: Context,
        relevance: Relevance,
        models: Models,
        searches: Callable[[], Verdicts],
        wanted: bool = True,
    ) -> None:
        self.wanted = wanted
        self._book, self._context, self._relevance = book, context, relevance
        self._models, self._searches = models, searches
        self._engine: SmallestChange | None = None
        self.failures: list[Finding] = []

    def fixed(
        self,
        finding: Finding,
        rule: Rule,
        subject: Subject,
        hit: Hit,
        solved: Callable[[Subject, bool], Solved | None],
    ) -> Finding:
        """The finding with the smallest change that helps, if one was found."""
        written = (
            Edit(key, component, key, value, safety=safety) for component, key, value, safety in rule.edits
        )
        edits = [*hit.edits, *written]
        if not edits or not self.wanted:
            return finding
        from ...fix.smallest_change import Problem

        verified = f"{rule.guarantee} holds" if rule.guarantee else f"{rule.name} is gone"
        sought = self.smallest(subject, Problem(edits, solved, verified), rule, finding.severity)
        if sought.remedy is None:
            return finding._replace(not_fixed=sought.refused)
        found = sought.remedy
        return finding._replace(fixes=(*finding.fixes, found.fix), advice=(*finding.advice, *found.advice))

    def smallest(self, subject: Subject, problem: Problem, rule: Rule, severity: str) -> Sought:
        if not self.wanted:
            from ...fix.smallest_change import Sought

            return Sought(None)
        if self._engine is None:
            from ...fix.smallest_change import SmallestChange
            from .harm import Harm

            harm = Harm(
                self._book, self._context, self._relevance, self._models, self._searches, self._failed
            )
            self._engine = SmallestChange(self._context, harm.of, harm.costs)
        return self._engine.of(
            subject, problem._replace(code=rule.code, severity=severity, safety=rule.safety)
        )

    def _failed(self, rules: Sequence[ActiveRule], subject: Subject, error: PluginError) -> None:
        """Code that ran out of time is not called again, so it is told here if it was never told before."""
        chosen = [one.rule for one in rules if self._book.choice.wants(one.rule.code, one.rule.name)]
        if chosen:
            self.failures += crashed(chosen, subject, error)

    def take_failures(self) -> list[Finding]:
        found, self.failures = self.failures, []
        return found
