"""The one-line login configuration of `sasl.jaas.config`, read as Java's StreamTokenizer cuts it."""

from collections.abc import Iterator

from ...tuples import NamedTuple

_FLAGS = ("REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


class Entry(NamedTuple):
    module: str
    options: dict[str | None, str]


class _Token(NamedTuple):
    mark: str  # the character itself, "word", "number", a quote sign
    text: str | None  # words and quoted text have one


def parse(text: str) -> Entry | str:
    """The single login module configured, or a sentence that says what is wrong."""
    tokens = iter([*_tokens(text)])
    entries: list[Entry] = []
    for first in tokens:
        flag = next(tokens, None)
        if flag is None:
            return "a login module must be followed by required, requisite, sufficient or optional"
        if flag.text is None or flag.text.upper() not in _FLAGS:
            return "after the login module comes one of required, requisite, sufficient, optional"
        options: dict[str | None, str] = {}
        ended = False
        for name in tokens:
            if name.mark == ";":
                ended = True
                break
            equals, value = next(tokens, None), None
            if equals is not None and equals.mark == "=":
                value = next(tokens, None)
            if value is None or value.text is None:
                return "each option reads name=value; a value with other signs than letters needs quotes"
            options[name.text] = value.text
        if not ended:
            return "it must end with a semicolon"
        if not first.text:
            return "it must begin with the name of a login module"
        entries.append(Entry(first.text, options))
    if not entries:
        return "it names no login module"
    if len(entries) > 1:
        return f"it names {len(entries)} login modules, one is allowed"
    return entries[0]


def _tokens(text: str) -> Iterator[_Token]:
    at, end = 0, len(text)
    while at < end:
        letter = text[at]
        if letter <= " ":
            at += 1
        elif letter in "0123456789.-":
            at, token = _number(text, at)
            yield token
        elif _is_word(letter):
            start = at
            while at < end and (_is_word(text[at]) or text[at] in "0123456789.-"):
                at += 1
            yield _Token("word", text[start:at])
        elif letter in "\"'":
            at, quoted = _quoted(text, at)
            yield _Token(letter, quoted)
        elif letter == "/":
            if text.startswith("/*", at):
                close = text.find("*/", at + 2)
                at = end if close < 0 else close + 2
            else:
                line = min((i for i in (text.find("\n", at), text.find("\r", at)) if i >= 0), default=end)
                at = line
        else:
            at += 1
            yield _Token(letter, None)


def _is_word(letter: str) -> bool:
    return (letter.isascii() and letter.isalpha()) or letter in "_$" or letter >= "\xa0"


def _number(text: str, at: int) -> tuple[int, _Token]:
    """Digits, a point and a leading minus make a number, which has no text; a bare minus is a sign."""
    end = len(text)
    start = at
    if text[at] == "-":
        at += 1
        if at >= end or text[at] not in "0123456789.":
            return at, _Token("-", None)
    dotted = False
    while at < end and ((text[at].isdigit() and text[at].isascii()) or (text[at] == "." and not dotted)):
        dotted = dotted or text[at] == "."
        at += 1
    return (at, _Token("number", None)) if at > start else (at + 1, _Token(text[start], None))


def _quoted(text: str, at: int) -> tuple[int, str]:
    quote, end = text[at], len(text)
    at += 1
    parts: list[str] = []
    while at < end and text[at] not in (quote, "\n", "\r"):
        if text[at] == "\\" and at + 1 < end:
            at += 1
            letter = text[at]
            if letter in "01234567":
                digits = letter
                while (
                    len(digits) < (3 if digits[0] <= "3" else 2)
                    and at + 1 < end
                    and text[at + 1] in "01234567"
                ):
                    at += 1
                    digits += text[at]
                parts.append(chr(int(digits, 8)))
            else:
                parts.append(_ESCAPES.get(letter, letter))
        else:
            parts.append(text[at])
        at += 1
    return (at + 1 if at < end and text[at] == quote else at), "".join(parts)
