"""Text to value, as Java and Kafka's configuration definition read it."""

from __future__ import annotations

from ...syntax.numbers import INT as INT
from ...syntax.numbers import LONG as LONG
from ...syntax.numbers import SHORT as SHORT
from ...syntax.numbers import integer as integer
from ...syntax.numbers import is_digits

# Java's String.trim drops everything up to the space; its regular expressions know these six as white space.
_TRIM = "".join(map(chr, range(33)))
_SPACE = " \t\n\x0b\f\r"


def trim(text: str) -> str:
    return text.strip(_TRIM)


def parse_double(text: str) -> float | None:
    """Double.parseDouble: decimal or hexadecimal, an f or d may follow, NaN and Infinity by name."""
    text = trim(text)
    sign = -1.0 if text[:1] == "-" else 1.0
    body = text[1:] if text[:1] in ("+", "-") else text
    if body == "NaN":
        return float("nan")
    if body == "Infinity":
        return sign * float("inf")
    if not body.isascii():
        return None
    if body[:2] in ("0x", "0X"):
        return _hexadecimal(body, sign)
    if body[-1:] in ("f", "F", "d", "D"):
        body = body[:-1]
    mantissa, _, exponent = body.replace("E", "e").partition("e")
    if "e" in body.lower() and not _is_exponent(exponent):
        return None
    whole, _, part = mantissa.partition(".")
    if not (whole or part) or not all(p == "" or is_digits(p) for p in (whole, part)):
        return None
    return sign * float(body)


def _is_exponent(text: str) -> bool:
    return is_digits(text[1:] if text[:1] in ("+", "-") else text)


def _hexadecimal(body: str, sign: float) -> float | None:
    digits, mark, exponent = body.replace("P", "p").partition("p")
    if exponent[-1:] in ("f", "F", "d", "D"):
        exponent = exponent[:-1]
    if not mark or not _is_exponent(exponent):
        return None
    try:
        return sign * float.fromhex(digits + "p" + exponent)
    except (ValueError, OverflowError):
        return None


def split_list(text: str) -> tuple[str, ...]:
    """A LIST value, already trimmed: commas with the white space around them; empty text is no item."""
    if not text:
        return ()
    return tuple(split_commas(text))


def split_commas(text: str) -> list[str]:
    parts = text.split(",")
    last = len(parts) - 1
    for i, part in enumerate(parts):
        if i:
            part = part.lstrip(_SPACE)
        parts[i] = part if i == last else part.rstrip(_SPACE)
    return parts


def split_dropping_tail(text: str) -> list[str]:
    """Java's split without a limit: empty parts at the end are dropped, those before are kept."""
    parts = split_commas(text)
    while len(parts) > 1 and parts[-1] == "":
        parts.pop()
    return [] if parts == [""] and text else parts


def csv_list(text: str) -> list[str]:
    """Kafka's own comma list (listeners before 4.2, directories): empty parts do not count."""
    return [part for part in split_commas(text) if part]


def csv_map(text: str) -> dict[str, str] | None:
    """`a:b,c:d`, cut at the last colon of each part; None where Kafka would trip over a part without one."""
    found: dict[str, str] = {}
    if text == "":
        return found
    for part in split_dropping_tail(text):
        name, colon, value = part.rpartition(":")
        if not colon:
            return None
        found[trim(name)] = trim(value)
    return found


def is_blank(text: str) -> bool:
    return trim(text) == ""


def parse_duration(text: str) -> float | None:
    """Duration.parse in seconds: PnDTnHnMn.nS, each part may have a sign, letters in either case."""
    body = text.upper()
    sign = -1.0 if body[:1] == "-" else 1.0
    body = body[1:] if body[:1] in ("+", "-") else body
    if body[:1] != "P":
        return None
    days, has_time, clock = body[1:].partition("T")
    total, seen = 0.0, False
    if days:
        value = _amount(days[:-1], False) if days[-1] == "D" else None
        if value is None:
            return None
        total, seen = value * 86400, True
    if has_time:
        if not clock:
            return None
        for unit, seconds in (("H", 3600), ("M", 60), ("S", 1)):
            amount, mark, rest = clock.partition(unit)
            if mark:
                value = _amount(amount, unit == "S")
                if value is None:
                    return None
                total, clock, seen = total + value * seconds, rest, True
        if clock:
            return None
    return sign * total if seen else None


def _amount(text: str, fraction: bool) -> float | None:
    """A part of a duration; Java holds each in a long, and up to nine digits of a second."""
    whole, _point, part = text.replace(",", ".").partition(".") if fraction else (text, "", "")
    value = integer(whole) if whole.isascii() else None
    if value is None or len(part) > 9 or (part and not is_digits(part)):
        return None
    rest = (integer(part.ljust(9, "0")) or 0) / 1e9
    return value - rest if whole.startswith("-") else value + rest
