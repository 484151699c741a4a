"""Values in source code: literals, constants of the same file, maps and lists of them. Nothing is computed.

What is no literal is `unknown`, with the name that it refers to, if it is no more than a name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .tokens import Token

DEPTH_MAX = 30
# No literal that a person writes has more parts, brackets counted as one.
_STATEMENT_MAX = 500
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_WORDS = {
    "true": "true",
    "True": "true",
    "false": "false",
    "False": "false",
    "null": "",
    "None": "",
    "nil": "",
    "undefined": "",
}


class Value(NamedTuple):
    """kind: text | number | word (a truth value or nothing) | list | map | name | unknown.

    `text`: what it means; of a name the name. `spread`: of a map, the names of those laid under it."""

    kind: str
    text: str
    line: int
    items: tuple[Value, ...] = ()
    pairs: tuple[tuple[str, Value], ...] = ()
    spread: tuple[str, ...] = ()

    @property
    def is_scalar(self) -> bool:
        return self.kind in ("text", "number", "word")


class Code:
    """The tokens of one file, its brackets matched, its constants known."""

    def __init__(self, tokens: list[Token], language: str) -> None:
        self.tokens, self.language = tokens, language
        self.closing = _matched(tokens)
        self.constants = self._constants()

    def sign(self, at: int, sign: str) -> bool:
        return 0 <= at < len(self.tokens) and self.tokens[at].kind == "sign" and self.tokens[at].text == sign

    def name(self, at: int) -> str | None:
        inside = 0 <= at < len(self.tokens)
        return self.tokens[at].text if inside and self.tokens[at].kind == "name" else None

    # Values.

    def value(self, at: int, end: int, depth: int = 0) -> Value:
        """The value that the tokens from `at` up to `end` say."""
        if at >= end:
            return Value("unknown", "", self.tokens[at - 1].line if at else 1)
        line = self.tokens[at].line
        if depth > DEPTH_MAX:
            return Value("unknown", "", line)
        parts = self._summands(at, end)
        if len(parts) > 1:
            return self._joined([self.value(*part, depth + 1) for part in parts], line)
        return self._single(at, end, line, depth)

    def _single(self, at: int, end: int, line: int, depth: int) -> Value:
        token = self.tokens[at]
        if token.kind == "text":
            rest = self.tokens[at:end]
            if all(one.kind == "text" for one in rest):  # Python joins texts that stand side by side
                filled = any(one.filled for one in rest)
                return Value("unknown" if filled else "text", "".join(one.text for one in rest), line)
            return Value("unknown", "", line)
        if token.kind == "number":
            return _number(token) if end == at + 1 else Value("unknown", "", line)
        if token.kind == "sign":
            return self._signed(at, end, line, depth)
        return self._named(at, end, line, depth)

    def _signed(self, at: int, end: int, line: int, depth: int) -> Value:
        token = self.tokens[at]
        close = self.closing.get(at)
        if token.text == "-" and end == at + 2 and self.tokens[at + 1].kind == "number":
            number = _number(self.tokens[at + 1])
            return number._replace(text=f"-{number.text}", line=line)
        if token.text in "&*" and end > at + 1:  # Go: the address of what follows
            return self.value(at + 1, end, depth + 1)
        if token.text == "(" and close == end - 1:
            return self.value(at + 1, close, depth + 1)
        if token.text == "{" and close is not None and close == end - 1:
            return self.map_at(at, depth)
        if token.text == "[" and close is not None:
            if close == end - 1:
                return self._list(at, close, depth)
            # Go: []string{"a", "b"}
            brace = self._last_brace(close + 1, end)
            if brace is not None:
                return self._list(brace, end - 1, depth)
        return Value("unknown", "", line)

    def _last_brace(self, at: int, end: int) -> int | None:
        while at < end and not self.sign(at, "{"):
            at += 1
        return at if at < end and self.closing.get(at) == end - 1 else None

    def _named(self, at: int, end: int, line: int, depth: int) -> Value:
        path = [self.tokens[at].text]
        place = at + 1
        while place + 1 < end and self.sign(place, ".") and self.tokens[place + 1].kind == "name":
            path.append(self.tokens[place + 1].text)
            place += 2
        dotted = ".".join(path)
        if place == end:
            if dotted in _WORDS:
                return Value("word", _WORDS[dotted], line)
            known = self.constants.get(path[-1]) if len(path) <= 2 else None
            return known._replace(line=line) if known is not None else Value("name", dotted, line)
        if self.sign(place, "{") and self.closing.get(place) == end - 1:
            return self.map_at(place, depth)  # Go: kafka.ConfigMap{...}
        if self.sign(place, "(") and self.closing.get(place) == end - 1:
            return self._called(path[-1], place, end - 1, line, depth)
        return Value("unknown", "", line)

    def _called(self, name: str, opens: int, close: int, line: int, depth: int) -> Value:
        """Calls that only wrap a literal."""
        arguments = self.split(opens + 1, close)
        if name in ("arrayOf", "listOf", "setOf", "of", "asList", "List", "Set"):
            return Value("list", "", line, tuple(self.value(*one, depth + 1) for one in arguments))
        if name in ("str", "String", "valueOf", "toString", "Duration") and len(arguments) == 1:
            return self.value(*arguments[0], depth + 1)
        if name in ("mapOf", "mutableMapOf", "hashMapOf"):
            return self._pairs_by_to(arguments, line, depth)
        if name == "dict" and self.language == "python":
            return self._dict(arguments, line, depth)
        return Value("unknown", "", line)

    def _pairs_by_to(self, arguments: list[tuple[int, int]], line: int, depth: int) -> Value:
        pairs = []
        for start, end in arguments:
            middle = next((at for at in range(start, end) if self.name(at) == "to"), None)
            if middle is not None:
                key = self.value(start, middle, depth + 1)
                pairs.append((key.text, self.value(middle + 1, end, depth + 1)))
        return Value("map", "", line, pairs=tuple(pairs))

    def _dict(self, arguments: list[tuple[int, int]], line: int, depth: int) -> Value:
        """dict(base, **{"a": 1}) and dict({...}): keys with dots cannot be names of arguments."""
        pairs: list[tuple[str, Value]] = []
        spread: list[str] = []
        for start, end in arguments:
            while self.sign(start, "*"):
                start += 1
            one = self.value(start, end, depth + 1)
            if one.kind == "map":
                pairs += one.pairs
                spread += one.spread
            elif one.kind == "name":
                spread.append(one.text)
        return Value("map", "", line, pairs=tuple(pairs), spread=tuple(spread))

    def _list(self, opens: int, close: int, depth: int) -> Value:
        found = tuple(self.value(*part, depth + 1) for part in self.split(opens + 1, close))
        return Value("list", "", self.tokens[opens].line, found)

    def map_at(self, opens: int, depth: int = 0) -> Value:
        """`{ "key": value, ... }`; in Java braces hold a list."""
        close = self.closing.get(opens, opens)
        line = self.tokens[opens].line
        parts = self.split(opens + 1, close)
        pairs: list[tuple[str, Value]] = []
        spread: list[str] = []
        for start, end in parts:
            colon = self._colon(start, end)
            if colon is not None:
                key = self._key(start, colon)
                if key is not None:
                    value = self.value(colon + 1, end, depth + 1)
                    pairs.append((key, value._replace(line=self.tokens[start].line)))
            else:
                while start < end and (self.sign(start, "*") or self.sign(start, ".")):
                    start += 1
                inner = self.value(start, end, depth + 1)
                if inner.kind == "name":
                    spread.append(inner.text)
        if not pairs and parts and self.language in ("java", "kotlin"):
            return Value("list", "", line, tuple(self.value(*part, depth + 1) for part in parts))
        return Value("map", "", line, pairs=tuple(pairs), spread=tuple(spread))

    def _colon(self, start: int, end: int) -> int | None:
        at = start
        while at < end:
            if self.sign(at, ":") and not self.sign(at + 1, ":"):
                return at
            at = self.closing.get(at, at) + 1
        return None

    def _key(self, start: int, end: int) -> str | None:
        if self.sign(start, "[") and self.closing.get(start) == end - 1:  # JavaScript: [NAME]: value
            start, end = start + 1, end - 1
        found = self.value(start, end)
        if found.is_scalar:
            return found.text
        return found.text if found.kind == "name" and self.language == "javascript" else None

    def split(self, start: int, end: int) -> list[tuple[int, int]]:
        """The parts between commas that stand in no inner bracket."""
        found = []
        at = begin = start
        while at < end:
            if self.sign(at, ","):
                if at > begin:
                    found.append((begin, at))
                begin = at + 1
            at = self.closing.get(at, at) + 1
        if end > begin:
            found.append((begin, end))
        return found

    def _summands(self, start: int, end: int) -> list[tuple[int, int]]:
        found = []
        at = begin = start
        while at < end:
            if self.sign(at, "+") and at > begin:
                found.append((begin, at))
                begin = at + 1
            at = self.closing.get(at, at) + 1
        found.append((begin, end))
        return found

    def _joined(self, parts: list[Value], line: int) -> Value:
        if all(part.is_scalar for part in parts) and any(part.kind == "text" for part in parts):
            return Value("text", "".join(part.text for part in parts), line)
        return Value("unknown", "", line)

    # Constants.

    def _constants(self) -> dict[str, Value]:
        """Names that are given one literal in the whole file."""
        self.constants: dict[str, Value] = {}
        found: dict[str, Value | None] = {}
        for at, name, value in self.assignments():
            if not self.sign(at - 1, "."):
                again = name in found
                found[name] = value if value.is_scalar and not again else None
        return {name: value for name, value in found.items() if value is not None}

    def assignments(self) -> Iterator[tuple[int, str, Value]]:
        """Where a name is given a value, the name, and the value. Arguments of calls are no such names."""
        around: list[str] = []
        for at, token in enumerate(self.tokens):
            if token.kind == "sign":
                if token.text in "([{":
                    around.append(token.text)
                elif token.text in ")]}" and around:
                    around.pop()
            elif token.kind == "name" and (not around or around[-1] == "{"):
                name, start = self._assigned(at)
                if name and start < len(self.tokens):
                    yield at, name, self.value(start, self.end_of_statement(start))

    def _assigned(self, at: int) -> tuple[str, int]:
        """The name that is given a value here, and where the value begins; "" if none is."""
        name = self.tokens[at].text
        if self.sign(at - 1, ":") and self.tokens[at - 1].line == self.tokens[at].line:
            return "", 0  # a type
        if self.sign(at + 1, ":") and self.sign(at + 2, "="):
            return name, at + 3
        if self.sign(at + 1, "=") and not self.sign(at + 2, "="):
            before = self.name(at - 1)
            if self.language == "go" and before not in (None, "var", "const"):
                return before or "", at + 2  # var topic string = "orders"
            return name, at + 2
        # Kotlin, TypeScript and Python: `name: Type = value`.
        behind = self._behind_type(at + 1) if self.sign(at + 1, ":") else 0
        return (name, behind) if behind else ("", 0)

    def _behind_type(self, colon: int) -> int:
        """Behind the equals sign of `: Type = value`; 0 if there is none."""
        at = colon + 1
        for _ in range(8):
            if at >= len(self.tokens):
                break
            if self.sign(at, "=") and not self.sign(at + 1, "="):
                return at + 1
            if self.tokens[at].kind == "sign" and self.tokens[at].text not in ".?<>,[":
                break
            at = self.closing.get(at, at) + 1
        return 0

    def end_of_statement(self, start: int) -> int:
        """Where a value ends: at a semicolon, a comma, a closing bracket, or with its line."""
        at = start
        while at < min(len(self.tokens), start + _STATEMENT_MAX):
            token = self.tokens[at]
            if token.kind == "sign" and token.text in ";,)]}":
                return at
            if self.sign(at, "=") and not self.sign(at + 1, ">"):
                return at  # no value that a literal has
            if at > start and token.line > self.tokens[at - 1].line and not self._goes_on(at):
                return at
            at = self.closing.get(at, at) + 1
        return min(at, len(self.tokens))

    def _goes_on(self, at: int) -> bool:
        """Whether a line continues the one before: an operator at the end or at the beginning."""
        before, here = self.tokens[at - 1], self.tokens[at]
        return (before.kind == "sign" and before.text in "+=(,[{.") or (
            here.kind == "sign" and here.text in "+."
        )


def _number(token: Token) -> Value:
    text = token.text.replace("_", "").rstrip("lL")
    return Value("number", text, token.line)


def _matched(tokens: list[Token]) -> dict[int, int]:
    """Where each bracket closes; one that never does closes where it stands."""
    found: dict[int, int] = {}
    waiting: list[int] = []
    for at, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text in _CLOSERS:
            waiting.append(at)
        elif token.text in ")]}":
            while waiting:
                opened = waiting.pop()
                if _CLOSERS[tokens[opened].text] == token.text:
                    found[opened] = at
                    break
    return found


def shown(value: Value) -> str:
    """The value as a setting's text; what is not known is a template with the name that fills it in."""
    if value.is_scalar:
        return value.text
    if value.kind == "list" and all(item.is_scalar for item in value.items):
        return ",".join(item.text for item in value.items)
    return f"${{{value.text}}}" if value.kind == "name" else "${an expression}"
