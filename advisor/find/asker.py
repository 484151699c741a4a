"""Every rule asked about every subject: the order of it, and what is not asked a second time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..ask.models import Models
from ..catalog import Version
from ..context import Context
from ..guard.calls import gave_up
from ..join.profiles import Profile
from ..memo.answers import Remembered
from ..memo.cache import Cache
from ..model import ADVICE, REVIEW, SAFE, Deployment, Document, Finding, Fix, members_of
from ..packs.pack import Rule
from ..read.load import FileRecord
from ..read.project import Project
from ..registry import Registry, function, is_foreign
from .check_answers import CheckAnswers
from .failures import crashed, unreadable
from .fingerprint import what_is_told
from .fixes.remedies import Remedies
from .from_hit import Findings, fill
from .reuse import outcomes as kept
from .reuse.outcomes import Answers
from .rules.choice import Check, Choice
from .rules.relevance import Relevance, Subject
from .rules.rule_book import RuleBook
from .suppress import Suppressions

if TYPE_CHECKING:
    from ..ask.verdicts import Verdicts
    from .guarantees import Guaranteed
    from .model_answers import ModelAnswers
    from .reuse.memory import Memory, Run
    from .reuse.shared_answers import SharedAnswers


Answered = tuple[Sequence[Finding], Answers | None]


def touches(document: Document, targets: Set[str]) -> bool:
    return document.file in targets or any(
        setting.origin.at is not None and setting.origin.at.file in targets for setting in document.settings
    )


def deployments_of(deployments: Iterable[Deployment], targets: Set[str]) -> list[Deployment]:
    """Those that have a part in one of the target files."""
    return [
        deployment
        for deployment in deployments
        if any(touches(document, targets) for document in members_of(deployment))
    ]


def _target_files(records: Sequence[FileRecord]) -> set[str]:
    """What a walked file includes (env_file) lies among the targets too, though no format claims it alone."""
    return {record.file for record in records if record.target} | {
        setting.origin.at.file
        for record in records
        if record.target and not record.named
        for document in record.documents
        if document.format == "compose"
        for setting in document.settings
        if setting.origin.at is not None
    }


class Asker:
    """Asks every rule about every subject and makes findings of what it answers."""

    def __init__(
        self,
        registry: Registry,
        rules: Sequence[Rule],
        choice: Choice,
        project: Project,
        records: Sequence[FileRecord],
        documents: Sequence[Document],
        deployments: Sequence[Deployment],
        versions: Mapping[int, Version],
        profiles: Mapping[str, Profile],
        suppressions: Suppressions,
        cache: Cache,
        memory: Memory | None = None,
        progress: Callable[[str], None] = lambda text: None,
        fixes: bool = True,
    ) -> None:
        self.progress, self._fixes = progress, fixes
        self._versions = versions
        self.registry, self.project, self.records = registry, project, records
        self.documents, self.deployments, self.profiles = documents, deployments, dict(profiles)
        self.targets = _target_files(records)
        self.suppressions, self.cache = suppressions, cache
        # Context is loaded to be linked with; only what has a part in a target can have a finding there.
        self.asked_documents = [document for document in documents if touches(document, self.targets)]
        self.asked_deployments = deployments_of(deployments, self.targets)
        self.answers: dict[str, Answers] = {}
        self.book = RuleBook(rules, choice, project, registry)
        self.context = _context(registry, deployments, versions, cache)
        self.models = Models(registry.models)
        self._verdicts: Verdicts | None = None
        self._simulated: Guaranteed | None = None
        self._modelled: ModelAnswers | None = None
        # What the answers of the whole audit are kept under, if they are.
        self._whole = ""
        present = {
            deployment.id: tuple([document.component for document in members_of(deployment)])
            for deployment in deployments
        }
        # Where subjects are many, those that differ in names alone are asked once.
        self._shared: SharedAnswers | None = None
        if len(documents) > kept.KEPT_MAX:
            from .reuse.shared_answers import SharedAnswers

            params = project.params.values()
            self._shared = SharedAnswers(rules, params, self.context, self.profiles, present)
        self.relevance = Relevance(self.book, self.context, self.profiles)
        home_of = self._shared.home_of if self._shared is not None else None
        self._findings = Findings(self.book, self.context, home_of)
        self._remedies = Remedies(self.book, self.context, self.relevance, self.models, self._searches, fixes)
        self._checked = CheckAnswers(
            self.context, self.relevance, self._findings, self._remedies, present.__getitem__
        )
        self._run: Run | None = None
        if memory is not None:
            from .reuse.memory import Run

            self._run = Run(memory, self.context, documents, versions, profiles)
            # Behaviours that were searched are known whatever the files say now.
            self._simulated = memory.guaranteed = memory.guaranteed or self._simulator()
            self._verdicts = self._simulated.verdicts

    def findings(self) -> list[Finding]:
        found: dict[tuple[Any, ...], Finding] = {}
        for finding in (*self._unreadable(), *self._from_rules()):
            if finding.at.file in self.targets:
                # A setting shared by several documents (Spring profiles) is one thing to mend.
                told = what_is_told(finding)
                found[told] = _shared(found[told], finding) if told in found else finding
        return self._agreed([self.suppressions.apply(finding) for finding in found.values()])

    def about(self, subject: Subject) -> list[Finding]:
        """All that is found in one subject, which may be one of the audit's with changes made."""
        joined = isinstance(subject, Deployment)
        checks = [pair for pair in enumerate(self.book.checks) if pair[1].per_deployment == joined]
        found = [finding for _, finding in self._checked_about(subject, checks)]
        if isinstance(subject, Deployment):
            found += self._asking()(subject)[0]
        return found

    def _agreed(self, findings: list[Finding]) -> list[Finding]:
        """The fixes that do not go together with the others are not offered."""
        offered = {
            finding.resource
            for finding in findings
            if (finding.fixes or finding.not_fixed) and finding.severity != "note"
        }
        if not self._fixes or not offered or (len(offered) == 1 and len(self.deployments) == 1):
            return findings
        if self._whole:
            told = [(one.code, one.severity, one.at, one.resource, one.fixes) for one in findings]
            mark = kept.mark_among((), f"{self._whole}{told!r}")
            found = self.context.remember("joint", mark, lambda: kept.plain(self._replaced(findings)))
            replaced = kept.restored(found)
        else:
            replaced = self._replaced(findings)
        for place, reason, other in replaced:
            fixes, left = ((other,), "") if other is not None else ((), reason)
            findings[place] = findings[place]._replace(fixes=fixes, not_fixed=left)
        return findings

    def _replaced(self, findings: Sequence[Finding]) -> tuple[tuple[int, str, Fix | None], ...]:
        from .fixes.joint_plan import replaced

        plain = self._beside(self.documents, self.deployments, fixes=False)
        suppressions = self.suppressions.apart()
        originals: dict[int, Document] = {}

        def stand_in(changed: Document, original: Document) -> None:
            originals[id(changed)] = original
            plain.context.stand_in(changed, original)

        def found(subject: Subject) -> list[Finding]:
            return [suppressions.apply(finding) for finding in plain.about(subject)]

        askers: dict[tuple[int, ...], Asker] = {}

        def as_made(documents: Sequence[Document], homes: Sequence[Deployment], name: str) -> list[Finding]:
            """In one deployment, with changes made in all of them."""
            made = tuple(map(id, documents))
            if made not in askers:
                askers[made] = self._beside(documents, homes, fixes=True, originals=originals)
            asker = askers[made]
            return [one for home in asker.deployments if home.id == name for one in asker.about(home)]

        replacements = replaced(findings, self.documents, self.deployments, stand_in, found, as_made)
        return tuple((one.place, one.reason, one.other) for one in replacements)

    def _beside(
        self,
        documents: Sequence[Document],
        deployments: Sequence[Deployment],
        fixes: bool,
        originals: Mapping[int, Document] = {},
    ) -> Asker:
        """One that asks every rule of the same root, as it is or with changes made."""
        versions = dict(self._versions)
        for document in documents:
            original = originals.get(id(document), document)
            versions[id(document)] = versions[id(original)]
        other = Asker(
            self.registry,
            self.book.rules,
            Choice((), self.book.choice.ignore),
            self.project,
            self.records,
            documents,
            deployments,
            versions,
            self.profiles,
            self.suppressions,
            self.cache,
            fixes=fixes,
        )
        other._verdicts = self._verdicts
        return other

    def _unreadable(self) -> Iterable[Finding]:
        severity = self.book.severity("KA001", "unreadable-file", "warning")
        wanted = severity is not None and self.book.choice.wants("KA001", "unreadable-file")
        return unreadable(self.records, severity if wanted else None)

    def _recall(self, kind: str, subject: Any, ask: Callable[[Any], Any]) -> Any:
        """Asked, or known from an audit before a change that does not touch it."""
        if self._run is None:
            return ask(subject)
        return self._run.recall((kind, self.book.choice, self._fixes), subject, lambda: ask(subject))

    def _from_rules(self) -> Sequence[Finding]:
        """Nothing is asked of what was asked before. Code of a plugin answers for its arguments alone
        (hookspecs.py), so what it found is kept too, under a digest of its files."""
        if self._shared is not None or not kept.may_be_kept(self.deployments):
            return self._ask_rules()

        def asked() -> Any:
            found = self._ask_rules()
            return kept.as_json(found, self.answers) if self._may_keep(found) else kept.not_kept(found)

        self._whole = mark = self._mark()
        try:
            value = self.context.remember("rules", mark, asked)
        except kept.NotKept as error:
            self._whole = ""
            return error.findings
        try:
            found, answers = kept.from_json(value)
        except (KeyError, TypeError, ValueError):  # somebody else's writing in the cache
            return self._ask_rules()
        self.answers.update(answers)
        return found

    def _mark(self) -> str:
        """All that the findings depend on besides the program and its plugins."""
        profiles = [self.profiles[deployment.id].name for deployment in self.deployments]
        versions = [str(self.context.version_of(document)) for document in self.documents]
        about = (self.project.params, self.project.severity, self.project.workload, profiles, versions)
        asked = (self.book.choice, sorted(self.targets), self._fixes)
        return kept.mark_of([*self.documents, *self.deployments], self.book.rules, (about, asked))

    @cached_property
    def _mark_of_shapes(self) -> str:
        """Nothing of the subjects themselves: answers are kept for any repository with such shapes."""
        about = (self.project.params, self.project.severity, self.project.workload)
        return kept.mark_of((), self.book.rules, (about, self.book.choice, self._fixes))

    def _ask_rules(self) -> tuple[Finding, ...]:
        return (*self._from_checks(), *self._from_guarantees())

    # Rules that name a check or a condition.

    def _from_checks(self) -> Iterable[Finding]:
        checks = list(enumerate(self.book.checks))
        found: dict[int, list[Finding]] = {number: [] for number, _ in checks}
        for subjects, joined in ((self.asked_documents, False), (self.asked_deployments, True)):
            asked = [pair for pair in checks if pair[1].per_deployment == joined]

            def ask(
                subject: Subject, asked: Sequence[tuple[int, Check]] = asked
            ) -> list[tuple[int, Finding]]:
                return self._checked_about(subject, asked)

            for subject in subjects:
                for number, finding in self._recall("checks", subject, ask):
                    found[number].append(finding)
        return [finding for number, _ in checks for finding in found[number]]

    def _checked_about(
        self, subject: Subject, checks: Sequence[tuple[int, Check]]
    ) -> list[tuple[int, Finding]]:
        if self._shared is not None:
            return self._shared.found_about(
                subject, checks, self._checked.found, self._may_keep, self._mark_of_shapes
            )
        return [
            (number, finding) for number, check in checks for finding in self._checked.found(check, subject)
        ]

    # Rules that name a guarantee: the search or a model decides.

    def _from_guarantees(self) -> Iterable[Finding]:
        return self._ask_guarantees() if self.book.guarantees and self.asked_deployments else ()

    def _may_keep(self, found: Iterable[Finding]) -> bool:
        """Not the answers of a search cut short, nor of code that failed."""
        whole = not any(finding.code == "KA000" for finding in found) and not gave_up()
        return whole and not (self._verdicts is not None and self._verdicts.was_late)

    def _asking(self) -> Callable[[Deployment], Answered]:
        """How a deployment is asked about: each itself, or one of each shape."""
        shared = self._shared
        if shared is None or not self._models_are_ours():
            return self._answers_about
        mark = self._mark_of_shapes
        return lambda one: shared.answers_about(one, self._answers_about, self._may_keep, mark)

    def _ask_guarantees(self) -> Iterable[Finding]:
        ask = self._asking()
        for number, deployment in enumerate(self.asked_deployments, 1):
            if number % 10 == 0:
                self.progress(f"asked the rules about {number} of {len(self.asked_deployments)} deployments")
            findings, answers = self._recall("guarantees", deployment, ask)
            if answers is not None:
                self.answers[deployment.id] = answers
            yield from findings

    def _models_are_ours(self) -> bool:
        """No model of a plugin answers, which may read any name."""
        models = (*self.models.functions, *self.registry.assignors.values())
        return not any(map(is_foreign, (*models, *self.registry.partitioners.values())))

    def _answers_about(self, deployment: Deployment) -> Answered:
        from .folding import folded, merged

        asked = self.relevance.guarantees_of(deployment)
        searched = [one for one in asked if not self.models.answers(one.rule.guarantee)]
        found: list[Finding] = []
        failed: list[Finding] = []
        waiting: dict[str, str] = {}
        answers: Answers | None = None
        if searched:
            try:
                found, waiting, answers = self._simulator().answers(
                    deployment, searched, fill, self._remedies
                )
            except Exception as error:  # As for any rule: told, and the run goes on.
                failed += crashed([one.rule for one in searched], deployment, error)
        computed = [one for one in asked if self.models.answers(one.rule.guarantee)]
        more, crashes, judged = self._model_answers().answers(deployment, computed)
        if judged or answers is not None:
            headline, guarantees = answers or Answers(None, ())
            answers = Answers(headline, merged((*guarantees, *judged)))
        failed += [*crashes, *self._remedies.take_failures()]
        if not self._fixes:
            return [*failed, *found, *more], answers
        return [*failed, *folded([*found, *more], asked, waiting)], answers

    # Loaded only where something is asked of them.

    def _simulator(self) -> Guaranteed:
        if self._simulated is None:
            from .guarantees import Guaranteed

            self._simulated = Guaranteed(self._searches())
        return self._simulated

    def _searches(self) -> Verdicts:
        if self._verdicts is None:
            from ..ask.verdicts import Verdicts

            self._verdicts = Verdicts(self.cache)
        return self._verdicts

    def _model_answers(self) -> ModelAnswers:
        if self._modelled is None:
            from .model_answers import ModelAnswers

            self._modelled = ModelAnswers(self.models, self.context, self._findings, self._remedies)
        return self._modelled


def _shared(first: Finding, other: Finding) -> Finding:
    """One finding of two that say the same: what mends both is one fix."""
    known = (first.deployment, *first.shared_by)
    if other.deployment is None or first.deployment is None or other.deployment in known:
        return first
    fixes = tuple(_both(*pair) for pair in zip(first.fixes, other.fixes, strict=False))
    return first._replace(shared_by=(*first.shared_by, other.deployment), fixes=fixes)


def _both(one: Fix, other: Fix) -> Fix:
    if one.changes == other.changes:
        return one
    prices = [price for price in (one.price, other.price) if price]
    return one._replace(
        changes=tuple(dict.fromkeys((*one.changes, *other.changes))),
        price="; ".join(dict.fromkeys(prices)) or None,
        condition=one.condition or other.condition,
        safety=max(one.safety, other.safety, key=(SAFE, REVIEW, ADVICE).index),
    )


def _context(
    registry: Registry, deployments: Sequence[Deployment], versions: Mapping[int, Version], cache: Cache
) -> Context:
    by_document: dict[int, list[Deployment]] = {}
    for deployment in deployments:
        for member in members_of(deployment):
            by_document.setdefault(id(member), []).append(deployment)
    homes = {document: tuple(found) for document, found in by_document.items()}
    return Context(
        registry.clients,
        {spec.name: spec for spec in registry.formats},
        lambda document: versions[id(document)],
        lambda document: homes.get(id(document), ()),
        Remembered(cache, lambda: registry.digest),
        registry.assignors,
        registry.partitioners,
        function,
    )
