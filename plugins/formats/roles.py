"""Whose configuration is it? Kafka's files do not say, so their keys and their name vote.

Some keys settle it alone (`process.roles`, `connector.class`). Otherwise each key votes for the components
that know it, the more the fewer they are, and the file's name votes too. One stray key of another
component does not change the outcome: it stays in the document, where a rule can report it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from advisor.api import fate, known_anywhere, librdkafka, librdkafka_only, pattern

_COMPONENTS = ("producer", "consumer", "admin", "broker", "topic", "connect", "connect-standalone", "streams")
CLIENTS = ("producer", "consumer", "admin")

# What a topic's file may say besides configuration keys, and the fact it states.
TOPIC_FACTS = {
    "partitions": "topic.partitions",
    "num-partitions": "topic.partitions",
    "partition.count": "topic.partitions",
    "replication.factor": "topic.replication_factor",
    "replication-factor": "topic.replication_factor",
    "replication_factor": "topic.replication_factor",
    "replicas": "topic.replication_factor",
}
TOPIC_NAME_KEYS = ("topic.name", "topic", "name")

# A worker or a Streams application hands these on to the clients it makes.
CLIENT_PREFIXES = (
    "producer.",
    "consumer.",
    "admin.",
    "main.consumer.",
    "restore.consumer.",
    "global.consumer.",
    "producer.override.",
    "consumer.override.",
    "admin.override.",
    "topic.",
)

# MirrorMaker 2: `source->target.enabled`.
REPLICATION = pattern(r"[\w.-]+->(?=[\w.-]++$)[\w.-][\w-]*+\.[\w.-]")

_BROKER_KEYS = frozenset(
    (
        "process.roles",
        "broker.id",
        "node.id",
        "log.dirs",
        "zookeeper.connect",
        "advertised.listeners",
        "listeners",
        "inter.broker.listener.name",
        "controller.quorum.voters",
        "controller.quorum.bootstrap.servers",
        "controller.listener.names",
        "num.network.threads",
        "log.retention.hours",
        "offsets.topic.replication.factor",
    )
)
_BROKERS_OWN = frozenset(
    (
        "process.roles",
        "broker.id",
        "node.id",
        "log.dirs",
        "log.dir",
        "zookeeper.connect",
        "listeners",
        "advertised.listeners",
        "controller.quorum.voters",
        "controller.quorum.bootstrap.servers",
    )
)
_WORKER_TOPICS = frozenset(("config.storage.topic", "offset.storage.topic", "status.storage.topic"))
# "offsets" and "connect" are words of Kafka too: only whole words of a file's name count.
_WORDS = pattern(r"[a-z]+[0-9]*")
_NAMED = {
    "producer": "producer",
    "producers": "producer",
    "consumer": "consumer",
    "consumers": "consumer",
    "admin": "admin",
    "adminclient": "admin",
    "server": "broker",
    "broker": "broker",
    "controller": "broker",
    "kraft": "broker",
    "streams": "streams",
    "kstreams": "streams",
}
_NAME_VOTE = 4.0

_known: dict[str, frozenset[str]] = {}
# A fleet's files repeat a few sets of keys.
_inferred: dict[tuple[frozenset[str], str | None, bool], tuple[Role, ...]] = {}


class Role(NamedTuple):
    """A component that a configuration is for, and who reads it (Document.client)."""

    component: str
    client: str


def components(key: str) -> frozenset[str]:
    """The components that know the key in any release, librdkafka's clients included."""
    found = _known.get(key)
    if found is None:
        if len(_known) > 50_000:
            _known.clear()
        found = _known[key] = _components(key)
    return found


def _components(key: str) -> frozenset[str]:
    if not known_anywhere(key):
        return frozenset()
    java = {name for name in _COMPONENTS if fate(name, key, "4.3").status != "never"}
    if librdkafka_only(key):
        known = librdkafka(key)
        scope = "*" if known is None else known.scope
        java |= {"P": {"producer"}, "C": {"consumer"}}.get(scope, {"producer", "consumer", "admin"})
    return frozenset(java)


def is_brokers_own(key: str) -> bool:
    """A key that differs from broker to broker, or says which cluster it is of."""
    return key in _BROKERS_OWN


def named_role(path: str) -> str | None:
    """What the file's name says it is for, if it says so in a whole word."""
    base = path.rpartition("/")[2].lower()
    if topic_in_name(path) is not None:
        return "topic"
    words = _WORDS.findall(base.partition(".")[0] + " " + " ".join(base.split(".")[1:-1]))
    for word in words:
        role = _NAMED.get(word.rstrip("0123456789"))
        if role is not None:
            return role
    return None


_TOPIC_NAMES = (
    pattern(r"topics?[-_.](.+)", re.IGNORECASE),
    pattern(r"(.+)[-_.]topic", re.IGNORECASE),
)


def topic_in_name(path: str) -> str | None:
    """The topic that a file's name names: orders for topic-orders.properties, orders.topic.properties,
    orders-topic.properties and topics/orders.properties; "" if it only says that it is a topic's."""
    folder, _, base = path.rpartition("/")
    stem = base.rpartition(".")[0] or base
    if "topic" in stem.lower():
        for pattern in _TOPIC_NAMES:
            found = pattern.fullmatch(stem)
            if found is not None:
                return found[1]
    if stem.lower() in ("topic", "topics"):
        return ""
    return stem if folder.rpartition("/")[2].lower() == "topics" else None


def infer(keys: Iterable[str], path: str = "") -> tuple[Role, ...]:
    """The roles of a file with these keys: one, or producer and consumer where it clearly serves both."""
    held = frozenset(keys)
    named = named_role(path)
    librdkafka_named = "librdkafka" in path.rpartition("/")[2].lower()
    mark = held, named, librdkafka_named
    found = _inferred.get(mark)
    if found is None:
        if len(_inferred) > 5_000:
            _inferred.clear()
        found = _inferred[mark] = _infer(held, named, librdkafka_named)
    return found


def _infer(held: frozenset[str], named: str | None, librdkafka_named: bool) -> tuple[Role, ...]:
    settled = _settled(held)
    if settled is not None:
        return (settled,)
    votes = _votes(held)
    if named is not None:
        votes[named] += _NAME_VOTE
    server = max(("broker", "topic", "streams", "connect"), key=lambda name: votes[name])
    least = max(votes["producer"], votes["consumer"])
    if any(_for_every_client(key) for key in held):
        # One stray key (ssl.client.auth, replication.factor) makes no server of a client's file.
        least = max(least, _NAME_VOTE)
    if votes[server] > least:
        return (Role(server, {"streams": "streams", "connect": "connect"}.get(server, "java")),)
    family = "librdkafka" if librdkafka_named else client_family(held)
    return tuple(Role(component, family) for component in _client_roles(held, named))


def _settled(held: Collection[str]) -> Role | None:
    """The role that certain keys decide alone."""
    if "clusters" in held and any(
        REPLICATION.match(key) or key.endswith(".bootstrap.servers") for key in held
    ):
        return Role("mm2", "connect")
    if "connector.class" in held:
        return Role("connector", "connect")
    if "offset.storage.file.filename" in held and not _WORKER_TOPICS & set(held):
        return Role("connect-standalone", "connect")
    if len(_WORKER_TOPICS & set(held)) >= 1:
        return Role("connect", "connect")
    if (
        "zookeeper.connect" in held
        and "group.id" in held
        and not _BROKERS_OWN - {"zookeeper.connect"} & set(held)
    ):
        return Role("consumer", "java")  # of the times before 0.9
    if "process.roles" in held or len(_BROKER_KEYS & set(held)) >= 3:
        return Role("broker", "java")
    if "application.id" in held:
        return Role("streams", "streams")
    if "bootstrap.servers" not in held and ("broker.id" in held or "node.id" in held):
        return Role("broker", "java")
    return None


def _votes(held: Collection[str]) -> dict[str, float]:
    votes = dict.fromkeys(_COMPONENTS, 0.0)
    for key in held:
        voters = components(key)
        if key in TOPIC_FACTS and not voters - {"streams"}:
            votes["topic"] += 1.0
        # Standalone and distributed workers share nearly everything: they count as one voter.
        voters -= {"connect-standalone"} if "connect" in voters else set()
        if voters >= {"producer", "consumer"}:
            continue
        for name in voters:
            votes[name] += {1: 3.0, 2: 1.5}.get(len(voters), 0.75)
    if "bootstrap.servers" in held:
        # Neither a broker nor a topic is told where the brokers are.
        votes["broker"] -= 3.0
        votes["topic"] -= 3.0
    return votes


def _for_every_client(key: str) -> bool:
    known = components(key)
    return known >= {"producer", "consumer"} and "broker" not in known


def _client_roles(held: Collection[str], named: str | None) -> tuple[str, ...]:
    writes = [key for key in held if only_side(key) == "producer"]
    reads = [key for key in held if only_side(key) == "consumer"]
    if not writes and not reads:
        return (named,) if named in ("producer", "consumer") else ("admin",)
    few, many = sorted((len(writes), len(reads)))
    side = "producer" if len(writes) >= len(reads) else "consumer"
    if few == 0:
        # A name outweighs one key, not two.
        return (named,) if many == 1 and named in ("producer", "consumer") else (side,)
    if named in ("producer", "consumer"):
        own = len(writes if named == "producer" else reads)
        return (named,) if own >= few and own == many else ("producer", "consumer")
    # Both sides in earnest: two keys each, or a balance of one to two.
    return ("producer", "consumer") if few >= 2 or many <= 2 else (side,)


def only_side(key: str) -> str | None:
    """Which client has the key to itself; what a broker or a topic knows too (compression.type) counts."""
    known = components(key)
    if ("producer" in known) == ("consumer" in known):
        return None
    return "producer" if "producer" in known else "consumer"


def belongs(key: str, role: str) -> bool:
    """Whether a file for both sides gives the key to this side: its own keys, the common and the unknown."""
    side = only_side(key)
    return side is None or side == role


def client_family(keys: Iterable[str]) -> str:
    """librdkafka if only librdkafka knows what is written, else java.

    A key that a broker knows as well (message.max.bytes) is a frequent mistake in Java clients, so it says
    nothing; a key that only Java clients know outweighs one that only librdkafka knows.
    """
    rd = java = 0
    for key in keys:
        if librdkafka_only(key):
            rd += all(fate(name, key, "4.3").status == "never" for name in _COMPONENTS)
        elif components(key) & set(CLIENTS) and librdkafka(key) is None:
            java += 1
    return "librdkafka" if rd > java else "java"
