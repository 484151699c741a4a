"""Spring's listeners in Java and Kotlin code: which topics they read, in which group, with how many
consumers.

A `listener` document configures nothing by itself: what its consumer gets besides is in the application's
file or in a factory. They are put together where the files are joined. A factory is a document of the same
kind, with the name of its bean.
"""

from __future__ import annotations

from collections.abc import Iterator

from advisor.api import Document, Fact, Location, Origin, Setting, integer, is_template, setting

from ..properties import stem_of
from .jvm import Annotation, Placeholders, annotations
from .literals import Code, Value

FORMAT = "java-source"
COMPONENT = "listener"
# A bean that is longer makes more than a factory.
_BODY_MAX = 3_000
_FACTORY = "ConcurrentKafkaListenerContainerFactory"


def listeners(file: str, code: Code, placeholders: Placeholders) -> Iterator[Document]:
    for number, one in enumerate(annotations(code, "KafkaListener")):
        yield _listener(file, code, one, placeholders, number)
    yield from _factories(file, code)


def _listener(file: str, code: Code, one: Annotation, placeholders: Placeholders, number: int) -> Document:
    attributes = one.attributes
    found: list[tuple[str, str]] = []
    for name in _texts(attributes.get("topics"), placeholders):
        found.append(("topic", name))
    if not found:
        # By pattern, by partitions, or by what the code computes: no topic of the root is known to be its.
        found.append(("topic", f"those of {stem_of(file)}"))
    group = _group(attributes, placeholders)
    if group and not is_template(group):
        found.append(("group", group))
    factory = next(iter(_texts(attributes.get("containerFactory"), placeholders)), "")
    found.append(("factory", factory or "kafkaListenerContainerFactory"))
    method = _named_behind(code, one)
    title = f"{stem_of(file)} {method or number + 1}"
    facts = tuple(_facts(file, attributes, placeholders))
    settings = tuple(_settings(file, attributes, placeholders, group))
    return Document(
        file, FORMAT, COMPONENT, title, settings, "spring", one.line, facts, (), tuple(dict.fromkeys(found))
    )


def _group(attributes: dict[str, Value], placeholders: Placeholders) -> str:
    """groupId, else the id unless idIsGroup is false; "" if neither is there, `${...}` if it is not known."""
    given = attributes.get("groupId")
    if given is None and _word(attributes.get("idIsGroup")) != "false":
        given = attributes.get("id")
    if given is None:
        return ""
    text = placeholders.filled(given.text) if given.kind == "text" else "${an expression}"
    return "${an expression}" if text.startswith("#{") else text


def _word(value: Value | None) -> str:
    return value.text if value is not None else ""


def _texts(value: Value | None, placeholders: Placeholders) -> list[str]:
    """The texts of an attribute that may be a list; what is not known is left out."""
    if value is None:
        return []
    items = value.items if value.kind == "list" else (value,)
    texts = [placeholders.filled(item.text) for item in items if item.kind == "text"]
    # One placeholder may stand for a list.
    parts = [part.strip() for text in texts for part in text.split(",")]
    return [part for part in parts if part and not is_template(part) and "#{" not in part]


def _facts(file: str, attributes: dict[str, Value], placeholders: Placeholders) -> Iterator[Fact]:
    given = attributes.get("concurrency")
    if given is not None:
        text = placeholders.filled(given.text) if given.kind in ("text", "number") else ""
        origin = Origin("file", Location(file, given.line), "concurrency")
        yield Fact("listener.concurrency", text if integer(text) is not None else "unknown", origin)
    if "topicPartitions" in attributes:
        line = attributes["topicPartitions"].line
        yield Fact("consumer.subscription", "assign", Origin("file", Location(file, line), "topicPartitions"))
    if _word(attributes.get("autoStartup")) == "false":
        line = attributes["autoStartup"].line
        yield Fact("listener.starts", "false", Origin("file", Location(file, line), "autoStartup"))


def _settings(
    file: str, attributes: dict[str, Value], placeholders: Placeholders, group: str
) -> Iterator[Setting]:
    """`properties = {"max.poll.records=10"}` go over the factory's; group.id is taken from groupId alone."""
    listed = attributes.get("properties")
    items = () if listed is None else listed.items if listed.kind == "list" else (listed,)
    for item in items:
        for row in item.text.split("\n") if item.kind == "text" else ():
            key, sign, value = _split(row)
            if sign and key not in ("group.id", "client.id"):
                yield setting(key, placeholders.filled(value), file, item.line, "@KafkaListener")
    if group:
        line = (attributes.get("groupId") or attributes["id"]).line
        yield setting("group.id", group, file, line, "@KafkaListener")


def _split(row: str) -> tuple[str, str, str]:
    """A line of properties: the first `=`, `:` or blank divides."""
    for at, sign in enumerate(row.strip()):
        if sign in "=: ":
            return row.strip()[:at].strip(), sign, row.strip()[at + 1 :].strip(" =:")
    return "", "", ""


def _named_behind(code: Code, one: Annotation) -> str:
    """The method or class that is annotated: the last name before the next `(` or `{`."""
    place = code.closing.get(one.at + 1, one.at) + 1 if code.sign(one.at + 1, "(") else one.at + 1
    last = ""
    for at in range(place, min(place + 60, len(code.tokens))):
        if code.sign(at, "@"):
            continue
        if code.sign(at, "{") or (code.sign(at, "(") and not code.sign(at - 2, "@")):
            return last
        last = code.name(at) or last
    return last


def _factories(file: str, code: Code) -> Iterator[Document]:
    """Beans that make listener containers: how many consumers each gets, unless it says so itself."""
    for one in annotations(code, "Bean"):
        body = _body(code, one)
        if body is None or not any(code.name(at) == _FACTORY for at in range(one.at, body[1])):
            continue
        name = next(
            (item for item in (_word(one.attributes.get(key)) for key in ("value", "name")) if item), ""
        )
        name = name or body[2]
        facts = []
        consumer = ""
        for at in range(*body[:2]):
            close = code.closing.get(at + 1) if code.sign(at + 1, "(") else None
            if code.name(at) == "setConcurrency" and close is not None:
                facts.append(_concurrency(file, code.value(at + 2, close), code.tokens[at].line))
            elif code.name(at) == "concurrency" and code.sign(at + 1, "="):
                value = code.value(at + 2, code.end_of_statement(at + 2))
                facts.append(_concurrency(file, value, code.tokens[at].line))
            elif code.name(at) in ("setConsumerFactory", "consumerFactory") and not consumer:
                consumer = code.name(at + 2) or ""
        hints = (("factory-of", name), *((("consumer-factory", consumer),) if consumer else ()))
        yield Document(
            file,
            FORMAT,
            COMPONENT,
            f"{stem_of(file)} {name}",
            (),
            "spring",
            one.line,
            tuple(facts),
            (),
            hints,
        )


def _concurrency(file: str, value: Value, line: int) -> Fact:
    text = value.text if value.kind in ("number", "text") and integer(value.text) is not None else "unknown"
    return Fact("listener.concurrency", text, Origin("file", Location(file, line), "setConcurrency"))


def _body(code: Code, one: Annotation) -> tuple[int, int, str] | None:
    """Where the annotated method's body begins and ends, and the method's name."""
    place = code.closing.get(one.at + 1, one.at) + 1 if code.sign(one.at + 1, "(") else one.at + 1
    name = ""
    for at in range(place, min(place + 200, len(code.tokens))):
        if code.sign(at, "(") and not name:
            name = code.name(at - 1) or ""
        if code.sign(at, ";"):
            return None
        if code.sign(at, "{") and name:
            end = code.closing.get(at)
            return (at, end, name) if end is not None and end - at < _BODY_MAX else None
    return None
