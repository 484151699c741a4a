"""Clients on librdkafka: which property it takes, and what it checks when a client is made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from advisor.catalog import RdKey, is_password, librdkafka, librdkafka_names
from advisor.catalog.names import edit_distance

from .results import Accepted, Reason, Rejected, Rewrite, discreet_reason, discreet_rewrite, hidden
from .values import LONG

_TRUE = ("true", "t", "1")
_FALSE = ("false", "f", "0")
_BOTH, _PRODUCER, _CONSUMER = "*", "P", "C"
# Properties that a text cannot set: call-backs and pointers.
_BY_CODE = "see dedicated API"
_TEXTS = ("string", "pattern list")
_ASSIGNORS = {"range": "eager", "roundrobin": "eager", "cooperative-sticky": "cooperative"}
_PARTITIONERS = (
    "random",
    "consistent",
    "consistent_random",
    "murmur2",
    "murmur2_random",
    "fnv1a",
    "fnv1a_random",
)
_NEVER_EMPTY = ("sasl.mechanisms", "partitioner", "broker.version.fallback")
_FETCH_MIN_MAX = 100_000_000


class _Given:
    """The properties as given: parsed values by canonical name, and what could not be parsed."""

    def __init__(self, config: Mapping[str, object]) -> None:
        self.values: dict[str, Any] = {}
        self.written: dict[str, str] = {}  # canonical name -> name as written
        self.unknowable: set[str] = set()
        self.reasons: list[Reason] = []
        for name, raw in config.items():
            self._take(name, raw)

    def _take(self, name: str, raw: object) -> None:
        key = librdkafka(name)
        if key is None:
            self.reasons.append(Reason("unknown-key", (name,), _unknown(name)))
            return
        reveal = getattr(raw, "reveal", None)
        text = raw if isinstance(raw, str) else str(reveal()) if reveal is not None else None
        if text == "" and key.type in _TEXTS and key.canonical not in _NEVER_EMPTY:
            return  # an empty text unsets
        self.written[key.canonical] = name
        if text is None:
            self.unknowable.add(key.canonical)
            return
        try:
            self.values[key.canonical] = _parse(key, text)
        except ValueError as error:
            shown = "<secret>" if not isinstance(raw, str) or is_password(name) else repr(text[:80])
            self.unknowable.add(key.canonical)
            self.reasons.append(Reason(_kind(key), (name,), f"{name} = {shown}: {error}"))

    def has(self, name: str) -> bool:
        return name in self.values or name in self.unknowable

    def get(self, name: str) -> Any:
        """Given or default; raises KeyError where it cannot be known."""
        if name in self.unknowable:
            raise KeyError(name)
        if name in self.values:
            return self.values[name]
        key = librdkafka(name)
        return None if key is None else key.default

    def name(self, canonical: str) -> str:
        return self.written.get(canonical, canonical)


def judge(role: str, config: Mapping[str, object]) -> Accepted | Rejected:
    given = _Given(config)
    reasons = given.reasons
    for check in (
        _PRODUCER_CHECKS if role == "producer" else _CONSUMER_CHECKS if role == "consumer" else _COMMON
    ):
        try:
            reasons.extend(check(given))
        except KeyError:
            continue
    secrets = hidden(config)
    if reasons:
        return Rejected(tuple(dict.fromkeys(discreet_reason(reason, secrets) for reason in reasons)))
    return Accepted(tuple(discreet_rewrite(rewrite, secrets) for rewrite in _ignored(role, config)))


def _unknown(name: str) -> str:
    near = min(((edit_distance(name, known, 2), known) for known in librdkafka_names()), default=(3, ""))
    hint = f"; {near[1]} may be meant" if near[0] <= 2 else ""
    return f"librdkafka has no property {name} and refuses it{hint}"


def _kind(key: RdKey) -> str:
    if key.type in ("integer", "float"):
        return "range"
    return "enum" if key.valid else "format"


def _parse(key: RdKey, text: str) -> Any:
    if key.type == _BY_CODE:
        raise ValueError("can be set by the program only")
    if key.type == "boolean":
        return _boolean(text)
    if key.type in ("integer", "float"):
        return _number(key, text)
    if key.type == "enum value":
        for word in key.valid or ():
            if word.lower() == text.lower():
                return word
        raise ValueError(f"must be one of {', '.join(key.valid or ())}")
    if key.canonical == "sasl.mechanisms" and (text == "" or "," in text):
        raise ValueError("exactly one mechanism is taken")
    if key.canonical == "partitioner" and text not in _PARTITIONERS:
        raise ValueError(f"must be one of {', '.join(_PARTITIONERS)}")
    if key.canonical in _NEVER_EMPTY and text == "":
        raise ValueError("must not be empty")
    return text


def _boolean(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError("expected true or false")


def _number(key: RdKey, text: str) -> int | float:
    if key.canonical == "request.required.acks" and text.lower() == "all":
        return -1
    value = leading_number(text, key.type == "float")
    if value is None:
        raise ValueError("expected a number without unit")
    if (key.min is not None and value < key.min) or (key.max is not None and value > key.max):
        raise ValueError(f"must be from {key.min} to {key.max}")
    return value


_INTEGER = re.compile(r"[ \t\n\r\v\f]*([+-]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))")
_FLOAT = re.compile(
    r"[ \t\n\r\v\f]*([+-]?)(?:(0[xX][0-9a-fA-F]+)|((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))"
)


def leading_number(text: str, fraction: bool) -> int | float | None:
    """C's strtol and strtod: the number that the text begins with; what follows is dropped without a word. A
    number too large for them is the largest that they know."""
    match = (_FLOAT if fraction else _INTEGER).match(text)
    if match is None:
        return None
    sign = -1 if match.group(1) == "-" else 1
    if fraction:
        return sign * float(_magnitude(match.group(2), 16) if match.group(2) else match.group(3))
    for digits, base in zip(match.group(2, 3, 4), (16, 8, 10), strict=True):
        if digits:
            return max(LONG[0], min(LONG[1], sign * _magnitude(digits, base)))
    return None


def _magnitude(digits: str, base: int) -> int:
    """At most as many digits are read as decide whether it fits a long: int() refuses thousands of them."""
    significant = digits.lower().removeprefix("0x").lstrip("0")
    return LONG[1] + 1 if len(significant) > 22 else int(significant or "0", base)


def idempotence(given: _Given) -> Iterator[Reason]:
    if (
        given.get("transactional.id")
        and given.has("enable.idempotence")
        and not given.get("enable.idempotence")
    ):
        yield Reason(
            "cross-key", ("enable.idempotence", "transactional.id"), "transactional.id needs idempotence"
        )
        return
    if not (given.get("enable.idempotence") or given.get("transactional.id")):
        return
    flight = "max.in.flight.requests.per.connection"
    if given.has(flight) and given.get(flight) > 5:
        yield Reason(
            "cross-key", (given.name(flight), "enable.idempotence"), "idempotence needs at most 5 in flight"
        )
    retries = "message.send.max.retries"
    if given.has(retries) and given.get(retries) < 1:
        yield Reason(
            "cross-key",
            (given.name(retries), "enable.idempotence"),
            "idempotence needs retries of at least 1",
        )
    acks = "request.required.acks"
    if given.has(acks) and given.get(acks) != -1:
        yield Reason("cross-key", (given.name(acks), "enable.idempotence"), "idempotence needs acks=all")
    if given.has("queuing.strategy") and given.get("queuing.strategy") != "fifo":
        yield Reason(
            "cross-key", ("queuing.strategy", "enable.idempotence"), "idempotence needs queuing.strategy=fifo"
        )


def gapless(given: _Given) -> Iterator[Reason]:
    key = "enable.gapless.guarantee"
    if given.get(key) and not (given.get("enable.idempotence") or given.get("transactional.id")):
        yield Reason("cross-key", (key, "enable.idempotence"), f"{key} needs enable.idempotence=true")


def message_timeout(given: _Given) -> Iterator[Reason]:
    timeout, linger = "message.timeout.ms", "queue.buffering.max.ms"
    if given.has(linger) and given.has(timeout) and 0 < given.get(timeout) <= given.get(linger):
        yield Reason(
            "cross-key",
            (given.name(timeout), given.name(linger)),
            "message.timeout.ms must be above linger.ms",
        )


def transaction_timeout(given: _Given) -> Iterator[Reason]:
    timeout, transaction = "message.timeout.ms", "transaction.timeout.ms"
    if given.get("transactional.id") and given.has(timeout) and given.get(timeout) > given.get(transaction):
        yield Reason(
            "cross-key",
            (given.name(timeout), transaction),
            f"message.timeout.ms must not be above {transaction}",
        )


def poll_interval(given: _Given) -> Iterator[Reason]:
    poll, session = "max.poll.interval.ms", "session.timeout.ms"
    if str(given.get("group.protocol")).lower() == "consumer":
        return
    if given.get(poll) < given.get(session):
        yield Reason(
            "cross-key", (poll, session), f"{poll} must not be below {session}, {given.get(session)}"
        )


def fetch_sizes(given: _Given) -> Iterator[Reason]:
    fetch, largest, receive = "fetch.max.bytes", "message.max.bytes", "receive.message.max.bytes"
    if given.has(fetch) and given.get(fetch) < given.get(largest):
        yield Reason(
            "cross-key", (fetch, largest), f"{fetch} must not be below {largest}, {given.get(largest)}"
        )
    if given.has(receive):
        # An unset fetch.max.bytes is fitted to its neighbours first.
        needed = (
            given.get(fetch)
            if given.has(fetch)
            else max(min(given.get(fetch), 2**31 - 513), given.get(largest))
        )
        if given.get(receive) < needed + 512:
            yield Reason("cross-key", (receive, fetch), f"{receive} must be at least {fetch} + 512")


def group_protocol(given: _Given) -> Iterator[Reason]:
    if str(given.get("group.protocol")).lower() != "consumer":
        return
    for key in (
        "session.timeout.ms",
        "partition.assignment.strategy",
        "group.protocol.type",
        "heartbeat.interval.ms",
    ):
        if given.has(key):
            yield Reason(
                "cross-key", (key, "group.protocol"), f"{key} is refused with group.protocol=consumer"
            )


def group_needed(given: _Given) -> Iterator[Reason]:
    if not given.has("group.id"):
        yield Reason("required", ("group.id",), "a consumer that subscribes needs group.id")


def reconnect(given: _Given) -> Iterator[Reason]:
    first, most = "reconnect.backoff.ms", "reconnect.backoff.max.ms"
    if given.get(most) < given.get(first):
        yield Reason("cross-key", (most, first), f"{most} must not be below {first}, {given.get(first)}")


def sasl(given: _Given) -> Iterator[Reason]:
    if not str(given.get("security.protocol")).lower().startswith("sasl"):
        return
    mechanism = given.get("sasl.mechanisms")
    if mechanism == "PLAIN" or str(mechanism).startswith("SCRAM-SHA-"):
        for key in ("sasl.username", "sasl.password"):
            if not given.has(key):
                yield Reason("security", (key, given.name("sasl.mechanisms")), f"{mechanism} needs {key}")
    elif mechanism not in ("GSSAPI", "OAUTHBEARER"):
        yield Reason("enum", (given.name("sasl.mechanisms"),), "librdkafka knows no such SASL mechanism")


def assignors(given: _Given) -> Iterator[Reason]:
    """Checked for every client, also for those that never join a group."""
    key, kind = "partition.assignment.strategy", "group.protocol.type"
    listed = [name.strip() for name in str(given.get(key)).split(",") if name.strip()]
    unknown = [name for name in listed if name not in _ASSIGNORS]
    if unknown:
        yield Reason("enum", (key,), f"{key}: an assignor is one of {', '.join(_ASSIGNORS)}")
    elif len({_ASSIGNORS[name] for name in listed}) > 1:
        yield Reason("cross-key", (key,), f"{key}: eager and cooperative assignors cannot be mixed")
    elif given.has(kind) and given.get(kind) != "consumer":
        yield Reason("enum", (kind,), f"{kind} can only be consumer")


def fetch_least(given: _Given) -> Iterator[Reason]:
    if not 1 <= given.get("fetch.min.bytes") <= _FETCH_MIN_MAX:
        yield Reason("range", ("fetch.min.bytes",), f"fetch.min.bytes must be from 1 to {_FETCH_MIN_MAX}")


_COMMON = (reconnect, sasl, assignors)
_PRODUCER_CHECKS = (*_COMMON, idempotence, gapless, message_timeout, transaction_timeout)
_CONSUMER_CHECKS = (*_COMMON, poll_interval, fetch_least, fetch_sizes, group_protocol, group_needed)


def _ignored(role: str, config: Mapping[str, object]) -> Iterator[Rewrite]:
    """Properties of the other kind of client are taken with a warning and not read."""
    other = {"producer": _CONSUMER, "consumer": _PRODUCER}.get(role)
    for name, raw in config.items():
        key = librdkafka(name)
        if key is None:
            continue
        shown = raw if isinstance(raw, str) and not is_password(name) else None
        if key.scope == other and not _topic_twin(name, other):
            kind = "consumer" if other == _CONSUMER else "producer"
            yield Rewrite(name, shown, None, (), f"a {kind} property: librdkafka warns and does not read it")
        elif key.type in ("integer", "float") and isinstance(raw, str) and _tail(raw, key.type == "float"):
            read = leading_number(raw, key.type == "float")
            yield Rewrite(
                name, shown, str(read), (), "librdkafka reads the leading number and drops the rest"
            )
        elif key.unused:
            yield Rewrite(name, shown, None, (), "librdkafka no longer reads it")


def _tail(text: str, fraction: bool) -> str:
    match = (_FLOAT if fraction else _INTEGER).match(text)
    return text[match.end() :].strip() if match is not None else ""


def _topic_twin(name: str, other: str | None) -> bool:
    twin = librdkafka(name, "topic")
    return twin is not None and twin.scope != other
