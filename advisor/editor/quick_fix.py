"""One finding mended in the texts of an editor: made in a copy and audited again, as `fix` does it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence

from ..edit.plan import plan
from ..engine import Options, audit
from ..model import ADVICE, Change, Finding
from ..read.files import decode
from ..tuples import NamedTuple
from .open_files import Shown


class Edit(NamedTuple):
    """Lines `start` up to `end`, counted from 0, become `text`."""

    start: int
    end: int
    text: str


class CannotFix(Exception):
    """Why the change is not made."""


def title_of(findings: Sequence[Finding]) -> str:
    """Of findings that the same change mends."""
    codes = ", ".join(dict.fromkeys(finding.code for finding in findings))
    price = next((finding.fixes[0].price for finding in findings if finding.fixes[0].price), "")
    return f"{changes_text(findings[0])} (fixes {codes})" + (f"; cost: {price}" if price else "")


def changes_text(finding: Finding) -> str:
    return ", ".join(map(_change_text, finding.fixes[0].changes))


def _change_text(change: Change) -> str:
    if change.action == "remove":
        return f"remove {change.key}"
    return f"{'add' if change.action == 'add' else 'set'} {change.key}={change.after}"


def is_fixable(finding: Finding) -> bool:
    """What no file can set, or needs other code, is advice. What needs a review is offered: whoever takes it
    looks at it."""
    if not finding.fixes or finding.fixes[0].safety == ADVICE:
        return False
    return all(change.file is not None for change in finding.fixes[0].changes)


def edits(options: Options, shown: Shown) -> dict[str, list[Edit]]:
    """By path. Every rule is asked of the result: what it would break is a reason not to make it."""
    root, finding = shown.root, shown.finding
    home = root.workspace.root
    files = [finding.at.file, *(change.file for change in finding.fixes[0].changes if change.file)]
    paths = tuple(dict.fromkeys(os.path.join(home, *file.split("/")) for file in files))
    alone = options._replace(paths=paths, select=(finding.code,))
    result = audit(alone)
    wanted = finding.code, finding.at, finding.message
    roots = [
        one._replace(
            findings=tuple(two for two in one.findings if (two.code, two.at, two.message) == wanted)
            if one.workspace.root == home
            else ()
        )
        for one in result.roots
    ]
    found = plan(alone, result._replace(roots=tuple(roots)))
    if not found.files:
        raise CannotFix(found.left[0].reason if found.left else "the finding is gone")
    return {
        os.path.realpath(edited.path): list(_line_edits(edited.before, edited.after))
        for edited in found.files
    }


def _line_edits(before: bytes, after: bytes) -> Iterator[Edit]:
    old, new = (_lines(data) for data in (before, after))
    for tag, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag != "equal":
            yield Edit(start, end, "".join(new[new_start:new_end]))


def _lines(data: bytes) -> list[str]:
    """As editors count them: by \\n and \\r\\n, not by what Python takes for the end of a line."""
    parts = decode(data, "iso-8859-1").split("\n")
    return [f"{part}\n" for part in parts[:-1]] + parts[-1:]
