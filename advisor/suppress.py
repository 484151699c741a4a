"""Findings that somebody accepted: `[[suppress]]` in kafka-advisor.toml, or a comment beside the line.

`# kafka-advisor: ignore[KA101] reason` counts for its own line, or, alone on a line, for the next line that
is no comment. Suppressed findings stay in the report, marked; they never fail a build.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .loading import FileRecord
from .model import Finding
from .project import Project

_MARK = "kafka-advisor: ignore"


class Suppressions:
    def __init__(self, project: Project, records: Sequence[FileRecord], today: str) -> None:
        self._entries = [entry for entry in project.suppress if not _expired(entry, today)]
        self._texts = {record.file: record.text for record in records if _MARK in record.text}
        self._inline: dict[str, dict[int, list[tuple[tuple[str, ...], str]]]] = {}

    def apply(self, finding: Finding) -> Finding:
        if not self._entries and not self._texts:
            return finding
        for entry in self._entries:
            if _covers(entry, finding):
                return finding._replace(suppressed=(entry.get("reason") or "", "kafka-advisor.toml"))
        for codes, reason in self._comments(finding.at.file).get(finding.at.line or 0, ()):
            if not codes or finding.code in codes or finding.name in codes:
                return finding._replace(suppressed=(reason, f"comment in {finding.at.file}"))
        return finding

    def _comments(self, file: str) -> Mapping[int, list[tuple[tuple[str, ...], str]]]:
        if file not in self._texts:
            return {}
        if file not in self._inline:
            self._inline[file] = inline_comments(self._texts[file])
        return self._inline[file]


def inline_comments(text: str) -> dict[int, list[tuple[tuple[str, ...], str]]]:
    """Line -> (codes, reason) of the comments that speak for it."""
    found: dict[int, list[tuple[tuple[str, ...], str]]] = {}
    waiting: list[tuple[tuple[str, ...], str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.lstrip()
        comment = stripped.startswith(("#", "!", "//"))
        before, mark, rest = line.partition(_MARK)
        if mark and (comment or "#" in before):
            codes, reason = _parse(rest)
            if comment:
                waiting.append((codes, reason))
            else:
                found.setdefault(number, []).append((codes, reason))
        if stripped and not comment and waiting:
            found.setdefault(number, []).extend(waiting)
            waiting = []
    return found


def _parse(rest: str) -> tuple[tuple[str, ...], str]:
    codes = ""
    if rest.startswith("["):
        codes, _, rest = rest[1:].partition("]")
    names = tuple(code.strip() for code in codes.split(",") if code.strip())
    return names, rest.strip().removeprefix("--").strip()


def _expired(entry: Mapping[str, Any], today: str) -> bool:
    expires = entry.get("expires")
    return bool(expires and today and str(expires) < today)


def _covers(entry: Mapping[str, Any], finding: Finding) -> bool:
    from fnmatch import fnmatchcase

    rule = entry.get("rule")
    if rule and rule not in (finding.code, finding.name):
        return False
    path = entry.get("path")
    if path and not fnmatchcase(finding.at.file, path):
        return False
    resource = entry.get("resource")
    return not resource or fnmatchcase(finding.resource, resource)
