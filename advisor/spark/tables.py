"""Columns of tables, written as Spark's types: "bigint", "array<string>", "struct<file:string,line:int>"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# Column -> Spark type, in the order in which the columns are written.
Columns = Mapping[str, str]
Schemas = Mapping[str, Columns]


def ddl(columns: Columns) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())


def arrow_schema(columns: Columns) -> pa.Schema:
    import pyarrow as pa

    plain = {
        "string": pa.string(), "int": pa.int32(), "bigint": pa.int64(), "double": pa.float64(),
        "boolean": pa.bool_(), "timestamp": pa.timestamp("us", tz="UTC"), "binary": pa.binary(),
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

    return pa.schema([(name, kind(text)) for name, text in columns.items()])


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
