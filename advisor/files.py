"""Which files an audit is about: root, targets, context; and reading them without being hurt.

Root = nearest ancestor with kafka-advisor.toml, else with .git, else the argument itself. A folder with its
own kafka-advisor.toml is a root of its own. Context = every file under the root, loaded for linking;
targets = what the user named: only findings there are reported.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple

PROJECT_FILE = "kafka-advisor.toml"
BYTES_MAX = 32 * 1024 * 1024
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})


class Unreadable(Exception):
    """A file that is not audited, with the reason."""


class Workspace(NamedTuple):
    """One root with its targets, both absolute. `files` is every candidate, sorted, with whether it is
    a target and whether the user named it."""

    root: str
    has_project: bool
    files: tuple[tuple[str, bool, bool], ...]


class Scope(NamedTuple):
    """All workspaces of a run. `base` is the folder that reported paths are relative to."""

    base: str
    workspaces: tuple[Workspace, ...]
    missing: tuple[str, ...]


def find_scope(paths: Sequence[str], link: bool = True) -> Scope:
    missing = [path for path in paths if not os.path.lexists(path)]
    named = [_absolute(path) for path in paths if path not in missing]
    targets_by_root: dict[str, list[str]] = {}
    for path in named:
        targets_by_root.setdefault(_root_of(path) or "", []).append(path)
    loose = targets_by_root.pop("", [])
    workspaces: dict[str, dict[str, tuple[bool, bool]]] = {}
    for root in sorted(targets_by_root):
        _collect(root, targets_by_root[root], link, workspaces)
    if loose:
        # Files without a root are their own context: a file in a home folder must not pull all of it in.
        folder = _common_folder(loose)
        _collect_named(folder, loose, workspaces)
    base = _common_folder([os.path.join(root, "x") for root in workspaces]) if workspaces else os.getcwd()
    return Scope(
        base,
        tuple(
            Workspace(
                root,
                os.path.isfile(os.path.join(root, PROJECT_FILE)),
                tuple((path, *flags) for path, flags in sorted(files.items())),
            )
            for root, files in sorted(workspaces.items())
        ),
        tuple(f"{path}: no such file or folder" for path in missing),
    )


def _absolute(path: str) -> str:
    # The folder is resolved, the last part is not: a link is judged by where it lies.
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name) if name else os.path.realpath(folder)


def _root_of(path: str) -> str | None:
    """None for a file with neither mark above it."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    start, git = folder, None
    while True:
        if os.path.isfile(os.path.join(folder, PROJECT_FILE)):
            return folder
        if git is None and os.path.exists(os.path.join(folder, ".git")):
            git = folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    if git is not None:
        return git
    return start if os.path.isdir(path) else None


def _common_folder(paths: Sequence[str]) -> str:
    return os.path.commonpath([os.path.dirname(path) for path in paths])


def _collect(
    root: str, targets: Sequence[str], link: bool, workspaces: dict[str, dict[str, tuple[bool, bool]]]
) -> None:
    own = workspaces.setdefault(root, {})
    folders = [target for target in targets if os.path.isdir(target)]
    for start in [root] if link else folders:
        for path, home in _walk(start, root):
            is_target = any(_inside(path, folder) for folder in folders)
            if home == root:
                own.setdefault(path, (is_target, False))
            elif is_target or (link and any(_inside(path, other) for other in folders)):
                workspaces.setdefault(home, {}).setdefault(path, (is_target, False))
    for target in targets:
        if not os.path.isdir(target):
            own[target] = (True, True)


def _collect_named(
    folder: str, targets: Sequence[str], workspaces: dict[str, dict[str, tuple[bool, bool]]]
) -> None:
    own = workspaces.setdefault(folder, {})
    for target in targets:
        own[target] = (True, True)


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _walk(folder: str, home: str) -> Iterator[tuple[str, str]]:
    """Every file below `folder` with the root it belongs to, in sorted order, links to folders left out."""
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError:
        return
    if folder != home and any(entry.name == PROJECT_FILE for entry in entries):
        home = folder
    for entry in entries:
        name = entry.name
        if entry.is_dir(follow_symlinks=False):
            if not name.startswith(".") and name not in _SKIPPED_FOLDERS:
                yield from _walk(entry.path, home)
        elif entry.is_symlink():
            # A link may stand for a file inside the root, never for one outside of it.
            if os.path.isfile(entry.path) and _inside(os.path.realpath(entry.path), home):
                yield entry.path, home
        elif name != PROJECT_FILE:
            yield entry.path, home


def read_bytes(path: str, limit: int = BYTES_MAX) -> bytes:
    """The file's bytes, or Unreadable with a reason: never blocks on a FIFO, never reads without bound."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise Unreadable(_os_reason(error)) from error
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("not a regular file")
        if status.st_size > limit:
            raise Unreadable(f"{status.st_size} bytes, more than the limit of {limit}")
        data = os.read(handle, limit + 1) if status.st_size < 65536 else b""
        if status.st_size >= 65536:
            with open(handle, "rb", closefd=False) as file:
                data = file.read(limit + 1)
    except OSError as error:
        raise Unreadable(_os_reason(error)) from error
    finally:
        os.close(handle)
    if len(data) > limit:
        raise Unreadable(f"more than the limit of {limit} bytes")
    return data


def decode(data: bytes, fallback: str | None) -> str:
    """Text of a file. Java reads .properties as ISO-8859-1 where they are not UTF-8; YAML must be UTF-8."""
    if b"\0" in data:
        raise Unreadable("binary: it holds NUL bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if fallback is not None:
            return data.decode(fallback)
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"not UTF-8: byte {data[error.start]:#04x} on line {line}") from None


def _os_reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
