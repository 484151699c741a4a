"""Which classes Kafka brings along, and what each can be used as."""

from __future__ import annotations

import json
import os
from typing import Any

from advisor.catalog import Version, edit_distance
from advisor.catalog.store import DATA

# A plain JVM has thousands more; these are the ones that turn up in configurations by mistake.
_JDK = frozenset(
    "java.lang." + name
    for name in (
        "String",
        "Object",
        "Integer",
        "Long",
        "Boolean",
        "Double",
        "Short",
        "Class",
        "Thread",
        "Exception",
    )
) | frozenset(
    "java.util." + name
    for name in ("ArrayList", "HashMap", "List", "Map", "Properties", "LinkedList", "HashSet", "UUID", "Date")
)
_JDK_BARE = frozenset(
    (
        "java.lang.Integer",
        "java.lang.Long",
        "java.lang.Boolean",
        "java.lang.Double",
        "java.lang.Short",
        "java.lang.Class",
        "java.util.UUID",
        "java.util.List",
        "java.util.Map",
    )
)  # no constructor without arguments

_data: dict[str, Any] = {}
_short: dict[str, str] = {}


def _table() -> dict[str, Any]:
    if not _data:
        with open(os.path.join(DATA, "classes.json"), encoding="ascii") as file:
            _data.update(json.load(file))
    return _data


def _present(mask: int, version: Version) -> bool:
    """Some releases were looked at; between two of them a class counts if either has it."""
    marks = [tuple(int(part) for part in release.split(".")) for release in _table()["releases"]]
    number = tuple(int(part) for part in version.release.split("."))
    at_or_below = [i for i, mark in enumerate(marks) if mark <= number]
    at_or_above = [i for i, mark in enumerate(marks) if mark >= number]
    near = {*(at_or_below[-1:]), *(at_or_above[:1])}
    return any(mask >> i & 1 for i in near)


_exists: dict[tuple[str, str], bool] = {}


def exists(name: str, version: Version) -> bool:
    mark = name, version.release
    found = _exists.get(mark)
    if found is None:
        entry = _table()["classes"].get(name)
        found = name in _JDK or (entry is not None and _present(entry[0], version))
        if len(_exists) < 10_000:
            _exists[mark] = found
    return found


def usable_as(name: str, kind: str, version: Version) -> bool | None:
    """True if the class can be made and is a `kind` (an interface's last name); None if it does not exist."""
    if not exists(name, version):
        return None
    return is_a(name, kind) and instantiable(name)


def is_a(name: str, kind: str) -> bool:
    entry = _table()["classes"].get(name)
    kinds = _table()["kinds"]
    return entry is not None and any(kinds[i].rpartition(".")[2] == kind for i in entry[2])


def instantiable(name: str) -> bool:
    entry = _table()["classes"].get(name)
    return name not in _JDK_BARE if entry is None else entry[1] == "C"


def looks_like_class(name: str) -> str | None:
    """The class of Kafka's that a wrong name probably means: no package, or a letter or two off."""
    table = _table()["classes"]
    if name in table:
        return None
    if not _short:
        _short.update((full.rpartition(".")[2], full) for full in sorted(table))
    if "." not in name:
        found = _short.get(name)
        if found is not None:
            return found
    near = [(edit_distance(name, full, 2), full) for full in table if abs(len(full) - len(name)) <= 2]
    near = [pair for pair in near if pair[0] <= 2]
    return min(near)[1] if near else None
