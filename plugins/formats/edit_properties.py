"""One setting of a properties text changed, every other byte kept: Kafka's own files and Spring's."""

import re
from typing import NamedTuple

from advisor.api import (
    CannotEdit,
    Document,
    EditStep,
    Source,
    Splice,
    inserted_after,
    is_template,
    line_end,
    next_line,
    related,
    removed_lines,
    spliced,
)

_BLANKS = " \t\f"
_ENTRY = re.compile(r"((?:\\.|[^\\=: \t\f])*)([ \t\f]*[=:]?[ \t\f]*)", re.DOTALL)


class Row(NamedTuple):
    """An entry's place: the key, the separator and the value, which may run over several lines."""

    key: str
    line: int
    start: int
    key_end: int
    value_start: int
    end: int

    def separator(self, text: str) -> str:
        return text[self.key_end : self.value_start]

    def value(self, text: str) -> str:
        return text[self.value_start : self.end]


def rows(text: str) -> list[Row]:
    """The entries of a properties text, by their places. Escapes stay as written in `key`."""
    found: list[Row] = []
    at, line = 0, 1
    while at < len(text):
        end = line_end(text, at)
        start = at + len(text[at:end]) - len(text[at:end].lstrip(_BLANKS))
        first = line
        if start < end and text[start] not in "#!":
            while _continues(text[start:end]) and next_line(text, end) < len(text):
                end = line_end(text, next_line(text, end))
                line += 1
            parts = _ENTRY.match(text, start, end)
            assert parts is not None
            found.append(Row(_plain(parts[1]), first, start, parts.end(1), parts.end(2), end))
        after = next_line(text, end)
        line += 1
        at = after if after > end else len(text)
    return found


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _plain(key: str) -> str:
    return re.sub(r"\\(.)", r"\1", key) if "\\" in key else key


def escaped_key(key: str) -> str:
    return re.sub(r"([\\=: \t]|^[#!])", r"\\\1", key)


def escaped_value(value: str) -> str:
    text = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return "\\" + text if text[:1] in (" ", "\f") else text


def row_at(found: list[Row], step: EditStep) -> Row:
    here = [row for row in found if row.line == step.line]
    if len(here) != 1:
        raise CannotEdit(f"{step.key} is not found where it was read", step.line)
    return here[0]


def edit(source: Source, document: Document, step: EditStep) -> str:
    """The text with one setting set, added, renamed or removed."""
    text = source.text
    found = rows(text)
    if step.action == "add":
        return spliced(text, added(text, found, step.key, escaped_key(step.key), step.value))
    row = row_at(found, step)
    if row.key != step.key:
        raise CannotEdit(f"{step.key} is not written as an entry of a properties file", step.line)
    return changed(text, row, step, escaped_key(step.value))


def changed(text: str, row: Row, step: EditStep, new_name: str) -> str:
    """What `set`, `rename` and `remove` do to one entry, in any properties file."""
    if step.action == "rename":
        return spliced(text, Splice(row.start, row.key_end, new_name))
    if step.action == "remove":
        return spliced(text, removed_lines(text, row.start, row.end))
    if is_template(row.value(text)):
        raise CannotEdit(f"{step.key} is filled in elsewhere ({row.value(text).strip()})", row.line)
    separator = "" if row.separator(text) else "="
    return spliced(text, Splice(row.value_start, row.end, separator + escaped_value(step.value)))


def added(text: str, found: list[Row], key: str, name: str, value: str) -> Splice:
    """A line for a new entry: behind its kin, else behind the last entry, with the separator used there."""
    if not found:
        raise CannotEdit("the file has no setting beside which to add one")
    kin = related(key, [row.key for row in found])
    beside = found[-1] if kin is None else found[kin]
    indent = re.match(r"[ \t\f]*", text[line_begin(text, beside) : beside.start])
    styled = [row.separator(text) for row in (beside, *found) if row.separator(text).strip()]
    separator = styled[0] if styled else "="
    line = (indent[0] if indent else "") + name + separator + escaped_value(value)
    return inserted_after(text, beside.end, line)


def line_begin(text: str, row: Row) -> int:
    return max(text.rfind("\n", 0, row.start), text.rfind("\r", 0, row.start)) + 1
