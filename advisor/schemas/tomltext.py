"""TOML read by tomllib, with the line of every key and element, which tomllib does not tell.

The scan for lines runs on text that tomllib has accepted, so it may take the grammar for granted.
"""

from __future__ import annotations

from typing import Any

from ..model import UsageError
from ..syntax.numbers import LONG, integer

Path = tuple[str | int, ...]
# A pack or project file is written by hand; beyond this it is something else.
BYTES_MAX = 4 * 1024 * 1024


class Lines(dict[Path, int]):
    """The line of each path; paths are those of the parsed value."""

    def of(self, path: Path) -> int:
        """The line of the path, or of the nearest part around it that the file shows."""
        while path and path not in self:
            path = path[:-1]
        return self.get(path, 1)


def read_toml(file: str, data: bytes) -> tuple[dict[str, Any], Lines]:
    """The value of a TOML file, dates as ISO text, and its lines; a UsageError names file and line."""
    import tomllib

    if len(data) > BYTES_MAX:
        raise UsageError(f"{file}: {len(data)} bytes are more than a hand-written file has ({BYTES_MAX})")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{file}:{line}: is not UTF-8, which TOML must be") from None
    text = text.replace("\r\n", "\n")
    try:
        value = tomllib.loads(text)
        lines = _Scan(text).lines()
        return _plain(value, lines, ()), lines
    except RecursionError:
        raise UsageError(f"{file}: is nested too deeply") from None
    except _Refused as error:
        raise UsageError(f"{file}:{error.line}: {error}") from None
    except ValueError as error:
        if not isinstance(error, tomllib.TOMLDecodeError):
            # int() refuses thousands of digits, and says how to allow them.
            raise UsageError(f"{file}:{_line_of_digits(text)}: {_TOO_LARGE}") from None
        line, what = _place(str(error), text)
        raise UsageError(f"{file}:{line}: is not valid TOML: {what}") from None


def _place(message: str, text: str) -> tuple[int, str]:
    """tomllib ends its messages with `(at line 3, column 5)` or `(at end of document)`."""
    what, _, place = message.rpartition(" (at ")
    if place.startswith("line "):
        number = place[5:].partition(",")[0]
        found = integer(number)
        if found is not None:
            return found, what
    return text.rstrip().count("\n") + 1, what or message


_TOO_LARGE = "a whole number does not fit into 64 bits"


class _Refused(ValueError):
    """A value that TOML has and that nothing here can mean."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


def _line_of_digits(text: str) -> int:
    import re

    found = re.search(r"[0-9][0-9_]{999}", text)
    return text.count("\n", 0, found.start() if found else 0) + 1


def _plain(value: Any, lines: Lines, path: Path) -> Any:
    """JSON's own types only: dates become text, and no number is beyond JSON or beyond TOML's 64 bits."""
    if isinstance(value, dict):
        return {key: _plain(item, lines, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, lines, (*path, index)) for index, item in enumerate(value)]
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        raise _Refused(lines.of(path), "nan and inf are no values here")
    if isinstance(value, int) and not LONG[0] <= value <= LONG[1]:
        raise _Refused(lines.of(path), _TOO_LARGE)
    return value if isinstance(value, str | int | float) else value.isoformat()


class _Scan:
    """One pass over the text; `found` maps each path to the offset where it is first written."""

    def __init__(self, text: str) -> None:
        self.text = text + "\n"
        self.at = 0
        self.found: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}

    def lines(self) -> Lines:
        base: Path = ()
        while True:
            self.skip(" \t\n")
            if self.at >= len(self.text):
                break
            if self.text[self.at] == "[":
                base = self.header()
            else:
                self.pair(base)
        line, before, result = 1, 0, Lines()
        for path, offset in sorted(self.found.items(), key=lambda item: item[1]):
            line += self.text.count("\n", before, offset)
            before = offset
            result[path] = line
        return result

    def skip(self, blanks: str) -> None:
        """Move over blanks and comments."""
        while self.at < len(self.text):
            if self.text[self.at] == "#":
                self.at = self.text.index("\n", self.at)
            elif self.text[self.at] in blanks:
                self.at += 1
            else:
                return

    def header(self) -> Path:
        start = self.at
        many = self.text.startswith("[[", self.at)
        self.at += 2 if many else 1
        parts = self.key()
        self.at += 2 if many else 1
        path: Path = ()
        for part in parts[:-1]:
            path = self.inside((*path, part))
            self.found.setdefault(path, start)
        path = (*path, parts[-1])
        if many:
            self.found.setdefault(path, start)
            self.counts[path] = self.counts.get(path, 0) + 1
            path = self.inside(path)
        self.found[path] = start
        return path

    def inside(self, path: Path) -> Path:
        """A path through an array of tables goes on in its last table."""
        return (*path, self.counts[path] - 1) if path in self.counts else path

    def key(self) -> list[str]:
        parts: list[str] = []
        while True:
            self.skip(" \t")
            start = self.at
            if self.text[start] in "\"'":
                self.string()
                parts.append(self.unquoted(self.text[start : self.at]))
            else:
                while self.text[self.at] not in " \t.=]":
                    self.at += 1
                parts.append(self.text[start : self.at])
            self.skip(" \t")
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    @staticmethod
    def unquoted(raw: str) -> str:
        if raw[0] == "'" or "\\" not in raw:
            return raw[1:-1]
        import tomllib

        return str(tomllib.loads(f"k = {raw}")["k"])

    def pair(self, base: Path) -> None:
        start = self.at
        path = base
        for part in self.key():
            path = (*path, part)
            self.found.setdefault(path, start)
        self.at += 1
        self.skip(" \t")
        self.value(path)

    def value(self, path: Path) -> None:
        opening = self.text[self.at]
        if opening in "\"'":
            self.string()
        elif opening == "[":
            self.at += 1
            self.items(path, "]")
        elif opening == "{":
            self.at += 1
            self.items(path, "}")
        else:
            while self.text[self.at] not in ",]}#\n":
                self.at += 1

    def items(self, path: Path, closing: str) -> None:
        index = 0
        while True:
            self.skip(" \t\n,")
            if self.text[self.at] == closing:
                self.at += 1
                return
            if closing == "}":
                self.pair(path)
            else:
                self.found[(*path, index)] = self.at
                self.value((*path, index))
                index += 1

    def string(self) -> None:
        quote = self.text[self.at]
        fence = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        self.at += len(fence)
        while not self.text.startswith(fence, self.at):
            self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
        self.at += len(fence)
        # A multi-line string may end in up to two quotes of its own.
        while len(fence) == 3 and self.text[self.at] == quote:
            self.at += 1
