"""Findings that somebody accepted: `[[suppress]]` in kafka-advisor.toml, or a comment beside the line.

`# kafka-advisor: ignore[KA101] reason` counts for its own line, or, alone on a line, for the next line that
is no comment. Behind a value of a .properties file it is no comment: Java takes it for a part of the value.
Suppressed findings stay in the report, marked; they never fail a build.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..model import Finding
from ..read.load import FileRecord
from ..read.project import Project

_MARK = "kafka-advisor: ignore"
_LINE_END = re.compile(r"\r\n|\r|\n")


class Suppressions:
    def __init__(self, project: Project, records: Sequence[FileRecord], today: str) -> None:
        self._entries = [
            (index, entry) for index, entry in enumerate(project.suppress) if not is_expired(entry, today)
        ]
        # By their numbers in the file.
        self.used: set[int] = set()
        # Of comments: file, the line that it speaks for, what it names.
        self.used_comments: set[tuple[str, int, str]] = set()
        self._records = {record.file: record for record in records if _MARK in record.text}
        self.inline = bool(self._records)
        self._inline: dict[str, dict[int, list[tuple[tuple[str, ...], str]]]] = {}

    def apart(self) -> Suppressions:
        """The same for findings that nobody has yet: what they use is not noted."""
        other = Suppressions.__new__(Suppressions)
        other.__dict__.update(self.__dict__, used=set(), used_comments=set())
        return other

    def apply(self, finding: Finding) -> Finding:
        if not self._entries and not self._records:
            return finding
        for index, entry in self._entries:
            if _covers(entry, finding):
                self.used.add(index)
                return finding._replace(suppressed=(entry.get("reason") or "", "kafka-advisor.toml"))
        line = finding.at.line or 0
        for codes, reason in self._comments(finding.at.file).get(line, ()):
            named = [code for code in codes if code in (finding.code, finding.name)]
            if named or not codes:
                self.used_comments.update((finding.at.file, line, code) for code in named or [""])
                return finding._replace(suppressed=(reason, f"comment in {finding.at.file}"))
        return finding

    def _comments(self, file: str) -> Mapping[int, list[tuple[tuple[str, ...], str]]]:
        record = self._records.get(file)
        if record is None:
            return {}
        if file not in self._inline:
            self._inline[file] = inline_comments_of(record)
        return self._inline[file]


def inline_comments_of(record: FileRecord) -> dict[int, list[tuple[tuple[str, ...], str]]]:
    if _MARK not in record.text:
        return {}
    java = record.format == "properties" or record.file.lower().endswith(".properties")
    return inline_comments(record.text, trailing=not java)


def inline_comments(text: str, trailing: bool = True) -> dict[int, list[tuple[tuple[str, ...], str]]]:
    """Line -> (codes, reason) of the comments that speak for it; `trailing`: a comment may follow a value."""
    found: dict[int, list[tuple[tuple[str, ...], str]]] = {}
    waiting: list[tuple[tuple[str, ...], str]] = []
    for number, line in enumerate(_LINE_END.split(text), 1):
        stripped = line.lstrip()
        comment = stripped.startswith(("#", "!", "//"))
        before, mark, rest = line.partition(_MARK)
        if mark and (comment or (trailing and "#" in before)):
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


def is_expired(entry: Mapping[str, Any], today: str) -> bool:
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
