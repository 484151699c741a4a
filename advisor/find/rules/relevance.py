"""Which rules count for which subject: by its components, clients, Kafka version and profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...catalog import resolve_version
from ...context import Context
from ...join.profiles import Profile
from ...model import Deployment, Document, members_of
from ...packs.pack import Rule, applies_to
from ...packs.questions import ActiveRule
from .rule_book import RuleBook

Subject = Document | Deployment


class Relevance:
    """`profiles` are those of the deployments, by their ids."""

    def __init__(self, book: RuleBook, context: Context, profiles: Mapping[str, Profile]) -> None:
        self._book, self._context, self._profiles = book, context, profiles
        self._alike: dict[object, list[ActiveRule]] = {}

    def applies(self, rule: Rule, subject: Subject) -> bool:
        if isinstance(subject, Document):
            return self._to_document(rule, subject)
        return self._to_deployment(rule, subject)

    def guarantees_of(self, deployment: Deployment) -> list[ActiveRule]:
        """The chosen rules that ask it for a guarantee."""
        return self._asked("chosen", deployment, self._book.guarantees)

    def serious_guarantees_of(self, deployment: Deployment) -> list[ActiveRule]:
        """All of them above a note, chosen or not."""
        return self._asked("serious", deployment, self._book.serious_guarantees)

    def _asked(self, which: str, deployment: Deployment, rules: Sequence[ActiveRule]) -> list[ActiveRule]:
        """This depends on little: deployments alike share the answer."""
        present = frozenset([(document.component, document.client) for document in members_of(deployment)])
        mark = (which, present, deployment.version, self._profiles[deployment.id].name)
        if mark not in self._alike:
            components = {component for component, _ in present}
            self._alike[mark] = [
                one
                for one in rules
                if not components.isdisjoint(one.rule.components or components)
                if self._to_deployment(one.rule, deployment)
            ]
        return self._alike[mark]

    def _to_document(self, rule: Rule, document: Document) -> bool:
        if rule.components and document.component not in rule.components:
            return False
        if rule.clients and document.client not in rule.clients:
            return False
        # Asked of the context: the document may be one with a fix made.
        if rule.kafka and not applies_to(rule.kafka, self._context.version_of(document).number):
            return False
        if rule.profiles:
            homes = self._context.homes_of(document)
            return not homes or any(self._profiles[home.id].name in rule.profiles for home in homes)
        return True

    def _to_deployment(self, rule: Rule, deployment: Deployment) -> bool:
        members = members_of(deployment)
        if rule.clients and not any(document.client in rule.clients for document in members):
            return False
        if rule.kafka and not applies_to(rule.kafka, resolve_version(deployment.version).number):
            return False
        return not rule.profiles or self._profiles[deployment.id].name in rule.profiles
