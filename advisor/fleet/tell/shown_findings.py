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

from .gathered import Gathered, Row, Rule, Shown

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
        for row, findings in _picked(store, name, read, asked, wanted, {*examples.values()}):
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
        mark = found.get("fp") or found["behaviour"]
        rule = _rule(found)
        if not found["suppressed"] and (rule in whole or examples.get(rule) == mark):
            (alone if found.get("fp") else joint).setdefault(mark, []).append(found)
    return alone, joint


def _rarest(gathered: Gathered, rules: Iterable[Rule]) -> dict[Rule, str]:
    """Of each rule the behaviour or configuration that the fewest rows have."""
    first: dict[Rule, tuple[int, str]] = {}
    for found in gathered.findings():
        told = found["rows"], found.get("fp") or found["behaviour"]
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
) -> Iterator[tuple[Row, list[Row]]]:
    """Rows with what is shown of them. Of those that have the rule in `part` alone, one in some is taken."""
    if not asked:
        return
    part = {mark for mark, found in asked.items() if all(_rule(one) == wanted.part for one in found)}
    for batch in store.batches(table, columns, sorted(asked)):
        few = batch.filter(pc.is_in(batch.column(columns[0]), pa.array(sorted(asked))))
        marks, ids = (few.column(name).to_pylist() for name in (columns[0], "row_id"))
        taken = [
            mark in always or crc32(str(one).encode()) % max(1, wanted.of) < wanted.room
            for mark, one in zip(marks, ids, strict=True)
        ]
        kept = [mark not in part or took for mark, took in zip(marks, taken, strict=True)]
        chosen = (took for took, keep in zip(taken, kept, strict=True) if keep)
        for row, took in zip(few.filter(pa.array(kept, pa.bool_())).to_pylist(), chosen, strict=True):
            findings = asked[row[columns[0]]]
            yield (
                row,
                findings if took else [f for f in findings if (f["code"], f["severity"]) != wanted.part],
            )


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
