"""Quarkus and other MicroProfile applications: channels of reactive messaging, and Kafka Streams.

A channel is a client of its own: `mp.messaging.incoming.<channel>.<key>` a consumer, `outgoing` a producer.
What it does not say it takes from `mp.messaging.connector.smallrye-kafka.*`, then from `kafka.*`. Attributes
of the connector (topic, failure-strategy) stand among Kafka's keys and never reach Kafka. SmallRye's own
choices are named as such: a producer that says nothing has acks=1. What holds in production is what `%prod.`
says, over what no profile says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from advisor.api import (
    Document,
    Fact,
    Loaded,
    Location,
    Origin,
    Setting,
    Source,
    integer,
    is_template,
    setting,
)

from .. import roles
from ..maps.node_settings import completed
from ..properties import hints, stem_of
from .flat import Flat, flat_of, is_setting, segment

FORMAT = "quarkus"
SUFFIXES = (".properties", ".yml", ".yaml")
_CHANNEL = re.compile(r"mp\.messaging\.(incoming|outgoing)\.")
_CLAIM = re.compile(
    r"^[ \t]*+(?:%[\w-]++\.)?+mp[.:]|^[ \t]*+(?:%[\w-]++\.)?+(?:quarkus\.)?+kafka-streams\b", re.MULTILINE
)
_PROFILE = re.compile(r'"?%([\w,-]++)"?\.')
_SIDES = {"incoming": "consumer", "outgoing": "producer"}
_CONNECTOR = "mp.messaging.connector."
SMALLRYE = "smallrye-kafka"
# Attributes of smallrye-kafka's channels, KafkaConnector.java.
_DEFAULTS = {
    "producer": {"acks": "1"},
    "consumer": {"enable.auto.commit": "false"},
}
_QUARKUS_STREAMS = {
    "application-id": "application.id",
    "bootstrap-servers": "bootstrap.servers",
    "application-server": "application.server",
}


def claim(name: str, text: str) -> int:
    if not _CLAIM.search(text):
        return 0
    if "mp.messaging." in text and ("kafka" in text or "topic" in text):
        return 92
    return 90 if "kafka-streams" in text or ("messaging:" in text and "kafka" in text) else 0


def load(source: Source) -> Loaded:
    properties = flat_of(source.file, source.text)
    documents = tuple(documents_of(source.file, properties))
    if not documents:
        return Loaded((), "skipped", "no channel of it is one of Kafka's")
    return Loaded(documents)


class Channel(NamedTuple):
    """A channel's own attributes, those of its connector, and those of all clients; each by its name."""

    side: str
    name: str
    own: dict[str, Flat]
    shared: dict[str, Flat]

    @property
    def attributes(self) -> dict[str, Flat]:
        return {**self.shared, **self.own}


def documents_of(file: str, properties: Sequence[Flat]) -> Iterator[Document]:
    """Those of production, and those of profiles of one's own that change something."""
    by_profile: dict[str, list[Flat]] = {}
    for one in properties:
        profile, bare = _profiled(one)
        by_profile.setdefault(profile, []).append(bare)
    plain = by_profile.pop("", [])
    prod = [*plain, *by_profile.pop("prod", [])]
    yield from _of_profile(file, prod, "", set())
    for profile, own in by_profile.items():
        if profile not in ("dev", "test"):
            yield from _of_profile(file, [*plain, *own], f" [{profile}]", {one.line for one in own})


def _profiled(one: Flat) -> tuple[str, Flat]:
    found = _PROFILE.match(one.name)
    if found is None:
        return "", one
    return found[1], one._replace(name=one.name[found.end() :])


def _of_profile(file: str, properties: Sequence[Flat], suffix: str, lines: set[int]) -> Iterator[Document]:
    for channel in channels(properties):
        if not lines or any(one.line in lines for one in channel.own.values()):
            yield _client(file, channel, suffix, properties)
    streams = _streams(properties)
    if streams and (not lines or any(one.line in lines for _, one in streams)):
        yield _streams_document(file, streams, suffix)


def channels(properties: Sequence[Flat]) -> Iterator[Channel]:
    own: dict[tuple[str, str], dict[str, Flat]] = {}
    connectors: dict[str, dict[str, Flat]] = {}
    common: dict[str, Flat] = {}
    for one in properties:
        found = _CHANNEL.match(one.name)
        if found is not None:
            name, attribute = segment(one.name[found.end() :])
            if name and attribute:
                own.setdefault((found[1], name), {})[attribute] = one
        elif one.name.startswith(_CONNECTOR):
            name, attribute = segment(one.name[len(_CONNECTOR) :])
            connectors.setdefault(name, {})[attribute] = one
        elif one.name.startswith("kafka."):
            common[one.name.removeprefix("kafka.")] = one
    for (side, name), held in own.items():
        connector = held["connector"].text if "connector" in held else ""
        channel = Channel(_SIDES[side], name, held, {**common, **connectors.get(connector or SMALLRYE, {})})
        if _is_kafka(channel, connector, bool(common) or SMALLRYE in connectors):
            yield channel


def _is_kafka(channel: Channel, connector: str, kafka_in_sight: bool) -> bool:
    """Its connector says so; where none is named, what it says besides does."""
    if connector:
        return "kafka" in connector
    keys = sum("." in key and channel.side in roles.components(key) for key in channel.own)
    return keys >= 1 and (keys >= 2 or kafka_in_sight or "topic" in channel.own)


def _client(file: str, channel: Channel, suffix: str, properties: Sequence[Flat]) -> Document:
    settings = list(_settings(file, channel))
    if channel.side == "consumer" and not any(one.key == "group.id" for one in settings):
        settings += _application_name(file, properties)
    attributes = channel.attributes
    connector = attributes["connector"].text if "connector" in attributes else SMALLRYE
    found: tuple[Setting, ...] = tuple(settings)
    if connector == SMALLRYE:
        found = completed(found, _DEFAULTS[channel.side], "SmallRye's connector")
    lines = [one.line for one in channel.own.values()]
    return Document(
        file,
        FORMAT,
        channel.side,
        f"{stem_of(file)} {channel.name}{suffix}",
        found,
        "java",
        min(lines, default=None),
        tuple(_facts(file, channel)),
        (),
        (*hints(channel.side, settings), *_topics(channel)),
    )


def _settings(file: str, channel: Channel) -> Iterator[Setting]:
    for key, one in channel.attributes.items():
        if is_setting(channel.side, key, key in channel.own) and one.text:
            yield setting(key, one.text, file, one.line)


def _application_name(file: str, properties: Sequence[Flat]) -> list[Setting]:
    """Quarkus takes the name of the application for the group of its channels."""
    named = [one for one in properties if one.name == "quarkus.application.name" and one.text]
    return [setting("group.id", one.text, file, one.line, one.name) for one in named[-1:]]


def _facts(file: str, channel: Channel) -> Iterator[Fact]:
    """`concurrency` is so many clients of one group; `partitions` is its older name."""
    if channel.side != "consumer":
        return
    for name in ("concurrency", "partitions"):
        one = channel.attributes.get(name)
        if one is not None and integer(one.text) is not None:
            yield Fact("group.members", one.text, Origin("file", Location(file, one.line), name))
            return


def _topics(channel: Channel) -> Iterator[tuple[str, str]]:
    """The topic is the channel's own name where nothing else is said."""
    attributes = channel.attributes
    named = attributes.get("topics") or attributes.get("topic")
    if "pattern" in attributes:
        yield "topic", f"those of {channel.name}"
        return
    for topic in (channel.name if named is None else named.text).split(","):
        if topic.strip() and not is_template(topic):
            yield "topic", topic.strip()


# Kafka Streams.


def _streams(properties: Sequence[Flat]) -> list[tuple[str, Flat]]:
    """Kafka's key and what sets it; `kafka-streams.` hands everything on."""
    found: dict[str, Flat] = {}
    for one in properties:
        if one.name.startswith("kafka-streams."):
            found[one.name.removeprefix("kafka-streams.")] = one
        elif one.name.startswith("quarkus.kafka-streams."):
            key = _QUARKUS_STREAMS.get(one.name.removeprefix("quarkus.kafka-streams."))
            if key is not None:
                found[key] = one
    return list(found.items())


def _streams_document(file: str, streams: list[tuple[str, Flat]], suffix: str) -> Document:
    settings = tuple(setting(key, one.text, file, one.line) for key, one in streams if one.text)
    line = min(one.line for _, one in streams)
    name = f"{stem_of(file)} streams{suffix}"
    found = hints("streams", settings)
    return Document(file, FORMAT, "streams", name, settings, "streams", line, (), (), found)
