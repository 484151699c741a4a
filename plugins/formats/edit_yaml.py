"""One value of a YAML text changed, every other byte kept: a tree that knows its places, and edits on it.

The tree is built from parser events, as the loaders' is, but keeps aliases and merge keys as they are
written: an edit is about the text, not about what it means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from advisor.api import CannotEdit, Splice, inserted_after, line_start, removed_lines

STEP = 2
_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*[ \t]+)*")
_PLAIN = re.compile(r"-?[A-Za-z0-9_./](?:[A-Za-z0-9_./;=+@%$*()\\-]|:(?![\s]|$))*")
_PLAIN_BLOCK = re.compile(r"-?[A-Za-z0-9_./](?:[A-Za-z0-9_./;=+@%$*()\\, -]|:(?![\s]|$))*(?<! )")
_NUMBER = re.compile(r"[-+]?[0-9.][\w.+-]*")
_CANONICAL = re.compile(r"0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)\.[0-9]*[1-9]")
_WORDS = frozenset("yes no on off y n null".split())  # noqa: SIM905


class Spot:
    """A node and its place. kind: scalar | mapping | sequence | alias. An alias has the node it names."""

    __slots__ = (
        "column",
        "elements",
        "end",
        "flow",
        "kind",
        "line",
        "pairs",
        "start",
        "style",
        "target",
        "value",
    )

    def __init__(self, kind: str, event: Any) -> None:
        self.kind = kind
        self.start: int = event.start_mark.index
        self.end: int = event.end_mark.index
        self.line: int = event.start_mark.line + 1
        self.column: int = event.start_mark.column
        self.value: str = getattr(event, "value", "") or ""
        style = getattr(event, "style", None) or ""
        self.style = style if style in ("'", '"', "|", ">") else ""
        self.flow = bool(getattr(event, "flow_style", False))
        self.pairs: list[tuple[Spot, Spot]] = []
        self.elements: list[Spot] = []
        self.target: Spot | None = None

    @property
    def real(self) -> Spot:
        return self.target.real if self.target is not None else self

    @property
    def is_empty(self) -> bool:
        return self.kind == "scalar" and self.start == self.end

    def own(self, name: str) -> tuple[Spot, Spot] | None:
        """The pair of that key that is written here; the last of equal ones."""
        return next((pair for pair in reversed(self.pairs) if pair[0].value == name), None)

    def merged(self) -> list[Spot]:
        """The mappings that `<<` names here."""
        pair = self.own("<<")
        if pair is None:
            return []
        value = pair[1].real
        found = value.elements if value.kind == "sequence" else [value]
        return [one.real for one in found if one.real.kind == "mapping"]

    def find(self, *path: str) -> Spot | None:
        """The node at a path of whole keys, merge keys followed."""
        node: Spot | None = self
        for name in path:
            if node is None or node.real.kind != "mapping":
                return None
            pair = node.real.own(name)
            if pair is not None:
                node = pair[1]
                continue
            inherited = [found for one in node.real.merged() if (found := one.find(name)) is not None]
            node = inherited[0] if inherited else None
        return node


def tree(text: str) -> list[Spot]:
    """One Spot per document. The text was loaded before, so the loaders' limits hold."""
    return spots(_events(text))


def spots(events: Iterator[Any]) -> list[Spot]:
    """The same of any reader's events."""
    roots: list[Spot] = []
    anchors: dict[str, Spot] = {}
    stack: list[Spot] = []
    keys: list[Spot | None] = []

    def place(spot: Spot) -> None:
        if not stack:
            roots.append(spot)
        elif stack[-1].kind == "sequence":
            stack[-1].elements.append(spot)
        elif keys[-1] is None:
            keys[-1] = spot
        else:
            stack[-1].pairs.append((keys[-1], spot))
            keys[-1] = None

    for event in events:
        match type(event).__name__:
            case "ScalarEvent" | "AliasEvent" as name:
                spot = Spot("scalar" if name == "ScalarEvent" else "alias", event)
                if spot.kind == "alias":
                    spot.target = anchors[event.anchor]
                elif event.anchor is not None:
                    anchors[event.anchor] = spot
                place(spot)
            case "MappingStartEvent" | "SequenceStartEvent" as name:
                spot = Spot("mapping" if name == "MappingStartEvent" else "sequence", event)
                if event.anchor is not None:
                    anchors[event.anchor] = spot
                stack.append(spot)
                keys.append(None)
            case "MappingEndEvent" | "SequenceEndEvent":
                spot = stack.pop()
                keys.pop()
                spot.end = event.end_mark.index
                place(spot)
            case "DocumentStartEvent":
                anchors = {}
    return roots


def _events(text: str) -> Iterator[Any]:
    import yaml

    try:
        from yaml.cyaml import CParser  # type: ignore[attr-defined]
    except ImportError:
        CParser = yaml.SafeLoader
    parser = CParser(text)
    try:
        while (event := parser.get_event()) is not None:
            yield event
            if type(event).__name__ == "StreamEndEvent":
                return
    except (yaml.YAMLError, KeyError):
        raise CannotEdit("the YAML text cannot be taken apart") from None


def mappings(roots: Sequence[Spot]) -> Iterator[Spot]:
    """Every mapping, each once: what an alias names is met at its anchor."""
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        if node.kind == "mapping":
            yield node
            waiting += [child for pair in reversed(node.pairs) for child in reversed(pair)]
        elif node.kind == "sequence":
            waiting += reversed(node.elements)


def tail(text: str, spot: Spot) -> int:
    """Where a node's own text ends: line endings, blanks and comments behind it are not its own."""
    if not spot.flow:
        if spot.kind == "mapping" and spot.pairs:
            return tail(text, spot.pairs[-1][1])
        if spot.kind == "sequence" and spot.elements:
            return tail(text, spot.elements[-1])
    return spot.start + len(text[spot.start : spot.end].rstrip())


def scalar(value: str, style: str = "", flow: bool = False, quote_words: bool = False) -> str:
    """A value in the quotes it had, or in quotes where it needs some."""
    if style == "'" and "\n" not in value:
        return "'" + value.replace("'", "''") + "'"
    plain = (_PLAIN if flow else _PLAIN_BLOCK).fullmatch(value) and value.lower() not in _WORDS
    if plain and value != value.lower() and value.lower() in ("true", "false"):
        plain = None
    if plain and _NUMBER.fullmatch(value) and not _CANONICAL.fullmatch(value):
        plain = None
    if plain and not style and not (quote_words and value in ("true", "false")):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def valued(text: str, value: Spot, new: str, flow: bool) -> Splice:
    """Another value in the place of one, in the quotes it had."""
    if value.kind == "alias":
        return Splice(value.start, value.end, scalar(new, flow=flow))
    if value.kind != "scalar":
        raise CannotEdit("it is written as a list or a mapping", value.line)
    if value.is_empty:
        return Splice(value.start, value.end, " " + scalar(new, flow=flow))
    head = _PROPERTIES.match(text, value.start, value.end)
    start = head.end() if head else value.start
    style = value.style if value.style in ("'", '"') else ""
    return Splice(start, tail(text, value), scalar(new, style, flow))


def renamed(key: Spot, name: str) -> Splice:
    if key.kind != "scalar" or key.style in ("|", ">"):
        raise CannotEdit("its key is no plain name", key.line)
    return Splice(key.start, key.end, scalar(name, key.style))


def indent_of(mapping: Spot) -> int:
    return mapping.pairs[0][0].column


def added(
    text: str, mapping: Spot, path: Sequence[str], rendered: str, after: Spot | None = None, step: int = STEP
) -> Splice:
    """A pair more in a mapping that has some, behind `after` or the last: `path` nests what is not there."""
    if not mapping.pairs:
        return _first(text, mapping, path, rendered)
    last_key, last = mapping.pairs[-1]
    if mapping.flow:
        quote = last_key.style if last_key.style in ("'", '"') else ""
        pair = _flow_pair(path, rendered, quote)
        end = max(tail(text, last), last_key.end)
        alone = len(mapping.pairs) > 1 and last_key.line != mapping.pairs[-2][0].line
        between = "\n" + " " * last_key.column if alone or _opens_line(text, last_key) else " "
        return Splice(end, end, "," + between + pair)
    place = after if after is not None else last
    lines = block_lines(path, rendered, indent_of(mapping), step)
    return inserted_after(text, max(tail(text, place), place.start), joined(text, lines))


def _opens_line(text: str, key: Spot) -> bool:
    return not text[line_start(text, key.start) : key.start].strip()


def _first(text: str, mapping: Spot, path: Sequence[str], rendered: str) -> Splice:
    if not mapping.flow:
        raise CannotEdit("there is no mapping to add it to", mapping.line)
    brace = text.index("{", mapping.start)
    return Splice(brace + 1, mapping.end - 1, _flow_pair(path, rendered, ""))


def _flow_pair(path: Sequence[str], rendered: str, quote: str) -> str:
    pair = f"{scalar(path[-1], quote, flow=True)}: {rendered}"
    for name in reversed(path[:-1]):
        pair = f"{scalar(name, quote, flow=True)}: {{{pair}}}"
    return pair


def block_lines(path: Sequence[str], rendered: str, column: int, step: int) -> list[str]:
    names = [" " * (column + depth * step) + scalar(name) + ":" for depth, name in enumerate(path)]
    names[-1] += f" {rendered}"
    return names


def joined(text: str, lines: Sequence[str]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    return newline.join(lines)


def filled(text: str, key: Spot, value: Spot, path: Sequence[str], rendered: str, step: int = STEP) -> Splice:
    """A mapping in the place of a value that is null: `config:` with nothing behind it."""
    if not value.is_empty:
        raise CannotEdit("there is no mapping to add it to", key.line)
    lines = block_lines(path, rendered, key.column + step, step)
    return inserted_after(text, max(value.end, key.end), joined(text, lines))


def element_added(text: str, sequence: Spot, new: str) -> Splice:
    """An element more in a list of scalars, written as the last one is."""
    last = sequence.elements[-1].real
    quoted = scalar(new, last.style if last.style in ("'", '"') else "", sequence.flow)
    last = sequence.elements[-1]
    if sequence.flow:
        end = tail(text, last)
        between = "\n" + " " * last.column if _opens_line(text, last) else " "
        return Splice(end, end, "," + between + quoted)
    head = text[line_start(text, last.start) : last.start]
    if head.strip() != "-":
        raise CannotEdit("the list is not written one element a line", last.line)
    return inserted_after(text, tail(text, last), head + quoted)


def removed(text: str, mapping: Spot, key: Spot, value: Spot) -> Splice:
    """A pair less. Comments on lines of their own stay; one behind the value goes with it."""
    end = max(tail(text, value), key.end)
    place = next(number for number, pair in enumerate(mapping.pairs) if pair[0] is key)
    if not mapping.flow:
        if not _opens_line(text, key):
            raise CannotEdit("it stands on the line of a list's dash", key.line)
        return removed_lines(text, key.start, end)
    if place > 0:
        return Splice(max(tail(text, mapping.pairs[place - 1][1]), mapping.pairs[place - 1][0].end), end, "")
    after = mapping.pairs[1][0].start if len(mapping.pairs) > 1 else end
    return Splice(key.start, after, "")


def element_removed(text: str, sequence: Spot, element: Spot) -> Splice:
    place = next(number for number, one in enumerate(sequence.elements) if one is element)
    if not sequence.flow:
        return removed_lines(text, element.start, tail(text, element))
    if place > 0:
        return Splice(tail(text, sequence.elements[place - 1]), tail(text, element), "")
    after = sequence.elements[1].start if len(sequence.elements) > 1 else tail(text, element)
    return Splice(element.start, after, "")
