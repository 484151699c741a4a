"""The code of plugins as one digest, so that what is kept is forgotten when any file of a plugin changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType

from .calls import PluginError, call

# What is larger is data: its size and its time stand for it.
_READ_MAX = 1 << 20


def code_digest(targets: Sequence[str], files: Sequence[str] = ()) -> str:
    """Of every file in the packages that hold these "module:function" strings, and of these files with the
    Python files beside them, which they may import."""
    from hashlib import blake2b

    paths = {path for target in targets for path in _files_of(target.partition(":")[0])}
    for file in files:
        paths |= {os.path.abspath(file), *_python_files(os.path.dirname(os.path.abspath(file)))}
    found = blake2b(digest_size=16)
    for path in sorted(paths):
        mark = _mark(path)
        found.update(f"{path}\0{len(mark)}\0".encode("utf-8", "surrogatepass") + mark)
    return found.hexdigest()


def _files_of(module: str) -> Iterator[str]:
    """All files of the package that a module is in; of a module outside of any package its own."""
    found = _package(module)
    folders = getattr(found, "__path__", None)
    if folders is not None:
        yield from _walked(folders)
    elif found is not None and found.__file__ is not None:
        yield found.__file__


def _package(module: str) -> ModuleType | None:
    """The outermost package that is a folder of its own; a namespace that others share is not."""
    from importlib import import_module

    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        try:
            found = sys.modules.get(name) or call(f"the import of {name}", import_module, name)
        except PluginError:  # told where the code is asked for
            return None
        if getattr(found, "__file__", None) is not None:
            return found
    return None


def _walked(folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        for here, inner, names in os.walk(folder):
            inner[:] = [name for name in inner if name != "__pycache__"]
            yield from (os.path.join(here, name) for name in names)


def _python_files(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry.path for entry in entries if entry.name.endswith(".py"))
    except OSError:
        return


def _mark(path: str) -> bytes:
    try:
        status = os.stat(path)
        if status.st_size > _READ_MAX:
            return f"{status.st_size}:{status.st_mtime_ns}".encode()
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b"unreadable"
