"""One setting of a YAML map changed where a loader has read it: the map is found by its line and its keys."""

from __future__ import annotations

from collections.abc import Callable

from advisor.api import CannotEdit, EditStep, Node, Source, is_template, related, spliced

from ..edit_yaml import Spot, added, filled, mappings, removed, renamed, scalar, tree, valued


def same_name(key: str) -> str:
    return key


def edit_map(
    source: Source,
    step: EditStep,
    home: Node | None,
    named: Callable[[str], str] = same_name,
    quote_words: bool = False,
) -> str:
    """`home` is the map that a new setting goes into; `named` gives the name under which a key is written."""
    text = source.text
    roots = tree(text)
    if step.action == "add":
        spot = spot_of(roots, home) if home is not None else None
        if spot is None:
            raise CannotEdit("there is no map of its settings to add it to")
        rendered = scalar(step.value, flow=spot.flow, quote_words=quote_words)
        kin = related(step.key, [key.value for key, _ in spot.pairs]) if not spot.flow else None
        after = None if kin is None else spot.pairs[kin][1]
        return spliced(text, added(text, spot, [named(step.key)], rendered, after))
    for mapping in mappings(roots):
        for key, value in mapping.pairs:
            if key.line != step.line or key.value not in (step.key, named(step.key)):
                continue
            if step.action == "remove":
                return spliced(text, removed(text, mapping, key, value))
            if step.action == "rename":
                return spliced(text, renamed(key, named(step.value)))
            raw = text[value.start : value.end]
            if is_template(raw) or value.kind == "mapping":
                raise CannotEdit(f"{step.key} is filled in elsewhere ({raw.strip()})", key.line)
            return spliced(text, valued(text, value, step.value, mapping.flow))
    raise CannotEdit(f"{step.key} is not found where it was read", step.line)


def spot_of(roots: list[Spot], node: Node) -> Spot | None:
    """The place of a map that was read."""
    keys = {(key.text(), key.line) for key, _ in node.items}
    for mapping in mappings(roots):
        if {(key.value, key.line) for key, _ in mapping.pairs} == keys and (
            keys or mapping.line == node.line
        ):
            return mapping
    return None


def add_under(source: Source, around: Node, path: list[str], value: str, quote_words: bool = False) -> str:
    """A setting in a map that is not there yet, under the map around it."""
    spot = spot_of(tree(source.text), around)
    if spot is None or not path:
        raise CannotEdit("there is no place for its settings")
    there = spot.own(path[0])
    rendered = scalar(value, flow=spot.flow, quote_words=quote_words)
    if there is not None and there[1].is_empty:
        return spliced(source.text, filled(source.text, *there, path[1:], rendered))
    if there is not None and there[1].real.kind == "mapping" and there[1].real.flow:
        return spliced(source.text, added(source.text, there[1].real, path[1:], rendered))
    if there is not None:
        raise CannotEdit(f"{path[0]} is there already and no map", there[0].line)
    return spliced(source.text, added(source.text, spot, path, rendered))
