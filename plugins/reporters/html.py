"""The report as one page for a browser: nothing is fetched, every run can be played."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.api import audit_page


def render(report: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    return audit_page(report)
