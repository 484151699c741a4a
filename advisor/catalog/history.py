"""What became of a key over the releases."""

import json
import os
from typing import Any

from ..tuples import NamedTuple
from .store import DATA, Key, _key, read
from .versions import RELEASES, Version, index_of


class Fate(NamedTuple):
    """A key of a component, seen from one release."""

    status: str  # known, removed, not-yet, never
    since: str | None  # first release that knows it
    until: str | None  # last release that knows it; None while the newest does, or if none ever did
    deprecated: bool
    deprecated_since: str | None


class Record(NamedTuple):
    """Facts that held unchanged from `since` to `until`, both included; None = until now."""

    since: str
    until: str | None
    key: Key


_NEVER = Fate("never", None, None, False, None)
_source: dict[str, Any] = {}


def fate(component: str, key: str, version: str | Version) -> Fate:
    """Whether this release knows the key, dropped it, does not have it yet, or no release ever had it."""
    entry = read("index").get(component, {}).get(key)
    if entry is None:
        return _NEVER
    here = index_of(version)
    *spans, deprecated = entry
    pairs = list(zip(spans[::2], spans[1::2], strict=True))
    last = pairs[-1][1]
    since, until = RELEASES[pairs[0][0]], None if last == len(RELEASES) - 1 else RELEASES[last]
    if any(low <= here <= high for low, high in pairs):
        status = "known"
    elif here < pairs[0][0]:
        status = "not-yet"
    else:
        status = "removed"
    known_as = deprecated >= 0 and deprecated <= here
    return Fate(status, since, until, known_as, RELEASES[deprecated] if deprecated >= 0 else None)


def history(component: str, key: str) -> tuple[Record, ...]:
    """Every set of facts the key has had, oldest first; empty if no release ever had it."""
    from .compile import _row  # only `explain` reads the source file

    if not _source:
        with open(os.path.join(DATA, "kafka.json"), encoding="utf-8") as file:
            _source.update(json.load(file))
    records = _source["components"].get(component, {}).get(key, ())
    return tuple(Record(r["since"], r["until"], _key(key, component, _row(r))) for r in records)
