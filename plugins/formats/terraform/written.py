"""What Terraform's files hold, as documents: each with the place its settings are written at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from advisor.api import Document, Setting, setting

from .hcl import Block, Expr, blocks_of
from .scope import COMPUTED, Found, Scope

FORMAT = "terraform"
_RESOURCE = re.compile(r"(?<![\w.-])([a-z_]++)\.([\w-]++)")


class Made(NamedTuple):
    """A document, and where another setting of it would be written: a map, a heredoc, or Aiven's block; in
    `block`, if it has none yet. `why`: there is no such place here."""

    document: Document
    block: Block
    home: Expr | Block | None = None
    why: str = ""


def resources(root: Block, *kinds: str) -> Iterator[Block]:
    return (one for one in blocks_of(root, "resource") if len(one.labels) == 2 and one.labels[0] in kinds)


def label_of(scope: Scope, kind: str, name: str) -> str:
    """What joins the files of one folder."""
    return f"{scope.folder}#{kind}.{name}" if scope.folder else f"{kind}.{name}"


def one_setting(
    scope: Scope,
    name: str,
    line: int,
    value: Expr,
    each: Found | None = None,
    key: str | None = None,
    note: str = "",
    file: str | None = None,
) -> Setting:
    """A setting stands where its key does; a value that comes from elsewhere is noted."""
    found = scope.resolved(value, each, key)
    parts = (note, found.note if found.expr is not None else "")
    told = "; ".join(dict.fromkeys(part for part in parts if part))
    return setting(name, shown(found), file or scope.file, line, told)


def shown(found: Found) -> str:
    """The value, or what stands for one that is not known."""
    if found.text is not None:
        return found.text
    expr = found.expr
    if expr is not None and expr.kind == "list":
        return ",".join(item.value if item.kind == "text" else COMPUTED for item in expr.items)
    if expr is not None and expr.filled:
        return expr.value
    return found.note if found.note.startswith("${") else COMPUTED


def mapped(
    scope: Scope, found: Found, each: Found | None = None, key: str | None = None, note: str = ""
) -> Iterator[Setting]:
    """The settings of a map."""
    for name, value in found.expr.pairs if found.expr is not None else ():
        if name.kind in ("text", "reference") and not name.filled and value.value != "null":
            yield one_setting(scope, name.value, name.line, value, each, key, note or found.note, found.file)


def ignored(block: Block, attribute: str) -> str:
    """Terraform makes the thing with what is written and then leaves it alone."""
    lifecycle = block.inner("lifecycle")
    listed = lifecycle.attribute("ignore_changes") if lifecycle is not None else None
    if listed is None:
        return ""
    names = [item.value.partition("[")[0] for item in listed.items] or [listed.value]
    return f"ignore_changes, line {listed.line}" if attribute in names or "all" in names else ""


def references(expr: Expr) -> Iterator[str]:
    """Everything that an expression refers to, as far as it can be told."""
    waiting = [expr]
    while waiting:
        one = waiting.pop()
        if one.kind in ("reference", "other") or one.filled:
            yield one.value
        waiting += [*(one.items if one.kind != "reference" else ()), *(value for _, value in one.pairs)]


def resource_in(expr: Expr | None, kind: str) -> str | None:
    """The name of the resource of a kind that an expression refers to."""
    for written in references(expr) if expr is not None else ():
        for found in _RESOURCE.finditer(written):
            if found[1] == kind:
                return found[2]
    return None
