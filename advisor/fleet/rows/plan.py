"""A table of rows: read, joined, resolved and judged; what comes of it is gathered for the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ...model import UsageError
from ...spark.shipping import sent
from ..keys import with_other_names, written_as
from ..store.tables import SCHEMAS
from ..tell.gathered import Cell, Document, Gathered, Row, Said
from ..tell.reach import reached
from ..tell.results import table_findings
from ..tell.shown_findings import rows_shown
from ..worker import READ, SECTION
from .behaviours import Combination, Subject, combinations_of, keys_of, subjects
from .link import Clusters, clusters_of
from .plan_here import RowsHere
from .plan_there import RowsThere

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..run import Run

# What one task judges: enough that it learns from the searches it has done.
_JUDGED_OF_A_TASK = 400
_PARTS_MAX = 200


def audit_rows(run: Run, kinds: Sequence[str], job: str) -> Gathered:
    store, options = run.store, run.options
    rows = RowsHere.of(run, kinds) or RowsThere(run, kinds)
    run.progress("reading the rows")
    rows.read()
    counted = store.whole("counted")
    good = counted.filter(counted["good"])
    rows_in, audited = (pc.sum(one["rows"]).as_py() or 0 for one in (counted, good))
    if not len(good):
        what = f"all {rows_in} rows are in quarantine" if rows_in else "there is no row"
        raise UsageError(f"nothing could be audited: {what}")
    texts = _texts(run)
    run.progress("joining producers, topics, clusters and consumers")
    clusters = _clusters(good, options.link)
    rows.join(clusters, rows_in)
    cells = store.whole("cells")
    asked, said = _judged_as_read(run, combinations_of(cells), texts, clusters, job)
    gathered = Gathered(
        "tables",
        rows_in,
        rows_in - audited,
        0,
        _quarantine(run, rows_in - audited),
        _summed(Document, good),
        texts,
        _summed(Cell, cells),
        {behaviour: subject.mark for behaviour, subject in asked.items()},
        said.alone,
        said.joint,
        lambda: table_findings(gathered),
        lambda rules: reached(store, gathered, rules),
        lambda wanted, columns: rows_shown(store, gathered, wanted, columns),
        said.verdicts,
    )
    return gathered


def _texts(run: Run) -> dict[str, str]:
    """The configurations that differ, by their sha-256; every task wrote those it met."""
    found = run.store.table("configurations", ["fp", "text"], "text")
    return dict(sorted(zip(found["fp"].to_pylist(), found["text"].to_pylist(), strict=True)))


def _clusters(good: pa.Table, link: bool) -> Clusters:
    is_broker = pc.equal(good["component"], "broker")
    brokers = [row for row in good.filter(is_broker).to_pylist() for _ in range(row["configs"])]
    used = pc.unique(good.filter(pc.invert(is_broker))["cluster"]).to_pylist()
    return clusters_of(brokers, {name or "" for name in used}, link)


def _summed(kind: Any, rows: pa.Table) -> list[Any]:
    """Tasks count for themselves: the same is put together. The last two fields are numbers."""
    *names, many, partitions = kind._fields
    summed = rows.group_by(names, use_threads=False).aggregate([(many, "sum"), (partitions, "sum")])
    columns = (summed[name].to_pylist() for name in (*names, f"{many}_sum", f"{partitions}_sum"))
    return [kind(*row) for row in zip(*columns, strict=True)]


def _judged_as_read(
    run: Run, combinations: Sequence[Combination], texts: Mapping[str, str], clusters: Clusters, job: str
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
        more = _judged(run, _asked(texts if number == 1 else {}, fresh), job, step)
        said = _Said(said.alone | more.alone, said.joint | more.joint, said.verdicts | more.verdicts)
        met = {mark.partition("/")[2] for mark in said.verdicts if mark.startswith(f"{READ}/")}
        new = with_other_names(met, run.registry) - run.read
        run.read |= new
        if written.isdisjoint(written_as(new)):
            return asked, said
        run.progress(f"judging again with {len(new)} more keys that rules asked for")
    raise AssertionError("each round adds a key, and keys are finite")


def _asked(texts: Mapping[str, str], subjects: Mapping[str, Subject]) -> Iterator[Row]:
    """What is judged, each text once."""
    for fp, text in texts.items():
        yield {"kind": "document", "mark": fp, "text": text}
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
