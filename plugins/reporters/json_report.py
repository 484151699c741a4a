"""The JSON report as it is, keys in the order of the contract."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def render(report: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    return json.dumps(report, indent=2, ensure_ascii=True) + "\n"
