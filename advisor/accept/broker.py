"""A broker's or controller's settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from . import classes, clients, listeners, quorum, values
from .definition import Config, Skip, missing_class, parse_value
from .results import Reason, Rewrite
from .validators import protocol_version, rank

_HOUR, _MINUTE = 3_600_000, 60_000
_MIB = 1024 * 1024
_CODEC_ZSTD = 4
_SNAPSHOT_RECORDS_MAX = 500


def prepare(raw: Mapping[str, object], version: tuple[int, ...]) -> Mapping[str, object]:
    """From 3.1 node.id and broker.id stand for each other where one is missing."""
    if version[:2] < (3, 1) or ("broker.id" in raw) == ("node.id" in raw):
        return raw
    filled = dict(raw)
    if "node.id" in filled:
        filled["broker.id"] = filled["node.id"]
    else:
        filled["node.id"] = filled["broker.id"]
    return filled


def _scaled(config: Config, *sources: tuple[str, int]) -> int:
    """The first of the keys that is set, in the first one's unit."""
    for key, factor in sources:
        value = config.get(key)
        if value is not None:
            return int(value) * factor
    raise Skip


def log_times(config: Config) -> Iterator[Reason]:
    if _scaled(config, ("log.roll.ms", 1), ("log.roll.hours", _HOUR)) < 1:
        yield Reason(
            "range", ("log.roll.ms", "log.roll.hours"), "log.roll.ms, or log.roll.hours, must be at least 1"
        )
    if _scaled(config, ("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", _HOUR)) < 0:
        yield Reason("range", ("log.roll.jitter.ms",), "log.roll.jitter.ms must not be negative")


def retention(config: Config) -> Iterator[Reason]:
    if _retention(config) == 0:
        yield Reason(
            "range",
            ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
            "the retention time must be at least 1, or negative for no limit",
        )


def _retention(config: Config) -> int:
    millis = _scaled(
        config, ("log.retention.ms", 1), ("log.retention.minutes", _MINUTE), ("log.retention.hours", _HOUR)
    )
    return -1 if millis < 0 else millis


def log_directories(config: Config) -> Iterator[Reason]:
    given = config.get("log.dirs")
    held = config.get("log.dir") if given is None else given
    if not (values.csv_list(held) if isinstance(held, str) else held):
        yield Reason(
            "required", ("log.dirs", "log.dir"), "log.dirs or log.dir must name at least one directory"
        )


def cleaner(config: Config) -> Iterator[Reason]:
    size, threads = "log.cleaner.dedupe.buffer.size", "log.cleaner.threads"
    count = config.get(threads)
    if count == 0:
        yield Reason("range", (threads,), f"{threads} must be at least 1")
    elif config.get(size) // count <= _MIB:
        yield Reason("cross-key", (size, threads), f"{size} must be above 1 MiB for each of {threads}")


def fetch_waits(config: Config) -> Iterator[Reason]:
    wait = config.get("replica.fetch.wait.max.ms")
    for key in ("replica.socket.timeout.ms", "replica.lag.time.max.ms"):
        if wait > config.get(key) and (key != "replica.lag.time.max.ms" or config.since(2, 0)):
            yield Reason(
                "cross-key",
                (key, "replica.fetch.wait.max.ms"),
                f"{key} must not be below replica.fetch.wait.max.ms, {wait}",
            )


def offsets_acks(config: Config) -> Iterator[Reason]:
    key = "offsets.commit.required.acks"
    if config.knows(key):
        most = config.get("offsets.topic.replication.factor")
        if not -1 <= config.get(key) <= most:
            yield Reason(
                "cross-key", (key, "offsets.topic.replication.factor"), f"{key} must be from -1 to {most}"
            )


def codecs(config: Config) -> Iterator[Reason]:
    for key in ("offsets.topic.compression.codec", "share.coordinator.state.topic.compression.codec"):
        if config.knows(key) and not 0 <= config.get(key) <= _CODEC_ZSTD:
            yield Reason(
                "range", (key,), f"{key} is a number from 0 to {_CODEC_ZSTD}: none, gzip, snappy, lz4, zstd"
            )


def compression(config: Config) -> Iterator[Reason]:
    allowed = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
    if (
        config.table["compression.type"].valid is None
        and config.get("compression.type").lower() not in allowed
    ):
        yield Reason("enum", ("compression.type",), f"compression.type must be one of {', '.join(allowed)}")


def _record_format(version: str) -> int:
    return 0 if rank(version) < rank("0.10.0-IV0") else 1 if rank(version) < rank("0.11.0-IV0") else 2


def message_format(config: Config) -> Iterator[Reason]:
    protocol, message = "inter.broker.protocol.version", "log.message.format.version"
    if not config.knows(protocol) or not config.knows(message):
        return
    newest = "" if config.since(2, 1) else "2.0-IV1"  # 2.0 has no list of versions in its definition
    spoken, written = (protocol_version(config.get(key), newest) for key in (protocol, message))
    if spoken is None or written is None:
        key = protocol if spoken is None else message
        yield Reason("enum", (key,), f"{key}: this release knows no such version")
        return
    if config.since(3, 3) and listeners.roles(config):
        return  # KRaft mode takes its protocol version from the cluster
    if config.since(3, 0) and rank(spoken) >= rank("3.0-IV1"):
        return  # the message format is then no longer read
    if _record_format(written) > _record_format(spoken):
        yield Reason("cross-key", (message, protocol), f"{message} is newer than what {protocol} can carry")
    codec = "offsets.topic.compression.codec"
    if config.get(codec) == _CODEC_ZSTD and _record_format(spoken) < 2:
        yield Reason("cross-key", (codec, protocol), f"zstd needs {protocol} 2.1 or newer")


def sasl_between_brokers(config: Config) -> Iterator[Reason]:
    try:
        name, protocol = listeners.inter_broker(config)
    except listeners.Refused:
        raise Skip from None
    if not protocol.startswith("SASL"):
        return
    key, enabled = "sasl.mechanism.inter.broker.protocol", "sasl.enabled.mechanisms"
    prefix = f"listener.name.{name.lower()}."
    for other in config.raw:
        # Only now are the listener's own settings read, and all of them at once.
        known = config.table.get(other[len(prefix) :]) if other.startswith(prefix) else None
        text = config.text(other) if known is not None else None
        if known is not None and text is not None:
            problem = parse_value(known, text, config.version)[1]
            if problem is not None:
                yield Reason(
                    problem.kind, (other,), f"{other}: {problem.detail}", problem.needs, problem.near
                )
    given = config.text(prefix + enabled)
    mechanisms = config.get(enabled) if given is None else values.split_list(values.trim(given))
    if config.get(key) not in mechanisms:
        yield Reason("cross-key", (key, enabled), f"{key} must be among {enabled}")
    if config.knows("inter.broker.protocol.version"):
        spoken = protocol_version(config.get("inter.broker.protocol.version"))
        if spoken and rank(spoken) < rank("0.10.0-IV1") and config.get(key) != "GSSAPI":
            yield Reason(
                "cross-key",
                (key, "inter.broker.protocol.version"),
                f"{key} can only be GSSAPI at this version",
            )


def queued_bytes(config: Config) -> Iterator[Reason]:
    queued, request = config.get("queued.max.request.bytes"), config.get("socket.request.max.bytes")
    if 0 < queued < request:
        yield Reason(
            "cross-key",
            ("queued.max.request.bytes", "socket.request.max.bytes"),
            f"queued.max.request.bytes must not be below socket.request.max.bytes, {request}",
        )


def connections(config: Config) -> Iterator[Reason]:
    key = "max.connections.per.ip.overrides"
    overrides = values.csv_map(config.get(key))
    if overrides is None or any(values.integer(v, values.INT) is None for v in overrides.values()):
        yield Reason("format", (key,), f"{key} is a list of host:count pairs")
    elif not all(c.isascii() and (c.isalnum() or c in "-%._:") for name in overrides for c in name):
        yield Reason("format", (key,), f"{key} holds an address that is none")
    elif config.get("max.connections.per.ip") == 0 and not overrides:
        yield Reason(
            "cross-key", ("max.connections.per.ip", key), f"max.connections.per.ip can be 0 only with {key}"
        )


def idle_connections(config: Config) -> Iterator[Reason]:
    key, idle = "connection.failed.authentication.delay.ms", "connections.max.idle.ms"
    if config.knows(key) and 0 <= config.get(idle) <= config.get(key):
        yield Reason("cross-key", (key, idle), f"{key} must be below {idle}")


def principal_builder(config: Config) -> Iterator[Reason]:
    key = "principal.builder.class"
    name = config.get(key)
    if config.since(3, 0) and (name is None or not classes.is_a(name, "KafkaPrincipalSerde")):
        yield Reason(
            "class",
            (key,),
            f"{key}: {name} must also serialise principals (KafkaPrincipalSerde)",
            None if name is None or classes.exists(name, config.version) else "classpath",
        )


def authorizer(config: Config) -> Iterator[Reason]:
    """Before 3.3 the authorizer was made together with the configuration."""
    key = "authorizer.class.name"
    name = config.get(key)
    if name and not config.since(3, 3) and not classes.usable_as(name, "Authorizer", config.version):
        problem = missing_class(name)
        yield Reason("class", (key,), f"{key}: {problem.detail}", problem.needs, problem.near)


def remote_retention(config: Config) -> Iterator[Reason]:
    system = "remote.log.storage.system.enable"
    if not config.knows(system) or not config.since(3, 6) or not config.get(system):
        return
    total, local = config.get("log.retention.bytes"), config.get("log.local.retention.bytes")
    if total > -1 and local != -2 and (local == -1 or local > total):
        yield Reason(
            "cross-key",
            ("log.local.retention.bytes", "log.retention.bytes"),
            "log.local.retention.bytes must lie within log.retention.bytes",
        )
    time, near = _retention(config), config.get("log.local.retention.ms")
    if time != -1 and near != -2 and (near == -1 or near > time):
        yield Reason(
            "cross-key",
            ("log.local.retention.ms", "log.retention.ms"),
            "log.local.retention.ms must lie within log.retention.ms",
        )


def compaction_lag(config: Config) -> Iterator[Reason]:
    low, high = "log.cleaner.min.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms"
    if config.knows(high) and config.get(low) > config.get(high):
        yield Reason("cross-key", (low, high), f"{low} must not be above {high}")


def early_listeners(config: Config) -> Iterator[Reason]:
    key = "early.start.listeners"
    if not config.knows(key):
        return
    given = config.get(key)
    if given is None:
        return
    try:
        own = {endpoint.name for endpoint in listeners.listening(config)}
    except listeners.Refused:
        raise Skip from None
    for name in values.csv_list(given) if isinstance(given, str) else given:
        if name not in own:
            yield Reason("cross-key", (key, "listeners"), f"{key}: {name} is not among the listeners")


def cordoned(config: Config) -> Iterator[Reason]:
    key = "cordoned.log.dirs"
    if not config.knows(key) or "broker" not in listeners.roles(config):
        return
    closed = config.get(key)
    held = config.get("log.dirs") or config.get("log.dir")
    if "*" in closed:
        if len(closed) > 1:
            yield Reason("cross-key", (key,), f"{key}: * stands alone")
    elif not set(closed) <= set(held):
        yield Reason("cross-key", (key, "log.dirs"), f"{key} may name only directories of log.dirs")


# (smaller or equal, larger): from the release given on.
_ORDERED = (
    ((3, 5), "group.consumer.min.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms"),
    ((3, 5), "group.consumer.min.heartbeat.interval.ms", "group.consumer.heartbeat.interval.ms"),
    ((3, 5), "group.consumer.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms"),
    ((3, 5), "group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms"),
    ((3, 5), "group.consumer.min.session.timeout.ms", "group.consumer.session.timeout.ms"),
    ((3, 5), "group.consumer.session.timeout.ms", "group.consumer.max.session.timeout.ms"),
    ((3, 9), "group.share.min.heartbeat.interval.ms", "group.share.max.heartbeat.interval.ms"),
    ((3, 9), "group.share.min.heartbeat.interval.ms", "group.share.heartbeat.interval.ms"),
    ((3, 9), "group.share.heartbeat.interval.ms", "group.share.max.heartbeat.interval.ms"),
    ((3, 9), "group.share.min.session.timeout.ms", "group.share.max.session.timeout.ms"),
    ((3, 9), "group.share.min.session.timeout.ms", "group.share.session.timeout.ms"),
    ((3, 9), "group.share.session.timeout.ms", "group.share.max.session.timeout.ms"),
    ((3, 9), "group.share.min.record.lock.duration.ms", "group.share.record.lock.duration.ms"),
    ((3, 9), "group.share.record.lock.duration.ms", "group.share.max.record.lock.duration.ms"),
    ((4, 0), "group.streams.min.heartbeat.interval.ms", "group.streams.max.heartbeat.interval.ms"),
    ((4, 0), "group.streams.min.heartbeat.interval.ms", "group.streams.heartbeat.interval.ms"),
    ((4, 0), "group.streams.heartbeat.interval.ms", "group.streams.max.heartbeat.interval.ms"),
    ((4, 0), "group.streams.min.session.timeout.ms", "group.streams.max.session.timeout.ms"),
    ((4, 0), "group.streams.min.session.timeout.ms", "group.streams.session.timeout.ms"),
    ((4, 0), "group.streams.session.timeout.ms", "group.streams.max.session.timeout.ms"),
    ((4, 0), "group.streams.num.standby.replicas", "group.streams.max.standby.replicas"),
    ((4, 0), "group.share.delivery.count.limit", "group.share.max.delivery.count.limit"),
    ((4, 0), "group.share.min.delivery.count.limit", "group.share.delivery.count.limit"),
    ((4, 0), "group.share.partition.max.record.locks", "group.share.max.partition.max.record.locks"),
    ((4, 0), "group.share.min.partition.max.record.locks", "group.share.partition.max.record.locks"),
    ((4, 0), "group.share.max.size", "group.share.max.share.sessions"),
    *(
        ((4, 0), f"group.{kind}.{low}assignment.interval.ms", f"group.{kind}.{high}assignment.interval.ms")
        for kind in ("consumer", "share", "streams")
        for low, high in (("min.", "max."), ("min.", ""), ("", "max."))
    ),
)
_BEAT_BELOW_SESSION = ("consumer", "share", "streams")


def group_bounds(config: Config) -> Iterator[Reason]:
    if not any(key.startswith("group.") for key in config.raw):
        return
    for since, low, high in _ORDERED:
        if config.minor < since or not config.knows(low) or not config.knows(high):
            continue
        # With neither key given the defaults are in order.
        if not (config.has(low) or config.has(high)):
            continue
        try:
            if config.get(low) > config.get(high):
                first, second = (low, high) if config.has(low) else (high, low)
                yield Reason("cross-key", (first, second), f"{low} must not be above {high}")
        except Skip:
            continue
    if config.since(4, 0):
        for kind in _BEAT_BELOW_SESSION:
            beat, session = f"group.{kind}.heartbeat.interval.ms", f"group.{kind}.session.timeout.ms"
            if not config.knows(beat) or not (config.has(beat) or config.has(session)):
                continue
            try:
                if config.get(beat) >= config.get(session):
                    yield Reason("cross-key", (beat, session), f"{beat} must be below {session}")
            except Skip:
                continue


def share_snapshots(config: Config) -> Iterator[Reason]:
    key = "share.coordinator.snapshot.update.records.per.snapshot"
    if config.knows(key) and not 0 <= config.get(key) <= _SNAPSHOT_RECORDS_MAX:
        yield Reason("range", (key,), f"{key} must be from 0 to {_SNAPSHOT_RECORDS_MAX}")


def rebalance_protocols(config: Config) -> Iterator[Reason]:
    key = "group.coordinator.rebalance.protocols"
    if not config.knows(key):
        return
    listed = [name.lower() for name in config.get(key)]
    if "classic" not in listed:
        yield Reason("cross-key", (key,), f"{key} must keep classic")
    elif "consumer" in listed and not config.since(4, 0) and not listeners.roles(config):
        yield Reason("cross-key", (key, "process.roles"), f"{key}: consumer needs KRaft mode")


_ASSIGNORS = (
    ("group.consumer.assignors", "ConsumerGroupPartitionAssignor", ("uniform", "range")),
    ("group.share.assignors", "ShareGroupPartitionAssignor", ("simple",)),
)


def group_assignors(config: Config) -> Iterator[Reason]:
    """Assignors of the brokers go by class, from 4.0 also by short name."""
    for key, kind, short in _ASSIGNORS:
        # Before 3.9 their interface had another name, of which no table is kept.
        if not config.has(key) or not config.knows(key) or not config.since(3, 9):
            continue
        listed = config.get(key)
        for name in listed:
            if not (config.since(4, 0) and name in short):
                yield from clients.usable(config, key, name, kind)
        if key == "group.share.assignors" and config.since(4, 0) and len(listed) != 1:
            yield Reason("range", (key,), f"{key} takes exactly one")


def protocol_of_kraft(config: Config) -> Iterator[Reason]:
    key = "inter.broker.protocol.version"
    if config.knows(key) and config.since(3, 3) and listeners.roles(config) and config.has(key):
        spoken = protocol_version(config.get(key))
        if spoken is not None and rank(spoken) < rank("3.0-IV1"):
            yield Reason("cross-key", (key, "process.roles"), f"{key} below 3.0 cannot run in KRaft mode")


CHECKS = (
    clients.config_providers,
    *quorum.CHECKS,
    protocol_of_kraft,
    group_assignors,
    log_times,
    retention,
    log_directories,
    cleaner,
    fetch_waits,
    offsets_acks,
    codecs,
    compression,
    listeners.check,
    listeners.control_plane,
    message_format,
    sasl_between_brokers,
    queued_bytes,
    connections,
    idle_connections,
    principal_builder,
    authorizer,
    remote_retention,
    compaction_lag,
    early_listeners,
    cordoned,
    group_bounds,
    share_snapshots,
    rebalance_protocols,
)


def precedence(config: Config) -> Iterator[Rewrite]:
    """Of several units for one thing the finest wins; the others are not read."""
    for family in (
        ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
        ("log.roll.ms", "log.roll.hours"),
        ("log.roll.jitter.ms", "log.roll.jitter.hours"),
        ("log.dirs", "log.dir"),
    ):
        given = [key for key in family if config.has(key)]
        for loser in given[1:]:
            yield Rewrite(loser, config.text(loser), None, (given[0],), f"{given[0]} is set too and wins")


def unlimited_retention(config: Config) -> Iterator[Rewrite]:
    for key in ("log.retention.ms", "log.retention.minutes", "log.retention.hours"):
        if config.has(key):
            value = config.get(key)
            if value is not None and value < -1:
                yield Rewrite(key, config.text(key), "-1", (), "a negative time means no limit")
            return


def format_ignored(config: Config) -> Iterator[Rewrite]:
    key = "log.message.format.version"
    if config.knows(key) and config.has(key) and config.since(3, 0):
        spoken = protocol_version(config.get("inter.broker.protocol.version"))
        if spoken is not None and rank(spoken) >= rank("3.0-IV1"):
            yield Rewrite(
                key,
                config.text(key),
                None,
                ("inter.broker.protocol.version",),
                "from protocol version 3.0 on it is not read",
            )


REWRITES = (precedence, unlimited_retention, format_ignored)
