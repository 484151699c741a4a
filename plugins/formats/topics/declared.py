"""Topics as the tools that keep them in YAML write them.

    topicctl       meta: {name}, spec: {partitions, replicationFactor, retentionMinutes, settings}
    Jikkou         kind: KafkaTopic or KafkaTopicList, spec: {partitions, replicas, configs}
    Julie          context, projects: [{name, topics: [{name, config}]}]
    kafka-gitops   topics: {NAME: {partitions, replication, configs}}, settings.topics.defaults.replication
    Ansible        kafka_lib and kafka_topic: {resource: topic, name, partitions, replica_factor, options}

Each is a topic's document: its map of settings, and its counts as facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from advisor.api import (
    CannotEdit,
    Document,
    EditStep,
    Fact,
    Loaded,
    Location,
    Node,
    Origin,
    Setting,
    Source,
    integer,
    is_template,
    parse_yaml,
    setting,
)

from ..maps.edit_nodes import edit_map
from ..maps.node_settings import mappings_in, settings_of

FORMAT = "declared-topics"
_TOPICCTL = re.compile(r"^[ \t]*+replicationFactor[ \t]*+:", re.MULTILINE)
_META = re.compile(r"^meta[ \t]*+:", re.MULTILINE)
_JIKKOU = re.compile(r"^kind[ \t]*+:[ \t]*+[\"']?KafkaTopic(?:List)?+\b", re.MULTILINE)
_JULIE = re.compile(r"^context[ \t]*+:.*?^projects[ \t]*+:", re.MULTILINE | re.DOTALL)
_GITOPS = re.compile(r"^topics[ \t]*+:[ \t]*+(?:#.*+)?$", re.MULTILINE)
_REPLICATION = re.compile(r"^[ \t]++(replication|partitions)[ \t]*+:[ \t]*+[\"']?\d", re.MULTILINE)
_ADDRESS = re.compile(r"[\w.-]{1,250}:[0-9]{1,5}")
_ANSIBLE = re.compile(r"^[ \t-]++(?:[\w.]+\.)?kafka_(?:lib|topics?)[ \t]*+:", re.MULTILINE)


class _Topic(NamedTuple):
    """name; where its map of settings is; counts by fact, each with the node that says it."""

    name: str
    line: int
    config: Node | None
    partitions: Node | None = None
    replicas: Node | None = None
    minutes: Node | None = None
    servers: str = ""


def claim(name: str, text: str) -> int:
    if "jikkou.io/" in text and _JIKKOU.search(text):
        return 92
    if _TOPICCTL.search(text) and _META.search(text):
        return 85
    if _JULIE.search(text) and "topics" in text:
        return 80
    if _ANSIBLE.search(text):
        return 75
    named = name.lower().rpartition("/")[2].startswith(("state", "topics", "kafka"))
    both = {found[1] for found in _REPLICATION.finditer(text)} == {"replication", "partitions"}
    return 70 if _GITOPS.search(text) and (both or (named and _REPLICATION.search(text))) else 0


def load(source: Source) -> Loaded:
    found = tuple(_document(source.file, one) for one in _topics(parse_yaml(source.text)))
    return Loaded(found) if found else Loaded((), "skipped", "no topic is declared in it")


def _topics(roots: list[Node]) -> Iterator[_Topic]:
    for root in roots:
        if root.kind == "mapping" and root.get("meta") is not None and root.get("spec") is not None:
            yield from _of_topicctl(root)
        elif root.kind == "mapping" and root.get("projects") is not None:
            yield from _of_julie(root)
        elif root.kind == "mapping" and str(root.text_at("kind") or "").startswith("KafkaTopic"):
            yield from _of_jikkou(root)
        elif root.kind == "mapping" and (topics := root.get("topics")) is not None:
            yield from _of_gitops(root, topics)
        else:
            yield from _of_ansible(root)


def _of_topicctl(root: Node) -> Iterator[_Topic]:
    spec = root.get("spec")
    name = root.text_at("meta", "name")
    if name and spec is not None and spec.kind == "mapping":
        counts = (spec.get("partitions"), spec.get("replicationFactor"), spec.get("retentionMinutes"))
        yield _Topic(name, spec.line, spec.get("settings"), *counts)


def _of_jikkou(root: Node) -> Iterator[_Topic]:
    items = root.get("items") or root.get("spec", "topics")
    for one in items.elements if items is not None and items.kind == "sequence" else (root,):
        spec = one.get("spec") if one.kind == "mapping" else None
        name = one.text_at("metadata", "name") if spec is not None else None
        if name and spec is not None and spec.kind == "mapping":
            yield _Topic(name, spec.line, spec.get("configs"), spec.get("partitions"), spec.get("replicas"))


def _of_julie(root: Node) -> Iterator[_Topic]:
    """Called context.project.topic, unless the tool is told otherwise."""
    projects = root.get("projects")
    for project in projects.elements if projects is not None and projects.kind == "sequence" else ():
        topics = project.get("topics") if project.kind == "mapping" else None
        for one in topics.elements if topics is not None and topics.kind == "sequence" else ():
            own = one.text_at("name") if one.kind == "mapping" else None
            if own:
                parts = (root.text_at("context"), project.text_at("name"), own)
                config = one.get("config")
                counts = (
                    (config.get("num.partitions"), config.get("replication.factor"))
                    if config is not None and config.kind == "mapping"
                    else (None, None)
                )
                yield _Topic(".".join(part for part in parts if part), one.line, config, *counts)


def _of_gitops(root: Node, topics: Node) -> Iterator[_Topic]:
    usual = root.get("settings", "topics", "defaults", "replication")
    for name, _, one in topics.pairs() if topics.kind == "mapping" else ():
        if one.kind == "mapping" and (one.get("partitions") is not None or one.get("configs") is not None):
            yield _Topic(
                name, one.line, one.get("configs"), one.get("partitions"), one.get("replication") or usual
            )


def _of_ansible(root: Node) -> Iterator[_Topic]:
    found: dict[str, _Topic] = {}
    for path, node in mappings_in([root]):
        called = path[-1][0].rpartition(".")[2] if path else ""
        if called not in ("kafka_lib", "kafka_topic", "kafka_topics"):
            continue
        if called == "kafka_lib" and node.text_at("resource") != "topic":
            continue
        listed = node.get("topics")
        for one in listed.elements if listed is not None and listed.kind == "sequence" else (node,):
            name = one.text_at("name") if one.kind == "mapping" else None
            gone = one.text_at("state") == "absent" if one.kind == "mapping" else True
            if name and not gone:
                # Tasks run one after the other: the last one says what the topic becomes.
                found[name] = _Topic(
                    *(name, one.line, one.get("options"), one.get("partitions"), one.get("replica_factor")),
                    servers=node.text_at("bootstrap_servers") or "",
                )
    yield from found.values()


_COUNTS = ("num.partitions", "replication.factor")


def _document(file: str, topic: _Topic) -> Document:
    config = topic.config if topic.config is not None and topic.config.kind == "mapping" else None
    found, dropped = settings_of(config, file, lambda key: None if key in _COUNTS else key)
    settings = (*found, *_retention(file, topic, found))
    facts = tuple(
        Fact(fact, node.text(), Origin("file", Location(file, node.line)))
        for fact, node in (
            ("topic.partitions", topic.partitions),
            ("topic.replication_factor", topic.replicas),
        )
        if node is not None and node.kind == "scalar" and integer(node.text()) is not None
    )
    hints = () if is_template(topic.name) else (("topic", topic.name),)
    hints += tuple(
        ("bootstrap", one.strip()) for one in topic.servers.split(",") if _ADDRESS.fullmatch(one.strip())
    )
    return Document(
        file,
        FORMAT,
        "topic",
        topic.name,
        settings,
        line=topic.line,
        facts=facts,
        dropped=dropped,
        hints=hints,
    )


def _retention(file: str, topic: _Topic, found: tuple[Setting, ...]) -> Iterator[Setting]:
    minutes = topic.minutes
    if minutes is None or minutes.kind != "scalar" or any(one.key == "retention.ms" for one in found):
        return
    count = integer(minutes.text())
    if count is not None:
        yield setting("retention.ms", str(count * 60_000), file, minutes.line, "of retentionMinutes")


def edit(source: Source, document: Document, step: EditStep) -> str:
    """The topic's own map of settings."""
    for one in _topics(parse_yaml(source.text)):
        if one.name == document.name and one.line == document.line:
            return edit_map(source, step, one.config)
    raise CannotEdit("the topic is not found where it was read", document.line)
