"""A table of rows: read, joined, resolved and judged; what comes of it is gathered for the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ...model import UsageError
from ...spark.shipping import sent
from ...spark.store import UNFINISHED
from ...syntax.numbers import integer
from ...tuples import NamedTuple
from ..keys import with_other_names, written_as
from ..store.tables import SCHEMAS
from ..tell.gathered import Cell, Document, Gathered, Row, Said
from ..tell.reach import reached
from ..tell.results import table_findings
from ..tell.shown_findings import rows_shown
from ..worker import READ, SECTION
from .behaviours import Combination, Subject, combinations_of, keys_of, subjects
from .join import REPEATED
from .link import Clusters, clusters_of
from .plan_here import RowsHere
from .plan_there import RowsThere
from .versions import Versions, text_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..run import Run

# What one task judges: enough that it learns from the searches it has done.
_JUDGED_OF_A_TASK = 400
_PARTS_MAX = 200
# How many rows repeat another, once that is known.
_REPEATED = f"{UNFINISHED}/repeated"


def audit_rows(run: Run, kinds: Sequence[str], job: str) -> Gathered:
    store, options = run.store, run.options
    told = store.place.read(_REPEATED)
    joined = _joined(
        run, RowsThere(run, kinds, True) if told else RowsHere.of(run, kinds) or RowsThere(run, kinds)
    )
    repeated = integer(told or "") or 0
    if joined.repeated:
        run.progress(f"{joined.repeated:,} rows repeat another in every column: they count once")
        for step in ("configurations", "counted", "deployments", "cells"):
            store.place.delete(f"{UNFINISHED}/{step}")
        repeated = joined.repeated
        store.place.write(_REPEATED, str(repeated))
        joined = _joined(run, RowsThere(run, kinds, True))
    rows_in, good, texts, clusters, cells, _ = joined
    audited = pc.sum(good["rows"]).as_py()
    versions = Versions.of(clusters, texts, options.kafka_version)
    documents = _summed(Document, good)
    marks = {versions.mark(one.fp, one.cluster) for one in documents}
    alone = {mark: text_at(mark, texts) for mark in sorted(marks)}
    asked, said = _judged_as_read(run, combinations_of(cells), texts, alone, clusters, job)
    store.put("clusters", _told_clusters(clusters, versions, cells))
    gathered = Gathered(
        "tables",
        rows_in,
        rows_in - audited,
        repeated,
        0,
        _quarantine(run, rows_in - audited),
        documents,
        texts,
        _summed(Cell, cells),
        {behaviour: subject.mark for behaviour, subject in asked.items()},
        said.alone,
        versions.mark,
        said.joint,
        lambda: table_findings(gathered),
        lambda rules: reached(store, gathered, rules),
        lambda wanted, columns: rows_shown(store, gathered, wanted, columns),
        said.verdicts,
    )
    return gathered


class _Joined(NamedTuple):
    """What is counted of the rows that were read and joined; `repeated` are those that are there before."""

    rows_in: int
    good: pa.Table
    texts: dict[str, str]
    clusters: Clusters
    cells: pa.Table
    repeated: int


def _joined(run: Run, rows: RowsHere | RowsThere) -> _Joined:
    run.progress("reading the rows")
    rows.read()
    counted = run.store.whole("counted")
    good = counted.filter(counted["good"])
    rows_in = pc.sum(counted["rows"]).as_py() or 0
    if not len(good):
        what = f"all {rows_in} rows are in quarantine" if rows_in else "there is no row"
        raise UsageError(f"nothing could be audited: {what}")
    texts = _texts(run)
    run.progress("joining producers, topics, clusters and consumers")
    clusters = _clusters(good, run.options.link)
    rows.join(clusters, rows_in)
    cells = run.store.whole("cells")
    again = cells.filter(pc.equal(cells["behaviour"], REPEATED))
    brokers = good.filter(pc.equal(good["component"], "broker")) if run.options.link else good.slice(0, 0)
    repeated = (pc.sum(again["deployments"]).as_py() or 0) + (pc.sum(brokers["configs"]).as_py() or 0)
    return _Joined(rows_in, good, texts, clusters, cells, repeated - len(brokers))


def _texts(run: Run) -> dict[str, str]:
    """The configurations that differ, by their sha-256; every task wrote those it met."""
    found = run.store.table("configurations", ["fp", "text"], "text")
    return dict(sorted(zip(found["fp"].to_pylist(), found["text"].to_pylist(), strict=True)))


def _clusters(good: pa.Table, link: bool) -> Clusters:
    is_broker = pc.equal(good["component"], "broker")
    brokers = [row for row in good.filter(is_broker).to_pylist() for _ in range(row["configs"])]
    used = pc.unique(good.filter(pc.invert(is_broker))["cluster"]).to_pylist()
    return clusters_of(brokers, {name or "" for name in used}, link)


def _told_clusters(clusters: Clusters, versions: Versions, cells: pa.Table) -> list[Row]:
    counted = cells.group_by("cluster").aggregate([("deployments", "sum")])
    found = dict(zip(counted["cluster"].to_pylist(), counted["deployments_sum"].to_pylist(), strict=True))
    return [
        {
            "cluster": name,
            "kafka_version": versions.clusters.get(name),
            "brokers": len(clusters.told[name]["at"]) if name in clusters.told else 0,
            "deployments": found[name],
        }
        for name in sorted(name for name in found if name is not None)
    ]


def _summed(kind: Any, rows: pa.Table) -> list[Any]:
    """Tasks count for themselves: the same is put together. The last two fields are numbers."""
    *names, many, partitions = kind._fields
    summed = rows.group_by(names, use_threads=False).aggregate([(many, "sum"), (partitions, "sum")])
    columns = (summed[name].to_pylist() for name in (*names, f"{many}_sum", f"{partitions}_sum"))
    return [kind(*row) for row in zip(*columns, strict=True)]


def _judged_as_read(
    run: Run,
    combinations: Sequence[Combination],
    texts: Mapping[str, str],
    alone: Mapping[str, str],
    clusters: Clusters,
    job: str,
) -> tuple[dict[str, Subject], _Said]:
    """What is judged for each behaviour, and what was said. A rule that asks for a key which was left out has
    not seen what it needs: those that have the key are judged again, with it."""
    written = keys_of(texts.values())
    said = _Said({}, {}, {})
    run.progress("judging each behaviour once")
    for number in count(1):
        asked = subjects(
            run.spark, combinations, texts, clusters.members, run.read, run.options.kafka_version
        )
        fresh = {name: one for name, one in asked.items() if one.mark not in said.joint}
        step = "judged" if number == 1 else f"judged-{number}"
        more = _judged(run, _asked(alone if number == 1 else {}, fresh), job, step)
        said = _Said(said.alone | more.alone, said.joint | more.joint, said.verdicts | more.verdicts)
        met = {mark.partition("/")[2] for mark in said.verdicts if mark.startswith(f"{READ}/")}
        new = with_other_names(met, run.registry) - run.read
        run.read |= new
        if written.isdisjoint(written_as(new)):
            return asked, said
        run.progress(f"judging again with {len(new)} more keys that rules asked for")
    raise AssertionError("each round adds a key, and keys are finite")


def _asked(alone: Mapping[str, str], subjects: Mapping[str, Subject]) -> Iterator[Row]:
    """What is judged, each text once."""
    for mark, text in alone.items():
        yield {"kind": "document", "mark": mark, "text": text}
    for mark, text in sorted({subject.mark: subject.text for subject in subjects.values()}.items()):
        yield {"kind": "deployment", "mark": mark, "text": text}


class _Said(NamedTuple):
    alone: dict[str, Said]
    joint: dict[str, Said]
    verdicts: dict[str, str]


def _judged(run: Run, asked: Iterable[Row], job: str, step: str) -> _Said:
    from pyspark.sql import functions as F

    def make() -> DataFrame:
        text = pa.schema([(name, pa.string()) for name in ("kind", "mark", "text")])
        table = pa.Table.from_pylist(list(asked), text)
        parts = run.options.partitions or max(2, min(_PARTS_MAX, len(table) // _JUDGED_OF_A_TASK))
        # What is learnt of one producer, every deployment of it can use.
        together = F.substring_index("text", SECTION, 1)
        work = sent("advisor.fleet.worker:judge_rows", job, run.packed)
        frame = run.spark.createDataFrame(table).repartition(parts, together)
        return frame.mapInArrow(work, "kind string, mark string, payload string")

    run.store.step(step, make)
    said = _Said({}, {}, {})
    for row in run.store.rows(step):
        if row["kind"] == "verdict":
            said.verdicts[row["mark"]] = row["payload"]
        else:
            home = said.alone if row["kind"] == "document" else said.joint
            home[row["mark"]] = Said.read(row["payload"])
    return said


def _quarantine(run: Run, quarantined: int) -> list[Row]:
    """The table, and how many rows each reason has."""
    columns = list(SCHEMAS["quarantine"])
    bad = run.store.table("configurations", columns, "reason").to_pylist() if quarantined else []
    run.store.put("quarantine", bad)
    reasons: dict[str, Row] = {}
    for row in bad:
        place = row["file"] or row["row_id"]
        one = reasons.setdefault(row["reason"], {"reason": row["reason"], "rows": 0, "example": place})
        one["rows"] += row["rows"]
        one["example"] = min(one["example"], place)
    return list(reasons.values())
