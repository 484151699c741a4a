"""Which files an audit is about: root, targets, context; and reading them without being hurt.

Root = nearest ancestor with kafka-advisor.toml, else with .git, else the argument itself. A folder with its
own kafka-advisor.toml is a root of its own. Context = every file under the root, loaded for linking;
targets = what the user named: only findings there are reported. What .gitignore files name and what a build
tool made is neither, unless the user names the file.
"""

import os
import stat
from collections.abc import Iterator, Sequence

from ..tuples import NamedTuple

PROJECT_FILE = "kafka-advisor.toml"
# Its JSON Schema, for editors: `init` writes it, nobody audits it.
SCHEMA_FILE = "kafka-advisor.schema.json"
BYTES_MAX = 32 * 1024 * 1024
_HEAD = 256 * 1024
_LINE_MAX = 1024 * 1024
_LEADS_OUT = "a link that leads out of the root; name what it leads to"
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})


class Unreadable(Exception):
    """A file that is not audited, with the reason."""


class TooLarge(Unreadable):
    """One that is larger than what is held in memory."""


class Workspace(NamedTuple):
    """One root with its targets, both absolute. `files` is every candidate, sorted, with whether it is
    a target and whether the user named it."""

    root: str
    has_project: bool
    files: tuple[tuple[str, bool, bool], ...]


class Scope(NamedTuple):
    """All workspaces of a run. `base` is the folder that reported paths are relative to. `missing` tells of
    named paths that cannot be read, `locked` of folders below them."""

    base: str
    workspaces: tuple[Workspace, ...]
    missing: tuple[str, ...]
    locked: tuple[str, ...] = ()


def find_scope(paths: Sequence[str], link: bool = True) -> Scope:
    missing: list[str] = []
    named: dict[str, str] = {}
    for path in paths:
        try:
            named.setdefault(_absolute(path), path)
        except Unreadable as error:
            missing.append(f"{path}: {error}")
    targets_by_root: dict[str, list[str]] = {}
    loose = []
    for path in named:
        root = marked_root(path)
        if root is not None:
            targets_by_root.setdefault(root, []).append(path)
        else:
            loose.append(path)
    folders = [path for path in loose if os.path.isdir(path)]
    alone = []
    for path in loose:
        # The outermost named folder is the root of what lies in it, so that no file is audited twice.
        around = min((folder for folder in folders if _inside(path, folder)), key=len, default=None)
        if around is not None:
            targets_by_root.setdefault(around, []).append(path)
        else:
            alone.append(path)
    files: dict[str, dict[str, tuple[bool, bool]]] = {}
    closed: dict[str, str] = {}
    for root in sorted(targets_by_root):
        _collect(root, targets_by_root[root], link, files, closed)
    if alone:
        # Files without a root are their own context: a file in a home folder must not pull all of it in.
        files.setdefault(_common_folder(alone), {}).update(dict.fromkeys(alone, (True, True)))
    base = _common_folder([os.path.join(root, "x") for root in files]) if files else os.getcwd()
    missing += [f"{named[folder]}: {reason}" for folder, reason in closed.items() if folder in named]
    return Scope(
        base,
        tuple(
            Workspace(
                root,
                os.path.isfile(os.path.join(root, PROJECT_FILE)),
                tuple((path, *flags) for path, flags in sorted(files[root].items())),
            )
            for root in sorted(files)
        ),
        tuple(missing),
        tuple(
            f"{os.path.relpath(folder, base)}: {reason}"
            for folder, reason in sorted(closed.items())
            if folder not in named and any(_inside(folder, target) for target in named)
        ),
    )


def leave_out(scope: Scope, paths: Sequence[str]) -> Scope:
    """The scope without the context that lies in these paths; targets stay."""
    if not paths:
        return scope
    tops = [os.path.realpath(path) for path in paths]
    return scope._replace(
        workspaces=tuple(
            workspace._replace(
                files=tuple(
                    entry
                    for entry in workspace.files
                    if entry[1] or not any(_inside(entry[0], top) for top in tops)
                )
            )
            for workspace in scope.workspaces
        )
    )


def _absolute(path: str) -> str:
    if not os.path.lexists(path):
        raise Unreadable("no such file or folder")
    # The folder is resolved, the last part is not: a link to a file is judged by where it lies.
    folder, name = os.path.split(os.path.abspath(path))
    place = os.path.join(os.path.realpath(folder), name)
    if os.path.islink(place) and os.path.isdir(place):
        root = marked_root(os.path.dirname(place))
        if root is not None and not _leads_inside(place, root):
            raise Unreadable(_LEADS_OUT)
        return os.path.realpath(place)
    return place


def marked_root(path: str) -> str | None:
    """The nearest folder above with a project file, else with a .git; None if there is neither."""
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    git = None
    while True:
        if os.path.isfile(os.path.join(folder, PROJECT_FILE)):
            return folder
        if git is None and os.path.exists(os.path.join(folder, ".git")):
            git = folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return git
        folder = parent


def _common_folder(paths: Sequence[str]) -> str:
    return os.path.commonpath([os.path.dirname(path) for path in paths])


def _collect(
    root: str,
    targets: Sequence[str],
    link: bool,
    files: dict[str, dict[str, tuple[bool, bool]]],
    closed: dict[str, str],
) -> None:
    own = files.setdefault(root, {})
    folders = [target for target in targets if os.path.isdir(target)]
    for start in [root] if link else folders:
        for path, home in _walk(start, root, closed):
            is_target = any(_inside(path, folder) for folder in folders)
            if home == root:
                own.setdefault(path, (is_target, False))
            elif is_target:
                files.setdefault(home, {}).setdefault(path, (True, False))
    for target in targets:
        if not os.path.isdir(target):
            own[target] = (True, True)


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _walk(start: str, root: str, closed: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Every file below `start` with the root it belongs to, in a fixed order, links to folders left out.
    Folders that cannot be listed go into `closed`."""
    from .git.ignored import above, is_build_output

    waiting = [(start, root, above(start))]
    while waiting:
        folder, home, ignored = waiting.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            closed[folder] = _os_reason(error)
            continue
        if folder != home and any(entry.name == PROJECT_FILE for entry in entries):
            home = folder
        names = {entry.name for entry in entries}
        ignored = ignored.below(folder, names)
        for entry in entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                kept = not name.startswith(".") and name not in _SKIPPED_FOLDERS
                if kept and not is_build_output(name, names) and not ignored.leaves_out(entry.path, True):
                    waiting.append((entry.path, home, ignored))
            elif (
                name not in (PROJECT_FILE, SCHEMA_FILE)
                and (not entry.is_symlink() or os.path.isfile(entry.path))
                and not ignored.leaves_out(entry.path, False)
            ):
                yield entry.path, home


def read_bytes(path: str, limit: int = BYTES_MAX, root: str | None = None) -> bytes:
    """The file's bytes, or Unreadable with a reason: never blocks on a FIFO, never reads without bound, and
    follows no link out of `root`."""
    handle = _open(path, root)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("not a regular file")
        if status.st_size > limit:
            raise TooLarge(f"{status.st_size} bytes, more than the limit of {limit}")
        # One read, with a buffer of the file's size: a buffer of the limit's would cost more than the file.
        data = os.read(handle, status.st_size + 1)
        if len(data) != status.st_size:
            with open(handle, "rb", closefd=False) as file:
                file.seek(0)
                data = file.read(limit + 1)
    except OSError as error:
        raise Unreadable(_os_reason(error)) from error
    finally:
        os.close(handle)
    if len(data) > limit:
        raise TooLarge(f"more than the limit of {limit} bytes")
    return data


def read_lines(path: str, root: str | None = None) -> Iterator[str]:
    """The lines of a file of any size, one by one; of one that no person wrote, its beginning."""
    with open(_open(path, root), "rb") as file:
        while line := file.readline(_LINE_MAX):
            yield line.decode("utf-8", "replace").rstrip("\r\n")
            while len(line) == _LINE_MAX and not line.endswith(b"\n"):
                line = file.readline(_LINE_MAX)


def read_head(path: str, root: str | None = None) -> bytes:
    """The beginning of a file of any size."""
    try:
        with open(_open(path, root), "rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        raise Unreadable(_os_reason(error)) from error


def _open(path: str, root: str | None) -> int:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
    try:
        try:
            return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            # A link, or what cannot be opened in any way.
            if root is not None and os.path.islink(path) and not _leads_inside(path, root):
                raise Unreadable(_LEADS_OUT) from None
            return os.open(path, flags)
    except OSError as error:
        raise Unreadable(_os_reason(error)) from error


def _leads_inside(link: str, root: str) -> bool:
    # A link that leads nowhere is told as such by opening it.
    return not os.path.exists(link) or _inside(os.path.realpath(link), os.path.realpath(root))


def decode(data: bytes, fallback: str | None) -> str:
    """Text of a file. Java reads .properties as ISO-8859-1 where they are not UTF-8; YAML must be UTF-8."""
    if b"\0" in data:
        raise Unreadable("binary: it holds NUL bytes")
    try:
        # Not utf-8-sig: that codec is written in Python.
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        if fallback is not None:
            return data.decode(fallback)
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"not UTF-8: byte {data[error.start]:#04x} on line {line}") from None


def _os_reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
