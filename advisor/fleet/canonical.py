"""One configuration as one line of text: what behaviours are grouped by.

Entries `key U+0001 value`, sorted, joined by U+0002; entries that begin with @ are what is no key: component,
family, version, facts. Spark writes the text, workers read it (`Canonical.read`). What only
names something (client.id) is kept as "there is a plain one", so that a thousand services that behave
alike are one line; a secret is kept as "there is one".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..join.profiles import is_local
from ..model import Document, Fact, Location, Origin, Secret, Setting, Undisclosed, Unknown
from ..read.values import value_of
from ..tuples import NamedTuple
from .keys import NAMES, SHAPES

BETWEEN, ENTRY = "\u0001", "\u0002"
NAMED, HIDDEN, ABSENT = "\u0003", "\u0004", "\u0005"
# These, and what separates and marks texts made of several (see worker.py), are in no value that is audited.
RESERVED = re.compile("[\u0001-\u0006\ue000\ue001]")
_TOPIC_FACTS = {
    "partitions": "topic.partitions",
    "num-partitions": "topic.partitions",
    "replication.factor": "topic.replication_factor",
    "replication-factor": "topic.replication_factor",
}
# What stands for a name in a document that is judged for all that have one.
_STAND_IN = {"name": "name", "address": "broker:9092", "path": "/path"}


class Canonical(NamedTuple):
    """A configuration as read back. `entries` are sorted; a value may be NAMED or HIDDEN."""

    about: Mapping[str, str]
    entries: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, text: str) -> Canonical:
        about: dict[str, str] = {}
        entries: dict[str, str] = {}
        for entry in text.split(ENTRY):
            key, _, value = entry.partition(BETWEEN)
            if value == ABSENT or not key:
                continue
            if key[0] == "@":
                about[key[1:]] = value
            else:
                entries[key] = value
        return cls(about, tuple(sorted(entries.items())))

    def text(self) -> str:
        parts = [f"@{key}{BETWEEN}{value}" for key, value in self.about.items()]
        parts += [f"{key}{BETWEEN}{value}" for key, value in self.entries]
        return ENTRY.join(sorted(parts))

    def only(self, wanted: Iterable[str]) -> Canonical:
        kept = frozenset(wanted)
        return self._replace(entries=tuple(entry for entry in self.entries if entry[0] in kept))

    def document(self, file: str, name: str) -> Document:
        """The document to judge. A setting's line is its number among the entries: the way back to its
        key."""
        component = self.about.get("component", "")
        settings, facts = [], []
        for number, (key, value) in enumerate(self.entries, 1):
            origin = Origin("file", Location(file, number))
            if component == "topic" and key in _TOPIC_FACTS:
                facts.append(Fact(_TOPIC_FACTS[key], value.strip(), origin))
                continue
            settings.append(Setting(key, _value(key, value), origin))
        for key, value in sorted(self.about.items()):
            if key.startswith("fact:"):
                facts.append(Fact(key[5:], value, Origin("file", Location(file))))
        if component == "broker" and not any(fact.name == "cluster.mode" for fact in facts):
            facts += _mode(settings)
        return Document(
            file=file,
            format="row",
            component=component,
            name=name,
            settings=tuple(settings),
            client=self.about.get("family") or "java",
            facts=tuple(facts),
        )

    def shown(self) -> dict[str, str]:
        """For tables and reports: no secret, no name."""
        return {key: _shown(key, value) for key, value in self.entries}


def _mode(settings: Iterable[Setting]) -> list[Fact]:
    """What a broker's keys say of its cluster, as in a file."""
    held = {one.key: one for one in settings if one.value != ""}
    for key, mode in (("process.roles", "kraft"), ("zookeeper.connect", "zk")):
        if key in held:
            return [Fact("cluster.mode", mode, held[key].origin)]
    return []


def _value(key: str, value: str) -> Any:
    if value == HIDDEN:
        return Unknown("<secret>")
    if value == NAMED:
        return _STAND_IN[NAMES[key]]
    return value_of(key, value)


def _shown(key: str, value: str) -> str:
    if value == HIDDEN:
        return "<secret>"
    if value == NAMED:
        return "<name>"
    return str(value_of(key, value))


def masked(key: str, value: str, named: Iterable[str], aliases: Mapping[str, str] = {}) -> str:
    """A value as it may be kept: a plain name and a secret are only said to be there. `aliases`: what keys of
    client families stand for, which says whether their values may be seen."""
    if key in named and key in NAMES and re.fullmatch(SHAPES[NAMES[key]], value) and not is_local(value):
        return NAMED
    shown = value_of(key, value)
    if isinstance(shown, Undisclosed) and key in aliases:
        shown = value_of(aliases[key], value)
    if isinstance(shown, Secret):
        return HIDDEN
    # A template as it may be shown, without the default of a secret.
    return shown.template if isinstance(shown, Unknown) else shown


def of_document(document: Document, version: str, named: Iterable[str]) -> Canonical:
    about = {"component": document.component, "family": document.client, "fact:kafka.version": version}
    about |= {f"fact:{fact.name}": fact.value for fact in document.facts}
    entries = {}
    for setting in document.settings:
        if isinstance(setting.value, Secret):
            entries[setting.key] = HIDDEN
        else:
            text = setting.value.template if isinstance(setting.value, Unknown) else setting.value
            entries[setting.key] = masked(setting.key, text, named)
    return Canonical(about, tuple(sorted(entries.items())))
