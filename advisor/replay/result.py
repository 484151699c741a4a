"""What a replay gives back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..tuples import NamedTuple


class ReplayResult(NamedTuple):
    """`folder` holds the tables, summary.json, workload.toml and report.html."""

    summary: Mapping[str, Any]
    folder: str
