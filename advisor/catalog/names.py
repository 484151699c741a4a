"""Names as people write them: which exist, which are secret, which was meant."""

from __future__ import annotations

from collections.abc import Mapping

from .store import Key, keys, read
from .versions import Version

_known: set[str] = set()
_passwords: set[str] = set()
# No known name is longer, by far.
_LENGTH_MAX = 200
# All known names in one text, each between line ends.
_listed: list[str] = []


def known_anywhere(key: str) -> bool:
    """True if any component of any release, or librdkafka, has a key of this name."""
    return key in known_names()


def known_names() -> set[str]:
    """Every key of any component of any release, and of librdkafka."""
    if not _known:
        names = read("names")
        _known.update(names["kafka"], names["librdkafka"])
    return _known


def near_names(plain: str) -> list[str]:
    """The keys of any component that a dotted name is a near miss of. Of a name with few wrong letters some
    piece is right, and a key without any of the pieces is not looked at."""
    cutoff = _cutoff(plain)
    if len(plain) < 4 or len(plain) > 100:
        return []
    if not _listed:
        _listed.append("\n" + "\n".join(sorted(known_names())) + "\n")
    text, size = _listed[0], len(plain) // (cutoff + 1)
    found: set[str] = set()
    for start in range(0, size * (cutoff + 1), size):
        piece = plain[start : start + size]
        at = text.find(piece)
        while at >= 0:
            first, last = text.rindex("\n", 0, at) + 1, text.index("\n", at)
            if abs(last - first - len(plain)) <= cutoff:
                found.add(text[first:last])
            at = text.find(piece, last)
    return sorted(name for name in found if edit_distance(plain, name, cutoff) <= cutoff)


def is_password(key: str) -> bool:
    """True if any release types the key as a password, also behind a prefix such as `listener.name.x.`."""
    if not _passwords:
        _passwords.update(read("names")["passwords"])
    if len(key) > _LENGTH_MAX:
        key = key[-_LENGTH_MAX:].partition(".")[2]
    while key:
        if key in _passwords:
            return True
        key = key.partition(".")[2]
    return False


def suggest(component: str, key: str, version: str | Version) -> str | None:
    """The known key most likely meant by `key`, or None if nothing is near enough."""
    table = keys(component, version)
    if key in table:
        return None
    plain = dotted(key)
    if plain in table:
        return plain
    cutoff = _cutoff(plain)
    best: tuple[int, bool, str] | None = None
    for name, known in table.items():
        if known.internal or abs(len(name) - len(plain)) > cutoff:
            continue
        distance = edit_distance(plain, name, cutoff)
        if distance <= cutoff:
            mark = distance, known.deprecated, name
            if best is None or mark < best:
                best = mark
    return best[2] if best else _with_a_word_more_or_less(plain, table)


def _with_a_word_more_or_less(plain: str, table: Mapping[str, Key]) -> str | None:
    """`replica.lag.time.ms` is replica.lag.time.max.ms without a word. The first word and two others must be
    right, and only one key may fit."""
    words = plain.split(".")
    if len(words) < 3:
        return None
    found = []
    for name, known in table.items():
        few, many = sorted((words, name.split(".")), key=len)
        fits = len(many) - len(few) == 1 and few[0] == many[0] and len(few) >= 3 and not known.internal
        if fits and all(few.count(word) <= many.count(word) for word in few):
            found.append(name)
    return found[0] if len(found) == 1 else None


def _cutoff(plain: str) -> int:
    """A short name has few wrong letters before it is another word."""
    return 1 if len(plain) < 8 else 2 if len(plain) < 16 else 3


def dotted(key: str) -> str:
    """autoOffsetReset, AUTO_OFFSET_RESET and auto-offset-reset all become auto.offset.reset."""
    if not key.isupper():
        key = "".join(
            "." + letter if letter.isupper() and i and key[i - 1].islower() else letter
            for i, letter in enumerate(key)
        )
    return key.strip().replace("_", ".").replace("-", ".").replace(" ", ".").lower()


def edit_distance(one: str, other: str, cutoff: int) -> int:
    """Insertions, deletions, changes and swaps of neighbours between two words; cutoff + 1 when more."""
    if abs(len(one) - len(other)) > cutoff:
        return cutoff + 1
    before: list[int] = []
    last: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, last, row = last, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > cutoff:
            return cutoff + 1
    return row[-1] if row[-1] <= cutoff else cutoff + 1
