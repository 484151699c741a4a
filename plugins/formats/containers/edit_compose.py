"""One variable of a Compose service changed where it is written: in the service, an anchor or an env file."""

from __future__ import annotations

from advisor.api import CannotEdit, Document, EditStep, Source, Splice, spliced

from ..edit_yaml import (
    Spot,
    added,
    element_added,
    element_removed,
    filled,
    mappings,
    removed,
    renamed,
    scalar,
    tree,
    valued,
)
from . import edit_env
from .edit_env import is_filled_in, stands_for, variable_for


def edit(source: Source, document: Document, step: EditStep) -> str:
    """The text of a Compose file, or of an env file that it names, with one variable changed."""
    if not source.file.lower().endswith((".yml", ".yaml")):
        return edit_env.edit(source, document, step)
    if document.component == "topic":
        raise CannotEdit("the topic is made by a variable of the image that cannot hold it", step.line)
    roots = tree(source.text)
    if step.action == "add":
        return spliced(source.text, _added(source.text, roots, document, step))
    for mapping in mappings(roots):
        splice = _in_mapping(source.text, mapping, step) or _in_list(source.text, mapping, step)
        if splice is not None:
            return spliced(source.text, splice)
    raise CannotEdit(f"{step.key} is not written as a variable of its own", step.line)


def _is_meant(name: str, step: EditStep) -> bool:
    return name == step.key or (step.action != "remove" and stands_for(name, step.key))


def _in_mapping(text: str, mapping: Spot, step: EditStep) -> Splice | None:
    here = [pair for pair in mapping.pairs if pair[0].line == step.line and _is_meant(pair[0].value, step)]
    if not here:
        return None
    key, value = here[-1]
    if step.action == "rename":
        return renamed(key, step.value)
    if step.action == "remove":
        return removed(text, mapping, key, value)
    raw = text[value.start : value.end]
    if is_filled_in(raw):
        raise CannotEdit(f"{key.value} is filled in elsewhere ({raw.strip()})", key.line)
    if value.is_empty:
        raise CannotEdit(f"{key.value} is taken from the shell that runs Compose", key.line)
    quote = step.value in ("true", "false") and value.value.lower() not in ("true", "false")
    splice = valued(text, value, _escaped(step.value), mapping.flow)
    return splice._replace(new=f'"{splice.new}"') if quote and splice.new == step.value else splice


def _in_list(text: str, mapping: Spot, step: EditStep) -> Splice | None:
    for key, value in mapping.pairs:
        if key.value != "environment" or value.kind != "sequence":
            continue
        for element in value.elements:
            name, equals, rest = element.real.value.partition("=")
            if element.line != step.line or not _is_meant(name.strip(), step):
                continue
            if step.action == "remove":
                return element_removed(text, value, element)
            if step.action == "rename":
                at = element.start + (element.style in ("'", '"'))
                if not text.startswith(name, at):
                    raise CannotEdit(f"{name} is not written plainly", element.line)
                return Splice(at, at + len(name), step.value)
            if is_filled_in(rest):
                raise CannotEdit(f"{name} is filled in elsewhere ({rest.strip()})", element.line)
            if not equals:
                raise CannotEdit(f"{name} is taken from the shell that runs Compose", element.line)
            return valued(text, element, f"{name}={_escaped(step.value)}", value.flow)
    return None


def _escaped(value: str) -> str:
    return value.replace("$", "$$")


def _added(text: str, roots: list[Spot], document: Document, step: EditStep) -> Splice:
    for root in roots:
        service = root.find("services", document.name) or root.find(document.name)
        if service is not None and service.real.kind == "mapping":
            break
    else:
        raise CannotEdit(f"the service {document.name} is not in this file")
    image = service.find("image")
    image_name = image.real.value if image is not None else ""
    environment = service.find("environment")
    if environment is None or environment.is_empty:
        name = variable_for(step.key, document.component, [], image_name)
        return _new_environment(text, service.real, f"{name}", step)
    environment = environment.real
    if environment.kind == "sequence":
        names = [element.real.value.partition("=")[0] for element in environment.elements]
        name = variable_for(step.key, document.component, names, image_name)
        if not environment.elements:
            raise CannotEdit("its environment is an empty list", environment.line)
        return element_added(text, environment, f"{name}={_escaped(step.value)}")
    # What several services share is changed once, where they share it.
    home = environment
    while shared := home.merged():
        home = shared[0]
    names = [key.value for one in (environment, home) for key, _ in one.pairs]
    name = variable_for(step.key, document.component, names, image_name)
    return added(text, home, [name], scalar(_escaped(step.value), flow=home.flow, quote_words=True))


def _new_environment(text: str, service: Spot, name: str, step: EditStep) -> Splice:
    rendered = scalar(_escaped(step.value), flow=service.flow, quote_words=True)
    written = service.own("environment")
    if written is not None:
        return filled(text, *written, [name], rendered)
    return added(text, service, ["environment", name], rendered)
