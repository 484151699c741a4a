"""One topic that two files declare, each in its own way: whichever is applied last wins.

They are of one cluster if they lie in one folder, in the same format, and name the same cluster and namespace
if any. Files of different environments are not compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Document, Fact, Origin
from ...read.template.places import is_template

FACT = "topic.also_declared"
_COUNTS = {"topic.partitions": "partitions", "topic.replication_factor": "replication factor"}


def with_other_declarations(documents: Sequence[Document]) -> list[Document]:
    """Each topic that an earlier file declares differently is told where, and what differs."""
    first: dict[tuple[str, ...], Document] = {}
    found = []
    for document in documents:
        if document.component == "topic" and _is_whole(document):
            home = first.setdefault(_identity(document), document)
            if home is not document:
                document = _told(document, home)
        found.append(document)
    return found


def _is_whole(topic: Document) -> bool:
    """A name that is filled in elsewhere may be any: such a topic has none to be joined by."""
    named = ("topic", topic.name) in topic.hints and not is_template(topic.name)
    return named and topic.format != "set" and not topic.partial


def _identity(topic: Document) -> tuple[str, ...]:
    hints = dict(reversed(topic.hints))
    if "cluster" in hints:
        return topic.format, topic.name, hints["cluster"], hints.get("namespace", ""), _folder(topic)
    return topic.format, topic.name, _folder(topic)


def _folder(topic: Document) -> str:
    return topic.file.rpartition("/")[0]


def _told(topic: Document, home: Document) -> Document:
    differing = [*_differing(_settings(topic), _settings(home)), *_differing(_counts(topic), _counts(home))]
    if not differing:
        return topic
    origin = Origin("file", home.settings[0].origin.at if home.settings else None)
    place = f"{home.file}:{home.line}" if home.line is not None else home.file
    return topic._replace(facts=(*topic.facts, Fact(FACT, f"{place}: {'; '.join(differing)}", origin)))


def _differing(here: dict[str, str], there: dict[str, str]) -> list[str]:
    return [
        f"{name} {here[name]} here, {there[name]} there"
        for name in here
        if name in there and here[name] != there[name]
    ]


def _settings(topic: Document) -> dict[str, str]:
    return {one.key: one.value for one in topic.settings if isinstance(one.value, str)}


def _counts(topic: Document) -> dict[str, str]:
    return {
        _COUNTS[fact.name]: fact.value
        for fact in topic.facts
        if fact.name in _COUNTS and fact.value != "unknown"
    }
