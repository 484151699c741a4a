"""What only several files together show: racks of a cluster's brokers, producers that hash keys apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.api import Edit, Hit, Location, fact_count, holds_partitions, placer_of

if TYPE_CHECKING:
    from advisor.api import Context, Deployment, KeyPlacer


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
    mine = placer_of(producer, context.partitioner) if producer is not None else None
    if producer is None or topic is None or mine is None or mine.like_java:
        return
    name = "topic.partitions"
    count = fact_count(name, next((fact.value for fact in topic.facts if fact.name == name), None)) or 12
    for other in context.deployments_of(topic):
        peer = other.producer
        theirs = placer_of(peer, context.partitioner) if peer is not None and peer is not producer else None
        if peer is None or theirs is None or not (theirs.like_java or mine.own):
            continue
        if theirs.own and theirs.name <= mine.name:
            continue  # the same class, or told at the other
        apart = _apart(count, mine, theirs)
        if apart is None:
            continue  # one partition: every key is on it
        key, here, there = apart
        at = next((one.origin.at for one in producer.settings if one.key == mine.key and one.origin.at), None)
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
            (mine.key,),
            fields,
            edits=() if mine.own else (Edit("partitioner", "producer", "partitioner", "murmur2_random"),),
            advice=("write to this topic with one partitioner, or keep keys out of it",) if mine.own else (),
            numbers=(
                ("partitions", str(count)),
                ("key", key),
                (producer.name, str(here)),
                (peer.name, str(there)),
            ),
        )
        return


def _apart(partitions: int, one: KeyPlacer, other: KeyPlacer) -> tuple[str, int, int] | None:
    for number in range(1, 50):
        key = f"order-{number}"
        here, there = one.place(key.encode(), partitions), other.place(key.encode(), partitions)
        if here != there:
            return key, here, there
    return None
