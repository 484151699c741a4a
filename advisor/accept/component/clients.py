"""Checks that producer, consumer and admin client share: addresses, plugin classes, backoffs."""

from __future__ import annotations

from collections.abc import Iterator

from ...syntax.numbers import is_digits
from ...syntax.pattern import pattern
from ..results import Reason, Rewrite
from ..security import protocols as security
from ..value import classes
from ..value import numbers as values
from ..value.definition import Config, Skip, missing_class
from ..value.hosts import resolvable

# At first anything could stand before the last host:port. 3.8 became strict, 3.9.1 took it back, 4.0 did not.
_HOST_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-%._:"
_URL_PREFIX = pattern(r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)")
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PORT_MAX = 65535


def addresses(config: Config, key: str = "bootstrap.servers") -> Iterator[Reason]:
    """Every address is host:port, and at least one can be resolved."""
    listed = config.get(key)
    strict = strict_addresses(config)
    usable = False
    for address in listed:
        if not address:
            continue
        found = _split(address, strict)
        if found is None:
            yield Reason(
                "format", (key,), f"{key}: an address must read host:port, {config.shown(key)} does not"
            )
            return
        port = values.integer(found[1], values.INT)
        if port is None or port > PORT_MAX:
            yield Reason("format", (key,), f"{key}: a port lies between 0 and {PORT_MAX}")
            return
        usable = usable or resolvable(found[0])
    if not usable:
        yield Reason(
            "required" if not listed else "format", (key,), f"{key}: at least one host:port address is needed"
        )


def strict_addresses(config: Config) -> bool:
    return config.since(4, 0) or config.minor == (3, 8) or config.version.number[:3] == (3, 9, 0)


def host_port(config: Config, address: str) -> tuple[str, int] | None:
    found = _split(address, strict_addresses(config))
    port = None if found is None else values.integer(found[1], values.INT)
    return None if found is None or port is None else (found[0], port)


def _split(address: str, strict: bool) -> tuple[str, str] | None:
    """Host and port as Kafka's pattern finds them. Not `strict`: `.*?\\[?([0-9a-zA-Z\\-%._:]*)\\]?:([0-9]+)`,
    which a machine that tries every beginning takes quadratic time for."""
    if strict:
        match = _URL_PREFIX.fullmatch(address)
        return None if match is None else (match.group(1), match.group(2))
    head, colon, port = address.rpartition(":")
    if not colon or not is_digits(port):
        return None
    head = head.removesuffix("]")
    before = head.rstrip(_HOST_LETTERS)
    return None if "\n" in before else (head[len(before) :], port)


def plugin(config: Config, key: str, kind: str) -> Iterator[Reason]:
    """A class that is made when the client is: it must be what its place asks for."""
    if not config.has(key):
        return  # Kafka's own defaults fit
    name = config.get(key)
    if name is None:
        return
    yield from usable(config, key, name, kind)


def plugins(config: Config, key: str, kind: str) -> Iterator[Reason]:
    if not config.has(key):
        return
    for name in config.get(key):
        yield from usable(config, key, name, kind)


def usable(config: Config, key: str, name: str, kind: str, trimmed: bool = True) -> Iterator[Reason]:
    name = values.trim(name) if trimmed else name
    usable = classes.usable_as(name, kind, config.version)
    if usable is None:
        problem = missing_class(name)
        yield Reason("class", (key,), f"{key}: {problem.detail}", problem.needs, problem.near)
    elif not usable:
        yield Reason("class", (key,), f"{key}: {name} is no {kind} that can be created")
    elif name.endswith((".ListDeserializer", ".ListSerializer")):
        yield from _list_serde(config, key, name)


def _list_serde(config: Config, key: str, name: str) -> Iterator[Reason]:
    """Lists need to be told of what, and which list class to read into."""
    side = key.partition(".")[0]
    needed = [f"default.list.{side}.serde.inner"]
    if name.endswith("Deserializer"):
        needed.insert(0, f"default.list.{side}.serde.type")
    for other in needed:
        if not config.has(other):
            yield Reason("cross-key", (other, key), f"{key}: {name} needs {other}")


def config_providers(config: Config) -> Iterator[Reason]:
    """Providers of `${name:path:key}` values are made first; one without a class is passed over."""
    listed = config.text("config.providers")
    if not listed:
        return
    for name in listed.split(","):
        key = f"config.providers.{name}.class"
        given = config.text(key)
        if given is not None:
            yield from usable(config, key, given, "ConfigProvider", trimmed=False)


def metrics(config: Config) -> Iterator[Reason]:
    yield from plugins(config, "metric.reporters", "MetricsReporter")


def secure_connection(config: Config) -> Iterator[Reason]:
    """What building the first network channel checks."""
    protocol = config.get("security.protocol").upper()
    if protocol not in _PROTOCOLS:
        yield Reason(
            "enum", ("security.protocol",), f"security.protocol must be one of {', '.join(_PROTOCOLS)}"
        )
        return
    if protocol.startswith("SASL"):
        yield from security.sasl_client(config)
    if protocol.endswith("SSL"):
        yield from security.ssl_context(config)


def sasl_mechanism(config: Config) -> Iterator[Reason]:
    if not config.since(3, 3):
        return
    if config.get("security.protocol").upper().startswith("SASL") and not config.get("sasl.mechanism"):
        yield Reason(
            "cross-key",
            ("sasl.mechanism", "security.protocol"),
            "sasl.mechanism must be set while security.protocol asks for SASL",
        )


def backoff(config: Config) -> Iterator[Rewrite]:
    if config.has("reconnect.backoff.ms") and not config.has("reconnect.backoff.max.ms"):
        value = config.get("reconnect.backoff.ms")
        default = config.table["reconnect.backoff.max.ms"].default
        if value != default:
            yield Rewrite(
                "reconnect.backoff.max.ms",
                None,
                str(value),
                ("reconnect.backoff.ms",),
                "set alone, reconnect.backoff.ms is the maximum too: the wait does not grow",
            )


def capped_backoff(config: Config) -> Iterator[Rewrite]:
    """From 3.7 a first wait above the maximum is cut to the maximum."""
    for first, most in (
        ("retry.backoff.ms", "retry.backoff.max.ms"),
        ("socket.connection.setup.timeout.ms", "socket.connection.setup.timeout.max.ms"),
    ):
        if not config.knows(most) or not config.knows("retry.backoff.max.ms"):
            continue
        try:
            wait, limit = config.get(first), config.get(most)
        except Skip:
            continue
        if wait > limit:
            yield Rewrite(
                first,
                str(wait) if config.has(first) else None,
                str(limit),
                (most,),
                f"{first} is above {most}, which is used instead and never grows",
            )
