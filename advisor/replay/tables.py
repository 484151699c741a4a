"""The tables of a result, column by column; README.md beside this file says what each is for."""

from __future__ import annotations

from ..spark.tables import Schemas
from .logs import HOUR_COLUMNS

_WHERE = {"variant": "string", "topic": "string", "partition": "int", "leader": "int", "hour": "timestamp"}
HOURS = {
    **_WHERE,
    **{
        name: kind for name, kind in HOUR_COLUMNS.items() if name not in ("variant", "place", "hour", "began")
    },
}
SCHEMAS: Schemas = {
    "hours": HOURS,
    "segments": {
        "variant": "string", "topic": "string", "partition": "int", "base": "bigint", "bytes": "bigint",
        "began": "timestamp", "closed": "timestamp", "closed_by": "string", "deleted": "timestamp",
        "deleted_by": "string",
    },
    "brokers": {
        "variant": "string", "broker": "int", "hour": "timestamp", "bytes_in": "bigint",
        "bytes_replicated": "bigint", "requests": "bigint", "disk_bytes": "bigint", "files": "bigint",
        "maps": "bigint",
    },
    "keys": {
        "topic": "string", "key": "string", "records": "bigint", "bytes": "bigint", "share": "double",
    },
    "variants": {
        "variant": "string", "setting": "string", "value": "string", "records": "bigint", "batches": "bigint",
        "requests": "bigint", "records_a_batch": "double", "bytes": "bigint", "added_ms": "double",
        "segments": "bigint", "files": "bigint", "retained_bytes": "bigint", "hottest_share": "double",
        "lag_max": "bigint", "knee": "boolean",
    },
    "findings": {
        "code": "string", "name": "string", "severity": "string", "topic": "string", "partition": "int",
        "message": "string", "began": "timestamp", "ended": "timestamp", "run": "array<string>",
    },
    "quarantine": {"topic": "string", "reason": "string", "records": "bigint"},
}  # fmt: skip
TABLES = tuple(SCHEMAS)
