"""What takes the place of a key that Kafka no longer has."""

import json
import os
from typing import Any

from ..tuples import NamedTuple
from .store import DATA


class Replacement(NamedTuple):
    """`keys` take the very same value; `instead` is what does its work otherwise; `now` is what Kafka does
    without it."""

    keys: tuple[str, ...] = ()
    instead: str | None = None
    now: str | None = None

    def text(self) -> str:
        instead = " and ".join(self.keys) or self.instead
        if instead is None:
            return f"take it out; {self.now}"
        return f"use {instead}" + (f" ({self.now})" if self.now else "")


_read: dict[str, Any] = {}


def replacement(component: str, key: str) -> Replacement | None:
    """None for a key that is not gone, or that is known to nobody."""
    if not _read:
        with open(os.path.join(DATA, "removed_keys.json"), encoding="utf-8") as file:
            _read.update(json.load(file))
    home = "connect" if component == "connect-standalone" else component
    table = _read.get(home, {})
    found = table.get(key) or table.get(".".join(key.split(".")[:2]) + ".*")
    if found is None:
        return None
    return Replacement(tuple(found.get("same_value_under", ())), found.get("instead"), found.get("now"))
