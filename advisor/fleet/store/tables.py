"""The tables of a result, column by column; README.md beside this file says what each is for."""

from __future__ import annotations

from ...spark.tables import Schemas

_AT = "struct<file:string,line:int,lines:map<string,int>>"
# Column -> Spark type, in the order in which the columns are written.
SCHEMAS: Schemas = {
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
    "clusters": {
        "cluster": "string", "kafka_version": "string", "brokers": "int", "deployments": "bigint",
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
        "behaviour": "string", "fp": "string", "kafka_version": "string", "row_id": "string",
        "rows": "bigint", "suppressed": "boolean",
    },
    "quarantine": {
        "row_id": "string", "file": "string", "component": "string", "rows": "bigint", "reason": "string",
    },
    "drift": {
        "scope": "string", "name": "string", "component": "string", "key": "string", "usual": "string",
        "usual_share": "double", "value": "string", "configs": "bigint", "of": "bigint",
    },
    "changes": {
        "change": "string", "code": "string", "name": "string", "severity": "string", "owner": "string",
        "findings": "bigint",
    },
    "trend": {
        "run": "string", "at": "string", "deployments": "bigint", "behaviours": "bigint", "errors": "bigint",
        "warnings": "bigint", "notes": "bigint", "quarantined": "bigint",
    },
}  # fmt: skip
TABLES = tuple(SCHEMAS)
