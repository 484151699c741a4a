"""The files that are open in an editor, audited as they stand there; the rest of their roots as saved."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..edit.recheck import Readings
from ..engine import Options, Prepared, Root, RootAsked, ask_root, link_records, prepare
from ..find.reuse.memory import Memories
from ..model import Finding
from ..read.load import FileRecord
from ..tell.places import span_of
from ..tuples import NamedTuple


class Shown(NamedTuple):
    """A finding in an open file. Lines and columns count from 0; `span` is from and up to a column."""

    root: Root
    finding: Finding
    line: int
    span: tuple[int, int]


class OpenFiles:
    """What was read and answered stays until a text is typed over or a file is saved."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._texts: dict[str, bytes] = {}
        self._memories = Memories()
        self._run: Prepared | None = None
        self._readings: Readings | None = None
        self.roots: list[Root] = []

    @property
    def paths(self) -> list[str]:
        return list(self._texts)

    @property
    def options(self) -> Options:
        return self._options._replace(paths=tuple(self._texts), unsaved=dict(self._texts))

    def put(self, path: str, text: str) -> None:
        path = os.path.realpath(path)
        if path not in self._texts:
            self.files_changed()
        self._texts[path] = text.encode("utf-8", "surrogatepass")
        if self._readings is not None:
            self._readings.touch(path)

    def close(self, path: str) -> None:
        self._texts.pop(os.path.realpath(path), None)
        self.files_changed()

    def files_changed(self) -> None:
        """A file came, went or was saved: what belongs together is found anew."""
        self._run = self._readings = None

    def audit(self) -> None:
        there = [path for path in self._texts if os.path.isfile(path)]
        if not there:
            self.roots = []
            return
        if self._run is None or self._readings is None:
            self._run = prepare(self._options._replace(paths=tuple(there)))
            self._readings = Readings(self._run.registry, self._texts)
        run, readings = self._run, self._readings
        self.roots = [self._asked(run, readings, root) for root in run.roots]

    def _asked(self, run: Prepared, readings: Readings, root: RootAsked) -> Root:
        # Not as if it was named: of what is open, most is nobody's configuration.
        places = [(path, target, False) for path, target, _ in root.workspace.files]
        read = [readings.record(place, root.workspace.root, root.project) for place in places]
        linked = link_records(self._options, root.project, [one for one in read if one is not None])
        return ask_root(run, root, linked, self._memories)

    def record(self, path: str) -> tuple[Root, FileRecord] | None:
        real = os.path.realpath(path)
        for root in self.roots:
            for record in root.files:
                if os.path.realpath(record.path) == real:
                    return root, record
        return None

    def findings(self, path: str) -> Iterator[Shown]:
        """The worst first on each line."""
        found = self.record(path)
        if found is None:
            return
        root, record = found
        for finding in root.findings:
            if finding.suppressed is None and finding.at.file == record.file:
                line = finding.at.line or 1
                key = finding.keys[0] if finding.keys else None
                by_run = finding.evidence.kind in ("trace", "budget")
                yield Shown(root, finding, line - 1, span_of(record, line, key, finding.message, by_run))
