"""The keys of one release: read from its compiled file on first use, kept for the process."""

import json
import os
from collections.abc import Mapping
from typing import Any

from ..tuples import NamedTuple
from .versions import Version, resolve_version

COMPONENTS: tuple[str, ...] = (
    "producer",
    "consumer",
    "admin",
    "broker",
    "topic",
    "connect",
    "connect-standalone",
    "streams",
    "group",
)

DATA = os.path.join(os.path.dirname(__file__), "data")

# Bits of a compiled row's flags; the order is part of the compiled files' format.
FLAGS = (
    "required",
    "case_insensitive",
    "non_null",
    "non_empty",
    "internal",
    "deprecated",
    "empty_allowed",
    "empty_forbidden",
    "null_allowed",
    "null_forbidden",
)
_REQUIRED, _ANY_CASE, _NON_NULL, _NON_EMPTY, _INTERNAL, _DEPRECATED = (1 << bit for bit in range(6))
_EMPTY_OK, _EMPTY_BAD, _NULL_OK, _NULL_BAD = (1 << bit for bit in range(6, 10))


class Key(NamedTuple):
    """What one key is for one component in one release."""

    name: str
    component: str
    type: str  # boolean, string, int, short, long, double, list, class, password
    default: Any  # None where Kafka's default is null; lists are tuples
    required: bool
    min: int | float | None
    max: int | float | None
    valid: tuple[str, ...] | None
    valid_items: tuple[str, ...] | None
    case_insensitive: bool
    empty_allowed: bool | None  # lists; None = the release has no such check
    null_allowed: bool | None
    max_items: int | None
    non_null: bool
    non_empty: bool
    validator: str | None  # a check of its own, named in our words ("gzip-level", "throttled-replicas", ...)
    internal: bool
    dynamic: str | None  # broker: read-only, per-broker, cluster-wide
    deprecated: bool
    synonyms: tuple[str, ...]  # topic: the broker keys that give the default, by precedence
    importance: str


_files: dict[str, Any] = {}
_tables: dict[tuple[str, str, bool], dict[str, Key]] = {}


def read(name: str) -> Any:
    """One compiled file, read once."""
    found = _files.get(name)
    if found is None:
        with open(os.path.join(DATA, "compiled", name + ".json"), "rb") as file:
            found = _files[name] = json.loads(file.read())
    return found


def keys(component: str, version: str | Version) -> Mapping[str, Key]:
    """Every key that `component` knows in this release."""
    version = resolve_version(version)
    # The one default below 2.0 that differs enough from 2.0's to change a verdict.
    unclean = version.number < (0, 11)
    table = _tables.get((component, version.release, unclean))
    if table is None:
        table = _tables[component, version.release, unclean] = _build(component, version.release, unclean)
    return table


def lookup(component: str, key: str, version: str | Version) -> Key | None:
    return keys(component, version).get(key)


def components_of(key: str, version: str | Version) -> tuple[str, ...]:
    """The components that know `key` in this release."""
    held = read(resolve_version(version).release)["components"]
    return tuple(component for component in COMPONENTS if key in held.get(component, ()))


def _build(component: str, release: str, unclean: bool) -> dict[str, Key]:
    if component not in COMPONENTS:
        raise ValueError(f"{component!r} is no component; one of {', '.join(COMPONENTS)}")
    data = read(release)
    rows = data["rows"]
    table = {
        name: _key(name, component, rows[position])
        for name, position in data["components"].get(component, {}).items()
    }
    name = "unclean.leader.election.enable"
    if unclean and name in table:
        table[name] = table[name]._replace(default=True)
    return table


def _key(name: str, component: str, row: list[Any]) -> Key:
    kind, default, low, high, importance, flags, dynamic, validator, valid, items, max_items, synonyms = (
        row if len(row) == 12 else row + [None] * (12 - len(row))
    )
    flags = flags or 0
    return Key(
        name,
        component,
        kind,
        tuple(default) if isinstance(default, list) else default,
        bool(flags & _REQUIRED),
        low,
        high,
        tuple(valid) if valid else None,
        tuple(items) if items else None,
        bool(flags & _ANY_CASE),
        True if flags & _EMPTY_OK else False if flags & _EMPTY_BAD else None,
        True if flags & _NULL_OK else False if flags & _NULL_BAD else None,
        max_items,
        bool(flags & _NON_NULL),
        bool(flags & _NON_EMPTY),
        validator,
        bool(flags & _INTERNAL),
        dynamic,
        bool(flags & _DEPRECATED),
        tuple(synonyms or ()),
        importance,
    )
