"""Application files of frameworks as flat names with their lines, whether they are properties or YAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from advisor.api import Node, is_known, parse_properties, parse_yaml, suggest


class Flat(NamedTuple):
    """One property: its name with dots, quotes and brackets taken off, what it says, where it stands."""

    name: str
    text: str
    line: int


def flat_of(file: str, text: str) -> list[Flat]:
    """In the order of the file; equal names are kept, and the later wins."""
    if file.lower().endswith(".properties"):
        return [Flat(entry.key, entry.value.strip(), entry.line) for entry in parse_properties(text)]
    return [one for root in parse_yaml(text) for one in flattened(root, "", root.line)]


def flattened(node: Node, name: str, line: int) -> Iterator[Flat]:
    if node.kind == "mapping":
        for key, at, value in node.pairs():
            # Micronaut and SmallRye take ~ for the value of the name around it.
            inner = name if at.is_null else f"{name}.{key}" if name else key
            yield from flattened(value, inner, at.line)
    elif node.kind == "sequence":
        if all(element.kind == "scalar" for element in node.elements):
            yield Flat(name, ",".join(element.loaded_text() for element in node.elements), line)
    elif not node.is_null:
        yield Flat(name, node.loaded_text(), line)


def segment(name: str) -> tuple[str, str]:
    """The first part of a name, which may stand in quotes to hold dots, and the rest."""
    if name[:1] in ('"', "'"):
        end = name.find(name[0], 1)
        if end > 0:
            return name[1:end], name[end + 1 :].removeprefix(".")
    first, _, rest = name.partition(".")
    return first, rest


def is_setting(component: str, key: str, own: bool) -> bool:
    """A key of Kafka's; or, where it is written for this client alone (`own`), what is meant to be one. The
    framework's own attributes are neither."""
    if is_known(component, key, "4.1") or is_known(component, key, "3.9"):
        return True
    return own and "." in key and suggest(component, key, "4.1") is not None
