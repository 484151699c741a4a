"""Which files a repository tracks: git never ignores those, whatever .gitignore says (gitformat-index(5))."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

_BYTES_MAX = 64 * 1024 * 1024
_HEADER = struct.Struct(">4sII")
_FIXED = 62  # times, device, inode, mode, owner, size, SHA-1, flags
_EXTENDED = 0x4000


class Tracked:
    """The files of one repository, and every folder that holds one; read when first asked for."""

    def __init__(self, top: str) -> None:
        self._top = top
        self._paths: frozenset[str] | None = None

    def holds(self, path: str) -> bool:
        if self._paths is None:
            self._paths = _tracked(self._top)
        return path[len(self._top) :].lstrip(os.sep).replace(os.sep, "/") in self._paths


def _tracked(top: str) -> frozenset[str]:
    found: set[str] = set()
    try:
        for path in _paths(_index(top)):
            while path and path not in found:
                found.add(path)
                path = path.rpartition("/")[0]
    except (OSError, ValueError, IndexError, struct.error):
        return frozenset()  # an index that is not understood says nothing
    return frozenset(found)


def _index(top: str) -> bytes:
    place = os.path.join(top, ".git")
    if os.path.isfile(place):  # a worktree or a submodule
        with open(place, encoding="utf-8") as file:
            place = os.path.join(top, file.read(4096).strip().removeprefix("gitdir:").strip())
    with open(os.path.join(place, "index"), "rb") as file:
        data = file.read(_BYTES_MAX + 1)
    if len(data) > _BYTES_MAX:
        raise ValueError("too large")
    return data


def _paths(data: bytes) -> Iterator[str]:
    mark, version, count = _HEADER.unpack_from(data)
    if mark != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("no index")
    at, before = _HEADER.size, b""
    for _ in range(count):
        start = at
        (flags,) = struct.unpack_from(">H", data, at + _FIXED - 2)
        at += _FIXED + (2 if version > 2 and flags & _EXTENDED else 0)
        kept = 0
        if version == 4:
            kept, at = _cut(data, at)
            kept = len(before) - kept
        end = data.index(b"\0", at)
        before = before[:kept] + data[at:end]
        yield before.decode("utf-8", "surrogateescape")
        # Entries are padded with one to eight NULs, but for version 4.
        at = end + 1 if version == 4 else start + ((end - start) // 8 + 1) * 8


def _cut(data: bytes, at: int) -> tuple[int, int]:
    """How many bytes of the name before are cut off: git's own variable-width number."""
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1
