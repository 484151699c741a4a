"""What of the audited settings a throw-away cluster and its clients get, and what it must change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..catalog import keys, librdkafka, resolve_version
from ..join.reader import Reader
from ..model import Deployment, Document, Setting, UsageError
from ..syntax.numbers import integer
from ..tuples import NamedTuple

# Where a node is, who may speak to it and where it keeps things: its own in every cluster.
_OF_THE_PLACE = (
    "advertised.", "listener", "inter.broker.", "security.", "ssl.", "sasl.", "log.dir", "metadata.log.dir",
    "node.id", "broker.id", "process.roles", "controller.", "zookeeper.", "authorizer", "super.users",
    "metric", "auto.include.jmx", "remote.log", "kafka.metrics", "broker.rack", "socket.", "password.",
    "early.start.listeners", "host.name", "port", "create.topic.policy", "alter.config.policy",
    "delegation.", "principal.", "connection", "max.connection", "quota", "client.quota", "num.",
    "background.", "replica.selector.class", "cluster.link", "confluent.",
)  # fmt: skip
_OF_A_CLIENT = (
    "bootstrap.servers", "security.", "ssl.", "sasl.", "key.serializer", "value.serializer",
    "key.deserializer", "value.deserializer", "interceptor.classes", "metric", "auto.include.jmx",
    "schema.", "client.dns", "client.rack", "client.id", "enable.metrics.push",
)  # fmt: skip
# The topic's name on the throw-away cluster, where it has none.
TOPIC = "orders"
# Kafka's own, where nobody states how many.
REPLICAS, BROKERS_MAX = 3, 5


class Client(NamedTuple):
    """A producer or a consumer as its file has it, without what belongs to its place."""

    name: str
    settings: Mapping[str, str]
    family: str = "java"


class Audited(NamedTuple):
    """A deployment as it is set up anew. `changed` are sentences: what is not as audited, and why."""

    deployment: Deployment
    version: str
    topic: str
    partitions: int
    replicas: int
    brokers: int
    topic_settings: Mapping[str, str]
    broker_settings: Mapping[str, str]
    producer: Client
    groups: tuple[Client, ...]
    elr: bool | None
    changed: tuple[str, ...]


def audited(deployment: Deployment, assuming: Sequence[str] = ()) -> Audited:
    look = Reader(deployment)
    replicas = look.count("topic.replication_factor") or REPLICAS
    brokers = max(replicas, look.count("cluster.brokers") or replicas)
    changed: list[str] = []
    if brokers > BROKERS_MAX:
        changed.append(f"{max(BROKERS_MAX, replicas)} brokers instead of {brokers}")
        brokers = max(BROKERS_MAX, replicas)
    kept_broker = dict(_kept(deployment.cluster, "broker", deployment.version, _OF_THE_PLACE, changed))
    topic = deployment.topic
    kept_topic = dict(_kept([topic] if topic else [], "topic", deployment.version, (), changed))
    families = {"producer": ("java", "spring", "librdkafka"), "consumer": ("java", "spring")}
    for one in (deployment.producer, *deployment.groups):
        if one is not None and one.client not in families.get(one.component, ("java",)):
            raise UsageError(f"{one.name} is a {one.component} of {one.client}, which is not played here")
    if deployment.producer is not None and deployment.producer.client == "librdkafka":
        _needs_librdkafka(deployment.producer)
    return Audited(
        deployment,
        deployment.version,
        topic.name if topic is not None and topic.name.isascii() else TOPIC,
        look.count("topic.partitions") or 1,
        replicas,
        brokers,
        kept_topic,
        kept_broker,
        _client(deployment.producer, "producer", deployment.version, changed),
        tuple(_client(one, "consumer", deployment.version, changed) for one in deployment.groups),
        _elr(look, assuming),
        tuple(changed),
    )


def _needs_librdkafka(producer: Document) -> None:
    from importlib.util import find_spec

    if find_spec("confluent_kafka") is None:
        raise UsageError(
            f"{producer.name} is a client of librdkafka, which is played with confluent-kafka: "
            "pip install 'kafka-advisor[live]'"
        )


def _client(document: Document | None, component: str, version: str, changed: list[str]) -> Client:
    if document is None:
        return Client(component, {})
    kept = dict(_kept([document], component, version, _OF_A_CLIENT, changed))
    return Client(document.name, kept, "librdkafka" if document.client == "librdkafka" else "java")


def _kept(
    documents: Sequence[Document], component: str, version: str, left_out: Sequence[str], changed: list[str]
) -> Iterator[tuple[str, str]]:
    """What is known here and does not belong to a place; of several documents the first counts."""
    known = keys(component, resolve_version(version))
    told: set[str] = set()
    for document in documents:
        of_librdkafka = document.client == "librdkafka"
        for setting in document.settings:
            key = setting.key
            is_known = librdkafka(key) is not None if of_librdkafka else key in known
            if key in told or not is_known or key.startswith(tuple(left_out)):
                continue
            told.add(key)
            if isinstance(setting.value, str):
                yield key, setting.value
            else:
                changed.append(f"{key} is left at its default: {_why(setting)}")


def _why(setting: Setting) -> str:
    return "its value is not in sight"


def _elr(look: Reader, assuming: Sequence[str]) -> bool | None:
    """None: as the release has it when its storage is formatted."""
    for sentence in assuming:
        if "eligible leader replicas" in sentence and "off" in sentence:
            return False
    fact = look.fact("cluster.elr")
    return None if fact is None else fact.value in ("on", "true")


def number(settings: Mapping[str, str], key: str, default: int) -> int:
    """A whole number as Kafka reads it; what it would refuse counts as not set."""
    found = integer(settings.get(key, "").strip())
    return default if found is None else found


def features(audited: Audited) -> dict[str, int]:
    """Which features the storage is formatted with; before 4.0 there are none to choose."""
    if audited.elr is None or resolve_version(audited.version).number < (4, 0):
        return {}
    return {"eligible.leader.replicas.version": 1 if audited.elr else 0}
