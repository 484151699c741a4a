"""Places as a reader wants them: paths as they were typed, and the line itself with its value marked.

The JSON report names files from the root, so that it is the same from any folder; a person clicks on what a
terminal shows, which is relative to where the command was typed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from ..engine import Audit
from ..model import Secret, Unknown
from ..read.load import FileRecord
from ..read.secrets import MASK
from ..tuples import NamedTuple

# In place of what nothing says to be harmless.
HIDDEN = "<hidden>"
PathOf = Callable[[str], str]


class Excerpt(NamedTuple):
    """A line of a file, without its secrets, and where the key and the value that are meant stand in it: from
    and up to a column. What is not found is all of the line."""

    text: str
    key: tuple[int, int]
    value: tuple[int, int]
    shown_value: str

    def meant(self, key: str | None, message: str, by_run: bool) -> tuple[int, int]:
        """The value, if the finding is about it; an unknown key is wrong whatever stands behind it."""
        about_value = by_run or message.startswith(f"{key} = ")
        return self.value if about_value or self.shown_value in message else self.key


def path_namer(base: str, typed: Sequence[str]) -> PathOf:
    """Of a file of the report, the path that the user would have typed."""
    here = os.getcwd()
    tops = [(os.path.abspath(path), path) for path in typed]
    # The longest first: of a folder and a folder in it the inner one is meant.
    tops.sort(key=lambda pair: -len(pair[0]))

    def path_of(file: str) -> str:
        whole = os.path.normpath(os.path.join(base, file))
        for top, written in tops:
            if whole == top:
                return os.path.normpath(written)
            if whole.startswith(top.rstrip(os.sep) + os.sep):
                return os.path.normpath(os.path.join(written, os.path.relpath(whole, top)))
        inside = whole.startswith(here.rstrip(os.sep) + os.sep)
        return os.path.relpath(whole, here) if inside else whole

    return path_of


def line_reader(audit: Audit) -> Callable[[str, int, str | None], Excerpt | None]:
    """`(file, line, key)` gives the line of a file of the report; `key` is the setting that is meant."""
    records = {root.prefix + record.file: record for root in audit.roots for record in root.files}
    hidden: dict[str, Mapping[int, int]] = {}

    def line_of(file: str, line: int, key: str | None) -> Excerpt | None:
        record = records.get(file)
        lines = record.text.split("\n") if record is not None else []
        if record is None or not 0 < line <= len(lines):
            return None
        text = lines[line - 1].rstrip("\r")
        value = _value_at(record, line, key)
        if not _is_plain(text, key, value):
            if file not in hidden:
                hidden[file] = _masks(record)
            bytes_shown = hidden[file].get(line - 1)
            if bytes_shown is not None:
                shown = text.encode("utf-8", "replace")[:bytes_shown].decode("utf-8", "ignore")
                text = shown + (MASK if _is_secret_at(record, line) else HIDDEN)
        return _marked(text.expandtabs(2), key, value)

    return line_of


def span_of(record: FileRecord, line: int, key: str | None, message: str, by_run: bool) -> tuple[int, int]:
    """From and up to which column a finding is about in its line, as the line is written."""
    lines = record.text.split("\n")
    text = lines[line - 1].rstrip("\r") if 0 < line <= len(lines) else ""
    return _marked(text, key, _value_at(record, line, key)).meant(key, message, by_run)


def _value_at(record: FileRecord, line: int, key: str | None) -> str | None:
    """What stands there, if it may be shown."""
    for document in record.documents:
        for setting in document.settings:
            at = setting.origin.at
            if at is not None and at.line == line and at.file == record.file and key in (None, setting.key):
                value = setting.value
                if isinstance(value, Unknown):
                    return value.template
                return None if isinstance(value, Secret) else str(value)
    return None


def _is_secret_at(record: FileRecord, line: int) -> bool:
    return any(
        isinstance(setting.value, Secret) and setting.origin.at is not None and setting.origin.at.line == line
        for document in record.documents
        for setting in document.settings
    )


def _is_plain(text: str, key: str | None, value: str | None) -> bool:
    """`key=value` and nothing else on the line, and the value is one that may be shown."""
    name, sign, rest = text.strip().partition("=")
    return bool(key and value and sign) and name.strip() == key and rest.strip() == value


def _masks(record: FileRecord) -> Mapping[int, int]:
    from .masks import hidden_lines

    secrets = [
        setting.origin.at.line
        for document in record.documents
        for setting in document.settings
        if isinstance(setting.value, Secret) and setting.origin.at is not None and setting.origin.at.line
    ]
    return hidden_lines(record.file, record.text.encode("utf-8", "surrogatepass"), secrets)


def _marked(text: str, key: str | None, value: str | None) -> Excerpt:
    text = text.rstrip()
    bare = len(text) - len(text.lstrip())
    whole = bare, max(bare + 1, len(text))
    separator = min((place for sign in "=:" if (place := text.find(sign)) >= 0), default=-1)
    start = text.find(value, separator + 1) if value else -1
    value_at = (start, start + len(value or "")) if start >= 0 else whole
    # A nested key, `spring.kafka.producer.acks`, has its last part on the line.
    last = (key or "").rpartition(".")[2]
    place = next((text.find(name) for name in (key, last) if name and name in text), -1)
    name = key if key and key in text else last
    key_at = (place, place + len(name)) if place >= 0 else whole
    return Excerpt(text, key_at, value_at, value or "")
