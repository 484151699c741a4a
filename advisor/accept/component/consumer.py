"""The consumer: its group, its protocol, its assignors, and what building it checks."""

from __future__ import annotations

from collections.abc import Iterator

from ..results import Reason, Rewrite
from ..value.definition import Config
from ..value.numbers import is_blank
from . import clients

_GROUP, _INSTANCE, _COMMIT = "group.id", "group.instance.id", "enable.auto.commit"
_SESSION, _HEARTBEAT, _STRATEGY = (
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "partition.assignment.strategy",
)
_PROTOCOL, _REMOTE = "group.protocol", "group.remote.assignor"
_SHARE = ("share.acknowledgement.mode", "share.acquire.mode")
_INSTANCE_MAX = 249


def _modern(config: Config) -> bool:
    """The group protocol of KIP-848."""
    return config.knows(_PROTOCOL) and str(config.get(_PROTOCOL)).upper() == "CONSUMER"


def _has_group(config: Config) -> bool:
    """Before 2.2 the default group id was the empty text, which is a group."""
    return config.get(_GROUP) is not None


def instance_id(config: Config) -> Iterator[Reason]:
    if not config.knows(_INSTANCE):
        return
    name = config.get(_INSTANCE)
    if name is None:
        return
    if name in ("", ".", "..") or len(name) > _INSTANCE_MAX:
        yield Reason(
            "format",
            (_INSTANCE,),
            f"{_INSTANCE} must not be empty, . or .., nor longer than {_INSTANCE_MAX} characters",
        )
    elif not all(c.isascii() and (c.isalnum() or c in "._-") for c in name):
        yield Reason(
            "format", (_INSTANCE,), f"{_INSTANCE} may hold letters, digits, dot, underscore and hyphen only"
        )


def commit_without_group(config: Config) -> Iterator[Reason]:
    if config.has(_COMMIT) and not _has_group(config) and config.get(_COMMIT):
        yield Reason("cross-key", (_COMMIT, _GROUP), f"{_COMMIT}=true needs a {_GROUP} to commit for")


def protocol_conflicts(config: Config) -> Iterator[Reason]:
    """Settings of one group protocol under the other."""
    if not config.knows(_PROTOCOL):
        return
    modern = _modern(config)
    refused: tuple[str, ...]
    if config.since(4, 0):
        refused = (_STRATEGY, _HEARTBEAT, _SESSION, *_SHARE) if modern else (_REMOTE, *_SHARE)
    else:
        refused = (_REMOTE,) if config.since(3, 9) and not modern else ()
    for key in refused:
        given = config.text(key) if config.knows(key) else None
        if given is not None and not is_blank(given):
            name = "consumer" if modern else "classic"
            yield Reason("cross-key", (key, _PROTOCOL), f"{key} is refused with {_PROTOCOL}={name}")


def empty_group(config: Config) -> Iterator[Reason]:
    if config.get(_GROUP) == "" and (config.since(4, 0) or _modern(config)):
        yield Reason("format", (_GROUP,), f"{_GROUP} must not be empty or blank")


def heartbeat(config: Config) -> Iterator[Reason]:
    """The classic protocol's heartbeat clock is set up with the group."""
    if not _has_group(config) or _modern(config):
        return
    beat, session = config.get(_HEARTBEAT), config.get(_SESSION)
    if beat >= session:
        yield Reason("cross-key", (_HEARTBEAT, _SESSION), f"{_HEARTBEAT} must be below {_SESSION}, {session}")
    elif beat < 0 and config.since(2, 1):
        yield Reason("range", (_HEARTBEAT,), f"{_HEARTBEAT} must not be negative")


_NAMES = {
    "org.apache.kafka.clients.consumer.RangeAssignor": "range",
    "org.apache.kafka.clients.consumer.RoundRobinAssignor": "roundrobin",
    "org.apache.kafka.clients.consumer.StickyAssignor": "sticky",
    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor": "cooperative-sticky",
}


def assignors(config: Config) -> Iterator[Reason]:
    if _modern(config):
        return
    listed = config.get(_STRATEGY)
    broken = False
    for reason in clients.plugins(config, _STRATEGY, "ConsumerPartitionAssignor"):
        broken = True
        yield reason
    names = [_NAMES.get(name, name) for name in listed]
    if not broken and len(set(names)) != len(names) and config.since(3, 0):
        yield Reason("cross-key", (_STRATEGY,), f"{_STRATEGY} lists the same assignor twice")


def key_deserializer(config: Config) -> Iterator[Reason]:
    yield from clients.plugin(config, "key.deserializer", "Deserializer")


def value_deserializer(config: Config) -> Iterator[Reason]:
    yield from clients.plugin(config, "value.deserializer", "Deserializer")


def interceptors(config: Config) -> Iterator[Reason]:
    yield from clients.plugins(config, "interceptor.classes", "ConsumerInterceptor")


def commit_off(config: Config) -> Iterator[Rewrite]:
    if not config.has(_COMMIT) and not _has_group(config):
        yield Rewrite(_COMMIT, None, "false", (_GROUP,), f"without {_GROUP} nothing is committed")


def ignored_by_protocol(config: Config) -> Iterator[Rewrite]:
    """3.7 to 3.9 take the classic protocol's settings under the new one, and do not read them."""
    if config.knows(_PROTOCOL) and not config.since(4, 0) and _modern(config):
        for key in (_SESSION, _HEARTBEAT, _STRATEGY):
            if config.has(key):
                yield Rewrite(
                    key, config.text(key), None, (_PROTOCOL,), "the broker decides it under this protocol"
                )


# What ConsumerConfig itself checks; Streams stops here for its consumers.
CONFIG_CHECKS = (clients.config_providers, clients.sasl_mechanism, commit_without_group, protocol_conflicts)
CHECKS = (
    *CONFIG_CHECKS,
    instance_id,
    empty_group,
    heartbeat,
    assignors,
    key_deserializer,
    value_deserializer,
    interceptors,
    clients.metrics,
    clients.addresses,
    clients.secure_connection,
)
REWRITES = (commit_off, ignored_by_protocol, clients.backoff, clients.capped_backoff)
