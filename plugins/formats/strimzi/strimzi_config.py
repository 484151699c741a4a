"""One Strimzi resource, and the `config` maps in it: which keys the operator passes on to Kafka."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from advisor.api import (
    Document,
    Dropped,
    Fact,
    LoadError,
    Location,
    Node,
    Origin,
    Setting,
    Value,
    integer,
    is_template,
    parse_yaml,
    setting,
    value_of,
)


class Filter(NamedTuple):
    """What the operator takes out of a `config`: keys that start with one of `prefixes`, whole keys in
    `exceptions` aside."""

    prefixes: tuple[str, ...]
    exceptions: frozenset[str]
    cited: str

    def forbids(self, key: str) -> str | None:
        # AbstractConfiguration lowers the key for the prefixes, not for the exceptions, and does not lower
        # the prefixes: zookeeper.clientCnxnSocket is on the list and passes all the same.
        if key in self.exceptions:
            return None
        low = key.lower()
        return next((prefix for prefix in self.prefixes if low.startswith(prefix)), None)


def _filter(cited: str, prefixes: str, exceptions: str) -> Filter:
    return Filter(tuple(prefixes.split()), frozenset(exceptions.split()), cited)


_TLS = "ssl.endpoint.identification.algorithm ssl.cipher.suites ssl.protocol ssl.enabled.protocols"
_CONNECT = (
    "group.id config.storage.topic offset.storage.topic status.storage.topic ssl. sasl. security. listeners "
    "plugin.path rest. bootstrap.servers consumer.interceptor.classes producer.interceptor.classes "
)
BROKER = _filter(
    "KafkaClusterSpec",
    "listeners advertised. broker. listener. host.name port inter.broker.listener.name sasl. ssl. security. "
    "password. log.dir zookeeper.connect zookeeper.set.acl zookeeper.ssl zookeeper.clientCnxnSocket "
    "authorizer. super.user cruise.control.metrics.topic cruise.control.metrics.reporter.bootstrap.servers "
    "node.id process.roles controller. metadata.log.dir zookeeper.metadata.migration.enable "
    "client.quota.callback.static.kafka.admin. client.quota.callback.static.produce "
    "client.quota.callback.static.fetch client.quota.callback.static.storage.per.volume.limit.min.available. "
    "client.quota.callback.static.excluded.principal.name.list prometheus.metrics.reporter. "
    "cordoned.log.dirs",
    "zookeeper.connection.timeout.ms sasl.server.max.receive.size ssl.cipher.suites ssl.protocol "
    "ssl.enabled.protocols ssl.secure.random.implementation cruise.control.metrics.topic.num.partitions "
    "cruise.control.metrics.topic.replication.factor cruise.control.metrics.topic.retention.ms "
    "cruise.control.metrics.topic.auto.create.retries cruise.control.metrics.topic.auto.create.timeout.ms "
    "cruise.control.metrics.topic.min.insync.replicas broker.session.timeout.ms broker.heartbeat.interval.ms "
    "controller.socket.timeout.ms controller.quorum.election.backoff.max.ms "
    "controller.quorum.election.timeout.ms controller.quorum.fetch.timeout.ms",
)
# Operators before 0.42 hand the quota plugin's keys on; from then on they have a field of their own.
_QUOTAS = "client.quota.callback."
_BROKER_BEFORE_QUOTAS = BROKER._replace(
    prefixes=tuple(prefix for prefix in BROKER.prefixes if not prefix.startswith(_QUOTAS))
)
_FIRST_KAFKA_WITH_QUOTAS = (3, 7, 1)  # the first that no operator before 0.42 runs
CONNECT = _filter("KafkaConnectSpec", _CONNECT + "prometheus.metrics.reporter.", _TLS)
MIRROR_MAKER_2 = _filter("KafkaMirrorMaker2ClusterSpec", _CONNECT, _TLS)
BRIDGE_CONSUMER = _filter("KafkaBridgeConsumerSpec", "ssl. bootstrap.servers group.id sasl. security.", _TLS)
BRIDGE_PRODUCER = _filter("KafkaBridgeProducerSpec", "ssl. bootstrap.servers sasl. security.", _TLS)
MIRROR_CONSUMER = _filter(
    "KafkaMirrorMakerConsumerSpec",
    "ssl. bootstrap.servers group.id sasl. security. interceptor.classes",
    _TLS,
)
MIRROR_PRODUCER = _filter(
    "KafkaMirrorMakerProducerSpec", "ssl. bootstrap.servers sasl. security. interceptor.classes", _TLS
)

# Settings of a listener that Strimzi lets through, as listener.name.<name>-<port>.<key>.
_PER_LISTENER = ("connections.max.reauth.ms", "max.connections", "max.connection.creation.rate")

# Where the resource has a field of its own for what `config` may not set.
_FIELDS = {
    "listeners": "spec.kafka.listeners",
    "advertised.": "spec.kafka.listeners[].configuration",
    "listener.": "spec.kafka.listeners",
    "broker.": "spec.kafka.rack",
    "log.dir": "spec.kafka.storage",
    "authorizer.": "spec.kafka.authorization",
    "super.user": "spec.kafka.authorization.superUsers",
    "client.quota.callback.static.produce": "spec.kafka.quotas.producerByteRate",
    "client.quota.callback.static.fetch": "spec.kafka.quotas.consumerByteRate",
    "process.roles": "KafkaNodePool.spec.roles",
    "bootstrap.servers": "bootstrapServers",
    "group.id": "groupId",
    "config.storage.topic": "configStorageTopic",
    "offset.storage.topic": "offsetStorageTopic",
    "status.storage.topic": "statusStorageTopic",
}


class Resource(NamedTuple):
    """A custom resource of the group kafka.strimzi.io."""

    file: str
    kind: str
    version: str
    name: str
    node: Node
    read: Callable[[str], str | None]

    def one_by_default(self, node: Node) -> str | None:
        """`{{ .Values.kafka.replicas }}` of a chart that runs a single broker unless it is told otherwise:
        what such a chart is judged as. Any other number is as unknown as before."""
        path = _VALUE.search(node.text())
        text = self.read("../values.yaml") if path is not None else None
        if path is None or text is None:
            return None
        try:
            roots = parse_yaml(text)
        except LoadError:
            return None
        found = [root.text_at(*path[1].split(".")) for root in roots]
        return "1" if found == ["1"] else None

    @property
    def line(self) -> int:
        return self.node.line

    @property
    def label(self) -> str:
        """The cluster a topic, user, pool or connector belongs to."""
        return self.node.text_at("metadata", "labels", "strimzi.io/cluster") or ""

    @property
    def namespace(self) -> str:
        return self.node.text_at("metadata", "namespace") or ""

    def annotation(self, name: str) -> str:
        return self.node.text_at("metadata", "annotations", name) or ""

    def spec(self, *path: str) -> Node | None:
        return self.node.get("spec", *path)

    def text(self, *path: str) -> str | None:
        return self.node.text_at("spec", *path)

    def origin(self, line: int | None) -> Origin:
        return Origin("file", Location(self.file, line))

    def hints(self) -> tuple[tuple[str, str], ...]:
        pairs = (("cluster", self.label), ("namespace", self.namespace))
        return tuple((kind, text) for kind, text in pairs if text and not is_template(text))

    def document(
        self,
        component: str,
        name: str,
        settings: Iterable[Setting] = (),
        facts: Iterable[Fact] = (),
        dropped: Iterable[Dropped] = (),
        hints: Iterable[tuple[str, str]] = (),
        client: str = "java",
    ) -> Document:
        return Document(
            self.file,
            "strimzi",
            component,
            name,
            tuple(settings),
            client,
            self.line,
            tuple(facts),
            tuple(dropped),
            tuple(dict.fromkeys(hints)),
        )

    def field(self, key: str, *path: str) -> list[Setting]:
        """A field of the resource that stands for a Kafka key."""
        node = self.spec(*path)
        if node is None or not node.value:
            return []
        note = "spec." + ".".join(path)
        return [setting(key, node.loaded_text(), self.file, node.line, note)]


_VALUE = re.compile(r"\{\{[- ]*\$?\.Values\.([\w.]+)")


def number(node: Node) -> str | None:
    """A whole number as text, None for a template or anything else."""
    text = node.loaded_text() if node.is_plain else node.text()
    return None if integer(text) is None else text


def broker_filter(kafka: Resource) -> Filter:
    """What is taken out of a broker's `config` by every operator that can have this resource."""
    parts = [integer(part) for part in (kafka.text("kafka", "version") or "").split(".")]
    version = tuple(part for part in parts if part is not None)
    runs = len(version) == len(parts) and version >= _FIRST_KAFKA_WITH_QUOTAS
    newer = runs or kafka.version == "v1" or kafka.spec("kafka", "quotas") is not None
    return BROKER if newer else _BROKER_BEFORE_QUOTAS


def config_of(
    resource: Resource, node: Node | None, forbidden: Filter | None, prefix: str = ""
) -> tuple[tuple[Setting, ...], tuple[Dropped, ...]]:
    """The settings of a `config` map, and the keys that the operator takes out of it.

    `prefix` is put before each key that is passed on.
    """
    settings: list[Setting] = []
    dropped: list[Dropped] = []
    if node is None or node.kind != "mapping":
        return (), ()
    file = resource.file
    standing = {key: _text(value) for key, _, value in node.pairs()}
    for key, _, old in _duplicates(node):
        if standing.get(key) == _text(old):
            continue
        detail = f"{key} stands again further down, and that one is used"
        dropped.append(Dropped(key, _value(key, old), Location(file, old.line), "overridden", detail))
    for key, at, value in node.pairs():
        if value.is_null:
            continue  # an overlay takes the key out
        text = _text(value)
        start = forbidden.forbids(key) if forbidden is not None else None
        if start is None or forbidden is None or _is_per_listener(key, forbidden):
            settings.append(setting(prefix + key, text, file, at.line))
            continue
        detail = f"the operator ignores keys that start with {start} and only logs it ({forbidden.cited})"
        dropped.append(
            Dropped(key, _value(key, value), Location(file, at.line), "forbidden", detail, _FIELDS.get(start))
        )
    return tuple(settings), tuple(dropped)


def _duplicates(node: Node) -> Iterable[tuple[str, Node, Node]]:
    return ((key.text(), key, value) for key, value in node.duplicates if key.kind == "scalar")


def _value(key: str, node: Node) -> Value:
    return value_of(key, _text(node))


def _text(node: Node) -> str:
    """A list in a config is joined by commas, as the operator does."""
    if node.kind == "sequence":
        return ",".join(element.loaded_text() for element in node.elements)
    if node.kind == "mapping":
        # `key: {{ .Values.x }}` reads as a mapping in a mapping: it is a template.
        return "{{ }}"
    return node.loaded_text()


def _is_per_listener(key: str, forbidden: Filter) -> bool:
    return (
        forbidden.cited == BROKER.cited
        and key.startswith("listener.name.")
        and key.endswith(tuple("." + k for k in _PER_LISTENER))
    )
