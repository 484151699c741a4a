"""Keys that no definition lists and that are read all the same: prefixes, listeners, plugins."""

from __future__ import annotations

from .store import keys
from .versions import Version

# Prefix -> the component whose keys may follow it.
_CLIENT_PREFIXES: dict[str, tuple[tuple[str, str], ...]] = {
    "connect": (("producer.", "producer"), ("consumer.", "consumer"), ("admin.", "admin")),
    "connect-standalone": (("producer.", "producer"), ("consumer.", "consumer"), ("admin.", "admin")),
    "streams": (
        ("main.consumer.", "consumer"),
        ("restore.consumer.", "consumer"),
        ("global.consumer.", "consumer"),
        ("consumer.", "consumer"),
        ("producer.", "producer"),
        ("admin.", "admin"),
        ("topic.", "topic"),
    ),
}

_WORKER = (
    "key.converter.",
    "value.converter.",
    "header.converter.",
    "internal.key.converter.",
    "internal.value.converter.",
    "listeners.https.",
    "admin.listeners.https.",
    "metrics.context.",
)
# What follows is handed to a class that the configuration names, which may read anything.
_OPEN_PREFIXES: dict[str, tuple[str, ...]] = {
    "connect": (
        *_WORKER,
        "offset.storage.",
        "config.storage.",
        "status.storage.",
        "connector.client.",
    ),
    "connect-standalone": _WORKER,
    "broker": (
        "rlmm.config.",
        "rsm.config.",
        "kafka.csv.metrics.",
        "metrics.context.",
        "authorizer.",
        "opa.authorizer.",
        "strimzi.",
        "metrics.jmx.",
    ),
    "producer": ("metrics.context.", "metrics.jmx."),
    "consumer": ("metrics.context.", "metrics.jmx."),
    "admin": ("metrics.context.", "metrics.jmx."),
    "streams": ("metrics.context.", "metrics.jmx."),
}

# Serializers, interceptors and reporters in wide use, which read their settings from the client's.
_PLUGIN_PREFIXES = (
    "schema.registry.",
    "basic.auth.",
    "bearer.auth.",
    "confluent.",
    "spring.json.",
    "apicurio.",
    "json.",
    "cruise.control.metrics.",
    "aws.",
    "awsregion",
    "schema.reflection",
    "avro.",
    "protobuf.",
    "otel.",
    "rules.",
    "rule.",
    "subject.",
    "oauth.",
)
_PLUGIN_KEYS = frozenset(
    (
        "auto.register.schemas",
        "use.latest.version",
        "use.latest.with.metadata",
        "use.schema.id",
        "specific.avro.reader",
        "specific.protobuf.value.type",
        "specific.protobuf.key.type",
        "normalize.schemas",
        "derive.type",
        "key.subject.name.strategy",
        "value.subject.name.strategy",
        "reference.subject.name.strategy",
        "latest.compatibility.strict",
        "max.schemas.per.subject",
        "id.compatibility.strict",
        "registryname",
        "datacenter",
        "dataformat",
        "schemaname",
        "compatibility",
        "region",
        "endpoint",
        "skip.known.types",
        "proxy.host",
        "proxy.port",
        "enhanced.avro.schema.support",
        "default.deserialization.exception.handler",
    )
)

# Read by Kafka's own authorizers, in no definition.
_AUTHORIZER = frozenset(("super.users", "allow.everyone.if.no.acl.found"))

_memo: dict[tuple[str, str, str], bool] = {}


def is_known(component: str, key: str, version: str | Version) -> bool:
    """True if something in this release would read `key`: its definition, a prefix, or a usual plugin."""
    release = version if isinstance(version, str) else version.release
    mark = component, key, release
    found = _memo.get(mark)
    if found is None:
        found = _memo[mark] = _is_known(component, key, version)
    return found


def _is_known(component: str, key: str, version: str | Version) -> bool:
    if key in keys(component, version):
        return True
    if component in ("topic", "group"):
        return False  # Kafka itself refuses whatever these do not list
    if component == "broker":
        return key in _AUTHORIZER or _listener_override(key, version) or _open("broker", key)
    if key.startswith("config.providers."):
        return True
    for prefix, client in _CLIENT_PREFIXES.get(component, ()):
        if key.startswith(prefix):
            return is_known(client, key[len(prefix) :], version)
    if component == "streams" and any(
        key in keys(client, version) for client in ("consumer", "producer", "admin")
    ):
        return True  # Streams hands an unprefixed client key to every client that has it
    return _open(component, key)


def _open(component: str, key: str) -> bool:
    return (
        key.startswith(("config.providers.", *_PLUGIN_PREFIXES, *_OPEN_PREFIXES.get(component, ())))
        or key in _PLUGIN_KEYS
    )


def _listener_override(key: str, version: str | Version) -> bool:
    """`listener.name.<listener>.[<mechanism>.]<broker key>`."""
    if not key.startswith("listener.name."):
        return False
    table = keys("broker", version)
    rest = key[len("listener.name.") :]
    # A listener's name may itself hold dots: every way to cut is tried.
    while "." in rest:
        rest = rest.partition(".")[2]
        if rest in table or rest in _LISTENER_ONLY:
            return True
    return False


_LISTENER_ONLY = frozenset(
    (
        "sasl.jaas.config",
        "connections.max.reauth.ms",
        "sasl.server.callback.handler.class",
        "sasl.login.callback.handler.class",
        "sasl.login.class",
    )
)
