"""A file within a file: a properties text that stands in YAML or JSON as one value."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.api import CannotEdit, Document, EditStep, Node, Setting, Source

from .. import edit_properties
from ..edit_yaml import Spot


def first_line(node: Node) -> int | None:
    """The line on which a block's text begins; None for a text in quotes, whose lines are not those of the
    file."""
    return node.line + 1 if node.style == "|" else None


def placed(settings: Sequence[Setting], node: Node) -> tuple[Setting, ...]:
    """Settings of an embedded text, read with its own line numbers, at the lines of the file."""
    begins = first_line(node)
    found = []
    for one in settings:
        at = one.origin.at
        if at is not None:
            line = node.line if begins is None or at.line is None else begins + at.line - 1
            one = one._replace(origin=one.origin._replace(at=at._replace(line=line)))
        found.append(one)
    return tuple(found)


def edit_block(source: Source, spot: Spot, document: Document, step: EditStep) -> str:
    """One setting of a block of text (`|`) changed."""
    text = source.text
    if spot.kind != "scalar" or spot.style != "|":
        raise CannotEdit("its settings are a text in quotes, which is not edited", spot.line)
    begin = text.find("\n", spot.start) + 1
    if begin == 0:
        raise CannotEdit("its settings are an empty text", spot.line)
    end = begin + len(text[begin : spot.end].rstrip())
    line = None if step.line is None else step.line - spot.line
    try:
        inner = Source(source.file, text[begin:end], source.read)
        changed = edit_properties.edit(inner, document, step._replace(line=line))
    except CannotEdit as error:
        raise CannotEdit(error.message, None if error.line is None else error.line + spot.line) from None
    return text[:begin] + changed + text[end:]
