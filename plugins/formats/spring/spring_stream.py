"""Spring Cloud Stream's Kafka binders: `spring.cloud.stream.kafka.*`, one document per binding.

What a binding's client gets, the later winning: the binder's own defaults, what spring.kafka gives to that
client, `binder.configuration`, `binder.producer-properties` or `consumer-properties`, `binder.brokers`, then
the binding's `configuration`. Binders under `spring.cloud.stream.binders.*.environment` are not read.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from advisor.api import Document, Dropped, Fact, Location, Origin, Setting, integer, setting, value_of

from .. import roles
from ..properties import hints
from .spring_source import Part, Prop, uniform

_PREFIX = ("spring", "cloud", "stream")
_DEFAULTS = "default of the Spring Cloud Stream binder"
# The binder writes these into every producer that does not set them.
_BINDER_DEFAULTS = {
    "producer": {"acks": "1", "linger.ms": "0", "compression.type": "none", "batch.size": "16384"},
    "consumer": {"enable.auto.commit": "false", "auto.offset.reset": "earliest"},
}
_BINDING_FIELDS = {
    "producer": {
        "buffersize": "batch.size",
        "batchtimeout": "linger.ms",
        "compressiontype": "compression.type",
    },
    "consumer": {"startoffset": "auto.offset.reset"},
}
_DIRECTION = re.compile(r"-(in|out)-[0-9]+$|^(input|output)$", re.IGNORECASE)
_SIDES = {"in": "consumer", "input": "consumer", "out": "producer", "output": "producer"}

Boot = Mapping[str, Sequence[Setting]]
# A property, and what is left of its path below the place where it was found.
_Held = tuple[tuple[str, ...], Prop]


class _Stream(NamedTuple):
    """The properties by place: below `kafka.binder`, `kafka.streams`, `kafka.bindings`, `bindings`."""

    binder: list[_Held]
    streams: list[_Held]
    kafka: dict[str, list[_Held]]
    plain: dict[str, list[_Held]]
    line: int | None


def documents(file: str, title: str, held: Sequence[Part], profiled: bool, boot: Boot) -> list[Document]:
    """A document for each binding, or one for the binder if no binding is named."""
    stream = _read(file, held)
    if not (stream.binder or stream.streams or stream.kafka):
        return []
    touched = any(
        part.condition is not None and tuple(map(uniform, prop.path[:3])) == _PREFIX
        for part in held
        for prop in part.props
    )
    if profiled and not touched:
        return []
    found = []
    if stream.streams:
        found.append(_streams(file, title, stream))
    bindings = dict.fromkeys((*stream.kafka, *(stream.plain if stream.binder or not stream.streams else ())))
    for name in bindings:
        for side in _sides(name, stream):
            found.append(_binding(file, title, name, side, stream, boot))
    if not found:
        values = _merge([*_map(stream.binder, "configuration"), *_brokers(stream.binder)])
        found.append(_document(file, f"{title} binder", "admin", values, stream.line))
    return found


def _read(file: str, held: Sequence[Part]) -> _Stream:
    stream = _Stream([], [], {}, {}, None)
    line: int | None = None
    for part in held:
        for prop in part.props:
            if tuple(map(uniform, prop.path[:3])) != _PREFIX or len(prop.path) < 6:
                continue
            rest = prop.path[3:]
            head = uniform(rest[0]), uniform(rest[1])
            if head == ("kafka", "binder"):
                stream.binder.append((rest[2:], prop))
            elif head == ("kafka", "streams"):
                stream.streams.append((rest[2:], prop))
            elif head == ("kafka", "bindings") and len(rest) > 3:
                stream.kafka.setdefault(rest[2], []).append((rest[3:], prop))
            elif head == ("kafka", "default"):
                # Read with every binding, before its own.
                stream.kafka.setdefault("", []).append((rest[2:], prop))
            elif head[0] == "bindings" and len(rest) > 2:
                stream.plain.setdefault(rest[1], []).append((rest[2:], prop))
                continue
            else:
                continue
            if prop.file == file:
                line = prop.line if line is None else min(line, prop.line)
    return stream._replace(line=line)


def _sides(name: str, stream: _Stream) -> list[str]:
    """Whether a binding writes or reads: its keys say so, or its name."""
    if not name:
        return []
    told = _DIRECTION.search(name)
    if told is not None:
        return [_SIDES[(told[1] or told[2]).lower()]]
    held = [*stream.kafka.get(name, ()), *stream.plain.get(name, ())]
    heads = {uniform(path[0]) for path, _ in held}
    found = [side for side in ("producer", "consumer") if side in heads]
    return found or (["consumer"] if "group" in heads else [])


def _is_default(one: Setting | None) -> bool:
    return one is not None and one.origin.kind == "default"


def _map(held: Sequence[_Held], *names: str) -> list[Setting]:
    """The entries of a map of raw Kafka keys."""
    return [
        setting(".".join(path[len(names) :]), prop.text, prop.file, prop.line)
        for path, prop in held
        if len(path) > len(names) and all(uniform(a) == uniform(b) for a, b in zip(path, names, strict=False))
    ]


def _brokers(held: Sequence[_Held]) -> list[Setting]:
    port = next(
        (prop.text for path, prop in held if tuple(map(uniform, path)) == ("defaultbrokerport",)), "9092"
    )
    found = []
    for path, prop in held:
        if tuple(map(uniform, path)) == ("brokers",):
            hosts = [host.strip() for host in prop.text.split(",") if host.strip()]
            # `${A}:9092` and `${A}` alone are filled in elsewhere, port and all.
            text = ",".join(host if ":" in host or "$" in host else f"{host}:{port}" for host in hosts)
            found.append(setting("bootstrap.servers", text, prop.file, prop.line))
    return found


def _merge(settings: Sequence[Setting]) -> dict[str, Setting]:
    return {one.key: one for one in settings}


def _binding(file: str, title: str, name: str, side: str, stream: _Stream, boot: Boot) -> Document:
    own = [*stream.kafka.get("", ()), *stream.kafka.get(name, ())]
    lines = [
        prop.line
        for _, prop in [*stream.kafka.get(name, ()), *stream.plain.get(name, ())]
        if prop.file == file
    ]
    line = min(lines, default=stream.line)
    origin = Origin("default", Location(file, line), _DEFAULTS)
    early = [Setting(key, value, origin) for key, value in _BINDER_DEFAULTS[side].items()]
    early += [
        setting("acks", prop.text, prop.file, prop.line)
        for path, prop in stream.binder
        if side == "producer" and tuple(map(uniform, path)) == ("requiredacks",)
    ]
    typed = [
        setting(_BINDING_FIELDS[side][uniform(path[1])], prop.text, prop.file, prop.line)
        for path, prop in own
        if len(path) == 2 and uniform(path[0]) == side and uniform(path[1]) in _BINDING_FIELDS[side]
    ]
    common = [one for one in _map(stream.binder, "configuration") if roles.belongs(one.key, side)]
    common += _map(stream.binder, f"{side}-properties") + _brokers(stream.binder)
    shared = [*boot.get(side, ()), *common]
    dropped: list[Dropped] = []
    if side == "consumer":
        shared, dropped = _managed(shared)
    mine = _map(own, side, "configuration")
    # A producer's fields only fill gaps; a consumer's start offset is written last.
    order = [*early, *typed, *shared, *mine] if side == "producer" else [*early, *shared, *mine, *typed]
    values = _merge(order)
    facts, extra = _plain(stream.plain.get(name, ()), side, values)
    if side == "consumer" and "group.id" not in values and _is_default(values.get("auto.offset.reset")):
        # Without a group each instance reads under a name of its own, from the end.
        values["auto.offset.reset"] = Setting("auto.offset.reset", "latest", origin)
    document = _document(file, f"{title} {name} {side}", side, values, line)
    return document._replace(facts=facts, hints=document.hints + extra, dropped=tuple(dropped))


def _managed(settings: Sequence[Setting]) -> tuple[list[Setting], list[Dropped]]:
    """The binder takes group.id and enable.auto.commit=true out of what is not a binding's own."""
    kept, dropped = [], []
    for one in settings:
        if one.origin.at is not None and (
            one.key == "group.id" or (one.key == "enable.auto.commit" and one.value == "true")
        ):
            detail = f"the Kafka binder of Spring Cloud Stream manages {one.key} and takes it out"
            meant = "spring.cloud.stream.bindings.<name>.group" if one.key == "group.id" else None
            dropped.append(Dropped(one.key, one.value, one.origin.at, "forbidden", detail, meant))
        else:
            kept.append(one)
    return kept, dropped


def _plain(
    held: Sequence[_Held], side: str, values: dict[str, Setting]
) -> tuple[tuple[Fact, ...], tuple[tuple[str, str], ...]]:
    """Destination, group and concurrency, which every binder of Spring Cloud Stream has."""
    facts: list[Fact] = []
    found: list[tuple[str, str]] = []
    for path, prop in held:
        name = tuple(map(uniform, path))
        value = value_of(path[-1], prop.text.strip())
        if name == ("destination",) and isinstance(value, str):
            found += [("topic", topic.strip()) for topic in value.split(",") if topic.strip()]
        elif name == ("group",) and side == "consumer":
            values["group.id"] = setting("group.id", prop.text, prop.file, prop.line)
        elif name == ("consumer", "concurrency") and side == "consumer" and integer(prop.text) is not None:
            facts.append(Fact("group.members", prop.text, Origin("file", Location(prop.file, prop.line))))
    return tuple(facts), tuple(found)


def _streams(file: str, title: str, stream: _Stream) -> Document:
    """The Kafka Streams binder: one document, whatever the number of its functions."""
    below = [
        (path[1:], prop) for path, prop in stream.streams if len(path) > 1 and uniform(path[0]) == "binder"
    ]
    values = _merge([*_map(below, "configuration"), *_brokers(below)])
    for path, prop in stream.streams:
        if path and uniform(path[-1]) == "applicationid":
            values["application.id"] = setting("application.id", prop.text, prop.file, prop.line)
    return _document(file, f"{title} streams binder", "streams", values, stream.line)


def _document(file: str, name: str, component: str, values: dict[str, Setting], line: int | None) -> Document:
    settings = tuple(values.values())
    return Document(
        file, "spring", component, name, settings, "spring", line, (), (), hints(component, settings)
    )
