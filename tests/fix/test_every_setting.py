"""Every setting of every file that the formats are tested with is set to something else: the file is then
read with that value and no other change, or the edit says why it cannot be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.edit.steps import CannotEdit, EditStep
from advisor.model import Document, LoadError, Source, Unknown
from advisor.read.files import decode
from advisor.registry import function, load_registry
from tests.conftest import ROOT

FORMATS = load_registry().formats
FILES = sorted(
    path
    for top in ("tests/formats", "tests/fix/cases", "samples")
    for path in (ROOT / top).rglob("*")
    if path.is_file() and path.name.endswith(tuple(s for spec in FORMATS for s in spec.suffixes))
)
VALUES = ("424242", "true", "x:y,z")
# A port is added to a host without one.
COMPLETED = ("bootstrap.servers",)


def format_of(path: Path, text: str):
    name = path.name.lower()
    offered = [spec for spec in FORMATS if name.endswith(spec.suffixes)]
    offered = [spec for spec in offered if not spec.markers or any(mark in text for mark in spec.markers)]
    claims = [(function(spec.claim, "claim")(name, text), spec) for spec in offered]
    claim, spec = max(claims, key=lambda pair: pair[0], default=(0, None))
    return spec if claim else None


def source(path: Path, text: str) -> Source:
    def read(name: str) -> str | None:
        beside = path.parent / name
        return beside.read_text() if beside.is_file() else None

    return Source(path.name, text, read)


def settings_of(documents: tuple[Document, ...]) -> list[dict[str, object]]:
    return [{one.key: one.value for one in document.settings} for document in documents]


def written(documents: tuple[Document, ...], file: str):
    seen = set()
    for place, document in enumerate(documents):
        for one in document.settings:
            here = one.origin.kind == "file" and one.origin.at is not None and one.origin.at.file == file
            if here and isinstance(one.value, str) and (one.key, one.origin.at) not in seen:
                seen.add((one.key, one.origin.at))
                yield place, document, one


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_setting(path):
    text = decode(path.read_bytes(), "iso-8859-1")
    spec = format_of(path, text)
    if spec is None or spec.edit is None:
        return
    load, edit = function(spec.load, "loaded"), function(spec.edit, "text")
    try:
        documents = load(source(path, text)).documents
    except LoadError:
        return
    before = settings_of(documents)
    for number, (place, document, one) in enumerate(written(documents, path.name)):
        value = VALUES[number % len(VALUES)]
        step = EditStep("set", one.key, value, one.origin.at.line)
        try:
            after = edit(source(path, text), document, step)
        except CannotEdit:
            continue
        if one.key in COMPLETED:
            continue
        now = settings_of(load(source(path, after)).documents)
        found = now[place][one.key]
        if isinstance(found, Unknown) and found.template == f"what the image makes of {value}":
            found = value  # an image that nobody knows may make something of a word
        assert found == value
        for old, new in zip(before, now, strict=True):
            # What has the same value may be an alias of it: `fix` finds that out and leaves both.
            others = [key for key in old if key != one.key and old[key] != one.value]
            assert [new.get(key) for key in others] == [old[key] for key in others]
        lines = set(text.splitlines()) - set(after.splitlines())
        assert len(lines) <= 1 or "\\" in text, "one line changes"
