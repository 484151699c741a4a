"""Which Kafka a container image runs, and whose start script reads its variables: by its name, by the image
it is built from, or, where neither tells, by the variables that it is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from advisor.api import integer


class Image(NamedTuple):
    """family: whose start script reads the environment; component: broker | connect. `bare`: what the
    variables make is all that Kafka gets, the image adds nothing of its own. `guessed`: only the variables
    say that it runs Kafka, and a script that nobody knows reads them."""

    family: str
    component: str
    version: str | None = None
    bare: bool = False
    guessed: bool = False


_CONFLUENT = {"cp-kafka", "cp-server", "cp-enterprise-kafka", "confluent-local"}
_CONFLUENT_CONNECT = {
    "cp-kafka-connect",
    "cp-kafka-connect-base",
    "cp-server-connect",
    "cp-server-connect-base",
}
_OWNERS = {
    "apache": "apache",
    "bitnami": "bitnami",
    "bitnamilegacy": "bitnami",
    "bitnamisecure": "bitnami",
    "wurstmeister": "wurstmeister",
    "debezium": "debezium",
    "strimzi": "strimzi",
}


def classify(reference: str) -> Image | None:
    """The Kafka image that a reference such as `registry/owner/name:tag@digest` names, if any."""
    path, _, tag = _split(reference)
    parts = path.lower().split("/")
    name, owner = parts[-1], parts[-2] if len(parts) > 1 else ""
    if name in _CONFLUENT:
        # confluent-local has configureDefaults, a configuration for one broker.
        return Image("confluent", "broker", _confluent_version(tag), bare=name != "confluent-local")
    if name in _CONFLUENT_CONNECT:
        return Image("confluent", "connect", _confluent_version(tag))
    if name == "kafka-native" and owner in ("apache", ""):
        return Image("apache", "broker", _plain_version(tag), bare=True)
    # Derived images keep the entrypoint: cp-server-connect-datagen, debezium/connect-mongodb.
    if name.startswith(("cp-kafka-connect-", "cp-server-connect-")):
        return Image("confluent", "connect", _confluent_version(tag.rpartition("-")[2]))
    if owner == "debezium" and (name == "connect" or name.startswith("connect-")):
        return Image("debezium", "connect", _debezium_version(tag))
    family = _OWNERS.get(owner) if name == "kafka" else None
    return None if family is None else Image(family, "broker", _VERSIONS[family](tag), family == "apache")


def _split(reference: str) -> tuple[str, str, str]:
    path = reference.split("@", 1)[0].strip()
    slash = path.rfind("/")
    colon = path.find(":", slash + 1)
    return (path, "", "") if colon < 0 else (path[:colon], ":", path[colon + 1 :])


def _plain_version(tag: str) -> str | None:
    found = re.match(r"v?(\d+\.\d+(?:\.\d+)?)(?![\d.])", tag)
    return found[1] if found else None


def _wurstmeister_version(tag: str) -> str | None:
    # Scala's version stands first: 2.13-2.8.1.
    found = re.match(r"\d+\.\d+(?:\.\d+)?-(\d+\.\d+(?:\.\d+){0,2})", tag)
    return found[1] if found else None


def _strimzi_version(tag: str) -> str | None:
    found = re.search(r"kafka-(\d+\.\d+\.\d+)", tag)
    return found[1] if found else None


def _confluent_version(tag: str) -> str | None:
    found = re.match(r"v?([0-9]{1,4})\.([0-9]{1,4})(?![0-9])", tag)
    if not found:
        return None
    major, minor = integer(found[1]) or 0, integer(found[2]) or 0
    match major:
        case 3:
            return {0: "0.10.0", 1: "0.10.1", 2: "0.10.2", 3: "0.11.0"}.get(minor)
        case 4:
            return f"1.{minor}"
        case 5:
            return f"2.{minor}"
        case 6:
            return f"2.{minor + 6}"
        case 7:
            return f"3.{minor}"
        case 8:
            return f"4.{minor}"
    return None


# The Kafka in debezium/kafka and debezium/connect, by Debezium's own version (their Dockerfiles say so).
_IN_DEBEZIUM = {
    "0.9": "2.2",
    "0.10": "2.3",
    "1.0": "2.4",
    "1.1": "2.4",
    "1.2": "2.5",
    "1.3": "2.6",
    "1.4": "2.6",
    "1.5": "2.7",
    "1.6": "2.7",
    "1.7": "2.8",
    "1.8": "3.0",
    "1.9": "3.2",
    "2.0": "3.3",
    "2.1": "3.3",
    "2.2": "3.4",
    "2.3": "3.4",
    "2.4": "3.5",
    "2.5": "3.6",
    "2.6": "3.7",
    "2.7": "3.7",
    "3.0": "3.9",
    "3.1": "3.9",
    "3.2": "4.0",
    "3.3": "4.1",
    "3.4": "4.1",
    "3.5": "4.2",
}


def _debezium_version(tag: str) -> str | None:
    found = re.match(r"v?([0-9]{1,3}\.[0-9]{1,3})(?![0-9])", tag)
    return _IN_DEBEZIUM.get(found[1]) if found else None


_VERSIONS: dict[str, Callable[[str], str | None]] = {
    "apache": _plain_version,
    "bitnami": _plain_version,
    "wurstmeister": _wurstmeister_version,
    "strimzi": _strimzi_version,
    "debezium": _debezium_version,
}

_BROKER_ONLY = (
    "ADVERTISED_LISTENERS LISTENERS ZOOKEEPER_CONNECT PROCESS_ROLES CONTROLLER_QUORUM_VOTERS "
    "LISTENER_SECURITY_PROTOCOL_MAP ADVERTISED_HOST_NAME INTER_BROKER_LISTENER_NAME BROKER_ID NODE_ID "
    "CONTROLLER_QUORUM_BOOTSTRAP_SERVERS OFFSETS_TOPIC_REPLICATION_FACTOR LOG_DIRS"
)
_STRONG = frozenset(_BROKER_ONLY.split())


_REACHED = frozenset(("ADVERTISED_LISTENERS", "ADVERTISED_HOST_NAME", "LISTENERS"))


def guess(names: Iterable[str]) -> Image | None:
    """The image by its variables alone, for an own build, a templated reference or a name that nobody knows:
    a broker if at least two variables stand for what only a broker has, and one says how it is reached."""
    names = set(names)
    bitnami = {name.removeprefix("KAFKA_CFG_") for name in names if name.startswith("KAFKA_CFG_")}
    plain = {name.removeprefix("KAFKA_") for name in names if name.startswith("KAFKA_")}
    # Only wurstmeister's script makes topics of this one, and runs commands of the others.
    scripted = "CREATE_TOPICS" in plain or {"HOSTNAME_COMMAND", "BROKER_ID_COMMAND", "PORT_COMMAND"} & names
    other = "wurstmeister" if scripted else "confluent"
    for family, bare in (("bitnami", bitnami), (other, plain)):
        if len(bare & _STRONG) >= 2 and bare & _REACHED:
            return Image(family, "broker", guessed=True)
    worker = {name.removeprefix("CONNECT_") for name in names if name.startswith("CONNECT_")}
    if {"BOOTSTRAP_SERVERS", "GROUP_ID"} <= worker or "CONFIG_STORAGE_TOPIC" in worker:
        return Image("confluent", "connect", guessed=True)
    if {"CONFIG_STORAGE_TOPIC", "OFFSET_STORAGE_TOPIC"} <= names:
        return Image("debezium", "connect", guessed=True)
    return None


_FROM = re.compile(
    r"^[ \t]*+FROM[ \t]++(?:--\S++[ \t]++)*+(\S++)(?:[ \t]++AS[ \t]++(\S++))?", re.IGNORECASE | re.MULTILINE
)
_ARGUMENT = re.compile(r"^[ \t]*+ARG[ \t]++(\w++)=[\"']?([^\s\"']*+)", re.IGNORECASE | re.MULTILINE)
_USED = re.compile(r"\$\{(\w++)(?::-([^}$]*+))?\}|\$(\w++)")


def base_image(dockerfile: str) -> str:
    """What the last stage of a Dockerfile is built from; "" if it does not say."""
    arguments = dict(_ARGUMENT.findall(dockerfile))
    stages: dict[str, str] = {}
    last = ""
    for reference, name in _FROM.findall(dockerfile):
        filled = _USED.sub(lambda use: arguments.get(use[1] or use[3], use[2] or use[0]), reference)
        last = stages.get(filled.lower(), filled)
        if name:
            stages[name.lower()] = last
    return last
