"""The published JSON Schemas (rule pack, project file, report), and errors that name a line of the file."""

from __future__ import annotations

from typing import Any


def load_schema(name: str) -> dict[str, Any]:
    """The schema `pack`, `project` or `report`."""
    import json

    schema: dict[str, Any] = json.loads(schema_text(name))
    return schema


def schema_text(name: str) -> str:
    import os

    with open(os.path.join(os.path.dirname(__file__), f"{name}.schema.json"), encoding="utf-8") as file:
        return file.read()
