"""Source code as tokens with their lines: Java, Kotlin, Python, Go and JavaScript, as far as literals go.

Comments are left out, texts are unescaped. A text that something is put into (an f-string, a template) is
`filled`. One that is not closed ends with its line, as no compiler would take the file anyway. Each character
is looked at once.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TOKENS_MAX = 1_000_000


class Token(NamedTuple):
    """kind: name | text | number | sign. Of a text `text` is what it means."""

    kind: str
    text: str
    line: int
    filled: bool = False


_C_COMMENT = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?+"
_NUMBER = r"[0-9](?:[\w.]|(?<=[eE])[+-])*+"
_NAME = r"[^\W\d]\w*+"
_QUOTED = r'"(?:[^"\\\n]|\\.)*+"?+'
_SINGLE = r"'(?:[^'\\\n]|\\.)*+'?+"
_BACKTICK = r"`(?:[^`\\]|\\.)*+`?+"
_RAW_BACKTICK = r"`[^`]*+`?+"
_TRIPLE = r'"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?+'
_RAW_TRIPLE = r'"""(?:[^"]|"(?!""))*+(?:""")?+'
_TRIPLE_SINGLE = r"'''(?:[^'\\]|\\.|'(?!''))*+(?:''')?+"


_REST = rf"|(?P<number>{_NUMBER})|(?P<name>{_NAME})|(?P<sign>.)"
_PREFIX = r"(?:[rRbBuUfF]{1,2}(?=[\"']))?+"
_PYTHON_TEXT = f"{_PREFIX}(?:{_TRIPLE}|{_TRIPLE_SINGLE}|{_QUOTED}|{_SINGLE})"
_C_LIKE = rf"(?P<skip>\s++|{_C_COMMENT})"
_LANGUAGES = {
    "java": re.compile(rf"{_C_LIKE}|(?P<text>{_TRIPLE}|{_QUOTED}|{_SINGLE}){_REST}", re.DOTALL),
    "kotlin": re.compile(rf"{_C_LIKE}|(?P<text>{_RAW_TRIPLE}|{_QUOTED}|{_SINGLE}){_REST}", re.DOTALL),
    "go": re.compile(rf"{_C_LIKE}|(?P<text>{_RAW_BACKTICK}|{_QUOTED}|{_SINGLE}){_REST}", re.DOTALL),
    "javascript": re.compile(rf"{_C_LIKE}|(?P<text>{_BACKTICK}|{_QUOTED}|{_SINGLE}){_REST}", re.DOTALL),
    "python": re.compile(rf"(?P<skip>\s++|#[^\n]*+|\\\n)|(?P<text>{_PYTHON_TEXT}){_REST}", re.DOTALL),
}
_SUFFIXES = {
    ".java": "java",
    ".kt": "kotlin",
    ".kts": "kotlin",
    ".go": "go",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "javascript",
    ".py": "python",
}
_ESCAPE = re.compile(r"\\(?:\n|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
_PLACE = re.compile(r"(?<!\$)\$(?:\{|[A-Za-z_])")


def language_of(file: str) -> str | None:
    return _SUFFIXES.get("." + file.lower().rpartition(".")[2])


def tokens_of(text: str, language: str) -> list[Token]:
    """All tokens of a text; of one that is longer than code can be, its beginning."""
    found: list[Token] = []
    line = 1
    for match in _LANGUAGES[language].finditer(text):
        kind = match.lastgroup
        piece = match[0]
        if kind == "text":
            found.append(_text(piece, line, language))
        elif kind != "skip" and kind is not None:
            found.append(Token(kind, piece, line))
        if kind in ("skip", "text"):
            line += piece.count("\n")
        if len(found) >= TOKENS_MAX:
            break
    return found


def _text(piece: str, line: int, language: str) -> Token:
    prefix = ""
    if language == "python":
        body = piece.lstrip("rRbBuUfF")
        prefix, piece = piece[: len(piece) - len(body)].lower(), body
    quote = piece[:3] if piece[:3] in ('"""', "'''") else piece[:1]
    inner = piece[len(quote) :]
    inner = inner.removesuffix(quote) if len(inner) >= len(quote) else inner
    raw = "r" in prefix or (language == "kotlin" and len(quote) == 3) or (language == "go" and quote == "`")
    if language == "python":
        filled = "f" in prefix and "{" in inner
    else:
        templated = language == "kotlin" or (language == "javascript" and quote == "`")
        filled = templated and _PLACE.search(inner) is not None
    if language == "kotlin" and "${'$'}" in inner:
        inner, filled = inner.replace("${'$'}", "$"), "${'$'}" not in inner or filled
    if language == "kotlin" and not raw and "\\$" in inner:
        # `"\${app.topic}"` is Spring's placeholder, not Kotlin's.
        filled = _PLACE.search(inner.replace("\\$", "")) is not None
    if language == "java" and len(quote) == 3:
        inner = inner.removeprefix("\r").removeprefix("\n")
    return Token("text", inner if raw or "\\" not in inner else _ESCAPE.sub(_unescaped, inner), line, filled)


def _unescaped(found: re.Match[str]) -> str:
    digits = found[1] or found[2]
    if digits:
        return bytes.fromhex(digits.rjust(4, "0")).decode("utf-16-be", "replace")
    return _ESCAPES.get(found[3], found[3]) if found[3] else ""
