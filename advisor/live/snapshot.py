"""A cluster as it was at one moment: `audit --save FILE` writes it, `audit FILE` reads it later."""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from typing import Any

from ..catalog import RELEASES, keys, resolve_version
from ..tuples import NamedTuple

# What the first line of a snapshot has, by which the format plugin knows it.
MARK = "kafka_advisor_snapshot"
VERSION = 1
# Fewer keys than these in common are no broker's.
_KEYS_MIN = 50


class Snapshot(NamedTuple):
    """`unknown`: what did not answer or may not be seen, each with its reason."""

    cluster: str
    bootstrap: str
    kafka_version: str | None
    brokers_total: int
    brokers: list[dict[str, Any]]
    topics: list[dict[str, Any]]
    groups: list[dict[str, Any]]
    unknown: list[dict[str, str]]
    workload: Mapping[str, Any] = {}

    def text(self, taken: str) -> str:
        """Made for a person to read, one setting a line, so that a finding can name it."""
        data = {
            MARK: VERSION,
            "cluster": {
                "id": self.cluster,
                "bootstrap": self.bootstrap,
                "taken": taken,
                "brokers": self.brokers_total,
                **({"kafka_version": self.kafka_version} if self.kafka_version else {}),
            },
            "brokers": self.brokers,
            "topics": self.topics,
            "groups": self.groups,
            "unknown": self.unknown,
            **({"workload": dict(self.workload)} if self.workload else {}),
        }
        return _lines(data) + "\n"


def _lines(value: Any, indent: str = "", name: str = "") -> str:
    """JSON with a line for each setting; what is short and holds nothing else stands on one line."""
    inner = indent + " "
    if isinstance(value, Mapping) and (
        name == "settings" or any(isinstance(one, Mapping | list) for one in value.values())
    ):
        rows = [f"{inner}{json.dumps(key)}: {_lines(one, inner, key)}" for key, one in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}" if rows else "{}"
    if isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        return "[\n" + ",\n".join(f"{inner}{_lines(one, inner)}" for one in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def release_by_keys(told: Set[str]) -> str | None:
    """The release whose brokers have these settings: no call says it, but each has keys of its own."""
    best: tuple[int, str] | None = None
    for release in RELEASES:
        version = resolve_version(release)
        own = {name for name, key in keys("broker", version).items() if not name.startswith("listener.name.")}
        common = len(own & told)
        score = (
            common - len(own - told) - len({one for one in told - own if not one.startswith("confluent.")})
        )
        if common >= _KEYS_MIN and (best is None or score >= best[0]):
            best = score, ".".join(release.split(".")[:2])
    return None if best is None else best[1]
