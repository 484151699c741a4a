"""HashiCorp's configuration language, as far as literals go, with the place of everything.

Blocks, attributes, texts, heredocs, numbers, lists and objects are read as they are; references and calls as
what they name. Any other expression is kept as a text that nobody evaluates. Nesting is bounded, and each
character is looked at once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from advisor.api import LoadError

DEPTH_MAX = 60


class Expr(NamedTuple):
    """kind: text | number | word (true, false, null) | list | object | reference | call | other.

    `value`: the text or number as it is meant; the name of a call; what is written, for a reference and for
    others. `heredoc`: a text's body begins on the line after `line`. `filled`: a text with `${...}` in it.
    """

    kind: str
    value: str
    line: int
    start: int
    end: int
    items: tuple[Expr, ...] = ()
    pairs: tuple[tuple[Expr, Expr], ...] = ()
    heredoc: bool = False
    filled: bool = False


class Attribute(NamedTuple):
    name: str
    line: int
    value: Expr
    start: int = 0


class Block(NamedTuple):
    """`end` is where its closing brace stands."""

    kind: str
    labels: tuple[str, ...]
    line: int
    attributes: tuple[Attribute, ...]
    blocks: tuple[Block, ...]
    start: int = 0
    end: int = 0

    def attribute(self, name: str) -> Expr | None:
        return next((one.value for one in reversed(self.attributes) if one.name == name), None)

    def inner(self, kind: str) -> Block | None:
        return next((one for one in self.blocks if one.kind == kind), None)


class _Token(NamedTuple):
    kind: str  # name | number | text | heredoc | sign | newline | end
    text: str
    start: int
    end: int


_BLANK = re.compile(r"(?:[ \t\r\f\ufeff]|#[^\n]*+|//[^\n]*+)++")
_HEREDOC = re.compile(r"<<-?([A-Za-z_][\w-]*+)[ \t]*+\r?\n")
_NAME = re.compile(r"[A-Za-z_][\w-]*+")
_NUMBER = re.compile(r"[0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+")
_SIGN = re.compile(r"\.\.\.|=>|==|!=|<=|>=|&&|\|\||[{}\[\](),.:=?+\-*/%<>!]")
_PLAIN = re.compile(r'[^"\\$%\n]++')
_INSIDE = re.compile(r'[^"{}\n]++')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))|\$\$(?=\{)|%%(?=\{)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_FILLED = re.compile(r"(?<!\$)\$\{|(?<!%)%\{")
_SPACE = re.compile(r"\s++")


def parse_hcl(text: str) -> Block:
    """The whole text as one block without a kind. What Terraform would not read is a LoadError."""
    return _Parser(text).whole()


def _string_end(text: str, start: int) -> int:
    """Where a text in quotes ends: behind its quote; what stands in `${...}` may hold texts of its own. -1 if
    it never does."""
    stack = ['"']
    at = start + 1
    while stack and at < len(text):
        found = (_PLAIN if stack[-1] == '"' else _INSIDE).match(text, at)
        if found is not None:
            at = found.end()
            continue
        sign = text[at]
        if stack[-1] == '"':
            if sign == "\n":
                return -1
            if sign == '"':
                stack.pop()
            elif sign == "\\":
                at += 1
            elif text.startswith(("$${", "%%{"), at):
                at += 2
            elif text.startswith(("${", "%{"), at):
                stack.append("}")
                at += 1
        elif sign in '"{':
            stack.append('"' if sign == '"' else "}")
        elif sign == "}":
            stack.pop()
        at += 1
        if len(stack) > DEPTH_MAX:
            return -1
    return at if not stack else -1


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = [0]
        self.lines += [found.end() for found in re.finditer("\n", text)]
        self.at = 0
        self.depth = 0
        self.over = 0  # where the token before this one ends
        self.token = self._next()

    def line(self, place: int) -> int:
        return bisect_right(self.lines, place)

    def error(self, message: str, place: int | None = None) -> LoadError:
        where = self.token.start if place is None else place
        return LoadError(f"not readable as Terraform: {message}", self.line(where))

    # Tokens.

    def _next(self) -> _Token:
        text = self.text
        while True:
            found = _BLANK.match(text, self.at)
            if found is not None:
                self.at = found.end()
            if not text.startswith("/*", self.at):
                break
            end = text.find("*/", self.at + 2)
            self.at = len(text) if end < 0 else end + 2
        start = self.at
        if start >= len(text):
            return _Token("end", "", start, start)
        sign = text[start]
        if sign == "\n":
            self.at += 1
            return _Token("newline", "\n", start, self.at)
        if sign == '"':
            end = _string_end(text, start)
            if end < 0:
                raise self.error("a text in quotes is not closed", start)
            self.at = end
            return _Token("text", text[start:end], start, end)
        if sign == "<" and (found := _HEREDOC.match(text, start)):
            return self._heredoc(start, found)
        for kind, pattern in (("name", _NAME), ("number", _NUMBER), ("sign", _SIGN)):
            found = pattern.match(text, start)
            if found is not None:
                self.at = found.end()
                return _Token(kind, found[0], start, self.at)
        raise self.error(f"{sign!r} is not expected", start)

    def _heredoc(self, start: int, opening: re.Match[str]) -> _Token:
        text, line = self.text, opening.end()
        while line < len(text):
            end = text.find("\n", line)
            end = len(text) if end < 0 else end
            if text[line:end].strip(" \t\r") == opening[1]:
                self.at = end
                return _Token("heredoc", text[opening.end() : line], start, end)
            line = end + 1
        raise self.error(f"the text that ends with {opening[1]} is not closed", start)

    def advance(self) -> _Token:
        before = self.token
        self.over = before.end
        self.token = self._next()
        return before

    def is_sign(self, sign: str) -> bool:
        return self.token.kind == "sign" and self.token.text == sign

    def skip_newlines(self) -> None:
        while self.token.kind == "newline":
            self.advance()

    def expect(self, sign: str) -> _Token:
        if not self.is_sign(sign):
            raise self.error(f"{sign} is missing")
        return self.advance()

    # Structure.

    def whole(self) -> Block:
        attributes, blocks = self.body("end")
        return Block("", (), 1, attributes, blocks, 0, len(self.text))

    def body(self, closer: str) -> tuple[tuple[Attribute, ...], tuple[Block, ...]]:
        attributes: list[Attribute] = []
        blocks: list[Block] = []
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise self.error("it is nested too deeply")
        while True:
            self.skip_newlines()
            if self.token.kind == "end" or self.is_sign("}"):
                if (self.token.kind == "end") != (closer == "end"):
                    raise self.error("a brace is missing" if closer == "}" else "a brace too many")
                self.depth -= 1
                return tuple(attributes), tuple(blocks)
            if self.token.kind not in ("name", "text"):
                raise self.error("a name is missing")
            name = self.advance()
            if self.is_sign("=") and name.kind == "name":
                self.advance()
                line = self.line(name.start)
                attributes.append(Attribute(name.text, line, self.expression(), name.start))
            else:
                blocks.append(self.block(name))

    def block(self, name: _Token) -> Block:
        labels = []
        while self.token.kind in ("name", "text"):
            label = self.advance()
            labels.append(label.text.strip('"'))
        self.expect("{")
        attributes, blocks = self.body("}")
        end = self.advance()
        return Block(
            name.text, tuple(labels), self.line(name.start), attributes, blocks, name.start, end.start
        )

    # Expressions.

    def expression(self) -> Expr:
        """One value. What is more than a literal, a reference or a call is skipped to its end, as a text."""
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise self.error("it is nested too deeply")
        start = self.token.start
        found = self.operand()
        if not self.is_over():
            self.skip_rest()
            found = self.other(start)
        self.depth -= 1
        return found

    def is_over(self) -> bool:
        return self.token.kind in ("newline", "end") or (
            self.token.kind == "sign" and self.token.text in ("}", "]", ")", ",", ":", "=", "=>", "...")
        )

    def skip_rest(self, depth: int = 0) -> None:
        """To the end of an expression; inside brackets (`depth` are open) a new line ends nothing."""
        last = None
        while self.token.kind != "end":
            if depth == 0 and self.is_over() and not (self.is_sign(":") and last == "?"):
                return
            if self.token.kind == "sign":
                if self.token.text == "?" and depth == 0:
                    last = "?"
                elif self.token.text == ":" and depth == 0:
                    last = None
                depth += self.token.text in ("(", "[", "{")
                depth -= self.token.text in (")", "]", "}")
            self.advance()

    def other(self, start: int) -> Expr:
        written = self.text[start : max(self.over, start)]
        return Expr("other", _SPACE.sub(" ", written), self.line(start), start, start + len(written))

    def operand(self) -> Expr:
        token = self.token
        line = self.line(token.start)
        match token.kind:
            case "text":
                self.advance()
                return _text(token, line)
            case "heredoc":
                self.advance()
                filled = bool(_FILLED.search(token.text))
                return Expr("text", token.text, line, token.start, token.end, heredoc=True, filled=filled)
            case "number":
                self.advance()
                return Expr("number", token.text, line, token.start, token.end)
            case "name":
                return self.named()
            case "sign" if token.text == "-":
                self.advance()
                if self.token.kind == "number":
                    number = self.advance()
                    return Expr("number", f"-{number.text}", line, token.start, number.end)
                self.skip_rest()
                return self.other(token.start)
            case "sign" if token.text == "[":
                return self.sequence()
            case "sign" if token.text == "{":
                return self.mapping()
        self.skip_rest()
        return self.other(token.start)

    def named(self) -> Expr:
        """true, a reference (var.x, each.value["y"]) or a call."""
        first = self.advance()
        line = self.line(first.start)
        if self.is_sign("(") and self.token.start == first.end:
            self.advance()
            items, end = self.elements(")")
            return Expr("call", first.text, line, first.start, end, items)
        if first.text in ("true", "false", "null") and not self.is_sign("."):
            return Expr("word", first.text, line, first.start, first.end)
        end = first.end
        steps = [first.text]
        while self.is_sign(".") or self.is_sign("["):
            opener = self.advance()
            if opener.text == "." and self.token.kind in ("name", "number"):
                step = self.advance()
                steps.append(step.text)
                end = step.end
            elif opener.text == "[" and self.token.kind in ("text", "number"):
                step = self.advance()
                steps.append(_text(step, line).value if step.kind == "text" else step.text)
                end = self.expect("]").end
            else:
                self.skip_rest(1 if opener.text == "[" else 0)
                return self.other(first.start)
        path = tuple(Expr("word", step, line, first.start, end) for step in steps)
        return Expr("reference", self.text[first.start : end], line, first.start, end, path)

    def elements(self, closer: str) -> tuple[tuple[Expr, ...], int]:
        """What stands between brackets, and where they end."""
        found = []
        while True:
            self.skip_newlines()
            if self.is_sign(closer):
                return tuple(found), self.advance().end
            if self.token.kind == "end":
                raise self.error(f"{closer} is missing")
            before = self.token.start
            found.append(self.expression())
            self.skip_newlines()
            if self.is_sign(",") or self.is_sign("..."):
                self.advance()
            elif self.token.start == before and not self.is_sign(closer):
                raise self.error(f"{closer} is missing")
            elif not self.is_sign(closer):
                # `[for x in y : z]` and its kin.
                self.skip_brackets(closer)
                found = [self.other(before)]

    def skip_brackets(self, closer: str) -> None:
        depth = 0
        while self.token.kind != "end" and not (depth == 0 and self.is_sign(closer)):
            if self.token.kind == "sign":
                depth += self.token.text in ("(", "[", "{")
                depth -= self.token.text in (")", "]", "}")
            self.advance()

    def sequence(self) -> Expr:
        start = self.advance().start
        items, end = self.elements("]")
        if any(item.kind == "other" and item.value.startswith("for ") for item in items):
            return Expr("other", "a list made by for", self.line(start), start, end)
        return Expr("list", "", self.line(start), start, end, items)

    def mapping(self) -> Expr:
        start = self.advance().start
        pairs: list[tuple[Expr, Expr]] = []
        while True:
            self.skip_newlines()
            if self.is_sign("}"):
                end = self.advance().end
                return Expr("object", "", self.line(start), start, end, pairs=tuple(pairs))
            if self.token.kind == "end":
                raise self.error("} is missing")
            key = self.expression()
            self.skip_newlines()
            if not (self.is_sign("=") or self.is_sign(":")):
                # `{for k, v in y : k => v}`.
                self.skip_brackets("}")
                end = self.expect("}").end
                return Expr("other", "a map made by for", self.line(start), start, end)
            self.advance()
            self.skip_newlines()
            pairs.append((key, self.expression()))
            self.skip_newlines()
            if self.is_sign(","):
                self.advance()


def _text(token: _Token, line: int) -> Expr:
    raw = token.text[1:-1]
    filled = ("${" in raw or "%{" in raw) and bool(_FILLED.search(raw))
    value = _ESCAPE.sub(_unescaped, raw) if "\\" in raw or "$$" in raw or "%%" in raw else raw
    return Expr("text", value, line, token.start, token.end, filled=filled)


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return found[0].encode().decode("unicode_escape").encode("utf-8", "replace").decode()
    if found[2]:
        return _ESCAPES.get(found[2], found[2])
    return found[0][0]


def blocks_of(block: Block, *kinds: str) -> Iterator[Block]:
    """Blocks of these kinds, at the top."""
    return (one for one in block.blocks if one.kind in kinds)
