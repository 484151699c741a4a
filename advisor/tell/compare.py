"""Two audits side by side: what the change from one to the other breaks on the way, and what it leaves.

OLD and NEW are audited each by itself. Documents are paired by component and place, and each pair is asked
what the deploy does (`answers.deploy`). Findings that only NEW has are told as they are, with their runs;
those that only OLD has become a note. The result is NEW's audit with these findings, the rolls that nothing
stops, and the steps of an upgrade.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..ask.answers.deploy.deploy import DEFAULT_MOVED, compared
from ..ask.answers.deploy.rolls import SAFE_ROLL, Side
from ..catalog import resolve_version
from ..context import Judgement
from ..engine import Audit, Options, Root, audit
from ..find.from_hit import fill
from ..find.rules.choice import Choice
from ..find.suppress import Suppressions
from ..join.reader import Reader
from ..memo.cache import open_cache
from ..model import Change, Deployment, Document, Evidence, Finding, Fix, Location, members_of
from ..packs.pack import Rule, load_packs
from ..registry import function
from ..tuples import NamedTuple
from .upgrade.moved_defaults import NOTHING, Moved, effects, meanings
from .upgrade.steps import Cluster, Step, steps

PACK = "deploy"
GONE = "no-longer-found"


class Compared(NamedTuple):
    """`audit` is that of the new side; the paths are named from the folder that both lie in. `rolls`: groups
    whose members were moved one by one, and nothing was in the way. Of an upgrade: its `steps`, each with the
    lines it is about, and which `defaults` move with it."""

    audit: Audit
    old: Audit
    old_path: str
    new_path: str
    rolls: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    defaults: tuple[str, ...] = ()


class _Part(NamedTuple):
    """A document with where it was found."""

    root: Root
    deployment: Deployment
    document: Document
    place: str  # its file, from the path that was named


def compare(old_options: Options, new_options: Options, progress: Callable[[str], None]) -> Compared:
    # In one root, a file of the other side would be linked with.
    old = audit(old_options._replace(without=new_options.paths), progress)
    new = audit(new_options._replace(without=old_options.paths), progress)
    common = os.path.commonpath([old.scope.base, new.scope.base])
    new_made = new
    old, new = _from(common, old), _from(common, new)
    rules = load_packs(new.registry.packs, new_options.rules, open_cache(new_options.cache))
    telling = _Telling(new_options, {rule.name: rule for rule in rules if rule.pack == PACK})
    pairs = _pairs(_parts(old, old_options), _parts(new, new_options))
    found: dict[int, list[Finding]] = {id(root): [] for root in new.roots}
    judged = [
        (after, judgement)
        for before, after in pairs
        for judgement in compared(_side(before, old), _side(after, new))
    ]
    rolls = [telling.roll(after, judgement) for after, judgement in judged if _is(judgement, SAFE_ROLL)]
    told = _with_effects(judged, new_made, new_options, old_options)
    for after, judgement in told:
        found[id(after.root)] += telling.findings(after, judgement)
    names = {before.document.name: after.document.name for before, after in pairs}
    names |= {before.deployment.id: after.deployment.id for before, after in pairs}
    old_marks = {_mark(finding, names) for _, finding in old.findings}
    new_marks = {_mark(finding) for _, finding in new.findings}
    covered = telling.covered(each for told in found.values() for each in told)
    for root, finding in new.findings:
        if _mark(finding) not in old_marks and (finding.name, finding.at.file) not in covered:
            found[id(root)].append(finding)
    gone = [(root, finding) for root, finding in old.findings if _mark(finding, names) not in new_marks]
    for root, finding in gone:
        homes = [pair for pair in pairs if pair[0].root is root and pair[0].document.file == finding.at.file]
        # A file may hold several documents: the one that the finding is about, if it names one.
        homes.sort(key=lambda pair: pair[0].document.name != finding.resource)
        for _, after in homes[:1]:
            found[id(after.root)] += telling.gone(after, finding)
    roots = tuple(root._replace(findings=tuple(telling.settled(root, found[id(root)]))) for root in new.roots)
    defaults = [_default(judgement) for _, judgement in told if _is(judgement, DEFAULT_MOVED)]
    return Compared(
        new._replace(roots=roots),
        old,
        _shown(old_options, common),
        _shown(new_options, common),
        tuple(dict.fromkeys(rolls)),
        tuple(_steps(old, new)),
        tuple(dict.fromkeys(defaults)),
    )


def _is(judgement: Judgement, check: str) -> bool:
    return judgement.hit is not None and judgement.hit.check == check


def _with_effects(
    judged: Sequence[tuple[_Part, Judgement]], new: Audit, options: Options, old: Options
) -> list[tuple[_Part, Judgement]]:
    """Of defaults that move: what the new value does to the answers, by asking with the old one too."""
    moved = {
        place: Moved(part.document.component, judgement.hit.keys[0], judgement.hit.fields["old"])
        for place, (part, judgement) in enumerate(judged)
        if judgement.hit is not None and _is(judgement, DEFAULT_MOVED)
    }
    found = effects(new, options._replace(without=old.paths), list(moved.values())) if moved else {}
    told = list(judged)
    for place, one in moved.items():
        part, judgement = judged[place]
        effect = found.get(one, NOTHING)
        means = effect.text() or meanings().get(one.key)
        hit = judgement.hit
        assert hit is not None
        fields = {**hit.fields, "effect": f": {means}" if means else ""}
        fixes: tuple[Fix, ...] = ()
        if effect.worse and not effect.better:
            kept = Change(one.component, one.key, None, one.was, part.document.file, None, "add")
            fixes = (Fix((kept,), ("the answers are those of before",), None, True),)
        told[place] = part, judgement._replace(hit=hit._replace(fields=fields, fixes=fixes))
    return told


def _default(judgement: Judgement) -> str:
    assert judgement.hit is not None
    fields = judgement.hit.fields
    return f"{judgement.hit.keys[0]} {fields['old']} -> {fields['new']}{fields['effect']}"


def _steps(old: Audit, new: Audit) -> list[Step]:
    """One checklist: that of the first cluster of the new side, or of its clients."""
    documents = [document for root in new.roots for record in root.files for document in record.documents]
    by_component: dict[str, list[Document]] = {}
    for document in documents:
        by_component.setdefault(document.component, []).append(document)
    brokers, topics = by_component.pop("broker", []), by_component.pop("topic", [])
    clients = [document for component in sorted(by_component) for document in by_component[component]]
    cluster = Cluster(tuple(brokers), tuple(topics), tuple(clients))
    prefixes = {record.file: root.prefix for root in new.roots for record in root.files}
    return [
        step._replace(at=tuple(at._replace(file=prefixes.get(at.file, "") + at.file) for at in step.at))
        for step in steps(resolve_version(old.kafka_version), resolve_version(new.kafka_version), cluster)
    ]


def _from(common: str, one: Audit) -> Audit:
    """Files named from the folder that both sides lie in."""
    inside = os.path.relpath(one.scope.base, common).replace(os.sep, "/")
    if inside == ".":
        return one
    roots = tuple(root._replace(prefix=f"{inside}/{root.prefix}") for root in one.roots)
    return one._replace(scope=one.scope._replace(base=common), roots=roots)


def _shown(options: Options, common: str) -> str:
    return ", ".join(
        os.path.relpath(os.path.realpath(path), common).replace(os.sep, "/") for path in options.paths
    )


def _parts(one: Audit, options: Options) -> list[_Part]:
    named = [os.path.realpath(path) for path in options.paths]
    found: dict[tuple[str, str, str, str], _Part] = {}
    for root in one.roots:
        targets = {record.file for record in root.files if record.target}
        for deployment in root.deployments:
            for document in members_of(deployment):
                if document.file in targets:
                    place = _place(os.path.join(root.workspace.root, document.file), named)
                    mark = (root.prefix, document.file, document.component, document.name)
                    found.setdefault(mark, _Part(root, deployment, document, place))
    return list(found.values())


def _place(path: str, named: Iterable[str]) -> str:
    for top in named:
        folder = top if os.path.isdir(top) else os.path.dirname(top)
        if path == top or path.startswith(folder + os.sep):
            return os.path.relpath(path, folder)
    return path


def _pairs(old: list[_Part], new: list[_Part]) -> list[tuple[_Part, _Part]]:
    """Each new document with the old one that it replaces: at the same place, else of the same name, else the
    only one of its component on both sides."""
    pairs: list[tuple[_Part, _Part]] = []
    waiting, left = list(new), list(old)
    marks: tuple[Callable[[_Part], tuple[str, ...]], ...] = (
        lambda part: (part.document.component, part.place, part.document.name),
        lambda part: (part.document.component, part.place),
        lambda part: (part.document.component, part.document.name),
        lambda part: (part.document.component,),
    )
    for mark in marks:
        olds, news = _by(mark, left), _by(mark, waiting)
        for key in sorted(olds.keys() & news.keys()):
            if len(olds[key]) == len(news[key]) == 1:
                pairs.append((olds[key][0], news[key][0]))
                left.remove(olds[key][0])
                waiting.remove(news[key][0])
    pairs.sort(key=lambda pair: (pair[1].root.prefix, pair[1].document.file, pair[1].document.name))
    return pairs


def _by(
    mark: Callable[[_Part], tuple[str, ...]], parts: Iterable[_Part]
) -> dict[tuple[str, ...], list[_Part]]:
    found: dict[tuple[str, ...], list[_Part]] = {}
    for part in parts:
        found.setdefault(mark(part), []).append(part)
    return found


def _side(part: _Part, one: Audit) -> Side:
    document, deployment = part.document, part.deployment
    group = document if document.component == "consumer" else None
    version = part.root.versions.get(id(document)) or resolve_version(deployment.version)
    own = {name: function(target, "plan") for name, target in one.registry.assignors.items()}
    placed = {name: function(target, "partition") for name, target in one.registry.partitioners.items()}
    return Side(document, Reader(deployment, one.registry.clients, group), version, own, placed.get)


def _mark(finding: Finding, names: Mapping[str, str] = {}) -> tuple[str, str, tuple[str, ...]]:
    """What makes a finding of one side that of the other: `names` are the new names of what it is about, and
    a guarantee may be broken by other keys now."""
    resource = names.get(finding.resource, finding.resource)
    return finding.code, resource, () if finding.evidence.guarantee else finding.keys


class _Telling:
    """Judgements made into findings by the rules of the pack."""

    def __init__(self, options: Options, rules: dict[str, Rule]) -> None:
        self.options = options
        self.rules = rules
        self.choice = Choice(options.select, options.ignore)

    def findings(self, part: _Part, judgement: Judgement) -> Iterator[Finding]:
        hit = judgement.hit
        rule = self.rules.get(hit.check or "") if hit is not None else None
        if hit is None or rule is None or judgement.verdict != "broken":
            return
        severity = self._severity(rule, part.root)
        profile = part.root.profiles[part.deployment.id].name
        if severity is None or (rule.profiles and profile not in rule.profiles):
            return
        if hit.severity is not None and severity == rule.severity:
            severity = hit.severity
        kind = rule.evidence if judgement.trace or rule.evidence != "trace" else "budget"
        yield Finding(
            rule.code,
            rule.name,
            severity,
            fill(rule.message, {"resource": part.document.name, **hit.fields}),
            hit.at,
            part.document.name,
            hit.keys,
            hit.settings,
            Evidence(kind, hit.numbers, rule.guarantee, trace=judgement.trace),
            hit.fixes,
            part.deployment.id,
            (),
            hit.also_at,
            advice=hit.advice,
        )

    def roll(self, part: _Part, judgement: Judgement) -> str:
        assert judgement.hit is not None
        return f"{part.document.name}: {judgement.hit.fields['members']} members rolled, none refused"

    def covered(self, findings: Iterable[Finding]) -> set[tuple[str, str]]:
        """Which rules have nothing to add about which file: the deploy tells what they find."""
        return {(name, finding.at.file) for finding in findings for name in self.rules[finding.name].covers}

    def gone(self, after: _Part, finding: Finding) -> Iterator[Finding]:
        """What OLD had and NEW has not: told where the new document lies."""
        rule = self.rules.get(GONE)
        severity = self._severity(rule, after.root) if rule is not None else None
        if rule is None or severity is None:
            return
        if finding.severity == "note" or finding.suppressed is not None:
            return
        fields = {"code": finding.code, "name": finding.name, "told": finding.message}
        yield Finding(
            rule.code,
            rule.name,
            severity,
            fill(rule.message, fields),
            Location(after.document.file, after.document.line),
            finding.resource,
            (finding.code, *finding.keys),
            evidence=Evidence(rule.evidence, (), finding.evidence.guarantee),
            deployment=after.deployment.id,
        )

    def settled(self, root: Root, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Each once, with what somebody accepted marked."""
        suppressions = Suppressions(root.project, root.files, self.options.today)
        seen: set[object] = set()
        for finding in findings:
            mark = (finding.code, finding.at, finding.keys, finding.message)
            if mark not in seen:
                seen.add(mark)
                yield suppressions.apply(finding)

    def _severity(self, rule: Rule, root: Root) -> str | None:
        stated = root.project.severity
        chosen = stated.get(rule.code, stated.get(rule.name, rule.severity))
        wanted = rule.enabled and self.choice.wants(rule.code, rule.name)
        return chosen if wanted and chosen != "off" else None
