"""One setting of a Quarkus or Micronaut application changed where it is written."""

from __future__ import annotations

from advisor.api import CannotEdit, Document, EditStep, Source, Splice, is_template, spliced

from .. import edit_properties
from ..edit_yaml import Spot, added, mappings, removed, renamed, scalar, tree, valued
from .flat import Flat, flat_of, segment


def edit(source: Source, document: Document, step: EditStep) -> str:
    if source.file.lower().endswith(".properties"):
        return _in_properties(source, document, step)
    return _in_yaml(source, document, step)


def _own(source: Source, document: Document) -> list[Flat]:
    """The document's own properties, by their lines; what it shares with others is no place for a new one."""
    lines = {one.origin.at.line for one in document.settings if one.origin.at is not None}
    lines.add(document.line or 0)
    return [one for one in flat_of(source.file, source.text) if one.line in lines]


def _prefix(source: Source, document: Document) -> str:
    """What stands before its keys: that of the property on the document's line."""
    for one in _own(source, document):
        if one.line == document.line:
            for marks in (
                "mp.messaging.incoming.",
                "mp.messaging.outgoing.",
                "kafka.producers.",
                "kafka.consumers.",
            ):
                at = one.name.find(marks)
                if at >= 0:
                    _, rest = segment(one.name[at + len(marks) :])
                    return one.name.removesuffix(rest) if rest else one.name + "."
            if "kafka-streams." in one.name:
                return "kafka-streams."
            if one.name.startswith("kafka.streams."):
                return ".".join(one.name.split(".")[:3]) + "."
    raise CannotEdit("there is no property beside which to add one", document.line)


def _in_properties(source: Source, document: Document, step: EditStep) -> str:
    text = source.text
    rows = edit_properties.rows(text)
    if step.action == "add":
        prefix = _prefix(source, document)
        mine = [row for row in rows if row.key.startswith(prefix)]
        name = edit_properties.escaped_key(prefix + step.key)
        return spliced(text, edit_properties.added(text, mine or rows, step.key, name, step.value))
    row = edit_properties.row_at(rows, step)
    if not (row.key == step.key or row.key.endswith("." + step.key)):
        raise CannotEdit(f"{step.key} is not written as a property of its own", step.line)
    new = row.key.removesuffix(step.key) + step.value
    return edit_properties.changed(text, row, step, edit_properties.escaped_key(new))


def _in_yaml(source: Source, document: Document, step: EditStep) -> str:
    text = source.text
    roots = tree(text)
    if step.action == "add":
        return spliced(text, _added(text, roots, document, step))
    for mapping, key, value in _on_line(roots, step):
        if step.action == "remove":
            return spliced(text, removed(text, mapping, key, value))
        if step.action == "rename":
            return spliced(text, renamed(key, key.value.removesuffix(step.key) + step.value))
        raw = text[value.start : value.end]
        if is_template(raw) or value.kind != "scalar":
            raise CannotEdit(f"{step.key} is filled in elsewhere ({raw.strip()})", key.line)
        return spliced(text, valued(text, value, step.value, mapping.flow))
    raise CannotEdit(f"{step.key} is not found where it was read", step.line)


def _on_line(roots: list[Spot], step: EditStep) -> list[tuple[Spot, Spot, Spot]]:
    """The pair on that line whose key ends as the setting's does: names may be broken at any dot."""
    here = [
        (mapping, key, value)
        for mapping in mappings(roots)
        for key, value in mapping.pairs
        if key.line == step.line
    ]
    return [
        pair
        for pair in here
        if pair[1].value == step.key
        or pair[1].value.endswith("." + step.key)
        or (pair[2].kind == "scalar" and step.key.endswith("." + pair[1].value))
    ]


def _added(text: str, roots: list[Spot], document: Document, step: EditStep) -> Splice:
    """Beside the key on the document's line, if that is a key of the same client."""
    for mapping in mappings(roots):
        for key, value in mapping.pairs:
            if key.line == document.line and value.kind == "scalar" and len(mapping.pairs) > 0:
                prefix = _before(key.value)
                rendered = scalar(step.value, flow=mapping.flow)
                return added(text, mapping, [prefix + step.key], rendered, None if mapping.flow else value)
    raise CannotEdit("there is no key beside which to add one", document.line)


def _before(name: str) -> str:
    """What a key is written with before its own name, where the whole name stands on one line."""
    for mark in ("mp.messaging.", "kafka.producers.", "kafka.consumers.", "kafka-streams."):
        if mark in name:
            raise CannotEdit("its keys are written out with all that stands before them")
    return ""
