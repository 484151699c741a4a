"""dev or prod: what a deployment is judged as, and the evidence for it.

What was stated decides. Then what only a development setup has: one broker, brokers or clients at localhost,
or a cluster that its owners call so. Several brokers are production. A word in a path is weak evidence: it
decides only where nothing else speaks.
"""

import re
from collections.abc import Iterable

from ..model import Deployment, Document, Location, members_of
from ..syntax.numbers import fact_count
from ..syntax.pattern import pattern
from ..tuples import NamedTuple
from . import asked_keys

_DEV_WORD = pattern(r"(?<![a-z0-9])(dev|development|test|local)(?![a-z0-9])", re.IGNORECASE)
# An address of this very host, at the beginning or behind what may stand before one in a list.
LOCAL_ADDRESS = r"(?i)(?:^|[ ,/@])(?:localhost|127\.[0-9.]+|\[::1\]):[0-9]"
_LOCAL = pattern(LOCAL_ADDRESS)

_CLIENT_KEYS = frozenset(("bootstrap.servers", "metadata.broker.list"))
# Nobody on another host can join a cluster that is coordinated, or advertised, at localhost.
_BROKER_KEYS = frozenset(
    (
        "advertised.listeners",
        "zookeeper.connect",
        "controller.quorum.voters",
        "controller.quorum.bootstrap.servers",
    )
)


# Where a cluster has a name that its owners gave it; elsewhere it goes by a file's or a container's.
_NAMED_BY_OWNERS = ("strimzi", "terraform", "cloudformation")


class Profile(NamedTuple):
    name: str
    why: str


DEFAULT = Profile("prod", "default")


def profile_of(deployment: Deployment, stated: str | None) -> Profile:
    if stated is not None:
        return Profile(stated, "stated")
    name = "cluster.brokers"
    fact = next((fact for fact in deployment.facts if fact.name == name), None)
    brokers = fact_count(name, fact.value) if fact is not None else None
    if fact is not None and brokers == 1:
        return Profile("dev", f"its cluster has one broker, {fact.origin.at or fact.origin}")
    clients = [one for one in members_of(deployment) if one.component not in ("broker", "topic")]
    local = _local(deployment.cluster, _BROKER_KEYS)
    if local is None and (brokers is None or any(one.format == "compose" for one in deployment.cluster)):
        local = _local(clients, _CLIENT_KEYS)
    if local is not None:
        return Profile("dev", f"{local[0]} is at localhost, {local[1]}")
    topic = deployment.topic
    if topic is not None and brokers is None:
        for kind, value in topic.hints:
            if kind == "host" or (kind == "bootstrap" and is_local(value)):
                return Profile("dev", f"{topic.name} is made at {value}, {topic.file}:{topic.line}")
    for document in deployment.cluster:
        word = dev_word(document.name) if document.format in _NAMED_BY_OWNERS else None
        if word is not None:
            return Profile("dev", f"the cluster is called {document.name}")
    if fact is not None and brokers is not None:
        return Profile("prod", f"its cluster has {brokers} brokers, {fact.origin.at or fact.origin}")
    for document in members_of(deployment):
        word = dev_word(document.file)
        if word is not None:
            return Profile("dev", f"{document.file} has the word {word}")
    return DEFAULT


def dev_word(file: str) -> str | None:
    """A whole word of a path that says it is for development."""
    found = _DEV_WORD.search(file)
    return None if found is None else found[0]


def is_local(addresses: str) -> bool:
    return _LOCAL.search(addresses) is not None


def _local(documents: Iterable[Document], keys: frozenset[str]) -> tuple[str, Location] | None:
    """The first setting that names an address of this host, and its place. A default of a variable
    (`${KAFKA:localhost:9092}`) is none: elsewhere the variable is set."""
    if asked_keys.is_noting():
        for key in keys:
            asked_keys.note(key)
    for document in documents:
        for setting in document.settings:
            if setting.key not in keys:
                continue
            text, filled_in = setting.value, "default of ${" in setting.origin.note
            if isinstance(text, str) and not filled_in and is_local(text):
                return setting.key, setting.origin.at or Location(document.file, document.line)
    return None
