"""Every rule asked about every subject, and what it answers made into findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple

from . import kept
from .alike import Shape, Shapes
from .cache import Cache, digest
from .catalog import Version, resolve_version
from .computed import Computed, Judged, folded_together, folded_under, merged, summaries
from .conditioned import hits_of, per_deployment
from .conditions import compile_condition
from .context import Context, Hit, Judgement
from .hookspecs import CheckSpec
from .kept import Answers
from .loading import FileRecord, place_of
from .model import (
    Deployment,
    Document,
    Edit,
    Evidence,
    Finding,
    Location,
    UsageError,
    members_of,
)
from .packs import Rule, applies_to
from .profiles import Profile
from .project import Project
from .registry import Registry, function
from .remembering import Remembered
from .stand_ins import Told, told
from .suppress import Suppressions

if TYPE_CHECKING:
    from .guaranteed import Guaranteed
    from .remedies import Remedies, Subject
    from .verdicts import Verdicts

BUILT_IN = {"KA000": "rule-crashed", "KA001": "unreadable-file"}


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


_ALL = Choice((), ())


class _Question(NamedTuple):
    """One function (or condition) asked of every subject, and the rules it answers, by check name."""

    ask: Callable[[Any, Context], Iterable[Hit]]
    per_deployment: bool
    params: Mapping[str, Any]
    components: set[str]
    rules: dict[str | None, list[tuple[Rule, str]]]
    ours: bool = True  # no plugin's code, which may read any name

    def rules_of(self, hit: Hit) -> Iterable[tuple[Rule, str]]:
        """Without a check's name a hit is for all that the function answers."""
        if hit.check is None:
            return [pair for asked in self.rules.values() for pair in asked]
        return self.rules.get(hit.check, ())

    def skips(self, present: tuple[str, ...]) -> bool:
        return bool(self.components) and self.components.isdisjoint(present)


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
        self._homes = {document: tuple(found) for document, found in by_document.items()}
        self.context = Context(
            registry.clients,
            {spec.name: spec for spec in registry.formats},
            lambda document: versions[id(document)],
            lambda document: self._homes.get(id(document), ()),
            Remembered(cache),
            registry.assignors,
        )
        self.computed = Computed(registry.models, project.params)
        self._verdicts: Verdicts | None = None
        self._remedies: Remedies | None = None
        self._asks: list[_Question] | None = None
        self._guarantees: Guaranteed | None = None
        self._asked_by_kind: dict[object, list[tuple[Rule, str]]] = {}
        # For the fixes: every guarantee above note, which of them deployments alike are asked, what was
        # judged of the deployment that is being answered, and the codes found in a document by itself.
        self._every_guarantee: list[tuple[Rule, str]] | None = None
        self._guarantees_of: dict[object, list[tuple[Rule, str]]] = {}
        self._answering: tuple[Deployment | None, dict[str, tuple[Judgement, ...]]] = (None, {})
        self._found_in: dict[int, tuple[Document, frozenset[str]]] = {}
        # Where subjects are many, those that differ in names alone are asked once.
        self._shapes: Shapes | None = None
        if len(documents) > kept.KEPT_MAX:
            self._shapes = Shapes(_read_by_conditions(rules), lambda document: versions[id(document)])
        self._home_of_stand_in: dict[int, str] = {}

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
            whole = not any(finding.code == "KA000" for finding in found)
            late = self._verdicts is not None and self._verdicts.was_late
            return kept.as_json(found, self.answers) if whole and not late else kept.not_kept(found)

        if self._shapes is not None:
            return tuple(self._ask_alike(rules, self._shapes))
        if len(self.deployments) > kept.KEPT_MAX or not self._models_are_ours():
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

    def _models_are_ours(self) -> bool:
        """No model of a plugin answers, whose sources nobody watches and which may read any name."""
        models = (*self.computed.functions, *self.context.assignors.values())
        return all(model.startswith("advisor.") for model in models)

    def _ask_guarantees(self, rules: Sequence[tuple[Rule, str]]) -> Iterable[Finding]:
        for deployment in self.asked_deployments:
            yield from self._ask_deployment(deployment, rules)

    def _ask_deployment(self, deployment: Deployment, rules: Sequence[tuple[Rule, str]]) -> Iterable[Finding]:
        asked = self._asked_alike(deployment, rules, self._asked_by_kind)
        searched = [pair for pair in asked if not self.computed.answers(pair[0].guarantee)]
        computed = [pair for pair in asked if self.computed.answers(pair[0].guarantee)]
        answers = None
        if searched:
            if self._guarantees is None:
                self._guarantees = self._simulator()
            try:
                answers = self._guarantees.answers(deployment, searched, fill)
            except Exception as error:  # As for any rule: told, and the run goes on.
                yield _crashed([rule for rule, _ in searched], deployment, error)
            else:
                self.answers[deployment.id] = answers
        found = answers.findings if answers is not None else ()
        yield from folded_under(found, [*self._answered(deployment, computed, answers)], searched)

    # Deployments and documents that differ in names alone.

    def _ask_alike(self, rules: Sequence[tuple[Rule, str]], shapes: Shapes) -> Iterable[Finding]:
        from .answers.surroundings import Surroundings

        # Nothing of the deployments themselves: each shape is kept for any repository that has it.
        about = (self.project.params, self.severity, self.choice, self.project.workload)
        mark = kept.mark_of((), self.rules, about) if self._models_are_ours() else None
        params = [*(rule.params for rule in self.rules), *self.project.params.values()]
        surroundings = Surroundings(params, self.context)
        known: dict[tuple[Any, ...], Told | None] = {}
        for deployment in self.asked_deployments:
            if mark is None:
                yield from self._ask_deployment(deployment, rules)
                continue
            around = surroundings.of(deployment)
            shape = shapes.of_deployment(deployment, (self.profiles[deployment.id].name, around))
            if shape.key not in known:
                known[shape.key] = self._ask_stand_in(deployment, rules, shape, (mark, len(known)))
            answered = known[shape.key]
            if answered is None:
                yield from self._ask_deployment(deployment, rules)
                continue
            answers, found = answered.under(shape.names)
            if answers is not None:
                self.answers[deployment.id] = Answers(answers[0], answers[1], ())
            yield from found

    def _ask_stand_in(
        self, deployment: Deployment, rules: Sequence[tuple[Rule, str]], shape: Shape, about: tuple[str, int]
    ) -> Told | None:
        """What the rules answer for any deployment of this shape; None if each must be asked itself."""
        assert self._shapes is not None
        made = self._shapes.stand_in(deployment, shape)
        if made is None:
            return None
        subject, words = made
        for changed, original in zip(members_of(subject), members_of(deployment), strict=True):
            self.context.stand_in(changed, original)
        self.profiles[subject.id] = self.profiles[deployment.id]
        self.present[subject.id] = self.present[deployment.id]
        self.context.looked_around = False

        def asked() -> Any:
            found = tuple(self._ask_deployment(subject, rules))
            answers = self.answers.pop(subject.id, None)
            whole = not any(finding.code == "KA000" for finding in found)
            late = self._verdicts is not None and self._verdicts.was_late
            if not whole or late or self.context.looked_around:
                raise kept.NotKept(found, answers)
            try:
                return kept.as_json(found, {} if answers is None else {subject.id: answers})
            except kept.NotKept:
                raise kept.NotKept(found, answers) from None

        mark, number = about
        try:
            if number < kept.SHAPES_MAX:
                key = shape.key[1], [self.versions[id(member)].asked for member in members_of(deployment)]
                value = self.context.remember(
                    "guarantees", digest(f"{mark}{key!r}{subject!r}".encode("utf-8", "surrogatepass")), asked
                )
            else:
                value = asked()
            found, known = kept.from_json(value)
        except kept.NotKept as error:
            found, known = error.findings, {} if error.answers is None else {subject.id: error.answers}
        except (KeyError, TypeError, ValueError):  # somebody else's writing in the cache
            return None
        answers = known.get(subject.id)
        if self.context.looked_around:
            return None
        return told((None if answers is None else answers[:2], found), words)

    def _guarantee_rules(self, choice: Choice) -> list[tuple[Rule, str]]:
        from .vocabulary import GUARANTEES

        for rule in self.rules:
            name = rule.guarantee
            if name is not None and name not in GUARANTEES and not self.computed.answers(name):
                known = ", ".join(sorted({*GUARANTEES, *self.computed.names}))
                raise UsageError(f"{rule.at}: rule {rule.code} names guarantee {name!r}; there is {known}")
        return [
            (rule, severity)
            for rule in self.rules
            if rule.guarantee is not None and rule.enabled and choice.wants(rule.code, rule.name)
            if (severity := self._severity(rule.code, rule.name, rule.severity)) is not None
        ]

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
        from .guaranteed import Guaranteed

        return Guaranteed(self._searches())

    def _searches(self) -> Verdicts:
        if self._verdicts is None:
            from .verdicts import Verdicts

            self._verdicts = Verdicts(self.cache)
        return self._verdicts

    # Guarantees that a model computes.

    def _answered(
        self, deployment: Deployment, rules: Sequence[tuple[Rule, str]], answers: Answers | None
    ) -> Iterable[Finding]:
        judged, found = [], []
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
                yield _crashed([rule], deployment, error)
        more = summaries(judged)
        if more or answers is not None:
            before = answers or Answers(None, (), ())
            self.answers[deployment.id] = before._replace(guarantees=merged(before.guarantees, more))
        yield from folded_together(found)

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
            from .remedies import Remedies

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
        if id(document) not in self._found_in:
            self._found_in[id(document)] = document, self._hit_codes(document)
        return self._found_in[id(document)][1]

    def _hit_codes(self, subject: Subject) -> frozenset[str]:
        found: set[str] = set()
        present = (subject.component,) if isinstance(subject, Document) else self._present(subject)
        for question in self._every_question():
            if isinstance(subject, Document) == question.per_deployment or question.skips(present):
                continue
            self.context.params = question.params
            for hit in question.ask(subject, self.context):
                found |= {
                    rule.code
                    for rule, severity in question.rules_of(hit)
                    if (hit.severity or severity) != "note" and self._applies(rule, subject)
                }
        return frozenset(found)

    def _broken_codes(self, deployment: Deployment) -> set[str]:
        from .decode import decode
        from .fix import is_broken

        if self._every_guarantee is None:
            self._every_guarantee = [pair for pair in self._guarantee_rules(_ALL) if pair[1] != "note"]
        rules = self._asked_alike(deployment, self._every_guarantee, self._guarantees_of)
        decoded = decode(deployment)
        found = set()
        for rule, _ in rules:
            if self.computed.answers(rule.guarantee):
                judgements = self._judgements(rule, deployment)
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
        if severity is None or not self.choice.wants("KA001", "unreadable-file"):
            return
        for record in self.records:
            if record.error is not None:
                message = f"{record.format or 'file'} cannot be read: {record.error.message}"
                at = Location(record.file, record.error.line)
                yield _built_in("KA001", severity, message, at, record.file, ())

    def _asked(self) -> Iterable[Finding]:
        """In the order of the questions."""
        questions = list(self._questions(self.choice))
        found: list[list[Finding]] = [[] for _ in questions]
        known: dict[tuple[Any, ...], list[tuple[int, Told | None]]] = {}
        subjects: list[Subject] = [*self.asked_documents, *self.asked_deployments]
        for subject in subjects:
            shape = self._shape(subject)
            if shape is None:
                for number in self._numbers(questions, subject):
                    found[number] += self._hits_told(questions[number], subject)
                continue
            if shape.key not in known:
                known[shape.key] = self._told_of_shape(questions, subject, shape)
            for number, answered in known[shape.key]:
                if answered is None:
                    found[number] += self._hits_told(questions[number], subject)
                else:
                    found[number] += answered.under(shape.names)
        return (finding for of_question in found for finding in of_question)

    def _numbers(self, questions: Sequence[_Question], subject: Subject) -> list[int]:
        """Which of the questions are put to a subject."""
        present = self._components(subject)
        return [
            number
            for number, question in enumerate(questions)
            if question.per_deployment == isinstance(subject, Deployment) and not question.skips(present)
        ]

    def _shape(self, subject: Subject) -> Shape | None:
        if self._shapes is None:
            return None
        if isinstance(subject, Deployment):
            return self._shapes.of_deployment(subject, self.profiles[subject.id].name)
        homes = self._homes.get(id(subject), ())
        profiles = frozenset([self.profiles[home.id].name for home in homes])
        about = (profiles, len(homes) == 1)
        return self._shapes.of_document(subject, about, homes[0].id if len(homes) == 1 else "-")

    def _told_of_shape(
        self, questions: Sequence[_Question], subject: Subject, shape: Shape
    ) -> list[tuple[int, Told | None]]:
        """What is found in any subject of this shape, by question; None where each must be asked itself."""
        assert self._shapes is not None
        numbers = self._numbers(questions, subject)
        made = self._shapes.stand_in(subject, shape)
        if made is None:
            return [(number, None) for number in numbers]
        stand_in, words = made
        if isinstance(subject, Deployment):
            for changed, original in zip(members_of(stand_in), members_of(subject), strict=True):
                self.context.stand_in(changed, original)
            self.profiles[stand_in.id] = self.profiles[subject.id]
            self.present[stand_in.id] = self.present[subject.id]
        else:
            self.context.stand_in(stand_in, subject)
            self._home_of_stand_in[id(stand_in)] = words[0]
        result: list[tuple[int, Told | None]] = []
        for number in numbers:
            self.context.looked_around = False
            found = self._hits_told(questions[number], stand_in) if questions[number].ours else []
            if self.context.looked_around or not questions[number].ours:
                result.append((number, None))
            elif found:
                result.append((number, told(found, words)))
        return result

    def _hits_told(self, question: _Question, subject: Subject) -> list[Finding]:
        self.context.params = question.params
        found: list[Finding] = []
        try:
            for hit in question.ask(subject, self.context):
                for rule, severity in question.rules_of(hit):
                    if self._applies(rule, subject):
                        found.append(self._mended(question, rule, subject, hit, severity))
        except UsageError:
            raise
        except Exception as error:  # A rule that raises must not take the others down.
            rules = [rule for asked in question.rules.values() for rule, _ in asked]
            found.append(_crashed(rules, subject, error))
        return found

    def _mended(
        self, question: _Question, rule: Rule, subject: Document | Deployment, hit: Hit, severity: str
    ) -> Finding:
        finding = self._finding(rule, severity, subject, hit)

        def still(changed: Subject) -> bool:
            self.context.params = question.params
            return any(
                rule.code in {other.code for other, _ in question.rules_of(again)}
                for again in question.ask(changed, self.context)
            )

        return self._remedied(finding, rule, subject, hit, still)

    def _every_question(self) -> list[_Question]:
        """Also those that --select leaves out: a fix must not break them."""
        if self._asks is None:
            self._asks = list(self._questions(_ALL))
        return self._asks

    def _questions(self, choice: Choice) -> Iterable[_Question]:
        """Rules that one function answers are one question: a subject is looked at once."""
        asked: dict[object, _Question] = {}
        for rule in self.rules:
            severity = self._severity(rule.code, rule.name, rule.severity)
            wanted = rule.enabled and choice.wants(rule.code, rule.name)
            if severity is None or not wanted or rule.guarantee is not None:
                continue
            stated = self.project.params
            params = {**rule.params, **stated.get(rule.name, {}), **stated.get(rule.code, {})}
            if rule.check is None:
                condition = compile_condition(rule.when or {})
                question = _Question(
                    hits_of(condition), per_deployment(condition), params, set(rule.components), {}
                )
                asked[rule.code] = question
            else:
                spec = self._check(rule)
                mark = (spec.function, rule.code if params else "")
                if mark not in asked:
                    found = function(spec.function)
                    asked[mark] = _Question(
                        found,
                        spec.reads == "deployment",
                        params,
                        set(rule.components),
                        {},
                        spec.function.startswith("kafka_advisor_plugins."),
                    )
                question = asked[mark]
                # One rule without components makes the question one for all.
                if not (question.components and rule.components):
                    question.components.clear()
                question.components.update(rule.components if question.components else ())
            question.rules.setdefault(rule.check, []).append((rule, severity))
        return asked.values()

    def _check(self, rule: Rule) -> CheckSpec:
        spec = self.registry.checks.get(rule.check or "")
        if spec is None:
            known = ", ".join(sorted(self.registry.checks))
            raise UsageError(f"{rule.at}: rule {rule.code} names check {rule.check!r}; there is {known}")
        return spec

    def _applies(self, rule: Rule, subject: Document | Deployment) -> bool:
        if isinstance(subject, Document):
            return self._document_applies(rule, subject)
        return self._deployment_applies(rule, subject)

    def _document_applies(self, rule: Rule, document: Document) -> bool:
        if rule.components and document.component not in rule.components:
            return False
        if rule.clients and document.client not in rule.clients:
            return False
        if rule.kafka and not applies_to(rule.kafka, self.context.version_of(document).number):
            return False
        if rule.profiles:
            homes = self._homes.get(id(self.context.original(document)), ())
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
            original = self.context.original(subject)
            homes = self._homes.get(id(original), ())
            home = homes[0].id if len(homes) == 1 else None
            if home is not None and subject is not original:
                home = self._home_of_stand_in.get(id(subject), home)
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


def _read_by_conditions(rules: Iterable[Rule]) -> set[str]:
    conditions = [compile_condition(rule.when) for rule in rules if rule.when]
    return {name.partition(".")[2] for condition in conditions for name in condition.reads}


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


def _crashed(rules: Sequence[Rule], subject: Document | Deployment, error: Exception) -> Finding:
    if isinstance(subject, Document):
        at, name = Location(subject.file, subject.line), subject.name
    else:
        first = members_of(subject)[0]
        at, name = Location(first.file, first.line), subject.id
    codes = ", ".join(rule.code for rule in rules)
    # Not the error's words: they may quote a value, and a secret.
    message = f"the code of {codes} failed on {name}: {type(error).__name__} {place_of(error)}"
    return _built_in("KA000", "error", message, at, name, tuple(rule.code for rule in rules))


def _built_in(
    code: str, severity: str, message: str, at: Location, resource: str, keys: tuple[str, ...]
) -> Finding:
    return Finding(code, BUILT_IN[code], severity, message, at, resource, keys, (), Evidence("plumbing"))
