"""The topics that a group reads, in whichever deployments."""

from __future__ import annotations

from collections.abc import Iterable

from ....context import Context
from ....model import Deployment, Document
from ....syntax.numbers import fact_count


def topics_of(group: Document, own: Deployment, context: Context) -> dict[str, int]:
    """The topics that the group is linked to, with their partitions, in the order of their names in the
    files. What is asked about may stand for any that is configured alike: its topic is called as it is."""
    found: dict[str, int] | None = context.across(group, partitions_of)
    if found is None:
        return partitions_of((own,))
    written = context.original(own.topic).name if own.topic is not None else None
    if own.topic is None or own.topic.name == written:
        return found
    return {own.topic.name if name == written else name: count for name, count in found.items()}


def partitions_of(deployments: Iterable[Deployment]) -> dict[str, int]:
    found: dict[str, int] = {}
    for deployment in deployments:
        topic = deployment.topic
        if topic is None:
            continue
        for fact in topic.facts:
            count = fact_count(fact.name, fact.value) if fact.name == "topic.partitions" else None
            if count is not None:
                found[topic.name] = count
    return dict(sorted(found.items()))
