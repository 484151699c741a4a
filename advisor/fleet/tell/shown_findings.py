"""The findings that a page shows of a table's run: with the row that has each, as many as there is room for.

What `by_row` says of all rows Spark says; these few the driver picks itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

from ..marks import mark_at, parts_of
from .gathered import Gathered, Row, Rule, Shown
from .reach import Mark, marks_of

if TYPE_CHECKING:
    from ...spark.store import Store

_CONFIGURATION = (
    "fp", "row_id", "component", "name", "cluster", "topic", "owner", "file", "line", "lines",
)  # fmt: skip
_DEPLOYMENT = (
    "behaviour", "row_id", "deployment", "cluster", "topic", "client", "owner", "producer_at", "topic_at",
    "cluster_at", "groups",
)  # fmt: skip


def rows_shown(
    store: Store, gathered: Gathered, wanted: Shown, columns: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """The same however the table is cut into files."""
    examples = _rarest(gathered, wanted.others)
    alone, joint = _asked(gathered, wanted, examples)
    for name, read, asked, placed in (
        ("configurations", _CONFIGURATION, alone, _alone),
        ("deployments", _DEPLOYMENT, joint, _linked),
    ):
        mark = gathered.alone_mark if asked is alone else None
        for row, findings in _picked(store, name, read, asked, wanted, {*examples.values()}, mark):
            for found in findings:
                told = {**found, **placed(row, found)}
                yield tuple([told[column] for column in columns])


def _asked(
    gathered: Gathered, wanted: Shown, examples: Mapping[Rule, str]
) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
    """By configuration and by behaviour, what is shown of those that have it."""
    whole = {*wanted.whole, wanted.part}
    alone: dict[str, list[Row]] = {}
    joint: dict[str, list[Row]] = {}
    for found in gathered.findings():
        mark = _mark(found)
        rule = _rule(found)
        if not found["suppressed"] and (rule in whole or examples.get(rule) == mark):
            (alone if found.get("fp") else joint).setdefault(mark, []).append(found)
    return alone, joint


def _rarest(gathered: Gathered, rules: Iterable[Rule]) -> dict[Rule, str]:
    """Of each rule the behaviour or configuration that the fewest rows have."""
    first: dict[Rule, tuple[int, str]] = {}
    for found in gathered.findings():
        told = found["rows"], _mark(found)
        rule = _rule(found)
        first[rule] = min(first.get(rule, told), told)
    return {rule: first[rule][1] for rule in rules}


def _picked(
    store: Store,
    table: str,
    columns: Sequence[str],
    asked: Mapping[str, list[Row]],
    wanted: Shown,
    always: Set[str],
    mark: Mark | None,
) -> Iterator[tuple[Row, list[Row]]]:
    """Rows with what is shown of them. Of those that have the rule in `part` alone, one in some is taken."""
    if not asked:
        return
    part = {mark for mark, found in asked.items() if all(_rule(one) == wanted.part for one in found)}
    for batch in store.batches(table, columns, sorted({parts_of(one)[0] for one in asked})):
        own = batch.column(columns[0])
        coded = own if mark is None else marks_of(own, batch.column("cluster"), mark).cast(pa.string())
        there = pc.is_in(coded, pa.array(sorted(asked)))
        few, marks = batch.filter(there), coded.filter(there).to_pylist()
        ids = few.column("row_id").to_pylist()
        taken = [
            one in always or crc32(str(row_id).encode()) % max(1, wanted.of) < wanted.room
            for one, row_id in zip(marks, ids, strict=True)
        ]
        kept = [one not in part or took for one, took in zip(marks, taken, strict=True)]
        chosen = ((one, took) for one, took, keep in zip(marks, taken, kept, strict=True) if keep)
        rows = few.filter(pa.array(kept, pa.bool_())).to_pylist()
        for row, (one, took) in zip(rows, chosen, strict=True):
            findings = asked[one]
            yield (
                row,
                findings if took else [f for f in findings if (f["code"], f["severity"]) != wanted.part],
            )


def _mark(found: Row) -> str:
    """As `Gathered` has it."""
    if found.get("fp") is None:
        return str(found["behaviour"])
    return mark_at(found["fp"], found["kafka_version"])


def _rule(found: Row) -> Rule:
    return found["code"], found["severity"]


def _alone(row: Row, found: Row) -> Row:
    component = row["component"]
    return {
        "deployment": None,
        "owner": row["owner"],
        "cluster": row["cluster"],
        "topic": row["topic"] or (row["name"] if component == "topic" else None),
        "client": row["name"] if component not in ("topic", "broker") else None,
        **_place(row, found["key"]),
    }


def _linked(row: Row, found: Row) -> Row:
    kind, number = re.fullmatch(r"([a-z]*)([0-9]*)", found["slot"] or "").groups()  # type: ignore[union-attr]
    at = None
    if kind in ("producer", "topic"):
        at = row[f"{kind}_at"]
    elif kind in ("broker", "group"):
        several = row["cluster_at" if kind == "broker" else "groups"] or ()
        at = several[int(number or 0)] if int(number or 0) < len(several) else None
        at = at["at"] if at and kind == "group" else at
    told = {name: row[name] for name in ("deployment", "owner", "cluster", "topic", "client")}
    return {**told, **_place(at or {}, found["key"])}


def _place(at: Row, key: str | None) -> Row:
    line = dict(at.get("lines") or ()).get(key, at.get("line"))
    return {"file": at.get("file"), "line": line}
