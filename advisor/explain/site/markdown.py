"""The guide's texts as markup: the small part of Markdown that they use.

A fenced block says what it is and, for a file, its name: ```` ```toml house.toml ````. `console` blocks have
commands after `$ ` and what they print. Tests write every file and run every command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...tell.html.markup import Child, Markup, join, tag, wide
from ...tuples import NamedTuple

_INLINE = re.compile(r"`([^`]{1,400}+)`|\*\*([^*]{1,400}+)\*\*|\[([^\[\]]{1,200}+)\]\(([^()\s]{1,200}+)\)")
_FENCE = "```"


class Block(NamedTuple):
    """A fenced block: what it is, the file that it is (or "") and its text."""

    kind: str
    file: str
    text: str
    line: int


def blocks_of(text: str) -> list[Block]:
    found, kind, start, lines = [], None, 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith(_FENCE):
            lines.append(line)
        elif kind is None:
            kind, start, lines = line.removeprefix(_FENCE), number, []
        else:
            word, _, file = kind.partition(" ")
            found.append(Block(word, file, "".join(f"{one}\n" for one in lines), start))
            kind = None
    return found


def title_of(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def markup_of(text: str) -> list[Child]:
    """Without the title, which the page has."""
    return list(_parts(text.splitlines()[1:]))


def inline(text: str) -> list[Child]:
    made: list[Child] = []
    at = 0
    for found in _INLINE.finditer(text):
        made.append(text[at : found.start()])
        code, bold, words, link = found.groups()
        if code is not None:
            made.append(tag("code", code))
        elif bold is not None:
            made.append(tag("b", bold))
        else:
            made.append(tag("a", words, href=link))
        at = found.end()
    return [*made, text[at:]]


def _parts(lines: list[str]) -> Iterator[Child]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(_FENCE):
            end = lines.index(_FENCE, at + 1)
            yield _fenced(line.removeprefix(_FENCE), "\n".join(lines[at + 1 : end]))
            at = end + 1
        elif line.startswith("#"):
            level, _, words = line.partition(" ")
            yield tag(f"h{len(level)}", inline(words), id=anchor(words))
            at += 1
        elif line.startswith("|"):
            at, rows = _while(lines, at, "|")
            yield _table(rows)
        elif line.startswith("- "):
            at, items = _items(lines, at)
            yield tag("ul", [tag("li", inline(item)) for item in items])
        elif line:
            start = at
            while at < len(lines) and lines[at] and not lines[at].startswith((_FENCE, "#", "|", "- ")):
                at += 1
            yield tag("p", inline(" ".join(lines[start:at])))
        else:
            at += 1


def anchor(words: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def _fenced(info: str, text: str) -> Markup:
    kind, _, file = info.partition(" ")
    caption = tag("p", tag("code", file.removeprefix("+")), class_="soft file") if file else None
    return join(caption, tag("pre", text, tabindex=0, aria_label=file or kind))


def _while(lines: list[str], at: int, sign: str) -> tuple[int, list[str]]:
    start = at
    while at < len(lines) and lines[at].startswith(sign):
        at += 1
    return at, lines[start:at]


def _items(lines: list[str], at: int) -> tuple[int, list[str]]:
    """An item goes on in lines that are set in."""
    items: list[str] = []
    while at < len(lines) and lines[at].startswith(("- ", "  ")):
        if lines[at].startswith("- "):
            items.append(lines[at][2:])
        else:
            items[-1] += " " + lines[at].strip()
        at += 1
    return at, items


def _table(rows: list[str]) -> Markup:
    head, _, *body = ([cell.strip() for cell in row.strip("|").split(" | ")] for row in rows)
    top = tag("thead", tag("tr", [tag("th", inline(cell)) for cell in head]))
    lines = [tag("tr", [tag("td", inline(cell)) for cell in row]) for row in body]
    label = " and ".join(filter(None, head)) or "table"
    return wide(label, tag("table", top, tag("tbody", lines), class_="plain"))
