"""The producer: idempotence, transactions, timeouts, and what building it checks."""

from __future__ import annotations

from collections.abc import Iterator

from ..results import Reason, Rewrite
from ..value.definition import Config
from ..value.numbers import INT
from . import clients

_ACKS, _IDEMPOTENCE, _RETRIES = "acks", "enable.idempotence", "retries"
_IN_FLIGHT, _TRANSACTION = "max.in.flight.requests.per.connection", "transactional.id"
_DELIVERY, _LINGER, _REQUEST = "delivery.timeout.ms", "linger.ms", "request.timeout.ms"
_COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
_IN_FLIGHT_MAX = 5


def _acks_all(config: Config) -> bool:
    return str(config.get(_ACKS)).lower() in ("all", "-1")


def idempotence(config: Config) -> Iterator[Reason]:
    """Settings that idempotence, asked for by name, does not go with."""
    if config.since(3, 0):
        # Unset, idempotence gives way instead (`idempotence_off`), but from 4.0 not to requests in flight.
        if not config.get(_IDEMPOTENCE):
            return
        asked = config.has(_IDEMPOTENCE)
    else:
        asked = config.get(_IDEMPOTENCE) or (config.has(_TRANSACTION) and not config.has(_IDEMPOTENCE))
        if not asked:
            return
    # In 2.0 retries was 0 by default, which idempotence raised.
    if asked and config.has(_RETRIES) and config.get(_RETRIES) == 0:
        yield Reason("cross-key", (_RETRIES, _IDEMPOTENCE), "idempotence needs retries above 0")
    if asked and (config.since(3, 0) or config.has(_ACKS)) and not _acks_all(config):
        yield Reason("cross-key", (_ACKS, _IDEMPOTENCE), "idempotence needs acks=all")
    if (asked or config.since(4, 0)) and config.get(_IN_FLIGHT) > _IN_FLIGHT_MAX:
        detail = f"idempotence needs {_IN_FLIGHT} of at most {_IN_FLIGHT_MAX}"
        yield Reason("cross-key", (_IN_FLIGHT, _IDEMPOTENCE), detail)


def _gives_way(config: Config) -> tuple[str, ...]:
    """The keys for which idempotence, on by default from 3.0, is silently switched off."""
    if not config.since(3, 0) or config.has(_IDEMPOTENCE):
        return ()
    causes = []
    if config.get(_RETRIES) == 0:
        causes.append(_RETRIES)
    if not _acks_all(config):
        causes.append(_ACKS)
    if not config.since(4, 0) and config.get(_IN_FLIGHT) > _IN_FLIGHT_MAX:
        causes.append(_IN_FLIGHT)
    return tuple(causes)


def transactions(config: Config) -> Iterator[Reason]:
    if not config.has(_TRANSACTION):
        return
    config.get(_TRANSACTION)
    if config.since(3, 0):
        causes = _gives_way(config)
        if causes or not config.get(_IDEMPOTENCE):
            yield Reason(
                "cross-key",
                (_TRANSACTION, *(causes or (_IDEMPOTENCE,))),
                "transactional.id needs idempotence, which these settings switch off",
            )
    elif config.has(_IDEMPOTENCE) and not config.get(_IDEMPOTENCE):
        yield Reason(
            "cross-key", (_TRANSACTION, _IDEMPOTENCE), "transactional.id needs enable.idempotence=true"
        )


def two_phase_commit(config: Config) -> Iterator[Reason]:
    key = "transaction.two.phase.commit.enable"
    if config.knows(key) and config.get(key) and config.has("transaction.timeout.ms"):
        yield Reason(
            "cross-key", ("transaction.timeout.ms", key), f"transaction.timeout.ms is refused with {key}=true"
        )


def delivery_timeout(config: Config) -> Iterator[Reason]:
    if config.has(_DELIVERY) and config.knows(_DELIVERY):
        needed = _least_delivery(config)
        if config.get(_DELIVERY) < needed:
            yield Reason(
                "cross-key",
                (_DELIVERY, _LINGER, _REQUEST),
                f"{_DELIVERY} must be at least {_LINGER} + {_REQUEST} = {needed}",
            )


def _least_delivery(config: Config) -> int:
    return int(min(min(config.get(_LINGER), INT[1]) + config.get(_REQUEST), INT[1]))


def compression(config: Config) -> Iterator[Reason]:
    if config.get("compression.type") not in _COMPRESSIONS:
        yield Reason(
            "enum", ("compression.type",), f"compression.type must be one of {', '.join(_COMPRESSIONS)}"
        )


def serializers(config: Config) -> Iterator[Reason]:
    yield from clients.plugin(config, "key.serializer", "Serializer")


def value_serializer(config: Config) -> Iterator[Reason]:
    yield from clients.plugin(config, "value.serializer", "Serializer")


def partitioner(config: Config) -> Iterator[Reason]:
    yield from clients.plugin(config, "partitioner.class", "Partitioner")


def interceptors(config: Config) -> Iterator[Reason]:
    yield from clients.plugins(config, "interceptor.classes", "ProducerInterceptor")


def idempotence_off(config: Config) -> Iterator[Rewrite]:
    causes = _gives_way(config)
    if causes:
        yield Rewrite(
            _IDEMPOTENCE,
            None,
            "false",
            causes,
            "idempotence, on by default, is switched off without an error: retries can store a record twice",
        )


def idempotence_on(config: Config) -> Iterator[Rewrite]:
    if not config.since(3, 0):
        if config.has(_TRANSACTION) and not config.has(_IDEMPOTENCE):
            yield Rewrite(
                _IDEMPOTENCE, None, "true", (_TRANSACTION,), "transactional.id switches idempotence on"
            )
        elif not (config.has(_IDEMPOTENCE) and config.get(_IDEMPOTENCE)):
            return
        if not config.has(_ACKS):
            asked_by = _IDEMPOTENCE if config.has(_IDEMPOTENCE) else _TRANSACTION
            yield Rewrite(
                _ACKS, None, "all", (asked_by,), "idempotence raises acks from its default 1 to all"
            )


def delivery_raised(config: Config) -> Iterator[Rewrite]:
    if config.knows(_DELIVERY) and not config.has(_DELIVERY):
        needed = _least_delivery(config)
        if config.get(_DELIVERY) < needed:
            yield Rewrite(
                _DELIVERY,
                None,
                str(needed),
                (_LINGER, _REQUEST),
                f"the default is raised to {_LINGER} + {_REQUEST}",
            )


def batching_off(config: Config) -> Iterator[Rewrite]:
    if config.has("batch.size") and config.get("batch.size") == 0:
        yield Rewrite("batch.size", "0", "1", (), "0 is taken as 1: every record is a batch of its own")


def keys_ignored(config: Config) -> Iterator[Rewrite]:
    """A partitioner of one's own switches the built-in one's settings off (3.3 on)."""
    if config.get("partitioner.class") is None:
        return
    for key in (
        "partitioner.ignore.keys",
        "partitioner.adaptive.partitioning.enable",
        "partitioner.availability.timeout.ms",
    ):
        given = config.text(key)
        if config.knows(key) and given is not None:
            yield Rewrite(key, given, None, ("partitioner.class",), "only the built-in partitioner reads it")


CHECKS = (
    clients.config_providers,
    idempotence,
    transactions,
    two_phase_commit,
    delivery_timeout,
    compression,
    serializers,
    value_serializer,
    partitioner,
    interceptors,
    clients.metrics,
    clients.addresses,
    clients.sasl_mechanism,
    clients.secure_connection,
)
REWRITES = (
    idempotence_off,
    idempotence_on,
    delivery_raised,
    batching_off,
    keys_ignored,
    clients.backoff,
    clients.capped_backoff,
)
