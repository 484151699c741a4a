"""What a template may leave out: lines between its `if` or `for` and their end.

Jinja, Helm (Go), ERB, FreeMarker, Mustache and Terraform's templates are told by how their statements begin.
A setting in a branch may be there or not, so its value is not known; one in a file, or in a resource, that is
in the branch as a whole is there whenever anything of it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ...model import Document, Fact, Secret, Setting, Unknown

_MARKS = ("{%", "{{", "<%", "<#", "%{")
Branch = tuple[int, ...]


@cache
def _statement_pattern() -> re.Pattern[str]:
    return re.compile(
        r"\{%[-+~]?[ \t]*+(?P<jinja>[a-z]\w*+)"
        r"|\{\{[-~]?[ \t]*+(?P<go>(?:if|range|with|define|block|else|end)(?![\w.(:])|[#^/](?=[A-Za-z]))"
        r"|<%(?![=#%])-?[ \t]*+(?P<erb>[^%\n]*+)"
        r"|<(?P<ftl>/?#[a-z]\w*+)"
        r"|%\{~?[ \t]*+(?P<terraform>if|for|else|endif|endfor)\b"
    )


_ERB_OPENS = frozenset(("if", "unless", "for", "while", "until", "case"))
# Words of which the text between is always there.
_SURE = frozenset(("block", "macro", "filter", "call", "with", "autoescape", "define", "raw"))
_OPENS = frozenset(("if", "for", "range", "#if", "#list", "#", "^")) | _SURE
_NEXT = frozenset(("else", "elif", "elsif", "elseif", "when", "#else", "#elseif"))


def branches_of(text: str) -> dict[int, Branch]:
    """The branches that each line is in, the outermost first; lines in none are left out."""
    if "{" not in text and "<" not in text:  # every statement has one of them
        return {}
    found: dict[int, Branch] = {}
    stack: list[tuple[int, bool]] = []
    line, at, number = 1, 0, 0
    for statement in _statement_pattern().finditer(text):
        passed = text.count("\n", at, statement.start())
        if passed and stack:
            inside = _inside(stack)
            found.update(dict.fromkeys(range(line + 1, line + passed + 1), inside))
        line, at = line + passed, statement.start()
        word = _word(statement)
        if word in _OPENS:
            number += 1
            stack.append((number, word not in _SURE))
        elif word in _NEXT and stack:
            number += 1
            stack[-1] = (number, stack[-1][1])
        elif word.startswith(("end", "/")) and stack:
            stack.pop()
    if stack:
        return {}  # statements that are not understood: better none than a wrong one
    return {number: branch for number, branch in found.items() if branch}


def _word(statement: re.Match[str]) -> str:
    code = statement["erb"]
    if code is not None:
        words = code.replace("-", " ").replace(";", " ").split()
        first = words[0] if words else ""
        if first == "end" or first in _NEXT:
            return first
        return "if" if first in _ERB_OPENS or "do" in words else ""
    found: str = statement[statement.lastgroup or 0]
    return found


def _inside(stack: Sequence[tuple[int, bool]]) -> Branch:
    return tuple(number for number, unsure in stack if unsure)


def is_template_text(text: str) -> bool:
    """It holds statements of a template language, so that it is no file of its format yet."""
    return any(mark in text for mark in _MARKS[:3]) and _statement_pattern().search(text) is not None


def unsettled(documents: tuple[Document, ...], file: str, text: str) -> tuple[Document, ...]:
    """The documents with what stands in a branch of its own made unknown."""
    branches = branches_of(text)
    if not branches:
        return documents
    return tuple(_unsettled(document, file, branches) for document in documents)


def _unsettled(document: Document, file: str, branches: dict[int, Branch]) -> Document:
    def branch(line: int | None) -> Branch:
        return branches.get(line or 0, ())

    own = [setting.origin.at for setting in document.settings] + [fact.origin.at for fact in document.facts]
    lines = [at.line for at in own if at is not None and at.file == file]
    whole = branch(document.line)
    for line in lines:
        whole = whole[: _common(whole, branch(line))]

    def apart(at: object) -> bool:
        return getattr(at, "file", None) == file and branch(getattr(at, "line", None)) != whole

    return document._replace(
        settings=tuple(_maybe(one) if apart(one.origin.at) else one for one in document.settings),
        facts=tuple(_uncounted(one) if apart(one.origin.at) else one for one in document.facts),
    )


def _common(one: Branch, other: Branch) -> int:
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return length


def _maybe(setting: Setting) -> Setting:
    value = setting.value
    if isinstance(value, Unknown):
        return setting
    shown = "a secret" if isinstance(value, Secret) else value
    return setting._replace(value=Unknown(f"{shown}, in a branch of a template"))


def _uncounted(fact: Fact) -> Fact:
    return fact._replace(value=f"{fact.value}, in a branch of a template")
