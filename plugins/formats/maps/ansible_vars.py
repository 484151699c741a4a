"""Ansible inventories and variables of Confluent's collection: maps of a component's own keys.

    kafka_broker:
      vars:
        kafka_broker_custom_properties: {min.insync.replicas: 2}

The collection writes them over the files that it makes, with much else: what is missing proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from advisor.api import CannotEdit, Document, EditStep, Loaded, Node, Source, parse_yaml

from ..properties import hints, stem_of
from .edit_nodes import edit_map
from .node_settings import mappings_in, settings_of

FORMAT = "ansible"
_COMPONENTS = {
    "kafka_broker_custom_properties": "broker",
    "kafka_controller_custom_properties": "broker",
    "kafka_connect_custom_properties": "connect",
    "kafka_broker_client_properties": "admin",
}
_CLAIM = re.compile(rf"^[ \t]*+(?:{'|'.join(_COMPONENTS)})[ \t]*+:", re.MULTILINE)


def claim(name: str, text: str) -> int:
    return 82 if _CLAIM.search(text) else 0


def load(source: Source) -> Loaded:
    found = tuple(_documents(source))
    if not found:
        return Loaded((), "skipped", "its maps hold no settings of Kafka's")
    return Loaded(found, "partial", "the collection adds its own settings to these")


def _homes(text: str) -> Iterator[tuple[str, str, Node]]:
    """Component, name and map; the name is that of the group of hosts or of the host."""
    for path, node in mappings_in(parse_yaml(text)):
        component = _COMPONENTS.get(path[-1][0]) if path else None
        if component is not None:
            around = [name for name, _ in path[:-1] if name not in ("vars", "hosts", "children", "all")]
            yield component, around[-1] if around else "", node


def _documents(source: Source) -> Iterator[Document]:
    for component, name, node in _homes(source.text):
        settings, dropped = settings_of(node, source.file)
        if settings:
            client = "connect" if component == "connect" else "java"
            found = hints(component, settings)
            own = name or stem_of(source.file)
            yield Document(
                source.file, FORMAT, component, own, settings, client, node.line, (), dropped, found
            )


def edit(source: Source, document: Document, step: EditStep) -> str:
    for component, _, node in _homes(source.text):
        if component == document.component and node.line == document.line:
            return edit_map(source, step, node)
    raise CannotEdit("the map is not found where it was read", document.line)
