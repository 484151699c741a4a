"""What only several files together show: racks of a cluster's brokers, producers that hash keys apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.api import Edit, Hit, Location, fact_count, holds_partitions

if TYPE_CHECKING:
    from advisor.api import Context, Deployment, Document


def racks_on_some_brokers(deployment: Deployment, context: Context) -> Iterable[Hit]:
    having, lacking = [], []
    for document in deployment.cluster:
        # A pool's or operator's document without settings says nothing about its brokers.
        if document.settings and holds_partitions(document):
            found = any(setting.key == "broker.rack" for setting in document.settings)
            (having if found else lacking).append(document)
    if not having or not lacking:
        return
    first = lacking[0]
    fields = {
        "cluster": first.file,
        "with": ", ".join(document.name for document in having),
        "without": ", ".join(document.name for document in lacking),
    }
    shown = tuple(
        ("broker", setting)
        for document in having
        for setting in document.settings
        if setting.key == "broker.rack"
    )
    yield Hit(Location(first.file, first.line), ("broker.rack",), fields, shown)


def keys_scattered(deployment: Deployment, context: Context) -> Iterable[Hit]:
    """Asked of the producer whose scheme is not Java's: the one that can be told to hash like the others."""
    producer, topic = deployment.producer, deployment.topic
    if (
        producer is None
        or topic is None
        or scheme_of(producer) in (None, "java", "murmur2", "murmur2_random")
    ):
        return
    name = "topic.partitions"
    count = fact_count(name, next((fact.value for fact in topic.facts if fact.name == name), None)) or 12
    for other in context.deployments_of(topic):
        peer = other.producer
        if peer is None or peer is producer or scheme_of(peer) not in ("java", "murmur2", "murmur2_random"):
            continue
        apart = _apart(count, scheme_of(producer) or "", scheme_of(peer) or "")
        if apart is None:
            continue  # one partition: every key is on it
        key, here, there = apart
        at = next(
            (one.origin.at for one in producer.settings if one.key == "partitioner" and one.origin.at), None
        )
        fields = {
            "producer": producer.name,
            "other": peer.name,
            "topic": topic.name,
            "key": f'"{key}"',
            "here": str(here),
            "there": str(there),
        }
        yield Hit(
            at or Location(producer.file, producer.line),
            ("partitioner",),
            fields,
            edits=(Edit("partitioner", "producer", "partitioner", "murmur2_random"),),
            numbers=(
                ("partitions", str(count)),
                ("key", key),
                (producer.name, str(here)),
                (peer.name, str(there)),
            ),
        )
        return


def scheme_of(document: Document) -> str | None:
    """How the client places a key; None where a class of its own, or a template, decides."""
    settings = {setting.key: setting.value for setting in document.settings}
    if document.client == "librdkafka":
        given = settings.get("partitioner", "consistent_random")
        return given if isinstance(given, str) and given != "random" else None
    return None if "partitioner.class" in settings else "java"


def _apart(partitions: int, one: str, other: str) -> tuple[str, int, int] | None:
    from advisor.api import partition_for  # the simulator is loaded where two producers meet

    for number in range(1, 50):
        key = f"order-{number}"
        here, there = (
            partition_for(key.encode(), partitions, one),
            partition_for(key.encode(), partitions, other),
        )
        if here != there:
            return key, here, there
    return None
