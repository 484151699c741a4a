"""Names by contents: of bytes, and of this program.

What is kept is kept for the program that answered. Its name is a digest of all code and data of ours, so no
number has to be raised by hand, and a checkout that is edited is another program at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module

PACKAGES = ("advisor", "kafka_advisor_plugins", "kafka_advisor_rules")
_ENDINGS = (".py", ".json", ".toml")


def digest(data: bytes) -> str:
    """A name for these bytes: 32 hex digits, equal on every machine and Python version."""
    # hashlib loads OpenSSL (4 ms and more); the extension behind its blake2b loads in 0.3 ms.
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(data, digest_size=16).hexdigest()


@cache
def program_stamp() -> str:
    """Sizes and times of all files of ours: cheaper than reading them, equal as long as none was touched. The
    time of the last change of a file's entry cannot be set back, as that of its contents can."""
    seen = [
        f"{entry.path}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
        for _, entry in _files(_folders())
        for status in (entry.stat(),)
    ]
    return digest("|".join(sorted(seen)).encode("utf-8", "surrogateescape"))


@cache
def program_digest() -> str:
    """The contents of all files of ours, read."""
    return files_digest(_folders())


def files_digest(folders: Iterable[tuple[str, str]]) -> str:
    """A name for all code and data in these folders, each given with its name: wherever they are, and
    whenever they were written."""
    found = []
    for name, entry in sorted(_files(folders), key=lambda one: one[0]):
        with open(entry.path, "rb") as file:
            found.append(f"{name} {digest(file.read())}")
    return digest("\n".join(found).encode("utf-8", "surrogateescape"))


def recalled_digest(get: Callable[[str], object], put: Callable[[str, str], None]) -> str:
    """`program_digest`, from a memory by stamp if it was made before."""
    stamp = program_stamp()
    known = get(stamp)
    if isinstance(known, str):
        return known
    put(stamp, program_digest())
    return program_digest()


def _folders() -> list[tuple[str, str]]:
    return [(name, folder) for name in PACKAGES for folder in import_module(name).__path__]


def _files(folders: Iterable[tuple[str, str]]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    waiting = list(folders)
    while waiting:
        name, folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(_ENDINGS):
                    yield f"{name}/{entry.name}", entry
                elif entry.is_dir() and entry.name != "__pycache__":
                    waiting.append((f"{name}/{entry.name}", entry.path))
