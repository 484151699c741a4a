"""YAML as a tree that knows its lines: one Node per document, built from parser events.

Events, not a loader: no tag is ever constructed, scalars keep the text they were written with, and the
limits hold while the tree grows. Only the events are safe to take from the C library: its composer
recurses and crashes the process on deep nesting, its scanner and parser do not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ..model import LoadError
from .numbers import is_digits

BYTES_MAX = 32 * 1024 * 1024
NODES_MAX = 1_000_000
DEPTH_MAX = 200
# libyaml compares each %TAG line with all before it.
DIRECTIVES_MAX = 100

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLS = {
    text: meaning
    for words, meaning in (("true True TRUE", True), ("false False FALSE", False))
    for text in words.split()
}
_BOOLS_1_1 = _BOOLS | {
    text: meaning
    for words, meaning in (("y Y yes Yes YES on On ON", True), ("n N no No NO off Off OFF", False))
    for text in words.split()
}
_INT = re.compile(r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?")
_STR_TAG = "tag:yaml.org,2002:str"
_NULL_TAG = "tag:yaml.org,2002:null"


class Node:
    """A scalar, mapping or sequence.

    value: a scalar's text exactly as written (`0x10`, `True`), None if it is null or no scalar.
    style: how a scalar was written: "" plain, "'" or '"' quoted, "|" or ">" block.
    items: a mapping's pairs, merge keys resolved, each key once. duplicates: pairs that a later pair
    with the same key replaced. line, end_line: 1-based; a block scalar's text starts at line + 1.
    An alias is the very node it names, so its lines are those of the anchor.
    """

    __slots__ = (
        "_height",
        "_index",
        "_size",
        "duplicates",
        "elements",
        "end_line",
        "items",
        "kind",
        "line",
        "style",
        "tag",
        "value",
    )

    def __init__(self, kind: str, line: int, tag: str | None = None) -> None:
        self.kind = kind
        self.value: str | None = None
        self.style = ""
        self.tag = tag
        self.line = line
        self.end_line = line
        # Most nodes are scalars: they share one empty list of each kind.
        self.items: list[tuple[Node, Node]] = [] if kind == "mapping" else _NO_PAIRS
        self.elements: list[Node] = [] if kind == "sequence" else _NO_NODES
        self.duplicates: list[tuple[Node, Node]] = _NO_PAIRS
        self._index: dict[str, Node] | None = None
        self._size = 1
        self._height = 1

    def __repr__(self) -> str:
        return f"<{self.kind} line {self.line}>"

    def get(self, *path: str | int) -> Node | None:
        """The node at `path`: a string is a mapping's whole key, a number a place in a sequence."""
        node: Node | None = self
        for step in path:
            if node is None:
                return None
            if isinstance(step, int):
                node = node.elements[step] if -len(node.elements) <= step < len(node.elements) else None
            else:
                node = node._keys().get(step)
        return node

    def _keys(self) -> dict[str, Node]:
        if self._index is None:
            self._index = {key.text(): value for key, value in self.items if key.kind == "scalar"}
        return self._index

    def pairs(self) -> Iterator[tuple[str, Node, Node]]:
        """A mapping's (key text, key node, value node), leaving out keys that are no scalars."""
        for key, value in self.items:
            if key.kind == "scalar":
                yield key.text(), key, value

    def text(self, default: str = "") -> str:
        """A scalar's text as written; `default` for null and for what is no scalar."""
        return default if self.value is None else self.value

    def text_at(self, *path: str | int) -> str | None:
        """The text of the scalar at `path`; None if there is none or it is null."""
        node = self.get(*path)
        return None if node is None else node.value

    @property
    def is_null(self) -> bool:
        return self.kind == "scalar" and self.value is None

    @property
    def is_plain(self) -> bool:
        """Written without quotes and without a tag, so that a loader may see a number or a boolean."""
        return self.kind == "scalar" and self.style == "" and self.tag is None

    def as_bool(self, yaml_1_1: bool = True) -> bool | None:
        """What a plain scalar means as a boolean, None if it is none. YAML 1.1 has yes, no, on, off too."""
        if self.value is None or not self.is_plain:
            return None
        return (_BOOLS_1_1 if yaml_1_1 else _BOOLS).get(self.value)

    def loaded_text(self, yaml_1_1: bool = True) -> str:
        """The scalar after a YAML loader took it for a boolean or a number and printed it again:
        `True` becomes true, `0x10` 16, `1_000` 1000, `0.50` 0.5. Quoted text stays as it is."""
        text = self.text()
        if not self.is_plain:
            return text
        # A lone y or n is a string to the loaders in use, whatever YAML 1.1 says.
        meaning = self.as_bool(yaml_1_1) if len(text) > 1 else None
        if meaning is not None:
            return "true" if meaning else "false"
        if len(text) > 40:
            return text
        if _INT.fullmatch(text):
            return _integer(text)
        if _FLOAT.fullmatch(text):
            number = float(text.replace("_", ""))
            return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
        return text


def _integer(text: str) -> str:
    digits = text.replace("_", "").lstrip("+-")
    sign = "-" if text.startswith("-") else ""
    if len(digits) > 1 and digits[0] == "0" and is_digits(digits[1]):
        digits = "0o" + digits[1:]
    try:
        return sign + str(int(digits, 0))
    except ValueError:
        return text


def parse_yaml(text: str) -> list[Node]:
    """One Node per document of `text`. What cannot be read, or exceeds a limit, is a LoadError."""
    # A character is at least one byte: most texts need no encoding to be measured.
    if len(text) > BYTES_MAX or (
        len(text) > BYTES_MAX // 4 and len(text.encode("utf-8", "surrogatepass")) > BYTES_MAX
    ):
        raise LoadError(f"the YAML text is larger than {BYTES_MAX // 1024 // 1024} MiB")
    if text.count("%TAG") > DIRECTIVES_MAX:
        raise LoadError(f"the YAML text has more than {DIRECTIVES_MAX} %TAG directives")
    import yaml

    try:
        return _Builder(_parser(text).get_event).documents()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise LoadError(_sentence(error), None if mark is None else mark.line + 1) from None
    except yaml.YAMLError as error:
        raise LoadError(
            "not readable as YAML: " + " ".join(str(error).split()), _line_of(error, text)
        ) from None
    except UnicodeError:
        raise LoadError("the YAML text holds a character that is not valid Unicode") from None


def nodes_of(events: Iterator[Any]) -> list[Node]:
    """The trees of another reader's events, under the same limits."""
    return _Builder(lambda: next(events, None)).documents()


def yaml_events(text: str) -> Iterator[Any]:
    """The parser's events of a text that `parse_yaml` has read, with the places they begin and end at."""
    parser = _parser(text)
    event = parser.get_event()
    while event is not None and type(event).__name__ != "StreamEndEvent":
        yield event
        event = parser.get_event()


def _parser(text: str) -> Any:
    try:
        from yaml.cyaml import CParser  # type: ignore[attr-defined]
    except ImportError:
        import yaml

        # Only its get_event is used: it has the constructors of a loader, but no call reaches them.
        return yaml.SafeLoader(text)
    return CParser(text)


def _sentence(error: Any) -> str:
    parts = [part for part in (error.context, error.problem) if part]
    return "not readable as YAML: " + (", ".join(parts) if parts else "syntax error")


def _line_of(error: Any, text: str) -> int | None:
    position = getattr(error, "position", None)
    return text.count("\n", 0, position) + 1 if isinstance(position, int) else None


_NO_PAIRS: list[tuple[Node, Node]] = []
_NO_NODES: list[Node] = []


class _Builder:
    """Turns events into Nodes with a stack of its own: nesting never becomes Python recursion."""

    def __init__(self, following: Callable[[], Any]) -> None:
        self._next = following
        self._nodes = 0
        self._anchors: dict[str, Node] = {}
        # Containers that are open, and for each mapping the key that waits for its value.
        self._open: list[Node] = []
        self._keys: list[Node | None] = []
        self._merges: list[list[Node]] = []
        self._found: list[Node] = []

    def documents(self) -> list[Node]:
        handlers = {
            "ScalarEvent": self._scalar,
            "MappingStartEvent": self._start_mapping,
            "SequenceStartEvent": self._start_sequence,
            "MappingEndEvent": self._end,
            "SequenceEndEvent": self._end,
            "AliasEvent": self._alias,
            "DocumentStartEvent": self._start_document,
        }
        while True:
            event = self._next()
            if event is None:
                return self._found
            name = type(event).__name__
            handler = handlers.get(name)
            if handler is not None:
                handler(event)
            elif name == "StreamEndEvent":
                return self._found

    def _start_document(self, event: Any) -> None:
        self._anchors = {}

    def _count(self, nodes: int, line: int) -> None:
        self._nodes += nodes
        if self._nodes > NODES_MAX:
            raise LoadError(f"the text has more than {NODES_MAX:,} nodes, aliases counted expanded", line)

    def _scalar(self, event: Any) -> None:
        mark = event.start_mark.line + 1
        tag = event.tag
        node = Node("scalar", mark, tag)
        node.end_line = event.end_mark.line + 1
        style = event.style or ""
        node.style = style if style in ("'", '"', "|", ">") else ""
        null = (tag is None and node.style == "" and event.value in _NULLS) or tag == _NULL_TAG
        node.value = None if null else event.value
        self._count(1, mark)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        self._place(node)

    def _start_mapping(self, event: Any) -> None:
        self._start(Node("mapping", event.start_mark.line + 1, event.tag), event.anchor)

    def _start_sequence(self, event: Any) -> None:
        self._start(Node("sequence", event.start_mark.line + 1, event.tag), event.anchor)

    def _start(self, node: Node, anchor: str | None) -> None:
        self._count(1, node.line)
        if len(self._open) >= DEPTH_MAX:
            raise _too_deep(node.line)
        if anchor is not None:
            # Size 0 marks a node that is still open: an alias to it would be endless.
            self._anchors[anchor] = node
        node._size = 0
        self._open.append(node)
        self._keys.append(None)
        self._merges.append([])

    def _end(self, event: Any) -> None:
        node = self._open.pop()
        self._keys.pop()
        merges = self._merges.pop()
        node.end_line = max(node.line, event.end_mark.line + 1)
        if node.kind == "mapping":
            _settle(node, merges)
        children = [child for pair in node.items for child in pair] or node.elements
        node._size = 1 + sum(child._size for child in children)
        node._height = 1 + max((child._height for child in children), default=0)
        self._place(node)

    def _alias(self, event: Any) -> None:
        line = event.start_mark.line + 1
        node = self._anchors.get(event.anchor)
        if node is None:
            raise LoadError("an alias (*name) has no anchor before it", line)
        if node._size == 0:
            raise LoadError("an alias (*name) stands inside the node it names", line)
        self._count(node._size, line)
        if len(self._open) + node._height > DEPTH_MAX + 1:
            raise _too_deep(line)
        self._place(node)

    def _place(self, node: Node) -> None:
        """Hand a finished node to the container it stands in."""
        if not self._open:
            self._found.append(node)
            return
        parent = self._open[-1]
        if parent.kind == "sequence":
            parent.elements.append(node)
            return
        key = self._keys[-1]
        if key is None:
            self._keys[-1] = node
            return
        self._keys[-1] = None
        if key.is_plain and key.value == "<<":
            self._merges[-1].extend(_merged(key, node))
        else:
            parent.items.append((key, node))


def _too_deep(line: int) -> LoadError:
    return LoadError(f"the YAML text is nested deeper than {DEPTH_MAX} levels", line)


def _merged(key: Node, value: Node) -> list[Node]:
    """The mappings that a merge key names, the least important first."""
    if value.is_null:
        return []
    sources = value.elements[::-1] if value.kind == "sequence" else [value]
    if any(source.kind != "mapping" for source in sources):
        raise LoadError("the merge key << needs a mapping or a list of mappings", key.line)
    return sources


def _settle(node: Node, merges: list[Node]) -> None:
    """Merge, and leave each key once: the last of equal keys, explicit before merged."""
    own: dict[str | int, tuple[Node, Node]] = {}
    for pair in node.items:
        name = _identity(pair[0])
        earlier = own.pop(name, None)
        if earlier is not None:
            if node.duplicates is _NO_PAIRS:
                node.duplicates = []
            node.duplicates.append(earlier)
        own[name] = pair
    if not merges:
        if node.duplicates:
            node.items = list(own.values())
        return
    merged = {_identity(pair[0]): pair for source in merges for pair in source.items}
    node.items = [pair for name, pair in merged.items() if name not in own] + list(own.values())


def _identity(key: Node) -> str | int:
    # A key that is a collection equals nothing but itself.
    return key.text() if key.kind == "scalar" else id(key)
