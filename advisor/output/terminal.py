"""What the terminal can show: how wide it is, whether it has colours, and whether it asks for plain ASCII.

Where output goes to a file or a pipe it is 100 columns wide and without colour, so that it is the same
everywhere. COLUMNS counts for a terminal only: a library that nobody asked may have set it for all children.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

from ..tuples import NamedTuple

WIDTH, WIDTH_MIN, WIDTH_MAX = 100, 60, 120


class Terminal(NamedTuple):
    width: int = WIDTH
    colour: bool = False
    ascii_only: bool = False


def terminal(stream: TextIO | None = None) -> Terminal:
    out = sys.stdout if stream is None else stream
    shown = out is not None and out.isatty()
    colour = shown and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Terminal(_width(out, shown), colour, _ascii(out))


def _width(out: TextIO, shown: bool) -> int:
    if not shown:
        return WIDTH
    stated = os.environ.get("COLUMNS", "")
    if stated.isascii() and stated.isdigit() and len(stated) < 6:
        width = int(stated)
    else:
        try:
            width = os.get_terminal_size(out.fileno()).columns or WIDTH
        except (OSError, ValueError):
            width = WIDTH
    return max(WIDTH_MIN, min(width, WIDTH_MAX))


def _ascii(out: TextIO | None) -> bool:
    """The locale C or POSIX, or an output that cannot take our signs. Python makes C.UTF-8 of C where it can,
    and says so in LC_CTYPE."""
    asked = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    if asked == "C.UTF-8" and not os.environ.get("LC_ALL") and os.environ.get("LANG") in ("C", "POSIX"):
        return True
    encoding = (getattr(out, "encoding", None) or "utf-8").lower().replace("-", "").replace("_", "")
    return asked in ("C", "POSIX") or encoding not in ("utf8", "utf16", "utf32", "cp65001")


_SIGNS = str.maketrans(
    {"✗": "x", "◂": "<", "│": "|", "→": "->", "…": "...", "×": "x", "≥": ">=", "≤": "<=", "·": "-", "─": "-"}
)


def plain_signs(text: str) -> str:
    """Our own signs in ASCII; what files hold stays."""
    return text if text.isascii() else text.translate(_SIGNS)


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Lines no longer than this, but for single words that are."""
    if len(text) <= width:
        return [text]
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if line.strip() and len(joined) > width:
            lines.append(line)
            line = indent + word
        else:
            line = joined
    return [*lines, line]
