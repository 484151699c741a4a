"""Container images that run Kafka: which key each environment variable becomes. The rules differ per image;
each cites the script that holds it."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from advisor.api import (
    Dropped,
    Location,
    Secret,
    Setting,
    Unknown,
    integer,
    known_anywhere,
    lookup,
    names_secret,
    setting,
    value_of,
)

from .image_names import Image


class Variable(NamedTuple):
    """One environment variable of a container, as it is when the container starts.

    `text` is interpolated as far as the files allow; what is left as `${X}` is not known.
    """

    name: str
    text: str
    file: str
    line: int | None
    note: str = ""


class Environment(NamedTuple):
    settings: tuple[Setting, ...]
    dropped: tuple[Dropped, ...]


# Read by Kafka's start scripts or by the image, never written to server.properties as a setting that
# Kafka knows.
_NOT_KEYS = re.compile(
    r"KAFKA_(?:VERSION|HOME|DATA|DEBUG|HEAP_OPTS|OPTS|GC_LOG_OPTS|JVM_PERFORMANCE_OPTS|EXTRA_ARGS|JMX_\w+|"
    r"LOG4J\w*|TOOLS_LOG4J\w*|CREATE_TOPICS\w*|CLASSPATH|MX4J\w*|PROTOCOL_NAME|ADVERTISED_PROTOCOL_NAME)$|"
    r"CONNECT_(?:LOG4J\w*|HEAP_OPTS|CUB_\w+)$"
)
_SERVICE_LINK = re.compile(
    r"KAFKA_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP)(?:_(?:ADDR|PORT|PROTO))?)$"
)
_COMMANDED = re.compile(r"_\{(\w+)\}")
_SINGLE = re.compile(r"(?<=[^_])_(?=[^_])")


def read_environment(image: Image, variables: Iterable[Variable]) -> Environment:
    """The settings that Kafka receives from a container's variables, and what gets lost on the way."""
    found: dict[str, tuple[int, Variable]] = {}
    dropped: list[Dropped] = []
    mapping = _MAPPINGS[image.family, image.component]
    if image.family == "wurstmeister":
        # _{HOSTNAME_COMMAND} is filled in by the image when it starts.
        variables = [one._replace(text=_COMMANDED.sub(r"${\1}", one.text)) for one in variables]
    if image[:2] in (("confluent", "broker"), ("apache", "broker")):
        variables = _with_key_stores(list(variables))
    for variable in variables:
        if _NOT_KEYS.match(variable.name):
            continue
        if _is_service_link(variable):
            dropped.append(
                _drop(
                    variable,
                    "service-link",
                    "a link to a service named kafka sets this variable; the image would make a key of it, "
                    "so name the service differently or set enableServiceLinks: false",
                )
            )
            continue
        answer = mapping(variable, image)
        if isinstance(answer, Dropped):
            dropped.append(answer)
        elif answer is not None and not _is_unset(image.component, answer[0], variable):
            _keep(found, dropped, answer, variable)
    settings = [_setting(key, variable) for key, (_, variable) in found.items()]
    if image.guessed:
        settings = [_as_far_as_kafkas(image.component, one) for one in settings]
    return Environment(tuple(settings), tuple(dropped))


def _is_unset(component: str, key: str, variable: Variable) -> bool:
    """A variable without a value, for a key that cannot be empty."""
    if variable.text.strip():
        return False
    known = lookup(component, key, "3.9") or lookup(component, key, "4.3")
    return known is None or known.type not in ("string", "list", "password", "class")


_NUMBERS = ("int", "short", "long", "double")


def _as_far_as_kafkas(component: str, one: Setting) -> Setting:
    """The script of an image that is not known may make something of a word where Kafka takes a number."""
    known = lookup(component, one.key, "3.9") or lookup(component, one.key, "4.3")
    if known is None or known.type not in _NUMBERS or not isinstance(one.value, str):
        return one
    plain = re.fullmatch(r"[+-]?[0-9.]+", one.value.strip()) is not None
    return one if plain else one._replace(value=Unknown(f"what the image makes of {one.value}"))


# What configure of cp-kafka and of apache/kafka makes of files in /etc/kafka/secrets, where a listener speaks
# SSL.
_STORES = {
    f"KAFKA_SSL_{store}_{written}": f"KAFKA_SSL_{store}_{made}"
    for store in ("KEYSTORE", "TRUSTSTORE")
    for written, made in (("FILENAME", "LOCATION"), ("CREDENTIALS", "PASSWORD"))
} | {"KAFKA_SSL_KEY_CREDENTIALS": "KAFKA_SSL_KEY_PASSWORD"}


def _with_key_stores(variables: list[Variable]) -> list[Variable]:
    advertised = " ".join(one.text for one in variables if one.name == "KAFKA_ADVERTISED_LISTENERS")
    speaks_ssl = "SSL://" in advertised or "${" in advertised
    given = {one.name for one in variables}
    found = []
    for one in variables:
        made = _STORES.get(one.name)
        if made is None:
            found.append(one)
        elif speaks_ssl and made not in given and one.text:
            text = f"/etc/kafka/secrets/{one.text}"
            text = text if made.endswith("LOCATION") else "${what is in " + text + "}"
            found.append(one._replace(name=made, text=text, note=f"made of {one.name} by the image"))
    return found


def _setting(key: str, variable: Variable) -> Setting:
    made = setting(key, variable.text, variable.file, variable.line, variable.note)
    if not variable.note:
        return made
    # What a secret's variable gives is one under any key. A note quotes the default, which is the secret
    # itself.
    if variable.text and not isinstance(made.value, Secret) and names_secret(variable.note):
        made = made._replace(value=Secret(variable.text))
    return made._replace(origin=made.origin._replace(note="")) if isinstance(made.value, Secret) else made


def _keep(
    found: dict[str, tuple[int, Variable]], dropped: list[Dropped], answer: tuple[str, int], new: Variable
) -> None:
    """Two variables for one key: the stronger wins, of equals the later."""
    key, strength = answer
    earlier = found.pop(key, None)
    if earlier is not None and earlier[0] > strength:
        found[key] = earlier
        earlier, new = (strength, new), earlier[1]
    else:
        found[key] = (strength, new)
    if earlier is not None and earlier[1].text != new.text:
        detail = f"{new.name} sets {key} too, and wins"
        dropped.append(_drop(earlier[1], "overridden", detail))


def _is_service_link(variable: Variable) -> bool:
    if variable.name == "KAFKA_PORT":
        return variable.text.startswith(("tcp://", "udp://"))
    return bool(_SERVICE_LINK.match(variable.name))


def _drop(variable: Variable, cause: str, detail: str, meant: str | None = None) -> Dropped:
    key = variable.name
    # The name of the variable decides what is secret: KAFKA_SSL_KEY_PASSWORD as ssl.key.password does.
    value = value_of(key.lower().replace("_", "."), variable.text)
    if variable.text and isinstance(value, str) and names_secret(variable.note):
        value = Secret(variable.text)
    return Dropped(key, value, Location(variable.file, variable.line), cause, detail, meant)


Answer = tuple[str, int] | Dropped | None


def _apache(variable: Variable, image: Image) -> Answer:
    """KafkaDockerWrapper.getServerConfigsFromEnv."""
    name = variable.name
    if not name.startswith("KAFKA_"):
        return None
    if name.startswith("KAFKA_CFG_"):
        return _only_bitnami(variable)
    # Until KAFKA-17911 (4.0) every KAFKA_ was cut out, not the prefix alone.
    old = image.version is not None and (integer(image.version.split(".")[0]) or 0) < 4
    bare = name.replace("KAFKA_", "") if old else name.removeprefix("KAFKA_")
    key = bare.lower().replace("_", ".").replace("...", "-").replace("..", "_")
    if old and bare != name.removeprefix("KAFKA_"):
        detail = f"apache/kafka before 4.0 removes every KAFKA_ of the name: this becomes the key {key}"
        return _drop(variable, "not-mapped", detail)
    return key, 0


def _confluent(variable: Variable, image: Image) -> Answer:
    """env_to_props of confluent-docker-utils, and its successor envToProps."""
    name = variable.name
    if name.startswith("KAFKA_CFG_"):
        return _only_bitnami(variable)
    if name == "KAFKA_ZOOKEEPER_CLIENT_CNXN_SOCKET":
        return "zookeeper.clientCnxnSocket", 0
    for prefix, start in (
        ("KAFKA_", ""),
        ("CONFLUENT_METRICS_", "confluent.metrics."),
        ("CONFLUENT_SUPPORT_", "confluent.support."),
    ):
        if name.startswith(prefix):
            return start + escaped_key(name.removeprefix(prefix)), 0
    return None


def escaped_key(bare: str) -> str:
    """`_` is a dot, `__` an underscore, `___` a dash."""
    return _SINGLE.sub(".", bare.lower()).replace("___", "-").replace("__", "_")


def _only_bitnami(variable: Variable) -> Dropped:
    meant = "KAFKA_" + variable.name.removeprefix("KAFKA_CFG_")
    detail = "only the Bitnami image reads KAFKA_CFG_; any other makes a key cfg.* of it, which Kafka ignores"
    return _drop(variable, "not-mapped", detail, meant)


# Bitnami's libkafka.sh gives these a second name without CFG, which wins over the first.
_BITNAMI_TWICE_NAMED = """
    ADVERTISED_LISTENERS BROKER_ID NODE_ID CONTROLLER_QUORUM_VOTERS CONTROLLER_QUORUM_BOOTSTRAP_SERVERS
    PROCESS_ROLES DEFAULT_REPLICATION_FACTOR DELETE_TOPIC_ENABLE INTER_BROKER_LISTENER_NAME LISTENERS
    LISTENER_SECURITY_PROTOCOL_MAP LOG_DIRS LOG_FLUSH_INTERVAL_MESSAGES LOG_FLUSH_INTERVAL_MS
    LOG_MESSAGE_FORMAT_VERSION LOG_RETENTION_BYTES LOG_RETENTION_CHECK_INTERVALS_MS LOG_RETENTION_HOURS
    LOG_SEGMENT_BYTES MESSAGE_MAX_BYTES NUM_IO_THREADS NUM_NETWORK_THREADS NUM_PARTITIONS
    NUM_RECOVERY_THREADS_PER_DATA_DIR OFFSETS_TOPIC_REPLICATION_FACTOR SOCKET_RECEIVE_BUFFER_BYTES
    SOCKET_REQUEST_MAX_BYTES SOCKET_SEND_BUFFER_BYTES SSL_ENDPOINT_IDENTIFICATION_ALGORITHM
    TRANSACTION_STATE_LOG_MIN_ISR TRANSACTION_STATE_LOG_REPLICATION_FACTOR ZOOKEEPER_CONNECT
    ZOOKEEPER_CONNECTION_TIMEOUT_MS AUTO_CREATE_TOPICS_ENABLE"""
_BITNAMI_ALIASES = frozenset(_BITNAMI_TWICE_NAMED.split())
_BITNAMI_RENAMED = {
    "KAFKA_LOGS_DIRS": "log.dirs",
    "KAFKA_SEGMENT_BYTES": "log.segment.bytes",
    "KAFKA_MAX_MESSAGE_BYTES": "message.max.bytes",
    "KAFKA_ZOOKEEPER_CONNECT_TIMEOUT_MS": "zookeeper.connection.timeout.ms",
}


def _bitnami(variable: Variable, image: Image) -> Answer:
    """kafka_configure_from_environment_variables of libkafka.sh."""
    name = variable.name
    if name.startswith("KAFKA_CFG_"):
        bare = name.removeprefix("KAFKA_CFG_")
        if bare == "ZOOKEEPER_CLIENTCNXNSOCKET":
            return "zookeeper.clientCnxnSocket", 0
        return _unescaped(variable, bare, "bitnami/kafka") or (_bitnami_key(bare), 0)
    if name in _BITNAMI_RENAMED:
        return _BITNAMI_RENAMED[name], 1
    if not name.startswith("KAFKA_"):
        return None
    bare = name.removeprefix("KAFKA_")
    if bare in _BITNAMI_ALIASES:
        return _bitnami_key(bare), 1
    key = _bitnami_key(bare.replace("___", "_").replace("__", "_"))
    if not known_anywhere(key):
        # A switch of the image: KAFKA_KRAFT_CLUSTER_ID, KAFKA_CLIENT_USERS, ALLOW_PLAINTEXT_LISTENER.
        return None
    detail = "the Bitnami image makes keys of KAFKA_CFG_ variables only"
    return _drop(variable, "needs-prefix", detail, f"KAFKA_CFG_{bare}")


def _bitnami_key(bare: str) -> str:
    key = bare.lower().replace("_", ".")
    return key.replace("sasl.ssl", "sasl_ssl").replace("sasl.plaintext", "sasl_plaintext")


def _unescaped(variable: Variable, bare: str, image_name: str) -> Dropped | None:
    if "__" not in bare:
        return None
    became = bare.lower().replace("_", ".")
    intended = escaped_key(bare)
    plain = variable.name.replace("___", "_").replace("__", "_")
    reachable = _bitnami_key(plain.removeprefix("KAFKA_CFG_")) == intended and image_name == "bitnami/kafka"
    detail = f"{image_name} has no escape for _ and -: this becomes the key {became}, not {intended}"
    return _drop(variable, "no-escape", detail, plain if reachable else None)


def _wurstmeister(variable: Variable, image: Image) -> Answer:
    """start-kafka.sh: every underscore is a dot."""
    if not variable.name.startswith("KAFKA_"):
        return None
    if variable.name.startswith("KAFKA_CFG_"):
        return _only_bitnami(variable)
    bare = variable.name.removeprefix("KAFKA_")
    return _unescaped(variable, bare, "wurstmeister/kafka") or (bare.lower().replace("_", "."), 0)


def _debezium(variable: Variable, image: Image) -> Answer:
    """docker-entrypoint.sh of debezium/kafka: some names stand without a prefix."""
    name = variable.name
    if name in ("NODE_ID", "BROKER_ID"):
        return "node.id", 1
    if name == "ZOOKEEPER_CONNECT":
        return "zookeeper.connect", 1
    if name in ("KAFKA_BROKER_ID", "KAFKA_NODE_ID", "KAFKA_ZOOKEEPER_CONNECT", "KAFKA_LOG_DIRS"):
        meant = None if name == "KAFKA_LOG_DIRS" else name.removeprefix("KAFKA_")
        return _drop(variable, "overridden", f"the entrypoint of debezium/kafka sets {name} itself", meant)
    if not name.startswith("KAFKA_") or name == "KAFKA_BROKER":
        return None
    bare = name.removeprefix("KAFKA_")
    return _unescaped(variable, bare, "debezium/kafka") or (bare.lower().replace("_", "."), 0)


def _confluent_connect(variable: Variable, image: Image) -> Answer:
    if not variable.name.startswith("CONNECT_"):
        return None
    return escaped_key(variable.name.removeprefix("CONNECT_")), 0


_DEBEZIUM_CONNECT = {
    "BOOTSTRAP_SERVERS": "bootstrap.servers",
    "GROUP_ID": "group.id",
    "CONFIG_STORAGE_TOPIC": "config.storage.topic",
    "OFFSET_STORAGE_TOPIC": "offset.storage.topic",
    "STATUS_STORAGE_TOPIC": "status.storage.topic",
    "KEY_CONVERTER": "key.converter",
    "VALUE_CONVERTER": "value.converter",
    "OFFSET_FLUSH_INTERVAL_MS": "offset.flush.interval.ms",
    "OFFSET_FLUSH_TIMEOUT_MS": "offset.flush.timeout.ms",
    "SHUTDOWN_TIMEOUT": "task.shutdown.graceful.timeout.ms",
}


def _debezium_connect(variable: Variable, image: Image) -> Answer:
    """docker-entrypoint.sh of debezium/connect-base: the bare names win over their CONNECT_ twins."""
    if variable.name in _DEBEZIUM_CONNECT:
        return _DEBEZIUM_CONNECT[variable.name], 1
    if not variable.name.startswith("CONNECT_"):
        return None
    bare = variable.name.removeprefix("CONNECT_")
    return _unescaped(variable, bare, "debezium/connect") or (bare.lower().replace("_", "."), 0)


def _none(variable: Variable, image: Image) -> Answer:
    return None


_MAPPINGS: dict[tuple[str, str], Callable[[Variable, Image], Answer]] = {
    ("apache", "broker"): _apache,
    ("confluent", "broker"): _confluent,
    ("bitnami", "broker"): _bitnami,
    ("wurstmeister", "broker"): _wurstmeister,
    ("debezium", "broker"): _debezium,
    # Strimzi's image reads no such variables; settings come by --override or in a file.
    ("strimzi", "broker"): _none,
    ("confluent", "connect"): _confluent_connect,
    ("debezium", "connect"): _debezium_connect,
}
