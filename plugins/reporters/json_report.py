"""The JSON report as it is, keys in the order of the contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.api import json_text


def render(report: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    return json_text(report, ascii_only=True) + "\n"
