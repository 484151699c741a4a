"""Folders of files, on the executors: each root read, joined and judged as `audit` does it."""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..engine import Asked, Linked, ask_linked, link_records
from ..files import BYTES_MAX, PROJECT_FILE, Unreadable, decode
from ..loading import FileRecord, load_bytes
from ..model import Deployment, Document, UsageError, members_of
from ..packs import load_packs
from ..project import EMPTY, Project, load_project
from ..registry import load_registry
from ..report.build import reported_finding
from .canonical import of_document
from .owners import CODEOWNERS, PLACES, UNOWNED, Owners, codeowners, nearest, path_pattern
from .worker import SECTION, Judge, Row, as_batches, dumps, headline_of, judge_of

# A root with more text than this is not held in memory at once.
ROOT_BYTES_MAX = 256 * 1024 * 1024


def audit_roots(batches: Iterable[Any], job: str) -> Iterator[Any]:
    """Batches of (root, base, file, length, content), a root's files together, to (kind, mark, payload)."""
    import pyarrow

    judge = judge_of(job)
    root: str | None = None
    files: list[Row] = []
    for batch in batches:
        for item in batch.to_pylist():
            if item["root"] != root and files:
                yield from as_batches(pyarrow, list(audit_root(judge, files)))
                files = []
            root = item["root"]
            files.append(item)
    if files:
        yield from as_batches(pyarrow, list(audit_root(judge, files)))


def audit_root(judge: Judge, files: list[Row]) -> Iterator[Row]:
    """One root's files, each named from it; `inside` makes such a name one of the source's."""
    root = files[0]["root"]
    inside = os.path.relpath(root, files[0]["base"]) if root != files[0]["base"] else "."
    prefix = "" if inside == "." else f"{inside}/"
    contents = {item["file"]: item for item in files}
    texts = {name: item["content"] for name, item in contents.items() if item["content"] is not None}
    try:
        if sum(item["length"] for item in files) > ROOT_BYTES_MAX:
            raise UsageError(f"a root of more than {ROOT_BYTES_MAX} bytes")
        project = _project(root, texts)
        records = list(_records(judge, root, contents, texts, project))
        asked, linked = _asked(judge, root, project, records)
    except UsageError as error:
        reason = str(error).splitlines()[0]
        for name in sorted(contents):
            yield _row("file", prefix + name, {"file": prefix + name, "good": False, "reason": reason})
        return
    owners = _owners(judge, texts)
    for record in records:
        good = record.error is None
        yield _row(
            "file",
            prefix + record.file,
            {"file": prefix + record.file, "good": good, "reason": None if good else record.reason},
        )
    for name in sorted(contents.keys() - {record.file for record in records} - {PROJECT_FILE, *PLACES}):
        yield _row("ignored", prefix + name, {"file": prefix + name})
    # A root's own CODEOWNERS names files from the root, what the command line gives from the source.
    base = prefix if judge.job.owners is not None else ""
    yield from _told(judge, prefix, linked, asked, lambda file: owners.of(base + file))
    yield from judge.new_verdicts()


def _row(kind: str, mark: str, payload: Row) -> Row:
    return {"kind": kind, "mark": mark, "payload": dumps(payload)}


def _project(root: str, texts: Mapping[str, bytes]) -> Project:
    from ..cache import Cache

    if PROJECT_FILE not in texts:
        return EMPTY
    return load_project(os.path.join(root, PROJECT_FILE), texts[PROJECT_FILE], Cache(None))


def _records(
    judge: Judge, root: str, contents: Mapping[str, Row], texts: Mapping[str, bytes], project: Project
) -> Iterator[FileRecord]:
    for name in sorted(contents):
        if posixpath.basename(name) in (PROJECT_FILE, CODEOWNERS):
            continue
        record = FileRecord(name, name, None, "skipped", None, (), None, True, False, "")
        data = texts.get(name)
        if data is None:
            from ..model import LoadError

            what = f"{contents[name]['length']} bytes, more than the limit of {BYTES_MAX}"
            yield record._replace(reason=what, error=LoadError(what))
            continue
        loaded = load_bytes(record, data, judge.asking.registry, project, _beside(name, texts))
        if loaded is not None:
            yield loaded


def _beside(name: str, texts: Mapping[str, bytes]) -> Callable[[str], str | None]:
    folder = posixpath.dirname(name)

    def read(relative: str) -> str | None:
        data = texts.get(posixpath.normpath(posixpath.join(folder, relative)))
        try:
            return None if data is None else decode(data, "iso-8859-1")
        except Unreadable:
            return None

    return read


def _asked(judge: Judge, root: str, project: Project, records: list[FileRecord]) -> tuple[Asked, Linked]:
    asking = judge.asking
    if project.plugins:
        load_registry((), project.plugins)
    if project.rules:
        packs = [*asking.options.rules, *(os.path.join(root, name) for name in project.rules)]
        rules = load_packs(asking.registry.packs, packs, judge.cache)
        asking = asking._replace(rules=rules)
    linked = link_records(asking.options, project, records)
    return ask_linked(asking, project, linked), linked


def _owners(judge: Judge, texts: Mapping[str, bytes]) -> Owners:
    given = judge.job.owners
    if given is not None:
        return path_pattern(given) if "{" in given.partition("\n")[0] else codeowners(given)
    place = nearest(list(texts))
    return codeowners(texts[place].decode("utf-8", "replace")) if place is not None else Owners()


def _told(
    judge: Judge, prefix: str, linked: Linked, asked: Asked, owner_of: Callable[[str], str]
) -> Iterator[Row]:
    homes: dict[str, Deployment] = {}
    versions = {id(document): asked.versions[id(document)].asked for document in linked.documents}
    marks: dict[str, str] = {}
    texts: dict[int, str] = {}
    for document in linked.documents:
        canonical = of_document(document, versions[id(document)], judge.job.kept_apart)
        texts[id(document)] = canonical.text()
        yield _row("row", f"{prefix}{document.file}", _document(document, prefix, owner_of, canonical.text()))
    found: dict[str, list[Row]] = {}
    for finding in asked.findings:
        told = reported_finding(finding, prefix)
        found.setdefault(finding.deployment or "", []).append(told)
    for deployment in linked.deployments:
        homes[deployment.id] = deployment
        profile = asked.profiles[deployment.id]
        canonicals = [
            of_document(member, versions.get(id(member), deployment.version), judge.job.kept_apart).only(
                judge.job.read
            )
            for member in members_of(deployment)
        ]
        facts = ",".join(f"{fact.name}={fact.value}" for fact in deployment.facts)
        text = SECTION.join([profile.name, deployment.version, facts, *(c.text() for c in canonicals)])
        marks[deployment.id] = mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        answers = asked.answers.get(deployment.id)
        own = found.get(deployment.id, [])
        judged = {
            "profile": profile.name,
            "version": deployment.version,
            "headline": headline_of(answers),
            "guarantees": list(answers.guarantees) if answers is not None else [],
            "findings": own,
        }
        yield _row("deployment", mark, judged)
        yield _row("member", mark, _deployment(deployment, prefix, owner_of, mark))
    for finding in asked.findings:
        home = homes.get(finding.deployment or "")
        told = reported_finding(finding, prefix)
        if home is None:
            # Of a file in several deployments, or in none: told by itself.
            yield _row("document", told["fingerprint"], {"findings": [told]})
        yield _row("finding", told["fingerprint"], _finding(told, home, prefix, owner_of, marks))


def _document(document: Document, prefix: str, owner_of: Callable[[str], str], canon: str) -> Row:
    hints = dict(reversed(document.hints))
    return {
        "component": document.component,
        "name": document.name,
        "cluster": hints.get("cluster"),
        "owner": owner_of(document.file),
        "file": prefix + document.file,
        "canon": canon,
    }


def _cluster(deployment: Deployment) -> str | None:
    for broker in deployment.cluster:
        for kind, value in broker.hints:
            if kind == "cluster":
                return value
    return deployment.cluster[0].name if deployment.cluster else None


def _deployment(deployment: Deployment, prefix: str, owner_of: Callable[[str], str], mark: str) -> Row:
    first = members_of(deployment)[0]
    partitions = next((fact.value for fact in deployment.facts if fact.name == "topic.partitions"), "")
    return {
        "deployment": deployment.id,
        "root": prefix.rstrip("/"),
        "row_id": f"{prefix}{first.file}#{first.name}",
        "producer": deployment.producer.name if deployment.producer else None,
        "topic": deployment.topic.name if deployment.topic else None,
        "cluster": _cluster(deployment),
        "owner": owner_of(first.file),
        "partitions": int(partitions) if partitions.isdigit() else None,
        "producer_at": _at(deployment.producer, prefix),
        "topic_at": _at(deployment.topic, prefix),
        "cluster_at": [_at(broker, prefix) for broker in deployment.cluster],
        "groups": [{"name": group.name, "at": _at(group, prefix)} for group in deployment.groups],
        "behaviour": mark,
    }


def _at(document: Document | None, prefix: str) -> Row | None:
    return None if document is None else {"file": prefix + document.file, "line": document.line}


def _finding(
    told: Row, home: Deployment | None, prefix: str, owner_of: Callable[[str], str], marks: Mapping[str, str]
) -> Row:
    place = told["locations"][0]
    partitions = ""
    if home is not None:
        partitions = next((fact.value for fact in home.facts if fact.name == "topic.partitions"), "")
    client = home.producer or next(iter(home.groups), None) if home is not None else None
    return {
        "code": told["code"],
        "name": told["name"],
        "severity": told["severity"],
        "message": told["message"],
        "deployment": told["deployment"],
        "root": prefix.rstrip("/"),
        "owner": owner_of(place["file"].removeprefix(prefix)) or UNOWNED,
        "cluster": _cluster(home) if home is not None else None,
        "topic": home.topic.name if home is not None and home.topic else None,
        "client": client.name if client is not None else None,
        "partitions": int(partitions) if partitions.isdigit() else None,
        "file": place["file"],
        "line": place["line"],
        "key": place["key"],
        "judged": marks.get(told["deployment"] or "", told["fingerprint"]),
        "suppressed": told["suppressed"] is not None,
    }
