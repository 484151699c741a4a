"""Subjects that differ in their names alone: one is asked, under names that stand for any, and the others are
told the same under their own.

A repository of two thousand services has a few dozen ways to configure a client. A shape is all of a document
or deployment but its names: files, names of documents and deployments, and plain values of keys that only
name something. Which of the names are equal, and how files and documents sort, is part of the shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...catalog import Version
from ...model import Deployment, Document, Fact, Location, Origin, Setting
from ...read.stand_ins import STAND_IN, address, word
from ...tuples import NamedTuple

# Keys whose plain values differ between services that behave alike; no client.rack: it is held against
# broker.rack.
NAMING = frozenset(
    (
        *("client.id", "group.id", "group.instance.id", "transactional.id", "application.id"),
        *("bootstrap.servers", "metadata.broker.list"),
    )
)
_HOST = r"[A-Za-z0-9][A-Za-z0-9.-]{0,99}:[0-9]{1,4}"
_PLAIN = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,99}}|{_HOST}(?:,{_HOST}){{0,9}}").fullmatch
_ADDRESSES = re.compile(rf"{_HOST}(?:,{_HOST})*").fullmatch


class Shape(NamedTuple):
    """`key`: all but the names. `names`: what the stand-ins stand for here, each once."""

    key: tuple[Any, ...]
    names: tuple[str, ...]


class Shapes:
    """The shapes of one audit. `read`: keys that a condition of a rule reads are no mere names. `version_of`
    is part of a document's shape."""

    def __init__(self, read: Iterable[str], version_of: Callable[[Document], Version]) -> None:
        self._naming = NAMING - set(read)
        self._version_of = version_of
        self._outlines: dict[int, tuple[int, list[str]]] = {}
        self._deployments: dict[int, tuple[int, tuple[str, ...]]] = {}
        self._numbers: dict[tuple[Any, ...], int] = {}

    def of_document(self, document: Document, about: object, home: str) -> Shape:
        """`about` is what else the answers depend on; `home` names its only deployment."""
        number, names = self._outline(document)
        same, own = _equal([home, *names])
        return Shape((number, same, about), own)

    def of_deployment(self, deployment: Deployment, about: object) -> Shape:
        known = self._deployments.get(id(deployment))
        if known is None:
            known = self._deployments[id(deployment)] = self._parts(deployment)
        return Shape((known[0], about), known[1])

    def _parts(self, deployment: Deployment) -> tuple[int, tuple[str, ...]]:
        key: list[Any] = [deployment.version, len(deployment.groups)]
        names: list[str] = [deployment.id]
        firsts = []
        for document in (
            deployment.producer,
            deployment.topic,
            *deployment.cluster,
            *deployment.groups,
        ):
            if document is None:
                key.append(None)
                continue
            number, own = self._outline(document)
            key.append(number)
            firsts.append(len(names))
            names += own
        for fact in deployment.facts:
            kind, at, note = fact.origin
            key.append((fact.name, fact.value, kind, note, at and at.line))
            if at is not None:
                names.append(at.file)
        if len(firsts) > 1:
            # Files, and names of documents, are sorted by some answers.
            for place in (0, 1):
                told = [names[first + place] for first in firsts]
                key.append(tuple(sorted(range(len(told)), key=told.__getitem__)))
        same, distinct = _equal(names)
        key.append(same)
        return self._number(tuple(key)), distinct

    def _number(self, key: tuple[Any, ...]) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _outline(self, document: Document) -> tuple[int, list[str]]:
        """The number of all but its names, and the names: file, name, then others as they come."""
        known = self._outlines.get(id(document))
        if known is None:
            key, names = _outline(document, self._naming)
            version = self._version_of(document)
            number = self._number((version.asked, version.assumed, *key))
            known = self._outlines[id(document)] = number, names
        return known

    def stand_in(self, subject: Any, shape: Shape) -> tuple[Any, list[str]] | None:
        """The subject under names that stand for any, and what stands for each; None where its own text holds
        such a name, or one is empty."""
        words = _stand_ins(shape.names)
        under = dict(zip(shape.names, words, strict=True))
        rename = _Renaming(under, self._naming)
        made = rename.document(subject) if isinstance(subject, Document) else rename.deployment(subject)
        if "" in under or STAND_IN.search(repr(subject)):
            return None
        return made, words


def _equal(names: list[str]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Which of the names are equal, and each of them once."""
    places: dict[str, int] = {}
    same = tuple([places.setdefault(name, len(places)) for name in names])
    return same, tuple(places)


def _outline(document: Document, naming: frozenset[str]) -> tuple[tuple[Any, ...], list[str]]:
    file = document.file
    names = [file, document.name]
    parts: list[Any] = [document.format, document.component, document.client, document.line, document.partial]
    for key, value, (kind, at, note) in document.settings:
        if key in naming and type(value) is str and _PLAIN(value):
            names.append(value)
            parts.append(0)
            value = ""
        if at is None:
            parts.append((key, value, kind, note))
        elif at.file == file:
            plain = kind == "file" and not note
            parts.append((key, value, at.line) if plain else (key, value, at.line, note, kind))
        else:
            names.append(at.file)
            parts.append((key, value, at.line, note, kind, 0))
    for fact in document.facts:
        kind, at, note = fact.origin
        parts.append((fact.name, fact.value, kind, note, at and at.line, "fact"))
        if at is not None:
            names.append(at.file)
    for item in document.dropped:
        parts.append((*item._replace(at=Location("", item.at.line)), "dropped"))
        names.append(item.at.file)
    return tuple(parts), names


def _stand_ins(names: Sequence[str]) -> list[str]:
    """They sort as the names do."""
    ranks = {name: rank for rank, name in enumerate(sorted(names))}
    return [address(ranks[name]) if _ADDRESSES(name) else word(ranks[name]) for name in names]


class _Renaming:
    """A subject with each of its names replaced; hints have done their work when documents were joined."""

    def __init__(self, under: dict[str, str], naming: frozenset[str]) -> None:
        self._under, self._naming = under, naming

    def deployment(self, deployment: Deployment) -> Deployment:
        producer, topic = deployment.producer, deployment.topic
        return deployment._replace(
            id=self._under[deployment.id],
            producer=None if producer is None else self.document(producer),
            topic=None if topic is None else self.document(topic),
            cluster=tuple(map(self.document, deployment.cluster)),
            groups=tuple(map(self.document, deployment.groups)),
            facts=tuple(map(self._fact, deployment.facts)),
            joined_by=(),
        )

    def document(self, document: Document) -> Document:
        return document._replace(
            file=self._under[document.file],
            name=self._under[document.name],
            settings=tuple(map(self._setting, document.settings)),
            facts=tuple(map(self._fact, document.facts)),
            dropped=tuple(item._replace(at=self._place(item.at)) for item in document.dropped),
            hints=(),
        )

    def _setting(self, setting: Setting) -> Setting:
        key, value, origin = setting
        if key in self._naming and type(value) is str and _PLAIN(value):
            value = self._under[value]
        return Setting(key, value, self._origin(origin))

    def _fact(self, fact: Fact) -> Fact:
        return fact._replace(origin=self._origin(fact.origin))

    def _origin(self, origin: Origin) -> Origin:
        return origin if origin.at is None else origin._replace(at=self._place(origin.at))

    def _place(self, at: Location) -> Location:
        return Location(self._under[at.file], at.line)
