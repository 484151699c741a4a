"""The properties of librdkafka, the C client under the Python, Go, .NET, Node.js and PHP ones."""

from typing import Any

from ..tuples import NamedTuple
from .store import read


class RdKey(NamedTuple):
    """One property; `name` as asked, `alias_of` the property it writes to."""

    name: str
    alias_of: str | None
    scope: str  # C consumer, P producer, * both
    section: str  # global, topic
    type: str
    default: Any
    min: int | float | None
    max: int | float | None
    valid: tuple[str, ...] | None
    deprecated: bool
    unused: bool
    since: str
    importance: str

    @property
    def canonical(self) -> str:
        return self.alias_of or self.name


_found: dict[tuple[str, str | None], RdKey | None] = {}
_only: set[str] = set()
_aliases: dict[str, list[str]] = {}


def librdkafka(name: str, section: str | None = None) -> RdKey | None:
    """The property, the global one first where a topic one has the same name."""
    if (name, section) not in _found:
        rows = [row for row in read("librdkafka").get(name, ()) if section in (None, row[2])]
        _found[name, section] = _rdkey(name, rows[0]) if rows else None
    return _found[name, section]


def librdkafka_aliases(name: str) -> tuple[str, ...]:
    """Other names of a property, Java's among them: compression.type of compression.codec."""
    if not _aliases:
        for alias, rows in read("librdkafka").items():
            if rows[0][0]:
                _aliases.setdefault(rows[0][0], []).append(alias)
    return tuple(_aliases.get(name, ()))


def librdkafka_names() -> tuple[str, ...]:
    return tuple(read("librdkafka"))


def librdkafka_only(key: str) -> bool:
    """True for a key that librdkafka knows and no Java client of any release does."""
    if not _only:
        _only.update(read("names")["librdkafka_only"])
    return key in _only


def _rdkey(name: str, row: list[Any]) -> RdKey:
    alias, scope, section, kind, default, low, high, valid, flags, since, importance = row
    return RdKey(
        name,
        alias,
        scope,
        section,
        kind,
        default,
        low,
        high,
        tuple(valid) if valid else None,
        bool(flags & 1),
        bool(flags & 2),
        since,
        importance,
    )
