"""One property of a Spring Boot file changed, every other byte kept: application.yml and .properties.

A new setting gets Spring's own field where there is one (`acks`), else an entry of the client's `properties`
map under Kafka's key, spelt and nested as the file spells and nests.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from advisor.api import (
    CannotEdit,
    Document,
    EditStep,
    Source,
    Splice,
    is_template,
    line_end,
    line_start,
    related,
    spliced,
)

from .. import edit_properties
from ..edit_yaml import Spot, added, filled, indent_of, removed, renamed, scalar, tail, tree, valued
from .spring_fields import SECTIONS, field_for, field_of
from .spring_source import _DIVIDER, _FILTERED, elements, uniform

_TITLE = re.compile(r"^\S+?(?: \[[^\]]*\])?(?: (.*))?$")


def edit(source: Source, document: Document, step: EditStep) -> str:
    if source.file.lower().endswith(".properties"):
        return _edit_properties(source, document, step)
    return _edit_yaml(source, document, step)


def _target(document: Document, key: str) -> tuple[str, ...]:
    """The elements of the property that gives `key` to the document's client."""
    title = _TITLE.match(document.name)
    words = (title[1] or "").split() if title else []
    side = document.component
    if len(words) == 2 and words[1] == side and words[0] != "streams":
        # A binding of Spring Cloud Stream: its own configuration wins over everything shared.
        stream = ("spring", "cloud", "stream", "kafka", "bindings", words[0], side, "configuration")
        return (*stream, key)
    if words != [side] or side not in SECTIONS:
        raise CannotEdit("which client it is for is not told by this file", document.line)
    field = field_for(side, key)
    below = tuple(field.split(".")) if field is not None else ("properties", key)
    return ("spring", "kafka", side, *below)


def _key_of(path: Sequence[str]) -> str | None:
    """Kafka's key that a property sets, as far as its name tells."""
    for map_name in ("properties", "configuration"):
        for place, element in enumerate(path):
            if uniform(element) == map_name and place + 1 < len(path):
                return ".".join(path[place + 1 :])
    if len(path) > 3 and uniform(path[2]) in SECTIONS:
        found = field_of(uniform(path[2]), tuple(path[3:]))
    else:
        found = field_of("common", tuple(path[2:]))
    return found[1].key if found is not None else None


def _is_meant(path: Sequence[str], name: str, step: EditStep) -> bool:
    return name == step.key or _key_of(path) == step.key


def _same(one: Sequence[str], other: Sequence[str]) -> bool:
    return tuple(map(uniform, one)) == tuple(map(uniform, other))


# Properties files.


def _edit_properties(source: Source, document: Document, step: EditStep) -> str:
    text = source.text
    found = edit_properties.rows(text)
    if step.action != "add":
        row = edit_properties.row_at(found, step)
        return edit_properties.changed(text, row, step, edit_properties.escaped_key(step.value))
    target = _target(document, step.key)
    part = _part(text, found, document.line)
    siblings = part
    prefix: tuple[str, ...] = ()
    for length in range(len(target) - 1, 1, -1):
        kin = [row for row in part if _same(elements(row.key)[:length], target[:length])]
        if kin:
            siblings, prefix = kin, elements(kin[-1].key)[:length]
            break
    name = ".".join((*prefix, *target[len(prefix) :]))
    splice = edit_properties.added(text, siblings, name, edit_properties.escaped_key(name), step.value)
    return spliced(text, splice)


def _part(text: str, found: list[edit_properties.Row], line: int | None) -> list[edit_properties.Row]:
    """The entries between the dividers around `line`."""
    at = next((row.start for row in found if row.line == line), 0)
    dividers = [divider.start() for divider in _DIVIDER.finditer(text)]
    begin = max((place for place in dividers if place < at), default=0)
    end = min((place for place in dividers if place > at), default=len(text))
    return [row for row in found if begin <= row.start < end]


# YAML.


class _Pair(NamedTuple):
    mapping: Spot
    key: Spot
    value: Spot
    path: tuple[str, ...]
    name: str


def _edit_yaml(source: Source, document: Document, step: EditStep) -> str:
    text = source.text
    # What Maven fills in is no YAML; every place stays where it is.
    roots = tree(_FILTERED.sub(lambda found: found[1] + "x" * len(found[2]) + found[3], text))
    if step.action == "add":
        root = _document_of(roots, document.line)
        return spliced(text, _added(text, root, _target(document, step.key), _rendered(step.value)))
    here = [pair for root in roots for pair in _pairs(root) if pair.key.line == step.line]
    meant = [pair for pair in here if _is_meant(pair.path, pair.name, step)]
    if len(meant) != 1 and len(here) == 1:
        meant = here
    if len(meant) != 1:
        raise CannotEdit(f"{step.key} is not found where it was read", step.line)
    pair = meant[0]
    if step.action == "remove":
        return spliced(text, removed(text, pair.mapping, pair.key, pair.value))
    if step.action == "rename":
        return _moved(text, roots, pair, step.value)
    raw = text[pair.value.start : pair.value.end]
    if is_template(raw) or re.fullmatch(r"@[\w.-]+@", raw.strip()):
        raise CannotEdit(f"{step.key} is filled in elsewhere ({raw.strip()})", pair.key.line)
    return spliced(text, valued(text, pair.value, step.value, pair.mapping.flow))


def _rendered(value: str) -> str:
    return scalar(value, flow=True)


def _pairs(root: Spot) -> Iterator[_Pair]:
    """Every pair below a document with the property name it comes to."""
    waiting: list[tuple[Spot, str]] = [(root, "")]
    while waiting:
        mapping, name = waiting.pop()
        for key, value in mapping.pairs:
            written = key.value
            inner = f"{name}{written}" if written.startswith("[") or not name else f"{name}.{written}"
            yield _Pair(mapping, key, value, elements(inner), inner)
            if value.kind == "mapping":
                waiting.append((value, inner))


def _document_of(roots: list[Spot], line: int | None) -> Spot:
    found = [root for root in roots if root.kind == "mapping" and (line is None or root.line <= line)]
    if not found:
        raise CannotEdit("the text has no mapping to add it to", line)
    return found[0] if line is None else found[-1]


def _added(text: str, root: Spot, target: tuple[str, ...], rendered: str) -> Splice:
    """Into the deepest mapping that is on the way to the target; what is missing of the way is nested."""
    home, depth, above = root, 0, None
    for pair in _pairs(root):
        on_the_way = len(pair.path) < len(target) and _same(pair.path, target[: len(pair.path)])
        if on_the_way and len(pair.path) > depth and (pair.value.kind == "mapping" or pair.value.is_empty):
            home, depth, above = pair.value, len(pair.path), pair.key
    missing = list(target[depth:])
    if home.kind == "scalar":
        assert above is not None
        return filled(text, above, home, missing, rendered, _step(root))
    if home.real is root and depth == 0:
        return _at_top(text, root, target, rendered)
    kin = related(target[-1], [key.value for key, _ in home.pairs]) if len(missing) == 1 else None
    after = None if kin is None or home.flow else home.pairs[kin][1]
    return added(text, home, missing, rendered, after, _step(root))


def _at_top(text: str, root: Spot, target: tuple[str, ...], rendered: str) -> Splice:
    """A file of whole names, `spring.kafka.producer.acks: 1`, gets one more of them."""
    after = None
    for key, value in root.pairs:
        if _same(elements(key.value)[:2], target[:2]):
            after = value
    return added(text, root, [".".join(target)], rendered, after, _step(root))


def _step(root: Spot) -> int:
    """How far the file indents."""
    for pair in _pairs(root):
        if pair.value.kind == "mapping" and not pair.value.flow and pair.value.pairs:
            deeper = indent_of(pair.value) - pair.key.column
            if deeper > 0:
                return deeper
    return 2


def _moved(text: str, roots: list[Spot], pair: _Pair, name: str) -> str:
    """The same value under another name: in place if only the last part differs, else moved with what
    stands behind it on its line."""
    target = elements(name)
    if "properties" in map(uniform, target[:4]):
        place = [uniform(part) for part in target].index("properties") + 1
        target = (*target[:place], ".".join(target[place:]))
    if _same(pair.path[:-1], target[:-1]) and "." not in pair.key.value:
        return spliced(text, renamed(pair.key, target[-1]))
    if pair.value.kind not in ("scalar", "alias") or pair.value.style in ("|", ">"):
        raise CannotEdit(f"{pair.name} is not on a line of its own", pair.key.line)
    end = tail(text, pair.value)
    value = text[pair.value.start : end if pair.mapping.flow else line_end(text, end)]
    if "\n" in value:
        raise CannotEdit(f"{pair.name} is not on a line of its own", pair.key.line)
    root = next(one for one in roots if any(found.key is pair.key for found in _pairs(one)))
    doomed = _emptied(root, pair, target)
    gone = removed(text, doomed.mapping, doomed.key, doomed.value)
    splice = _added(text, root, target, value)
    if pair.mapping.flow:
        if len(pair.mapping.pairs) == 1 and splice.start == end:
            return spliced(text, Splice(pair.key.start, end, splice.new.lstrip(", \r\n")))
    elif gone.start <= splice.start <= gone.end:
        # The new lines come where the old one stood.
        start = line_start(text, doomed.key.start)
        return spliced(text, Splice(start, splice.end, splice.new.lstrip("\r\n")))
    return spliced(text, gone, splice)


def _emptied(root: Spot, pair: _Pair, target: tuple[str, ...]) -> _Pair:
    """The pair, or the outermost mapping around it that would be left empty and is not on the new way."""
    around = next((one for one in _pairs(root) if one.value is pair.mapping), None)
    if around is None or len(pair.mapping.pairs) > 1 or _same(around.path, target[: len(around.path)]):
        return pair
    return _emptied(root, around, target)
