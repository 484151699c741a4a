"""Strimzi resources that talk to a cluster: Connect, connectors, MirrorMaker and users."""

from __future__ import annotations

from advisor.api import Document, Dropped, Fact, Node, Setting, setting

from ..brokers import texts, worker_hints
from ..maps.connector_json import clients_of
from .strimzi_config import (
    BRIDGE_CONSUMER,
    BRIDGE_PRODUCER,
    CONNECT,
    MIRROR_CONSUMER,
    MIRROR_MAKER_2,
    MIRROR_PRODUCER,
    Filter,
    Resource,
    config_of,
    number,
)

# Fields of the newer API for what older ones keep in `config`.
_WORKER_FIELDS = (
    ("group.id", "groupId"),
    ("config.storage.topic", "configStorageTopic"),
    ("offset.storage.topic", "offsetStorageTopic"),
    ("status.storage.topic", "statusStorageTopic"),
)
# Before v1 these were ordinary keys of `config`; v1 takes them from the fields alone.
_ONCE_ALLOWED = frozenset(key for key, _ in _WORKER_FIELDS)


def _worker_config(
    resource: Resource, node: Node | None, fields: tuple[str, ...]
) -> tuple[tuple[Setting, ...], tuple[Dropped, ...]]:
    """A worker's `config` and the fields that stand for keys; `fields` is where the fields are."""
    filtered = MIRROR_MAKER_2 if fields else CONNECT
    if resource.version != "v1":
        prefixes = tuple(prefix for prefix in filtered.prefixes if prefix not in _ONCE_ALLOWED)
        filtered = filtered._replace(prefixes=prefixes)
    settings, dropped = config_of(resource, node, filtered)
    own = {item.key: item for item in settings}
    for key, name in (("bootstrap.servers", "bootstrapServers"), *_WORKER_FIELDS):
        own.update({item.key: item for item in resource.field(key, *fields, name)})
    return tuple(own.values()), dropped


def connect(resource: Resource) -> list[Document]:
    settings, dropped = _worker_config(resource, resource.spec("config"), ())
    facts = _count(resource, "replicas", "group.members")
    hints = (*resource.hints(), ("connect", resource.name), *worker_hints(settings), *_cluster_of(settings))
    return [resource.document("connect", resource.name, settings, facts, dropped, hints, client="connect")]


def connector(resource: Resource) -> list[Document]:
    settings, dropped = config_of(resource, resource.spec("config"), None)
    fields = [
        *resource.field("connector.class", "class"),
        *resource.field("tasks.max", "tasksMax"),
    ]
    hints = [("connect", resource.label)] if resource.label else []
    hints.extend(pair for pair in resource.hints() if pair[0] != "cluster")
    for key in ("topics", "topic"):
        for topic in texts(settings).get(key, "").split(","):
            if topic.strip():
                hints.append(("topic", topic.strip()))
    own = resource.document(
        "connector", resource.name, [*fields, *settings], (), dropped, hints, client="connect"
    )
    clients = clients_of(own.file, own.format, own.name, own.settings, own.line, hints)
    return [own, *clients]


def user(resource: Resource) -> list[Document]:
    """Quotas as the settings Kafka knows them by."""
    settings = [
        *resource.field("producer_byte_rate", "quotas", "producerByteRate"),
        *resource.field("consumer_byte_rate", "quotas", "consumerByteRate"),
        *resource.field("request_percentage", "quotas", "requestPercentage"),
        *resource.field("controller_mutation_rate", "quotas", "controllerMutationRate"),
    ]
    hints = [*resource.hints()]
    acls = resource.spec("authorization", "acls")
    for acl in acls.elements if acls is not None else ():
        kind, name = acl.text_at("resource", "type"), acl.text_at("resource", "name")
        literal = acl.text_at("resource", "patternType") != "prefix"
        if kind in ("topic", "group") and name and name != "*" and literal:
            hints.append((kind, name))
    return [resource.document("user", resource.name, settings, hints=hints)]


def mirror_maker_2(resource: Resource) -> list[Document]:
    """The worker as a connect document, and one mm2 document per mirror with its connectors' settings.

    v1 has `target` and `mirrors[].source`; before, `clusters[]`, `connectCluster` and aliases.
    """
    target = resource.spec("target")
    documents = []
    hints = resource.hints()
    sources: dict[str, Node] = {}
    if target is not None:
        settings, dropped = _worker_config(resource, target.get("config"), ("target",))
        alias = target.text_at("alias") or ""
    else:
        alias = resource.text("connectCluster") or ""
        sources = _aliases(resource.spec("clusters"))
        worker = sources.get(alias)
        settings, dropped = config_of(resource, None if worker is None else worker.get("config"), _OLD_MM2)
        settings = (*_bootstrap(resource, worker, ""), *settings)
    documents.append(
        resource.document(
            "connect",
            resource.name,
            settings,
            _count(resource, "replicas", "group.members"),
            dropped,
            (*hints, ("connect", resource.name), *worker_hints(settings), *_cluster_of(settings)),
            client="connect",
        )
    )
    mirrors = resource.spec("mirrors")
    for mirror in mirrors.elements if mirrors is not None else ():
        documents.append(_mirror(resource, mirror, alias, sources, settings))
    return documents


_OLD_MM2 = MIRROR_MAKER_2._replace(
    prefixes=tuple(prefix for prefix in MIRROR_MAKER_2.prefixes if prefix not in _ONCE_ALLOWED)
)


def _aliases(clusters: Node | None) -> dict[str, Node]:
    found = {}
    for cluster in clusters.elements if clusters is not None else ():
        found[cluster.text_at("alias") or ""] = cluster
    return found


def _bootstrap(resource: Resource, cluster: Node | None, prefix: str) -> list[Setting]:
    node = None if cluster is None else cluster.get("bootstrapServers")
    if node is None or not node.value:
        return []
    return [setting(prefix + "bootstrap.servers", node.value, resource.file, node.line, "bootstrapServers")]


def _mirror(
    resource: Resource, mirror: Node, target: str, clusters: dict[str, Node], worker: tuple[Setting, ...]
) -> Document:
    source = mirror.get("source") or clusters.get(mirror.text_at("sourceCluster") or "")
    name = (source.text_at("alias") if source is not None else None) or "source"
    to = mirror.text_at("targetCluster") or target or "target"
    settings = [*_bootstrap(resource, source, "source.cluster.")]
    # Put into the connector's own configuration, which the operator does not filter.
    settings.extend(
        config_of(resource, None if source is None else source.get("config"), None, "source.cluster.")[0]
    )
    for part in ("sourceConnector", "checkpointConnector", "heartbeatConnector"):
        settings.extend(config_of(resource, mirror.get(part, "config"), None)[0])
        tasks = mirror.get(part, "tasksMax")
        if tasks is not None and tasks.value:
            settings.append(setting("tasks.max", tasks.loaded_text(), resource.file, tasks.line, part))
    for key, fields in (
        ("topics", ("topicsPattern",)),
        ("topics.exclude", ("topicsExcludePattern", "topicsBlacklistPattern")),
        ("groups", ("groupsPattern",)),
        ("groups.exclude", ("groupsExcludePattern", "groupsBlacklistPattern")),
    ):
        node = next((value for field in fields if (value := mirror.get(field)) is not None), None)
        if node is not None and node.value:
            settings.append(setting(key, node.value, resource.file, node.line))
    # The connectors share keys such as tasks.max: the source connector, which comes first, speaks.
    own = {item.key: item for item in reversed(settings)}
    hints = [*resource.hints(), ("connect", resource.name), *_cluster_of(worker)]
    document = resource.document(
        "mm2", f"{name}->{to}", reversed(own.values()), (), (), hints, client="connect"
    )
    return document._replace(line=mirror.line)


def mirror_maker(resource: Resource) -> list[Document]:
    """The first MirrorMaker: a consumer and a producer."""
    return _clients(resource, MIRROR_CONSUMER, MIRROR_PRODUCER)


def bridge(resource: Resource) -> list[Document]:
    """The HTTP bridge: its consumers and producers share one address."""
    return _clients(resource, BRIDGE_CONSUMER, BRIDGE_PRODUCER)


def _clients(resource: Resource, consuming: Filter, producing: Filter) -> list[Document]:
    shared = resource.field("bootstrap.servers", "bootstrapServers")
    consumer, lost = config_of(resource, resource.spec("consumer", "config"), consuming)
    consumer = (
        *shared,
        *resource.field("bootstrap.servers", "consumer", "bootstrapServers"),
        *resource.field("group.id", "consumer", "groupId"),
        *consumer,
    )
    producer, also_lost = config_of(resource, resource.spec("producer", "config"), producing)
    producer = (
        *shared,
        *resource.field("bootstrap.servers", "producer", "bootstrapServers"),
        *producer,
    )
    return [
        resource.document(
            "consumer", resource.name, consumer, (), lost, (*resource.hints(), *worker_hints(consumer))
        ),
        resource.document(
            "producer", resource.name, producer, (), also_lost, (*resource.hints(), *worker_hints(producer))
        ),
    ]


def _count(resource: Resource, field: str, fact: str) -> list[Fact]:
    node = resource.spec(field)
    value = None if node is None else number(node)
    if node is None or value is None:
        return []
    return [Fact(fact, value, resource.origin(node.line))]


def _cluster_of(settings: tuple[Setting, ...]) -> list[tuple[str, str]]:
    """Strimzi's own bootstrap services name their cluster: my-cluster-kafka-bootstrap:9092."""
    servers = texts(settings).get("bootstrap.servers", "")
    hosts = (server.strip().split(":")[0].split(".")[0] for server in servers.split(","))
    suffix = "-kafka-bootstrap"
    return [("cluster", host.removesuffix(suffix)) for host in hosts if host.endswith(suffix)]
