"""GitHub's workflow commands: an annotation for each finding, on its line of the pull request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.api import printable

from .causes import change_text

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    path_of = options.get("path_of", str)
    titles = {rule["code"]: rule["title"] for rule in report.get("rules", ())}
    lines = []
    for finding in report["findings"]:
        if finding["suppressed"] is not None or finding.get("baseline") == "known":
            continue
        at = finding["locations"][0]
        title = f"{finding['code']} {titles.get(finding['code'], finding['name'])}"
        words = [f"file={_property(path_of(at['file']))}"]
        words += [f"line={at['line']}"] if at["line"] is not None else []
        words.append(f"title={_property(title)}")
        text = "%0A".join(_text(part) for part in _parts(finding))
        lines.append(f"::{_COMMANDS[finding['severity']]} {','.join(words)}::{text}\n")
    return "".join(lines)


def _parts(finding: Mapping[str, Any]) -> list[str]:
    parts = [finding["message"]]
    parts += [f"Assuming: {'; '.join(finding['assuming'])}"] if finding["assuming"] else []
    for fix in finding["fixes"][:1]:
        parts.append(f"Fix: {', '.join(change_text(change) for change in fix['changes'])}")
        parts += [f"Cost: {fix['price']}"] if fix["price"] else []
    return [*parts, f"More: kafka-advisor explain {finding['code']}"]


def _text(value: str) -> str:
    """What a file holds must not end the command or begin another."""
    return printable(value).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _text(value).replace(":", "%3A").replace(",", "%2C")
