"""What runs on the executors: distinct configurations judged by the engine of a single audit.

A line of a configuration's text stands for every row that has it, so the documents made of it carry marks
instead of names (`MARK` + slot + `END`) and the number of an entry instead of a line; Spark puts each
row's own names, files and lines back.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from ..asking import Choice
from ..cache import Cache
from ..engine import Asked, Asking, Linked, Options, ask_linked
from ..hookspecs import FormatSpec
from ..link import facts_of
from ..loading import FileRecord
from ..model import Deployment, Document, Finding, Location
from ..packs import Rule, load_packs
from ..project import EMPTY
from ..registry import load_registry
from ..report.build import reported_finding
from ..versions import choose_version
from .canonical import Canonical

MARK, END = "\ue000", "\ue001"
SECTION = "\u0006"
DEPLOYMENT = f"{MARK}deployment{END}"
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
        self.new: dict[str, str] = {}

    def get(self, kind: str, key: str) -> object | None:
        text = self.new.get(f"{kind}/{key}") or self.known.get(f"{kind}/{key}")
        return json.loads(text) if text is not None else None

    def put(self, kind: str, key: str, value: object) -> None:
        self.new[f"{kind}/{key}"] = json.dumps(value, separators=(",", ":"))


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

    def ask(self, documents: Sequence[Document], deployment: Deployment | None, profile: str | None) -> Asked:
        records = [
            FileRecord(document.file, document.file, None, "audited", None, (document,), None, True, True, "")
            for document in documents
        ]
        asking = self.asking
        if deployment is None and profile is not None:
            # A document alone has no home that says what it is judged as.
            asking = asking._replace(rules=self._rules_of(profile))
        found = () if deployment is None else (deployment,)
        return ask_linked(asking, EMPTY, Linked(tuple(records), tuple(documents), found, 0))

    def _rules_of(self, profile: str) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if not rule.profiles or profile in rule.profiles)

    def new_verdicts(self) -> Iterator[Row]:
        for key in [key for key in self.cache.new if key not in self._told]:
            self._told.add(key)
            yield {"kind": "verdict", "mark": key, "payload": self.cache.new[key]}


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
    return Judge(Job(**values))


def job_text(job: Job) -> str:
    return json.dumps(job._asdict(), sort_keys=True)


# Distinct rows of a table.


def judge_rows(batches: Iterable[Any], job: str) -> Iterator[Any]:
    """Batches of (kind, mark, text) to batches of (kind, mark, payload)."""
    import pyarrow

    judge = judge_of(job)
    for batch in batches:
        rows = []
        for item in batch.to_pylist():
            judged = (judge_document if item["kind"] == "document" else judge_deployment)(judge, item["text"])
            rows.append({"kind": item["kind"], "mark": item["mark"], "payload": dumps(judged)})
        rows += judge.new_verdicts()
        yield from as_batches(pyarrow, rows)


def judge_document(judge: Judge, text: str) -> Row:
    canonical = Canonical.read(text)
    document = canonical.document(file_mark("document", canonical), f"{MARK}document{END}")
    profile = judge.job.profile or ("dev" if canonical.about.get("dev") else "prod")
    asked = judge.ask([document], None, profile)
    places = {document.file: ("document", canonical)}
    return {
        "settings": canonical.shown(),
        "findings": [told(finding, places) for finding in asked.findings],
    }


def judge_deployment(judge: Judge, text: str) -> Row:
    """`text` is sections of (slot, canonical text)."""
    places: dict[str, tuple[str, Canonical]] = {}
    documents: list[Document] = []
    shown = {}
    for section in text.split(SECTION):
        slot, _, body = section.partition("=")
        canonical = Canonical.read(body)
        file = file_mark(slot, canonical)
        documents.append(canonical.document(file, f"{MARK}{slot}{END}"))
        places[file] = slot, canonical
        shown[slot] = canonical.shown()
    deployment = deployment_of(judge.job, documents)
    asked = judge.ask(documents, deployment, None)
    answers = asked.answers.get(DEPLOYMENT)
    profile = asked.profiles[DEPLOYMENT]
    return {
        "settings": shown,
        "profile": profile.name,
        "version": deployment.version,
        "headline": headline_of(answers),
        "guarantees": list(answers.guarantees) if answers is not None else [],
        "findings": [told(found, places) for found in asked.findings if found.resource == DEPLOYMENT],
    }


def deployment_of(job: Job, documents: Sequence[Document]) -> Deployment:
    brokers = tuple(document for document in documents if document.component == "broker")
    producer = next((document for document in documents if document.component == "producer"), None)
    topic = next((document for document in documents if document.component == "topic"), None)
    rest = [d for d in documents if d.component not in ("broker", "producer", "topic")]
    version = choose_version(job.kafka_version, brokers or documents)[0].asked
    facts = facts_of(brokers, topic, rest, ())
    return Deployment(DEPLOYMENT, producer, topic, brokers, tuple(rest), version, facts, {}, ())


def file_mark(slot: str, canonical: Canonical) -> str:
    """A path in which only the word that makes a profile is left."""
    return f"{'dev/' if canonical.about.get('dev') else ''}{MARK}file:{slot}{END}"


def told(finding: Finding, places: Mapping[str, tuple[str, Canonical]]) -> Row:
    """The finding as in a report, and where it is: a slot and one of its keys."""
    slot, key = _place(finding.at, places)
    return {
        **reported_finding(finding),
        "slot": slot,
        "key": key,
        "deployment_level": finding.resource == DEPLOYMENT,
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
