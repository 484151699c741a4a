"""One file -> Documents: the surest format reads it; what cannot be read says why."""

import os
from collections.abc import Callable
from typing import NamedTuple

from .files import BYTES_MAX, Unreadable, decode, read_bytes
from .hookspecs import FormatSpec
from .model import Document, Fact, LoadError, Origin, Source, UsageError
from .project import Project
from .registry import Registry, function
from .text_shapes import Read, TextShapes

# A plugin's format may make something of any name.
_OURS = "kafka_advisor_plugins."


class FileRecord(NamedTuple):
    """A file of the report. `text` is kept for inline suppressions and fixes; it is never printed."""

    file: str
    path: str
    format: str | None
    status: str
    reason: str | None
    documents: tuple[Document, ...]
    error: LoadError | None
    target: bool
    named: bool
    text: str


def load_file(
    path: str,
    root: str,
    registry: Registry,
    project: Project,
    target: bool,
    named: bool,
    shapes: TextShapes | None = None,
) -> FileRecord | None:
    """None for a walked file that no format wants. With `shapes`, texts that differ in names alone are read
    once."""
    name = os.path.basename(path).lower()
    if not named and not any(name.endswith(spec.suffixes) for spec in registry.formats):
        return None
    record = FileRecord(relative(path, root), path, None, "skipped", None, (), None, target, named, "")
    try:
        data = read_bytes(path, root=root)
    except Unreadable as error:
        return record._replace(reason=str(error), error=LoadError(str(error)))
    return load_bytes(record, data, registry, project, _sibling_reader(path, root), shapes)


def load_bytes(
    record: FileRecord,
    data: bytes,
    registry: Registry,
    project: Project,
    read: Callable[[str], str | None],
    shapes: TextShapes | None = None,
) -> FileRecord | None:
    """The record of a file whose bytes are had already; `read` gives the text of a file beside it."""
    name = os.path.basename(record.path).lower()
    named = record.named
    offered = [spec for spec in registry.formats if name.endswith(spec.suffixes)]
    encodings = [spec.fallback_encoding for spec in offered if spec.fallback_encoding]
    try:
        text = decode(data, encodings[0] if encodings else None)
    except Unreadable as error:
        return record._replace(reason=str(error), error=LoadError(str(error)))
    if not text.strip():
        return record._replace(reason="empty") if named else None
    specs = offered or list(registry.formats)
    chosen: list[FormatSpec] = []

    def load(source: Source) -> Read:
        spec = _surest(source.file.rpartition("/")[2].lower(), source.text, specs)
        chosen[:] = [spec] if spec is not None else []
        return Read(None, None) if spec is None else Read(spec.name, function(spec.load)(source))

    try:
        if shapes is not None and all(spec.load.startswith(_OURS) for spec in specs):
            found = shapes.read(record.file, text, read, load)
        else:
            found = load(Source(record.file, text, read))
    except LoadError as error:
        record = record._replace(format=chosen[0].name if chosen else None)
        return record._replace(reason=error.message, error=error)
    except UsageError:
        raise
    except Exception as error:  # A plugin's mistake is told as such; the other files are still audited.
        what = LoadError(f"its reader failed: {type(error).__name__} {place_of(error)}")
        record = record._replace(format=chosen[0].name if chosen else None)
        return record._replace(reason=what.message, error=what)
    if found.loaded is None:
        return record._replace(reason="no format recognises it as a Kafka configuration") if named else None
    loaded = found.loaded
    documents = loaded.documents
    if project.clients:
        documents = tuple(_with_family(document, project) for document in documents)
    file, path, _, _, _, _, _, target, _, _ = record
    return FileRecord(
        file, path, found.format, loaded.status, loaded.reason, documents, None, target, named, text
    )


def place_of(error: Exception) -> str:
    """Where it was raised, for the plugin's author. Not its words: they may quote the file, and a secret."""
    from traceback import extract_tb

    frame = extract_tb(error.__traceback__)[-1]
    return f"at {os.path.basename(frame.filename)}:{frame.lineno}"


def relative(path: str, base: str) -> str:
    """POSIX, relative to a folder."""
    if path.startswith(base + os.sep):
        return path[len(base) + 1 :].replace(os.sep, "/")
    return os.path.relpath(path, base).replace(os.sep, "/")


def _surest(name: str, text: str, offered: list[FormatSpec]) -> FormatSpec | None:
    best, best_claim = None, 0
    for spec in offered:
        if spec.markers and not any(marker in text for marker in spec.markers):
            continue
        claim = function(spec.claim)(name, text)
        if claim > best_claim:
            best, best_claim = spec, claim
    return best


def _sibling_reader(path: str, root: str) -> Callable[[str], str | None]:
    folder = os.path.dirname(path)

    def read(relative: str) -> str | None:
        try:
            real = os.path.realpath(os.path.join(folder, relative))
            if not real.startswith(os.path.realpath(root).rstrip(os.sep) + os.sep):
                return None
            return decode(read_bytes(real, BYTES_MAX), "iso-8859-1")
        except (Unreadable, ValueError):  # ValueError: no path can hold a NUL
            return None

    return read


def _with_family(document: Document, project: Project) -> Document:
    """What kafka-advisor.toml says of a client wins over what its keys suggest. The first that says a thing
    is believed."""
    from fnmatch import fnmatchcase

    said: dict[str, str] = {}
    for client in project.clients:
        if fnmatchcase(document.file, client["path"]):
            said = {**client, **said}
    if said.get("family"):
        document = document._replace(client=said["family"])
    if said.get("subscription"):
        fact = Fact("consumer.subscription", said["subscription"], Origin("project", None, "[[client]]"))
        document = document._replace(facts=(*document.facts, fact))
    return document
