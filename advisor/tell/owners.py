"""Who owns a file: by a CODEOWNERS file, or by a pattern over its path such as `{team}/{service}/**`.

CODEOWNERS is read as GitHub does, and as GitLab does where it lies in `.gitlab` or has sections: the last
line that matches wins, the first owner it names is the one shown. Of several sections that match, the last
that is not optional counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..model import UsageError
from ..tuples import NamedTuple

UNOWNED = "(nobody)"
CODEOWNERS = "CODEOWNERS"
HIDDEN_HOMES = (".github", ".gitlab")
# GitHub's order, then what GitLab has besides.
PLACES = (f".github/{CODEOWNERS}", CODEOWNERS, f"docs/{CODEOWNERS}", f".gitlab/{CODEOWNERS}")
_SECTION = re.compile(r"(\^?)\[([^\]]+)\](?:\[\d+\])?\s*(.*)")


class Line(NamedTuple):
    """`owner` None takes a path out of its section; UNOWNED leaves it to nobody."""

    pattern: re.Pattern[str]
    owner: str | None
    section: str
    optional: bool


class Owners(NamedTuple):
    """The lines of a CODEOWNERS, or one path pattern."""

    lines: tuple[Line, ...] = ()
    pattern: re.Pattern[str] | None = None

    def of(self, path: str) -> str:
        if self.pattern is not None:
            found = self.pattern.match(path)
            return (found.group("owner") if found else None) or UNOWNED
        optional = UNOWNED
        settled: set[str] = set()
        for line in reversed(self.lines):
            if line.section in settled or not line.pattern.search(path):
                continue
            settled.add(line.section)
            if line.owner is not None and not line.optional:
                return line.owner
            if line.owner is not None and optional == UNOWNED:
                optional = line.owner
        return optional


def path_pattern(text: str) -> Owners:
    """`{team}` or `{owner}` is the owner, another name in braces any one part of the path; `*` and `**` as
    usual. What matches a folder matches all that is in it."""
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
    return Owners(pattern=re.compile(f"{made}(?:/|$)"))


def _literal(word: str) -> str:
    return "[^/]+" if re.fullmatch(r"\{\w+\}", word) else re.escape(word)


def codeowners(text: str, gitlab: bool = False) -> Owners:
    """`gitlab`: known to be GitLab's, by where it lies."""
    lines = []
    section, optional, default = "", False, ""
    # GitHub knows no brackets, so a line that begins with one is a section.
    gitlab = gitlab or any(_SECTION.match(line) for line in text.splitlines())
    for raw in text.splitlines():
        line = re.split(r"(?<!\\)#", raw, maxsplit=1)[0].strip()
        head = _SECTION.fullmatch(line)
        if head is not None:
            optional, section, default = bool(head.group(1)), head.group(2).strip().lower(), head.group(3)
            continue
        words = re.split(r"(?<!\\)\s+", line)
        if not words[0]:
            continue
        excluded = gitlab and words[0].startswith("!")
        given = words[1:] or default.split()
        owner = given[0].lstrip("@") if given else UNOWNED
        pattern = _glob(words[0].removeprefix("!") if excluded else words[0], gitlab)
        lines.append(Line(pattern, None if excluded else owner, section, optional))
    return Owners(tuple(lines))


def _glob(pattern: str, gitlab: bool) -> re.Pattern[str]:
    """GitHub anchors what has a slash before its end, as .gitignore does; GitLab what begins with one."""
    plain = re.sub(r"\\([\s#])", r"\1", pattern)
    anchored = plain.startswith("/") if gitlab else "/" in plain.rstrip("/")
    parts = []
    for word in re.split(r"(\*\*/|\*\*|\*|\?)", plain.strip("/")):
        parts.append({"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(word) or re.escape(word))
    last = plain.rstrip("/").rpartition("/")[2]
    # `docs/*` is what lies in docs and no deeper; a name may be a folder's.
    end = "/" if plain.endswith("/") else "$" if "*" in last else "(?:/|$)"
    return re.compile(("^" if anchored else "(?:^|/)") + "".join(parts) + end)


def codeowners_of(read: Callable[[str], bytes | None], folder: str) -> Owners | None:
    """Of the folder, by the first of PLACES that `read` finds there."""
    for place in PLACES:
        data = read(f"{folder}/{place}")
        if data is not None:
            return codeowners(data.decode("utf-8", "replace"), place.startswith(".gitlab/"))
    return None


def owners_given(text: str) -> Owners:
    """Of --owners: a path pattern, or the text of a CODEOWNERS file."""
    return path_pattern(text) if "{" in text.partition("\n")[0] else codeowners(text)
