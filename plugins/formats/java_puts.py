"""Java code that fills a Properties object: `props.put(StreamsConfig.APPLICATION_ID_CONFIG, "orders");`.

Configuration templates are handed around in this form. Keys are texts or the constants of Kafka's config
classes, whose names are the keys in capitals; a value that is no literal is filled in elsewhere.
"""

from __future__ import annotations

import re

from advisor.api import Entry, known_anywhere, pattern

_PUT = pattern(r"^[ \t]*\w+\.(?:put|setProperty)\((.+?)\)[ \t]*;[ \t]*(?://.*)?$", re.MULTILINE)
_PREFIX_CALL = pattern(r"\w+\.(\w+?)Prefix\((.*)\)")
_PREFIX_CONSTANT = pattern(r"\w+\.(\w+)_PREFIX")
_CONSTANT = pattern(r"[A-Z][A-Z0-9_]*")
_TEXT = pattern(r'"((?:[^"\\]|\\.)*)"')
_NUMBER = pattern(r"-?[0-9][0-9_]*[lL]?|true|false")


def is_java(text: str) -> bool:
    return "new Properties()" in text and _PUT.search(text) is not None


def java_puts(text: str) -> list[Entry]:
    """What the code puts, in order; a key that cannot be told is left out."""
    entries = []
    for found in _PUT.finditer(text):
        parts = _arguments(found[1])
        key = _key(parts[0]) if len(parts) == 2 else None
        if key is not None:
            line = text.count("\n", 0, found.start()) + 1
            entries.append(Entry(key, _value(parts[1]), line))
    return entries


def _arguments(text: str) -> list[str]:
    """Split at the commas that are in no string and no bracket."""
    parts, depth, quoted, start = [], 0, False, 0
    for position, char in enumerate(text):
        if char == '"' and text[position - 1 : position] != "\\":
            quoted = not quoted
        elif not quoted and char in "([{":
            depth += 1
        elif not quoted and char in ")]}":
            depth -= 1
        elif not quoted and char == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()]


def _key(expression: str) -> str | None:
    literal = _TEXT.fullmatch(expression)
    if literal is not None:
        return literal[1]
    prefixed = _PREFIX_CALL.fullmatch(expression)
    if prefixed is not None:
        inner = _key(prefixed[2].strip())
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", ".", prefixed[1]).lower()
        return f"{words}.{inner}" if inner is not None else None
    if "+" in expression:
        pieces = [piece.strip() for piece in expression.split("+")]
        prefix = _PREFIX_CONSTANT.fullmatch(pieces[0])
        inner = _key(pieces[1]) if len(pieces) == 2 else None
        return f"{prefix[1].lower().replace('_', '.')}.{inner}" if prefix and inner else None
    name = expression.rpartition(".")[2]
    if not _CONSTANT.fullmatch(name):
        return None
    # Most constants end in _CONFIG behind the key's name; in a few it is a part of the name.
    spelt = [name, name.removesuffix("_CONFIG")]
    return next(
        (key for key in (one.lower().replace("_", ".") for one in spelt) if known_anywhere(key)), None
    )


def _value(expression: str) -> str:
    literal = _TEXT.fullmatch(expression)
    if literal is not None:
        return literal[1].replace('\\"', '"')
    if _NUMBER.fullmatch(expression):
        return expression.rstrip("lL").replace("_", "")
    return "${" + expression + "}"
