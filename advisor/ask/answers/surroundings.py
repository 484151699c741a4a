"""What answers about a deployment depend on outside of it: the topics that its groups read elsewhere, all
topics of its cluster, and what the name of its topic says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...context import Context, Outside
from ...model import Deployment
from .groups.topics import partitions_of, topics_of
from .neighbours import kinds, several_leave
from .storage.replicas import count_replicas, is_largest, replicas_on
from .storage.state_topics import state_owner

# What `Surroundings.of` looks at of other deployments; and what whoever shares answers tells apart itself:
# the kinds of all deployments that a document is in.
_LOOKED_AT = frozenset((partitions_of, count_replicas, kinds, *several_leave.values()))


class Surroundings:
    """`params` are those of all rules: some hold patterns of names."""

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
            read = topics_of(group, deployment, context).items()
            around += [(name if topic is None or name != topic.name else "", count) for name, count in read]
            around.append(None)
        return tuple(around)


def are_all(read: Sequence[Outside]) -> bool:
    """Is what was read of other deployments part of the surroundings?"""
    return all(one.read in _LOOKED_AT for one in read)
