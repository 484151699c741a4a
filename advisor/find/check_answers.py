"""Rules that name a check or a condition, asked of documents and deployments: findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..context import Context, Hit
from ..model import Document, Finding, UsageError
from ..packs.questions import ActiveRule
from .failures import crashed
from .fixes.remedies import Remedies
from .from_hit import Findings
from .rules.choice import Check
from .rules.relevance import Relevance, Subject

if TYPE_CHECKING:
    from ..fix.smallest_change import Solved


class CheckAnswers:
    """`present` gives the components of a deployment, by its id."""

    def __init__(
        self,
        context: Context,
        relevance: Relevance,
        findings: Findings,
        remedies: Remedies,
        present: Callable[[str], tuple[str, ...]],
    ) -> None:
        self._context, self._relevance = context, relevance
        self._findings, self._remedies, self._present = findings, remedies, present

    def found(self, check: Check, subject: Subject) -> list[Finding]:
        found: list[Finding] = []
        present = (subject.component,) if isinstance(subject, Document) else self._present(subject.id)
        if check.skips(present):
            return found
        try:
            for hit in check.ask(subject, self._context.asking(check.question)):
                for asked in check.rules_of(hit):
                    if self._relevance.applies(asked.rule, subject):
                        found.append(self._fixed(check, asked, subject, hit))
        except UsageError:
            raise
        except Exception as error:  # A rule that raises must not take the others down.
            found += crashed([one.rule for one in check.rules_asked], subject, error)
        return [*found, *self._remedies.take_failures()]

    def _fixed(self, check: Check, asked: ActiveRule, subject: Subject, hit: Hit) -> Finding:
        rule = asked.rule

        def solved(changed: Subject, surely: bool) -> Solved | None:
            from ..fix.smallest_change import Solved

            for again in check.ask(changed, self._context.asking(check.question)):
                if any(rule.code == other.rule.code for other in check.rules_of(again)):
                    return None
            return Solved()

        return self._remedies.fixed(self._findings.of(asked, subject, hit), rule, subject, hit, solved)
