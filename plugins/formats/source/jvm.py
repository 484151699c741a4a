"""What Java and Kotlin code says around Kafka: annotations with their attributes, classes by their imports,
the names of configuration keys, and Spring's placeholders as far as the application's file fills them in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from advisor.api import LoadError, Source, known_anywhere

from ..frameworks.flat import flat_of
from .literals import Code, Value, shown

_PREFIXED = re.compile(r"(\w+?)Prefix")
_WORD_END = re.compile(r"(?<=[a-z])(?=[A-Z])")
_PLACEHOLDER = re.compile(r"\$\{([^${}:]+)(?::([^${}]*))?\}")
_SOURCES = re.compile(r"(?:^|/)src/[^/]+/(?:java|kotlin)/")
_CONFIG_CLASSES = {
    "ProducerConfig": "producer",
    "ConsumerConfig": "consumer",
    "StreamsConfig": "streams",
    "AdminClientConfig": "admin",
}


class Annotation(NamedTuple):
    """`at`: its place among the tokens; `attributes` by name, `value` for one without."""

    name: str
    at: int
    line: int
    attributes: dict[str, Value]


def annotations(code: Code, *names: str) -> Iterator[Annotation]:
    """Also those that stand inside another annotation."""
    for at, token in enumerate(code.tokens):
        if token.kind == "name" and token.text in names and code.sign(at - 1, "@"):
            found: dict[str, Value] = {}
            close = code.closing.get(at + 1) if code.sign(at + 1, "(") else None
            for start, end in code.split(at + 2, close) if close is not None else ():
                name = code.name(start)
                if name is not None and code.sign(start + 1, "="):
                    found[name] = code.value(start + 2, end)
                else:
                    found["value"] = code.value(start, end)
            yield Annotation(token.text, at, token.line, found)


def imports(code: Code) -> dict[str, str]:
    """Full names of classes by their short ones."""
    found = {}
    for at, token in enumerate(code.tokens):
        if token.kind == "name" and token.text == "import":
            parts = []
            place = at + 1
            while (name := code.name(place)) is not None:
                parts.append(name)
                if not code.sign(place + 1, "."):
                    break
                place += 2
            if len(parts) > 1:
                found[parts[-1]] = ".".join(parts)
    return found


def key_of(code: Code, start: int, end: int) -> tuple[str, str] | None:
    """The key that an expression names, and the client whose constant it is ("" if it is a text).

    Constants of Kafka's classes are the keys in capitals; StreamsConfig.producerPrefix(X) puts a word before.
    """
    value = code.value(start, end)
    if value.kind == "text":
        return value.text, ""
    owner = code.name(start) or ""
    last = end - 1
    if code.sign(start + 1, ".") and code.sign(start + 3, "(") and code.closing.get(start + 3) == last:
        prefixed = _PREFIXED.fullmatch(code.name(start + 2) or "")
        inner = key_of(code, start + 4, last) if prefixed is not None else None
        if prefixed is None or inner is None:
            return None
        return f"{_WORD_END.sub('.', prefixed[1]).lower()}.{inner[0]}", _CONFIG_CLASSES.get(owner, "")
    name = code.name(last) or ""
    if value.kind != "name" or name != name.upper():
        return None
    bare = name.removesuffix("_CONFIG")
    for spelt in (name, bare, bare.removesuffix("_CLASS"), f"{bare}_BYTES"):
        key = spelt.lower().replace("_", ".")
        if known_anywhere(key):
            return key, _CONFIG_CLASSES.get(owner, "")
    return None


# Constants for values; most values are texts and numbers.
_VALUES = {
    "EXACTLY_ONCE_V2": "exactly_once_v2",
    "EXACTLY_ONCE_BETA": "exactly_once_beta",
    "EXACTLY_ONCE": "exactly_once",
    "AT_LEAST_ONCE": "at_least_once",
}


def value_text(code: Code, start: int, end: int, known: dict[str, str]) -> str:
    """What an expression gives a setting: a literal, the name of a class, one of Kafka's own constants."""
    named = class_named(code, start, end, known)
    if named is not None:
        return named
    value = code.value(start, end)
    constant = _VALUES.get(value.text.rpartition(".")[2]) if value.kind == "name" else None
    return constant or shown(value)


def class_named(code: Code, start: int, end: int, known: dict[str, str]) -> str | None:
    """`StringSerializer.class`, `.class.getName()`, `StringSerializer::class.java` by its import."""
    name = code.name(start)
    is_class = (code.sign(start + 1, ".") and code.name(start + 2) == "class") or (
        code.sign(start + 1, ":") and code.sign(start + 2, ":") and code.name(start + 3) == "class"
    )
    return known.get(name) if name is not None and is_class and start < end else None


class Placeholders:
    """Spring's `${app.topic:orders}`, filled in from the application file of the same module."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._known: dict[str, str] | None = None

    def filled(self, text: str) -> str:
        """What nothing fills in stays as it is. `#{...}` is computed."""
        if "${" not in text:
            return text
        return _PLACEHOLDER.sub(self._value, text)

    def _value(self, found: re.Match[str]) -> str:
        known = self._properties().get(found[1].strip())
        if known is not None and "${" not in known:
            return known
        return found[2] if found[2] is not None and known is None else found[0]

    def _properties(self) -> dict[str, str]:
        if self._known is None:
            self._known = {}
            place = _SOURCES.search(self._source.file)
            if place is not None:
                up = "../" * (self._source.file.count("/", place.end()) + 1)
                for name in ("application.yml", "application.yaml", "application.properties"):
                    text = self._source.read(f"{up}resources/{name}")
                    try:
                        flat = flat_of(name, text) if text is not None else []
                    except LoadError:
                        flat = []
                    self._known.update({one.name: one.text for one in flat})
        return self._known
