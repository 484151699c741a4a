"""Checks of a single value that are more than a range or a list of words; named as in the catalog."""

from __future__ import annotations

from typing import Any

from ...syntax.numbers import is_digits
from . import numbers as values
from .problem import Problem

# Every release's versions, oldest first; a release takes those up to its own.
_VERSIONS = (
    "0.8.0",
    "0.8.1",
    "0.8.2",
    "0.9.0",
    "0.10.0-IV0",
    "0.10.0-IV1",
    "0.10.1-IV0",
    "0.10.1-IV1",
    "0.10.1-IV2",
    "0.10.2-IV0",
    "0.11.0-IV0",
    "0.11.0-IV1",
    "0.11.0-IV2",
    "1.0-IV0",
    "1.1-IV0",
    "2.0-IV0",
    "2.0-IV1",
    "2.1-IV0",
    "2.1-IV1",
    "2.1-IV2",
    "2.2-IV0",
    "2.2-IV1",
    "2.3-IV0",
    "2.3-IV1",
    "2.4-IV0",
    "2.4-IV1",
    "2.5-IV0",
    "2.6-IV0",
    "2.7-IV0",
    "2.7-IV1",
    "2.7-IV2",
    "2.8-IV0",
    "2.8-IV1",
    "3.0-IV0",
    "3.0-IV1",
    "3.1-IV0",
    "3.2-IV0",
    "3.3-IV0",
    "3.3-IV1",
    "3.3-IV2",
    "3.3-IV3",
    "3.4-IV0",
    "3.5-IV0",
    "3.5-IV1",
    "3.5-IV2",
    "3.6-IV0",
    "3.6-IV1",
    "3.6-IV2",
    "3.7-IV0",
    "3.7-IV1",
    "3.7-IV2",
    "3.7-IV3",
    "3.7-IV4",
    "3.8-IV0",
    "3.9-IV0",
    "4.0-IV0",
    "4.0-IV1",
    "4.0-IV2",
    "4.0-IV3",
)

_HMACS = (
    "hmacmd5",
    "hmacsha1",
    "hmacsha224",
    "hmacsha256",
    "hmacsha384",
    "hmacsha512",
    "hmacsha512/224",
    "hmacsha512/256",
    "hmacsha3-224",
    "hmacsha3-256",
    "hmacsha3-384",
    "hmacsha3-512",
)
_KEY_GENERATORS = frozenset(
    [
        "aes",
        "arcfour",
        "blowfish",
        "chacha20",
        "des",
        "desede",
        "tripledes",
        "rc2",
        "rc4",
        *_HMACS,
        "suntlsprf",
        "suntls12prf",
        "suntlsmastersecret",
        "suntlskeymaterial",
        "suntlsrsapremastersecret",
    ]
)
_MACS = frozenset(
    [
        *_HMACS,
        "sslmacmd5",
        "sslmacsha1",
        "hmacpbesha1",
        "hmacpbesha224",
        "hmacpbesha256",
        "hmacpbesha384",
        "hmacpbesha512",
        "hmacpbesha512/224",
        "hmacpbesha512/256",
        "pbewithhmacsha1",
        "pbewithhmacsha224",
        "pbewithhmacsha256",
        "pbewithhmacsha384",
        "pbewithhmacsha512",
        "pbewithhmacsha512/224",
        "pbewithhmacsha512/256",
    ]
)


def run(name: str, value: Any) -> None:
    """Raise Problem if `value` does not pass the validator of this name."""
    name, _, argument = name.partition(":")
    check = _CHECKS.get(name)
    if check is not None:
        check(value, argument)


def protocol_version(text: str, newest: str = "") -> str | None:
    """The full name of a protocol version: 2.8, 2.8.1 and 2.8-IV1 are one; None if unknown.

    `newest` is the newest one a release takes. It may name a second after a slash, the newest that is
    finished: those between are known by their full names only.
    """
    newest, _, finished = newest.partition("/")
    known = _VERSIONS[: rank(newest) + 1] if newest in _VERSIONS else _VERSIONS
    parts = text.split(".")
    while len(parts) > 1 and parts[-1] == "":
        parts.pop()
    segments = 3 if text.startswith("0.") else 2
    wanted = ".".join(parts[:segments])
    # From 3.3 a text of too few parts is looked up as it stands, with its stray dot.
    if len(parts) <= segments and newest in _VERSIONS and rank(newest) >= rank("3.3-IV0"):
        wanted = text
    if wanted in known:
        return wanted
    short = known[: rank(finished) + 1] if finished else known
    matching = [version for version in short if version.partition("-")[0] == wanted]
    return matching[-1] if matching else None


def rank(version: str) -> int:
    return _VERSIONS.index(version)


def _api_version(value: Any, newest: str) -> None:
    if protocol_version(value, newest) is None:
        last = newest.rpartition("/")[2]
        raise Problem("enum", f"this release knows no such version; the newest it takes is {last}")


def _throttled(value: Any, _: str) -> None:
    if "".join(value) == "*":
        return
    for item in value:
        left, colon, right = values.trim(item).partition(":")
        if item and not (colon and _digits(left) and _digits(right)):
            raise Problem("format", "must be * or a list of partition:broker pairs such as 0:1,1:2")


def _digits(text: str) -> bool:
    return is_digits(text)


def _gzip_level(value: Any, _: str) -> None:
    if value != -1 and not 1 <= value <= 9:
        raise Problem("range", "must be from 1 to 9, or -1 for the default level")


def _offset_reset(value: Any, _: str) -> None:
    _reset(value, ("earliest", "latest", "none"))


def _offset_reset_no_none(value: Any, _: str) -> None:
    _reset(value, ("earliest", "latest"))


def _reset(value: str, words: tuple[str, ...]) -> None:
    if value in words:
        return
    if value.startswith("by_duration:"):
        seconds = values.parse_duration(value.partition(":")[2])
        if seconds is not None and seconds >= 0:
            return
        raise Problem(
            "format", "after by_duration: a duration that is not negative is expected, such as PT1H"
        )
    raise Problem("enum", f"must be one of {', '.join(words)}, or by_duration: with a duration such as PT1H")


def _ack_mode(value: Any, _: str) -> None:
    if value.lower() not in ("implicit", "explicit"):
        raise Problem("enum", "must be implicit or explicit")


def _acquire_mode(value: Any, _: str) -> None:
    if value.lower() not in ("batch_optimized", "record_limit"):
        raise Problem("enum", "must be batch_optimized or record_limit")


def _enum_any_case(value: Any, words: str) -> None:
    if value.lower() not in words.split(","):
        raise Problem("enum", f"must be one of {words.replace(',', ', ')}")


def _positive_or_default(value: Any, _: str) -> None:
    if value != -1 and value <= 0:
        raise Problem("range", "must be positive, or -1 for the broker's default")


def _pool_size(value: Any, _: str) -> None:
    if value < -1 or value == 0:
        raise Problem("range", "must be positive, or -1 to follow remote.log.manager.thread.pool.size")


def _urls(value: Any, _: str) -> None:
    if any(values.is_blank(item) for item in value):
        raise Problem("format", "has an empty item where a URL is expected")


def _key_generator(value: Any, _: str) -> None:
    if value.lower() not in _KEY_GENERATORS:
        raise Problem("security", "is no key generator algorithm of a plain JVM; HmacSHA256 is usual")


def _mac(value: Any, _: str) -> None:
    if value.lower() not in _MACS:
        raise Problem("security", "is no MAC algorithm of a plain JVM; HmacSHA256 is usual")


def _mac_list(value: Any, _: str) -> None:
    if not value:
        raise Problem("security", "at least one MAC algorithm is needed")
    for item in value:
        _mac(item, "")


_OPTIMIZATIONS = ("reuse.ktable.source.topics", "merge.repartition.topics", "single.store.self.join")


def _optimization(value: Any, _: str) -> None:
    items = values.split_dropping_tail(value)
    alone = any(item in ("all", "none") for item in items)
    if (alone and len(items) > 1) or any(item not in ("all", "none", *_OPTIMIZATIONS) for item in items):
        raise Problem("enum", f"must be all, none, or a list of {', '.join(_OPTIMIZATIONS)}")


def _http_headers(value: Any, _: str) -> None:
    for rule in _quoted_split(value):
        words = values.trim(rule).split(None, 1)
        if len(words) != 2:
            raise Problem("format", "each header rule has an action, a header name, a colon and a value")
        if words[0].lower() not in ("set", "add", "setdate", "adddate"):
            raise Problem("enum", "a header rule begins with set, add, setDate or addDate")
        pair = words[1].strip().split(":")
        while pair and pair[-1] == "":
            pair.pop()
        if len(pair) != 2 or not pair[0].strip() or any(c.isspace() for c in pair[0].strip()):
            raise Problem(
                "format", "a header rule ends with a header name without spaces, a colon and a value"
            )


def _quoted_split(text: str) -> list[str]:
    if values.is_blank(text):
        return []
    parts, current, quoted = [], "", False
    for letter in text:
        if letter == '"':
            quoted = not quoted
        elif letter == "," and not quoted:
            parts.append(current)
            current = ""
        else:
            current += letter
    return [*parts, current] if current.strip() else parts


_CHECKS = {
    "api-version": _api_version,
    "throttled-replicas": _throttled,
    "gzip-level": _gzip_level,
    "offset-reset": _offset_reset,
    "offset-reset-no-none": _offset_reset_no_none,
    "ack-mode": _ack_mode,
    "acquire-mode": _acquire_mode,
    "enum-any-case": _enum_any_case,
    "replication-factor": _positive_or_default,
    "partition-count": _positive_or_default,
    "pool-size": _pool_size,
    "urls": _urls,
    "key-generator": _key_generator,
    "mac": _mac,
    "mac-list": _mac_list,
    "topology-optimization": _optimization,
    "http-headers": _http_headers,
}
