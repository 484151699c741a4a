"""The files of one root, on an executor: on its own file system, or handed over by Spark."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Sequence
from typing import Any

from ...model import LoadError
from ...read.files import Unreadable, decode, read_bytes
from ...read.load import FileRecord, load_bytes, load_file
from ...read.project import Project
from ...registry import Registry

Row = dict[str, Any]


def unread(item: Row) -> FileRecord:
    """A file that is not to be read, with the reason."""
    name, reason = item["file"], item["reason"]
    return FileRecord(
        name, name, None, "skipped", reason, (), LoadError(reason), item["target"], item["named"], ""
    )


class Here:
    """Read as an audit reads: nothing outside the root, no pipe, no link that leads out."""

    def __init__(self, root: str) -> None:
        self.root = root

    def read(self, name: str) -> bytes | None:
        try:
            return read_bytes(os.path.join(self.root, name))
        except Unreadable:
            return None

    def load(self, item: Row, registry: Registry, project: Project) -> FileRecord | None:
        return load_file(item["path"], self.root, registry, project, item["target"], item["named"])

    def owned_from(self, base: str) -> Sequence[str]:
        """Folders that may hold CODEOWNERS, from the root up: to its repository, or to the source."""
        above = [self.root]
        while above[-1] != os.path.dirname(above[-1]):
            above.append(os.path.dirname(above[-1]))
        tops = [folder for folder in above if os.path.exists(os.path.join(folder, ".git"))]
        top = tops[0] if tops else min(base, self.root, key=len)
        return [os.path.relpath(folder, self.root) for folder in above if len(folder) >= len(top)]


class There:
    """All that is known of the root is what was handed over."""

    def __init__(self, files: Sequence[Row]) -> None:
        self.texts = {item["file"]: item["content"] for item in files if item["content"] is not None}

    def read(self, name: str) -> bytes | None:
        return self.texts.get(posixpath.normpath(name))

    def load(self, item: Row, registry: Registry, project: Project) -> FileRecord | None:
        name = item["file"]
        record = FileRecord(name, name, None, "skipped", None, (), None, item["target"], item["named"], "")
        return load_bytes(record, item["content"], registry, project, self._beside(name))

    def _beside(self, name: str) -> Callable[[str], str | None]:
        def read(relative: str) -> str | None:
            data = self.read(posixpath.join(posixpath.dirname(name), relative))
            try:
                return None if data is None else decode(data, "iso-8859-1")
            except Unreadable:
                return None

        return read

    def owned_from(self, base: str) -> Sequence[str]:
        return ["."]
