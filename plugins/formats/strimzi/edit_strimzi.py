"""One key of a Strimzi resource's `config` changed, every other byte kept."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.api import CannotEdit, Document, EditStep, Source, Splice, is_template, related, spliced

from ..edit_yaml import Spot, added, filled, mappings, removed, renamed, scalar, tree, valued
from .strimzi import _LINE_TEMPLATE

# Where each kind keeps the settings of its document.
_CONFIG = {
    "Kafka": ("spec", "kafka", "config"),
    "KafkaTopic": ("spec", "config"),
    "KafkaConnect": ("spec", "config"),
    "KafkaConnector": ("spec", "config"),
}


def edit(source: Source, document: Document, step: EditStep) -> str:
    text = source.text
    try:
        roots = tree(text)
    except CannotEdit:
        # As the loader does, but so that every place stays where it is.
        roots = tree(_LINE_TEMPLATE.sub(lambda line: " " * len(line[0]), text))
    if step.action == "add":
        return spliced(text, _added(text, roots, document, step))
    if document.component == "consumer" and step.key == "group.id" and step.line == document.line:
        raise CannotEdit("Connect names the group of a sink after the connector", step.line)
    for mapping, key, value in _written(roots, step):
        if step.action == "rename":
            return spliced(text, renamed(key, step.value))
        if step.action == "remove":
            return spliced(text, removed(text, mapping, key, value))
        raw = text[value.start : value.end]
        if is_template(raw) or value.kind == "mapping":
            raise CannotEdit(f"{step.key} is filled in elsewhere ({raw.strip()})", key.line)
        return spliced(text, valued(text, value, step.value, mapping.flow))
    raise CannotEdit(f"{step.key} is not found where it was read", step.line)


def _written(roots: list[Spot], step: EditStep) -> Iterator[tuple[Spot, Spot, Spot]]:
    """The pair of that key on that line. A field of the resource has a name of its own, but a line too; and
    MirrorMaker's keys get a prefix that is not written."""
    here = [
        (mapping, key, value)
        for mapping in mappings(roots)
        for key, value in mapping.pairs
        if key.line == step.line or (value.kind == "scalar" and value.line == step.line)
    ]
    yield from (pair for pair in here if pair[1].value == step.key)
    yield from (pair for pair in here if pair[1].value and step.key.endswith("." + pair[1].value))
    # A client that a connector makes has its settings under a prefix.
    yield from (pair for pair in here if (pair[1].value or "").endswith(f".override.{step.key}"))
    if len(here) == 1 and here[0][2].kind == "scalar":
        yield here[0]


def _added(text: str, roots: list[Spot], document: Document, step: EditStep) -> Splice:
    resource = next((one for one in mappings(roots) if one.line == document.line and one.own("kind")), None)
    kind = resource.own("kind") if resource is not None else None
    path = _CONFIG.get(kind[1].real.value) if kind is not None else None
    if path is not None and document.component in ("producer", "consumer"):
        # Of the client that a connector makes.
        step = step._replace(key=f"{document.component}.override.{step.key}")
    if resource is None or path is None:
        raise CannotEdit("this kind of resource has no one place for settings", document.line)
    node, depth = resource, 0
    key: Spot | None = None
    while depth < len(path) and node.kind == "mapping":
        pair = node.own(path[depth])
        if pair is None:
            break
        key, node, depth = pair[0], pair[1].real, depth + 1
    missing = [*path[depth:], step.key]
    rendered = scalar(step.value, flow=node.flow)
    if node.is_empty and key is not None:
        return filled(text, key, node, missing, rendered)
    if node.kind != "mapping" or depth < len(path) - 1:
        raise CannotEdit(f"{'.'.join(path)} is not where it should be", document.line)
    kin = related(step.key, [pair[0].value for pair in node.pairs]) if depth == len(path) else None
    return added(text, node, missing, rendered, None if kin is None or node.flow else node.pairs[kin][1])
