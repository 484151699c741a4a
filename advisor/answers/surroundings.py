"""What answers see of other deployments than their own: the topics that a group reads elsewhere, and all
topics of a cluster, counted once for each group and cluster; and what a topic's name says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, NamedTuple

from ..context import Context
from ..model import Deployment, Document
from .storage_reading import Reading


class Replicas(NamedTuple):
    """The replicas of all topics of a cluster in sight, by topic, and the topic with most of them."""

    by_topic: Mapping[str, int]
    total: int
    largest: str | None


def topics_of(group: Document, own: Deployment, context: Context) -> dict[str, int]:
    """The topics that the group is linked to, with their partitions."""
    found: dict[str, int] | None = context.over_all("topics", group, _topics)
    return _topics((own,)) if found is None else found


def _topics(deployments: Iterable[Deployment]) -> dict[str, int]:
    found: dict[str, int] = {}
    for deployment in deployments:
        topic = deployment.topic
        if topic is None:
            continue
        for fact in topic.facts:
            if fact.name == "topic.partitions" and fact.value.isdigit() and int(fact.value) > 0:
                found[topic.name] = int(fact.value)
    return found


def replicas_on(cluster: Document, own: Deployment, context: Context) -> Replicas:
    found: Replicas | None = context.over_all("replicas", cluster, _replicas)
    return _replicas((own,)) if found is None else found


def _replicas(deployments: Iterable[Deployment]) -> Replicas:
    # A topic that many write to is counted once.
    by_topic = {id(deployment.topic): deployment for deployment in deployments}
    counted = {
        deployment.topic.name: copies
        for deployment in by_topic.values()
        if deployment.topic is not None and (copies := _copies(deployment)) is not None
    }
    largest = max(counted, key=lambda name: (counted[name], name), default=None)
    return Replicas(counted, sum(counted.values()), largest)


def _copies(deployment: Deployment) -> int | None:
    reading = Reading(deployment)
    if reading.partitions is None:
        return None
    return reading.partitions * (reading.replicas or 1)


def is_largest(topic: Document | None, replicas: Replicas, context: Context) -> bool:
    """By the name in its file: what is asked about may stand for any topic that is configured alike."""
    return topic is not None and context.original(topic).name == replicas.largest


_STORAGE = ("config.storage.topic", "offset.storage.topic", "status.storage.topic")


def state_owner(deployment: Deployment, patterns: Iterable[str], context: Context) -> str | None:
    """Whose state the topic holds, by the name in its file: Connect's, where a worker names it, or what the
    first pattern that fits (`_schemas=Schema Registry`) says."""
    if deployment.topic is None:
        return None
    own = context.original(deployment.topic).name
    for group in deployment.groups:
        if group.component == "connect" and any(
            setting.key in _STORAGE and setting.value == own for setting in group.settings
        ):
            return "Kafka Connect"
    return _fitting(own, tuple(patterns))


@lru_cache(maxsize=10_000)
def _fitting(name: str, patterns: tuple[str, ...]) -> str | None:
    for one in patterns:
        pattern, _, owner = str(one).partition("=")
        if fnmatchcase(name, pattern):
            return owner or "an application"
    return None


class Surroundings:
    """All that the answers about a deployment depend on outside of it, and in the names of its parts.
    `params` are those of all rules: some hold patterns of names."""

    def __init__(self, params: Iterable[Mapping[str, Any]], context: Context) -> None:
        self._patterns = sorted(
            {tuple(map(str, one["state_topics"])) for one in params if "state_topics" in one}
        )
        self._context = context

    def of(self, deployment: Deployment) -> tuple[object, ...]:
        topic, context = deployment.topic, self._context
        around: list[object] = []
        if topic is not None:
            around += [state_owner(deployment, patterns, context) for patterns in self._patterns]
            if deployment.cluster:
                replicas = replicas_on(deployment.cluster[0], deployment, context)
                if is_largest(topic, replicas, context):
                    around.append((replicas.total, len(replicas.by_topic), replicas.by_topic[topic.name]))
        for group in deployment.groups:
            read = sorted(topics_of(group, deployment, context).items())
            around += [(name if topic is None or name != topic.name else "", count) for name, count in read]
        return tuple(around)
