"""One setting of a Kubernetes file changed: a variable of a container or a ConfigMap, or a line of a file
that stands inside a ConfigMap."""

from __future__ import annotations

from collections.abc import Callable

from advisor.api import CannotEdit, Document, EditStep, Source, Splice, inserted_after, spliced

from .. import edit_properties
from ..containers.edit_env import variable_for
from ..edit_yaml import Spot, mappings, tail, tree
from ..maps.edit_nodes import edit_map
from ..spring import edit_spring
from . import edit_kubernetes

Edit = Callable[[Source, Document, EditStep], str]


def edit(source: Source, document: Document, step: EditStep) -> str:
    roots = tree(source.text)
    inner = _inner(roots, document)
    if inner is not None:
        return _edit_inner(source, *inner, document, step)
    if document.component not in ("broker", "connect"):
        return edit_kubernetes.edit(source, document, step)
    if any(one.key == step.key and one.origin.note == "--override" for one in document.settings):
        raise CannotEdit(f"{step.key} is an --override of the container's command", step.line)
    entries = _entries(roots)
    if step.action == "add":
        return spliced(source.text, _added(source.text, entries, document, step))
    for _, name, value in entries:
        if value is not None and step.line in (value.line, name.line):
            return edit_kubernetes.edit(source, document, _named(step, name.value))
    return _in_data(source, roots, step)


def _named(step: EditStep, written: str) -> EditStep:
    return step._replace(key=written) if step.action == "remove" else step


def _in_data(source: Source, roots: list[Spot], step: EditStep) -> str:
    """A variable that stands in a ConfigMap's data."""
    for mapping in mappings(roots):
        for key, value in mapping.pairs:
            if key.line == step.line and value.kind == "scalar":
                changed = step._replace(key=key.value)
                return edit_map(source, changed, None, quote_words=True)
    raise CannotEdit(f"{step.key} is not found where it was read", step.line)


def _entries(roots: list[Spot]) -> list[tuple[Spot, Spot, Spot | None]]:
    return list(edit_kubernetes._variables(roots))


def _added(
    text: str, entries: list[tuple[Spot, Spot, Spot | None]], document: Document, step: EditStep
) -> Splice:
    lines = {one.origin.at.line for one in document.settings if one.origin.at is not None}
    here = [
        (entry, name)
        for entry, name, value in entries
        if value is not None and value.line in lines and not entry.flow
    ]
    if not here:
        raise CannotEdit("there is no variable beside which to add one", document.line)
    last = max((entry for entry, _ in here), key=lambda entry: entry.start)
    begin = max(text.rfind("\n", 0, last.start), -1) + 1
    indent = text[begin : last.start]
    if indent.strip() != "-":
        raise CannotEdit("its variables are not written one below the other", last.line)
    name = variable_for(step.key, document.component, [name.value for _, name in here], "")
    newline = "\r\n" if "\r\n" in text else "\n"
    value = edit_kubernetes._text(step.value, "")
    rows = f"{indent}name: {name}{newline}{' ' * len(indent)}value: {value}"
    return inserted_after(text, tail(text, last), rows)


# A file inside the file.


def _inner(roots: list[Spot], document: Document) -> tuple[Spot, Spot] | None:
    """The key and the block of text that a document was read from."""
    line = document.line or 0
    files = [
        (key, value)
        for mapping in mappings(roots)
        for key, value in mapping.pairs
        if value.kind == "scalar" and "." in key.value
    ]
    for key, value in files:
        if value.style == "|" and value.line < line <= value.line + value.value.count("\n") + 1:
            return key, value
        if value.style != "|" and key.line == line and "\n" in value.value:
            raise CannotEdit("its settings are a text in quotes, which is not edited", line)
    return None


def _edit_inner(source: Source, key: Spot, block: Spot, document: Document, step: EditStep) -> str:
    """The inner file is edited as it would be by itself; only the lines that change are put back."""
    text = source.text
    begin = text.find("\n", block.start) + 1
    outer = text[begin : block.end].split("\n")
    indent = next((len(line) - len(line.lstrip(" ")) for line in outer if line.strip()), 0)
    bare = [line[indent:] for line in outer]
    line = None if step.line is None else step.line - block.line
    own = document._replace(file=key.value, name=document.name.rpartition("/")[2])
    by_format: Edit = edit_spring.edit if document.client == "spring" else edit_properties.edit
    try:
        inner = Source(key.value, "\n".join(bare), lambda _: None)
        changed = by_format(inner, _shifted(own, block.line), step._replace(line=line)).split("\n")
    except CannotEdit as error:
        raise CannotEdit(error.message, None if error.line is None else error.line + block.line) from None
    first = _common(bare, changed)
    last = _common(bare[first:][::-1], changed[first:][::-1])
    middle = [" " * indent + row if row else row for row in changed[first : len(changed) - last]]
    return (
        text[:begin] + "\n".join([*outer[:first], *middle, *outer[len(outer) - last :]]) + text[block.end :]
    )


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def _shifted(document: Document, by: int) -> Document:
    """With the lines of the inner file, counted from its own beginning."""
    settings = tuple(
        one._replace(
            origin=one.origin._replace(at=one.origin.at._replace(file=document.file, line=line - by))
        )
        if one.origin.at is not None and (line := one.origin.at.line) is not None
        else one
        for one in document.settings
    )
    return document._replace(settings=settings, line=None if document.line is None else document.line - by)
