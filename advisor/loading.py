"""One file -> Documents: the surest format reads it; what cannot be read says why."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from .files import BYTES_MAX, Unreadable, decode, read_bytes
from .hookspecs import FormatSpec
from .model import Document, LoadError, Source
from .project import Project
from .registry import Registry, function


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
    path: str, root: str, base: str, registry: Registry, project: Project, target: bool, named: bool
) -> FileRecord | None:
    """None for a walked file that no format wants."""
    name = os.path.basename(path).lower()
    offered = [spec for spec in registry.formats if name.endswith(spec.suffixes)]
    if not offered and not named:
        return None
    file = (
        os.path.relpath(path, base).replace(os.sep, "/")
        if not path.startswith(base + os.sep)
        else path[len(base) + 1 :].replace(os.sep, "/")
    )

    def record(
        status: str, reason: str | None = None, error: LoadError | None = None, **rest: object
    ) -> FileRecord:
        spec_name = rest.get("format")
        return FileRecord(
            file,
            path,
            spec_name if isinstance(spec_name, str) else None,
            status,
            reason,
            (),
            error,
            target,
            named,
            "",
        )

    try:
        data = read_bytes(path)
        text = decode(
            data, next((spec.fallback_encoding for spec in offered if spec.fallback_encoding), None)
        )
    except Unreadable as error:
        return record("skipped", str(error), LoadError(str(error)))
    if not text.strip():
        return record("skipped", "empty") if named else None
    spec = _surest(name, text, offered if not named or offered else list(registry.formats))
    if spec is None:
        if named:
            return record("skipped", "no format recognises it as a Kafka configuration")
        return None
    source = Source(file, text, _sibling_reader(path, root))
    try:
        loaded = function(spec.load)(source)
    except LoadError as error:
        return record("skipped", f"{spec.name}: {error.message}", error, format=spec.name)
    except RecursionError:
        error = LoadError("nested too deeply")
        return record("skipped", f"{spec.name}: {error.message}", error, format=spec.name)
    documents = tuple(_with_family(document, root, base, project) for document in loaded.documents)
    return FileRecord(
        file, path, spec.name, loaded.status, loaded.reason, documents, None, target, named, text
    )


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
        real = os.path.realpath(os.path.join(folder, relative))
        if not real.startswith(os.path.realpath(root) + os.sep):
            return None
        try:
            return decode(read_bytes(real, BYTES_MAX), "iso-8859-1")
        except Unreadable:
            return None

    return read


def _with_family(document: Document, root: str, base: str, project: Project) -> Document:
    """What kafka-advisor.toml says of a client wins over what its keys suggest."""
    if not project.clients:
        return document
    from fnmatch import fnmatchcase

    relative = os.path.relpath(os.path.join(base, document.file), root).replace(os.sep, "/")
    for client in project.clients:
        if fnmatchcase(relative, client["path"]):
            return document._replace(client=client["family"])
    return document
