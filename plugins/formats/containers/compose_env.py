"""The environment of a Compose service as its container sees it: env files, `environment`, `.env` and
the `${X:-default}` forms, each variable with the place it was written at."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from advisor.api import Node

from .envfile import Line, parse_env
from .images import Variable

_T = TypeVar("_T")
_NAME = re.compile(r"[A-Za-z_]\w*")
# Deeper defaults than this are no configuration.
_NESTED_MAX = 20


class Filled:
    """Text after interpolation. What nothing here gives stays as `${X}`; `notes` say what was used."""

    __slots__ = ("notes", "text")

    def __init__(self, text: str, notes: list[str]) -> None:
        self.text = text
        self.notes = notes

    @property
    def note(self) -> str:
        return "; ".join(dict.fromkeys(self.notes))


def interpolate(text: str, known: Mapping[str, str], depth: int = 0) -> Filled:
    """Compose's interpolation. The shell that runs Compose may set any variable, so a value from
    `.env` or a default is noted as such."""
    if "$" not in text:
        return Filled(text, [])
    out: list[str] = []
    notes: list[str] = []
    at = 0
    while True:
        dollar = text.find("$", at)
        if dollar < 0 or dollar + 1 == len(text):
            out.append(text[at:])
            return Filled("".join(out), notes)
        out.append(text[at:dollar])
        follows = text[dollar + 1]
        if follows == "$":
            out.append("$")
            at = dollar + 2
            continue
        if follows == "{":
            end = _closing_brace(text, dollar + 2)
            if end < 0 or depth >= _NESTED_MAX:
                out.append(text[dollar:])
                return Filled("".join(out), notes)
            part = _expression(text[dollar + 2 : end], known, depth)
            at = end + 1
        else:
            name = _NAME.match(text, dollar + 1)
            if not name:
                out.append("$")
                at = dollar + 1
                continue
            part = _expression(name[0], known, depth)
            at = name.end()
        out.append(part.text)
        notes.extend(part.notes)


def _closing_brace(text: str, start: int) -> int:
    depth = 1
    for match in re.compile(r"\$\{|\}").finditer(text, start):
        depth += 1 if match[0] == "${" else -1
        if depth == 0:
            return match.start()
    return -1


def _expression(inside: str, known: Mapping[str, str], depth: int) -> Filled:
    match = _NAME.match(inside)
    if not match:
        return Filled("${" + inside + "}", [])
    name, rest = match[0], inside[match.end() :]
    operator = next((sign for sign in (":-", ":?", ":+", "-", "?", "+") if rest.startswith(sign)), "")
    operand = rest[len(operator) :]
    value = known.get(name)
    given = value is not None and not (operator.startswith(":") and value == "")
    if operator.endswith("+"):
        return interpolate(operand, known, depth + 1) if given else Filled("${" + inside + "}", [])
    if given and value is not None:
        return Filled(value, [f"${{{name}}} from .env"])
    if operator.endswith("-"):
        filled = interpolate(operand, known, depth + 1)
        # The outer default names the inner ones.
        return Filled(filled.text, [f"default of ${{{inside}}}"])
    return Filled(f"${{{name}}}", [])


def beside(file: str, relative: str) -> str:
    """The path of a file named in `file`, as the report shows it."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), relative))


def dotenv(read: Callable[[str], str | None]) -> dict[str, str]:
    """The `.env` beside the Compose file: what interpolation may use."""
    known: dict[str, str] = {}
    for line in parse_env(read(".env") or ""):
        if line.text is not None:
            known[line.name] = line.text if line.literal else interpolate(line.text, known).text
    return known


class Place(NamedTuple):
    """A Compose file: its path as the report shows it, and a reader for paths written in it.

    Many services may name one file, so what was read is kept in `memo` by path.
    """

    file: str
    read: Callable[[str], str | None]
    memo: dict[str, Any]

    def there(self, relative: str) -> Place:
        """The Place of a file that this one names."""
        folder = posixpath.dirname(relative)
        file = beside(self.file, relative)
        return Place(file, lambda path: self.read(posixpath.join(folder, path)), self.memo)

    def load(self, relative: str, parse: Callable[[str], _T]) -> _T | None:
        """A file named here, parsed once; None if it cannot be had."""
        file = beside(self.file, relative)
        if file not in self.memo:
            text = self.read(relative)
            self.memo[file] = None if text is None else parse(text)
        found: _T | None = self.memo[file]
        return found


def environment_of(
    service: Node, place: Place, known: Mapping[str, str], problems: list[str]
) -> dict[str, Variable]:
    """The variables of one service: its env files in order, then `environment`."""
    found: dict[str, Variable] = {}
    for written, line, required in _env_files(service.get("env_file")):
        path = interpolate(written, known).text
        lines = place.load(path, parse_env)
        if lines is not None:
            _add_file(found, lines, beside(place.file, path), known)
        elif required:
            problems.append(f"env_file {path} (line {line}) is missing, too large or outside the root")
    _add_environment(found, service.get("environment"), place.file, known)
    return found


def _env_files(node: Node | None) -> list[tuple[str, int, bool]]:
    if node is None:
        return []
    entries = node.elements if node.kind == "sequence" else [node]
    found = []
    for entry in entries:
        if entry.kind == "scalar" and entry.value:
            found.append((entry.value, entry.line, True))
        elif entry.kind == "mapping":
            path = entry.text_at("path")
            wanted = entry.get("required")
            if path:
                found.append((path, entry.line, wanted is None or wanted.as_bool() is not False))
    return found


def _add_file(found: dict[str, Variable], lines: list[Line], file: str, known: Mapping[str, str]) -> None:
    seen = dict(known)
    for line in lines:
        if line.text is None:
            filled = _from_outside(line.name, known)
        elif line.literal:
            filled = Filled(line.text, [])
        else:
            filled = interpolate(line.text, seen)
        seen[line.name] = filled.text
        found[line.name] = Variable(line.name, filled.text, file, line.line, filled.note)


def _add_environment(
    found: dict[str, Variable], node: Node | None, file: str, known: Mapping[str, str]
) -> None:
    if node is None:
        return
    if node.kind == "mapping":
        for name, key, value in node.pairs():
            if value.kind != "scalar":
                continue
            if value.is_null:
                filled = _from_outside(name, known)
            else:
                filled = interpolate(value.loaded_text(yaml_1_1=False), known)
            found[name] = Variable(name, filled.text, file, key.line, filled.note)
    for element in node.elements:
        name, equals, text = element.text().partition("=")
        name = interpolate(name, known).text.strip()
        if name:
            filled = interpolate(text, known) if equals else _from_outside(name, known)
            found[name] = Variable(name, filled.text, file, element.line, filled.note)


def _from_outside(name: str, known: Mapping[str, str]) -> Filled:
    """A name without a value: Compose takes it from its own shell or from `.env`."""
    if name in known:
        return Filled(known[name], [f"${{{name}}} from .env"])
    return Filled(f"${{{name}}}", ["from the shell that runs Compose"])
