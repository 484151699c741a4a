"""Clients in an application's own file, whatever it calls their place: YAML, JSON, TOML or properties.

    app:
      kafka: {bootstrap_servers: "kafka:9092", consumer: {group.id: billing}}

Where a name ends with `bootstrap.servers`, what stands beside it and under it is one client's, or, in
sections called so, a producer's and a consumer's. Only Kafka's own keys are taken. Names of the application's
own (`batch_size`) are taken if they cannot be anything else. The application decides what it hands on, so
what is missing proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from advisor.api import Document, Loaded, LoadError, Setting, Source, parse_json, setting

from .. import properties, roles
from ..frameworks.flat import Flat, flat_of, flattened

FORMAT = "application"
SUFFIXES = (".yml", ".yaml", ".json", ".toml", ".properties")
_CLAIM = re.compile(r"(?:^|[ \t\"'{,.])bootstrap[._-]servers[\"']?[ \t]*[:=]", re.MULTILINE)
_SERVERS = re.compile(r"(?:^|(?<=[.]))bootstrap[._-]servers$", re.IGNORECASE)
_SIDES = {
    "producer": "producer",
    "producers": "producer",
    "consumer": "consumer",
    "consumers": "consumer",
    "admin": "admin",
    "streams": "streams",
}
# Words around a client's settings that are no part of a key.
_AROUND = ("properties", "config", "configs", "configuration", "conf", "settings", "options")
# Short names that mean nothing else beside bootstrap servers, however they are spelt.
_PLAIN = frozenset(
    (
        "acks",
        "bootstrap.servers",
        "client.id",
        "compression.type",
        "group.id",
        "isolation.level",
        "linger.ms",
        "sasl.mechanism",
        "security.protocol",
        "transactional.id",
    )
)
# So many clients one file of an application has; a longer list is data.
_HOMES_MAX = 200


class _Home(NamedTuple):
    """Where a client's settings stand: the name before `bootstrap.servers`, and all names that begin so."""

    prefix: str
    within: Sequence[tuple[str, Flat]]


def claim(name: str, text: str) -> int:
    if not name.endswith(SUFFIXES) or not _CLAIM.search(text):
        return 0
    if name.endswith(".properties") and properties.claim(name, text):
        return 0
    return 12


def load(source: Source) -> Loaded:
    try:
        homes = _homes(_flat(source))
    except LoadError:
        homes = []  # somebody else's file: not for us to complain about
    found = tuple(document for home in homes for document in _documents(source.file, home))
    if not found:
        return Loaded((), "skipped", "no client's settings stand in it as a map")
    return Loaded(found, "partial", "an application's own file: what it hands to its clients is its own")


def _flat(source: Source) -> list[Flat]:
    lower = source.file.lower()
    if lower.endswith(".toml"):
        return list(_of_toml(source))
    if lower.endswith(".json"):
        return [one for root in parse_json(source.text) for one in flattened(root, "", root.line)]
    return flat_of(source.file, source.text)


def _of_toml(source: Source) -> Iterator[Flat]:
    import tomllib

    try:
        value = tomllib.loads(source.text)
    except (ValueError, RecursionError):
        raise LoadError("not readable as TOML") from None
    lines = _toml_lines(source.text)
    for name, one in _toml_flat(value, ""):
        text = ",".join(map(str, one)) if isinstance(one, list) else str(one)
        if isinstance(one, bool):
            text = text.lower()
        yield Flat(name, text, lines.get(name, 1))


def _toml_flat(value: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        name = f"{prefix}.{key}" if prefix else key
        if isinstance(inner, dict):
            yield from _toml_flat(inner, name)
        elif not (isinstance(inner, list) and any(isinstance(one, dict) for one in inner)):
            yield name, inner


def _toml_lines(text: str) -> dict[str, int]:
    """The lines of plain keys; those of an inline table's are not known."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare.startswith("["):
            table = bare.strip("[] \t").replace('"', "").replace("'", "")
        else:
            key, equals, _ = bare.partition("=")
            name = key.strip().strip("\"'")
            if equals and name:
                found.setdefault(f"{table}.{name}" if table else name, number)
    return found


def _homes(everything: Sequence[Flat]) -> list[_Home]:
    flat = [one for one in everything if one.text]
    prefixes = dict.fromkeys(
        one.name[: found.start()] for one in flat if (found := _SERVERS.search(one.name))
    )
    outer = {prefix for prefix in prefixes if not _is_side_of(prefix, prefixes)}
    return [
        _Home(
            prefix,
            [(one.name[len(prefix) :], one) for one in flat if one.name.startswith(prefix)],
        )
        for prefix in list(prefixes)[:_HOMES_MAX]
        if prefix in outer
    ]


def _is_side_of(prefix: str, prefixes: Mapping[str, object]) -> bool:
    """Whether another home tells it: `kafka.producer.` is told with `kafka.`."""
    parent, _, last = prefix.rstrip(".").rpartition(".")
    around = f"{parent}." if parent else ""
    return last in _SIDES and prefix != around and around in prefixes


def _documents(file: str, home: _Home) -> Iterator[Document]:
    common: dict[str, Flat] = {}
    sides: dict[str, dict[str, Flat]] = {}
    for name, one in home.within:
        first, _, rest = _inner(name).partition(".")
        side = _SIDES.get(first)
        key = _key(_inner(rest) if side else _inner(name))
        if key is not None:
            (sides.setdefault(side, {}) if side else common)[key] = one
    named = _SIDES.get(home.prefix.rstrip(".").rpartition(".")[2])
    if sides:
        for side, own in sides.items():
            yield _document(file, home, side, {**common, **own})
    elif named is not None:
        yield _document(file, home, named, common)
    else:
        found = [role.component for role in roles.infer(common) if role.component in _SIDES.values()]
        for component in found or ["admin"]:
            mine = {k: v for k, v in common.items() if len(found) < 2 or roles.belongs(k, component)}
            yield _document(file, home, component, mine)


def _document(file: str, home: _Home, component: str, held: Mapping[str, Flat]) -> Document:
    held = {key: one for key, one in held.items() if component in roles.components(key)} or held
    settings: tuple[Setting, ...] = tuple(setting(k, one.text, file, one.line) for k, one in held.items())
    family = "streams" if component == "streams" else roles.client_family(held)
    place = home.prefix.rstrip(".") or properties.stem_of(file)
    name = place if place.endswith(component) else f"{place} {component}"
    line = min(one.line for one in held.values())
    found = properties.hints(component, settings)
    return Document(file, FORMAT, component, name, settings, family, line, (), (), found)


def _inner(name: str) -> str:
    first, _, rest = name.partition(".")
    return rest if first in _AROUND and rest else name


def _key(name: str) -> str | None:
    """Kafka's key behind a name: as it is, or with the dots that an application wrote otherwise."""
    if "." in name and roles.components(name) and not set(name) & set("_-"):
        return name
    plain = name.lower().replace("_", ".").replace("-", ".")
    if plain not in _PLAIN and plain.count(".") < 2:
        return None
    return plain if roles.components(plain) & {"producer", "consumer", "streams"} else None
