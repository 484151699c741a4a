"""Findings about the audit itself: code that failed (KA000), files that cannot be read (KA001)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..guard.calls import PluginError, place_of
from ..model import Deployment, Document, Evidence, Finding, Location, members_of
from ..packs.pack import Rule
from ..read.load import FileRecord

BUILT_IN = {"KA000": "rule-crashed", "KA001": "unreadable-file"}


def unreadable(records: Iterable[FileRecord], severity: str | None) -> Iterator[Finding]:
    """Files that their format could not read, told with this severity (None: not at all), and formats of
    plugins that could not say whether a file is theirs."""
    for record in records:
        if record.error is not None and severity is not None:
            message = f"{record.format or 'file'} cannot be read: {record.error.message}"
            at = Location(record.file, record.error.line)
            yield _built_in("KA001", severity, message, at, record.file, ())
        for failure in record.failures:
            yield _built_in("KA000", "error", failure, Location(record.file), record.file, ())


def crashed(rules: Sequence[Rule], subject: Document | Deployment, error: Exception) -> Iterator[Finding]:
    """Once for code that ran out of time, which is not called again."""
    if isinstance(error, PluginError) and error.again:
        return
    if isinstance(subject, Document):
        at, name = Location(subject.file, subject.line), subject.name
    else:
        first = members_of(subject)[0]
        at, name = Location(first.file, first.line), subject.id
    codes = ", ".join(rule.code for rule in rules)
    # Not the error's words, unless they are ours: they may quote a value, and a secret.
    what = str(error) if isinstance(error, PluginError) else f"{type(error).__name__} {place_of(error)}"
    message = f"the code of {codes} failed on {name}: {what}"
    yield _built_in("KA000", "error", message, at, name, tuple(rule.code for rule in rules))


def _built_in(
    code: str, severity: str, message: str, at: Location, resource: str, keys: tuple[str, ...]
) -> Finding:
    return Finding(code, BUILT_IN[code], severity, message, at, resource, keys, (), Evidence("plumbing"))
