"""Docker Compose: one document per broker or Connect container, one per topic that a container makes.

Only containers that run a broker or a worker count: an application may well have a KAFKA_ACKS of its
own, and a container that has Kafka's image only to run kafka-topics is no broker.
"""

import re
from collections.abc import Mapping
from itertools import pairwise
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
    integer,
    is_known,
    parse_yaml,
    setting,
)

from .brokers import broker_facts, listener_hints, texts, worker_hints
from .compose_env import Place, dotenv, environment_of, interpolate
from .created_topics import topics_of
from .images import Image, Variable, classify, escaped_key, guess, read_environment

_FILE_NAME = re.compile(r"(?:^|[/._-])(?:docker-)?compose[^/]*\.ya?ml$", re.IGNORECASE)
_SERVICES = re.compile(r"^services[ \t]*:", re.MULTILINE)
_KAFKA_IMAGE = re.compile(
    r"(?:apache|bitnami(?:legacy|secure)?|wurstmeister|debezium|strimzi)/(?:kafka(?:-native)?|connect)\b|"
    r"\bcp-(?:kafka|server|enterprise-kafka)\b|\bconfluent-local\b"
)
_KAFKA_KEY = re.compile(
    r"\b(?:KAFKA_(?:CFG_)?(?:ADVERTISED_|ZOOKEEPER_CONNECT|PROCESS_ROLES|LISTENERS)|CONNECT_CONFIG_STORAGE)"
)
_KUBERNETES = re.compile(r"^apiVersion[ \t]*:", re.MULTILINE)
_STARTS_BROKER = re.compile(
    r"kafka-server-start|/etc/(?:confluent|kafka)/docker/run|start-kafka\.sh|scripts/kafka/(?:run|entrypoint)|"
    r"docker-entrypoint\.sh|KafkaDockerWrapper|KafkaRaftServer"
)
_TOOL = re.compile(
    r"\bkafka-(?:topics|configs|acls|console|consumer|producer|broker-api|storage|metadata|reassign|verifiable"
    r"|leader|log-dirs|features)|\bcub\b|kafka-ready|\bkcat\b|\bkafkacat\b"
)
_IDLE = re.compile(r"\bsleep\b|\btail -f")
# Clusters are told apart by comparing their brokers.
_CONTAINERS_MAX = 1_000
_OVERRIDE = re.compile(r"--override[ =]++(['\"]?)([\w.\-]++)=((?:\$\{[^}$]*+\}|[^\s'\"])*+)\1")


def claim(name: str, text: str) -> int:
    named = bool(_FILE_NAME.search(name))
    if not (named or _SERVICES.search(text)) or (_KUBERNETES.search(text) and not named):
        return 0
    if _KAFKA_IMAGE.search(text):
        return 95 if named else 85
    if _KAFKA_KEY.search(text):
        return 80 if named else 60
    # Perhaps an override of another Compose file, without an image of its own.
    return 40 if named and "KAFKA_" in text else 0


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


def load(source: Source) -> Loaded:
    place = Place(source.file, source.read, {})
    known = dotenv(source.read)
    problems: list[str] = []
    containers: list[Container] = []
    for root in parse_yaml(source.text):
        services = _services(root)
        for name, key, service in services.pairs() if services is not None else ():
            if service.kind == "mapping":
                found = _container(name, key.line, service, services, place, known, problems)
                if found is not None:
                    containers.append(found)
                if len(containers) > _CONTAINERS_MAX:
                    raise LoadError(f"more than {_CONTAINERS_MAX:,} Kafka containers in one file", key.line)
    if not containers:
        return Loaded((), "skipped", "; ".join(problems) or "no container that runs a broker or a worker")
    documents = _documents(source.file, containers)
    if problems:
        return Loaded(documents, "partial", "; ".join(dict.fromkeys(problems)))
    return Loaded(documents)


def _services(root: Node) -> Node | None:
    """`services`, or the whole document in the first version of the format."""
    services = root.get("services")
    if services is not None:
        return services if services.kind == "mapping" else None
    if any(value.get("image") or value.get("build") for _, _, value in root.pairs()):
        return root
    return None


def _container(
    name: str,
    line: int,
    service: Node,
    services: Node | None,
    place: Place,
    known: Mapping[str, str],
    problems: list[str],
) -> Container | None:
    chain = _extended(service, services, place, problems)
    own: list[str] = []
    variables: dict[str, Variable] = {}
    for layer, where in reversed(chain):
        variables.update(environment_of(layer, where, known, own))
    reference = interpolate(_first(chain, "image") or "", known).text
    image = classify(reference)
    if image is None and (not reference or "${" in reference or _first_node(chain, "build") is not None):
        image = guess(variables)
    override = image is None and _is_override(name, chain, variables)
    if override:
        image = Image("bitnami" if "KAFKA_CFG_" in " ".join(variables) else "confluent", "broker")
        own.append(f"{name}: it has no image here, so it adds to a service of another file")
    if image is None:
        return None
    command = _command(chain, known, variables)
    text = " ".join(part for part, _ in command)
    if _is_tool(text, variables):
        return None
    environment = read_environment(image, _prepared(image, variables).values())
    settings = {item.key: item for item in environment.settings}
    overrides = _overrides(command, place.file)
    settings.update({item.key: item for item in overrides})
    if image.family == "debezium" and image.component == "broker":
        settings = {item.key: item for item in _debezium_role(variables)} | settings
    own.extend(_doubts(name, image, text, bool(overrides), chain))
    problems.extend(own)
    return Container(
        name,
        line,
        place,
        image,
        variables,
        tuple(settings.values()),
        environment.dropped,
        None if override else _replicas(chain, known),
    )


def _is_tool(command: str, variables: dict[str, Variable]) -> bool:
    """The image is there for its tools: to make topics, or for somebody to log in."""
    if not command or _STARTS_BROKER.search(command):
        return False
    return bool(_TOOL.search(command)) or (bool(_IDLE.search(command)) and guess(variables) is None)


def _is_override(name: str, chain: list[tuple[Node, Place]], variables: dict[str, Variable]) -> bool:
    """A fragment that Compose merges into a broker of another file."""
    if _first_node(chain, "image") is not None or _first_node(chain, "build") is not None:
        return False
    # 3.9 knows the keys of both modes.
    keys = (escaped_key(variable.removeprefix("KAFKA_").removeprefix("CFG_")) for variable in variables)
    return bool(re.search(r"kafka|broker", name)) and any(is_known("broker", key, "3.9") for key in keys)


def _extended(
    service: Node, services: Node | None, place: Place, problems: list[str]
) -> list[tuple[Node, Place]]:
    """The service and what it extends, nearest first."""
    chain = [(service, place)]
    seen = {id(service)}
    while len(chain) < 20:
        extends = service.get("extends")
        if extends is None:
            break
        wanted = extends.value if extends.kind == "scalar" else extends.text_at("service")
        file = extends.text_at("file")
        if file:
            services = place.load(file, _services_in)
            place = place.there(file)
            if services is None:
                problems.append(f"extends {file} (line {extends.line}) cannot be read")
        base = services.get(wanted) if services is not None and wanted else None
        if base is None or base.kind != "mapping" or id(base) in seen:
            break
        service = base
        seen.add(id(service))
        chain.append((service, place))
    return chain


def _services_in(text: str) -> Node | None:
    try:
        roots = parse_yaml(text)
    except LoadError:
        return None
    return next((found for root in roots if (found := _services(root)) is not None), None)


def _first_node(chain: list[tuple[Node, Place]], key: str) -> Node | None:
    return next((found for layer, _ in chain if (found := layer.get(key)) is not None), None)


def _first(chain: list[tuple[Node, Place]], key: str) -> str | None:
    found = _first_node(chain, key)
    return None if found is None else found.value


def _prepared(image: Image, variables: dict[str, Variable]) -> dict[str, Variable]:
    if image.family != "wurstmeister":
        return variables
    # _{HOSTNAME_COMMAND} is filled in by the image when it starts.
    return {
        name: variable._replace(text=re.sub(r"_\{(\w+)\}", r"${\1}", variable.text))
        for name, variable in variables.items()
    }


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


def _command(
    chain: list[tuple[Node, Place]], known: Mapping[str, str], variables: dict[str, Variable]
) -> list[tuple[str, int]]:
    """entrypoint and command as (text, line), with the container's own variables filled in."""
    parts = []
    for key in ("entrypoint", "command"):
        node = _first_node(chain, key)
        for piece in [] if node is None else node.elements or [node]:
            if piece.value:
                parts.append((interpolate(piece.value, known).text, piece.line))
    inside = {name: variable.text for name, variable in variables.items()}
    return [(_from_container(text, inside), line) for text, line in parts]


def _from_container(text: str, inside: Mapping[str, str]) -> str:
    return re.sub(r"\$\{(\w+)\}|\$(\w+)", lambda match: inside.get(match[1] or match[2], match[0]), text)


def _overrides(command: list[tuple[str, int]], file: str) -> list[Setting]:
    """`kafka-server-start.sh server.properties --override k=v`; in list form k=v is an element of its own."""
    found = [
        setting(match[2], match[3], file, line, "--override")
        for text, line in command
        for match in _OVERRIDE.finditer(text)
    ]
    for (text, _), (value, line) in pairwise(command):
        key, equals, rest = value.partition("=")
        if text == "--override" and equals:
            found.append(setting(key, rest, file, line, "--override"))
    return found


def _doubts(
    name: str, image: Image, command: str, overridden: bool, chain: list[tuple[Node, Place]]
) -> list[str]:
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
    volumes = _first_node(chain, "volumes")
    for volume in volumes.elements if volumes is not None else ():
        target = volume.text() or volume.text_at("target") or ""
        if re.search(r"server\.properties|:/mnt/shared/config", target):
            doubts.append(f"{name}: settings of a mounted file ({target.split(':')[0]}) are not seen here")
    return doubts


def _replicas(chain: list[tuple[Node, Place]], known: Mapping[str, str]) -> int | None:
    for path in (("deploy", "replicas"), ("scale",)):
        node = next((found for layer, _ in chain if (found := layer.get(*path)) is not None), None)
        if node is not None and node.value is not None:
            text = interpolate(node.value, known).text
            return integer(text, (0, 99_999))
    return 1


def _documents(file: str, containers: list[Container]) -> tuple[Document, ...]:
    brokers = [item for item in containers if item.image.component == "broker"]
    groups = _clusters(brokers)
    labels = sorted(set(groups.values()), key=lambda label: list(groups.values()).index(label))
    documents: list[Document] = []
    for item in containers:
        common = (("compose", file), ("service", item.name))
        if item.image.component == "connect":
            hints = (*common, *worker_hints(item.settings))
            documents.append(_document(file, item, "connect", "connect", (), hints))
            continue
        label = groups[item.name]
        members = [other for other in brokers if groups[other.name] == label]
        cluster = file if len(labels) == 1 else f"{file}#{label}"
        hints = (*common, ("cluster", cluster), *listener_hints(item.settings))
        documents.append(_document(file, item, "broker", "java", _facts(item, members), hints))
        topics, dropped = topics_of(item.image, item.variables)
        if dropped:
            documents[-1] = documents[-1]._replace(dropped=documents[-1].dropped + dropped)
        for topic in topics:
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


def _facts(item: Container, members: list[Container]) -> tuple[Fact, ...]:
    here = Origin("file", Location(item.place.file, item.line))
    facts = list(broker_facts(item.settings))
    if not facts and item.image.family == "apache":
        # The image formats its storage for KRaft and knows no other mode.
        facts.append(Fact("cluster.mode", "kraft", here._replace(note="apache/kafka")))
    counts = [member.replicas for member in members if _is_broker(member)]
    if all(count is not None for count in counts):
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
    if item.image.version is not None:
        facts.append(Fact("kafka.version", item.image.version, here._replace(note="image")))
    return tuple(facts)


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
            for key in (
                "zookeeper.connect",
                "controller.quorum.voters",
                "controller.quorum.bootstrap.servers",
            )
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
