"""The cache kept small: what was used longest ago goes first, what other programs left goes in time."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..tuples import NamedTuple

# Folders of this shape are the cache's: one for each program. Others may share the folder with it.
PROGRAM_FOLDER = "program-"
# Before programs had digests, a folder was named by two versions.
_OLD_FOLDER = "2-0."
BYTES_MAX = 64 * 1024 * 1024
ENTRIES_MAX = 20_000
# A sweep makes room for what comes next, or the next one would follow at once.
_FILLED_TO = 0.75
# Somebody may work with two checkouts in turn; what neither has used for a week is left behind.
_DAY = 24 * 60 * 60
OTHERS_SECONDS_MAX = 7 * _DAY


class Entry(NamedTuple):
    used: float
    size: int
    path: str
    mine: bool


def mark_used(path: str, modified: float, now: float) -> None:
    """An entry's time of modification is that of its last use, to within a day: reading writes nothing more
    than that."""
    if now - modified > _DAY:
        try:
            os.utime(path)
        except OSError:
            pass


def sweep(folder: str, program: str, now: float) -> None:
    """Remove entries until the bounds are kept. Another process may do the same, or use the cache: an entry
    that is gone is made anew."""
    entries = sorted(_entries(folder, program))
    size, count = sum(entry.size for entry in entries), len(entries)
    full = size > BYTES_MAX or count > ENTRIES_MAX
    for entry in entries:
        left_behind = not entry.mine and now - entry.used > OTHERS_SECONDS_MAX
        over = size > BYTES_MAX * _FILLED_TO or count > ENTRIES_MAX * _FILLED_TO
        if left_behind or (full and over):
            try:
                os.unlink(entry.path)
            except OSError:
                continue
            size, count = size - entry.size, count - 1
    _remove_empty(folder, program)


def _entries(folder: str, program: str) -> Iterator[Entry]:
    for name in _programs(folder):
        for kind in _listed(os.path.join(folder, name)):
            for entry in _scanned(os.path.join(folder, name, kind)):
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                yield Entry(status.st_mtime, status.st_size, entry.path, name == program)


def _programs(folder: str) -> list[str]:
    return [name for name in _listed(folder) if name.startswith((PROGRAM_FOLDER, _OLD_FOLDER))]


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _scanned(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            # A part is what a writer was killed over.
            return [entry for entry in entries if entry.name.endswith((".json", ".part"))]
    except OSError:
        return []


def _remove_empty(folder: str, program: str) -> None:
    for name in _programs(folder):
        if name != program:
            home = os.path.join(folder, name)
            for place in (*(os.path.join(home, kind) for kind in _listed(home)), home):
                try:
                    os.rmdir(place)
                except OSError:  # not empty
                    pass
