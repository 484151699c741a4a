"""The fixes of one report, planned together: each is offered only if it goes with all the others.

A fix was found for one deployment, with the others as they are. Two of them may set one key to two values, or
harm where both are made. So all are made, in the documents, and what they touch is asked again; which of them
give way is decided as `fix` decides it (`fix/together.py`): the graver finding first. For one that gives way,
and for one that had no fix because it would have harmed, a change is looked for with all the others made:
min.insync.replicas of a topic and not of its brokers, acks=all where a fix of the brokers removes the harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ...fix.edits import is_same_key
from ...fix.together import Refused, Together, Trouble, repeated
from ...model import (
    ADVICE,
    SAFE,
    Change,
    Deployment,
    Document,
    Finding,
    Fix,
    Location,
    Origin,
    Setting,
    members_of,
)
from ...tuples import NamedTuple
from ..identity import RANK, Name, changed_by, files_of, names_of, worst

Subject = Document | Deployment
Ask = Callable[[Subject], Sequence[Finding]]
Audit = Callable[[Sequence[Document], Sequence[Deployment], str], Sequence[Finding]]
StandIn = Callable[[Document, Document], None]
# Of one document: what is set, by key; None takes the line out.
Made = tuple[tuple[str, str | None], ...]


class Replaced(NamedTuple):
    """The fix of a finding, by its place in the list of findings, that is not offered as it is: why, or what
    is offered instead."""

    place: int
    reason: str
    other: Fix | None = None


def replaced(
    findings: Sequence[Finding],
    documents: Sequence[Document],
    deployments: Sequence[Deployment],
    stand_in: StandIn,
    ask: Ask,
    audit_as_made: Audit,
) -> list[Replaced]:
    """`ask` gives all that the rules find in a subject, as it is or with changes made. `stand_in` is told of
    each document with changes made, and which one it was. `audit_as_made` looks for fixes in one deployment,
    by its name, with all the others as given."""
    places = {id(finding): place for place, finding in enumerate(findings)}
    shown = [one for one in findings if (one.fixes or one.not_fixed) and one.suppressed is None]
    # The gravest first: of two that contradict each other it wins. Equals in the order of a report.
    shown.sort(key=lambda one: (-RANK[one.severity], *_in_report(one)))
    bench = _Bench(documents, deployments, stand_in, ask)
    serious = [one for one in shown if one.severity != "note"]
    written = [one for one in serious if one.fixes and _is_for_files(one) and bench.changes(one)]
    harming = [one for one in serious if not one.fixes and bench.home_of(one) is not None]
    if not bench.may_meet(written, harming):
        return []
    safe = [one for one in written if one.fixes[0].safety == SAFE]
    plan = _planned(safe, harming, bench, audit_as_made)
    left = plan.left()
    if left:
        # Those that gave way go first once: the others may have another change.
        again = [*left, *(one for one in safe if one not in left)]
        second = _planned(again, harming, bench, audit_as_made)
        if _weight(second.left()) < _weight(left):
            plan = second
    bench.restore(plan.made)
    still = bench.found()
    review = [one for one in written if one not in safe and any(name in still for name in bench.names(one))]
    bench.rest_here()
    refused = [*plan.refused, *Together(bench).settle(review)[1]]
    rest = [one for one in shown if one.fixes and one not in safe and one not in review]
    refused += [one for fix in rest if (one := bench.contradicted(fix)) is not None]
    found = [Replaced(places[id(one.fix)], f"{_wanted(one.fix)}: {one.reason}") for one in refused]
    others = [Replaced(places[name], "", other) for name, other in plan.others.items()]
    taken = {one.place for one in others}
    return [*(one for one in found if one.place not in taken), *others]


def _weight(findings: Iterable[Finding]) -> int:
    return sum(RANK[one.severity] for one in findings)


class _Plan(NamedTuple):
    """What is refused; for which findings, by their ids, another change was found; all that is made."""

    refused: list[Refused]
    others: dict[int, Fix]
    made: dict[int, Made]

    def left(self) -> list[Finding]:
        return [one.fix for one in self.refused if id(one.fix) not in self.others]


def _planned(fixes: Sequence[Finding], harming: Sequence[Finding], bench: _Bench, audit: Audit) -> _Plan:
    bench.restore({})
    refused = Together(bench).settle(fixes)[1]
    waiting = [*(one.fix for one in refused), *harming]
    others: dict[int, Fix] = {}
    while waiting:
        before = bench.state()
        for finding in waiting:
            other = _other(finding, bench, audit)
            if other is not None:
                others[id(finding)] = other
        waiting = [one for one in waiting if id(one) not in others]
        if bench.state() == before:
            break
    return _Plan(refused, others, bench.state())


def _other(finding: Finding, bench: _Bench, audit_as_made: Audit) -> Fix | None:
    """Another change, which goes with all that is made and would do alone: the parts of the first one that
    others make too, and what is found with all of theirs made."""
    if bench.home_of(finding) is None:
        return None
    mine = set(bench.names(finding))
    first = finding.fixes[0].changes if finding.fixes else ()
    agreed = [change for change in first if bench.is_made(finding, change)]
    for one in audit_as_made(*bench.as_made(), finding.resource):
        found = one.fixes[0] if one.fixes and not mine.isdisjoint(bench.names(one)) else None
        if found is None or found.safety != SAFE:
            continue
        fix = found._replace(changes=(*agreed, *(one for one in found.changes if one not in agreed)))
        other = finding._replace(fixes=(fix,))
        if _is_for_files(other) and bench.changes(other) and bench.does_alone(other):
            return fix if Together(bench).settle([other])[0] else None
    return None


def _wanted(finding: Finding) -> str:
    return "; ".join(
        f"remove {change.key}" if change.after is None else f"{change.key}={change.after}"
        for change in finding.fixes[0].changes
    )


def _in_report(finding: Finding) -> tuple[str, int, str, str, tuple[str, ...]]:
    return finding.at.file, finding.at.line or 0, finding.code, finding.resource, finding.keys


def _is_for_files(finding: Finding) -> bool:
    fix = finding.fixes[0]
    return fix.safety != ADVICE and all(change.file is not None for change in fix.changes)


class _Bench:
    """The documents of a root, and what is set in them."""

    def __init__(
        self,
        documents: Sequence[Document],
        deployments: Sequence[Deployment],
        stand_in: StandIn,
        ask: Ask,
    ) -> None:
        self._stand_in, self._ask = stand_in, ask
        self._deployments = {one.id: one for one in deployments}
        self._documents = {id(one): one for one in documents}
        self._named: dict[str, list[Document]] = {}
        for document in documents:
            self._named.setdefault(document.name, []).append(document)
        self._written: dict[tuple[str, int | None, str], list[Document]] = {}
        for document in documents:
            for setting in document.settings:
                if setting.origin.at is not None and setting.origin.at.line is not None:
                    at = setting.origin.at
                    self._written.setdefault((at.file, at.line, setting.key), []).append(document)
        self._homes: dict[int, list[Deployment]] = {}
        for deployment in deployments:
            for member in members_of(deployment):
                self._homes.setdefault(id(member), []).append(deployment)
        # By document: what is made to begin with, and now.
        self._base: dict[int, Made] = {}
        self._made: dict[int, Made] = {}
        self._as_made: dict[tuple[int, Made], Document] = {}
        # What was asked is held: others may know it by its id.
        self._answers: dict[tuple[int, tuple[Made, ...]], tuple[Subject, tuple[Finding, ...]]] = {}

    # What is tried.

    def may_meet(self, fixes: Sequence[Finding], others: Sequence[Finding]) -> bool:
        """Has a deployment a part in a fix of another subject? Those of one were planned together. `others`
        are findings without a fix, which those of another subject may help to one."""
        met = {id(self.home_of(one)): one.resource for one in others}
        for fix in fixes:
            for _, document in self.changes(fix):
                homes = self._homes.get(id(document), ())
                if len(homes) > 1:
                    return True
                if any(met.setdefault(id(one), fix.resource) != fix.resource for one in (document, *homes)):
                    return True
        return False

    def make(self, fixes: Iterable[Finding]) -> tuple[list[Finding], list[Refused]]:
        return repeated(self._make, fixes)

    def _make(self, fix: Finding) -> Refused | None:
        against = self.contradicted(fix)
        if against is None:
            for change, document in self.changes(fix):
                made = dict(self._made.get(id(document), ()))
                self._made[id(document)] = tuple(sorted({**made, change.key: change.after}.items()))
        return against

    def contradicted(self, fix: Finding) -> Refused | None:
        """By a value that another fix sets."""
        for change, document in self.changes(fix):
            for key, value in self._made.get(id(document), ()):
                if is_same_key(key, change.key, document.client) and value != change.after:
                    does = f"removes {key}" if value is None else f"sets {key} = {value}"
                    return Refused(fix, f"another fix {does}")
        return None

    def files_of(self, fix: Finding) -> set[str]:
        files = {change.file for change in fix.fixes[0].changes if change.file is not None}
        return files | {document.file for _, document in self.changes(fix)}

    def state(self) -> dict[int, Made]:
        return dict(self._made)

    def restore(self, state: dict[int, Made]) -> None:
        self._made = dict(state)

    def rest_here(self) -> None:
        """What is made so far stays: all that comes is tried on top of it."""
        self._base = dict(self._made)

    def home_of(self, finding: Finding) -> Deployment | None:
        return self._deployments.get(finding.resource)

    def is_made(self, fix: Finding, change: Change) -> bool:
        homes = [document for one, document in self.changes(fix) if one == change]
        return bool(homes) and all(
            (change.key, change.after) in self._made.get(id(document), ()) for document in homes
        )

    def as_made(self) -> tuple[list[Document], list[Deployment]]:
        """The root as it would be."""
        documents = [self._changed(one, self._made) for one in self._documents.values()]
        return documents, [self._deployment(one, self._made) for one in self._deployments.values()]

    def does_alone(self, fix: Finding) -> bool:
        state = self.state()
        self.restore({})
        alone = self._make(fix) is None and not any(name in self.found() for name in self.names(fix))
        self.restore(state)
        return alone

    def changes(self, fix: Finding) -> list[tuple[Change, Document]]:
        """Each change with the documents that it is made in. None where it moves what never reached Kafka,
        which is no setting of a document: only the file tells what comes of it."""
        changes = []
        for change in fix.fixes[0].changes:
            if change.file is not None:
                own = changed_by(fix, change, self._deployments, self._named.get(fix.resource, ()))
                # A line may be a setting of several documents, by an anchor or an included file.
                beside = self._written.get((change.file, change.line, change.key), ())
                found = {id(document): document for document in (*own, *beside)}
                changes += [(change, document) for document in found.values()]
        lost = any(item.key == change.key for change, document in changes for item in document.dropped)
        return [] if lost else changes

    # What is asked of it.

    def troubles(self, made: Sequence[Finding], again: bool) -> Iterator[Trouble]:
        now = self.found()
        for fix in made:
            if any(name in now for name in self.names(fix)):
                yield Trouble(f"with all fixes made {fix.code} would still be found", self.files_of(fix))
        if not again:
            return
        for subject in self._touched():
            before = worst(self._about(subject, self._base), self._deployments)
            for finding in self._about(subject, self._made):
                rank = RANK[finding.severity]
                worse = rank > 1 and finding.suppressed is None
                if worse and any(before.get(name, 0) < rank for name in self.names(finding)):
                    reason = f"with all fixes made it would introduce {finding.code}"
                    yield Trouble(reason, {file for one in _documents(subject) for file in files_of(one)})

    def found(self) -> dict[Name, int]:
        """In all that is touched, as it would be."""
        found: dict[Name, int] = {}
        for subject in self._touched():
            found |= worst(self._about(subject, self._made), self._deployments)
        return found

    def names(self, finding: Finding) -> Iterator[Name]:
        return names_of(finding, self._deployments)

    def _touched(self) -> list[Subject]:
        found: dict[int, Subject] = {}
        for one in self._made:
            found[one] = self._documents[one]
            found |= {id(home): home for home in self._homes.get(one, ())}
        return list(found.values())

    def _about(self, subject: Subject, made: dict[int, Made]) -> tuple[Finding, ...]:
        parts = tuple(made.get(id(one), ()) for one in _documents(subject))
        known = self._answers.get((id(subject), parts))
        if known is None:
            asked = self._with(subject, made)
            known = self._answers[id(subject), parts] = asked, tuple(self._ask(asked))
        return known[1]

    def _with(self, subject: Subject, made: dict[int, Made]) -> Subject:
        if isinstance(subject, Document):
            return self._changed(subject, made)
        return self._deployment(subject, made)

    def _deployment(self, home: Deployment, made: dict[int, Made]) -> Deployment:
        return home._replace(
            producer=None if home.producer is None else self._changed(home.producer, made),
            topic=None if home.topic is None else self._changed(home.topic, made),
            cluster=tuple(self._changed(one, made) for one in home.cluster),
            groups=tuple(self._changed(one, made) for one in home.groups),
        )

    def _changed(self, document: Document, made: dict[int, Made]) -> Document:
        mine = made.get(id(document))
        if not mine:
            return document
        known = self._as_made.get((id(document), mine))
        if known is None:
            known = document
            for key, value in mine:
                known = _with_value(known, key, value)
            self._as_made[id(document), mine] = known
            self._stand_in(known, document)
        return known


def _documents(subject: Subject) -> list[Document]:
    return [subject] if isinstance(subject, Document) else members_of(subject)


def _with_value(document: Document, key: str, value: str | None) -> Document:
    """As it would be read from the file with the change made."""
    written = next((one for one in document.settings if is_same_key(one.key, key, document.client)), None)
    kept = tuple(one for one in document.settings if one is not written)
    if value is None:
        return document._replace(settings=kept)
    origin = written.origin if written is not None else Origin("file", Location(document.file))
    return document._replace(settings=(*kept, Setting(written.key if written else key, value, origin)))
