"""Java properties text, read as java.util.Properties.load reads it, with the line of every entry.

Most lines of most files hold no backslash, so those are split by one regular expression; only a line
with a backslash takes the slow path of continuations and escapes.
"""

import re

from ..model import LoadError
from ..tuples import NamedTuple
from .pattern import pattern

ENTRIES_MAX = 1_000_000

_BLANKS = " \t\f"
# The key ends at the first separator; blanks around one `=` or `:` belong to neither side.
_PLAIN = pattern(r"([^=: \t\f]*)[ \t\f]*[=:]?[ \t\f]*")
# The same with a backslash protecting what follows it; the branches never overlap, so it cannot backtrack.
_ESCAPED = pattern(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL)
_ESCAPE = pattern(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class Entry(NamedTuple):
    """A key and its value, and the line where the key begins. Equal keys are kept, in order."""

    key: str
    value: str
    line: int


class EntrySpan(NamedTuple):
    """An entry's place: its first and last line, and where on the first its value begins."""

    key: str
    value: str
    first: int
    last: int
    column: int


def entry_spans(text: str) -> list[EntrySpan]:
    """The places of all entries; an escape that Java refuses is left as it is written."""
    lines = text.replace("\r\n", "\n").split("\n")
    found: list[EntrySpan] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        first = number = number + 1
        bare = line.lstrip(_BLANKS)
        if not bare or bare[0] in "#!":
            continue
        pieces = [bare]
        while _continues(pieces[-1]) and number < len(lines):
            pieces[-1] = pieces[-1][:-1]
            pieces.append(lines[number].lstrip(_BLANKS))
            number += 1
        logical = "".join(pieces)
        parts = _ESCAPED.match(logical)
        assert parts is not None  # every part of the pattern may be empty
        column = min(len(line) - len(bare) + parts.end(), len(line))
        found.append(EntrySpan(parts[1].replace("\\", ""), logical[parts.end() :], first, number, column))
    return found


def parse_properties(text: str) -> list[Entry]:
    """The entries of a properties text. LoadError on a broken `\\uXXXX` and on too many entries."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    entries: list[Entry] = []
    plain = _PLAIN.match
    resume = 0
    for number, line in enumerate(lines, 1):
        if number <= resume:
            continue
        line = line.lstrip(_BLANKS)
        if not line or line[0] in "#!":
            continue
        if "\\" in line:
            entry, resume = _entry_with_escapes(lines, number)
            if entry is not None:
                entries.append(entry)
            continue
        parts = plain(line)
        assert parts is not None  # every part of the pattern may be empty
        entries.append(Entry(parts[1], line[parts.end() :], number))
    if len(entries) > ENTRIES_MAX:
        raise LoadError(f"more than {ENTRIES_MAX} entries", entries[ENTRIES_MAX].line)
    return entries


def _entry_with_escapes(lines: list[str], first: int) -> tuple[Entry | None, int]:
    """The entry whose logical line begins on line `first`, and the last line it takes.

    The one difference from Java: a file that ends in a lone backslash has no entry there, where Java
    makes one of an empty key and an empty value.
    """
    logical = ""
    last = first
    for last in range(first, len(lines) + 1):
        line = lines[last - 1].lstrip(_BLANKS)
        if not logical and line[:1] in ("#", "!"):
            # A lone backslash joins nothing to the next line, which may then be a comment of its own.
            return None, last
        if not _continues(line):
            logical += line
            break
        logical += line[:-1]
    if not logical:
        return None, last
    parts = _ESCAPED.match(logical)
    assert parts is not None
    key = _unescape(parts[1], first)
    return Entry(key, _unescape(logical[parts.end() :], first), first), last


def _continues(line: str) -> bool:
    """An odd number of backslashes at the end joins the next line; an even number is text."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _unescape(text: str, line: int) -> str:
    if "\\" not in text:
        return text

    def plain(found: re.Match[str]) -> str:
        escape = found[1]
        if escape[0] != "u":
            return _CONTROLS.get(escape, escape)
        if len(escape) != 5:
            raise LoadError("malformed \\uXXXX escape: Java refuses to load this file", line)
        return chr(int(escape[1:], 16))

    return _ESCAPE.sub(plain, text)
