"""GitLab's code quality report: what a merge request shows beside the lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.api import json_text, printable

from .causes import told_of

_SEVERITIES = {"error": "critical", "warning": "major", "note": "info"}


def render(report: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    path_of = options.get("path_of", str)
    seen: dict[str, int] = {}
    entries = []
    for finding in report["findings"]:
        if finding["suppressed"] is not None or finding.get("baseline") == "known":
            continue
        at = finding["locations"][0]
        # GitLab drops an entry whose fingerprint it has seen.
        number = seen[finding["fingerprint"]] = seen.get(finding["fingerprint"], 0) + 1
        entries.append(
            {
                "description": printable(f"{finding['code']} {told_of(finding)}"),
                "check_name": finding["code"],
                "fingerprint": finding["fingerprint"] + (f"-{number}" if number > 1 else ""),
                "severity": _SEVERITIES[finding["severity"]],
                "location": {"path": printable(path_of(at["file"])), "lines": {"begin": at["line"] or 1}},
            }
        )
    return json_text(entries) + "\n"
