"""A change of a fix as one step in one file: where the value stands now, and what is written there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..catalog import librdkafka
from ..model import Change, Document, Location, Secret, Setting, Unknown
from .steps import CannotEdit, EditStep


def with_renames(changes: Sequence[Change]) -> Iterator[Change]:
    """A key taken out and put in under another name, with the same value, is renamed: the value stays as it
    is written, and a secret is never touched."""
    waiting = list(changes)
    while waiting:
        change = waiting.pop(0)
        after = waiting[0] if waiting else None
        if (
            change.action == "remove"
            and after is not None
            and after.action == "add"
            and (after.file, after.line, after.after) == (change.file, change.line, change.before)
        ):
            waiting.pop(0)
            change = change._replace(action="rename", after=after.key)
        yield change


def step_for(was: Document, now: Document, change: Change) -> tuple[EditStep, str] | None:
    """The step to make and the file it is made in; None if a fix before it made it already."""
    if change.action in ("rename", "remove"):
        place = _written_place(now, change)
        if place is None:
            if _written_place(was, change) is not None:
                return None
            raise CannotEdit(f"{change.key} is not found where it was read", change.line, change.file)
        if change.action == "rename" and (taken := _written(now, change.after or "")):
            raise CannotEdit(f"{change.after} is set already", *_place(taken))
        return EditStep(change.action, change.key, change.after or "", place.line), place.file
    wanted = change.after or ""
    written, before = _written(now, change.key), _written(was, change.key)
    if written is not None and _same_value(written, wanted):
        return None
    if (written and written.value) != (before and before.value):
        value = written.value if written is not None else "nothing"
        raise CannotEdit(f"a fix before it sets {change.key} = {value}")
    if written is None or written.origin.at is None:
        return EditStep("add", change.key, wanted), now.file
    if isinstance(written.value, Secret):
        raise CannotEdit(f"{written.key} is a secret", *_place(written))
    if isinstance(written.value, Unknown):
        template = written.value.template.strip()
        raise CannotEdit(f"{written.key} is filled in elsewhere ({template})", *_place(written))
    return EditStep("set", written.key, wanted, written.origin.at.line), written.origin.at.file


def _same_value(written: Setting, wanted: str) -> bool:
    return isinstance(written.value, str) and written.value.strip() == wanted


def _place(setting: Setting) -> tuple[int | None, str | None]:
    at = setting.origin.at
    return (at.line, at.file) if at is not None else (None, None)


def _written(document: Document, key: str) -> Setting | None:
    """The setting as it stands in a file, under any name that the client knows it by."""
    for setting in document.settings:
        if setting.origin.kind == "file" and _canonical(document, setting.key) == _canonical(document, key):
            return setting
    return None


def _canonical(document: Document, key: str) -> str:
    known = librdkafka(key) if document.client == "librdkafka" else None
    return known.alias_of if known is not None and known.alias_of else key


def _written_place(document: Document, change: Change) -> Location | None:
    for setting in document.settings:
        if setting.key == change.key and setting.origin.kind == "file":
            return setting.origin.at
    for item in document.dropped:
        if item.key == change.key:
            return item.at
    return None


def check(
    before: Sequence[Sequence[Document]], after: Sequence[Sequence[Document]], now: Document, step: EditStep
) -> None:
    """The files say what they said, but for the one setting: else the edit went wrong, and is not made."""
    gone = {step.key} if step.action in ("rename", "remove") else set()
    for old_documents, new_documents in zip(before, after, strict=True):
        if [(one.component, one.name) for one in old_documents] != [
            (one.component, one.name) for one in new_documents
        ]:
            raise CannotEdit("with it made, the file would be read differently", step.line)
        for old, new in zip(old_documents, new_documents, strict=True):
            was = {one.key: one.value for one in old.settings}
            became = {one.key: one.value for one in new.settings}
            for key in was.keys() | became.keys():
                if was.get(key) == became.get(key) or key in gone:
                    continue
                if _is_same_place(key, old, new, now, step):
                    continue
                if step.action == "rename" and key not in was:
                    continue
                if key == step.key and isinstance(became.get(key), str):
                    continue
                raise CannotEdit(f"{key} of {new.name} would change too", step.line)
    settled = _written(now, step.key)
    if step.action in ("set", "add") and (settled is None or not _same_value(settled, step.value)):
        raise CannotEdit(f"{step.key} cannot be written here in a way that reaches Kafka", step.line)
    if gone and (settled is not None or any(item.key == step.key for item in now.dropped)):
        raise CannotEdit(f"{step.key} stands in more than one place", step.line)


def _is_same_place(key: str, old: Document, new: Document, now: Document, step: EditStep) -> bool:
    """One line may be a setting of two documents: `producer.override.acks` is the connector's, and its
    producer's `acks`."""
    if not key.endswith("." + step.key):
        return False
    settled = _written(now, step.key)
    line = settled.origin.at.line if settled is not None and settled.origin.at is not None else step.line
    held = [one for document in (new, old) for one in document.settings if one.key == key]
    return any(one.origin.at is not None and one.origin.at.line in (line, step.line) for one in held)
