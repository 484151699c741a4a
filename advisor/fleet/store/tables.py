"""The tables of a result, column by column; README.md beside this file says what each is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_AT = "struct<file:string,line:int,lines:map<string,int>>"
# Column -> Spark type, in the order in which the columns are written.
SCHEMAS: dict[str, dict[str, str]] = {
    "configurations": {
        "row_id": "string", "component": "string", "name": "string", "cluster": "string", "topic": "string",
        "owner": "string", "file": "string", "line": "int", "lines": "map<string,int>", "partitions": "int",
        "rows": "bigint", "reason": "string", "fp": "string", "text": "string",
    },
    "deployments": {
        "deployment": "string", "root": "string", "row_id": "string", "producer": "string", "topic": "string",
        "cluster": "string", "client": "string", "owner": "string", "partitions": "int", "producer_at": _AT,
        "topic_at": _AT,
        "producer_fp": "string", "topic_fp": "string", "cluster_fp": "string",
        "cluster_at": "array<struct<file:string,line:int>>",
        "groups": f"array<struct<fp:string,name:string,at:{_AT}>>", "behaviour": "string",
    },
    "behaviours": {
        "behaviour": "string", "judged": "string", "deployments": "bigint", "profile": "string",
        "kafka_version": "string", "survives_lost": "int", "writes_with_away": "int", "errors": "int",
        "warnings": "int", "notes": "int", "payload": "string",
    },
    "guarantees": {
        "behaviour": "string", "name": "string", "verdict": "string", "bounds": "string", "states": "bigint",
        "depends_on": "array<string>", "reason": "string",
    },
    "findings": {
        "code": "string", "name": "string", "severity": "string", "message": "string", "deployment": "string",
        "root": "string", "owner": "string", "cluster": "string", "topic": "string", "client": "string",
        "partitions": "bigint", "file": "string", "line": "int", "slot": "string", "key": "string",
        "behaviour": "string", "fp": "string", "rows": "bigint", "suppressed": "boolean",
    },
    "quarantine": {
        "row_id": "string", "file": "string", "component": "string", "rows": "bigint", "reason": "string",
    },
    "drift": {
        "scope": "string", "name": "string", "component": "string", "key": "string", "usual": "string",
        "usual_share": "double", "value": "string", "configs": "bigint", "of": "bigint",
    },
    "trend": {
        "run": "string", "at": "string", "deployments": "bigint", "behaviours": "bigint", "errors": "bigint",
        "warnings": "bigint", "notes": "bigint", "quarantined": "bigint",
    },
}  # fmt: skip
TABLES = tuple(SCHEMAS)


def ddl(table: str) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in SCHEMAS[table].items())


def arrow_schema(table: str) -> pa.Schema:
    import pyarrow as pa

    plain = {
        "string": pa.string(), "int": pa.int32(), "bigint": pa.int64(), "double": pa.float64(),
        "boolean": pa.bool_(),
    }  # fmt: skip

    def kind(text: str) -> pa.DataType:
        outer, _, inner = text.removesuffix(">").partition("<")
        if not inner:
            return plain[text]
        if outer == "array":
            return pa.list_(kind(inner))
        parts = _parts(inner)
        if outer == "map":
            return pa.map_(*map(kind, parts))
        return pa.struct([(name, kind(of)) for name, _, of in (part.partition(":") for part in parts)])

    return pa.schema([(name, kind(text)) for name, text in SCHEMAS[table].items()])


def _parts(text: str) -> list[str]:
    """Split by the commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
