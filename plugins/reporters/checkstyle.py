"""Checkstyle's XML, which Jenkins, reviewdog and most CI servers read: errors by file, line and rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .causes import told_of
from .xml_text import xml_text

_SEVERITIES = {"error": "error", "warning": "warning", "note": "info"}


def render(report: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    path_of = options.get("path_of", str)
    by_file: dict[str, list[str]] = {}
    for finding in report["findings"]:
        if finding["suppressed"] is not None or finding.get("baseline") == "known":
            continue
        at = finding["locations"][0]
        by_file.setdefault(at["file"], []).append(
            f'    <error line="{at["line"] or 1}" severity="{_SEVERITIES[finding["severity"]]}" '
            f'message="{xml_text(told_of(finding))}" source="kafka-advisor.{xml_text(finding["code"])}"/>\n'
        )
    files = "".join(
        f'  <file name="{xml_text(path_of(file))}">\n{"".join(errors)}  </file>\n'
        for file, errors in by_file.items()
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<checkstyle version="10.0">\n{files}</checkstyle>\n'
