"""A copy of the files of an audit, to try changes on: no change is claimed to help that was not audited."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from ..engine import Audit, Options, Root
from ..find.reuse.memory import Memories
from ..model import Finding, Source
from ..output.files import write_file
from ..packs.narrowing import with_their_bases
from ..read.files import PROJECT_FILE, Unreadable, decode, read_bytes
from ..read.load import NOTHING_UNSAVED, FileRecord, relative
from ..registry import Registry
from .recheck import Readings, Recheck


class WorkCopy:
    """The files of every root below a folder of their own. A file goes by its name in its root."""

    def __init__(self, options: Options, result: Audit, folder: str, memories: Memories) -> None:
        self.folder = os.path.realpath(folder)
        self.result = result
        self.registry: Registry = result.registry
        self.named = [os.path.realpath(path) for path in options.paths]
        self._unsaved = options.unsaved
        self._copy_files()
        wider = [
            self._there(root.workspace.root)
            for root in result.roots
            if options.link and any(not record.target for record in root.files)
        ]
        # The whole of each root is asked again: a change may harm what was not named.
        self.is_wider = bool(wider)
        self.options = options._replace(
            fixes=False,
            paths=tuple(dict.fromkeys([*(self._there(_place(path)) for path in options.paths), *wider])),
            rules=tuple(os.path.abspath(path) for path in options.rules),
            # Those that a project lists too: the copy has none of them.
            plugins=tuple(
                os.path.abspath(one.where) for one in self.registry.plugins if one.source == "file"
            ),
            unsaved=NOTHING_UNSAVED,
        )
        self._memories = memories
        self._readings = Readings(self.registry)
        self._recheck: Recheck | None = None

    def is_named(self, root: Root, file: str) -> bool:
        """Whether the user named the file or a folder around it: nothing else is ever changed."""
        path = os.path.realpath(self.original(root, file))
        return any(path == name or path.startswith(name.rstrip(os.sep) + os.sep) for name in self.named)

    def _there(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.folder, os.path.relpath(path, self.result.scope.base)))

    def _copy_files(self) -> None:
        for root in self.result.roots:
            home = self._there(root.workspace.root)
            if not root.workspace.has_project:
                # What marks a root, so that the same files are read together here.
                os.makedirs(os.path.join(home, ".git"), exist_ok=True)
            for path in dict.fromkeys(self._wanted(root)):
                self._copy(path, os.path.realpath(root.workspace.root))

    def _wanted(self, root: Root) -> Iterator[str]:
        """What the audit read: the project's files, what any format is offered, what those name."""
        if root.workspace.has_project:
            yield os.path.join(root.workspace.root, PROJECT_FILE)
        if root.project.rules:
            yield from with_their_bases(
                os.path.join(root.workspace.root, name) for name in root.project.rules
            )
        suffixes = tuple(suffix for spec in self.registry.formats for suffix in spec.suffixes)
        for path, _, named in root.workspace.files:
            if named or os.path.basename(path).lower().endswith(suffixes):
                yield path
        for record in root.files:
            for document in record.documents:
                for setting in document.settings:
                    if setting.origin.at is not None:
                        yield os.path.join(root.workspace.root, *setting.origin.at.file.split("/"))

    def _copy(self, path: str, root: str) -> None:
        there = self._there(path)
        if os.path.lexists(there):
            return
        os.makedirs(os.path.dirname(there), exist_ok=True)
        try:
            if os.path.islink(path):
                real = os.path.realpath(path)
                if real.startswith(root + os.sep):
                    self._copy(real, root)
                    os.symlink(self._there(real), there)
            elif path in self._unsaved:
                write_file(there, self._unsaved[path])
            elif os.path.isfile(path):
                shutil.copyfile(path, there)
        except OSError:
            return  # what cannot be read has no part in the audit either

    def _path(self, root: Root, file: str) -> str:
        return os.path.join(self._there(root.workspace.root), *file.split("/"))

    def real_name(self, root: Root, file: str) -> str:
        """The file that a name leads to: a link is followed, inside the copy."""
        return relative(os.path.realpath(self._path(root, file)), self._there(root.workspace.root))

    def original(self, root: Root, file: str) -> str:
        return os.path.join(root.workspace.root, *file.split("/"))

    def data(self, root: Root, file: str) -> bytes:
        return read_bytes(self._path(root, file))

    def write(self, root: Root, file: str, data: bytes) -> None:
        path = self._path(root, file)
        write_file(path, data)
        self._readings.touch(path)

    def record(self, root: Root, file: str) -> FileRecord | None:
        """The file as the audit would read it now."""
        home = self._there(root.workspace.root)
        return self._readings.record((self._path(root, file), True, True), home, root.project)

    def source(self, root: Root, file: str, fallback: str | None) -> tuple[Source, str, bytes]:
        """The text of a file, with the encoding and the byte order mark it needs to be written again."""
        data = self.data(root, file)
        text = decode(data, fallback)
        mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
        try:
            data.decode("utf-8")
            encoding = "utf-8"
        except UnicodeDecodeError:
            encoding = fallback or "utf-8"
        return Source(file, text, lambda path: self._beside(root, file, path)), encoding, mark

    def _beside(self, root: Root, file: str, path: str) -> str | None:
        real = os.path.realpath(os.path.join(os.path.dirname(self._path(root, file)), path))
        if not real.startswith(self._there(root.workspace.root) + os.sep):
            return None
        try:
            return decode(read_bytes(real), "iso-8859-1")
        except (Unreadable, ValueError):
            return None

    def findings(self, every_rule: bool = False) -> list[tuple[Root, Finding]]:
        """Of the rules that were asked for, or of every rule that is not ignored."""
        if self._recheck is None:
            self._recheck = Recheck(self.options, self._readings, self._memories)
        return self._recheck.findings(every_rule)


def _place(path: str) -> str:
    """The path as the audit knows it: its folder resolved, and a link to a folder too."""
    folder, name = os.path.split(os.path.abspath(path))
    place = os.path.join(os.path.realpath(folder), name)
    return os.path.realpath(place) if os.path.isdir(place) else place
