"""Every rule asked about every subject, and what it answers made into findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from ..ask.models import Computed, Judged, folded_together, folded_under, merged, summaries
from ..catalog import Version, resolve_version
from ..context import Context, Hit, Judgement, Outside
from ..guard.calls import PluginError, gave_up
from ..join.profiles import Profile
from ..memo.answers import Remembered
from ..memo.cache import Cache
from ..model import Deployment, Document, Edit, Evidence, Finding, UsageError, members_of
from ..packs.pack import Rule, applies_to
from ..read.load import FileRecord
from ..read.project import Project
from ..registry import Registry, function, is_foreign
from . import outcomes as kept
from .choice import ALL, Choice, Question, questions_of
from .failures import crashed, unreadable
from .outcomes import Answers
from .suppress import Suppressions

if TYPE_CHECKING:
    from ..ask.verdicts import Verdicts
    from ..fix.remedies import Remedies, Subject
    from .guarantees import Guaranteed
    from .memory import Memory, Run
    from .shared_answers import SharedAnswers


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
    ) -> None:
        self.registry, self.rules, self.choice = registry, rules, choice
        self.project, self.records = project, records
        self.documents, self.deployments = documents, deployments
        self.versions, self.profiles = versions, dict(profiles)
        self.targets = {record.file for record in records if record.target}
        # What a walked file includes (env_file) lies among the targets too, though no format claims it alone.
        self.targets |= {
            setting.origin.at.file
            for record in records
            if record.target and not record.named
            for document in record.documents
            if document.format == "compose"
            for setting in document.settings
            if setting.origin.at is not None
        }
        self.suppressions, self.cache = suppressions, cache
        # Context is loaded to be linked with; only what has a part in a target can have a finding there.
        self.asked_documents = [document for document in documents if touches(document, self.targets)]
        self.asked_deployments = deployments_of(deployments, self.targets)
        self.answers: dict[str, Answers] = {}
        self.present = {
            deployment.id: tuple([document.component for document in members_of(deployment)])
            for deployment in deployments
        }
        self.severity = project.severity
        by_document: dict[int, list[Deployment]] = {}
        for deployment in deployments:
            for member in members_of(deployment):
                by_document.setdefault(id(member), []).append(deployment)
        homes = {document: tuple(found) for document, found in by_document.items()}
        self.context = Context(
            registry.clients,
            {spec.name: spec for spec in registry.formats},
            lambda document: versions[id(document)],
            lambda document: homes.get(id(document), ()),
            Remembered(cache, lambda: registry.digest),
            registry.assignors,
            registry.partitioners,
            function,
        )
        self.computed = Computed(registry.models, project.params)
        self._verdicts: Verdicts | None = None
        self._simulated: Guaranteed | None = None
        self._remedies: Remedies | None = None
        self._asks: list[Question] | None = None
        self._asked_by_kind: dict[object, list[tuple[Rule, str]]] = {}
        # For the fixes: every guarantee above note, which of them deployments alike are asked, what was
        # judged of the deployment that is being answered, and the codes found in a document by itself.
        self._every_guarantee: list[tuple[Rule, str]] | None = None
        self._guarantees_of: dict[object, list[tuple[Rule, str]]] = {}
        self._answering: tuple[Deployment | None, dict[str, tuple[Judgement, ...]]] = (None, {})
        self._found_in: dict[int, tuple[Document, frozenset[str], tuple[Outside, ...]]] = {}
        # Where subjects are many, those that differ in names alone are asked once.
        self._shared: SharedAnswers | None = None
        if len(documents) > kept.KEPT_MAX:
            from .shared_answers import SharedAnswers

            params = project.params.values()
            self._shared = SharedAnswers(rules, params, self.context, versions, self.profiles, self.present)
        self._run: Run | None = None
        if memory is not None:
            from .memory import Run

            self._run = Run(memory, self.context, documents, versions, profiles)
            # Behaviours that were searched are known whatever the files say now.
            self._simulated = memory.guaranteed = memory.guaranteed or self._simulator()
            self._verdicts = self._simulated.verdicts

    def findings(self) -> list[Finding]:
        found: dict[tuple[Any, ...], Finding] = {}
        for finding in (*self._unreadable(), *self._asked(), *self._guaranteed()):
            if finding.at.file in self.targets:
                # A setting shared by several documents (Spring profiles) is one thing to mend.
                found.setdefault((finding.code, finding.at, finding.keys, finding.message), finding)
        return [self.suppressions.apply(finding) for finding in found.values()]

    def _guaranteed(self) -> Sequence[Finding]:
        """Rules that name a guarantee: the simulator or a model decides. Nothing is asked of what was asked
        before."""
        rules = self._guarantee_rules(self.choice)
        if not rules or not self.asked_deployments:
            return ()

        def asked() -> Any:
            found = tuple(self._ask_guarantees(rules))
            return kept.as_json(found, self.answers) if self._may_keep(found) else kept.not_kept(found)

        if self._shared is not None or not kept.may_be_kept(self.deployments):
            return tuple(self._ask_guarantees(rules))
        profiles = [self.profiles[deployment.id].name for deployment in self.deployments]
        about = (self.project.params, self.severity, profiles, self.choice, sorted(self.targets))
        mark = kept.mark_of(self.deployments, self.rules, about)
        try:
            value = self.context.remember("guarantees", mark, asked)
        except kept.NotKept as error:
            return error.findings
        try:
            found, answers = kept.from_json(value)
        except (KeyError, TypeError, ValueError):  # somebody else's writing in the cache
            return tuple(self._ask_guarantees(rules))
        self.answers.update(answers)
        return found

    def _may_keep(self, found: Iterable[Finding]) -> bool:
        """Not the answers of a search cut short, nor of code that failed."""
        whole = not any(finding.code == "KA000" for finding in found) and not gave_up()
        return whole and not (self._verdicts is not None and self._verdicts.was_late)

    def _ask_guarantees(self, rules: Sequence[tuple[Rule, str]]) -> Iterable[Finding]:
        ask: Callable[[Deployment, Sequence[tuple[Rule, str]]], Answered] = self._answers_about
        shared = self._shared
        if shared is not None and self._models_are_ours():
            # Nothing of the deployments themselves: answers are kept for any repository with such shapes.
            about = (self.project.params, self.severity, self.choice, self.project.workload)
            mark = kept.mark_of((), self.rules, about)

            def ask(deployment: Deployment, rules: Sequence[tuple[Rule, str]]) -> Answered:
                return shared.answers_about(
                    deployment, lambda subject: self._answers_about(subject, rules), self._may_keep, mark
                )

        for deployment in self.asked_deployments:
            findings, answers = self._recall("guarantees", deployment, ask, rules)
            if answers is not None:
                self.answers[deployment.id] = answers
            yield from findings

    def _models_are_ours(self) -> bool:
        """No model of a plugin answers, which may read any name."""
        models = (*self.computed.functions, *self.registry.assignors.values())
        return not any(map(is_foreign, (*models, *self.registry.partitioners.values())))

    def _answers_about(self, deployment: Deployment, rules: Sequence[tuple[Rule, str]]) -> Answered:
        asked = self._asked_alike(deployment, rules, self._asked_by_kind)
        searched = [pair for pair in asked if not self.computed.answers(pair[0].guarantee)]
        computed = [pair for pair in asked if self.computed.answers(pair[0].guarantee)]
        failed: list[Finding] = []
        answers = None
        if searched:
            try:
                answers = self._simulator().answers(deployment, searched, fill)
            except Exception as error:  # As for any rule: told, and the run goes on.
                failed = [*crashed([rule for rule, _ in searched], deployment, error)]
        found = answers.findings if answers is not None else ()
        more, answers = self._answered(deployment, computed, answers)
        return [*failed, *folded_under(found, more, searched)], answers

    def _recall(self, kind: str, subject: Any, ask: Callable[[Any, Any], Any], asked: Any) -> Any:
        """Asked, or known from an audit before a change that does not touch it."""
        if self._run is None:
            return ask(subject, asked)
        return self._run.recall((kind, self.choice), subject, lambda: ask(subject, asked))

    def _guarantee_rules(self, choice: Choice) -> list[tuple[Rule, str]]:
        from ..packs.vocabulary import GUARANTEES

        for rule in self.rules:
            name = rule.guarantee
            if name is not None and name not in GUARANTEES and not self.computed.answers(name):
                known = ", ".join(sorted({*GUARANTEES, *self.computed.names}))
                raise UsageError(f"{rule.at}: rule {rule.code} names guarantee {name!r}; there is {known}")
            self.computed.check(rule)
            if name in GUARANTEES and not self.computed.answers(name):
                _check_faults(rule)
        return [pair for pair in self._chosen(choice) if pair[0].guarantee is not None]

    def _asked_alike(
        self,
        deployment: Deployment,
        rules: Sequence[tuple[Rule, str]],
        known: dict[object, list[tuple[Rule, str]]],
    ) -> list[tuple[Rule, str]]:
        """Which rules a deployment is asked depends on little: deployments alike share the answer."""
        present = frozenset([(document.component, document.client) for document in members_of(deployment)])
        mark = (present, deployment.version, self.profiles[deployment.id].name)
        if mark not in known:
            known[mark] = self._asked_of(deployment, rules)
        return known[mark]

    def _asked_of(self, deployment: Deployment, rules: Sequence[tuple[Rule, str]]) -> list[tuple[Rule, str]]:
        components = {document.component for document in members_of(deployment)}
        return [
            (rule, severity)
            for rule, severity in rules
            if not components.isdisjoint(rule.components or components)
            if self._deployment_applies(rule, deployment)
        ]

    def _simulator(self) -> Guaranteed:
        """Loaded only where something is asked of it."""
        if self._simulated is None:
            from .guarantees import Guaranteed

            self._simulated = Guaranteed(self._searches())
        return self._simulated

    def _searches(self) -> Verdicts:
        if self._verdicts is None:
            from ..ask.verdicts import Verdicts

            self._verdicts = Verdicts(self.cache)
        return self._verdicts

    # Guarantees that a model computes.

    def _answered(
        self, deployment: Deployment, rules: Sequence[tuple[Rule, str]], answers: Answers | None
    ) -> tuple[list[Finding], Answers | None]:
        """What the models find, and the answers with theirs added."""
        judged: list[Judged] = []
        failed: list[Finding] = []
        found: list[Finding] = []
        self._answering = deployment, {}
        for rule, severity in rules:
            try:
                judgements = self._judgements(rule, deployment)
                judged.append(Judged(rule, severity, judgements))
                found += [
                    self._broken(rule, severity, deployment, judgement, judgements)
                    for judgement in judgements
                    if judgement.verdict == "broken"
                ]
            except UsageError:
                raise
            except Exception as error:
                failed += crashed([rule], deployment, error)
        more = summaries(judged)
        if more or answers is not None:
            before = answers or Answers(None, (), ())
            answers = before._replace(guarantees=merged(before.guarantees, more))
        return [*failed, *folded_together(found)], answers

    def _judgements(self, rule: Rule, deployment: Deployment) -> tuple[Judgement, ...]:
        """Of the deployment that is being answered once: what a fix may not add is held against it."""
        answering, known = self._answering
        if deployment is not answering:
            return self.computed.judge(rule, deployment, self.context)
        if rule.code not in known:
            known[rule.code] = self.computed.judge(rule, deployment, self.context)
        return known[rule.code]

    def _broken(
        self,
        rule: Rule,
        severity: str,
        deployment: Deployment,
        judgement: Judgement,
        judgements: Sequence[Judgement],
    ) -> Finding:
        hit = judgement.hit
        assert hit is not None, "what is broken is broken somewhere"
        group, amiss = hit.fields.get("group"), _amiss(judgements)

        def still(changed: Subject) -> bool:
            """Of several groups one is mended: the others may be as they were."""
            assert isinstance(changed, Deployment)
            after = self.computed.judge(rule, changed, self.context)
            if group is None:
                return _amiss(after) > 0
            same = any(other.hit and other.hit.fields.get("group") == group for other in after)
            return same or _amiss(after) >= amiss

        finding = self._finding(rule, severity, deployment, hit)
        finding = self._remedied(finding, rule, deployment, hit, still)
        evidence = finding.evidence._replace(
            kind=rule.evidence if judgement.trace or rule.evidence != "trace" else "budget",
            guarantee=rule.guarantee,
            environment=tuple(sorted(judgement.environment.items())),
            faults=tuple(sorted(judgement.faults.items())),
            bounds=judgement.bounds,
            states=judgement.states,
            trace=judgement.trace,
        )
        return finding._replace(evidence=evidence)

    # Fixes of rules that the search does not answer.

    def _remedied(
        self, finding: Finding, rule: Rule, subject: Subject, hit: Hit, still: Callable[[Subject], bool]
    ) -> Finding:
        """The finding with the smallest change that helps, if one was found."""
        edits = [*hit.edits, *(Edit(key, component, key, value) for component, key, value in rule.edits)]
        if not edits:
            return finding
        if self._remedies is None:
            from ..fix.remedies import Remedies

            self._remedies = Remedies(self.context, self._codes)
        kept = self.context.params
        verified = f"{rule.guarantee} holds" if rule.guarantee else f"{rule.name} is gone"
        found = self._remedies.smallest(subject, edits, still, verified)
        self.context.params = kept
        if found is None:
            return finding
        return finding._replace(fixes=(*finding.fixes, found.fix), advice=(*finding.advice, *found.commands))

    def _codes(self, subject: Subject) -> frozenset[str]:
        """The rules above note that find something in it; no fix is looked for."""
        if isinstance(subject, Document):
            return self._document_codes(subject)
        found = self._hit_codes(subject).union(*map(self._document_codes, members_of(subject)))
        return found | self._broken_codes(subject)

    def _document_codes(self, document: Document) -> frozenset[str]:
        """Asked once: a change leaves most documents of a deployment as they are."""
        known = self._found_in.get(id(document))
        if known is None:
            start = len(self.context.outside)
            codes = self._hit_codes(document)
            known = self._found_in[id(document)] = document, codes, tuple(self.context.outside[start:])
        else:
            self.context.outside += known[2]
        return known[1]

    def _hit_codes(self, subject: Subject) -> frozenset[str]:
        found: set[str] = set()
        present = (subject.component,) if isinstance(subject, Document) else self._present(subject)
        for question in self._every_question():
            if isinstance(subject, Document) == question.per_deployment or question.skips(present):
                continue
            self.context.params = question.params
            try:
                hits = [*question.ask(subject, self.context)]
            except PluginError:  # told by its own rule; a fix of another is not held against it
                continue
            for hit in hits:
                found |= {
                    rule.code
                    for rule, severity in question.rules_of(hit)
                    if (hit.severity or severity) != "note" and self._applies(rule, subject)
                }
        return frozenset(found)

    def _broken_codes(self, deployment: Deployment) -> set[str]:
        from ..ask.policies import decode
        from ..fix.smallest_change import is_broken

        if self._every_guarantee is None:
            self._every_guarantee = [pair for pair in self._guarantee_rules(ALL) if pair[1] != "note"]
        rules = self._asked_alike(deployment, self._every_guarantee, self._guarantees_of)
        decoded = decode(deployment)
        found = set()
        for rule, _ in rules:
            if self.computed.answers(rule.guarantee):
                try:
                    judgements = self._judgements(rule, deployment)
                except PluginError:  # as above
                    continue
                broken = any(judgement.verdict == "broken" for judgement in judgements)
            else:
                broken = is_broken(rule, deployment, decoded, self._searches())
            if broken:
                found.add(rule.code)
        return found

    def _present(self, deployment: Deployment) -> tuple[str, ...]:
        return tuple(document.component for document in members_of(deployment))

    def _components(self, subject: Document | Deployment) -> tuple[str, ...]:
        if isinstance(subject, Document):
            return (subject.component,)
        return self.present[subject.id]

    def _unreadable(self) -> Iterable[Finding]:
        severity = self._severity("KA001", "unreadable-file", "warning")
        wanted = severity is not None and self.choice.wants("KA001", "unreadable-file")
        return unreadable(self.records, severity if wanted else None)

    def _asked(self) -> Iterable[Finding]:
        questions = list(enumerate(self._questions(self.choice)))
        found: dict[int, list[Finding]] = {number: [] for number, _ in questions}
        for subjects, joined in ((self.asked_documents, False), (self.asked_deployments, True)):
            asked = [pair for pair in questions if pair[1].per_deployment == joined]
            for subject in subjects:
                for number, finding in self._recall("questions", subject, self._found_about, asked):
                    found[number].append(finding)
        return [finding for number, _ in questions for finding in found[number]]

    def _found_about(
        self, subject: Document | Deployment, questions: Sequence[tuple[int, Question]]
    ) -> list[tuple[int, Finding]]:
        if self._shared is not None:
            return self._shared.found_about(subject, questions, self._found_by)
        return [
            (number, finding)
            for number, question in questions
            for finding in self._found_by(question, subject)
        ]

    def _found_by(self, question: Question, subject: Document | Deployment) -> list[Finding]:
        found: list[Finding] = []
        if question.skips(self._components(subject)):
            return found
        self.context.params = question.params
        try:
            for hit in question.ask(subject, self.context):
                for rule, severity in question.rules_of(hit):
                    if self._applies(rule, subject):
                        found.append(self._mended(question, rule, subject, hit, severity))
        except UsageError:
            raise
        except Exception as error:  # A rule that raises must not take the others down.
            rules = [rule for asked in question.rules.values() for rule, _ in asked]
            found += crashed(rules, subject, error)
        return found

    def _mended(
        self, question: Question, rule: Rule, subject: Document | Deployment, hit: Hit, severity: str
    ) -> Finding:
        finding = self._finding(rule, severity, subject, hit)

        def still(changed: Subject) -> bool:
            self.context.params = question.params
            return any(
                rule.code in {other.code for other, _ in question.rules_of(again)}
                for again in question.ask(changed, self.context)
            )

        return self._remedied(finding, rule, subject, hit, still)

    def _every_question(self) -> list[Question]:
        """Also those that --select leaves out: a fix must not break them."""
        if self._asks is None:
            self._asks = self._questions(ALL)
        return self._asks

    def _questions(self, choice: Choice) -> list[Question]:
        chosen = [pair for pair in self._chosen(choice) if pair[0].guarantee is None]
        return questions_of(chosen, self.project.params, self.registry)

    def _chosen(self, choice: Choice) -> list[tuple[Rule, str]]:
        """The rules that count, each with its severity."""
        return [
            (rule, severity)
            for rule in self.rules
            if rule.enabled and choice.wants(rule.code, rule.name)
            if (severity := self._severity(rule.code, rule.name, rule.severity)) is not None
        ]

    def _applies(self, rule: Rule, subject: Document | Deployment) -> bool:
        if isinstance(subject, Document):
            return self._document_applies(rule, subject)
        return self._deployment_applies(rule, subject)

    def _document_applies(self, rule: Rule, document: Document) -> bool:
        if rule.components and document.component not in rule.components:
            return False
        if rule.clients and document.client not in rule.clients:
            return False
        # Not `versions`: the document may be one with a fix made.
        if rule.kafka and not applies_to(rule.kafka, self.context.version_of(document).number):
            return False
        if rule.profiles:
            homes = self.context.homes_of(document)
            return not homes or any(self.profiles[home.id].name in rule.profiles for home in homes)
        return True

    def _deployment_applies(self, rule: Rule, deployment: Deployment) -> bool:
        members = members_of(deployment)
        if rule.clients and not any(document.client in rule.clients for document in members):
            return False
        if rule.kafka and not applies_to(rule.kafka, resolve_version(deployment.version).number):
            return False
        return not rule.profiles or self.profiles[deployment.id].name in rule.profiles

    def _finding(self, rule: Rule, severity: str, subject: Document | Deployment, hit: Hit) -> Finding:
        if hit.severity is not None and self._severity(rule.code, rule.name, None) is None:
            severity = hit.severity
        if isinstance(subject, Document):
            resource = subject.name
            homes = self.context.homes_of(subject)
            home = homes[0].id if len(homes) == 1 else None
            if self._shared is not None:
                home = self._shared.home_of(subject) or home
        else:
            resource = home = subject.id
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
            hit.fixes,
            home,
            rule.covers,
            hit.also_at,
            advice=(*hit.advice, *(fill(step, fields) for step in rule.advice)),
        )

    def _severity(self, code: str, name: str, default: str | None) -> str | None:
        chosen = self.severity.get(code, self.severity.get(name, default))
        return None if chosen == "off" else chosen


def _check_faults(rule: Rule) -> None:
    """A fault that the model of a guarantee does not know is told before anything is asked."""
    from ..packs.faults import known_faults

    for counts in (rule.environment, *rule.faults):
        try:
            known_faults(rule.guarantee or "", counts)
        except UsageError as error:
            raise UsageError(f"{rule.at}: rule {rule.code}: {error}") from None


def _amiss(judgements: Sequence[Judgement]) -> int:
    return sum(judgement.verdict != "holds" for judgement in judgements)


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
