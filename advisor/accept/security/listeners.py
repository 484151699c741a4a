"""Listeners of a broker or controller: addresses, names, protocols, who advertises what."""

import re
from collections.abc import Iterator

from ...syntax.numbers import integer, is_digits
from ...tuples import NamedTuple
from ..results import Reason
from ..value import numbers as values
from ..value.definition import Config, Skip
from ..value.hosts import is_ipv6

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_ENDPOINT = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)")
_MAP, _LISTENERS, _ADVERTISED = "listener.security.protocol.map", "listeners", "advertised.listeners"
_CONTROLLERS, _INTER_BROKER, _INTER_PROTOCOL = (
    "controller.listener.names",
    "inter.broker.listener.name",
    "security.inter.broker.protocol",
)
_CONTROL_PLANE = "control.plane.listener.name"
_ANY = "0.0.0.0"


class Refused(Exception):
    """The listeners cannot be read; carries the reason."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.detail)
        self.reason = reason


class Endpoint(NamedTuple):
    name: str
    host: str | None
    port: int


def roles(config: Config) -> frozenset[str]:
    return frozenset(config.get("process.roles")) if config.knows("process.roles") else frozenset()


def names(config: Config, key: str) -> list[str]:
    """A list of endpoints or names; it became a true list in 4.2."""
    value = config.get(key)
    if value is None:
        return []
    if isinstance(value, str):
        return values.csv_list(value)
    return list(value)


def controller_names(config: Config) -> list[str]:
    if not config.knows(_CONTROLLERS):
        return []
    value = config.get(_CONTROLLERS)
    if not value:
        return []
    if isinstance(value, str):
        parts = value.split(",")  # not trimmed: " CONTROLLER" is a name of its own
        while parts and parts[-1] == "":
            parts.pop()
        return parts
    return list(value)


def protocol_map(config: Config) -> dict[str, str]:
    found: dict[str, str] | None = config.derived.get(_MAP)
    if found is None:
        found = config.derived[_MAP] = _protocol_map(config)
    return found


def _protocol_map(config: Config) -> dict[str, str]:
    text = config.get(_MAP)
    pairs = values.csv_map(text)
    if pairs is None:
        raise Refused(Reason("format", (_MAP,), f"{_MAP} is a list of NAME:PROTOCOL pairs"))
    found: dict[str, str] = {}
    for name, protocol in pairs.items():
        upper = name.upper()
        if protocol.upper() not in PROTOCOLS:
            raise Refused(Reason("enum", (_MAP,), f"{_MAP}: a protocol is one of {', '.join(PROTOCOLS)}"))
        if upper in found and config.since(4, 0):
            raise Refused(Reason("format", (_MAP,), f"{_MAP} names {upper} twice"))
        found[upper] = protocol.upper()
    if not config.has(_MAP) and config.since(3, 1) and (config.since(4, 0) or roles(config)):
        secure = ("SSL", "SASL_SSL", "SASL_PLAINTEXT")
        controllers = controller_names(config)
        listed = [_scheme(entry) for entry in names(config, _LISTENERS)]
        if not any(name in secure for name in (*controllers, *listed)):
            found.update((name, "PLAINTEXT") for name in controllers if name != "PLAINTEXT")
    return found


def _scheme(entry: str) -> str:
    return entry.partition("://")[0].upper() if "://" in entry else ""


def endpoints(config: Config, key: str, distinct_ports: bool) -> list[Endpoint]:
    return _endpoints(config, key, names(config, key), distinct_ports)


def _endpoints(config: Config, key: str, entries: list[str], distinct_ports: bool) -> list[Endpoint]:
    protocols = protocol_map(config)
    found = []
    for entry in entries:
        match = _ENDPOINT.fullmatch(entry)
        port = None if match is None else values.integer(match.group(3), values.INT)
        if match is None or port is None:
            raise Refused(Reason("format", (key,), f"{key}: an entry reads NAME://host:port"))
        name = match.group(1).upper()
        if name not in protocols:
            raise Refused(
                Reason("cross-key", (key, _MAP), f"{key}: {name} has no security protocol in {_MAP}")
            )
        found.append(Endpoint(name, match.group(2) or None, port))
    if len({endpoint.name for endpoint in found}) != len(found):
        raise Refused(Reason("format", (key,), f"{key}: each listener needs a name of its own"))
    if distinct_ports:
        _distinct_ports(config, key, found)
    return found


def _distinct_ports(config: Config, key: str, found: list[Endpoint]) -> None:
    by_port: dict[int, list[str | None]] = {}
    for endpoint in found:
        if endpoint.port:
            by_port.setdefault(endpoint.port, []).append(endpoint.host)
    for port, hosts in by_port.items():
        if len(hosts) < 2:
            continue
        # From 3.6 one IPv4 and one IPv6 address may share a port.
        kinds = sorted("4" if _is_ipv4(h) else "6" for h in hosts if h and (_is_ipv4(h) or is_ipv6(h)))
        if not (config.since(3, 6) and len(hosts) == 2 and kinds == ["4", "6"]):
            raise Refused(Reason("format", (key,), f"{key}: port {port} is used twice"))


def _is_ipv4(host: str) -> bool:
    parts = host.split(".")
    return len(parts) == 4 and all(
        len(p) <= 3 and is_digits(p) and integer(p, (0, 255)) is not None for p in parts
    )


def listening(config: Config) -> list[Endpoint]:
    found: list[Endpoint] | None = config.derived.get(_LISTENERS)
    if found is None:
        found = config.derived[_LISTENERS] = _listening(config)
    return found


def _listening(config: Config) -> list[Endpoint]:
    if config.get(_LISTENERS) is None and config.knows("port"):
        host = config.get("host.name") or ""
        return _endpoints(config, _LISTENERS, [f"PLAINTEXT://{host}:{config.get('port')}"], True)
    return endpoints(config, _LISTENERS, True)


def advertised_by_broker(config: Config) -> list[Endpoint]:
    controllers = controller_names(config) if config.since(2, 8) else []
    if config.get(_ADVERTISED) is not None:
        found = endpoints(config, _ADVERTISED, False)
        return found if config.minor < (3, 1) else [e for e in found if e.name not in controllers]
    if config.knows("advertised.host.name") and (
        config.get("advertised.host.name") is not None or config.get("advertised.port") is not None
    ):
        host = config.get("advertised.host.name") or config.get("host.name") or ""
        port = config.get("advertised.port")
        port = config.get("port") if port is None else port
        return _endpoints(config, _ADVERTISED, [f"PLAINTEXT://{host}:{port}"], False)
    return [endpoint for endpoint in listening(config) if endpoint.name not in controllers]


def advertised_by_controller(config: Config) -> list[Endpoint]:
    """What each controller listener advertises; 0.0.0.0 taken from `listeners` does not count."""
    controllers = controller_names(config)
    given: list[Endpoint] = []
    if config.since(3, 9) and config.get(_ADVERTISED) is not None:
        given = [e for e in endpoints(config, _ADVERTISED, False) if e.name in controllers]
    own = [e for e in listening(config) if e.name in controllers]
    found = []
    for name in controllers:
        for endpoint in given:
            if endpoint.name == name.upper():
                found.append(endpoint)
                break
        else:
            found += [
                e._replace(host=None if e.host == _ANY else e.host) for e in own if e.name == name.upper()
            ][:1]
    return found


def inter_broker(config: Config) -> tuple[str, str]:
    """The name and protocol of the listener that brokers use among themselves."""
    name = config.get(_INTER_BROKER)
    if name is None:
        protocol = config.get(_INTER_PROTOCOL).upper()
        if protocol not in PROTOCOLS:
            detail = f"{_INTER_PROTOCOL} must be one of {', '.join(PROTOCOLS)}"
            raise Refused(Reason("enum", (_INTER_PROTOCOL,), detail))
        return protocol, protocol
    if config.has(_INTER_PROTOCOL):
        detail = f"{_INTER_BROKER} and {_INTER_PROTOCOL} exclude each other"
        raise Refused(Reason("cross-key", (_INTER_BROKER, _INTER_PROTOCOL), detail))
    protocols = protocol_map(config)
    if name.upper() not in protocols:
        detail = f"{_INTER_BROKER}: {name} has no security protocol in {_MAP}"
        raise Refused(Reason("cross-key", (_INTER_BROKER, _MAP), detail))
    return name.upper(), protocols[name.upper()]


def check(config: Config) -> Iterator[Reason]:
    """Listeners can be read, and the broker's side of them is consistent."""
    try:
        yield from _check(config)
    except Refused as refused:
        yield refused.reason


def _check(config: Config) -> Iterator[Reason]:
    own = {endpoint.name for endpoint in listening(config)}
    inter, _ = inter_broker(config)
    advertised = advertised_by_broker(config)
    offered = {endpoint.name for endpoint in advertised}
    kraft = roles(config)
    if "broker" in kraft or not (kraft or config.since(4, 0)):
        if not offered:
            yield Reason(
                "cross-key",
                (_LISTENERS, _CONTROLLERS),
                "no listener is left for clients: all are the controller's",
            )
        elif inter not in offered:
            key = _INTER_BROKER if config.has(_INTER_BROKER) else _INTER_PROTOCOL
            yield Reason(
                "cross-key",
                (_ADVERTISED if config.has(_ADVERTISED) else _LISTENERS, key),
                f"brokers talk over {inter}, which must be among the advertised listeners {_join(offered)}",
            )
        if not offered <= own:
            yield Reason(
                "cross-key",
                (_ADVERTISED, _LISTENERS),
                f"{_ADVERTISED} may name only what {_LISTENERS} has: {_join(own)}",
            )
    if any(endpoint.host == _ANY for endpoint in advertised):
        yield Reason(
            "format",
            # Of a file that something completes, the advertised ones may come from there.
            (_ADVERTISED,) if config.has(_ADVERTISED) else (_LISTENERS, _ADVERTISED),
            f"{_ANY} cannot be advertised: clients could not reach it; set {_ADVERTISED}",
        )
    if config.since(3, 9) and any(endpoint.host == _ANY for endpoint in advertised_by_controller(config)):
        yield Reason("format", (_ADVERTISED,), f"{_ANY} cannot be advertised for a controller")


def control_plane(config: Config) -> Iterator[Reason]:
    if not config.knows(_CONTROL_PLANE):
        return
    name = config.get(_CONTROL_PLANE)
    if name is None:
        return
    if config.since(3, 0) and roles(config):
        yield Reason(
            "cross-key", (_CONTROL_PLANE, "process.roles"), f"{_CONTROL_PLANE} does not exist in KRaft mode"
        )
        return
    try:
        if name.upper() not in protocol_map(config):
            yield Reason("cross-key", (_CONTROL_PLANE, _MAP), f"{_CONTROL_PLANE}: {name} is not in {_MAP}")
        elif name.upper() not in {e.name for e in advertised_by_broker(config)}:
            yield Reason(
                "cross-key", (_CONTROL_PLANE, _ADVERTISED), f"{_CONTROL_PLANE} must be an advertised listener"
            )
        elif name.upper() == inter_broker(config)[0]:
            yield Reason(
                "cross-key",
                (_CONTROL_PLANE, _INTER_BROKER),
                f"{_CONTROL_PLANE} must differ from the listener among brokers",
            )
    except Refused:
        raise Skip from None


def _join(found: set[str]) -> str:
    return ", ".join(sorted(found)) or "(none)"
