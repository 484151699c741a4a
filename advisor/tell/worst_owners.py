"""Who owns the findings, the worst first, where a CODEOWNERS file says it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..engine import Audit, Root
from ..read.files import Unreadable, read_bytes
from ..tuples import NamedTuple
from .owners import PLACES, Owners, codeowners


class _Known(NamedTuple):
    """The owners of a root: a CODEOWNERS, and the path from its folder to the root."""

    owners: Owners
    inside: str


def worst_owners(audit: Audit, findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    counts: dict[str, dict[str, Any]] = {}
    known: dict[str, _Known | None] = {}
    for finding in findings:
        file = finding["locations"][0]["file"]
        root = _root_of(audit, file)
        if root is None or finding["suppressed"] is not None:
            continue
        folder = root.workspace.root
        if folder not in known:
            known[folder] = _codeowners(folder)
        found = known[folder]
        if found is not None:
            owner = found.owners.of(found.inside + file[len(root.prefix) :])
            entry = counts.setdefault(owner, {"owner": owner, "errors": 0, "warnings": 0, "notes": 0})
            entry[f"{finding['severity']}s"] += 1
    return sorted(
        counts.values(), key=lambda one: (-one["errors"], -one["warnings"], -one["notes"], one["owner"])
    )


def _root_of(audit: Audit, file: str) -> Root | None:
    """The innermost: a root may lie in another."""
    inside = [root for root in audit.roots if file.startswith(root.prefix)]
    return max(inside, key=lambda root: len(root.prefix), default=None)


def _codeowners(folder: str) -> _Known | None:
    """Of the folder or of the nearest one above, up to its repository."""
    top = folder
    while True:
        for place in PLACES:
            path = os.path.join(top, place)
            if os.path.isfile(path):
                try:
                    text = read_bytes(path).decode("utf-8", "replace")
                except Unreadable:
                    return None
                inside = os.path.relpath(folder, top).replace(os.sep, "/")
                owners = codeowners(text, place.startswith(".gitlab/"))
                return _Known(owners, "" if inside == "." else f"{inside}/")
        if os.path.exists(os.path.join(top, ".git")) or os.path.dirname(top) == top:
            return None
        top = os.path.dirname(top)
