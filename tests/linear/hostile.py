"""Texts that are the worst for a pattern, made of the pattern itself: what it repeats, repeated, behind every
beginning of a match, and ended so that it fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

PUMPS = (*"a0A{}$<>:@=#.,-_/|&*?[]()\\\"'\n\r\t ", "${", "{{", "a=", "a:", "k=v\n", "a.b", "{}", "é", "\\\n")
ENDS = ("", "!", "\n\x00")
BEGINNINGS_MAX = 10
ATOMS_MAX = 14

Grown = Callable[[int], str]


def texts(pattern: re.Pattern[Any]) -> Iterator[tuple[str, Grown]]:
    """A name for each family of texts, and the text of a size."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = _parser.parse(text, pattern.flags & ~re.UNICODE)
    sample = "".join(_sample(tree))
    step = max(1, -(-len(sample) // BEGINNINGS_MAX))
    beginnings = dict.fromkeys(["", *(sample[:end] for end in range(1, len(sample) + 1, step))])
    atoms = list(dict.fromkeys(_atoms(tree)))[:ATOMS_MAX]
    for pump in dict.fromkeys([*atoms, *PUMPS, *(begin for begin in beginnings if begin)]):
        for begin in beginnings if pump in atoms else ("",):
            for end in ENDS:
                yield f"{begin!r} + {pump!r} * n + {end!r}", _grown(begin, pump, end)


def _grown(begin: str, pump: str, end: str) -> Grown:
    return lambda size: begin + pump * (size // len(pump)) + end


def _sample(tree: Any) -> Iterator[str]:
    """A text that the pattern matches, or nearly: every repeat once, the first of alternatives."""
    for code, given in tree:
        if code is sre.LITERAL:
            yield chr(given)
        elif code is sre.NOT_LITERAL:
            yield "a" if given != ord("a") else "b"
        elif code is sre.ANY:
            yield "a"
        elif code is sre.IN:
            yield _member(given)
        elif code in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            low, high, inner = given
            yield from list(_sample(inner)) * max(low, min(1, high))
        elif code is sre.SUBPATTERN:
            yield from _sample(given[3])
        elif code is sre.ATOMIC_GROUP:
            yield from _sample(given)
        elif code is sre.BRANCH:
            yield from _sample(given[1][0])


def _atoms(tree: Any) -> Iterator[str]:
    """The letters that the pattern knows, and what it repeats."""
    for code, given in tree:
        if code in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            inner = "".join(_sample(given[2]))
            if inner:
                yield inner
            yield from _atoms(given[2])
        elif code is sre.SUBPATTERN:
            yield from _atoms(given[3])
        elif code is sre.ATOMIC_GROUP:
            yield from _atoms(given)
        elif code is sre.BRANCH:
            for one in given[1]:
                yield from _atoms(one)
        elif code in (sre.LITERAL, sre.IN, sre.ANY, sre.NOT_LITERAL):
            yield from _sample([(code, given)])


_CATEGORIES = {sre.CATEGORY_DIGIT: "0", sre.CATEGORY_SPACE: " ", sre.CATEGORY_WORD: "a"}


def _member(given: Any) -> str:
    """A letter of a class; of one that excludes, a letter that it does not name."""
    if given and given[0][0] is sre.NEGATE:
        single = "[^" + "".join(_spelt(part) for part in given[1:]) + "]"
        return next(letter for letter in "ab0 .-:/\n~\u00e9" if re.fullmatch(single, letter))
    for code, value in given:
        if code is sre.LITERAL:
            return chr(value)
        if code is sre.RANGE:
            return chr(value[0])
        if code is sre.CATEGORY:
            return _CATEGORIES.get(value, "!")
    return "a"


def _spelt(part: Any) -> str:
    code, value = part
    if code is sre.LITERAL:
        return re.escape(chr(value))
    if code is sre.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    names = {sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_SPACE: r"\s", sre.CATEGORY_WORD: r"\w"}
    return names.get(value, "")
