"""Strimzi custom resources: clusters, node pools, topics, users, Connect and MirrorMaker.

The document of a Kafka resource carries what its node pools in the same file say: `cluster.brokers` is
their sum. A KafkaNodePool whose Kafka stands in another file becomes a broker document of its own, without
settings, with the fact `pool.brokers` and the hints ("cluster", label) and ("pool", name), so that linking
can sum the pools of a cluster.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from advisor.api import (
    Document,
    Fact,
    Loaded,
    LoadError,
    Location,
    Node,
    Origin,
    Source,
    integer,
    parse_yaml,
    without_actions,
)

from .strimzi_clients import bridge, connect, connector, mirror_maker, mirror_maker_2, user
from .strimzi_config import Resource, broker_filter, config_of, number

_KIND = re.compile(
    r"^[ \t-]*[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?(?:Kafka(?:NodePool|Topic|User|Connect|ConnectS2I|Connector|"
    r"MirrorMaker2?|Bridge)?|List)\b",
    re.MULTILINE,
)
_API = re.compile(r"apiVersion[\"']?[ \t]*:[ \t]*[\"']?kafka\.strimzi\.io/")
_LINE_TEMPLATE = re.compile(r"^[ \t]*\{\{.*\}\}[ \t]*$|^[ \t]*\{%.*%\}[ \t]*$", re.MULTILINE)


def claim(name: str, text: str) -> int:
    return 95 if _API.search(text) and _KIND.search(text) else 0


def load(source: Source) -> Loaded:
    problems: list[str] = []
    roots = _roots(source.text, problems)
    resources = [found for root in roots for found in _resources(root, source)]
    pools: dict[str, list[Resource]] = {}
    for resource in resources:
        if resource.kind == "KafkaNodePool":
            pools.setdefault(resource.label, []).append(resource)
            if len(pools[resource.label]) > _POOLS_MAX:
                raise LoadError(f"more than {_POOLS_MAX} node pools of one cluster", resource.line)
    here = {resource.name for resource in resources if resource.kind == "Kafka"}
    documents: list[Document] = []
    for resource in resources:
        if resource.kind == "Kafka":
            documents.append(_cluster(resource, pools.get(resource.name, [])))
        elif resource.kind == "KafkaNodePool":
            documents.extend(() if resource.label in here else _pool(resource))
        elif resource.kind in _READERS:
            documents.extend(_READERS[resource.kind](resource))
        elif resource.kind not in _NO_SETTINGS:
            problems.append(f"{resource.kind} (line {resource.line}) is not read")
    if not documents:
        return Loaded((), "skipped", "; ".join(problems) or "no Strimzi resource with settings")
    reason = "; ".join(dict.fromkeys(problems))
    return Loaded(tuple(documents), "partial", reason) if reason else Loaded(tuple(documents))


def _roots(text: str, problems: list[str]) -> list[Node]:
    """Helm and Jinja put actions between and into the lines of YAML."""
    if "{{" not in text and "{%" not in text:
        return parse_yaml(text)
    plain = without_actions(text)
    try:
        roots = parse_yaml(plain)
    except LoadError as error:
        try:
            return parse_yaml(text)
        except LoadError:
            raise error from None
    lines = zip(text.split("\n"), plain.split("\n"), strict=True)
    if any(before.strip() and not after for before, after in lines):
        problems.append("lines of a template are left out: what they put in is not known")
    return roots


def _resources(root: Node, source: Source) -> Iterable[Resource]:
    """A document's resources: itself, or the items of a List."""
    for node in [root, *_items(root)]:
        version = node.text_at("apiVersion") or ""
        group, _, version = version.partition("/")
        # Kustomize: a resource of the base that is not wanted.
        deleted = node.text_at("$patch") == "delete"
        if group == "kafka.strimzi.io" and not deleted:
            yield Resource(
                source.file,
                node.text_at("kind") or "",
                version,
                node.text_at("metadata", "name") or "",
                node,
                source.read,
            )


def _items(root: Node) -> list[Node]:
    items = root.get("items")
    return items.elements if items is not None and (root.text_at("kind") or "").endswith("List") else []


class _Count(NamedTuple):
    value: int | None
    origin: Origin


def _pool_count(pool: Resource) -> _Count:
    replicas = pool.spec("replicas")
    line = pool.line if replicas is None else replicas.line
    value = None if replicas is None else number(replicas) or pool.one_by_default(replicas)
    return _Count(None if value is None else integer(value), Origin("file", Location(pool.file, line)))


def _is_broker_pool(pool: Resource) -> bool:
    roles = pool.spec("roles")
    # Pools of ZooKeeper-based clusters need not name their role.
    return roles is None or not roles.elements or any(role.value == "broker" for role in roles.elements)


def _pool(pool: Resource) -> list[Document]:
    if not _is_broker_pool(pool):
        return []
    facts = _storage(pool, pool.spec("storage"))
    count = _pool_count(pool)
    if count.value is not None:
        facts.insert(0, Fact("pool.brokers", str(count.value), count.origin))
    roles = pool.spec("roles")
    if roles is not None and any(role.value == "controller" for role in roles.elements):
        facts.append(Fact("cluster.mode", "kraft", pool.origin(roles.line)))
    return [pool.document("broker", pool.name, facts=facts, hints=(*pool.hints(), ("pool", pool.name)))]


def _cluster(kafka: Resource, pools: list[Resource]) -> Document:
    settings, dropped = config_of(kafka, kafka.spec("kafka", "config"), broker_filter(kafka))
    mine = [pool for pool in pools if _is_broker_pool(pool)]
    facts = [
        *_brokers(kafka, mine),
        *_mode(kafka, bool(pools)),
        *_rack(kafka),
        *_version(kafka),
        *_storage_of(kafka, mine),
    ]
    bootstrap = f"{kafka.name}-kafka-bootstrap"
    hints = [*kafka.hints(), ("cluster", kafka.name)]
    for port in _ports(kafka):
        hints.append(("listener", f"{bootstrap}:{port}"))
        if kafka.namespace:
            hints.append(("listener", f"{bootstrap}.{kafka.namespace}.svc:{port}"))
    return kafka.document("broker", kafka.name, settings, facts, dropped, hints)


def _brokers(kafka: Resource, pools: list[Resource]) -> list[Fact]:
    counts = [_pool_count(pool) for pool in pools]
    if counts:
        if any(count.value is None for count in counts):
            return []
        total = sum(count.value or 0 for count in counts)
        return [Fact("cluster.brokers", str(total), counts[0].origin._replace(note="sum of its node pools"))]
    if kafka.annotation("strimzi.io/node-pools") == "enabled":
        # Its pools are elsewhere; replicas, if still there, are ignored.
        return []
    replicas = kafka.spec("kafka", "replicas")
    value = None if replicas is None else number(replicas) or kafka.one_by_default(replicas)
    if replicas is None or value is None:
        return []
    return [Fact("cluster.brokers", value, kafka.origin(replicas.line))]


def _mode(kafka: Resource, pools: bool) -> list[Fact]:
    zookeeper = kafka.spec("zookeeper")
    kraft = kafka.annotation("strimzi.io/kraft")
    if kraft in ("enabled", "migration") or kafka.version == "v1":
        return [Fact("cluster.mode", "kraft", kafka.origin(kafka.line))]
    if zookeeper is not None:
        return [Fact("cluster.mode", "zk", kafka.origin(zookeeper.line))]
    # A patch or overlay holds only what it changes: no ZooKeeper there says nothing.
    if pools or kafka.spec("kafka", "listeners") is not None:
        return [Fact("cluster.mode", "kraft", kafka.origin(kafka.line))]
    return []


def _rack(kafka: Resource) -> list[Fact]:
    rack = kafka.spec("kafka", "rack")
    if rack is None or rack.is_null:
        return []
    return [Fact("cluster.racks", "set", kafka.origin(rack.line))]


def _version(kafka: Resource) -> list[Fact]:
    version = kafka.spec("kafka", "version")
    if version is None or version.value is None or not re.fullmatch(r"\d+(\.\d+){1,3}", version.value):
        return []
    return [Fact("kafka.version", version.value, kafka.origin(version.line))]


def _storage_of(kafka: Resource, pools: list[Resource]) -> list[Fact]:
    facts = [fact for pool in pools for fact in _storage(pool, pool.spec("storage"))]
    facts = facts or _storage(kafka, kafka.spec("kafka", "storage"))
    return sorted(facts, key=lambda fact: fact.value != "ephemeral")[:1]


def _storage(resource: Resource, storage: Node | None) -> list[Fact]:
    """cluster.storage: ephemeral if any volume is, since a restart then comes back empty."""
    if storage is None:
        return []
    volumes = storage.get("volumes")
    kinds = [storage.get("type"), *(volume.get("type") for volume in (volumes.elements if volumes else ()))]
    known = [kind for kind in kinds if kind is not None and kind.value in ("ephemeral", "persistent-claim")]
    if not known:
        return []
    chosen = next((kind for kind in known if kind.value == "ephemeral"), known[0])
    name = "ephemeral" if chosen.value == "ephemeral" else "persistent"
    return [Fact("cluster.storage", name, resource.origin(chosen.line))]


def _ports(kafka: Resource) -> list[str]:
    """Ports of the internal listeners: a list in newer versions, `plain` and `tls` in older ones."""
    listeners = kafka.spec("kafka", "listeners")
    if listeners is None:
        return []
    if listeners.kind == "mapping":
        old = {"plain": "9092", "tls": "9093"}
        return [old[name] for name, _, _ in listeners.pairs() if name in old]
    found = []
    for listener in listeners.elements:
        port = listener.get("port")
        if port is not None and number(port) and listener.text_at("type") in (None, "internal", "cluster-ip"):
            found.append(port.text())
    return found


def _topic(topic: Resource) -> list[Document]:
    name = topic.text("topicName") or topic.name
    facts = []
    for fact, key in (("topic.partitions", "partitions"), ("topic.replication_factor", "replicas")):
        node = topic.spec(key)
        value = None if node is None else number(node)
        if node is not None and not node.is_null and value != "-1":
            # A count that is filled in elsewhere is not one that is left to the cluster.
            facts.append(Fact(fact, value or "unknown", topic.origin(node.line)))
    settings, dropped = config_of(topic, topic.spec("config"), None)
    hints = (("topic", name), *topic.hints())
    return [topic.document("topic", name, settings, facts, dropped, hints)]


# Every Kafka resource of a name looks at all pools of that name.
_POOLS_MAX = 100
_NO_SETTINGS = frozenset(("", "KafkaRebalance", "StrimziPodSet"))
_READERS: dict[str, Callable[[Resource], list[Document]]] = {
    "KafkaTopic": _topic,
    "KafkaUser": user,
    "KafkaBridge": bridge,
    "KafkaConnect": connect,
    "KafkaConnectS2I": connect,
    "KafkaConnector": connector,
    "KafkaMirrorMaker": mirror_maker,
    "KafkaMirrorMaker2": mirror_maker_2,
}
