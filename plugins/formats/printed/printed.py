"""What Kafka prints about itself, kept in a file: what its tools describe, what clients log as they start.

    kafka-topics     Topic: orders  PartitionCount: 3  ReplicationFactor: 2  Configs: retention.ms=1000
    kafka-configs    Dynamic configs for topic orders are:
                       retention.ms=1000 sensitive=false synonyms={...}
    kafka-features   Feature: eligible.leader.replicas.version  ...  FinalizedVersionLevel: 1
    client logs      ... ProducerConfig values:
                         acks = -1

Read line by line, so a log may have any length. A client that logs the same values again is the same client.
A log is no configuration: one that only lies about is read if the user names it. A broker logs its defaults
too, and those were never set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from advisor.api import Document, Fact, Loaded, Location, Origin, Setting, Source, integer, lookup, setting

from ..properties import hints, stem_of

FORMAT = "printed"
_VALUES = re.compile(
    r"\b(ProducerConfig|ConsumerConfig|AdminClientConfig|StreamsConfig|KafkaConfig) values: ?$", re.MULTILINE
)
_COMPONENTS = {
    "ProducerConfig": "producer",
    "ConsumerConfig": "consumer",
    "AdminClientConfig": "admin",
    "StreamsConfig": "streams",
    "KafkaConfig": "broker",
}
_VALUE = re.compile(r"[ \t]++([a-z][\w.-]*+) = (.*+)")
_TOPIC = re.compile(
    r"^Topic: ?(\S++)[ \t].*?PartitionCount: ?(\d++)[ \t]++ReplicationFactor: ?(\d++)"
    r"(?:[ \t]++Configs: ?(.*+))?$",
    re.MULTILINE,
)
_DESCRIBED = re.compile(r"[Cc]onfigs for (topic|brokers?)[ :]'?([\w.-]*+)'? are:?[ \t]*+(.*+)")
_LINE = re.compile(r"^[ \t]++([\w.-]++)=(.*?) sensitive=(true|false) synonyms=", re.MULTILINE)
# Names and versions are short: a line that says "Feature:" over and over is not read over and over.
_FEATURE = re.compile(r"Feature: ?(\S{1,100}+)[ \t].{0,300}?FinalizedVersionLevel: ?(\S++)")
_PAIR = re.compile(r"(?<![\w.-])([\w.-]++)=((?:[^,=]++|,(?![\w.-]++=))*+)")
# More different clients than these in one log are a load test's.
_BLOCKS_MAX = 200
_LINE_MAX = 20_000


class _Block(NamedTuple):
    component: str
    name: str
    line: int
    settings: list[Setting]
    facts: list[Fact]


def claim(name: str, text: str) -> int:
    found = (
        _VALUES.search(text)
        or _TOPIC.search(text)
        or _FEATURE.search(text)
        or _LINE.search(text)
        or _DESCRIBED.search(text)
    )
    return 5 if found else 0


def load(source: Source) -> Loaded:
    return stream(source.file, enumerate(source.text.split("\n"), 1))


def stream(file: str, lines: Iterable[tuple[int, str]]) -> Loaded:
    found: dict[tuple[object, ...], Document] = {}
    for block in _blocks(file, lines):
        document = _document(file, block)
        mark = (block.component, block.name, *((one.key, str(one.value)) for one in document.settings))
        if (document.settings or document.facts) and len(found) < _BLOCKS_MAX:
            found.setdefault(mark, document)
    if not found:
        return Loaded((), "skipped", "Kafka has printed no settings in it")
    return Loaded(tuple(found.values()), "partial", "it was printed: what made it so is elsewhere")


def _blocks(file: str, lines: Iterable[tuple[int, str]]) -> Iterator[_Block]:
    block: _Block | None = None
    cluster = _Block("broker", stem_of(file), 1, [], [])
    for number, line in lines:
        line = line[:_LINE_MAX].rstrip("\r\n")
        value = _VALUE.match(line) or _LINE.match(line)
        if value is not None:
            if block is not None:
                block.settings.extend(_setting(file, number, value[1], value[2]))
            continue
        started = _started(file, number, line)
        if started is not None or line.strip():
            if block is not None:
                yield block
            block = started
        feature = _FEATURE.search(line)
        if feature is not None:
            cluster.facts.extend(_feature(file, number, feature[1], feature[2]))
    if block is not None:
        yield block
    if cluster.facts:
        yield cluster


def _started(file: str, number: int, line: str) -> _Block | None:
    found = _VALUES.search(line)
    if found is not None:
        component = _COMPONENTS[found[1]]
        return _Block(component, f"{stem_of(file)} {component}", number, [], [])
    found = _TOPIC.match(line)
    if found is not None:
        at = Origin("file", Location(file, number))
        facts = [Fact("topic.partitions", found[2], at), Fact("topic.replication_factor", found[3], at)]
        settings = [
            one for key, text in _PAIR.findall(found[4] or "") for one in _setting(file, number, key, text)
        ]
        return _Block("topic", found[1], number, settings, facts)
    found = _DESCRIBED.search(line)
    if found is not None:
        topic = found[1] == "topic"
        name = found[2] or "defaults"
        settings = [one for key, text in _PAIR.findall(found[3]) for one in _setting(file, number, key, text)]
        return _Block(
            "topic" if topic else "broker", name if topic else f"broker {name}", number, settings, []
        )
    return None


def _setting(file: str, number: int, key: str, text: str) -> Iterator[Setting]:
    """As Kafka's ConfigDef prints values; what is null or hidden says nothing."""
    text = text.strip().removeprefix("class ")
    if text in ("null", "[hidden]"):
        return
    if text.startswith("[") and text.endswith("]"):
        text = ",".join(part.strip().removeprefix("class ") for part in text[1:-1].split(","))
    yield setting(key, text, file, number)


def _is_default(key: str, one: Setting) -> bool:
    known = lookup("broker", key, "4.3") or lookup("broker", key, "3.9")
    return known is not None and known.default is not None and str(one.value) == str(known.default)


def _feature(file: str, number: int, name: str, level: str) -> Iterator[Fact]:
    at = Origin("file", Location(file, number), "kafka-features")
    if name == "eligible.leader.replicas.version" and integer(level) is not None:
        yield Fact("cluster.elr", "on" if level != "0" else "off", at)
    if name == "metadata.version":
        yield Fact("cluster.mode", "kraft", at)


def _document(file: str, block: _Block) -> Document:
    last = {one.key: one for one in block.settings}
    if block.component == "broker":
        last = {key: one for key, one in last.items() if not _is_default(key, one)}
    settings = tuple(last.values())
    found = hints(block.component, settings)
    if block.component == "topic":
        found = (("topic", block.name),)
    client = "streams" if block.component == "streams" else "java"
    return Document(
        file, FORMAT, block.component, block.name, settings, client, block.line, tuple(block.facts), (), found
    )
