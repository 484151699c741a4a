"""Kafka Streams: its own settings, and those of the clients it makes from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from advisor.catalog import keys

from ..results import Reason, Rewrite
from ..value import numbers as values
from ..value.definition import Config, Skip, definition_reasons
from . import admin, clients, consumer, producer

_GUARANTEE, _COMMIT, _IN_FLIGHT = (
    "processing.guarantee",
    "commit.interval.ms",
    "max.in.flight.requests.per.connection",
)
_TRANSACTION_TIMEOUT = "producer.transaction.timeout.ms"
_TAGS, _TAG_PREFIX = "rack.aware.assignment.tags", "client.tag."
_TAGS_MAX, _TAG_KEY_MAX, _TAG_VALUE_MAX = 5, 20, 30
_MAIN = "main.consumer."
_IN_FLIGHT_MAX = 5
_EOS_COMMIT_MS, _EOS_TIMEOUT_MS = 100, 10_000

# What Streams sets on its clients unless the user does, and what it does not let the user set.
_PRODUCER = {"linger.ms": "100"}
_PRODUCER_EOS = {
    "enable.idempotence": "true",
    "delivery.timeout.ms": "2147483647",
    "transaction.timeout.ms": "10000",
}
_CONSUMER = {"auto.offset.reset": "earliest", "enable.auto.commit": "false", "max.poll.records": "1000"}


def _exactly_once(config: Config) -> bool:
    return str(config.get(_GUARANTEE)).startswith("exactly_once")


def _for_client(config: Config, client: str, *prefixes: str) -> dict[str, Any]:
    """Keys of that client's own name, then those behind its prefix, which win."""
    known = keys(client, config.version)
    found = {key: value for key, value in config.raw.items() if key in known}
    for prefix in prefixes:
        found.update(
            (key[len(prefix) :], value) for key, value in config.raw.items() if key.startswith(prefix)
        )
    return found


def _judge(config: Config, client: str, raw: dict[str, Any], checks: Any, prefix: str) -> Iterator[Reason]:
    inner = Config(client, config.version, raw)
    reasons = [reason for reason in definition_reasons(inner) if reason.kind != "required"]
    for check in checks:
        try:
            reasons.extend(check(inner))
        except Skip:
            continue
    for reason in reasons:
        named = tuple(prefix + key if prefix + key in config.raw else key for key in reason.keys)
        # What is written for all of Streams is wrong as it stands, whichever client finds it out first.
        plain = bool(named) and named[0] in config.raw and not named[0].startswith(prefix)
        detail = reason.detail if plain else f"{reason.detail} (the {client} inside Streams)"
        yield reason._replace(keys=named, detail=detail)


def embedded_producer(config: Config) -> Iterator[Reason]:
    given = _for_client(config, "producer", "producer.")
    raw: dict[str, Any] = dict(_PRODUCER)
    if _exactly_once(config):
        raw.update(_PRODUCER_EOS)
        for key in ("enable.idempotence", "transactional.id"):
            given.pop(key, None)
    raw.update(given)
    raw["bootstrap.servers"] = config.raw.get("bootstrap.servers", "")
    raw["client.id"] = "x"
    skipped = (producer.serializers, producer.value_serializer)
    checks = [check for check in producer.CHECKS if check not in skipped]
    for key in ("key.serializer", "value.serializer"):
        raw.pop(key, None)
    yield from _judge(config, "producer", raw, checks, "producer.")


def embedded_admin(config: Config) -> Iterator[Reason]:
    raw = _for_client(config, "admin", "admin.")
    raw["bootstrap.servers"] = config.raw.get("bootstrap.servers", "")
    yield from _judge(config, "admin", raw, admin.CHECKS, "admin.")


def embedded_consumer(config: Config) -> Iterator[Reason]:
    given = _for_client(config, "consumer", "consumer.")
    main = {key[len(_MAIN) :]: value for key, value in config.raw.items() if key.startswith(_MAIN)}
    # Streams takes these out of the user's hands; before 4.0 the main consumer's prefix slipped through.
    fixed = ["enable.auto.commit"]
    if config.since(4, 0):
        fixed += ["group.protocol", "allow.auto.create.topics"]
    for key in fixed:
        given.pop(key, None)
        if config.since(4, 0):
            main.pop(key, None)
    if _exactly_once(config):
        given.pop("isolation.level", None)
    given.update(main)
    raw: dict[str, Any] = {**_CONSUMER, **given}
    raw.update(
        {"bootstrap.servers": config.raw.get("bootstrap.servers", ""), "group.id": "x", "client.id": "x"}
    )
    raw.pop("partition.assignment.strategy", None)
    if "group.instance.id" in raw and isinstance(raw["group.instance.id"], str):
        raw["group.instance.id"] += "-0"  # each thread gets a member id of its own
    for key in ("key.deserializer", "value.deserializer"):
        raw.pop(key, None)
    yield from _judge(config, "consumer", raw, consumer.CONFIG_CHECKS, "consumer.")


def in_flight(config: Config) -> Iterator[Reason]:
    if not _exactly_once(config):
        return
    key = "producer." + _IN_FLIGHT if config.has("producer." + _IN_FLIGHT) else _IN_FLIGHT
    given = config.text(key)
    if given is not None:
        number = values.integer(values.trim(given), values.INT)
        if number is None or number > _IN_FLIGHT_MAX:
            yield Reason(
                "cross-key", (key, _GUARANTEE), f"exactly-once needs {_IN_FLIGHT} of at most {_IN_FLIGHT_MAX}"
            )


def transaction_timeout(config: Config) -> Iterator[Reason]:
    if not config.since(3, 0) or not _exactly_once(config):
        return
    interval = config.get(_COMMIT) if config.has(_COMMIT) else _EOS_COMMIT_MS
    given = config.text(_TRANSACTION_TIMEOUT)
    timeout = _EOS_TIMEOUT_MS if given is None else values.integer(values.trim(given), values.INT)
    if timeout is None:
        yield Reason("type", (_TRANSACTION_TIMEOUT,), f"{_TRANSACTION_TIMEOUT}: expected a 32-bit integer")
    elif timeout < interval:
        yield Reason(
            "cross-key",
            (_COMMIT, _TRANSACTION_TIMEOUT),
            f"{_COMMIT} must not be above the transaction timeout, {timeout}: each would expire",
        )


def segment_fits_batch(config: Config) -> Iterator[Reason]:
    segment = config.text("topic.segment.bytes")
    key = "producer.batch.size" if config.has("producer.batch.size") else "batch.size"
    batch = config.text(key)
    if segment is None or batch is None:
        return
    sizes = [values.integer(text, values.INT) for text in (segment, batch)]
    if sizes[0] is None or sizes[1] is None or sizes[0] < sizes[1]:
        yield Reason(
            "cross-key",
            ("topic.segment.bytes", key),
            "topic.segment.bytes must hold the producer's batch.size",
        )


def rack_tags(config: Config) -> Iterator[Reason]:
    if not config.knows(_TAGS):
        return
    tags = {
        key[len(_TAG_PREFIX) :]: value
        for key, value in config.raw.items()
        if key.startswith(_TAG_PREFIX) and key != _TAG_PREFIX
    }
    if len(tags) > _TAGS_MAX:
        yield Reason("range", (_TAG_PREFIX,), f"at most {_TAGS_MAX} client tags are taken")
    for tag in config.get(_TAGS):
        if tag not in tags:
            yield Reason("cross-key", (_TAGS,), f"{_TAGS}: {_TAG_PREFIX}{tag} is not set")
    for tag, value in tags.items():
        key = _TAG_PREFIX + tag
        if len(tag) > _TAG_KEY_MAX:
            yield Reason("format", (key,), f"a client tag's name has at most {_TAG_KEY_MAX} characters")
        text = value if isinstance(value, str) else "x"
        blank = config.since(4, 3) and (values.is_blank(text) or values.is_blank(tag))
        if blank or (isinstance(value, str) and len(value) > _TAG_VALUE_MAX):
            yield Reason("format", (key,), f"a client tag's value has from 1 to {_TAG_VALUE_MAX} characters")


def metrics_push(config: Config) -> Iterator[Reason]:
    """From 4.0 Streams reads these without parsing: any text fails, only a program can set them."""
    if not config.since(4, 0):
        return
    for prefix in ("main.consumer.", "consumer.", "admin."):
        key = prefix + "enable.metrics.push"
        if config.has(key):
            yield Reason(
                "type", (key,), f"{key} cannot be set in a file: Streams expects a value that is no text"
            )


def static_membership(config: Config) -> Iterator[Reason]:
    key = "group.protocol"
    if not config.knows(key) or str(config.get(key)).lower() != "streams":
        return
    for name in ("main.consumer.group.instance.id", "consumer.group.instance.id", "group.instance.id"):
        if config.has(name):
            yield Reason("cross-key", (name, key), f"{key}=streams knows no static members")
            return


CHECKS = (
    clients.config_providers,
    in_flight,
    transaction_timeout,
    segment_fits_batch,
    rack_tags,
    metrics_push,
    static_membership,
    embedded_producer,
    embedded_admin,
    embedded_consumer,
)


def guarantee_settings(config: Config) -> Iterator[Rewrite]:
    if not _exactly_once(config):
        return
    if not config.has(_COMMIT):
        yield Rewrite(
            _COMMIT, None, str(_EOS_COMMIT_MS), (_GUARANTEE,), "exactly-once commits more often by default"
        )
    for key in ("producer.enable.idempotence", "enable.idempotence"):
        if config.has(key):
            yield Rewrite(key, config.text(key), "true", (_GUARANTEE,), "exactly-once sets it")


def auto_commit_ignored(config: Config) -> Iterator[Rewrite]:
    for key in ("consumer.enable.auto.commit", "main.consumer.enable.auto.commit", "enable.auto.commit"):
        given = config.text(key)
        if given is not None and given != "false":
            yield Rewrite(key, given, "false", (), "Streams commits itself and never lets the consumer do it")


REWRITES = (guarantee_settings, auto_commit_ignored)
