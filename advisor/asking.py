"""Every rule asked about every subject, and what it answers made into findings."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple

from .cache import Cache
from .catalog import Version, resolve_version
from .conditions import Condition, compile_condition
from .context import Context, Hit
from .effective import client_layers, deployment_layers, effective, family_defaults, reader
from .hookspecs import CheckSpec
from .loading import FileRecord, place_of
from .model import Deployment, Document, Evidence, Finding, Location, Setting, UsageError, members_of
from .packs import Rule, applies_to
from .profiles import Profile
from .project import Project
from .registry import Registry, function
from .suppress import Suppressions

if TYPE_CHECKING:
    from .guaranteed import Answers

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


class _Question(NamedTuple):
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
        tolerances: bool,
    ) -> None:
        self.registry, self.rules, self.choice = registry, rules, choice
        self.project, self.records = project, records
        self.documents, self.deployments = documents, deployments
        self.versions, self.profiles = versions, profiles
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
        self.suppressions, self.cache, self.tolerances = suppressions, cache, tolerances
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
        self.context = Context(
            registry.clients,
            {spec.name: spec for spec in registry.formats},
            lambda document: versions[id(document)],
            lambda document: tuple(by_document.get(id(document), ())),
        )

    def findings(self) -> list[Finding]:
        found: dict[tuple[Any, ...], Finding] = {}
        for finding in (*self._unreadable(), *self._asked(), *self._guaranteed()):
            if finding.at.file in self.targets:
                # A setting shared by several documents (Spring profiles) is one thing to mend.
                found.setdefault((finding.code, finding.at, finding.keys, finding.message), finding)
        return [self.suppressions.apply(finding) for finding in found.values()]

    def _guaranteed(self) -> Iterable[Finding]:
        """Rules that name a guarantee: the simulator decides."""
        rules = [
            (rule, severity)
            for rule in self.rules
            if rule.guarantee is not None and rule.enabled and self.choice.wants(rule.code, rule.name)
            if (severity := self._severity(rule.code, rule.name, rule.severity)) is not None
        ]
        guaranteed = None
        # Which rules a deployment is asked depends on little: deployments alike share the answer.
        known: dict[object, list[tuple[Rule, str]]] = {}
        for deployment in self.asked_deployments if rules else ():
            members = members_of(deployment)
            present = frozenset([(document.component, document.client) for document in members])
            mark = (present, deployment.version, self.profiles[deployment.id].name)
            if mark not in known:
                components = {document.component for document in members}
                known[mark] = [
                    (rule, severity)
                    for rule, severity in rules
                    if not components.isdisjoint(rule.components or components)
                    if self._deployment_applies(rule, deployment)
                ]
            asked = known[mark]
            if not asked:
                continue
            if guaranteed is None:
                # The simulator is loaded only where something is asked of it.
                from .guaranteed import Guaranteed
                from .verdicts import Verdicts

                guaranteed = Guaranteed(Verdicts(self.cache), self.tolerances)
            try:
                answers = guaranteed.answers(deployment, asked, fill)
            except Exception as error:  # As for any rule: told, and the run goes on.
                yield _crashed([rule for rule, _ in asked], deployment, error)
                continue
            self.answers[deployment.id] = answers
            yield from answers.findings

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
        for question in self._questions():
            self.context.params = question.params
            for subject in self.asked_deployments if question.per_deployment else self.asked_documents:
                if question.skips(self._components(subject)):
                    continue
                try:
                    for hit in question.ask(subject, self.context):
                        for rule, severity in question.rules_of(hit):
                            if self._applies(rule, subject):
                                yield self._finding(rule, severity, subject, hit)
                except UsageError:
                    raise
                except Exception as error:  # A rule that raises must not take the others down.
                    rules = [rule for asked in question.rules.values() for rule, _ in asked]
                    yield _crashed(rules, subject, error)

    def _questions(self) -> Iterable[_Question]:
        """Rules that one function answers are one question: a subject is looked at once."""
        asked: dict[object, _Question] = {}
        for rule in self.rules:
            severity = self._severity(rule.code, rule.name, rule.severity)
            wanted = rule.enabled and self.choice.wants(rule.code, rule.name)
            if severity is None or not wanted or rule.guarantee is not None:
                continue
            stated = self.project.params
            params = {**rule.params, **stated.get(rule.name, {}), **stated.get(rule.code, {})}
            if rule.check is None:
                condition = compile_condition(rule.when or {})
                question = _Question(
                    _ask(condition), _per_deployment(condition), params, set(rule.components), {}
                )
                asked[rule.code] = question
            else:
                spec = self._check(rule)
                mark = (spec.function, rule.code if params else "")
                if mark not in asked:
                    found = function(spec.function)
                    asked[mark] = _Question(
                        found, spec.reads == "deployment", params, set(rule.components), {}
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
        if rule.kafka and not applies_to(rule.kafka, self.versions[id(document)].number):
            return False
        if rule.profiles:
            homes = self.context.deployments_of(document)
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
            homes = self.context.deployments_of(subject)
            home = homes[0].id if len(homes) == 1 else None
        else:
            resource = home = subject.id
        return Finding(
            rule.code,
            rule.name,
            severity,
            fill(rule.message, {"resource": resource, **hit.fields}),
            hit.at,
            resource,
            hit.keys,
            hit.settings,
            Evidence(rule.evidence, hit.numbers),
            hit.fixes,
            home,
            rule.covers,
            hit.also_at,
        )

    def _severity(self, code: str, name: str, default: str | None) -> str | None:
        chosen = self.severity.get(code, self.severity.get(name, default))
        return None if chosen == "off" else chosen


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


def _per_deployment(condition: Condition) -> bool:
    """A condition on one component is asked of each such document; one that joins several, or reads facts
    or the workload, of each deployment."""
    heads = {name.partition(".")[0] for name in condition.reads} - {"param"}
    return len(heads) != 1 or not heads.isdisjoint({"fact", "workload"})


def _ask(condition: Condition) -> Callable[[Document | Deployment, Context], Iterable[Hit]]:
    heads = {name.partition(".")[0] for name in condition.reads}
    return lambda subject, context: _ask_condition(condition, heads, subject, context)


def _ask_condition(
    condition: Condition, heads: set[str], subject: Document | Deployment, context: Context
) -> Iterable[Hit]:
    if isinstance(subject, Document):
        if subject.component not in heads:
            return
        version = context.version_of(subject)
        layers = client_layers(subject)
        facts = {fact.name: fact.value for fact in subject.facts}
        workload: Mapping[str, Any] = {}
        defaults = {subject.component: family_defaults(subject, context.clients)}
        fields = {subject.component: subject.name}
        at = Location(subject.file, subject.line)
    else:
        members = members_of(subject)
        fields = {document.component: document.name for document in reversed(members)}
        if not heads <= {*fields, "fact", "workload", "param"}:
            return  # a side that is not in sight is not guessed
        version = resolve_version(subject.version)
        layers = deployment_layers(subject)
        facts = {fact.name: fact.value for fact in subject.facts}
        workload = subject.workload
        defaults = {document.component: family_defaults(document, context.clients) for document in members}
        at = Location(members[0].file, members[0].line)
    get = reader(layers, version, facts, {**workload}, defaults, context.params)
    if condition.test(get) is not True:
        return
    shown: list[tuple[str, Setting]] = []
    for name in condition.reads:
        component, _, key = name.partition(".")
        value, _ = get(name)
        fields[name] = str(value) if value is not None else "unset"
        if component not in ("fact", "workload", "param"):
            found, _ = effective(component, key, version, layers, defaults.get(component, {}))
            if found is not None:
                shown.append((component, found))
    places = _places(condition.reads, subject, shown)
    names = [name.partition(".") for name in condition.reads]
    keys = tuple(key for head, _, key in names if head not in ("fact", "workload", "param"))
    yield Hit(places[0] if places else at, keys, fields, tuple(shown), also_at=tuple(places[1:]))


def _places(
    reads: Sequence[str], subject: Document | Deployment, shown: Sequence[tuple[str, Setting]]
) -> list[Location]:
    """Where to look first: at a fact of the topic (its replication factor), then at settings, then at facts
    of the cluster."""
    wanted = {name.partition(".")[2] for name in reads if name.startswith("fact.")}
    facts = [fact for fact in subject.facts if fact.name.partition(".")[2] in wanted]
    facts.sort(key=lambda fact: not fact.name.startswith("topic."))
    topics = [fact.origin.at for fact in facts if fact.name.startswith("topic.")]
    others = [fact.origin.at for fact in facts if not fact.name.startswith("topic.")]
    found = [*topics, *(setting.origin.at for _, setting in shown), *others]
    return list(dict.fromkeys(at for at in found if at is not None))
