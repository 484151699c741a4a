"""Docker Compose: one document per broker or Connect container, one per topic that a container makes.

Only containers that run a broker or a worker count: an application may well have a KAFKA_ACKS of its
own, and a container that has Kafka's image only to run kafka-topics is no broker.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from advisor.api import (
    Document,
    Dropped,
    Fact,
    Loaded,
    LoadError,
    Location,
    Node,
    Origin,
    Setting,
    Source,
    Unknown,
    is_known,
    parse_yaml,
    setting,
    without_actions,
)

from ..brokers import broker_facts, listener_hints, texts, worker_hints
from ..created_topics import topics_of
from .compose_clients import Application, addresses_of, documents_of
from .compose_env import Place, dotenv, environment_of, interpolate
from .compose_service import (
    built_from,
    command_of,
    command_overrides,
    extended,
    first_node,
    first_text,
    mounts_of,
    names_of,
    names_of_all,
    needs_of_all,
    published_ports,
    replicas_of,
    services_of,
)
from .image_names import Image, classify, guess
from .images import Variable, escaped_key, read_environment

_FILE_NAME = re.compile(r"(?:^|[/._-])(?:docker-)?compose[^/]*\.ya?ml$", re.IGNORECASE)
_SERVICES = re.compile(r"^services[ \t]*:", re.MULTILINE)
_KAFKA_IMAGE = re.compile(
    r"(?:apache|bitnami(?:legacy|secure)?|wurstmeister|debezium|strimzi)/(?:kafka(?:-native)?|connect)\b|"
    r"\bcp-(?:kafka|server|enterprise-kafka)\b|\bconfluent-local\b"
)
_KAFKA_KEY = re.compile(
    r"\b(?:KAFKA_(?:CFG_)?(?:ADVERTISED_|ZOOKEEPER_CONNECT|PROCESS_ROLES|LISTENERS)|CONNECT_CONFIG_STORAGE)|\bCONFIG_STORAGE_TOPIC\b"
)
_KUBERNETES = re.compile(r"^apiVersion[ \t]*:", re.MULTILINE)
_STARTS_BROKER = re.compile(
    r"kafka-server-start|/etc/(?:confluent|kafka)/docker/run|start-kafka\.sh|scripts/kafka/(?:run|entrypoint)|"
    r"(?:docker-)?entrypoint\.sh|KafkaDockerWrapper|KafkaRaftServer"
)
_TOOL = re.compile(
    r"\bkafka-(?:topics|configs|acls|console|consumer|producer|broker-api|storage|metadata|reassign|verifiable"
    r"|leader|log-dirs|features)|\bcub\b|kafka-ready|\bkcat\b|\bkafkacat\b"
)
_REDPANDA = re.compile(r"(?:^|/)redpanda(?:$|[:@])")
_IDLE = re.compile(r"\bsleep\b|\btail -f")
# Clusters are told apart by comparing their brokers.
_CONTAINERS_MAX = 1_000


def claim(name: str, text: str) -> int:
    named = bool(_FILE_NAME.search(name))
    if not (named or _SERVICES.search(text)) or (_KUBERNETES.search(text) and not named):
        return 0
    if _KAFKA_IMAGE.search(text):
        return 95 if named else 85
    if _KAFKA_KEY.search(text):
        return 80 if named else 60
    if "SPRING_KAFKA_" in text:
        return 70 if named else 0
    # Perhaps an override of another Compose file, without an image of its own.
    return 40 if named and "KAFKA_" in text else 0


def _roots(text: str, problems: list[str]) -> list[Node]:
    try:
        return parse_yaml(text)
    except LoadError:
        if "{{" not in text and "{%" not in text:
            raise
        found = parse_yaml(without_actions(text))
        problems.append("lines of a template are left out: what they put in is not known")
        return found


class Container(NamedTuple):
    """A service that runs Kafka."""

    name: str
    line: int
    place: Place
    image: Image
    variables: dict[str, Variable]
    settings: tuple[Setting, ...]
    dropped: tuple[Dropped, ...]
    replicas: int | None
    mounts: tuple[str, ...]
    names: frozenset[str]
    ports: tuple[Fact, ...]
    whole: bool  # no image and no other file adds to its settings


def load(source: Source) -> Loaded:
    place = Place(source.file, source.read, {})
    known = dotenv(source.read)
    problems: list[str] = []
    containers: list[Container] = []
    applications: list[Application] = []
    names: set[str] = set()
    redpandas: list[str] = []
    elsewhere = False
    for root in _roots(source.text, problems):
        services = services_of(root)
        names |= names_of_all(services)
        if services is not None:
            missing = sorted(needs_of_all(services) - names)
            problems += [f"it depends on {', '.join(missing)}, of another file"] if missing else []
            elsewhere = elsewhere or bool(missing)
        for name, key, service in services.pairs() if services is not None else ():
            if service.kind == "mapping":
                redpandas += [name] if _REDPANDA.search(service.text_at("image") or "") else []
                found = _container(name, key.line, service, services, place, known, problems)
                if found is not None:
                    containers.append(found)
                else:
                    applications.append(_application(name, key.line, service, services, place, known))
                if len(containers) > _CONTAINERS_MAX:
                    raise LoadError(f"more than {_CONTAINERS_MAX:,} Kafka containers in one file", key.line)
    documents = (
        *_documents(source.file, containers, names, elsewhere, applications),
        *documents_of(source.file, applications),
    )
    documents = tuple(_beside_redpanda(document, redpandas) for document in documents)
    if not documents:
        return Loaded((), "skipped", "; ".join(problems) or "no container that runs a broker or a worker")
    if problems:
        return Loaded(documents, "partial", "; ".join(dict.fromkeys(problems)))
    return Loaded(documents)


def _beside_redpanda(document: Document, brokers: list[str]) -> Document:
    """A worker of brokers that are not Kafka's own: how many there are counts for it all the same."""
    if not brokers or document.component != "connect":
        return document
    here = Origin("file", Location(document.file, document.line), "Redpanda containers in this file")
    return document._replace(facts=(*document.facts, Fact("cluster.brokers", str(len(brokers)), here)))


def _application(
    name: str, line: int, service: Node, services: Node | None, place: Place, known: Mapping[str, str]
) -> Application:
    variables: dict[str, Variable] = {}
    for layer, where in reversed(extended(service, services, place, [])):
        variables.update(environment_of(layer, where, known, []))
    return Application(name, line, variables, service.text_at("network_mode") == "host")


def _container(
    name: str,
    line: int,
    service: Node,
    services: Node | None,
    place: Place,
    known: Mapping[str, str],
    problems: list[str],
) -> Container | None:
    chain = extended(service, services, place, problems)
    own: list[str] = []
    variables: dict[str, Variable] = {}
    for layer, where in reversed(chain):
        variables.update(environment_of(layer, where, known, own))
    reference = interpolate(first_text(chain, "image") or "", known).text
    image = classify(reference) or built_from(chain, known)
    if image is None:
        image = guess(variables)
        if image is not None and reference and "${" not in reference and first_node(chain, "build") is None:
            own.append(f"{name}: the image is not known, so it is told by its variables")
    override = image is None and _is_override(name, chain, variables)
    if override:
        image = Image("bitnami" if "KAFKA_CFG_" in " ".join(variables) else "confluent", "broker")
        own.append(f"{name}: it has no image here, so it adds to a service of another file")
    if image is None:
        return None
    command = command_of(chain, known, variables)
    text = " ".join(part for part, _ in command)
    if is_tool(text, variables) or _is_another_of(image, text, variables):
        return None
    environment = read_environment(image, variables.values())
    settings = {item.key: item for item in environment.settings}
    overrides = command_overrides(command, place.file)
    settings.update({item.key: item for item in overrides})
    if image.family == "debezium" and image.component == "broker":
        settings = {item.key: item for item in _debezium_role(variables)} | settings
    own.extend(_doubts(name, image, text, bool(overrides)))
    own.extend(
        f"{name}: settings of a mounted file ({path}) are not seen here" for path in mounts_of(chain, known)
    )
    problems.extend(own)
    return Container(
        name,
        line,
        place,
        image,
        variables,
        tuple(settings.values()),
        environment.dropped,
        None if override else replicas_of(chain, known),
        tuple(mounts_of(chain, known)),
        frozenset(names_of(name, service)),
        tuple(published_ports(chain, known)),
        # Without any variable apache/kafka takes a file of its own (KafkaDockerWrapper).
        image.bare and not own and bool(settings) and not _is_for_bitnami(environment.dropped),
    )


def _is_for_bitnami(dropped: Iterable[Dropped]) -> bool:
    """Its settings are written for another image: what is left of them is nobody's configuration."""
    return any(item.key.startswith("KAFKA_CFG_") for item in dropped)


def is_tool(command: str, variables: dict[str, Variable]) -> bool:
    """The image is there for its tools: to make topics, or for somebody to log in."""
    if not command or _STARTS_BROKER.search(command):
        return False
    return bool(_TOOL.search(command)) or (bool(_IDLE.search(command)) and guess(variables) is None)


def _is_another_of(image: Image, command: str, variables: dict[str, Variable]) -> bool:
    """Strimzi's image runs what it is told to run, and Confluent's does not start without a variable."""
    if image.family == "strimzi":
        return not _STARTS_BROKER.search(command)
    return image[:2] == ("confluent", "broker") and not any(name.startswith("KAFKA_") for name in variables)


def _is_override(name: str, chain: list[tuple[Node, Place]], variables: dict[str, Variable]) -> bool:
    """A fragment that Compose merges into a broker of another file."""
    if first_node(chain, "image") is not None or first_node(chain, "build") is not None:
        return False
    # 3.9 knows the keys of both modes.
    keys = (escaped_key(variable.removeprefix("KAFKA_").removeprefix("CFG_")) for variable in variables)
    return bool(re.search(r"kafka|broker", name)) and any(is_known("broker", key, "3.9") for key in keys)


def _debezium_role(variables: dict[str, Variable]) -> list[Setting]:
    """CLUSTER_ID switches the image to KRaft; NODE_ROLE picks one of Kafka's packaged files."""
    cluster = variables.get("CLUSTER_ID")
    if cluster is None:
        return []
    role = variables.get("NODE_ROLE")
    roles = {"broker": "broker", "controller": "controller"}.get(
        role.text if role else "", "broker,controller"
    )
    at = role or cluster
    return [setting("process.roles", roles, at.file, at.line, f"by {at.name} of the image")]


def _doubts(name: str, image: Image, command: str, overridden: bool) -> list[str]:
    """Why the settings of a container may not be all."""
    doubts = []
    if image.family == "strimzi":
        doubts.append(
            f"{name}: the rest of its settings is in the image's server.properties"
            if overridden
            else f"{name}: this image takes no settings from its environment"
        )
    elif command and image.component == "broker" and not _STARTS_BROKER.search(command) and not overridden:
        doubts.append(f"{name}: its command may replace the image's start script")
    return doubts


def _documents(
    file: str,
    containers: list[Container],
    services: Collection[str],
    elsewhere: bool,
    applications: list[Application],
) -> tuple[Document, ...]:
    brokers = [item for item in containers if item.image.component == "broker"]
    groups = _clusters(brokers)
    labels = sorted(set(groups.values()), key=lambda label: list(groups.values()).index(label))
    workers = [
        Application(item.name, item.line, item.variables, False)
        for item in containers
        if item.image.component == "connect"
    ]
    documents: list[Document] = []
    for item in containers:
        common = (("compose", file), ("service", item.name), *(("mounts", path) for path in item.mounts))
        if item.image.component == "connect":
            hints = (*common, *worker_hints(item.settings))
            documents.append(_document(file, item, "connect", "connect", tuple(_version(item)), hints))
            continue
        label = groups[item.name]
        members = [other for other in brokers if groups[other.name] == label]
        cluster = file if len(labels) == 1 else f"{file}#{label}"
        hints = (*common, ("cluster", cluster), *listener_hints(item.settings))
        facts = (
            *_facts(item, members, services, elsewhere),
            *item.ports,
            *addresses_of(applications, item.names),
            *addresses_of(workers, item.names, "worker.address"),
        )
        documents.append(_document(file, item, "broker", "java", facts, hints))
        topics, dropped = topics_of(item.image, item.variables)
        if dropped:
            documents[-1] = documents[-1]._replace(dropped=documents[-1].dropped + dropped)
        for topic in topics:
            # Each broker is given the same list, and the first to start makes the topics.
            if any(
                other.component == "topic"
                and other.name == topic.name
                and ("cluster", cluster) in other.hints
                and [fact.value for fact in other.facts] == [fact.value for fact in topic.facts]
                and texts(other.settings) == texts(topic.settings)
                for other in documents
            ):
                continue
            documents.append(
                Document(
                    file,
                    "compose",
                    "topic",
                    topic.name,
                    topic.settings,
                    line=topic.line,
                    facts=topic.facts,
                    hints=(("topic", topic.name), ("compose", file), ("cluster", cluster)),
                )
            )
    return tuple(documents)


def _document(
    file: str,
    item: Container,
    component: str,
    client: str,
    facts: tuple[Fact, ...],
    hints: tuple[tuple[str, str], ...],
) -> Document:
    return Document(
        file,
        "compose",
        component,
        item.name,
        item.settings,
        client=client,
        line=item.line,
        facts=facts,
        dropped=item.dropped,
        hints=tuple(dict.fromkeys(hints)),
    )


def _is_broker(item: Container) -> bool:
    """False for a controller that holds no records."""
    return texts(item.settings).get("process.roles", "broker").replace(" ", "") != "controller"


def _facts(
    item: Container, members: list[Container], services: Collection[str], elsewhere: bool
) -> tuple[Fact, ...]:
    here = Origin("file", Location(item.place.file, item.line))
    facts = list(broker_facts(item.settings))
    if not facts and item.image.family == "apache":
        # The image formats its storage for KRaft and knows no other mode.
        facts.append(Fact("cluster.mode", "kraft", here._replace(note="apache/kafka")))
    counts = [member.replicas for member in members if _is_broker(member)]
    if all(count is not None for count in counts) and not _is_coordinated_elsewhere(
        members, services, elsewhere
    ):
        total = sum(count for count in counts if count is not None)
        facts.append(
            Fact("cluster.brokers", str(total), here._replace(note="broker containers in this file"))
        )
    racks = {
        str(rack.value): rack
        for member in members
        for rack in member.settings
        if rack.key == "broker.rack" and not isinstance(rack.value, Unknown)
    }
    if racks:
        facts.append(Fact("cluster.racks", str(len(racks)), next(iter(racks.values())).origin))
    if item.whole:
        facts.append(Fact("settings.whole", "yes", here._replace(note="the image adds none")))
    return (*facts, *_version(item))


def _is_coordinated_elsewhere(members: list[Container], services: Collection[str], elsewhere: bool) -> bool:
    """Its ZooKeeper or controllers are services of no container here, so more brokers may be there too; where
    nothing names them, a file that depends on services of another may be a part of its cluster."""
    hosts = {host for item in members for host in _quorum(item)}
    if not hosts:
        return elsewhere
    return not any(host in services or host in ("localhost", "127.0.0.1") for host in hosts)


def _quorum(item: Container) -> Iterator[str]:
    known = texts(item.settings)
    for key in _QUORUMS:
        for address in known.get(key, "").split("/")[0].split(","):
            yield from filter(None, [address.strip().rpartition("@")[2].partition(":")[0]])


def _version(item: Container) -> list[Fact]:
    if item.image.version is None:
        return []
    here = Origin("file", Location(item.place.file, item.line), "image")
    return [Fact("kafka.version", item.image.version, here)]


_QUORUMS = ("zookeeper.connect", "controller.quorum.voters", "controller.quorum.bootstrap.servers")


def _clusters(brokers: list[Container]) -> dict[str, str]:
    """Which cluster each broker belongs to: those that share a ZooKeeper or a controller are one.

    A broker that names neither belongs to the first cluster. The label is its first broker's name.
    """
    label_of: dict[str, str] = {}
    owner_of: dict[str, str] = {}
    for item in brokers:
        known = texts(item.settings)
        quorum = [
            address.strip()
            for key in _QUORUMS
            for address in known.get(key, "").split("/")[0].split(",")
            if address.strip()
        ]
        owners = {owner_of[address] for address in quorum if address in owner_of}
        label = min(owners, key=list(label_of).index) if owners else item.name
        label_of[item.name] = label
        for name, old in label_of.items():
            if old in owners:
                label_of[name] = label
        for address, old in owner_of.items():
            if old in owners:
                owner_of[address] = label
        for address in quorum:
            owner_of[address] = label
        if not quorum and owner_of:
            label_of[item.name] = next(iter(label_of.values()))
    if not owner_of and brokers:
        return {item.name: brokers[0].name for item in brokers}
    return label_of
