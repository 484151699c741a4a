"""Which Kafka version a configuration of a table is judged by when it is judged alone.

As in an audit: a topic and a broker run on the version of their cluster's brokers, any client on its own,
which only its row can state. So one configuration in two clusters may be judged twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...catalog import resolve_version
from ...tuples import NamedTuple
from ..canonical import BETWEEN, ENTRY
from ..marks import mark_at, parts_of
from .link import Clusters

VERSION_KEY = "@fact:kafka.version"
_OF_THE_CLUSTER = tuple(f"@component{BETWEEN}{name}" for name in ("broker", "topic"))


class Versions(NamedTuple):
    """`clusters` are the versions that brokers state, by the cluster's name; `bound` the configurations, by
    sha-256, that a cluster's version is binding for."""

    clusters: Mapping[str, str]
    bound: frozenset[str]

    @classmethod
    def of(cls, clusters: Clusters, texts: Mapping[str, str], stated: str | None) -> Versions:
        """`stated`: the whole run's, which leaves no other."""
        found = {}
        for name, told in clusters.told.items() if stated is None else ():
            version = stated_by(texts[fp] for fp in clusters.members[told["fp"]])
            if version is not None:
                found[name] = version
        bound = (fp for fp, text in texts.items() if any(one in _OF_THE_CLUSTER for one in text.split(ENTRY)))
        return cls(found, frozenset(bound) if found else frozenset())

    def mark(self, fp: str, cluster: str | None) -> str:
        """What is judged for a configuration in a cluster."""
        version = self.clusters.get(cluster or "")
        return mark_at(fp, version if fp in self.bound else None)


def text_at(mark: str, texts: Mapping[str, str]) -> str:
    """The text that is judged: the configuration's, with its cluster's version."""
    fp, version = parts_of(mark)
    if version is None:
        return texts[fp]
    kept = [entry for entry in texts[fp].split(ENTRY) if entry.partition(BETWEEN)[0] != VERSION_KEY]
    return ENTRY.join(sorted([*kept, f"{VERSION_KEY}{BETWEEN}{version}"]))


def stated_by(brokers: Iterable[str]) -> str | None:
    """The first version that a text states and that is one."""
    for text in brokers:
        for entry in text.split(ENTRY):
            key, _, value = entry.partition(BETWEEN)
            if key == VERSION_KEY:
                try:
                    resolve_version(value)
                except ValueError:
                    continue
                return value
    return None
