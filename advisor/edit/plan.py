"""Findings -> one verified change of the files: every fix made in a copy, and the copy audited again.

A fix is a claim too: what is handed over was audited with it made, its findings are gone, and nothing above a
note is new. What cannot be made so is told as left, with the reason.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence

from ..engine import Audit, Options, Root
from ..find.identity import RANK, Name, changed_by, files_of, names_of
from ..find.reuse.memory import Memories
from ..fix.together import Refused, Together, Trouble, repeated
from ..guard.calls import PluginError
from ..model import (
    ADVICE,
    SAFE,
    Change,
    Deployment,
    Document,
    Finding,
    Fix,
    Location,
    Secret,
    members_of,
)
from ..read.aliases import as_written, written_key
from ..read.files import Unreadable
from ..read.load import FileRecord
from ..registry import function
from ..tuples import NamedTuple
from .change_steps import check, step_for, with_renames
from .steps import CannotEdit
from .work_copy import WorkCopy

Found = tuple[Root, Finding]


class Left(NamedTuple):
    """A finding whose fix is not made, and why."""

    finding: Finding
    reason: str
    at: Location | None = None


class Advice(NamedTuple):
    """A finding that no file can mend; its advice is to be followed by somebody. `fix` is what it comes to,
    where that could be tried."""

    finding: Finding
    fix: Fix | None


class Edited(NamedTuple):
    """A file that changes: its bytes before and after, the findings that it changes for, and on which lines
    secrets were read from it, before and after."""

    file: str
    path: str
    root: str
    before: bytes
    after: bytes
    findings: tuple[Finding, ...]
    secrets_before: frozenset[int] = frozenset()
    secrets_after: frozenset[int] = frozenset()


class Plan(NamedTuple):
    """What `fix` has to say. `review` is what somebody should look at before it is written: the files once
    more, from how they are with `files` written. `also_gone` are findings without a fix of their own that go
    with the others, `notes` how many notes have a fix that nobody asked for."""

    files: tuple[Edited, ...]
    review: tuple[Edited, ...]
    also_gone: tuple[Finding, ...]
    left: tuple[Left, ...]
    advice: tuple[Advice, ...]
    unfixed: tuple[Finding, ...]
    notes: int


def plan(options: Options, result: Audit, memories: Memories | None = None, reviewed: bool = False) -> Plan:
    """`memories`: what the audit answered. `reviewed`: also what needs a review is to be written."""
    shown = [pair for pair in result.findings if pair[1].suppressed is None]
    # The worst first: of two fixes that contradict each other it wins.
    shown.sort(key=lambda pair: -RANK[pair[1].severity])
    fixable = [pair for pair in shown if pair[1].fixes and _is_for_files(pair[1].fixes[0])]
    by_hand = [pair for pair in shown if pair[1].fixes and not _is_for_files(pair[1].fixes[0])]
    unfixed = [pair for pair in shown if not pair[1].fixes]
    named = [pair for pair in fixable if _is_named(pair[1], options.select)]
    written = [
        pair
        for pair in fixable
        if pair in named or (pair[1].severity != "note" and (reviewed or pair[1].fixes[0].safety == SAFE))
    ]
    review = [pair for pair in fixable if pair not in written and pair[1].severity != "note"]
    notes = len(fixable) - len(written) - len(review)
    if not written and not review:
        return _plan((), (), (), (), by_hand, unfixed, notes)
    with tempfile.TemporaryDirectory(prefix="kafka-advisor-") as folder:
        bench = _Bench(options, result, folder, memories or Memories())
        together = Together(bench)
        made, left = together.settle(written)
        still = {name for _, names in _named(bench.found) for name in names}
        files = tuple(bench.files())
        shown_only: tuple[Edited, ...] = ()
        open_still = [pair for pair, names in _named(review) if not still.isdisjoint(names)]
        if open_still:
            bench.rest_here()
            left += together.settle(open_still)[1]
            shown_only = tuple(bench.files())
    gone = [pair for pair, names in _named(unfixed) if made and still.isdisjoint(names)]
    stays = [pair for pair in unfixed if pair not in gone]
    told = [Left(_displayed(one.fix), one.reason, one.at) for one in left]
    return _plan(files, shown_only, gone, told, by_hand, stays, notes)


def _is_named(finding: Finding, select: Sequence[str]) -> bool:
    """By its whole code or its name: a beginning such as KA4 names nothing."""
    return any(one.upper() == finding.code or one == finding.name for one in select)


def _plan(
    files: Sequence[Edited],
    review: Sequence[Edited],
    gone: Sequence[Found],
    left: Sequence[Left],
    by_hand: Sequence[Found],
    unfixed: Sequence[Found],
    notes: int,
) -> Plan:
    advised = [pair for pair in unfixed if pair[1].advice]
    return Plan(
        tuple(files),
        tuple(review),
        tuple(map(_displayed, gone)),
        tuple(left),
        (
            *(Advice(_displayed(pair), pair[1].fixes[0]) for pair in by_hand),
            *(Advice(_displayed(pair), None) for pair in advised),
        ),
        tuple(_displayed(pair) for pair in unfixed if not pair[1].advice),
        notes,
    )


def _displayed(pair: Found) -> Finding:
    """The finding with its place as reports give it."""
    root, finding = pair
    return finding._replace(at=finding.at._replace(file=root.prefix + finding.at.file))


def _is_for_files(fix: Fix) -> bool:
    return fix.safety != ADVICE and all(change.file is not None for change in fix.changes)


def _named(findings: Iterable[Found]) -> Iterator[tuple[Found, tuple[tuple[str, Name], ...]]]:
    """Each with its names, its own first."""
    homes: dict[str, dict[str, Deployment]] = {}
    for pair in findings:
        root, finding = pair
        if root.prefix not in homes:
            homes[root.prefix] = {one.id: one for one in root.deployments}
        yield pair, tuple((root.prefix, name) for name in names_of(finding, homes[root.prefix]))


def _worst(findings: Iterable[Found]) -> dict[tuple[str, Name], int]:
    """By name, how grave the gravest is."""
    found: dict[tuple[str, Name], int] = {}
    for pair, names in _named(findings):
        if pair[1].suppressed is None:
            for name in names:
                found[name] = max(found.get(name, 0), RANK[pair[1].severity])
    return found


class _Members:
    """The documents and deployments of a root, to be found by their names; documents with their order."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.deployments = {one.id: one for one in root.deployments}
        self.read: dict[tuple[str, str, str], list[tuple[int, Document]]] = {}
        self.named: dict[str, list[tuple[int, Document]]] = {}
        documents = [document for record in root.files for document in record.documents]
        for pair in enumerate(documents):
            document = pair[1]
            self.read.setdefault((document.file, document.component, document.name), []).append(pair)
            self.named.setdefault(document.name, []).append(pair)

    def as_read(self, file: str, component: str, name: str) -> list[tuple[int, Document]]:
        """The document of a file that one of a deployment was made of: a consumer whose listeners are of
        several groups has become several, each with its group behind its name."""
        exact = self.read.get((file, component, name))
        if exact is not None:
            return exact
        return [
            pair
            for (where, what, title), pairs in self.read.items()
            if where == file and what in (component, "listener") and f"{name} ".startswith(f"{title} ")
            for pair in pairs
        ]


class _State(NamedTuple):
    """Two are alike if the files are."""

    texts: dict[str, bytes]
    reasons: dict[str, list[Finding]]
    found: Sequence[Found]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _State) and self.texts == other.texts

    def __ne__(self, other: object) -> bool:
        return not self == other


class _Bench:
    """The copy, what was changed in it and for which findings. Files go by their names in reports."""

    def __init__(self, options: Options, result: Audit, folder: str, memories: Memories) -> None:
        self.result = result
        self.copy = WorkCopy(options, result, folder, memories)
        self.formats = {spec.name: spec for spec in result.registry.formats}
        self.clients = result.registry.clients
        self.found: Sequence[Found] = self.copy.findings()
        # A rule that was not asked for must not be broken by a fix either.
        self.selected = bool(options.select)
        self.before = _worst(self.copy.findings(every_rule=True) if self.selected else self.found)
        # Of files that were touched: as they are to begin with, and now.
        self.original: dict[str, bytes] = {}
        self.now: dict[str, bytes] = {}
        self.places: dict[str, tuple[Root, str]] = {}
        self.roots = {root.prefix: _Members(root) for root in result.roots}
        self.reasons: dict[str, list[Finding]] = {}
        self.planned: dict[int, set[str]] = {}

    # Trying.

    def rest_here(self) -> None:
        """What is made so far stays: all that comes is tried on top of it."""
        self.original = dict(self.now)
        self.reasons = {}
        self.before = _worst(self.copy.findings(every_rule=True) if self.selected else self.found)

    def state(self) -> _State:
        return _State(dict(self.now), {file: list(known) for file, known in self.reasons.items()}, self.found)

    def restore(self, state: _State) -> None:
        self._restore(state.texts)
        self.reasons = {file: list(known) for file, known in state.reasons.items()}
        self.found = state.found

    def files_of(self, pair: Found) -> set[str]:
        """The files that a fix may change."""
        root, finding = pair
        known = self.planned.get(id(pair))
        if known is None:
            files = {change.file for change in finding.fixes[0].changes if change.file is not None}
            for change in finding.fixes[0].changes:
                files |= {document.file for document in self._documents(finding, change, root)}
            known = {root.prefix + self.copy.real_name(root, file) for file in files}
            self.planned[id(pair)] = known
        return known

    def make(self, fixes: Iterable[Found]) -> tuple[list[Found], list[Refused]]:
        return repeated(self._made, fixes)

    def _made(self, pair: Found) -> Refused | None:
        texts = dict(self.now)
        try:
            files = self._make(*pair)
        except CannotEdit as error:
            self._restore(texts)
            file = error.file or pair[1].at.file
            if error.line is None and file == pair[1].at.file:
                return Refused(pair, error.message)
            return Refused(pair, error.message, Location(pair[0].prefix + file, error.line))
        for file in files:
            self.reasons.setdefault(file, []).append(_displayed(pair))
        return None

    def troubles(self, made: Sequence[Found], again: bool) -> Iterator[Trouble]:
        if again:
            self.found = self.copy.findings()
        now = _worst(self.found)
        for pair, names in _named(made):
            if any(name in now for name in names):
                yield Trouble(f"{pair[1].code} would still be found", self.files_of(pair))
        if not again:
            return
        for pair, names in _named(self.copy.findings(every_rule=True) if self.selected else self.found):
            finding, rank = pair[1], RANK[pair[1].severity]
            worse = finding.suppressed is None and rank > 1
            if worse and any(self.before.get(name, 0) < rank for name in names):
                reason = f"it would introduce {finding.code}: {finding.message}"
                yield Trouble(reason, self._concerned(pair))

    def _concerned(self, pair: Found) -> set[str]:
        """The files of what a finding is about."""
        root, finding = pair
        known = _Members(root)
        documents = [
            document
            for _, document in known.named.get(finding.resource, ())
            if finding.at.file in files_of(document)
        ]
        if finding.resource in known.deployments:
            documents += members_of(known.deployments[finding.resource])
        files = {finding.at.file}.union(*map(files_of, documents))
        ours = self.roots[root.prefix].root
        return {root.prefix + self.copy.real_name(ours, file) for file in files}

    def _restore(self, texts: dict[str, bytes]) -> None:
        for file, data in self.original.items():
            wanted = texts.get(file, data)
            if self.now[file] != wanted:
                self.copy.write(*self.places[file], wanted)
                self.now[file] = wanted

    def files(self) -> Iterator[Edited]:
        for file in sorted(self.original):
            root, name = self.places[file]
            after = self.now[file]
            if after != self.original[file]:
                path = self.copy.original(root, name)
                reasons = tuple(self.reasons.get(file, ()))
                yield Edited(
                    file,
                    path,
                    root.workspace.root,
                    self.original[file],
                    after,
                    reasons,
                    *self._secrets(root, name),
                )

    def _secrets(self, root: Root, file: str) -> tuple[frozenset[int], frozenset[int]]:
        """The lines of a file where secrets are read from, as it was and as it is now. A file may be read for
        the documents of another one that names it."""
        before = [record for record in root.files if any(file in files_of(one) for one in record.documents)]
        after = [self.copy.record(root, record.file) for record in before]
        return _secret_lines(before, file), _secret_lines([one for one in after if one is not None], file)

    # Making one fix.

    def _make(self, root: Root, finding: Finding) -> set[str]:
        files: set[str] = set()
        for change in with_renames(finding.fixes[0].changes):
            documents = list(self._documents(finding, change, root))
            if not documents:
                raise CannotEdit(f"{change.file} has no place for {change.key} of a {change.component}")
            for document in documents:
                files.add(self._change(root, document, change))
                if change.action == "rename" and change.before is not None:
                    self._convert(root, document, change)
        return files

    def _convert(self, root: Root, document: Document, change: Change) -> None:
        """Under its new name a value counts as it is written: 5m is a time for Spring, and none for Kafka."""
        now = self._now(root, document)
        known = {one.key for one in document.settings}
        for one in now.settings:
            is_it = one.key not in known and f".{change.after}".endswith(f".{one.key}")
            if is_it and one.origin.at is not None and isinstance(one.value, str):
                file, line = one.origin.at.file, one.origin.at.line
                value = Change(change.component, one.key, one.value, change.before, file, line, "set")
                self._change(root, now, value)

    def _documents(self, finding: Finding, change: Change, root: Root) -> Iterator[Document]:
        """Whose setting it is, each as it was read."""
        members = self.roots[root.prefix]
        named = [document for _, document in members.named.get(finding.resource, ())]
        wanted = {
            (document.file, document.component, document.name)
            for document in changed_by(finding, change, members.deployments, named)
        }
        found = {pair[0]: pair[1] for name in wanted for pair in members.as_read(*name)}
        for _, document in sorted(found.items()):
            own = change.file in files_of(document) or document.component == "broker"
            if change.line is not None and not own:
                raise CannotEdit(f"{change.key} is set in code, by hand", change.line, change.file)
            yield document

    def _change(self, root: Root, document: Document, change: Change) -> str:
        now = self._now(root, document)
        place = step_for(document, now, change)
        if place is None:
            return root.prefix + self.copy.real_name(root, change.file or document.file)
        step, written_in = place
        file = self.copy.real_name(root, written_in)
        if not self.copy.is_named(root, file):
            raise CannotEdit(f"{step.key} belongs into {root.prefix}{file}, which is not among the paths")
        spec = self.formats[document.format]
        if spec.edit is None:
            raise CannotEdit(f"files of the format {spec.name} are not edited")
        try:
            source, encoding, mark = self.copy.source(root, file, spec.fallback_encoding)
            named = step._replace(key=written_key(now, step.key, self.clients))
            text = function(spec.edit, "text")(source, as_written(now), named)
            data = mark + text.encode(encoding)
        except (Unreadable, UnicodeError) as error:
            raise CannotEdit(f"it cannot be written again as it was: {error}", None, file) from None
        except PluginError as error:
            raise CannotEdit(str(error), None, file) from None
        except CannotEdit as error:
            error.file = error.file or file
            raise
        before = self._readings(root, document, file)
        self.original.setdefault(root.prefix + file, self.copy.data(root, file))
        self.places[root.prefix + file] = root, file
        self.copy.write(root, file, data)
        self.now[root.prefix + file] = data
        try:
            check(before, self._readings(root, document, file), self._now(root, document), step)
        except CannotEdit as error:
            error.file = file
            raise
        return root.prefix + file

    def _readings(self, root: Root, document: Document, file: str) -> list[tuple[Document, ...]]:
        """What is read of the edited file, and of the document's own if that is another."""
        records = [self.copy.record(root, name) for name in dict.fromkeys((document.file, file))]
        return [record.documents for record in records if record is not None]

    def _now(self, root: Root, document: Document) -> Document:
        record = self.copy.record(root, document.file)
        for one in record.documents if record is not None else ():
            if (one.component, one.name) == (document.component, document.name):
                return one
        raise CannotEdit("with it made, the file would be read differently", None, document.file)


def _secret_lines(records: Iterable[FileRecord], file: str) -> frozenset[int]:
    places = (
        (setting.value, setting.origin.at)
        for record in records
        for document in record.documents
        for setting in document.settings
    )
    lost = (
        (item.value, item.at)
        for record in records
        for document in record.documents
        for item in document.dropped
    )
    return frozenset(
        at.line
        for value, at in (*places, *lost)
        if isinstance(value, Secret) and at is not None and at.file == file and at.line is not None
    )
