"""Who owns a file: by a CODEOWNERS file, or by a pattern over its path such as `{team}/{service}/**`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..model import UsageError

UNOWNED = "(nobody)"
CODEOWNERS = "CODEOWNERS"
# Where GitHub looks for it, in its order.
PLACES = (f".github/{CODEOWNERS}", CODEOWNERS, f"docs/{CODEOWNERS}")


class Owners(NamedTuple):
    """`lines` of CODEOWNERS as (pattern, owner), the last that matches wins; or one path pattern."""

    lines: tuple[tuple[str, str], ...] = ()
    pattern: str | None = None

    def of(self, path: str) -> str:
        if self.pattern is not None:
            found = re.match(self.pattern, path)
            return (found.group("owner") if found else None) or UNOWNED
        for pattern, owner in reversed(self.lines):
            if re.search(pattern, path):
                return owner
        return UNOWNED


def path_pattern(text: str) -> Owners:
    """`{team}` or `{owner}` is the owner, another name in braces any one part of the path; `*` and `**` as
    usual."""
    parts = []
    for word in re.split(r"(\{\w+\}|\*\*|\*|\?)", text.strip("/")):
        if word in ("{team}", "{owner}"):
            parts.append("(?P<owner>[^/]+)")
        else:
            parts.append({"**": ".*", "*": "[^/]*", "?": "[^/]"}.get(word) or _literal(word))
    made = "".join(parts)
    if made.count("?P<owner>") != 1:
        raise UsageError(
            f"--owners {text}: name the part that is the owner once, as {{team}}, or give a CODEOWNERS file"
        )
    return Owners(pattern=made)


def _literal(word: str) -> str:
    return "[^/]+" if re.fullmatch(r"\{\w+\}", word) else re.escape(word)


def codeowners(text: str) -> Owners:
    """As GitHub reads it: the last line that matches wins, the first owner named is the one shown."""
    lines = []
    for line in text.splitlines():
        words = line.split("#", 1)[0].split()
        if words:
            owner = words[1].lstrip("@") if len(words) > 1 else UNOWNED
            lines.append((_glob(words[0]), owner))
    return Owners(tuple(lines))


def _glob(pattern: str) -> str:
    anchored = "/" in pattern.rstrip("/")
    made = re.escape(pattern.strip("/")).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*")
    made = made.replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    start = "^" if anchored else "(?:^|/)"
    return f"{start}{made}(?:/|$)"


def nearest(files: Sequence[str]) -> str | None:
    """The one of a root's CODEOWNERS that counts."""
    for place in PLACES:
        if place in files:
            return place
    return None
