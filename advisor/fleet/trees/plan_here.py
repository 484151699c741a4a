"""Files on this machine's file system: found as `audit` finds them, read later by the workers.

So links, pipes, locked and hidden files are to a fleet what they are to an audit. A root is what it is to an
audit, or a folder that `--roots` matches, or a repository below the source (a folder with a .git).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ...model import UsageError
from ...read.files import find_scope
from ...read.load import relative

if TYPE_CHECKING:
    from ..run import Run

GLOB = re.compile(r"[*?\[{]")


def local_path(source: str) -> str | None:
    scheme, colon, rest = source.partition(":")
    if not colon or os.path.exists(source):
        return source
    return "/" + rest.lstrip("/") if scheme == "file" else None


def found_here(run: Run, sources: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Rows of trees.LISTED."""
    paths = [path for source in sources for path in _expanded(source)]
    scope = find_scope(paths, run.options.link)
    if scope.missing:
        raise UsageError(scope.missing[0])
    tops = sorted({os.path.realpath(_top(source)) for source in sources}, key=len, reverse=True)
    suffixes = tuple(suffix for spec in run.registry.formats for suffix in spec.suffixes)
    asked = roots_pattern(run.options.roots)
    for workspace in scope.workspaces:
        for path, target, named in workspace.files:
            if not named and not path.lower().endswith(suffixes):
                continue
            top = next((top for top in tops if path.startswith(top.rstrip("/") + "/")), scope.base)
            root = _asked_root(path, top, asked)
            if len(root) <= len(workspace.root):
                found = None if workspace.has_project else _repository(os.path.dirname(path), workspace.root)
                root = found or workspace.root
            yield root, scope.base, top, relative(path, root), target, named, path, None, None, None
    for told in scope.locked:
        folder, _, reason = told.rpartition(": ")
        place = os.path.join(scope.base, folder)
        # A root of its own, since nothing is known of what is in it.
        yield place, scope.base, place, ".", True, False, None, None, None, reason


def _expanded(source: str) -> list[str]:
    if os.path.lexists(source) or not GLOB.search(source):
        return [source]
    from glob import glob

    found = sorted({path for pattern in _braces(source) for path in glob(pattern, recursive=True)})
    if not found:
        raise UsageError(f"{source}: no such file or folder")
    return found


def _braces(pattern: str) -> list[str]:
    """`a/{b,c}` as a shell reads it."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if found is None:
        return [pattern]
    before, after = pattern[: found.start()], pattern[found.end() :]
    return [made for part in found.group(1).split(",") for made in _braces(before + part + after)]


def _top(source: str) -> str:
    """The folder of a source, which patterns of --roots and --owners begin at."""
    if os.path.isdir(source):
        return source
    plain = source if os.path.lexists(source) else GLOB.split(source, maxsplit=1)[0]
    return os.path.dirname(plain) or "."


def roots_pattern(roots: str | None) -> re.Pattern[str] | None:
    """What `--roots` matches of a path below the source; Java reads it the same way."""
    if roots is None:
        return None
    made = re.escape(roots.strip("/")).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    return re.compile(f"{made}(?=/)")


def _asked_root(path: str, top: str, asked: re.Pattern[str] | None) -> str:
    found = None if asked is None else asked.match(relative(path, top))
    return "" if found is None else os.path.join(top, found.group())


@cache
def _repository(folder: str, top: str) -> str | None:
    """The nearest folder with a .git, from `folder` up to below `top`."""
    if len(folder) <= len(top):
        return None
    if os.path.exists(os.path.join(folder, ".git")):
        return folder
    return _repository(os.path.dirname(folder), top)
