"""Durations and sizes as people write them: what Spring Boot makes of them, and what was meant where
Kafka wants a bare number."""

from __future__ import annotations

import re
from fractions import Fraction

from .numbers import LONG

_NANOS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}
_BYTES = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}

_SIMPLE = re.compile(r"([+-]?[0-9]{1,18})([a-zA-Z]{0,2})")
_ISO = re.compile(
    r"([+-]?)P(?:([+-]?[0-9]{1,18})D)?"
    r"(T(?:([+-]?[0-9]{1,18})H)?(?:([+-]?[0-9]{1,18})M)?(?:([+-]?[0-9]{1,18})(?:[.,]([0-9]{0,9}))?S)?)?",
    re.IGNORECASE,
)


def spring_millis(text: str, unit: str = "ms") -> int | None:
    """A java.time.Duration property of Spring Boot in whole milliseconds; None if Boot refuses it.

    A number alone is in `unit`; `10s` and `PT10S` are the two spellings that Boot knows.
    """
    simple = _SIMPLE.fullmatch(text)
    if simple is not None:
        nanos = _NANOS.get(simple[2].lower() or unit)
        return None if nanos is None else _in_long(int(simple[1]) * nanos // 10**6)
    iso = _ISO.fullmatch(text)
    # `P` and a trailing `T` carry no number: Java refuses both.
    if iso is None or iso[3] in ("T", "t") or not (iso[2] or iso[3]):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in (iso[2], iso[4], iso[5], iso[6]))
    fraction = int((iso[7] or "").ljust(9, "0"))
    if (iso[6] or "").startswith("-"):
        fraction = -fraction
    nanos = (days * 86400 + hours * 3600 + minutes * 60 + seconds) * 10**9 + fraction
    return _in_long((-nanos if iso[1] == "-" else nanos) // 10**6)


def _in_long(amount: int) -> int | None:
    """Java multiplies with multiplyExact, so what no long holds is refused."""
    return amount if LONG[0] <= amount <= LONG[1] else None


def spring_bytes(text: str) -> int | None:
    """A DataSize property of Spring Boot in bytes; None if Boot refuses it.

    The unit is spelt in capitals, B to TB, and is a power of 1024; a number alone is in bytes.
    """
    size = _SIMPLE.fullmatch("".join(text.split()))
    unit = None if size is None else _BYTES.get(size[2] or "B")
    return None if size is None or unit is None else _in_long(int(size[1]) * unit)


# Every spelling people use. A month or a year is left out: nobody can say how long it is.
_SPELLINGS = {
    "ns": "ns nanos nanosecond nanoseconds",
    "us": "us micros microsecond microseconds",
    "ms": "ms msec msecs milli millis millisecond milliseconds",
    "s": "s sec secs second seconds",
    "m": "m min mins minute minutes",
    "h": "h hr hrs hour hours",
    "d": "d day days",
}
_TIME = {word: _NANOS[unit] for unit, words in _SPELLINGS.items() for word in words.split()}
_TIME["w"] = _TIME["week"] = _TIME["weeks"] = 7 * _NANOS["d"]
_SIZE = {
    word: 1024**power
    for power, words in enumerate(("b byte bytes", "k kb kib", "m mb mib", "g gb gib", "t tb tib"))
    for word in words.split()
}
# What a key counts in, by the end of its name: a table of units, and the size of one.
_COUNTS_IN = {
    "ms": (_TIME, _NANOS["ms"]),
    "millis": (_TIME, _NANOS["ms"]),
    "seconds": (_TIME, _NANOS["s"]),
    "minutes": (_TIME, _NANOS["m"]),
    "hours": (_TIME, _NANOS["h"]),
    "bytes": (_SIZE, 1),
}
# Keys that count in one of these without saying so.
_SILENT = {
    "batch.size": "bytes",
    "buffer.memory": "bytes",
    "max.request.size": "bytes",
    "log.cleaner.dedupe.buffer.size": "bytes",
    "log.cleaner.io.buffer.size": "bytes",
    "offsets.load.buffer.size": "bytes",
    "transaction.state.log.load.buffer.size": "bytes",
    "cache.max.bytes.buffering": "bytes",
}
_AMOUNT = re.compile(r"([+-]?[0-9][0-9_,]{0,20}(?:\.[0-9]{1,9})?)\s*([a-zA-Z]{1,12})?")


def meant(key: str, text: str) -> str | None:
    """The bare number that `text` was probably meant to be for `key`: `7d` for a key in .ms is 604800000.

    None if the text is a bare number already, if the key does not count time or bytes, or if the
    amount is no whole number of what the key counts.
    """
    counted = _COUNTS_IN.get(_SILENT.get(key) or re.split(r"[._-]", key)[-1])
    amount = _AMOUNT.fullmatch(text.strip())
    if counted is None or amount is None:
        return None
    units, one = counted
    digits = amount[1].replace("_", "").replace(",", "")
    unit = one if amount[2] is None else units.get(amount[2].lower())
    if unit is None:
        return None
    number = Fraction(digits) * unit / one
    if number.denominator != 1:
        return None
    found = str(number.numerator)
    return None if found == text.strip() else found
