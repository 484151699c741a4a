"""One setting of a JSON text changed, every other byte kept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.api import CannotEdit, Document, EditStep, Source, Splice, json_events, json_text, spliced

from ..edit_yaml import Spot, mappings, spots

_BARE = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+|true|false")
_FILLED_IN = ("${", "{{", "<%")


def edit(source: Source, document: Document, step: EditStep) -> str:
    """A connector's map, or that of the producer or consumer that it makes."""
    if step.key == "name":
        raise CannotEdit("under another name a connector starts from the beginning", step.line)
    prefix = f"{document.component}.override." if document.component in ("producer", "consumer") else ""
    return edit_map(source.text, document, step._replace(key=prefix + step.key), step.key)


def edit_map(text: str, document: Document, step: EditStep, shown: str | None = None) -> str:
    """The map that begins on the document's line holds its settings, under the key of the step."""
    roots = spots(json_events(text))
    if step.action == "add":
        homes = [one for one in mappings(roots) if one.line == document.line and _holds(one, document)]
        # Of several on one line, the map that names its class.
        homes.sort(key=lambda one: one.own("connector.class") is None)
        if not homes:
            raise CannotEdit("the map of its settings is not found where it was read", document.line)
        return spliced(text, added(text, homes[0], step.key, step.value))
    for mapping, key, value in _written(roots, step):
        if step.action == "remove":
            return spliced(text, removed(text, mapping, key, value))
        if step.action == "rename":
            return spliced(text, Splice(key.start, key.end, quoted(_renamed(step, shown))))
        if any(mark in text[value.start : value.end] for mark in _FILLED_IN):
            raise CannotEdit(f"{step.key} is filled in elsewhere", key.line)
        if value.kind != "scalar":
            raise CannotEdit(f"{step.key} is written as a list or a map", key.line)
        return spliced(text, Splice(value.start, value.end, written(step.value, value.style)))
    raise CannotEdit(f"{step.key} is not found where it was read", step.line)


def _renamed(step: EditStep, shown: str | None) -> str:
    prefix = step.key.removesuffix(shown) if shown is not None else ""
    return prefix + step.value


def _written(roots: list[Spot], step: EditStep) -> Iterator[tuple[Spot, Spot, Spot]]:
    for mapping in mappings(roots):
        for key, value in reversed(mapping.pairs):
            if key.line == step.line and key.value == step.key:
                yield mapping, key, value


def _holds(mapping: Spot, document: Document) -> bool:
    """Several maps may begin on one line: the one meant has a key of the document's own."""
    lines = {one.origin.at.line for one in document.settings if one.origin.at is not None}
    return mapping.own("connector.class") is not None or any(key.line in lines for key, _ in mapping.pairs)


def quoted(text: str) -> str:
    return json_text(text)


def written(value: str, style: str) -> str:
    """In the form it had: a number that was written without quotes stays without."""
    return value if style == "" and _BARE.fullmatch(value) else quoted(value)


def added(text: str, mapping: Spot, key: str, value: str) -> Splice:
    """A pair more, behind the last: on a line of its own where the last has one."""
    if not mapping.pairs:
        return Splice(mapping.start + 1, mapping.end - 1, f"{quoted(key)}: {quoted(value)}")
    last_key, last = mapping.pairs[-1]
    line = text.rfind("\n", 0, last_key.start) + 1
    indent = text[line : last_key.start]
    newline = "\r\n" if "\r\n" in text else "\n"
    between = newline + indent if not indent.strip() else " "
    colon = text[last_key.end : last.start] if last.start - last_key.end < 8 else ": "
    style = last.style if last.kind == "scalar" else '"'
    return Splice(last.end, last.end, f",{between}{quoted(key)}{colon}{written(value, style)}")


def removed(text: str, mapping: Spot, key: Spot, value: Spot) -> Splice:
    """A pair less, with the comma before it, or behind it if it is the first."""
    place = next(number for number, pair in enumerate(mapping.pairs) if pair[0] is key)
    if place > 0:
        return Splice(mapping.pairs[place - 1][1].end, value.end, "")
    return Splice(key.start, mapping.pairs[1][0].start if len(mapping.pairs) > 1 else value.end, "")
