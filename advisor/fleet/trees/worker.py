"""Folders of files, on the executors: each root read, joined and judged as `audit` does it."""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from ...engine import Asked, Linked, ask_linked, link_records
from ...find.asker import deployments_of, touches
from ...model import Deployment, Document, UsageError, members_of
from ...packs.pack import load_packs
from ...packs.questions import check_rules
from ...read.files import PROJECT_FILE
from ...read.load import FileRecord
from ...read.project import EMPTY, Project, load_project
from ...registry import load_registry
from ...syntax.numbers import fact_count
from ...tell.owners import CODEOWNERS, UNOWNED, codeowners_of, owners_given
from ...tell.report import reported_finding
from ..canonical import of_document
from ..tell.causes import cause_of, remedy_of
from ..worker import SECTION, Judge, Row, as_batches, dumps, headline_of, judge_of
from .files import Here, There, unread

# More of one root than this, handed over by Spark, is not held in memory at once.
ROOT_BYTES_MAX = 256 * 1024 * 1024


def audit_roots(batches: Iterable[Any], job: str) -> Iterator[Any]:
    """Batches of trees.LISTED, a root's files together, to (kind, mark, payload)."""
    import pyarrow

    judge = judge_of(job)
    for files in by_root(item for batch in batches for item in batch.to_pylist()):
        yield from as_batches(pyarrow, list(audit_root(judge, files)))


def by_root(items: Iterable[Row]) -> Iterator[list[Row]]:
    for _, members in groupby(items, key=lambda item: str(item["root"])):
        files: list[Row] = []
        held = 0
        for item in members:
            held += len(item["content"] or b"")
            if held > ROOT_BYTES_MAX:
                item["content"] = None
                item["reason"] = item["reason"] or f"a root of more than {ROOT_BYTES_MAX} bytes"
            files.append(item)
        yield files


def audit_root(judge: Judge, files: list[Row]) -> Iterator[Row]:
    """One root's files, each named from it; `inside` makes such a name one of the report's."""
    root = files[0]["root"]
    inside = os.path.relpath(root, files[0]["base"]) if root != files[0]["base"] else "."
    prefix = "" if inside == "." else f"{inside}/"
    tree = Here(root) if files[0]["path"] is not None else There(files)
    try:
        project = _project(root, tree)
        records, ignored = _records(judge, tree, files, project)
        asked, linked = _asked(judge, root, project, records)
    except UsageError as error:
        reason = str(error).splitlines()[0]
        for item in files:
            if item["target"] and not _is_ours(item["file"]):
                yield _file(posixpath.normpath(prefix + item["file"]), reason)
        return
    owner_of = _owner_of(judge, files[0], tree)
    for record in records:
        if record.target:
            name = posixpath.normpath(prefix + record.file)
            yield _file(name, record.reason if record.error is not None else None)
    for name in ignored:
        yield _row("ignored", prefix + name, {"file": prefix + name})
    yield from _told(judge, prefix, linked, asked, owner_of)
    yield from judge.new_verdicts()


def _file(name: str, reason: str | None) -> Row:
    return _row("file", name, {"file": name, "good": reason is None, "reason": reason})


def _row(kind: str, mark: str, payload: Row) -> Row:
    return {"kind": kind, "mark": mark, "payload": dumps(payload)}


def _project(root: str, tree: Here | There) -> Project:
    from ...memo.cache import Cache

    data = tree.read(PROJECT_FILE)
    return EMPTY if data is None else load_project(os.path.join(root, PROJECT_FILE), data, Cache(None))


def _is_ours(name: str) -> bool:
    return posixpath.basename(name) in (PROJECT_FILE, CODEOWNERS)


def _records(
    judge: Judge, tree: Here | There, files: list[Row], project: Project
) -> tuple[list[FileRecord], list[str]]:
    """What could be read or not, and the names of targets that no format wants."""
    records: list[FileRecord] = []
    ignored: list[str] = []
    for item in sorted(files, key=lambda item: str(item["file"])):
        if _is_ours(item["file"]):
            continue
        known = item["reason"] is not None
        loaded = unread(item) if known else tree.load(item, judge.asking.registry, project)
        if loaded is not None:
            records.append(loaded)
        elif item["target"]:
            ignored.append(item["file"])
    return records, ignored


def _asked(judge: Judge, root: str, project: Project, records: list[FileRecord]) -> tuple[Asked, Linked]:
    asking = judge.asking
    if project.plugins:
        load_registry((), project.plugins)
    if project.rules:
        packs = [*asking.options.rules, *(os.path.join(root, name) for name in project.rules)]
        rules = load_packs(asking.registry.packs, packs, judge.cache)
        asking = asking._replace(rules=rules)
    if project.rules or project.params:
        check_rules(asking.rules, asking.registry.guarantees, project.params)
    linked = link_records(asking.options, project, records)
    return ask_linked(asking, project, linked), linked


def _owner_of(judge: Judge, first: Row, tree: Here | There) -> Callable[[str], str]:
    """By a file's name from the root. What the command line gives names files from the source."""
    root = first["root"]
    if judge.job.owners is not None:
        given = owners_given(judge.job.owners)
        inside = os.path.relpath(root, first["source"])
        return lambda file: given.of(posixpath.normpath(f"{inside}/{file}"))
    for folder in tree.owned_from(first["base"]):
        found = codeowners_of(tree.read, folder)
        if found is not None:
            inside = os.path.relpath(root, os.path.join(root, folder))
            return lambda file: found.of(posixpath.normpath(f"{inside}/{file}"))
    return lambda file: UNOWNED


def _told(
    judge: Judge, prefix: str, linked: Linked, asked: Asked, owner_of: Callable[[str], str]
) -> Iterator[Row]:
    homes: dict[str, Deployment] = {}
    versions = {id(document): asked.versions[id(document)].asked for document in linked.documents}
    marks: dict[str, str] = {}
    texts: dict[int, str] = {}
    targets = {record.file for record in linked.records if record.target}
    rows: dict[str, list[str]] = {}
    for document in linked.documents:
        if not touches(document, targets):
            continue
        rows.setdefault(document.file, []).append(f"{prefix}{document.file}#{document.name}")
        canonical = of_document(document, versions[id(document)], judge.job.kept_apart)
        texts[id(document)] = canonical.text()
        yield _row("row", f"{prefix}{document.file}", _document(document, prefix, owner_of, canonical.text()))
    found: dict[str, list[Row]] = {}
    for finding in asked.findings:
        told = reported_finding(finding, prefix)
        found.setdefault(finding.deployment or "", []).append(told)
    for deployment in deployments_of(linked.deployments, targets):
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
            "guarantees": [one.as_dict() for one in answers.guarantees] if answers is not None else [],
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
        yield _row("finding", told["fingerprint"], _finding(told, home, prefix, owner_of, marks, rows))


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


def _client(deployment: Deployment) -> str | None:
    client = deployment.producer or next(iter(deployment.groups), None)
    return client.name if client is not None else None


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
        "client": _client(deployment),
        "owner": owner_of(first.file),
        "partitions": fact_count("topic.partitions", partitions),
        "producer_at": _at(deployment.producer, prefix),
        "topic_at": _at(deployment.topic, prefix),
        "cluster_at": [_at(broker, prefix) for broker in deployment.cluster],
        "groups": [{"name": group.name, "at": _at(group, prefix)} for group in deployment.groups],
        "behaviour": mark,
    }


def _at(document: Document | None, prefix: str) -> Row | None:
    return None if document is None else {"file": prefix + document.file, "line": document.line}


def _finding(
    told: Row,
    home: Deployment | None,
    prefix: str,
    owner_of: Callable[[str], str],
    marks: Mapping[str, str],
    rows: Mapping[str, list[str]],
) -> Row:
    place = told["locations"][0]
    # Of a file that holds several documents it is not told which: then the deployment's own row.
    own = rows.get(place["file"].removeprefix(prefix), [])
    whole = [f"{prefix}{one.file}#{one.name}" for one in (members_of(home)[:1] if home is not None else ())]
    partitions = ""
    if home is not None:
        partitions = next((fact.value for fact in home.facts if fact.name == "topic.partitions"), "")
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
        "client": _client(home) if home is not None else None,
        "partitions": fact_count("topic.partitions", partitions),
        "file": place["file"],
        "line": place["line"],
        "key": place["key"],
        "behaviour": marks.get(told["deployment"] or ""),
        "kafka_version": home.version if home is not None else None,
        "row_id": next(iter(own if len(own) == 1 else whole), None),
        "rows": 1,
        "cause": cause_of(told),
        "remedy": remedy_of(told),
        "suppressed": told["suppressed"] is not None,
    }
