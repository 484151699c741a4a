"""KRaft: roles, node ids, voters and the controller's listeners."""

from __future__ import annotations

from collections.abc import Iterator

from . import values
from .clients import PORT_MAX, host_port
from .definition import Config, Skip
from .listeners import Refused, advertised_by_controller, controller_names, listening, protocol_map, roles
from .results import Reason

_ROLES, _VOTERS, _BOOTSTRAP = (
    "process.roles",
    "controller.quorum.voters",
    "controller.quorum.bootstrap.servers",
)
_NODE, _BROKER, _NAMES = "node.id", "broker.id", "controller.listener.names"


def voters(config: Config) -> dict[int, str] | None:
    """Voter ids and addresses; None if an entry cannot be read."""
    found: dict[int, str] = {}
    for entry in config.get(_VOTERS):
        parts = entry.split("@")
        number = values.integer(parts[0], values.INT)
        address = host_port(config, parts[1]) if len(parts) == 2 else None
        if number is None or address is None or address[1] > PORT_MAX:
            return None
        found[number] = parts[1]
    return found


def voters_readable(config: Config) -> Iterator[Reason]:
    if config.knows(_VOTERS) and voters(config) is None:
        yield Reason("format", (_VOTERS,), f"{_VOTERS}: each entry reads id@host:port")


def bootstrap_readable(config: Config) -> Iterator[Reason]:
    if config.knows(_BOOTSTRAP):
        for entry in config.get(_BOOTSTRAP):
            if host_port(config, entry) is None:
                yield Reason("format", (_BOOTSTRAP,), f"{_BOOTSTRAP}: each entry reads host:port")
                return


def ids(config: Config) -> Iterator[Reason]:
    kraft = roles(config)
    node = config.get(_NODE) if config.knows(_NODE) else -1
    broker = config.get(_BROKER)
    if config.since(3, 1) and node != broker:
        yield Reason("cross-key", (_NODE, _BROKER), f"{_NODE} and {_BROKER} must be equal where both are set")
        return
    if not config.since(3, 1) and node >= 0:
        broker = node
    if kraft:
        if broker < 0:
            yield Reason("required", (_NODE, _ROLES), f"{_NODE} must be set in KRaft mode")
    elif config.since(4, 0):
        return
    elif config.get("broker.id.generation.enable"):
        most = config.get("reserved.broker.max.id")
        if not -1 <= broker <= most:
            yield Reason(
                "range",
                (_BROKER, "reserved.broker.max.id"),
                f"{_BROKER} must be from -1 to reserved.broker.max.id, {most}, while ids can be generated",
            )
    elif broker < 0:
        yield Reason("range", (_BROKER,), f"{_BROKER} must not be negative while ids are not generated")


def duplicate_roles(config: Config) -> Iterator[Reason]:
    if config.knows(_ROLES):
        listed = config.get(_ROLES)
        if len(set(listed)) != len(listed):
            yield Reason("format", (_ROLES,), f"{_ROLES} names a role twice")


def zookeeper(config: Config) -> Iterator[Reason]:
    if config.since(4, 0) or roles(config):
        return
    if config.get("zookeeper.connect") is None:
        yield Reason("required", ("zookeeper.connect", _ROLES), f"zookeeper.connect or {_ROLES} must be set")
    migrating = config.knows("zookeeper.metadata.migration.enable") and config.get(
        "zookeeper.metadata.migration.enable"
    )
    if config.since(3, 1) and not migrating and controller_names(config):
        yield Reason("cross-key", (_NAMES, _ROLES), f"{_NAMES} must be empty outside KRaft mode")


def migration(config: Config) -> Iterator[Reason]:
    key = "zookeeper.metadata.migration.enable"
    if not config.knows(key) or not config.get(key):
        return
    if roles(config):
        if config.get("zookeeper.connect") is None:
            yield Reason("cross-key", ("zookeeper.connect", key), f"{key} needs zookeeper.connect")
        return
    if config.get(_BROKER) < 0:
        yield Reason("cross-key", (_BROKER, key), f"{key} needs a {_BROKER} of its own")
    if not _quorum(config):
        yield Reason("cross-key", (_VOTERS, key), f"{key} needs {_VOTERS}")
    if not controller_names(config):
        yield Reason("cross-key", (_NAMES, key), f"{key} needs {_NAMES}")
    from .validators import protocol_version, rank

    spoken = protocol_version(config.get("inter.broker.protocol.version"))
    if spoken is not None and rank(spoken) < rank("3.4-IV0"):
        yield Reason(
            "cross-key", ("inter.broker.protocol.version", key), f"{key} needs protocol version 3.4 or newer"
        )


def _quorum(config: Config) -> bool:
    return bool(voters(config)) or bool(config.knows(_BOOTSTRAP) and config.get(_BOOTSTRAP))


def check(config: Config) -> Iterator[Reason]:
    if not config.since(3, 0):
        return
    kraft = roles(config)
    if not kraft:
        return
    if not _quorum(config):
        yield Reason("cross-key", (_VOTERS, _ROLES), f"KRaft mode needs {_VOTERS} or {_BOOTSTRAP}")
    found = voters(config)
    if found is None:
        raise Skip
    node = config.get(_NODE)
    if "controller" in kraft:
        if found and node not in found:
            yield Reason("cross-key", (_VOTERS, _NODE), f"a controller's {_NODE} must be among {_VOTERS}")
    elif node in found:
        yield Reason("cross-key", (_VOTERS, _NODE), f"a node of {_VOTERS} needs the controller role")


def controller_listeners(config: Config) -> Iterator[Reason]:
    kraft = roles(config)
    if not kraft or not config.since(3, 0):
        return
    try:
        yield from _controller_listeners(config, kraft)
    except Refused:
        raise Skip from None


def _controller_listeners(config: Config, kraft: frozenset[str]) -> Iterator[Reason]:
    names = controller_names(config)
    own = listening(config)
    listed = {endpoint.name for endpoint in own}
    if "controller" not in kraft:
        if not names:
            yield Reason("required", (_NAMES, _ROLES), f"a broker in KRaft mode needs {_NAMES}")
        if any(name in listed for name in names):
            yield Reason(
                "cross-key", (_NAMES, "listeners"), f"a mere broker must not listen on what {_NAMES} names"
            )
        known = protocol_map(config)
        for name in names:
            if name.upper() not in known:
                yield Reason(
                    "cross-key",
                    (_NAMES, "listener.security.protocol.map"),
                    f"{_NAMES}: {name} has no security protocol",
                )
        return
    advertised = advertised_by_controller(config)
    if "broker" not in kraft:
        if len(advertised) != len(own):
            yield Reason(
                "cross-key",
                ("listeners", _NAMES),
                f"a mere controller may listen only on what {_NAMES} names",
            )
        if not config.since(3, 9) and config.get("advertised.listeners") is not None:
            yield Reason(
                "cross-key", ("advertised.listeners", _ROLES), "a mere controller has no advertised.listeners"
            )
        inter = config.get("inter.broker.listener.name")
        if config.since(4, 0) and inter is not None and inter.upper() in names:
            yield Reason(
                "cross-key",
                (_NAMES, "inter.broker.listener.name"),
                f"{_NAMES} must not hold the listener among brokers",
            )
    if not advertised:
        yield Reason("cross-key", (_NAMES, "listeners"), f"a controller must listen on what {_NAMES} names")
    elif not all(name in listed for name in names):
        yield Reason("cross-key", (_NAMES, "listeners"), f"{_NAMES} may name only what listeners has")


def auto_join(config: Config) -> Iterator[Reason]:
    key = "controller.quorum.auto.join.enable"
    if config.knows(key) and config.get(key) and roles(config) == {"broker"}:
        yield Reason("cross-key", (key, _ROLES), f"{key} is for controllers")


CHECKS = (
    voters_readable,
    bootstrap_readable,
    ids,
    duplicate_roles,
    zookeeper,
    migration,
    check,
    controller_listeners,
    auto_join,
)
