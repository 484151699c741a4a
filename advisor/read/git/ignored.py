"""What a repository does not keep: paths that .gitignore files name, by git's own rules, and build output.

The last pattern that fits wins, a deeper file comes after the ones above it, `!` takes a pattern back, and
what lies in a folder that is left out cannot be taken back (gitignore(5)). Patterns are compared step by
step, never as regular expressions: a cloned repository may name anything.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from ...tuples import NamedTuple
from .index import Tracked

FILE = ".gitignore"
# Longer files are no list of patterns that a person wrote.
_PATTERNS_MAX = 5_000
_TEXT_MAX = 1_000_000
# Made by the build tool whose file stands beside: what is in there is a copy of what is audited already.
_BUILT = {
    "target": ("pom.xml", "build.sbt", "Cargo.toml"),
    "build": ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
    "bin": ("build.gradle", "build.gradle.kts", "pom.xml"),
    "out": ("build.gradle", "build.gradle.kts", "pom.xml"),
    "vendor": ("go.mod", "composer.json"),
}


def is_build_output(name: str, beside: Collection[str]) -> bool:
    return any(tool in beside for tool in _BUILT.get(name, ()))


class Pattern(NamedTuple):
    """One line: the parts of its path, whether it must fit from the file's own folder on."""

    parts: tuple[str, ...]
    anchored: bool
    folders_only: bool
    taken_back: bool


class Ignored(NamedTuple):
    """The patterns in force in one folder: (folder they are written in, patterns), the outermost first; and
    what the repository tracks all the same."""

    files: tuple[tuple[str, tuple[Pattern, ...]], ...] = ()
    tracked: Tracked | None = None

    def below(self, folder: str, names: Collection[str]) -> Ignored:
        """With the folder's own file, if it has one."""
        tracked = Tracked(folder) if ".git" in names else self.tracked
        patterns = read_patterns(os.path.join(folder, FILE)) if FILE in names else ()
        if not patterns and tracked is self.tracked:
            return self
        return Ignored((*self.files, (folder, patterns)) if patterns else self.files, tracked)

    def leaves_out(self, path: str, is_folder: bool) -> bool:
        return self._names(path, is_folder) and not (self.tracked is not None and self.tracked.holds(path))

    def _names(self, path: str, is_folder: bool) -> bool:
        for folder, patterns in reversed(self.files):
            parts = path[len(folder) :].lstrip(os.sep).split(os.sep)
            for pattern in reversed(patterns):
                if (is_folder or not pattern.folders_only) and _fits(pattern, parts):
                    return not pattern.taken_back
        return False


def above(folder: str) -> Ignored:
    """What the folders above say, up to the one with the repository's .git."""
    chain = []
    at = folder
    while not os.path.exists(os.path.join(at, ".git")):
        parent = os.path.dirname(at)
        if parent == at:
            return Ignored()  # in no repository: what lies above is somebody else's
        chain.append(parent)
        at = parent
    exclude = read_patterns(os.path.join(at, ".git", "info", "exclude"))
    found = Ignored(((at, exclude),) if exclude else (), Tracked(at))
    for one in reversed(chain):
        found = found.below(one, (FILE,))
    return found


def read_patterns(path: str) -> tuple[Pattern, ...]:
    try:
        if not os.path.isfile(path):
            return ()
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(_TEXT_MAX)
    except OSError:
        return ()
    return parse_patterns(text)


def parse_patterns(text: str) -> tuple[Pattern, ...]:
    found = (_pattern(line) for line in text.splitlines()[:_PATTERNS_MAX])
    return tuple(one for one in found if one is not None)


def _pattern(line: str) -> Pattern | None:
    text = line.rstrip("\r\n")
    while text.endswith((" ", "\t")) and not text.endswith("\\ "):
        text = text[:-1]
    if not text or text.startswith("#"):
        return None
    taken_back = text.startswith("!")
    text = text.removeprefix("!")
    folders_only = text.endswith("/")
    text = text.rstrip("/") if folders_only else text
    anchored = "/" in text
    parts = tuple(part for part in text.split("/") if part)
    return Pattern(parts, anchored, folders_only, taken_back) if parts else None


def _fits(pattern: Pattern, parts: Sequence[str]) -> bool:
    if not pattern.anchored:
        return fits_word(pattern.parts[0], parts[-1])
    return _fits_path(pattern.parts, parts)


def _fits_path(wanted: Sequence[str], parts: Sequence[str]) -> bool:
    """`**` stands for any number of folders; at the end for anything inside."""
    if wanted[-1] == "**":
        wanted = (*wanted, "*")
    at = place = 0
    again: tuple[int, int] | None = None
    while place < len(parts):
        if at < len(wanted) and wanted[at] == "**":
            again, at = (at, place), at + 1
        elif at < len(wanted) and fits_word(wanted[at], parts[place]):
            at, place = at + 1, place + 1
        elif again is not None:
            again = (again[0], again[1] + 1)
            at, place = again[0] + 1, again[1]
        else:
            return False
    return at == len(wanted)


def fits_word(wanted: str, word: str) -> bool:
    """One part of a path against `*`, `?`, `[a-z]` and plain letters."""
    if wanted == word:
        return True
    tokens = _tokens(wanted)
    at = place = 0
    again: tuple[int, int] | None = None
    while place < len(word):
        token = tokens[at] if at < len(tokens) else None
        if token == "*":
            again, at = (at, place), at + 1
        elif token is not None and _is_one(token, word[place]):
            at, place = at + 1, place + 1
        elif again is not None:
            again = (again[0], again[1] + 1)
            at, place = again[0] + 1, again[1]
        else:
            return False
    return all(token == "*" for token in tokens[at:])


def _is_one(token: str, letter: str) -> bool:
    if token == "?":
        return True
    if token.startswith("[") and len(token) > 2:
        inside = token[1:-1]
        out = inside.startswith(("!", "^"))
        inside = inside[1:] if out else inside
        found, at = False, 0
        while at < len(inside):
            if at + 2 < len(inside) and inside[at + 1] == "-":
                found = found or inside[at] <= letter <= inside[at + 2]
                at += 3
            else:
                found = found or inside[at] == letter
                at += 1
        return found != out
    return token[-1] == letter


def _tokens(wanted: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(wanted):
        letter = wanted[at]
        if letter == "\\" and at + 1 < len(wanted):
            tokens.append(wanted[at : at + 2])
            at += 2
            continue
        if letter == "[":
            end = wanted.find("]", at + 2)
            if end > 0:
                tokens.append(wanted[at : end + 1])
                at = end + 1
                continue
        if letter != "*" or not tokens or tokens[-1] != "*":
            tokens.append(letter)
        at += 1
    return tokens
