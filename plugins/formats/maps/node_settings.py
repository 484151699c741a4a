"""Settings written as a map, in YAML or JSON: each key with its line, the last of equal keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from advisor.api import Dropped, Location, Node, Origin, Setting, setting, value_of

# No configuration that a person reads nests its settings deeper.
_DEPTH_MAX = 16


class Settings(NamedTuple):
    settings: tuple[Setting, ...]
    dropped: tuple[Dropped, ...] = ()


def settings_of(
    node: Node | None,
    file: str,
    named: Callable[[str], str | None] = lambda key: key,
    note: str = "",
) -> Settings:
    """The scalars and lists of a mapping. `named` gives the Kafka key behind a name, None for no setting."""
    if node is None or node.kind != "mapping":
        return Settings(())
    found = [
        setting(key, text_of(value), file, at.line, note)
        for name, at, value in node.pairs()
        if (key := named(name)) is not None and is_given(value)
    ]
    return Settings(tuple(found), tuple(_duplicates(node, file, named)))


def completed(settings: Sequence[Setting], defaults: Mapping[str, str], whose: str) -> tuple[Setting, ...]:
    """The settings, and what a framework or a service gives Kafka where nothing is written."""
    written = {one.key for one in settings}
    origin = Origin("default", None, f"default of {whose}")
    return (*settings, *(Setting(k, v, origin) for k, v in defaults.items() if k not in written))


def _duplicates(node: Node, file: str, named: Callable[[str], str | None]) -> Iterator[Dropped]:
    for at, old in node.duplicates:
        key = named(at.text()) if at.kind == "scalar" else None
        if key is not None and is_given(old) and not _is_remark(at.text()):
            detail = f"{at.text()} stands again further down, and that one is used"
            where = Location(file, at.line)
            yield Dropped(at.text(), value_of(key, text_of(old)), where, "overridden", detail)


def _is_remark(name: str) -> bool:
    """JSON has no comments, so a key of no meaning holds them, and any number of times."""
    return name.startswith(("_", "//", "#")) or name.lower() in ("comment", "comments")


def is_given(node: Node) -> bool:
    """Null sets nothing, and a mapping is no value; but `key: {{ x }}` reads as a mapping of a mapping."""
    return (
        node.kind == "sequence" or (node.kind == "scalar" and not node.is_null) or is_unquoted_template(node)
    )


def is_unquoted_template(node: Node) -> bool:
    return node.kind == "mapping" and len(node.items) == 1 and node.items[0][0].kind == "mapping"


def text_of(node: Node) -> str:
    """A value as Kafka would be given it: a list joined by commas, numbers as a loader prints them."""
    if node.kind == "sequence":
        return ",".join(element.loaded_text() for element in node.elements)
    return "{{ }}" if node.kind == "mapping" else node.loaded_text()


def mappings_in(roots: list[Node]) -> Iterator[tuple[tuple[tuple[str, Node], ...], Node]]:
    """Every mapping with the keys and the mappings that lead to it, outermost first. An element of a list has
    the key of its list."""
    waiting: list[tuple[tuple[tuple[str, Node], ...], Node]] = [((), root) for root in reversed(roots)]
    while waiting:
        path, node = waiting.pop()
        if node.kind == "sequence":
            waiting += [(path, element) for element in reversed(node.elements)]
        elif node.kind == "mapping" and len(path) <= _DEPTH_MAX:
            yield path, node
            inner = [
                ((*path, (name, node)), value) for name, _, value in node.pairs() if value.kind != "scalar"
            ]
            waiting += reversed(inner)
