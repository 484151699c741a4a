"""What a run over a fleet gives back."""

from __future__ import annotations

from typing import Any, NamedTuple


class FleetResult(NamedTuple):
    """`folder` holds the tables; `summary` is summary.json."""

    folder: str
    summary: dict[str, Any]
