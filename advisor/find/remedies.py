"""A finding with its fix: the smallest change, held against all that any rule says of the changed subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..ask.models import Models
from ..context import Context, Hit, Outside
from ..guard.calls import PluginError
from ..model import Deployment, Document, Edit, Finding, members_of
from ..packs.pack import Rule
from ..packs.questions import ActiveRule
from .failures import crashed
from .rules.relevance import Relevance
from .rules.rule_book import RuleBook

if TYPE_CHECKING:
    from ..ask.verdicts import Verdicts
    from ..fix.edits import Subject
    from ..fix.smallest_change import Problem, Remedy, SmallestChange, Solved


class Remedies:
    """`searches` gives the verdicts of the search, which is loaded when a fix is looked for."""

    def __init__(
        self,
        book: RuleBook,
        context: Context,
        relevance: Relevance,
        models: Models,
        searches: Callable[[], Verdicts],
    ) -> None:
        self._book, self._context, self._relevance = book, context, relevance
        self._models, self._searches = models, searches
        self._engine: SmallestChange | None = None
        self.failures: list[Finding] = []
        self._found_in: dict[int, tuple[Document, frozenset[str], tuple[Outside, ...]]] = {}

    def fixed(
        self,
        finding: Finding,
        rule: Rule,
        subject: Subject,
        hit: Hit,
        solved: Callable[[Subject, bool], Solved | None],
    ) -> Finding:
        """The finding with the smallest change that helps, if one was found."""
        edits = [*hit.edits, *(Edit(key, component, key, value) for component, key, value in rule.edits)]
        if not edits:
            return finding
        from ..fix.smallest_change import Problem

        verified = f"{rule.guarantee} holds" if rule.guarantee else f"{rule.name} is gone"
        found = self.smallest(subject, Problem(edits, solved, verified))
        if found is None:
            return finding
        return finding._replace(fixes=(*finding.fixes, found.fix), advice=(*finding.advice, *found.advice))

    def smallest(self, subject: Subject, problem: Problem) -> Remedy | None:
        if self._engine is None:
            from ..fix.smallest_change import SmallestChange

            self._engine = SmallestChange(self._context, self._codes)
        return self._engine.of(subject, problem)

    def _failed(self, rules: Sequence[ActiveRule], subject: Subject, error: PluginError) -> None:
        """Code that ran out of time is not called again, so it is told here if it was never told before."""
        chosen = [one.rule for one in rules if self._book.choice.wants(one.rule.code, one.rule.name)]
        if chosen:
            self.failures += crashed(chosen, subject, error)

    def take_failures(self) -> list[Finding]:
        found, self.failures = self.failures, []
        return found

    # What is found in a subject: the rules above note that say something of it, the cheapest to ask first.

    def _codes(self, subject: Subject, besides: frozenset[str]) -> Iterator[str]:
        """The first new code tells that a change harms. A rule that spoke before is not asked again."""
        if isinstance(subject, Document):
            yield from self._document_codes(subject) - besides
            return
        yield from self._hit_codes(subject).union(*map(self._document_codes, members_of(subject))) - besides
        yield from self._broken_codes(subject, besides)

    def _document_codes(self, document: Document) -> frozenset[str]:
        """Asked once: a change leaves most documents of a deployment as they are."""
        known = self._found_in.get(id(document))
        if known is None:
            start = len(self._context.outside)
            codes = self._hit_codes(document)
            known = self._found_in[id(document)] = document, codes, tuple(self._context.outside[start:])
        else:
            self._context.outside += known[2]
        return known[1]

    def _hit_codes(self, subject: Subject) -> frozenset[str]:
        found: set[str] = set()
        documents = [subject] if isinstance(subject, Document) else members_of(subject)
        present = tuple(document.component for document in documents)
        for check in self._book.every_check:
            if isinstance(subject, Document) == check.per_deployment or check.skips(present):
                continue
            try:
                hits = [*check.ask(subject, self._context.asking(check.question))]
            except PluginError as error:  # a fix of another rule is not held against it
                self._failed(check.rules_asked, subject, error)
                continue
            for hit in hits:
                found |= {
                    one.rule.code
                    for one in check.rules_of(hit)
                    if (hit.severity or one.severity) != "note" and self._relevance.applies(one.rule, subject)
                }
        return frozenset(found)

    def _broken_codes(self, deployment: Deployment, besides: frozenset[str]) -> Iterator[str]:
        from ..ask.policies import decode
        from ..fix.searched import is_broken

        asked = [
            one for one in self._relevance.serious_guarantees_of(deployment) if one.rule.code not in besides
        ]
        played = [one for one in asked if self._models.answers(one.rule.guarantee)]
        decoded = decode(deployment)
        for one in asked:
            if one not in played and is_broken(one.question, deployment, decoded, self._searches()):
                yield one.rule.code
        for one in played:
            try:
                judgements = self._models.judge(one.question, deployment, self._context)
            except PluginError as error:
                self._failed([one], deployment, error)
                continue
            if any(judgement.verdict == "broken" for judgement in judgements):
                yield one.rule.code
