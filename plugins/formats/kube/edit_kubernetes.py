"""One SPRING_KAFKA_ variable of a Kubernetes container changed, added or taken out, every other byte kept."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.api import (
    CannotEdit,
    Document,
    EditStep,
    Source,
    Splice,
    inserted_after,
    is_digits,
    line_start,
    removed_lines,
    spliced,
)

from ..edit_yaml import Spot, joined, mappings, renamed, scalar, tail, tree
from .kubernetes import is_filled_in

_SECTIONS = {"consumer": "CONSUMER_", "producer": "PRODUCER_", "admin": "ADMIN_", "streams": "STREAMS_"}


def edit(source: Source, document: Document, step: EditStep) -> str:
    text = source.text
    variables = list(_variables(tree(text)))
    if step.action == "add":
        return spliced(text, _added(text, variables, document, step))
    for entry, name, value in variables:
        if step.line == (value.line if value is not None else entry.line):
            return spliced(text, _changed(text, entry, name, value, step))
    raise CannotEdit(f"{step.key} is not found where it was read", step.line)


def _variables(roots: list[Spot]) -> Iterator[tuple[Spot, Spot, Spot | None]]:
    """Each entry of each `env`: itself, its name, its value if it is written there."""
    for mapping in mappings(roots):
        pair = mapping.own("env")
        for entry in pair[1].real.elements if pair is not None else []:
            name = entry.real.own("name")
            if name is not None:
                value = entry.real.own("value")
                yield entry.real, name[1], value[1].real if value is not None else None


def _changed(text: str, entry: Spot, name: Spot, value: Spot | None, step: EditStep) -> Splice:
    if entry.flow:
        raise CannotEdit(f"{name.value} is written in braces", entry.line)
    if step.action == "remove":
        return removed_lines(text, entry.start, tail(text, entry))
    if step.action == "rename":
        return renamed(name, _variable(step.value, name.value.split("_")[2].lower()))
    if value is None or value.kind != "scalar" or value.style in ("|", ">"):
        raise CannotEdit(f"{name.value} is filled in elsewhere", entry.line)
    if is_filled_in(value.value):
        raise CannotEdit(f"{name.value} is filled in elsewhere ({value.value})", value.line)
    return Splice(value.start, tail(text, value), _text(step.value, value.style))


def _added(
    text: str, variables: list[tuple[Spot, Spot, Spot | None]], document: Document, step: EditStep
) -> Splice:
    lines = {one.origin.at.line for one in document.settings if one.origin.at is not None}
    here = [
        entry
        for entry, _, value in variables
        if (value.line if value is not None else entry.line) in lines and not entry.flow
    ]
    if not here:
        raise CannotEdit("there is no variable beside which to add one")
    last = max(here, key=lambda entry: entry.start)
    indent = text[line_start(text, last.start) : last.start]
    if indent.strip() != "-":
        raise CannotEdit("its variables are not written one below the other", last.line)
    name = _variable(step.key, document.component)
    rows = [f"{indent}name: {name}", f"{' ' * len(indent)}value: {_text(step.value, '')}"]
    return inserted_after(text, tail(text, last), joined(text, rows))


def _variable(key: str, component: str) -> str:
    """As Spring Boot binds it: the way of a client's own properties takes every key."""
    if "-" in key or "_" in key:
        raise CannotEdit(f"no variable becomes {key}: a dash or an underscore is lost on the way")
    return f"SPRING_KAFKA_{_SECTIONS.get(component, '')}PROPERTIES_{key.replace('.', '_').upper()}"


def _text(value: str, style: str) -> str:
    """Kubernetes takes only text here: a number or a truth value is refused without quotes."""
    written = scalar(value, style)
    return written if written[0] in "\"'" or not _is_no_text(value) else f'"{value}"'


def _is_no_text(value: str) -> bool:
    return value.lower() in ("true", "false", "null", "~") or is_digits(value.lstrip("+-")[:1])
