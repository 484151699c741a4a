"""Files that should say the same and do not: brokers of one cluster, two declarations of one topic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.api import Hit, Location, Setting, holds_partitions, lookup

if TYPE_CHECKING:
    from advisor.api import Context, Deployment, Document

# What counts for the whole cluster: which broker's value is in force depends on who leads, who coordinates or
# who makes the topic. Threads, buffers, addresses and key stores are each broker's own.
_CLUSTER_WIDE = frozenset(
    [
        "auto.create.topics.enable",
        "compression.type",
        "default.replication.factor",
        "delete.topic.enable",
        "group.initial.rebalance.delay.ms",
        "group.max.session.timeout.ms",
        "group.min.session.timeout.ms",
        "inter.broker.listener.name",
        "inter.broker.protocol.version",
        "log.cleanup.policy",
        "log.message.format.version",
        "log.message.timestamp.type",
        "log.retention.bytes",
        "log.retention.hours",
        "log.retention.minutes",
        "log.retention.ms",
        "log.roll.hours",
        "log.roll.ms",
        "log.segment.bytes",
        "max.message.bytes",
        "message.max.bytes",
        "min.insync.replicas",
        "num.partitions",
        "offsets.retention.minutes",
        "offsets.topic.num.partitions",
        "offsets.topic.replication.factor",
        "replica.fetch.max.bytes",
        "replica.lag.time.max.ms",
        "security.inter.broker.protocol",
        "sasl.mechanism.inter.broker.protocol",
        "transaction.max.timeout.ms",
        "transaction.state.log.min.isr",
        "transaction.state.log.num.partitions",
        "transaction.state.log.replication.factor",
        "unclean.leader.election.enable",
    ]
)


def brokers_disagree(deployment: Deployment, context: Context) -> Iterable[Hit]:
    brokers = [one for one in deployment.cluster if one.settings and holds_partitions(one)]
    if any(_is_mounted(one) for one in brokers) and not all(_is_mounted(one) for one in brokers):
        brokers = [one for one in brokers if not _is_mounted(one)]  # the pods' own arguments go over it
    if len(brokers) < 2:
        return
    found = []
    for key in sorted({one.key for broker in brokers for one in broker.settings} & _CLUSTER_WIDE):
        values = [(broker, _value(broker, key, context)) for broker in brokers]
        if all(value is not None for _, value in values) and len({value for _, value in values}) > 1:
            found.append(_disagreement(key, [(broker, value or "") for broker, value in values]))
    # Told once for the cluster. Who tells it is looked up last: an answer that looks at other deployments
    # is not shared.
    if found and context.deployments_of(brokers[0])[0].id == deployment.id:
        yield from found


def _is_mounted(broker: Document) -> bool:
    """A file of a ConfigMap, called CONFIGMAP/FILE."""
    return broker.format == "kubernetes" and "/" in broker.name


def _value(broker: Document, key: str, context: Context) -> str | None:
    """As written, else the default of the release; None where nobody can tell."""
    written = _setting(broker, key)
    if written is not None:
        return written.value.strip().lower() if isinstance(written.value, str) else None
    known = lookup("broker", key, context.version_of(broker))
    if broker.partial or known is None or known.default is None:
        return None
    return str(known.default).lower()


def _setting(broker: Document, key: str) -> Setting | None:
    return next((one for one in broker.settings if one.key == key), None)


def _disagreement(key: str, values: list[tuple[Document, str]]) -> Hit:
    groups: dict[str, list[Document]] = {}
    for broker, value in values:
        groups.setdefault(value, []).append(broker)
    few = min(groups.values(), key=len)
    written = [
        (broker, one)
        for broker in (*few, *(b for b, _ in values))
        if (one := _setting(broker, key)) is not None
    ]
    places = [one.origin.at for _, one in written if one.origin.at is not None]
    told = "; ".join(
        f"{value} on {', '.join(one.name for one in group)}" for value, group in sorted(groups.items())
    )
    first = few[0]
    return Hit(
        places[0] if places else Location(first.file, first.line),
        (key,),
        {"key": key, "values": told},
        tuple(("broker", one) for _, one in dict.fromkeys(written)),
        also_at=tuple(place for place in dict.fromkeys(places[1:]) if place != places[0]),
        advice=("give every broker of a cluster the same value, and roll it out broker by broker",),
    )


def topic_declared_twice(document: Document, context: Context) -> Iterable[Hit]:
    for fact in document.facts:
        if fact.name == "topic.also_declared":
            place, _, differing = fact.value.partition(": ")
            fields = {"topic": document.name, "other": place, "differing": differing}
            yield Hit(
                Location(document.file, document.line),
                ("topic",),
                fields,
                advice=("keep one declaration, and take the other out",),
            )
