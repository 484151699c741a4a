"""Which nodes of a KRaft cluster read a setting: where brokers and controllers are apart, some keys count in
the controllers' files alone.

The controller fences brokers, elects leaders and deletes topics by its own file (ControllerServer, and
ConfigurationControlManager.getTopicConfig for what a topic leaves to its cluster). With eligible leader
replicas it also gives the cluster its min.insync.replicas: its own value becomes the cluster's when the
feature is switched on (ActivationRecordsGenerator, maybeGenerateElrSafetyRecords), and from then on no
broker's file counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Document, Setting

# Besides min.insync.replicas, which brokers read as long as eligible leader replicas are off.
READ_BY_CONTROLLERS = frozenset(
    {
        "auto.leader.rebalance.enable",
        "broker.session.timeout.ms",
        "delete.topic.enable",
        "leader.imbalance.check.interval.seconds",
        "unclean.leader.election.enable",
    }
)


def roles_of(document: Document) -> frozenset[str]:
    """Empty where nobody says so: ZooKeeper, an operator's resource, a template."""
    given = next((one.value for one in document.settings if one.key == "process.roles"), None)
    if not isinstance(given, str):
        return frozenset()
    return frozenset(word for word in (part.strip() for part in given.split(",")) if word)


def holds_partitions(document: Document) -> bool:
    """False for a KRaft node that is a controller and nothing else."""
    return roles_of(document) != frozenset({"controller"})


def controllers_apart(cluster: Sequence[Document]) -> list[Document]:
    """The controllers of a cluster whose brokers are nodes of their own; none where a node is both, or where
    no controller's file is in sight: its values are then taken to be those of the brokers."""
    roles = [roles_of(document) for document in cluster]
    if frozenset({"broker"}) not in roles:
        return []
    return [document for document, its in zip(cluster, roles, strict=True) if "controller" in its]


def first_setting(documents: Sequence[Document], key: str) -> Setting | None:
    return next((one for document in documents for one in document.settings if one.key == key), None)
