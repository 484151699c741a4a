"""The fields of Spring Boot's KafkaProperties, 2.x to 4.x, and the Kafka key that each one sets.

A name that is no field here and stands not under a `properties` map is read by nobody.
"""

from typing import NamedTuple

from advisor.api import edit_distance, is_template, keys, spring_bytes, spring_millis, suggest

from .spring_source import uniform

SECTIONS = ("producer", "consumer", "admin", "streams")
_NEWEST = "4.3"


class Field(NamedTuple):
    """A field and the Kafka key it sets; no key = Spring keeps it for itself."""

    key: str | None
    kind: str = "text"
    note: str = ""


_SSL = {
    "ssl.key-password": "ssl.key.password",
    "ssl.key-store-certificate-chain": "ssl.keystore.certificate.chain",
    "ssl.key-store-key": "ssl.keystore.key",
    "ssl.key-store-location": "ssl.keystore.location",
    "ssl.key-store-password": "ssl.keystore.password",
    "ssl.key-store-type": "ssl.keystore.type",
    "ssl.trust-store-certificates": "ssl.truststore.certificates",
    "ssl.trust-store-location": "ssl.truststore.location",
    "ssl.trust-store-password": "ssl.truststore.password",
    "ssl.trust-store-type": "ssl.truststore.type",
    "ssl.protocol": "ssl.protocol",
    "security.protocol": "security.protocol",
}
_EVERYWHERE = {
    "client-id": Field("client.id"),
    "ssl.bundle": Field(None),
    **{name: Field(key, "resource" if name.endswith("location") else "text") for name, key in _SSL.items()},
}
_SERVERS = {"bootstrap-servers": Field("bootstrap.servers", "list")}
_SINCE_3_5 = "read by Spring Boot 3.5 and later"

_LISTENER = """
    type ack-mode async-acks client-id concurrency poll-timeout no-poll-threshold ack-count ack-time
    idle-between-polls idle-event-interval idle-partition-event-interval monitor-interval auto-startup
    log-container-config only-log-record-metadata missing-topics-fatal immediate-stop
    change-consumer-thread-name observation-enabled auth-exception-retry-interval
""".split()  # noqa: SIM905
_RETRY = """
    enabled attempts delay multiplier max-delay random-back-off
    backoff.delay backoff.multiplier backoff.max-delay backoff.random backoff.jitter
""".split()  # noqa: SIM905

_FIELDS: dict[str, dict[str, Field]] = {
    "common": {
        **_EVERYWHERE,
        **_SERVERS,
        **dict.fromkeys(("jaas.enabled", "jaas.login-module", "jaas.control-flag"), Field(None)),
        **dict.fromkeys(("template.default-topic", "template.transaction-id-prefix"), Field(None)),
        "template.observation-enabled": Field(None),
        **{f"listener.{name}": Field(None) for name in _LISTENER},
        **{f"retry.topic.{name}": Field(None) for name in _RETRY},
    },
    "producer": {
        **_EVERYWHERE,
        **_SERVERS,
        "acks": Field("acks"),
        "batch-size": Field("batch.size", "bytes"),
        "buffer-memory": Field("buffer.memory", "bytes"),
        "compression-type": Field("compression.type"),
        "key-serializer": Field("key.serializer"),
        "value-serializer": Field("value.serializer"),
        "retries": Field("retries", "int"),
        "transaction-id-prefix": Field("transactional.id", "text", "a prefix, to which Spring adds a number"),
    },
    "consumer": {
        **_EVERYWHERE,
        **_SERVERS,
        "auto-commit-interval": Field("auto.commit.interval.ms", "millis"),
        "auto-offset-reset": Field("auto.offset.reset"),
        "enable-auto-commit": Field("enable.auto.commit", "bool"),
        "fetch-max-wait": Field("fetch.max.wait.ms", "millis"),
        "fetch-min-size": Field("fetch.min.bytes", "bytes"),
        "group-id": Field("group.id"),
        "heartbeat-interval": Field("heartbeat.interval.ms", "millis"),
        "isolation-level": Field("isolation.level", "isolation"),
        "key-deserializer": Field("key.deserializer"),
        "value-deserializer": Field("value.deserializer"),
        "max-poll-records": Field("max.poll.records", "int"),
        "max-poll-interval": Field("max.poll.interval.ms", "millis", _SINCE_3_5),
    },
    "admin": {
        **_EVERYWHERE,
        **dict.fromkeys(
            ("close-timeout", "operation-timeout", "fail-fast", "modify-topic-configs", "auto-create"),
            Field(None),
        ),
    },
    "streams": {
        **_EVERYWHERE,
        **_SERVERS,
        "application-id": Field("application.id"),
        "auto-startup": Field(None),
        "cleanup.on-startup": Field(None),
        "cleanup.on-shutdown": Field(None),
        "cache-max-size-buffering": Field(
            "cache.max.bytes.buffering", "bytes", "read by Spring Boot 2.x and early 3.x"
        ),
        "state-store-cache-max-size": Field(
            "statestore.cache.max.bytes", "bytes", "read by Spring Boot 3.1 and later"
        ),
        "replication-factor": Field("replication.factor", "int"),
        "state-dir": Field("state.dir"),
    },
}
_BY_NAME = {
    section: {tuple(map(uniform, name.split("."))): (name, field) for name, field in fields.items()}
    for section, fields in _FIELDS.items()
}
# Spring Boot writes these into the client's map even if nobody sets them, over what
# spring.kafka.properties says: the class has defaults for the fields.
ALWAYS_SET = {
    "producer": {"key.serializer": "key-serializer", "value.serializer": "value-serializer"},
    "consumer": {
        "isolation.level": "isolation-level",
        "key.deserializer": "key-deserializer",
        "value.deserializer": "value-deserializer",
    },
    "admin": {},
    "streams": {},
}


def field_of(section: str, path: tuple[str, ...]) -> tuple[str, Field] | None:
    """The field that a name binds to, with its own spelling; None if there is none."""
    return _BY_NAME[section].get(tuple(map(uniform, path)))


def field_for(section: str, key: str) -> str | None:
    """Spring's own name for a client's key; None if it has none and the key goes under `properties`."""
    found = (name for name, field in _FIELDS[section].items() if field.key == key and not field.note)
    return next(found, None)


def converted(kind: str, text: str) -> str:
    """A field's text as Kafka gets it. What Spring Boot cannot convert stays as it is: Kafka's own check
    refuses it, as Spring Boot does."""
    if kind == "text" or is_template(text):
        return text
    found: int | None = None
    match kind:
        case "list":
            return ",".join(part.strip() for part in text.split(",") if part.strip())
        case "bytes":
            found = spring_bytes(text)
        case "millis":
            found = spring_millis(text)
        case "int":
            return _integer("".join(text.split()))
        case "bool":
            return _BOOLEANS.get(text.strip().lower(), text)
        case "isolation":
            return _ISOLATION.get(uniform(text), text)
        case "resource":
            return text.removeprefix("file://").removeprefix("file:")
    return text if found is None else str(found)


_BOOLEANS = {"true": "true", "on": "true", "yes": "true", "1": "true"}
_BOOLEANS |= {"false": "false", "off": "false", "no": "false", "0": "false"}
_ISOLATION = {"readcommitted": "read_committed", "readuncommitted": "read_uncommitted"}


def _integer(text: str) -> str:
    """Integer.decode: a hexadecimal number is one too."""
    digits = text.lstrip("+-").lower()
    if digits.startswith("0x") and len(digits) < 20:
        try:
            return ("-" if text.startswith("-") else "") + str(int(digits, 16))
        except ValueError:
            return text
    return text


_spelt: dict[str, dict[str, str]] = {}
# People file Kafka's keys under a map of their own invention.
_MAPS = frozenset(
    ("config", "configs", "configuration", "property", "props", "additionalproperties", "options")
)


def _spellings(section: str) -> dict[str, str]:
    """Kafka's keys of a component by their letters and digits alone."""
    if section not in _spelt:
        _spelt[section] = {uniform(key): key for key in keys(section, _NEWEST)}
    return _spelt[section]


def _kafka_key(section: str, path: tuple[str, ...]) -> str | None:
    """The key of Kafka that a relaxed name spells, with or without its unit."""
    if len(path) > 1 and uniform(path[0]) in _MAPS:
        path = path[1:]
    table = _spellings(section)
    letters = uniform("".join(path))
    for ending in ("", "ms", "bytes"):
        if letters + ending in table:
            return table[letters + ending]
    return None


def _near_field(section: str, path: tuple[str, ...]) -> str | None:
    """The field of the section that a name misspells: `ssl.key-pasword`. Short names are anybody's."""
    letters = uniform("".join(path))
    if len(letters) < 8 or _kafka_key(section if section in SECTIONS else "producer", path) is not None:
        return None
    for name in _FIELDS[section]:
        if edit_distance(uniform(name), letters, 2) <= (1 if len(letters) < 12 else 2):
            return name
    return None


def meant_by(section: str, path: tuple[str, ...]) -> tuple[str, str] | None:
    """What a name that binds to nothing was meant to be: the section it is for, and the name that works."""
    if section in SECTIONS:
        key = _kafka_key(section, path)
        if key is not None:
            return section, f"spring.kafka.{section}.properties.{key}"
    for other in SECTIONS:
        typed = field_of(other, path)
        if other != section and typed is not None and typed[1].key is not None:
            return other, f"spring.kafka.{other}.{typed[0]}"
    near = _near_field(section, path)
    if near is not None:
        return section, f"spring.kafka.{near}" if section == "common" else f"spring.kafka.{section}.{near}"
    if section == "common":
        holders = [(other, key) for other in SECTIONS if (key := _kafka_key(other, path)) is not None]
        if len(holders) > 1:
            return "common", f"spring.kafka.properties.{holders[0][1]}"
        return (
            (holders[0][0], f"spring.kafka.{holders[0][0]}.properties.{holders[0][1]}") if holders else None
        )
    for other in SECTIONS:
        key = _kafka_key(other, path)
        if key is not None:
            return other, f"spring.kafka.{other}.properties.{key}"
    key = suggest(section, ".".join(path), _NEWEST) if len(path) == 1 else None
    return None if key is None else (section, f"spring.kafka.{section}.properties.{key}")
