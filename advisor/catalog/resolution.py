"""Where a value comes from: one table for synonyms, units and defaults."""

from typing import Any

from ..tuples import NamedTuple
from .store import keys
from .versions import Version, resolve_version

_MINUTE, _HOUR = 60_000, 3_600_000

# Broker keys that read others when unset, by precedence, with the factor into the first one's unit. A null or
# absent earlier key lets the next one speak; an earlier key that is given silences the later ones.
_BROKER: dict[str, tuple[tuple[str, int], ...]] = {
    "log.retention.ms": (
        ("log.retention.ms", 1),
        ("log.retention.minutes", _MINUTE),
        ("log.retention.hours", _HOUR),
    ),
    "log.roll.ms": (("log.roll.ms", 1), ("log.roll.hours", _HOUR)),
    "log.roll.jitter.ms": (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", _HOUR)),
    "log.flush.interval.ms": (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    "log.dirs": (("log.dirs", 1), ("log.dir", 1)),
    "metadata.log.dir": (("metadata.log.dir", 1), ("log.dirs", 1), ("log.dir", 1)),
    "advertised.listeners": (("advertised.listeners", 1), ("listeners", 1)),
    "node.id": (("node.id", 1), ("broker.id", 1)),
    "zookeeper.connection.timeout.ms": (
        ("zookeeper.connection.timeout.ms", 1),
        ("zookeeper.session.timeout.ms", 1),
    ),
    "delegation.token.secret.key": (("delegation.token.secret.key", 1), ("delegation.token.master.key", 1)),
    "log.message.timestamp.before.max.ms": (
        ("log.message.timestamp.before.max.ms", 1),
        ("log.message.timestamp.difference.max.ms", 1),
    ),
    "log.message.timestamp.after.max.ms": (
        ("log.message.timestamp.after.max.ms", 1),
        ("log.message.timestamp.difference.max.ms", 1),
    ),
    "remote.log.manager.copier.thread.pool.size": (
        ("remote.log.manager.copier.thread.pool.size", 1),
        ("remote.log.manager.thread.pool.size", 1),
    ),
    "remote.log.manager.expiration.thread.pool.size": (
        ("remote.log.manager.expiration.thread.pool.size", 1),
        ("remote.log.manager.thread.pool.size", 1),
    ),
}

# Topic keys whose older twin still speaks while they are at their default.
_TOPIC_TWIN = {
    "message.timestamp.before.max.ms": "message.timestamp.difference.max.ms",
    "message.timestamp.after.max.ms": "message.timestamp.difference.max.ms",
}


class Resolution(NamedTuple):
    """The first of `sources` that is set gives the value, times its factor; none set: `default`."""

    sources: tuple[tuple[str, str, int], ...]  # (component, key, factor)
    default: Any


_tables: dict[tuple[str, bool], dict[tuple[str, str], Resolution]] = {}


def resolution(version: str | Version, component: str, key: str) -> Resolution:
    """How `key` gets its value; a key this release does not know has itself as only source and no default."""
    found = resolution_table(version).get((component, key))
    return found if found is not None else Resolution(((component, key, 1),), None)


def resolution_table(version: str | Version) -> dict[tuple[str, str], Resolution]:
    """Every (component, key) of this release."""
    version = resolve_version(version)
    mark = version.release, version.number < (0, 11)
    if mark not in _tables:
        _tables[mark] = _build(version)
    return _tables[mark]


def _build(version: Version) -> dict[tuple[str, str], Resolution]:
    from .store import COMPONENTS

    table: dict[tuple[str, str], Resolution] = {}
    broker = keys("broker", version)
    for component in COMPONENTS:
        for name, key in keys(component, version).items():
            sources: list[tuple[str, str, int]] = [(component, name, 1)]
            if component == "broker":
                sources = [
                    ("broker", other, factor)
                    for other, factor in _BROKER.get(name, ((name, 1),))
                    if other in broker
                ]
            elif component == "topic":
                twin = _TOPIC_TWIN.get(name)
                if twin is not None and twin in keys("topic", version):
                    sources.append(("topic", twin, 1))
                for synonym in key.synonyms[:1]:
                    sources += [
                        ("broker", other, factor)
                        for other, factor in _BROKER.get(synonym, ((synonym, 1),))
                        if other in broker
                    ]
            default = key.default
            if component == "broker" and default is None:
                default = _inherited(sources, broker)
            table[component, name] = Resolution(tuple(sources), default)
    return table


def _inherited(sources: list[tuple[str, str, int]], broker: Any) -> Any:
    for _, other, factor in sources:
        default = broker[other].default
        if default is not None:
            return default * factor if factor != 1 else default
    return None
