"""What was judged, written as tables, with a summary and a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...spark.session import is_jvm_gone, spark_words
from ...spark.store import CURRENT, RUNS, UNFINISHED
from ..marks import parts_of
from ..store.catalog_tables import append_tables
from ..store.tables import SCHEMAS, TABLES
from .changes import FINDINGS_MAX, changes_since, counted
from .drift import drift
from .gathered import Gathered, Row, Rule
from .page import LINE, Line, fleet_page, lines_of
from .summary import Reach, summarise

if TYPE_CHECKING:
    from ..run import Run


def write_results(run: Run, gathered: Gathered) -> tuple[str, Row]:
    """The name of the run, and its summary."""
    store = run.store
    run.progress("writing what was found")
    store.put("behaviours", _behaviours(gathered))
    store.put("guarantees", _guarantees(gathered))
    store.put("findings", gathered.findings())
    drifted = drift(gathered.documents, gathered.texts)
    store.put("drift", drifted)
    run.progress("summing up")
    name = store.next_name()
    reach = Reach(gathered)
    lines = lines_of(gathered, reach.rules)
    since, changed = _changes(run, reach)
    store.put("changes", changed or ())
    summary = summarise(run, gathered, reach, _examples(lines), drifted, name, since, changed)
    store.put("trend", summary["trend"])
    store.keep_verdicts(dict(gathered.verdicts))
    store.place.write(f"{UNFINISHED}/report.html", fleet_page(summary, lines))
    store.finish(name, TABLES)
    if run.options.catalog is not None:
        append_tables(run.spark, store.place.url(f"{RUNS}/{name}"), run.options.catalog, name)
    return name, summary


def _changes(run: Run, reach: Reach) -> tuple[str | None, list[Row] | None]:
    """The run before this one, and what is new and fixed since, unless that is much to compare unasked."""
    store = run.store
    since = (store.place.read(CURRENT) or "").strip() or None
    if since is None or sum(reach.rules.values()) > FINDINGS_MAX:
        return since, None
    try:
        old, new = (store.place.url(folder) for folder in (f"{RUNS}/{since}", UNFINISHED))
        return since, counted(changes_since(run.spark, old, new))
    except Exception as error:
        if is_jvm_gone(error):
            raise
        # Written by another version, or damaged: there is nothing to compare with.
        run.progress(f"run {since} cannot be compared with: {spark_words(error)}")
        return None, None


def _examples(lines: Iterable[Line]) -> dict[Rule, Row]:
    """Of each rule one place to look at."""
    found: dict[Rule, tuple[Any, ...]] = {}
    for line in lines:
        row = dict(zip(LINE, line, strict=True))
        rule, place = (row["code"], row["severity"]), tuple(row[name] for name in _PLACE)
        found[rule] = min(found.get(rule, place), place, key=str)
    return {rule: dict(zip(_PLACE, place, strict=True)) for rule, place in found.items()}


_PLACE = ("message", "deployment", "file", "line")


def _behaviours(gathered: Gathered) -> Iterator[Row]:
    counted: dict[str, int] = {}
    for cell in gathered.cells:
        counted[cell.behaviour] = counted.get(cell.behaviour, 0) + cell.deployments
    for behaviour, mark in sorted(gathered.marks.items()):
        said = gathered.judged[mark]
        severities = [found["severity"] for found in said.findings]
        yield {
            "behaviour": behaviour,
            "judged": mark,
            "deployments": counted.get(behaviour, 0),
            "profile": said.profile,
            "kafka_version": said.version,
            "survives_lost": said.survives_lost,
            "writes_with_away": said.writes_with_away,
            **{f"{severity}s": severities.count(severity) for severity in ("error", "warning", "note")},
            "payload": said.payload,
        }


def _guarantees(gathered: Gathered) -> Iterator[Row]:
    names = list(SCHEMAS["guarantees"])[1:]
    for behaviour, mark in sorted(gathered.marks.items()):
        for guarantee in gathered.judged[mark].guarantees:
            yield {"behaviour": behaviour, **{name: guarantee.get(name) for name in names}}


def table_findings(gathered: Gathered) -> Iterator[Row]:
    """Of a table of rows: each finding of a behaviour or a configuration once, and how many rows have it."""
    alone: dict[str, tuple[int, int]] = {}
    for document in gathered.documents:
        mark = gathered.alone_mark(document.fp, document.cluster)
        alone[mark] = _more(alone.get(mark), document.configs, document.partitions)
    joint: dict[str, tuple[int, int]] = {}
    for cell in gathered.cells:
        joint[cell.behaviour] = _more(joint.get(cell.behaviour), cell.deployments, cell.partitions)
    for mark, said in sorted(gathered.alone.items()):
        fp, version = parts_of(mark)
        yield from _told(said.findings, {"fp": fp, "kafka_version": version}, alone.get(mark, (0, 0)))
    for behaviour, mark in sorted(gathered.marks.items()):
        said = gathered.judged[mark]
        of = {"behaviour": behaviour, "kafka_version": said.version}
        yield from _told(said.findings, of, joint[behaviour])


def _more(before: tuple[int, int] | None, rows: int, partitions: int) -> tuple[int, int]:
    return (rows, partitions) if before is None else (before[0] + rows, before[1] + partitions)


def _told(findings: Iterable[Row], of: dict[str, Any], counted: tuple[int, int]) -> Iterator[Row]:
    for found in findings:
        yield {**found, **of, "root": "", "rows": counted[0], "partitions": counted[1]}
