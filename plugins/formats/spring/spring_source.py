"""Spring Boot's property sources: YAML and properties texts as flat names with their lines, in parts.

A text has several parts, divided by `---` (`#---` in a properties file), each perhaps for certain
profiles only. Names are flattened as Spring Boot flattens them; what a name binds to is not known here.
"""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from advisor.api import LoadError, Node, is_digits, parse_properties, parse_yaml


class Prop(NamedTuple):
    """One property. `path` is its name in elements, spelt as written; `listed` = written as a list."""

    name: str
    path: tuple[str, ...]
    text: str
    file: str
    line: int
    listed: bool = False


class Part(NamedTuple):
    """Properties that hold together; `condition` is the profile expression they need."""

    condition: str | None
    props: tuple[Prop, ...]


_NAME_PART = re.compile(r"[^.\[]+")
_DIVIDER = re.compile(r"^[#!]---[ \t]*\r?$", re.MULTILINE)
# Maven puts these in when it builds; a YAML scalar cannot begin with an @.
_FILTERED = re.compile(r"(:[ \t]+)(@[\w.-]+@)([ \t]*(?:#.*)?\r?)$", re.MULTILINE)
_CONDITIONS = (
    ("spring", "config", "activate", "onprofile"),
    ("spring", "config", "activate", "oncloudplatform"),
    ("spring", "profiles"),
)


def uniform(element: str) -> str:
    """What Spring Boot compares: batch-size, batchSize, batch_size and BATCH_SIZE are one."""
    return "".join(letter for letter in element.lower() if letter.isalnum())


def elements(name: str) -> tuple[str, ...]:
    """A name's elements: dots divide, except inside brackets."""
    found: list[str] = []
    at, last = 0, name.rfind("]")
    while at < len(name):
        end = at + 1
        if name[at] == "[" and at < last:
            end = name.find("]", at) + 1
            found.append(name[at + 1 : end - 1])
        elif name[at] not in ".[":
            part = _NAME_PART.match(name, at)
            assert part is not None, "it begins with one letter at least"
            end = part.end()
            found.append(part[0])
        at = end
    return tuple(found)


def parts(file: str, text: str) -> list[Part]:
    """The parts of a text, in order. LoadError where Spring Boot could not read it."""
    flat = _properties(file, text) if file.lower().endswith(".properties") else _yaml(file, text)
    # A name of dots alone, or a document that is one bare word, names nothing that could be bound.
    return [_part([prop for prop in props if prop.path]) for props in flat]


def _properties(file: str, text: str) -> Iterator[list[Prop]]:
    begin = 0
    for divider in [*_DIVIDER.finditer(text), None]:
        end = len(text) if divider is None else divider.start()
        before = text.count("\n", 0, begin)
        yield _gathered(
            [
                Prop(entry.key, elements(entry.key), entry.value, file, entry.line + before)
                for entry in parse_properties(text[begin:end])
            ]
        )
        begin = len(text) if divider is None else divider.end()


def _gathered(props: list[Prop]) -> list[Prop]:
    """Elements of a list, written one by one as name[0], name[1], made one property."""
    whole = {prop.path for prop in props}
    found: dict[tuple[str, ...], Prop] = {}
    for number, prop in enumerate(props):
        parent = prop.path[:-1]
        if not (prop.path and is_digits(prop.path[-1])):
            # Equal names stay apart, so that the later can be seen to win.
            found[(*prop.path, f"#{number}")] = prop
        elif parent not in whole:
            before = found.get(parent)
            text = prop.text if before is None else f"{before.text},{prop.text}"
            line = prop.line if before is None else before.line
            found[parent] = Prop(".".join(parent), parent, text, prop.file, line, True)
    return list(found.values())


def _yaml(file: str, text: str) -> Iterator[list[Prop]]:
    if "@" in text:
        text = _FILTERED.sub(r'\1"\2"\3', text)
    for document in parse_yaml(text):
        props: list[Prop] = []
        _flatten(document, "", file, document.line, props)
        yield props


def _flatten(node: Node, name: str, file: str, line: int, into: list[Prop]) -> None:
    if node.kind == "mapping":
        for key, _ in node.duplicates:
            raise LoadError(
                f"the key {key.text()} stands twice in one mapping: Spring Boot refuses to start", key.line
            )
        for written, key, value in node.pairs():
            inner = (
                f"{name}{written}" if written.startswith("[") else f"{name}.{written}" if name else written
            )
            _flatten(value, inner, file, key.line, into)
    elif node.kind == "sequence":
        if all(element.kind == "scalar" for element in node.elements):
            texts = ",".join(_scalar(element) for element in node.elements)
            into.append(Prop(name, elements(name), texts, file, line, True))
            return
        for index, element in enumerate(node.elements):
            _flatten(element, f"{name}[{index}]", file, element.line, into)
    else:
        into.append(Prop(name, elements(name), _scalar(node), file, line))


def _scalar(node: Node) -> str:
    text = node.text()
    # A float keeps its point in Java (1.0), where the shorter form would become a valid integer.
    return text if "." in text else node.loaded_text()


def _part(props: list[Prop]) -> Part:
    for wanted in _CONDITIONS:
        for prop in props:
            if len(prop.path) == len(wanted) and tuple(map(uniform, prop.path)) == wanted:
                return Part(prop.text, tuple(props))
    return Part(None, tuple(props))


_TOKEN = re.compile(r"[!&|(),]|[^!&|(),\s]+")


def matches(condition: str | None, active: Collection[str]) -> bool:
    """Whether a profile expression holds while these profiles are active."""
    if condition is None:
        return True
    tokens = _TOKEN.findall(condition)
    return any(_holds(list(part), active) for part in _split(tokens, ","))


def _split(tokens: list[str], at: str) -> list[list[str]]:
    """The tokens between separators that stand outside parentheses."""
    found: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token == "(") - (token == ")")
        if token == at and depth <= 0:
            found.append([])
        else:
            found[-1].append(token)
    return found


def _holds(tokens: list[str], active: Collection[str]) -> bool:
    if len(tokens) > 200:
        return False  # no expression a person would write
    for operator, together in (("|", any), ("&", all)):
        sides = _split(tokens, operator)
        if len(sides) > 1:
            return together(_holds(side, active) for side in sides)
    if not tokens:
        return False
    if tokens[0] == "!":
        return not _holds(tokens[1:], active)
    if tokens[0] == "(" and tokens[-1] == ")":
        return _holds(tokens[1:-1], active)
    return len(tokens) == 1 and tokens[0] in active


def variants(conditions: Collection[str | None]) -> list[tuple[str, ...]]:
    """The sets of profiles that the conditions ask for, each once, in the order they are named."""
    found: dict[tuple[str, ...], None] = {}
    for condition in conditions:
        for alternative in re.split(r"[,|]", condition or ""):
            tokens = _TOKEN.findall(alternative.replace("(", " ").replace(")", " "))
            names = [
                token
                for before, token in zip(["", *tokens], tokens, strict=False)
                if token not in "!&" and before != "!"
            ]
            if names:
                found[tuple(names)] = None
    return list(found)
