"""Folders of files on any file system that Spark reads: found, grouped by root, audited root by root."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ...memo.digests import digest
from ...model import UsageError
from ...spark.session import is_local
from ...spark.shipping import sent
from ...spark.snapshot import of_files
from ..tell.gathered import Cell, Document, Gathered, Reached, Row, Rule, Said, Shown
from .plan_here import found_here, local_path
from .plan_there import found_there

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..run import Run

# `file` is named from its root; a report names it from `base`, patterns of --owners from `source`. `path` is
# for a worker to read, `content` what Spark has read, `reason` why there is neither. A file that is no
# target is there to be joined with.
LISTED = (
    "root string, base string, source string, file string, target boolean, named boolean, path string, "
    "length bigint, content binary, reason string"
)


def audit_trees(run: Run, job: str) -> Gathered:
    run.store.step("judged", lambda: _judged(run, job))
    told = _Told(run)
    store = run.store
    if not told.good:
        raise UsageError("nothing could be audited: no file is a Kafka configuration that is known here")
    store.put("quarantine", told.bad)
    store.put("configurations", (_configuration(row) for row in told.rows("row")))
    store.put("deployments", told.rows("member"))
    store.put("clusters", told.clusters())
    reasons: dict[str, Row] = {}
    for row in told.bad:
        one = reasons.setdefault(row["reason"], {"reason": row["reason"], "rows": 0, "example": row["file"]})
        one["rows"] += 1
        one["example"] = min(one["example"], row["file"])
    return Gathered(
        "files",
        told.good + len(told.bad),
        len(told.bad),
        0,
        told.ignored,
        list(reasons.values()),
        [Document(*place, count, 0) for place, count in told.documents.items()],
        told.texts,
        [Cell(*place, count, 0) for place, count in told.cells.items()],
        {behaviour: behaviour for _, _, behaviour in told.cells},
        told.said["document"],
        lambda fp, cluster: fp,
        told.said["deployment"],
        lambda: told.rows("finding"),
        lambda rules: _reached(told.rows("finding"), rules),
        lambda wanted, columns: _shown(told.rows("finding"), wanted, columns),
        told.verdicts,
    )


class _Told:
    """What the workers told, of all roots together."""

    def __init__(self, run: Run) -> None:
        self._store = run.store
        self.good = self.ignored = 0
        self.bad: list[Row] = []
        self.documents: dict[tuple[str, str | None, str, str], int] = {}
        self.texts: dict[str, str] = {}
        self.cells: dict[tuple[str, str | None, str], int] = {}
        self.verdicts: dict[str, str] = {}
        payloads: dict[str, dict[str, str]] = {"document": {}, "deployment": {}}
        for item in run.store.rows("judged"):
            kind, mark, payload = item["kind"], item["mark"], item["payload"]
            if kind == "verdict":
                self.verdicts[mark] = payload
            elif kind in payloads:
                # Of a behaviour that several roots have, one is shown: the first by its text, whatever
                # worker came first.
                payloads[kind][mark] = min(payloads[kind].get(mark, payload), payload)
            elif kind == "ignored":
                self.ignored += 1
            elif kind != "finding":
                self._take(kind, json.loads(payload))
        self.said = {
            kind: {mark: Said.read(payload) for mark, payload in sorted(found.items())}
            for kind, found in payloads.items()
        }

    def _take(self, kind: str, row: Row) -> None:
        if kind == "row":
            fp = _fp(row)
            self.texts[fp] = row["canon"]
            place = row["owner"], row["cluster"], row["component"], fp
            self.documents[place] = self.documents.get(place, 0) + 1
        elif kind == "member":
            cell = row["owner"], row["cluster"], row["behaviour"]
            self.cells[cell] = self.cells.get(cell, 0) + 1
        elif row["good"]:
            self.good += 1
        else:
            self.bad.append({"row_id": row["file"], "file": row["file"], "rows": 1, "reason": row["reason"]})

    def clusters(self) -> list[Row]:
        """Of each the version that its deployments are judged by."""
        found: dict[str, Row] = {}
        for row in self.rows("member"):
            if row["cluster"] is not None:
                version = self.said["deployment"][row["behaviour"]].version
                many = len(row["cluster_at"] or ())
                one = {"cluster": row["cluster"], "kafka_version": version, "brokers": many, "deployments": 0}
                found.setdefault(row["cluster"], one)["deployments"] += 1
        return [found[name] for name in sorted(found)]

    def rows(self, kind: str) -> Iterator[Row]:
        return (json.loads(item["payload"]) for item in self._store.rows("judged") if item["kind"] == kind)


def _fp(row: Row) -> str:
    return sha256(row["canon"].encode("utf-8", "surrogatepass")).hexdigest()


def _configuration(row: Row) -> Row:
    named = {name: row[name] for name in ("component", "name", "cluster", "owner", "file")}
    return {
        **named,
        "row_id": f"{row['file']}#{row['name']}",
        "rows": 1,
        "fp": _fp(row),
        "text": row["canon"],
    }


def _reached(findings: Iterable[Row], rules: Iterable[Rule]) -> dict[Rule, Reached]:
    topics: dict[Rule, set[tuple[str | None, str]]] = {rule: set() for rule in rules}
    clients: dict[Rule, set[str]] = {rule: set() for rule in topics}
    for row in findings:
        rule = row["code"], row["severity"]
        if not row["suppressed"] and row["topic"] is not None:
            topics[rule].add((row["cluster"], row["topic"]))
        if not row["suppressed"] and row["client"] is not None:
            clients[rule].add(row["client"])
    return {rule: Reached(len(topics[rule]), len(clients[rule]), True) for rule in topics}


def _shown(findings: Iterable[Row], wanted: Shown, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    whole, others = set(wanted.whole), set(wanted.others)
    room = wanted.room
    for row in findings:
        rule = row["code"], row["severity"]
        if row["suppressed"] or rule not in whole | others:
            continue
        if rule == wanted.part and room > 0:
            room -= 1
        elif rule not in whole:
            if rule not in others:
                continue
            others.discard(rule)
        yield tuple(row[name] for name in columns)


def snapshot_of_trees(run: Run) -> list[str]:
    """Names, sizes and times of the files, wherever they lie."""
    lines = []
    for row in _found_here(run):
        try:
            status = os.stat(row[6] or row[0])
            lines.append(f"{row[0]} {row[3]} {status.st_size} {status.st_mtime_ns}")
        except OSError:
            lines.append(f"{row[0]} {row[3]}")
    there = [source for source in run.sources if local_path(source) is None]
    return [
        *run.sources,
        digest("\n".join(sorted(lines)).encode("utf-8", "surrogatepass")),
        of_files(run.spark, there),
    ]


def _found_here(run: Run) -> list[tuple[Any, ...]]:
    here = [path for path in map(local_path, run.sources) if path is not None]
    return list(found_here(run, here)) if here else []


def _judged(run: Run, job: str) -> DataFrame:
    from pyspark.sql import functions as F

    run.progress("looking for files")
    here = _found_here(run)
    frames = [found_there(run, source) for source in run.sources if local_path(source) is None]
    if here or not frames:
        _check_seen(run, here)
        frames.append(run.spark.createDataFrame(here, LISTED))
    listed = frames[0]
    for frame in frames[1:]:
        listed = listed.unionByName(frame)
    run.progress("reading, joining and judging the files of each root")
    parts = run.options.partitions or 8
    work = sent("advisor.fleet.trees.worker:audit_roots", job, run.packed)
    ordered = listed.repartition(parts, F.col("root")).sortWithinPartitions("root", "file")
    return ordered.mapInArrow(work, "kind string, mark string, payload string")


def _check_seen(run: Run, found: Sequence[tuple[Any, ...]]) -> None:
    """The workers read the files themselves: one of them is looked for from there."""
    path = next((row[6] for row in found if row[6] is not None and os.path.isfile(row[6])), None)
    if path is None or is_local(run.spark):
        return
    try:
        seen = run.spark.read.format("binaryFile").load(f"file:{glob_free(path)}").select("length").collect()
    except Exception:
        seen = []
    if [row[0] for row in seen] != [os.stat(path).st_size]:
        raise UsageError(
            f"{path}: Spark's machines do not see this file; name a folder that they and this machine see "
            "(a shared mount, hdfs:, s3a:)"
        )


def glob_free(path: str) -> str:
    """A path as Hadoop takes it for itself alone."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)
