"""Elements of a page as text: whatever is put into one is escaped, unless it is an element itself."""

from __future__ import annotations

from collections.abc import Iterable

_VOID = ("meta", "input", "br", "link")


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]


def escaped(text: str) -> str:
    """Half of a surrogate pair is no text that a file can hold: it is written as its escape."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    for letter, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(letter, entity)
    return text


def tag(name: str, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """An attribute that is None or False is left out; `class_` and `data_run` are class and data-run."""
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        words.append(key if value is True else f'{key}="{escaped(str(value))}"')
    head = f"<{' '.join(words)}>"
    return Markup(head if name in _VOID else f"{head}{join(*children)}</{name}>")


def wide(label: str, table: Markup) -> Markup:
    """A table that is scrolled sideways where there is no room for it, by keyboard too."""
    return tag("div", table, class_="wide", role="region", tabindex=0, aria_label=label)


def join(*children: Child) -> Markup:
    return Markup("".join(_text(child) for child in children))


def _text(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int):
        return escaped(str(child))
    return join(*child)
