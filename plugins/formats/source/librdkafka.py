"""Configurations of librdkafka's clients that stand as literals in Python, Go and JavaScript code.

    Producer({"bootstrap.servers": "kafka:9092", "acks": "all"})          confluent_kafka
    kafka.NewConsumer(&kafka.ConfigMap{"group.id": "billing", ...})       confluent-kafka-go
    new Kafka.Producer({"metadata.broker.list": "kafka:9092"}, {...})     node-rdkafka

A map may have a name first, be laid over others, and get more keys one by one. What is no literal is unknown,
and a key that is set to two things is too. Topics are those that the same file sends to or subscribes to,
where it has one such client.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from advisor.api import Document, Loaded, Setting, Source, Unknown, librdkafka, setting

from .. import roles
from ..properties import hints, stem_of
from .literals import Code, Value, shown
from .tokens import language_of, tokens_of

FORMAT = "librdkafka"
_LIBRARY = re.compile(
    r"\bconfluent_kafka\b|confluentinc/confluent-kafka-go|\bnode-rdkafka\b|@confluentinc/kafka-javascript"
)
_KEY = re.compile(
    r"[\"'](?:bootstrap\.servers|metadata\.broker\.list|[a-z]++(?:\.[a-z_]++)++)[\"'][ \t]*+\]?[ \t]*+[:=]"
)
_MAKES = {
    "Producer": "producer",
    "SerializingProducer": "producer",
    "AvroProducer": "producer",
    "AIOProducer": "producer",
    "NewProducer": "producer",
    "HighLevelProducer": "producer",
    "Consumer": "consumer",
    "DeserializingConsumer": "consumer",
    "AvroConsumer": "consumer",
    "AIOConsumer": "consumer",
    "NewConsumer": "consumer",
    "KafkaConsumer": "consumer",
    "AdminClient": "admin",
    "NewAdminClient": "admin",
}
_SENDS = ("produce", "poll_and_produce")
_READS = ("subscribe", "Subscribe", "SubscribeTopics")
_KEYS_MIN = 2


def claim(name: str, text: str) -> int:
    return 80 if _LIBRARY.search(text) and _KEY.search(text) else 0


class _Map(NamedTuple):
    """A map in the code: the name it is given, the client that is made of it, its keys and values."""

    name: str
    component: str
    value: Value
    topics: bool = False


def load(source: Source) -> Loaded:
    language = language_of(source.file) or "python"
    code = Code(tokens_of(source.text, language), language)
    found = [one for one in _maps(code) if _is_ours(one)]
    documents = []
    for number, one in enumerate(found):
        for role in _roles(one, source.file):
            documents.append(_document(source.file, code, one, role, found[:number]))
    documents = [document for document in documents if document.settings]
    if not documents:
        return Loaded((), "skipped", "no client's configuration stands in it as literals")
    reason = "it is source code: only what is written as literals is read"
    return Loaded(tuple(_told_topics(code, documents)), "partial", reason)


# Finding the maps.


def _maps(code: Code) -> Iterator[_Map]:
    """Every map that is given to a client or has a name, with all its keys: also those that it gets later and
    those of the maps it is laid over."""
    named: dict[str, Value] = {}
    used: list[tuple[str, Value]] = []
    for at, token in enumerate(code.tokens):
        if token.kind == "name" and token.text in _MAKES and code.sign(at + 1, "("):
            used += _given(code, at)
    also: dict[str, str] = {}
    for _, name, value in code.assignments():
        if value.kind == "map" and value.pairs:
            named[name] = _laid_over(value, named)
        elif value.kind == "name" and value.text in named:
            also[name] = value.text
    changes = _changes(code)
    taken = set()
    for component, value in used:
        if value.kind == "name":
            name = value.text.rpartition(".")[2]
            name = also.get(name, name)
            if name in named:
                taken.add(name)
                yield _Map(name, component, _changed(named[name], changes.get(name, ())))
        elif value.kind == "map":
            yield _Map("", component, _laid_over(value, named))
    under = {name for value in named.values() for name in value.spread}
    for name, value in named.items():
        if name not in taken and name not in under:
            yield _Map(name, "", _changed(value, changes.get(name, ())))


def _given(code: Code, at: int) -> list[tuple[str, Value]]:
    """What a client is made of: its first argument, and node-rdkafka's second, which is about topics."""
    close = code.closing.get(at + 1)
    if close is None:
        return []
    component = _MAKES[code.tokens[at].text]
    arguments = code.split(at + 2, close)
    if not arguments:
        return []
    start, end = arguments[0]
    while start < end and code.sign(start, "*"):
        start += 1
    first = code.value(start, end)
    if code.language == "javascript" and len(arguments) > 1:
        second = code.value(*arguments[1])
        if first.kind == second.kind == "map":
            first = first._replace(pairs=(*first.pairs, *second.pairs))
    return [(component, first)]


def _laid_over(value: Value, named: dict[str, Value]) -> Value:
    """With the keys of the maps that it is laid over; one that is not known may bring any."""
    pairs: dict[str, Value] = {}
    for name in value.spread:
        under = named.get(name.rpartition(".")[2])
        pairs.update(dict(under.pairs) if under is not None else {})
    pairs.update(dict(value.pairs))
    return value._replace(pairs=tuple(pairs.items()))


def _changes(code: Code) -> dict[str, list[tuple[str, Value]]]:
    """`conf["group.id"] = "billing"`, `conf.SetKey("acks", "all")`, `conf.update({...})`, by its name."""
    found: dict[str, list[tuple[str, Value]]] = {}
    for at, token in enumerate(code.tokens):
        if token.kind != "name":
            continue
        close = code.closing.get(at + 1)
        if code.sign(at + 1, "[") and close == at + 3 and code.sign(close + 1, "="):
            key = code.value(at + 2, close)
            if key.kind == "text" and not code.sign(close + 2, "="):
                value = code.value(close + 2, code.end_of_statement(close + 2))
                found.setdefault(token.text, []).append((key.text, value._replace(line=token.line)))
        elif token.text in ("SetKey", "update") and code.sign(at + 1, "(") and code.sign(at - 1, "."):
            name = code.name(at - 2)
            arguments = code.split(at + 2, close) if close is not None else []
            values = [code.value(*one) for one in arguments]
            if name and len(values) == 2 and values[0].kind == "text":
                found.setdefault(name, []).append((values[0].text, values[1]._replace(line=token.line)))
            elif name and len(values) == 1 and values[0].kind == "map":
                found.setdefault(name, []).extend(values[0].pairs)
    return found


def _changed(value: Value, changes: list[tuple[str, Value]] | tuple[()]) -> Value:
    """A key that is there already and gets another value may have either: which, the code decides."""
    pairs = dict(value.pairs)
    for key, new in changes:
        before = pairs.get(key)
        if before is None or before.text == new.text:
            pairs[key] = new
        else:
            pairs[key] = Value("name", f"line {before.line} or {new.line}", before.line)
    return value._replace(pairs=tuple(pairs.items()))


# What is made of them.


def _is_ours(one: _Map) -> bool:
    keys = [key for key, _ in one.value.pairs]
    known = sum(
        librdkafka(key) is not None and ("." in key or key in ("acks", "retries", "debug")) for key in keys
    )
    return known >= (1 if one.component else _KEYS_MIN) and known >= 0.4 * len(keys)


def _roles(one: _Map, file: str) -> list[str]:
    if one.component:
        return [one.component]
    keys = [key for key, _ in one.value.pairs]
    return [
        role.component
        for role in roles.infer(keys, f"{one.name}.{stem_of(file)}")
        if role.component in roles.CLIENTS
    ]


def _document(file: str, code: Code, one: _Map, component: str, before: list[_Map]) -> Document:
    settings: dict[str, Setting] = {}
    for key, value in _flat(one.value):
        if key.endswith("_cb"):
            continue  # a program sets a callback, and this is one
        if librdkafka(key) is not None and (one.component or roles.belongs(key, component)):
            settings[key] = _setting(file, key, value)
    name = f"{stem_of(file)} {one.name or component}"
    if any(other.name == one.name and other.component == one.component for other in before):
        name += f" line {one.value.line}"
    held = tuple(settings.values())
    line = one.value.line
    return Document(file, FORMAT, component, name, held, "librdkafka", line, (), (), hints(component, held))


def _flat(value: Value) -> Iterator[tuple[str, Value]]:
    for key, one in value.pairs:
        if key == "default.topic.config" and one.kind == "map":
            yield from one.pairs
        else:
            yield key, one


def _setting(file: str, key: str, value: Value) -> Setting:
    one = setting(key, shown(value), file, value.line)
    if value.kind == "name" and value.text.startswith("line ") and isinstance(one.value, Unknown):
        return one._replace(value=Unknown(value.text))
    return one


def _told_topics(code: Code, documents: list[Document]) -> Iterator[Document]:
    """Each with the topics that the file sends to or reads; none of several clients of a kind."""
    counts = {document.component: 0 for document in documents}
    for document in documents:
        counts[document.component] += 1
    topics = {"producer": list(_sent_to(code)), "consumer": list(_subscribed(code))}
    for document in documents:
        named = topics.get(document.component, []) if counts[document.component] == 1 else []
        found = (*document.hints, *(("topic", name) for name in dict.fromkeys(named)))
        yield document._replace(hints=found)


def _sent_to(code: Code) -> Iterator[str]:
    for at, token in enumerate(code.tokens):
        if token.kind != "name":
            continue
        if (
            token.text in _SENDS
            and code.sign(at + 1, "(")
            and (close := code.closing.get(at + 1)) is not None
        ):
            for number, (start, end) in enumerate(code.split(at + 2, close)):
                if code.name(start) == "topic" and code.sign(start + 1, "="):
                    start, number = start + 2, 0
                value = code.value(start, end)
                if number == 0 and value.kind == "text":
                    yield value.text
        elif token.text == "Topic" and code.sign(at + 1, ":") and code.language == "go":
            value = code.value(at + 2, code.end_of_statement(at + 2))
            if value.kind == "text":
                yield value.text


def _subscribed(code: Code) -> Iterator[str]:
    for at, token in enumerate(code.tokens):
        if token.kind == "name" and token.text in _READS and code.sign(at + 1, "("):
            close = code.closing.get(at + 1)
            arguments = code.split(at + 2, close) if close is not None else []
            value = code.value(*arguments[0]) if arguments else Value("unknown", "", token.line)
            for item in value.items if value.kind == "list" else (value,):
                if item.kind == "text" and not item.text.startswith("^"):
                    yield item.text
