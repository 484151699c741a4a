"""The replicas of all topics of a cluster in sight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....context import Context
from ....model import Deployment, Document
from ....tuples import NamedTuple
from .settings import Reading


class Replicas(NamedTuple):
    """By topic, and the topic with most of them."""

    by_topic: Mapping[str, int]
    total: int
    largest: str | None


def replicas_on(cluster: Document | None, own: Deployment, context: Context) -> Replicas:
    """Without a cluster in sight those of its own topic: there may be more."""
    found: Replicas | None = None if cluster is None else context.across(cluster, count_replicas)
    return count_replicas((own,)) if found is None else found


def count_replicas(deployments: Iterable[Deployment]) -> Replicas:
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
