"""JSON as the same tree that YAML gives: Nodes that know their lines, under the same limits.

Read by hand, because Python's reader drops the lines. A template's place, `{{ x }}` or `${x}`, may stand
where a value stands: it is a plain scalar, so that a file that is filled in elsewhere can still be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..model import LoadError
from .yamltree import BYTES_MAX, DEPTH_MAX, Node, nodes_of

_BLANK = re.compile(r"[ \t\r\n\f]*+")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_WORD = re.compile(r"[\w.+-]++")
_NUMBER = re.compile(r"-?[0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+")
_LONE = re.compile("[\ud800-\udfff]")
_NOT_JSON = "not readable as JSON"


class Mark:
    """A place: how many characters come before it, its line and its column, all from 0."""

    __slots__ = ("column", "index", "line")

    def __init__(self, index: int, line: int, column: int) -> None:
        self.index, self.line, self.column = index, line, column


class _Event:
    """What YAML's parser says of a node, in its words: the same readers take both."""

    __slots__ = ("anchor", "end_mark", "flow_style", "start_mark", "style", "tag", "value")

    def __init__(self, start: Mark, end: Mark, value: str = "", style: str = "") -> None:
        self.start_mark, self.end_mark = start, end
        self.value, self.style = value, style
        self.anchor = self.tag = None
        self.flow_style = True


class ScalarEvent(_Event):
    pass


class MappingStartEvent(_Event):
    pass


class MappingEndEvent(_Event):
    pass


class SequenceStartEvent(_Event):
    pass


class SequenceEndEvent(_Event):
    pass


def parse_json(text: str) -> list[Node]:
    """One Node per value of `text`. What cannot be read, or exceeds a limit, is a LoadError."""
    if len(text) > BYTES_MAX:
        raise LoadError(f"the JSON text is larger than {BYTES_MAX // 1024 // 1024} MiB")
    return nodes_of(json_events(text))


def json_events(text: str) -> Iterator[Any]:
    """The nodes of a JSON text in the order they begin and end, each with its place."""
    return _Scanner(text).events()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        # Lines are counted once, from where they were counted last.
        self._line, self._line_start, self._counted = 0, 0, 0

    def events(self) -> Iterator[_Event]:
        """One value after another; a container is opened, filled and closed without recursion."""
        closers: list[str] = []
        opened = False  # a container was opened just now: it may be empty, and no comma comes first
        while self._skip_blank():
            if closers:
                if self._text.startswith(closers[-1], self._at):
                    yield self._end(closers.pop())
                    opened = False
                    continue
                if not opened:
                    self._expect(",", f"a comma or {closers[-1]}")
                if closers[-1] == "}":
                    yield self._string("a key in quotes")
                    self._expect(":", "a colon")
            begins = self._text[self._at : self._at + 1]
            if begins in ("{", "[") and not self._text.startswith("{{", self._at):
                if len(closers) >= DEPTH_MAX:
                    raise LoadError(f"the JSON text is nested deeper than {DEPTH_MAX} levels", self._line + 1)
                start = self._mark()
                self._at += 1
                yield (MappingStartEvent if begins == "{" else SequenceStartEvent)(start, self._mark())
                closers.append("}" if begins == "{" else "]")
                opened = True
                continue
            yield self._string("a value") if begins == '"' else self._bare()
            opened = False
        if closers:
            raise self._error(f"{closers[-1]} is missing at its end")

    def _skip_blank(self) -> bool:
        found = _BLANK.match(self._text, self._at)
        assert found is not None, "it may be empty"
        self._at = found.end()
        return self._at < len(self._text)

    def _mark(self) -> Mark:
        new = self._text.count("\n", self._counted, self._at)
        if new:
            self._line += new
            self._line_start = self._text.rfind("\n", self._counted, self._at) + 1
        self._counted = self._at
        return Mark(self._at, self._line, self._at - self._line_start)

    def _error(self, wanted: str) -> LoadError:
        return LoadError(f"{_NOT_JSON}: {wanted}", self._mark().line + 1)

    def _end(self, closer: str) -> _Event:
        start = self._mark()
        self._at += 1
        return (MappingEndEvent if closer == "}" else SequenceEndEvent)(start, self._mark())

    def _expect(self, sign: str, wanted: str) -> None:
        self._skip_blank()
        if not self._text.startswith(sign, self._at):
            raise self._error(f"{wanted} is missing")
        self._at += 1
        self._skip_blank()

    def _string(self, wanted: str) -> _Event:
        found = _STRING.match(self._text, self._at)
        if found is None:
            raise self._error(f"{wanted} is missing")
        start = self._mark()
        self._at = found.end()
        return ScalarEvent(start, self._mark(), self._unescaped(found[0], start), '"')

    def _unescaped(self, quoted: str, start: Mark) -> str:
        if "\\" not in quoted:
            return quoted[1:-1]
        import json

        try:
            value: str = json.loads(quoted, strict=False)
        except ValueError:
            raise LoadError(f"{_NOT_JSON}: an escape that JSON does not know", start.line + 1) from None
        return _LONE.sub("\ufffd", value)

    def _bare(self) -> _Event:
        start = self._mark()
        for opener, closer in (("{{", "}}"), ("${", "}"), ("<%", "%>")):
            if self._text.startswith(opener, self._at):
                end = self._text.find(closer, self._at)
                if end < 0:
                    raise self._error(f"{opener} is never closed")
                value = self._text[self._at : end + len(closer)]
                self._at = end + len(closer)
                return ScalarEvent(start, self._mark(), value)
        found = _WORD.match(self._text, self._at)
        if found is None or not (found[0] in ("true", "false", "null") or _NUMBER.fullmatch(found[0])):
            raise self._error("a value is missing")
        self._at = found.end()
        return ScalarEvent(start, self._mark(), found[0])
