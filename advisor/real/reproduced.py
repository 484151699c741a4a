"""What was played on real clusters: the table that `python -m tests.real.reproduced` keeps."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def reproduced() -> list[dict[str, Any]]:
    """A line for each finding that was played, with what was seen as audited and with the fix."""
    text = (files(__package__) / "reproduced.json").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(text)
    return rows
