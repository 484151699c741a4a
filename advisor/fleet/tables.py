"""The tables of a result, column by column; README.md beside this file says what each is for."""

from __future__ import annotations

_AT = "struct<file:string,line:int,lines:map<string,int>>"
# Column -> Spark type, in the order in which the columns are written.
SCHEMAS: dict[str, dict[str, str]] = {
    "deployments": {
        "deployment": "string", "root": "string", "row_id": "string", "producer": "string", "topic": "string",
        "cluster": "string", "owner": "string", "partitions": "int", "producer_at": _AT, "topic_at": _AT,
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
        "partitions": "int", "file": "string", "line": "int", "key": "string", "judged": "string",
        "suppressed": "boolean",
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


# What a worker says of one distinct configuration or deployment; the rest of the payload stays text.
FINDING = (
    "struct<code:string,name:string,severity:string,message:string,slot:string,key:string,"
    "suppressed:struct<reason:string,by:string>>"
)
JUDGED = (
    "struct<profile:string,version:string,headline:struct<survives_lost:int,writes_with_away:int>,"
    f"findings:array<{FINDING}>,guarantees:array<struct<name:string,verdict:string,bounds:string,"
    "states:bigint,depends_on:array<string>,reason:string>>>"
)
