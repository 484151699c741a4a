"""What Kafka's Helm charts take as values, found anywhere in a file: at the top, or under a sub-chart's name.

bitnami/kafka: config, extraConfig (text or map), extraConfigYaml, overrideConfiguration, the same under
controller and broker, extraEnvVars, provisioning.topics, and before 23 logRetentionHours and its kin.
cp-kafka and incubator/kafka: configurationOverrides, brokers or replicas, topics. Charts of one's own: a map
`config` of a broker's keys, as Strimzi's resources have it, and lists of topics.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    integer,
    is_known,
    is_template,
    parse_properties,
    setting,
)

from .. import roles
from ..brokers import broker_facts
from ..containers.image_names import classify
from ..containers.images import Variable, read_environment
from ..maps.embedded import placed
from ..maps.node_settings import Settings, completed, is_given, settings_of, text_of

FORMAT = "helm"
Path = tuple[str, ...]


class Home(NamedTuple):
    """Where a broker's settings are written. kind: map | text; `path` leads to it from the chart's values."""

    path: Path
    node: Node
    kind: str


class Chart(NamedTuple):
    """A cluster that values describe: its documents, and the places of its settings, the strongest last."""

    values: Node
    path: Path
    documents: tuple[Document, ...]
    homes: tuple[Home, ...]


# Where bitnami/kafka takes settings: a later one is written over an earlier one.
_PLACES = (
    "config",
    "extraConfig",
    "extraConfigYaml",
    "overrideConfiguration",
    "configurationOverrides",
    "serverProperties",
)
_ROLES = ("controller", "broker")
# bitnami/kafka before 23: a value of its own for each of these.
CAMEL = {
    "deleteTopicEnable": "delete.topic.enable",
    "autoCreateTopicsEnable": "auto.create.topics.enable",
    "logFlushIntervalMessages": "log.flush.interval.messages",
    "logFlushIntervalMs": "log.flush.interval.ms",
    "logRetentionBytes": "log.retention.bytes",
    "logRetentionCheckIntervalMs": "log.retention.check.interval.ms",
    "logRetentionHours": "log.retention.hours",
    "logSegmentBytes": "log.segment.bytes",
    "maxMessageBytes": "message.max.bytes",
    "defaultReplicationFactor": "default.replication.factor",
    "offsetsTopicReplicationFactor": "offsets.topic.replication.factor",
    "transactionStateLogReplicationFactor": "transaction.state.log.replication.factor",
    "transactionStateLogMinIsr": "transaction.state.log.min.isr",
    "numIoThreads": "num.io.threads",
    "numNetworkThreads": "num.network.threads",
    "numPartitions": "num.partitions",
    "numRecoveryThreadsPerDataDir": "num.recovery.threads.per.data.dir",
    "socketReceiveBufferBytes": "socket.receive.buffer.bytes",
    "socketRequestMaxBytes": "socket.request.max.bytes",
    "socketSendBufferBytes": "socket.send.buffer.bytes",
    "zookeeperConnectionTimeoutMs": "zookeeper.connection.timeout.ms",
}
_CAMEL_DEFAULTS = {
    "auto.create.topics.enable": "true",
    "default.replication.factor": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
_OLD_CHART = "the chart bitnami/kafka before 23"
_COUNTED = ("replicas", "replicaCount", "brokers")


def chart_of(file: str, path: Path, values: Node) -> Chart | None:
    """The cluster that a map of values describes, if it does."""
    enabled = values.get("enabled")
    if enabled is not None and enabled.as_bool() is False:
        return None
    homes = list(_homes(values))
    settings, dropped = _merged(file, homes)
    camel = settings_of(values, file, CAMEL.get)
    variables = _variables(file, values)
    old = len(camel.settings) >= 2 and values.get("controller") is None
    if not (homes or old or variables.settings):
        topics = tuple(_topics(file, path, values, False))
        return Chart(values, path, topics, ()) if topics else None
    held = {one.key: one for one in (_plain(one) for one in camel.settings)} if old else {}
    held |= {one.key: one for one in variables.settings}
    held |= {one.key: one for one in settings}
    found = tuple(held.values())
    if old and values.get("replicaCount") is not None:
        found = completed(found, _CAMEL_DEFAULTS, _OLD_CHART)
    label = cluster_label(file, path)
    broker = Document(
        file,
        FORMAT,
        "broker",
        path[-1] if path and path[-1] not in ("values", "valuesObject") else _stem(file),
        found,
        "java",
        min((one.node.line for one in homes), default=values.line),
        tuple(_facts(file, values, found)),
        (*dropped, *camel.dropped, *variables.dropped),
        (("cluster", label),),
    )
    return Chart(values, path, (broker, *_topics(file, path, values, True)), tuple(homes))


def cluster_label(file: str, path: Path) -> str:
    return f"{file}#{'.'.join(path)}" if path else file


def _stem(file: str) -> str:
    return file.rpartition("/")[2].rpartition(".")[0]


def _plain(one: Setting) -> Setting:
    """`_1073741824` keeps Helm from writing a large number as 1.073741824e+09; the chart takes it off."""
    value = one.value
    return one._replace(value=value[1:]) if isinstance(value, str) and value.startswith("_") else one


def _homes(values: Node) -> Iterator[Home]:
    """Maps and texts of at least two of a broker's own keys."""
    holders: list[tuple[Path, Node]] = [((), values)]
    holders += [((role,), held) for role in _ROLES if (held := values.get(role)) is not None]
    for path, holder in holders:
        for name in _PLACES:
            node = holder.get(name) if holder.kind == "mapping" else None
            if node is None:
                continue
            if node.kind == "mapping" and _is_broker(key for key, _, _ in node.pairs()):
                yield Home((*path, name), node, "map")
            elif node.kind == "scalar" and node.value and "=" in node.value and _is_broker(_keys(node.value)):
                yield Home((*path, name), node, "text")


def _is_broker(keys: Iterator[str]) -> bool:
    """At least two keys of a broker, and nearly nothing else."""
    found = list(keys)
    known = sum("broker" in roles.components(key) and "." in key for key in found)
    return known >= 2 and known >= 0.6 * len(found)


def _keys(text: str) -> Iterator[str]:
    try:
        return iter([entry.key for entry in parse_properties(text)])
    except LoadError:
        return iter(())


def _merged(file: str, homes: list[Home]) -> tuple[tuple[Setting, ...], tuple[Dropped, ...]]:
    held: dict[str, Setting] = {}
    dropped: list[Dropped] = []
    for home in homes:
        for one in _home_settings(file, home, dropped):
            before = held.pop(one.key, None)
            if before is not None and before.value != one.value and before.origin.at is not None:
                detail = f"{'.'.join(home.path)} sets {one.key} too, and is written over it"
                dropped.append(Dropped(one.key, before.value, before.origin.at, "overridden", detail))
            held[one.key] = one
    return tuple(held.values()), tuple(dropped)


def _home_settings(file: str, home: Home, dropped: list[Dropped]) -> tuple[Setting, ...]:
    if home.kind == "map":
        found = settings_of(home.node, file)
        dropped += found.dropped
        if home.path[-1] == "configurationOverrides":
            return tuple(one for one in found.settings if not _is_misspelt(one, dropped))
        return found.settings
    entries = {entry.key: entry for entry in parse_properties(home.node.text())}
    made = [setting(entry.key, entry.value.strip(), file, entry.line) for entry in entries.values()]
    return placed([one for one in made if not is_template(one.key)], home.node)


def _is_misspelt(one: Setting, dropped: list[Dropped]) -> bool:
    """cp-kafka's chart makes KAFKA_A_B of a.b and of a_b, and the image a.b of both."""
    if "_" not in one.key or one.origin.at is None:
        return False
    detail = f"the chart makes a variable of it that the image takes for {one.key.replace('_', '.')}"
    dropped.append(Dropped(one.key, one.value, one.origin.at, "no-escape", detail))
    return True


def _variables(file: str, values: Node) -> Settings:
    """extraEnvVars: KAFKA_CFG_ variables of the image."""
    found = []
    listed = values.get("extraEnvVars")
    for entry in listed.elements if listed is not None else ():
        name, value = entry.text_at("name"), entry.get("value")
        if name is not None and name.startswith("KAFKA_CFG_") and value is not None and is_given(value):
            found.append(Variable(name, text_of(value), file, value.line))
    bitnami = classify("bitnami/kafka")
    assert bitnami is not None, "the image is known"
    environment = read_environment(bitnami, found)
    return Settings(environment.settings, environment.dropped)


def _facts(file: str, values: Node, settings: tuple[Setting, ...]) -> Iterator[Fact]:
    yield from broker_facts(settings)
    yield from _brokers(file, values)
    yield from _storage(file, values)
    image = values.get("image")
    tag = (
        image.text_at("tag") if image is not None and image.kind == "mapping" else values.text_at("imageTag")
    )
    # bitnami's has repository and tag, Confluent's a name and `imageTag` beside it.
    name = None if image is None else image.text_at("repository") if image.kind == "mapping" else image.text()
    known = classify(f"{name or 'bitnami/kafka'}:{tag}") if tag and not is_template(tag) else None
    if known is not None and known.version is not None and image is not None:
        yield Fact("kafka.version", known.version, Origin("file", Location(file, image.line), "image"))


def _brokers(file: str, values: Node) -> Iterator[Fact]:
    """controller.replicaCount counts too, unless controllers hold no records."""
    controller, broker = values.get("controller"), values.get("broker")
    counts: list[tuple[int | None, int]] = []
    if controller is not None or broker is not None:
        only = controller is not None and (flag := controller.get("controllerOnly")) is not None
        only = only and controller is not None and flag is not None and flag.as_bool() is True
        if not only:
            counts.append(_count(controller, "replicaCount", 3))
        counts.append(_count(broker, "replicaCount", 0))
    else:
        for name in _COUNTED:
            node = values.get(name)
            if node is not None and node.kind == "scalar":
                counts.append((integer(node.text()), node.line))
                break
    if not counts or any(count is None for count, _ in counts):
        return
    total = sum(count or 0 for count, _ in counts)
    line = next((line for count, line in counts if count and line), None)
    if total > 0:
        origin = (
            Origin("file", Location(file, line)) if line else Origin("default", None, "default of the chart")
        )
        yield Fact("cluster.brokers", str(total), origin)


def _storage(file: str, values: Node) -> Iterator[Fact]:
    """bitnami/kafka without persistence has an emptyDir: a pod that goes takes its log with it."""
    for part in (values, values.get("controller"), values.get("broker")):
        held = part
        for name in ("persistence", "enabled"):
            held = held.get(name) if held is not None and held.kind == "mapping" else None
        if held is not None and held.as_bool() is False:
            yield Fact("cluster.storage", "ephemeral", Origin("file", Location(file, held.line)))
            return


def _count(node: Node | None, name: str, default: int) -> tuple[int | None, int]:
    held = node.get(name) if node is not None and node.kind == "mapping" else None
    return (default, 0) if held is None else (integer(held.text()), held.line)


# Topics.


def _topics(file: str, path: Path, values: Node, sure: bool) -> Iterator[Document]:
    """provisioning.topics of bitnami/kafka, made only where it is switched on; topics of other charts."""
    provisioning = values.get("provisioning")
    if provisioning is not None and provisioning.kind == "mapping":
        enabled = provisioning.get("enabled")
        if enabled is not None and enabled.as_bool() is True:
            yield from _listed(file, path, provisioning.get("topics"), True, provisioning)
    for name in ("topics", "kafkaTopics"):
        for topic in _listed(file, path, values.get(name), sure or "kafka" in name.lower(), None):
            yield topic._replace(facts=(*topic.facts, *_single(file, values)))


def _single(file: str, values: Node) -> Iterator[Fact]:
    """An own chart that names a broker's image and no number of brokers: it runs one."""
    image = values.get("image")
    reference = image.text() if image is not None and image.kind == "scalar" else None
    known = classify(reference) if reference else None
    counted = any(values.get(name) is not None for name in (*_COUNTED, "controller", "broker"))
    if image is not None and known is not None and known.component == "broker" and not counted:
        origin = Origin("file", Location(file, image.line), "an image and no number of brokers")
        yield Fact("cluster.brokers", "1", origin)


def _listed(
    file: str, path: Path, topics: Node | None, sure: bool, provisioning: Node | None
) -> Iterator[Document]:
    if topics is None:
        return
    found = [(one.text_at("name"), one) for one in topics.elements if one.kind == "mapping"]
    found += [(name, value) for name, _, value in topics.pairs() if value.kind == "mapping"]
    for name, node in found:
        named = node.text_at("name") or name
        if named and not is_template(named) and (sure or _is_topic(node)):
            yield _topic(file, path, named, node, provisioning)


def _is_topic(node: Node) -> bool:
    config = node.get("config") or node.get("configs")
    keys = [key for key, _, _ in config.pairs()] if config is not None else []
    known = sum(is_known("topic", key, "4.1") for key in keys)
    counted = node.get("partitions") is not None and any(node.get(name) is not None for name in _REPLICAS)
    return (known >= 1 and (known >= 2 or node.get("partitions") is not None)) or counted


_REPLICAS = ("replicas", "replicationFactor", "replication_factor", "replication-factor")


def _topic(file: str, path: Path, name: str, node: Node, provisioning: Node | None) -> Document:
    facts = []
    for fact, keys, common in (
        ("topic.partitions", ("partitions",), "numPartitions"),
        ("topic.replication_factor", _REPLICAS, "replicationFactor"),
    ):
        held = next((found for key in keys if (found := node.get(key)) is not None), None)
        note = ""
        if held is None and provisioning is not None:
            held, note = provisioning.get(common), f"provisioning.{common}"
        if held is not None and integer(held.text()) is not None:
            facts.append(Fact(fact, held.text(), Origin("file", Location(file, held.line), note)))
        elif held is None and provisioning is not None:
            facts.append(Fact(fact, "1", Origin("default", None, f"default of provisioning.{common}")))
    config = node.get("config") or node.get("configs")
    settings, dropped = settings_of(config, file)
    if config is not None and config.kind == "scalar" and config.value:
        settings = tuple(_of_text(file, config))
    hints = (("topic", name), ("cluster", cluster_label(file, path)))
    return Document(file, FORMAT, "topic", name, settings, "java", node.line, tuple(facts), dropped, hints)


def _of_text(file: str, node: Node) -> Iterator[Setting]:
    """`config: "cleanup.policy=compact,retention.ms=1000"`."""
    for pair in node.text().split(","):
        key, equals, value = pair.partition("=")
        if equals and key.strip():
            yield setting(key.strip(), value.strip(), file, node.line)
