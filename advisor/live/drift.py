"""What files say and a running cluster has otherwise: "orders: the file says 2, the cluster 1"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..catalog import Version
from ..join.effective import by_key, effective
from ..model import Document, Location, Setting
from ..tuples import NamedTuple

_FACTS = {"topic.partitions": "partitions", "topic.replication_factor": "replication factor"}
# What is a node's own: every broker has another value, or the cluster tells it in other words.
_OWN = (
    "node.id",
    "broker.id",
    "listeners",
    "advertised.listeners",
    "log.dirs",
    "log.dir",
    "broker.rack",
    "controller.",
)


class Drift(NamedTuple):
    """`written` is None where only the cluster has a value of its own."""

    what: str
    key: str
    written: str | None
    at: Location
    live: str
    source: str

    def __str__(self) -> str:
        if self.written is None:
            return f"{self.what}: {self.key}={self.live} is set in the cluster alone ({self.source})"
        written = f"{self.at} says {self.key}={self.written}"
        return f"{self.what}: {written}, the cluster has {self.live} ({self.source})"


def drift(files: Sequence[Document], cluster: Sequence[Document], version: Version) -> list[Drift]:
    return [*_topics(files, cluster, version), *_brokers(files, cluster, version)]


def _topics(files: Sequence[Document], cluster: Sequence[Document], version: Version) -> Iterator[Drift]:
    brokers = [one for one in cluster if one.component == "broker" and not one.partial]
    live = {one.name: one for one in cluster if one.component == "topic"}
    for topic in files:
        if topic.component != "topic" or topic.name not in live:
            continue
        there = live[topic.name]
        layers = {"topic": by_key(there), "broker": by_key(brokers[0] if brokers else None)}
        written = {one.key: one for one in topic.settings}
        if not there.partial:
            for setting in topic.settings:
                found, _ = effective("topic", setting.key, version, layers)
                yield from _differing(topic.name, setting, found)
            for key, one in sorted(layers["topic"].items()):
                if key not in written and isinstance(one.value, str):
                    yield Drift(topic.name, key, None, Location(topic.file), one.value, one.origin.note)
        facts = {one.name: one for one in there.facts}
        for fact in topic.facts:
            other = facts.get(fact.name)
            if fact.name in _FACTS and other is not None and other.value != fact.value:
                at = fact.origin.at or Location(topic.file)
                yield Drift(topic.name, _FACTS[fact.name], fact.value, at, other.value, "the cluster")


def _brokers(files: Sequence[Document], cluster: Sequence[Document], version: Version) -> Iterator[Drift]:
    brokers = [one for one in cluster if one.component == "broker" and not one.partial]
    for document in files:
        if document.component != "broker":
            continue
        for setting in document.settings:
            if setting.key.startswith(_OWN):
                continue
            for broker in brokers:
                found, _ = effective("broker", setting.key, version, {"broker": by_key(broker)})
                yield from _differing(broker.name, setting, found)


def _differing(what: str, written: Setting, live: Setting | None) -> Iterator[Drift]:
    """Nothing is said of what either side does not show."""
    if live is None or not isinstance(written.value, str) or not isinstance(live.value, str):
        return
    if written.value.strip().lower() != live.value.strip().lower():
        at = written.origin.at or Location("")
        yield Drift(what, written.key, written.value, at, live.value, live.origin.note or "the cluster")
