"""What runs on the executors: distinct configurations judged by the engine of a single audit.

A line of a configuration's text stands for every row that has it, so the documents made of it carry marks
instead of names (`MARK` + slot + `END`) and the number of an entry instead of a line. What is said of them
says "producer" or "topic" where an audit says a name; Spark puts each row's own names, files and lines
beside it.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ..engine import Asked, Asking, Linked, Options, ask_linked
from ..find.rules.choice import Choice
from ..hookspecs import FormatSpec
from ..join.asked_keys import noted_in
from ..join.link import facts_of
from ..join.profiles import profile_of
from ..join.versions import choose_version
from ..memo.cache import Cache
from ..model import Deployment, Document, Finding, Location
from ..packs.pack import Rule, load_packs
from ..read.aliases import with_kafka_names
from ..read.load import FileRecord
from ..read.project import EMPTY
from ..registry import load_registry
from ..tell.report import reported_finding
from ..tuples import NamedTuple
from .canonical import Canonical

MARK, END = "\ue000", "\ue001"
SECTION = "\u0006"
READ = "read"  # the kind of what `note_missed` tells
Row = dict[str, Any]


class Job(NamedTuple):
    """The same for all tasks of a run; plain values, so that it travels."""

    kafka_version: str | None
    profile: str | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    rules: tuple[str, ...]
    plugins: tuple[str, ...]
    today: str
    link: bool
    verdicts: Mapping[str, str]
    # Of files: who owns them (a path pattern, or the text of a CODEOWNERS), and the keys that make
    # behaviours.
    owners: str | None = None
    read: tuple[str, ...] = ()
    kept_apart: tuple[str, ...] = ()

    def options(self) -> Options:
        return Options(
            paths=(),
            kafka_version=self.kafka_version,
            profile=self.profile,
            select=self.select,
            ignore=self.ignore,
            rules=self.rules,
            plugins=self.plugins,
            link=self.link,
            today=self.today,
        )


class TableCache(Cache):
    """The verdict table of earlier runs in place of files; what is new is handed on to be kept."""

    __slots__ = ("known", "new")

    def __init__(self, known: Mapping[str, str]) -> None:
        super().__init__(None)
        self.known = known
        self.new: dict[str, object] = {}

    def get(self, kind: str, key: str) -> object | None:
        mark = f"{kind}/{key}"
        if mark in self.new:
            return self.new[mark]
        return json.loads(self.known[mark]) if mark in self.known else None

    def put(self, kind: str, key: str, value: object) -> None:
        self.new[f"{kind}/{key}"] = value


class Judge:
    """Registry, rules and cache of one worker."""

    def __init__(self, job: Job) -> None:
        self.job, self.cache = job, TableCache(job.verdicts)
        registry = load_registry([given(path) for path in job.plugins])
        # A row holds what somebody exported, which need not be all that the client is given.
        row = FormatSpec("row", (), (), "", "", "a row of a table", whole=False)
        registry = registry._replace(formats=(*registry.formats, row))
        self.rules = load_packs(registry.packs, [given(path) for path in job.rules], Cache(None))
        choice = Choice(job.select, job.ignore)
        choice.check(self.rules)
        self.asking = Asking(job.options(), registry, self.rules, choice, self.cache)
        self._told: set[str] = set()
        self._read = frozenset(job.read)

    def document(self, canonical: Canonical, file: str, name: str) -> Document:
        """The document to judge, under the names that rules know."""
        return with_kafka_names(canonical.document(file, name), self.asking.registry.clients)

    def ask(
        self,
        documents: Sequence[Document],
        deployments: Sequence[Deployment] = (),
        profile: str | None = None,
    ) -> Asked:
        """All at once, so that what one deployment taught is known for the next. Documents of deployments
        are not asked by themselves; those that have no home are judged as of `profile`."""
        records = tuple(
            FileRecord(document.file, document.file, None, "audited", None, (document,), None, True, True, "")
            for document in documents
        )
        asking = self.asking
        if profile is not None:
            asking = asking._replace(rules=self._rules_of(profile))
        linked = Linked(records, tuple(documents), tuple(deployments), 0)
        return ask_linked(asking, EMPTY, linked, alone=not deployments)

    def note_missed(self, asked: Iterable[str]) -> None:
        """Keys that a deployment was asked for and that are left out where they are not thought to matter:
        told to the driver, and kept for runs to come."""
        for key in sorted(set(asked) - self._read):
            self.cache.put(READ, key, {"mark": key})

    def _rules_of(self, profile: str) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if not rule.profiles or profile in rule.profiles)

    def new_verdicts(self) -> Iterator[Row]:
        for key in [key for key in self.cache.new if key not in self._told]:
            self._told.add(key)
            yield {
                "kind": "verdict",
                "mark": key,
                "payload": json.dumps(self.cache.new[key], separators=(",", ":")),
            }


def given(path: str) -> str:
    """A file of the command line: where it is, or where it was unpacked on this machine."""
    name = os.path.basename(path)
    places = (path, *(os.path.join(folder, "given", name) for folder in sys.path))
    return next((place for place in places if os.path.isfile(place)), path)


@cache
def judge_of(job_text: str) -> Judge:
    """One per worker process and run: what it learns is kept for the next batch."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in json.loads(job_text).items()
    }
    judge = Judge(Job(**values))
    gc.freeze()  # rules and catalog stay: what is judged is not searched for garbage together with them
    return judge


def job_text(job: Job) -> str:
    return json.dumps(job._asdict(), sort_keys=True)


# Distinct rows of a table.


def judge_rows(batches: Iterable[Any], job: str) -> Iterator[Any]:
    """Batches of (kind, mark, text) to batches of (kind, mark, payload)."""
    import pyarrow

    judge = judge_of(job)
    for batch in batches:
        rows = []
        for kind, judged in (("document", judge_documents), ("deployment", judge_deployments)):
            items = [item for item in batch.to_pylist() if item["kind"] == kind]
            for item, said in zip(items, judged(judge, [item["text"] for item in items]), strict=True):
                rows.append({"kind": kind, "mark": item["mark"], "payload": said})
        rows += judge.new_verdicts()
        yield from as_batches(pyarrow, rows)


def judge_documents(judge: Judge, texts: Sequence[str]) -> list[str]:
    """The payload of each."""
    asked: dict[str, list[tuple[int, Canonical, Document]]] = {}
    for number, text in enumerate(texts):
        canonical = Canonical.read(text)
        document = judge.document(canonical, _file("document", canonical, number), _mark("document", number))
        profile = profile_of(deployment_of(judge.job, document.name, [document]), judge.job.profile).name
        asked.setdefault(profile, []).append((number, canonical, document))
    made: dict[int, str] = {}
    for profile, items in asked.items():
        found = judge.ask([document for _, _, document in items], profile=profile).findings
        own = _by_resource(found)
        for number, canonical, document in items:
            places = {document.file: ("document", canonical)}
            findings = [told(finding, places) for finding in own.get(document.name, ())]
            made[number] = _payload({"settings": canonical.shown(), "findings": findings})
    return [made[number] for number in range(len(texts))]


def judge_deployments(judge: Judge, texts: Sequence[str]) -> list[str]:
    """The payload of each text of sections (slot, canonical text)."""
    subjects = []
    for number, text in enumerate(texts):
        places: dict[str, tuple[str, Canonical]] = {}
        documents: list[Document] = []
        for section in text.split(SECTION):
            slot, _, body = section.partition("=")
            canonical = Canonical.read(body)
            documents.append(judge.document(canonical, _file(slot, canonical, number), _mark(slot, number)))
            places[documents[-1].file] = slot, canonical
        name = _mark("deployment", number)
        subjects.append((documents, deployment_of(judge.job, name, documents), places))
    every = [document for documents, _, _ in subjects for document in documents]
    keys: set[str] = set()
    with noted_in(keys):
        asked = judge.ask(every, [deployment for _, deployment, _ in subjects])
    judge.note_missed(keys)
    found = _by_resource(asked.findings)
    made = []
    for _, deployment, places in subjects:
        answers = asked.answers.get(deployment.id)
        judged = {
            "settings": {slot: canonical.shown() for slot, canonical in places.values()},
            "profile": asked.profiles[deployment.id].name,
            "version": deployment.version,
            "headline": headline_of(answers),
            "guarantees": [one.as_dict() for one in answers.guarantees] if answers is not None else [],
            "findings": [told(finding, places) for finding in found.get(deployment.id, ())],
        }
        made.append(_payload(judged))
    return made


def _by_resource(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.resource, []).append(finding)
    return found


# Subjects that are asked together have names and files of their own, as long as they are asked.


def _mark(slot: str, number: int) -> str:
    return f"{MARK}{slot}#{number}{END}"


def _file(slot: str, canonical: Canonical, number: int) -> str:
    """A path in which only the word that makes a profile is left."""
    return f"{'dev/' if canonical.about.get('dev') else ''}{_mark(f'file:{slot}', number)}"


def _payload(judged: Row) -> str:
    """Words where the marks are."""
    return _MARKED.sub(r"\1", dumps(judged))


_MARKED = re.compile(f"(?:dev/)?{MARK}(?:file:)?([a-z]+[0-9]*)#[0-9]+{END}")


def deployment_of(job: Job, name: str, documents: Sequence[Document]) -> Deployment:
    brokers = tuple(document for document in documents if document.component == "broker")
    producer = next((document for document in documents if document.component == "producer"), None)
    topic = next((document for document in documents if document.component == "topic"), None)
    rest = [d for d in documents if d.component not in ("broker", "producer", "topic")]
    # The brokers know best; where they do not say, the topic's row does, then any other.
    said = (*brokers, *([topic] if topic is not None else ()), *documents)
    version = choose_version(job.kafka_version, said)[0].asked
    facts = facts_of(brokers, topic, rest, ())
    return Deployment(name, producer, topic, brokers, tuple(rest), version, facts, {}, ())


def told(finding: Finding, places: Mapping[str, tuple[str, Canonical]]) -> Row:
    """The finding as in a report, and where it is: a slot and one of its keys."""
    slot, key = _place(finding.at, places)
    said = reported_finding(finding)
    del said["fingerprint"]  # of a row it would be another
    return {
        **said,
        "message": said["message"].removeprefix(f"{finding.resource}: "),
        "slot": slot,
        "key": key,
    }


def _place(at: Location, places: Mapping[str, tuple[str, Canonical]]) -> tuple[str | None, str | None]:
    found = places.get(at.file)
    if found is None:
        return None, None
    slot, canonical = found
    if at.line is None or not 1 <= at.line <= len(canonical.entries):
        return slot, None
    return slot, canonical.entries[at.line - 1][0]


def headline_of(answers: Any) -> Row:
    found = answers.headline if answers is not None else None
    return {} if found is None else dict(found)


def dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)


def as_batches(pyarrow: Any, rows: Sequence[Row]) -> Iterator[Any]:
    schema = pyarrow.schema([(name, pyarrow.string()) for name in ("kind", "mark", "payload")])
    if rows:
        yield pyarrow.RecordBatch.from_pylist(list(rows), schema=schema)
