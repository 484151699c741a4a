"""What was played on real clusters and asked of Kafka's own classes: tables that tests/real keeps."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def reproduced() -> list[dict[str, Any]]:
    """A line for each finding that was played, with what was seen as audited and with the fix
    (`python -m tests.real.reproduced`)."""
    return _rows("reproduced.json")


def checked() -> list[dict[str, Any]]:
    """A line for each draw of random cases: how many agreed at first contact
    (`python -m tests.real.classes`, `python -m tests.real.failover_lanes`)."""
    return _rows("checked.json")


def _rows(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((files(__package__) / name).read_text(encoding="utf-8"))
    return rows
