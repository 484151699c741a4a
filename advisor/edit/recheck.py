"""The same files audited again and again while `fix` changes them.

What no change touches is neither read nor asked a second time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..engine import Linked, Options, Root, RootAsked, ask_root, in_order, link_records, prepare
from ..find.reuse.memory import Memories
from ..model import Finding
from ..read.load import NOTHING_UNSAVED, FileRecord, load_file
from ..read.project import Project
from ..read.text_shapes import TextShapes
from ..registry import Registry


class Readings:
    """Files as they were read last, each until it, or a file beside it that it was read with, is touched."""

    def __init__(self, registry: Registry, unsaved: Mapping[str, bytes] = NOTHING_UNSAVED) -> None:
        self._registry, self._unsaved = registry, unsaved
        # Texts that differ in names alone, or are put back as they were, are read once.
        self._shapes = TextShapes(marker for spec in registry.formats for marker in spec.markers)
        self._records: dict[tuple[str, bool, bool], FileRecord | None] = {}
        self._read_by: dict[str, set[tuple[str, bool, bool]]] = {}

    def record(self, place: tuple[str, bool, bool], root: str, project: Project) -> FileRecord | None:
        if place not in self._records:
            path, target, named = place
            read = {os.path.realpath(path)}
            self._records[place] = load_file(
                path, root, self._registry, project, target, named, read.add, self._shapes, self._unsaved
            )
            for one in read:
                self._read_by.setdefault(one, set()).add(place)
        return self._records[place]

    def touch(self, path: str) -> None:
        for place in self._read_by.pop(os.path.realpath(path), ()):
            self._records.pop(place, None)


class Recheck:
    """An audit that can be repeated. No file comes or goes meanwhile."""

    def __init__(self, options: Options, readings: Readings, memories: Memories) -> None:
        self._options, self._readings, self._memories = options, readings, memories
        self._run = prepare(options)

    def findings(self, every_rule: bool = False) -> list[tuple[Root, Finding]]:
        """Of the rules that were asked for, or of every rule that is not ignored."""
        options = self._options._replace(select=()) if every_rule else self._options
        run = self._run._replace(options=options)
        return in_order([ask_root(run, root, self._linked(root), self._memories) for root in run.roots])

    def _linked(self, root: RootAsked) -> Linked:
        read = [
            self._readings.record(place, root.workspace.root, root.project) for place in root.workspace.files
        ]
        return link_records(self._options, root.project, [one for one in read if one is not None])
