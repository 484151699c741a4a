"""Text that may hold anything, made fit for a terminal, a file and a JSON parser.

Names and values come from files: a control character in one must not drive a terminal, and half of a
surrogate pair (a file name that is no UTF-8, `\\ud800` in a .properties file) is no text that a file can
hold.
"""

from __future__ import annotations

from typing import Any

# They change the order in which a terminal shows a line, and are no control characters to Unicode.
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def printable(text: str) -> str:
    """The text with each character that cannot be printed as its escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def printable_lines(data: bytes) -> bytes:
    """Lines of files with their bytes kept, but for what would drive a terminal: ends of lines, tabs, a byte
    order mark and letters of any encoding stay."""
    return b"\n".join(map(_printable_line, data.split(b"\n")))


def _printable_line(line: bytes) -> bytes:
    end = b"\r" if line.endswith(b"\r") else b""
    line = line[: len(line) - len(end)]
    try:
        text, encoding = line.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        text, encoding = line.decode("latin-1"), "latin-1"
    shown = "".join(c.encode("unicode_escape").decode() if _drives(c) else c for c in text)
    return shown.encode(encoding) + end


def _drives(c: str) -> bool:
    code = ord(c)
    return (code < 0x20 and c != "\t") or 0x7F <= code < 0xA0 or c in _BIDI


def json_text(value: Any, indent: int | None = 2, ascii_only: bool = False) -> str:
    """JSON that every parser takes: no NaN, no half of a surrogate pair, no raw control character."""
    import json

    try:
        text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), indent=indent, ensure_ascii=False)
    if text.isascii() and "\x7f" not in text:
        return text
    import re

    show = _in_ascii if ascii_only else _in_json
    return re.sub(r"[^\x20-\x7e\n]", lambda found: show(found[0]), text)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    # The only number that is not equal to itself is NaN; what is beyond all numbers is infinite.
    return None if isinstance(value, float) and not abs(value) < float("inf") else value


def _in_json(c: str) -> str:
    return c if c.isprintable() else _in_ascii(c)


def _in_ascii(c: str) -> str:
    code = ord(c)
    if 0xD800 <= code <= 0xDFFF:
        return f"\\\\u{code:04x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
