"""No regular expression on a user's text takes more than linear time: every pattern of the source is run on
growing hostile texts, and the growth of its cost is fitted."""

from __future__ import annotations

import re

import pytest

from .growth import steepness
from .hostile import texts
from .patterns import Known, collect

KNOWN, UNSEEN = collect()
RUN = {
    "search": lambda pattern, text: pattern.search(text),
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "sub": lambda pattern, text: pattern.sub(lambda match: "", text),
    "subn": lambda pattern, text: pattern.subn(lambda match: "", text),
    "findall": lambda pattern, text: pattern.findall(text),
    "finditer": lambda pattern, text: sum(1 for _ in pattern.finditer(text)),
    "split": lambda pattern, text: pattern.split(text),
}


def steep_texts(known: Known) -> list[str]:
    """The families of texts on which the pattern takes more than linear time."""
    found = []
    for name, grown in texts(known.pattern):
        for method in known.methods:

            def prepared(size, method=method, grown=grown):
                text = grown(size)
                data = text if isinstance(known.pattern.pattern, str) else text.encode("utf-8", "replace")
                return lambda: RUN[method](known.pattern, data)

            steep = steepness(prepared)
            if steep is not None:
                found.append(f"{method} of {name}: n^{steep.exponent:.1f} at {steep.size}")
        if found:
            break
    return found


# Matched against the names of files, which no system lets grow long.
NAMES_ONLY = ("(application|bootstrap)",)


def cases():
    for known in KNOWN:
        text = known.pattern.pattern
        beginning = text if isinstance(text, str) else text.decode()
        if not beginning.startswith(NAMES_ONLY):
            yield pytest.param(known, id=known.where)


def test_every_pattern_is_seen():
    assert UNSEEN == []
    assert len(KNOWN) > 100


@pytest.mark.parametrize("known", cases())
def test_pattern_is_linear(known):
    assert steep_texts(known) == [], known.pattern.pattern


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s+$", "search"),
        (r"([A-Za-z_][\w.\-]*)[\"']?[ \t]*[=:]", "finditer"),
        (r"(?:a|aa)+$", "match"),
        (r"(\w+\s?)*:", "match"),
        (r"<%.*?%>", "search"),
    ],
)
def test_a_pattern_that_is_not_linear_is_found(pattern, method):
    assert steep_texts(Known("here", re.compile(pattern), (method,))) != []


@pytest.mark.parametrize(
    "text",
    [
        "import re\n\ndef f(word):\n    return re.search(word + 'x', '')\n",
        "from re import compile as made\nPATTERN = made('a')\n",
        "import re\n\ndef f(words):\n    return re.compile('|'.join(words))\n",
    ],
)
def test_a_pattern_that_cannot_be_seen_is_told(tmp_path, text):
    path = tmp_path / "module.py"
    path.write_text(text)
    _, unseen = collect([path])
    assert len(unseen) == 1
