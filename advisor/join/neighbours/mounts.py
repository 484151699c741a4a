"""Files that a container mounts: its variables complete them, and win where both say something.

A compose file says so with the hint ("mounts", path). What such a file lacks proves nothing, and what the
container's own variables set is not taken from the file.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Document, Fact, Location, Origin

HINT = "mounts"


def completed(documents: Sequence[Document]) -> list[Document]:
    homes = [
        (path.rstrip("/"), document)
        for document in documents
        for kind, path in document.hints
        if kind == HINT
    ]
    if not homes:
        return list(documents)
    return [_completed(document, homes) for document in documents]


def _completed(document: Document, homes: Sequence[tuple[str, Document]]) -> Document:
    if document.format != "properties":
        return document
    over = [home for path, home in homes if document.file == path or document.file.startswith(f"{path}/")]
    if not over:
        return document
    keys = {setting.key for home in over for setting in home.settings}
    kept = tuple(setting for setting in document.settings if setting.key not in keys)
    place = Fact("broker.place", "container", Origin("file", Location(over[0].file, over[0].line)))
    return document._replace(settings=kept, facts=(*document.facts, place), partial=True)
