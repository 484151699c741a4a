"""What may be written where the cursor is: keys of the component that the file configures, values of a key.

Properties files alone: there a line says by itself what it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..catalog import Key, Version, keys, librdkafka, librdkafka_names
from ..engine import Root
from ..explain.values import says
from ..join.effective import shown_default
from ..model import Document
from ..read.load import FileRecord
from ..tuples import NamedTuple
from .hover import version_of

_SEPARATORS = "=: \t"


class Offer(NamedTuple):
    """`text` in place of what stands from column `start` to the cursor."""

    text: str
    start: int
    detail: str
    says: str
    is_key: bool


def offers(root: Root, record: FileRecord, line: str, column: int) -> list[Offer]:
    """`line` as it is now, typed up to `column`."""
    typed = line[:column]
    word = typed.lstrip(" \t\f")
    start = len(typed) - len(word)
    if record.format != "properties" or word[:1] in ("#", "!"):
        return []
    key, value_at = _split(word)
    found: dict[str, Offer] = {}
    for document in record.documents:
        version = version_of(root, document)
        if value_at is None:
            made = _keys(document, version, start)
        else:
            made = _values(document, version, key, start + value_at)
        for offer in made:
            found.setdefault(offer.text, offer)
    return list(found.values())


def _split(word: str) -> tuple[str, int | None]:
    """The key, and where its value begins; None while the key is typed."""
    for place, sign in enumerate(word):
        if sign in _SEPARATORS:
            rest = word[place:].lstrip(" \t")
            rest = rest[1:] if rest[:1] in ("=", ":") else rest
            return word[:place], len(word) - len(rest.lstrip(" \t"))
    return word, None


def _keys(document: Document, version: Version, start: int) -> Iterator[Offer]:
    stated = {setting.key for setting in document.settings}
    if document.client == "librdkafka":
        for name in librdkafka_names():
            known = librdkafka(name)
            if known is not None and name not in stated and not known.deprecated:
                yield Offer(name, start, f"{known.type}, default {known.default}", says(name), True)
        return
    for name, key in keys(document.component, version).items():
        if name not in stated and not key.internal and not key.deprecated:
            yield Offer(name, start, _detail(key), says(name), True)


def _values(document: Document, version: Version, key: str, start: int) -> Iterator[Offer]:
    if document.client == "librdkafka":
        known = librdkafka(key)
        kind, valid = (known.type, known.valid) if known is not None else ("", None)
        default = "" if known is None else str(known.default)
    else:
        fact = keys(document.component, version).get(key)
        kind, valid = (fact.type, fact.valid or fact.valid_items) if fact is not None else ("", None)
        default = "" if fact is None or fact.default is None else shown_default(fact.default)
    for value in valid or (("true", "false") if kind == "boolean" else ()):
        yield Offer(value, start, "default" if value == default else "", "", False)


def _detail(key: Key) -> str:
    if key.required:
        return f"{key.type}, required"
    return f"{key.type}, default {shown_default(key.default)}" if key.default is not None else key.type
