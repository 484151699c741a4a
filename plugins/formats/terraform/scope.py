"""What names stand for in a Terraform folder: locals, variables with their defaults, values of tfvars files.

A value that the files say is followed to where it is written. One that somebody may give on the command line,
a variable's default, is taken with a note; one that only a running Terraform knows is not known here either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from advisor.api import LoadError, integer

from .hcl import Block, Expr, blocks_of, parse_hcl

# Where people keep what the other files of a folder use. A folder cannot be listed here.
_BESIDE = (
    "variables.tf",
    "vars.tf",
    "locals.tf",
    "main.tf",
    "topics.tf",
    "providers.tf",
    "provider.tf",
    "versions.tf",
    "msk.tf",
    "kafka.tf",
    "data.tf",
)
_VALUES = ("terraform.tfvars", "kafka.auto.tfvars", "topics.auto.tfvars")
_MODULES = re.compile(r"(?:^|/)(?:modules?|terraform-modules)/")
_PRODUCT = re.compile(r"[0-9]{1,12}(?:[ ]?\*[ ]?[0-9]{1,12}){1,12}")
# A chain of references that long leads in a circle.
_STEPS_MAX = 20
_WORK_MAX = 50_000


class Found(NamedTuple):
    """A literal and where it stands; `expr` is None where nobody knows, and `note` then says why."""

    expr: Expr | None
    file: str
    note: str = ""

    @property
    def text(self) -> str | None:
        """The value of a scalar; None for any other, and for what is not known."""
        expr = self.expr
        if expr is None or expr.filled or expr.kind not in ("text", "number", "word") or expr.value == "null":
            return None
        return expr.value


class Scope:
    def __init__(self, file: str, root: Block, read: Callable[[str], str | None]) -> None:
        self.file = file
        self.root = root
        self.folder = file.rpartition("/")[0]
        self._read = read
        self._roots: list[tuple[str, Block]] | None = None
        self._values: dict[str, Found] | None = None
        self._depth, self._steps = 0, 0

    @property
    def is_module(self) -> bool:
        """Whoever calls a module says what its variables are: their defaults say little."""
        return bool(_MODULES.search(self.file))

    def roots(self) -> list[tuple[str, Block]]:
        """This file and those of its folder that are called as people call them."""
        if self._roots is None:
            self._roots = [(self.file, self.root)]
            base = self.file.rpartition("/")[2]
            for name in _BESIDE:
                text = self._read(name) if name != base else None
                if text is not None:
                    self._roots += [(self._path(name), block) for block in _parsed(text)]
        return self._roots

    def _path(self, name: str) -> str:
        return f"{self.folder}/{name}" if self.folder else name

    def resolved(self, expr: Expr | None, each: Found | None = None, key: str | None = None) -> Found:
        """Where a value is written. `each` and `key` are what for_each is at."""
        if expr is None:
            return Found(None, self.file, "not set")
        found = Found(expr, self.file)
        for _ in range(_STEPS_MAX):
            if found.expr is None or found.expr.kind not in ("reference", "call", "other"):
                return found
            note = found.note
            found = self._step(found, each, key)
            if note and note not in found.note:
                found = found._replace(note=f"{note}, {found.note}" if found.note else note)
        return Found(None, self.file, f"${{{expr.value}}}")

    def _step(self, found: Found, each: Found | None, key: str | None) -> Found:
        expr = found.expr
        assert expr is not None
        if expr.kind == "other":
            product = _product(expr)
            return found._replace(expr=product) if product is not None else _unknown(found)
        if expr.kind == "call":
            return self._called(found, each, key)
        path = [step.value for step in expr.items]
        match path:
            case ["each", "key"] if key is not None:
                literal = Expr("text", key, expr.line, expr.start, expr.end)
                return Found(literal, found.file, "each.key")
            case ["each", "value", *rest] if each is not None:
                return self._inside(each, rest, expr)
            case ["local", name, *rest]:
                return self._inside(self._local(name, expr), rest, expr)
            case ["var", name, *rest]:
                return self._inside(self._variable(name, expr), rest, expr)
        return _unknown(found)

    def _called(self, found: Found, each: Found | None, key: str | None) -> Found:
        expr = found.expr
        assert expr is not None
        if expr.value in ("tostring", "tonumber", "tobool", "trimspace", "tomap", "toset") and expr.items:
            return found._replace(expr=expr.items[0])
        if expr.value == "try":
            for item in expr.items:
                inner = self._followed(found._replace(expr=item), each, key)
                if inner.expr is not None and inner.expr.value != "null":
                    return inner
                if inner.note not in ("not set", ""):
                    return inner
        if expr.value == "lookup" and len(expr.items) >= 2:
            home = self._followed(found._replace(expr=expr.items[0]), each, key)
            if home.expr is not None and home.expr.kind == "object" and expr.items[1].kind == "text":
                held = member(home.expr, expr.items[1].value)
                if held is not None:
                    return home._replace(expr=held)
                if len(expr.items) == 3:
                    return found._replace(expr=expr.items[2])
        if expr.value == "merge":
            return found._replace(expr=self._merged(found, each, key))
        return _unknown(found)

    def _followed(self, found: Found, each: Found | None, key: str | None) -> Found:
        """The same inside a call. Names may lead in circles, and one may lead to two."""
        self._depth += 1
        while found.expr is not None and found.expr.kind in ("reference", "call", "other"):
            self._steps += 1
            if self._depth > _STEPS_MAX or self._steps > _WORK_MAX:
                found = _unknown(found)
                break
            found = self._step(found, each, key)
        self._depth -= 1
        return found

    def _merged(self, found: Found, each: Found | None, key: str | None) -> Expr | None:
        """The last of several maps wins; one that is not known may hold anything, so what stands before it
        is not known either."""
        pairs: dict[str, tuple[Expr, Expr]] = {}
        assert found.expr is not None
        known = False
        for item in found.expr.items:
            one = self._followed(found._replace(expr=item), each, key).expr
            if one is None or one.kind != "object":
                pairs.clear()
                continue
            known = True
            pairs.update({name.value: (name, value) for name, value in one.pairs})
        return found.expr._replace(kind="object", items=(), pairs=tuple(pairs.values())) if known else None

    def _inside(self, found: Found, path: list[str], expr: Expr) -> Found:
        for name in path:
            found = self._followed(found, None, None)
            if found.expr is None:
                return found
            if found.expr.kind != "object":
                return Found(None, found.file, f"${{{expr.value}}}")
            held = member(found.expr, name)
            if held is None:
                return Found(None, found.file, "not set")
            found = found._replace(expr=held)
        return found

    def _local(self, name: str, expr: Expr) -> Found:
        for file, root in self.roots():
            for block in blocks_of(root, "locals"):
                value = block.attribute(name)
                if value is not None:
                    return Found(value, file, f"local.{name}")
        return Found(None, self.file, f"${{{expr.value}}}")

    def _variable(self, name: str, expr: Expr) -> Found:
        if self.is_module:
            return Found(None, self.file, f"${{{expr.value}}}")
        given = self._tfvars().get(name)
        if given is not None:
            return given
        for file, root in self.roots():
            for block in blocks_of(root, "variable"):
                value = block.attribute("default") if block.labels == (name,) else None
                if value is not None and value.value != "null":
                    return Found(value, file, f"default of var.{name}")
        return Found(None, self.file, f"${{{expr.value}}}")

    def _tfvars(self) -> Mapping[str, Found]:
        """Files that Terraform loads by itself, the later over the earlier."""
        if self._values is None:
            self._values = {}
            for name in _VALUES:
                text = self._read(name)
                for root in _parsed(text) if text is not None else ():
                    for one in root.attributes:
                        self._values[one.name] = Found(one.value, self._path(name), f"var.{one.name}")
        return self._values


def _unknown(found: Found) -> Found:
    assert found.expr is not None
    return Found(None, found.file, f"${{{found.expr.value}}}" if found.expr.kind == "reference" else COMPUTED)


# What is shown of an expression: it may hold anything, a password too.
COMPUTED = "${an expression}"


def _product(expr: Expr) -> Expr | None:
    """7 * 24 * 3600 * 1000 is how people write a week."""
    if not _PRODUCT.fullmatch(expr.value):
        return None
    result = 1
    for part in expr.value.split("*"):
        result *= integer(part.strip()) or 0
    return expr._replace(kind="number", value=str(result))


def member(expr: Expr, name: str) -> Expr | None:
    return next((value for key, value in reversed(expr.pairs) if key.value == name), None)


# Every file of a folder asks for the same few: the last ones are kept.
_known: dict[str, tuple[Block, ...]] = {}


def _parsed(text: str) -> Iterator[Block]:
    found = _known.get(text)
    if found is None:
        if len(_known) >= 16:
            _known.clear()
        try:
            found = (parse_hcl(text),)
        except LoadError:
            found = ()  # told where that file is read itself
        _known[text] = found
    yield from found
