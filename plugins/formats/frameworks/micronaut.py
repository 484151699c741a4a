"""Micronaut: `kafka.producers.<id>.<key>`, `kafka.consumers.<group>.<key>` and `kafka.streams.<name>.<key>`.

Each section goes over `default` of its kind, and that over `kafka.<key>`. Keys are handed to Kafka as they
are written. A file counts only if it has such sections with Kafka's own keys in them:
`kafka.consumers.orders.topic` may be anybody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from advisor.api import Document, Loaded, Setting, Source, setting

from .. import roles
from ..properties import hints, stem_of
from .flat import Flat, flat_of, is_setting, segment

FORMAT = "micronaut"
SUFFIXES = (".properties", ".yml", ".yaml")
_CLAIM = re.compile(r"^[ \t]*+(?:kafka\.)?+(?:producers|consumers|streams)[.:]", re.MULTILINE)
_SECTION = re.compile(r"kafka\.(producers|consumers|streams)\.")
_COMPONENTS = {"producers": "producer", "consumers": "consumer", "streams": "streams"}
# Keys of Micronaut itself, at the top and in sections.
_OWN = frozenset(("enabled", "health", "embedded", "key-serializer", "value-serializer", "topics"))


def claim(name: str, text: str) -> int:
    if "kafka" not in text or not _CLAIM.search(text) or "mp.messaging" in text or "spring" in text:
        return 0
    properties = flat_of(name, text)
    known = [key for _, _, key, _ in _sections(properties) if roles.components(key)]
    ours = "micronaut" in text or any(one.name == "kafka.bootstrap.servers" for one in properties)
    return 88 if sum("." in key for key in known) >= 2 or (known and ours) else 0


def load(source: Source) -> Loaded:
    properties = flat_of(source.file, source.text)
    documents = tuple(documents_of(source.file, properties))
    return (
        Loaded(documents) if documents else Loaded((), "skipped", "no client of Kafka's is configured in it")
    )


def _sections(properties: Sequence[Flat]) -> Iterator[tuple[str, str, str, Flat]]:
    """Component, section, key and property."""
    for one in properties:
        found = _SECTION.match(one.name)
        if found is not None:
            name, key = segment(one.name[found.end() :])
            if name and key:
                yield _COMPONENTS[found[1]], name, key, one


def documents_of(file: str, properties: Sequence[Flat]) -> Iterator[Document]:
    common = {
        one.name.removeprefix("kafka."): one
        for one in properties
        if one.name.startswith("kafka.") and not _SECTION.match(one.name)
    }
    sections: dict[tuple[str, str], dict[str, Flat]] = {}
    for component, name, key, one in _sections(properties):
        sections.setdefault((component, name), {})[key] = one
    for (component, name), own in sections.items():
        layers = {**common, **sections.get((component, "default"), {}), **own}
        settings = tuple(_settings(file, component, layers, own))
        if (
            component == "consumer"
            and name != "default"
            and not any(one.key == "group.id" for one in settings)
        ):
            # The section's name is the group that it is for.
            line = min(one.line for one in own.values())
            settings = (*settings, setting("group.id", name, file, line, "the section's name"))
        yield Document(
            file,
            FORMAT,
            component,
            f"{stem_of(file)} {name}" if name != "default" else f"{stem_of(file)} {component}",
            settings,
            "streams" if component == "streams" else "java",
            min(one.line for one in own.values()),
            (),
            (),
            hints(component, settings),
        )


def _settings(file: str, component: str, layers: dict[str, Flat], own: dict[str, Flat]) -> Iterator[Setting]:
    for key, one in layers.items():
        if key.partition(".")[0] not in _OWN and one.text and is_setting(component, key, key in own):
            yield setting(key, one.text, file, one.line)
