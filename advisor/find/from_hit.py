"""What a check or a model saw at one place, as a finding of the rule that asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..context import Context, Hit
from ..model import ADVICE, REVIEW, SAFE, Deployment, Document, Evidence, Finding
from ..packs.questions import ActiveRule
from .rules.rule_book import RuleBook


class Findings:
    """`home_of` gives the id of the deployment for a document that stands for others, if it does."""

    def __init__(
        self, book: RuleBook, context: Context, home_of: Callable[[Document], str | None] | None
    ) -> None:
        self._book, self._context, self._home_of = book, context, home_of

    def of(self, asked: ActiveRule, subject: Document | Deployment, hit: Hit) -> Finding:
        rule, severity = asked.rule, asked.severity
        if hit.severity is not None and self._book.severity(rule.code, rule.name, None) is None:
            severity = hit.severity
        resource, home = self._place(subject)
        fields = {"resource": resource, **hit.fields}
        return Finding(
            rule.code,
            rule.name,
            severity,
            fill(rule.message, fields),
            hit.at,
            resource,
            hit.keys,
            hit.settings,
            Evidence(rule.evidence, hit.numbers),
            tuple(fix._replace(safety=_careful(fix.safety, rule.safety)) for fix in hit.fixes),
            home,
            rule.covers,
            hit.also_at,
            advice=(*hit.advice, *(fill(step, fields) for step in rule.advice)),
        )

    def _place(self, subject: Document | Deployment) -> tuple[str, str | None]:
        """What it is about, and the deployment that it belongs to."""
        if isinstance(subject, Deployment):
            return subject.id, subject.id
        homes = self._context.homes_of(subject)
        home = homes[0].id if len(homes) == 1 else None
        if self._home_of is not None:
            home = self._home_of(subject) or home
        return subject.name, home


def _careful(*told: str) -> str:
    return max(told, key=(SAFE, REVIEW, ADVICE).index)


def fill(template: str, fields: Mapping[str, str]) -> str:
    """`{name}` -> its field. Not str.format: a value is hostile, and a name may hold dots."""
    parts = []
    for number, piece in enumerate(template.split("{")):
        name, brace, rest = piece.partition("}")
        if number == 0 or not brace:
            parts.append(piece if number == 0 else "{" + piece)
        else:
            parts.append(str(fields.get(name, "{" + name + "}")) + rest)
    return "".join(parts)
