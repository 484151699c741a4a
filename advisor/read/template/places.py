"""What is filled in elsewhere: `${VAR:default}`, Jinja, Helm, `$(VAR)`, `$VAR`, `<your key>`, `@filtered@`,
`__NAME__`, and what may be shown of them.

Places are found by their ends, not by patterns, so that a text with a thousand open braces costs no more than
any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ..secrets import MASK, has_secret_words, holds_secret, secret_word, words_of

# `#{}` of Octopus and SpEL, `%{}` of Hiera, `[% %]` of Template Toolkit.
_ENDS = (
    ("${", "}"),
    ("{{", "}}"),
    ("{%", "%}"),
    ("<%", "%>"),
    ("#{", "}"),
    ("%{", "}"),
    ("[%", "%]"),
)


@cache
def _stand_in_pattern() -> re.Pattern[str]:
    """A word that stands for another: `<your key>` (but no named group of a pattern), `$HOST` (but no nested
    class), Maven's `@host@`, `__HOST__`, `%HOST%`, `{host}`, and words that ask to be replaced."""
    return re.compile(
        r"(?<!\?)<{1,2}[A-Za-z][^<>=\"']{0,80}+>"
        r"|(?<![\w$)\]\\])\$[A-Za-z_]\w*+"
        r"|(?<![\w@.-])@[A-Za-z][\w.-]{0,80}+@(?![\w@])"
        r"|(?<!\w)__[A-Z](?:[A-Z0-9]|_(?!_)){0,80}+__(?!\w)"
        r"|(?<![\w%])%{1,2}[A-Z_][A-Z0-9_]{0,80}+%"
        r"|(?<![\w$#%{\\])\{[A-Za-z_][\w.-]{0,80}+\}(?!\})"
        r"|(?<![A-Za-z0-9])(?:(?:CHANGE|REPLACE)[-_ ]?(?:ME|WITH|THIS)|change[-_]?me|replace[-_]?me"
        r"|(?:YOUR|your|Your)[-_]\w)"
    )


# A value that holds none of these is no template.
_SIGNS = ("$", "{", "<", "@", "%", "#", "[", "__", "CHANGE", "REPLACE", "change", "replace", "YOUR", "our")


def _has_stand_in(text: str) -> bool:
    return _stand_in_pattern().search(text) is not None


@cache
def _in_shell_pattern() -> re.Pattern[str]:
    return re.compile(r"\$\([A-Za-z_]\w{0,200}+\)")


@cache
def _quoted_pattern() -> re.Pattern[str]:
    return re.compile(r"\"[^\"]++(?:\"|$)|'[^']++(?:'|$)")


@cache
def _operator_pattern() -> re.Pattern[str]:
    return re.compile(r":?[-=?+]|:")


def is_template(text: str) -> bool:
    for sign in _SIGNS:
        if sign in text:
            break
    else:
        return False
    return (
        _has_stand_in(text)
        or any(True for _ in _places(text))
        or ("$(" in text and _in_shell_pattern().search(text) is not None)
    )


def is_template_outside_quotes(text: str) -> bool:
    """A template that decides how the text reads. `username="${USER}"` does not: it fills in a word."""
    return is_template(text) and is_template(_quoted_pattern().sub("", text))


def _places(text: str) -> Iterator[tuple[int, int, str]]:
    """Where something is filled in: the first place of each, where it ends, what it begins with."""
    for start, end in _ENDS:
        first = text.find(start)
        while first >= 0:
            last = text.find(end, first + 2)
            if last < 0:
                break
            yield first, last + len(end), start
            first = text.find(start, last + len(end))


def without_places(text: str) -> str:
    """A template with a bare reference in each place: what is left is what the file itself says."""
    left: list[str] = []
    at = 0
    for first, last, _ in sorted(_places(text)):
        if first >= at:
            left += [text[at:first], "$x"]
            at = last
    return "".join((*left, text[at:]))


def shown_template(text: str, known: bool) -> str:
    """A template as it may be shown: the name of what fills it in, without the default of a secret. Of a key
    that nobody knows nothing but the places."""
    shown: list[str] = []
    at = 0
    for first, last, start in sorted(_places(text)):
        if first >= at:
            shown += [text[at:first] if known else "", _shown_place(text[first:last], start, known)]
            at = last
    if known:
        return "".join((*shown, text[at:]))
    references = [found[0] for found in _in_shell_pattern().finditer(text)]
    return " ".join(filter(None, (*shown, *references))) or (
        text if _stand_in_pattern().fullmatch(text) else "a template"
    )


def shown_places(text: str) -> str:
    """Of a secret: the names of what fills it in. A word such as `$ecret` may be the secret itself."""
    named = any(True for _ in _places(text)) or _in_shell_pattern().search(text) is not None
    return shown_template(text, False) if named else "a template"


def _shown_place(place: str, start: str, known: bool) -> str:
    if start != "${":
        return place if known and not has_secret_words(place) else _quoted_pattern().sub(MASK, place)
    operator = _operator_pattern().search(place, 2)
    if operator is None or operator.end() == len(place) - 1:
        return place
    name, default = place[2 : operator.start()], place[operator.end() : -1]
    nested = "${" in default and secret_word(words_of(default)) is not None
    if known and not has_secret_words(name) and not nested and not holds_secret(default):
        return place
    return f"${{{name}{operator[0]}{MASK}}}"


@cache
def _named_pattern() -> re.Pattern[str]:
    return re.compile(r"\$\{([\w.-]{1,200}+)")


def names_secret(text: str) -> bool:
    """A text, such as `default of ${DB_PASSWORD:-x}`, that says that a value was filled in from a secret."""
    return any(has_secret_words(name) for name in _named_pattern().findall(text))
