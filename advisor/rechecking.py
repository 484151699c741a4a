"""The same files audited again and again while `fix` changes them.

What no change touches is neither read nor asked a second time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from .engine import Linked, Options, Root, RootAsked, ask_root, in_order, link_records, prepare
from .loading import FileRecord, load_file
from .memory import Memories
from .model import Finding


class Recheck:
    """An audit that can be repeated. No file comes or goes meanwhile, and `touch` says which ones changed."""

    def __init__(self, options: Options, memories: Memories) -> None:
        self._options, self._memories = options, memories
        self._run = prepare(options)
        self._files = [_Files(self, root) for root in self._run.roots]

    def touch(self, path: str) -> None:
        for files in self._files:
            files.touched.add(os.path.realpath(path))

    def findings(self, every_rule: bool = False) -> list[tuple[Root, Finding]]:
        """Of the rules that were asked for, or of every rule that is not ignored."""
        options = self._options._replace(select=()) if every_rule else self._options
        run = self._run._replace(options=options)
        return in_order([ask_root(run, one.root, one.linked(), self._memories) for one in self._files])

    def load(self, root: RootAsked, place: tuple[str, bool, bool], beside: set[str]) -> FileRecord | None:
        path, target, named = place
        registry = self._run.registry
        return load_file(path, root.workspace.root, registry, root.project, target, named, beside.add)

    def link(self, root: RootAsked, records: Iterable[FileRecord]) -> Linked:
        return link_records(self._options, root.project, list(records))


class _Files:
    """The files of one root as they were read last."""

    def __init__(self, recheck: Recheck, root: RootAsked) -> None:
        self.recheck, self.root = recheck, root
        self.places = root.workspace.files
        self.touched: set[str] = set()
        self._records: list[FileRecord | None] = []
        # What each was read from: itself, through links, and the files beside it that it names.
        self._read_by: dict[str, set[int]] = {}
        self._linked: Linked | None = None

    def linked(self) -> Linked:
        if self._linked is None:
            self._records = [None] * len(self.places)
            stale: set[int] = set(range(len(self.places)))
        else:
            stale = {place for path in self.touched for place in self._read_by.get(path, ())}
        for place in stale:
            beside = {os.path.realpath(self.places[place][0])}
            self._records[place] = self.recheck.load(self.root, self.places[place], beside)
            for path in beside:
                self._read_by.setdefault(path, set()).add(place)
        if stale or self._linked is None:
            self._linked = self.recheck.link(self.root, (one for one in self._records if one is not None))
        self.touched.clear()
        return self._linked
