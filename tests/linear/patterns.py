"""Every regular expression of the source, found by reading the source: none is listed by hand.

A pattern is known by evaluating the expression that it is made of, with the names of its module and the
plain assignments of its function. What is made of a user's words is listed in `MADE`, with words for it.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
METHODS = ("search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split")
# What the standard library makes patterns of besides `re`, and Spark's and Arrow's own.
ELSEWHERE = ("rlike", "regexp_replace", "regexp_extract", "match_substring_regex", "replace_substring_regex")


class Known(NamedTuple):
    """A pattern, how it is used, and where it stands."""

    where: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]


class Unseen(NamedTuple):
    """A pattern that is made in a way that reading the source does not show."""

    where: str
    text: str


# (file, function): patterns made of what a user wrote, from the words that are the worst for them.
MADE: dict[tuple[str, str], Callable[[Any], list[Any]]] = {
    # Each is read where it is given.
    ("advisor/syntax/pattern.py", "_Late.__getattr__"): lambda module: [],
    # Globs are matched against paths, which no system lets grow beyond a few thousand bytes.
    ("advisor/tell/owners.py", "path_pattern"): lambda module: [],
    ("advisor/tell/owners.py", "_glob"): lambda module: [],
    ("advisor/fleet/trees/plan_here.py", "roots_pattern"): lambda module: [],
    ("advisor/fleet/trees/plan_there.py", "_root"): lambda module: [],
    # A rule pack's own expression is its author's; those of the packs here are tried in full.
    ("advisor/packs/conditions.py", "_matches"): lambda module: [re.compile(text) for text in _of_rules()],
    ("advisor/fleet/canonical.py", "masked"): lambda module: [
        re.compile(shape) for shape in module.SHAPES.values()
    ],
    ("advisor/fleet/rows/narrow.py", "Narrowing._pair_words"): lambda module: [
        re.compile(f"^(?:{shape})$") for shape in module.SHAPES.values()
    ],
    ("advisor/fleet/trees/plan_there.py", "found_there"): lambda module: [
        re.compile(r"(?:\.yml|\.properties)$")
    ],
    ("plugins/formats/created_topics.py", "topics_of"): lambda module: [
        re.compile(r"\n|" + re.escape(separator)) for separator in (",", " ", "||", "a")
    ],
}


def _of_rules() -> Iterator[str]:
    from advisor.memo.cache import Cache
    from advisor.packs.pack import load_packs
    from advisor.registry import load_registry

    def found(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for key, inner in value.items():
                if key == "matches" and isinstance(inner, str):
                    yield inner
                yield from found(inner)
        elif isinstance(value, list | tuple):
            for inner in value:
                yield from found(inner)

    for rule in load_packs(load_registry().packs, (), Cache(None)):
        yield from found(rule.when)


def sources() -> list[Path]:
    return sorted([*ROOT.glob("advisor/**/*.py"), *ROOT.glob("plugins/**/*.py"), *ROOT.glob("rules/**/*.py")])


def collect(paths: list[Path] | None = None) -> tuple[list[Known], list[Unseen]]:
    known: list[Known] = []
    unseen: list[Unseen] = []
    made: set[tuple[str, str]] = set()
    trees = {path: ast.parse(path.read_text()) for path in paths or sources()}
    for path, tree in trees.items():
        reader = _Reader(path, tree)
        known += reader.known
        unseen += reader.unseen
        made |= reader.made
    if paths is None:
        unseen += [Unseen(":".join(place), "listed, and not there") for place in MADE.keys() - made]
    return known, unseen


class _Reader:
    def __init__(self, path: Path, tree: ast.Module) -> None:
        self.path, self.tree = path, tree
        self.name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
        self.known: list[Known] = []
        self.unseen: list[Unseen] = []
        self.made: set[tuple[str, str]] = set()
        self._module: Any = None
        self._names = self._bound_names()
        self._look(tree, [])

    def _bound_names(self) -> set[str]:
        """The names that `re` goes by here; a function of it by its own name is not followed."""
        names = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                names |= {alias.asname or alias.name for alias in node.names if alias.name == "re"}
            elif isinstance(node, ast.ImportFrom) and node.module == "re":
                self.unseen.append(Unseen(f"{self.name}:{node.lineno}", "from re import ..."))
        return names

    def _look(self, node: ast.AST, around: list[ast.AST]) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            around = [*around, node]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            value, method = node.func.value, node.func.attr
            if isinstance(value, ast.Name) and value.id in self._names and method in ("compile", *METHODS):
                self._add(node, method, around)
            elif method in ELSEWHERE:
                self._add(node, "search", around, 0 if method == "rlike" else 1)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "pattern":
            self._add(node, "compile", around)
        for child in ast.iter_child_nodes(node):
            self._look(child, around)

    def _add(self, call: ast.Call, method: str, around: list[ast.AST], place: int = 0) -> None:
        where = f"{self.name}:{call.lineno}"
        function = ".".join(one.name for one in around if not isinstance(one, ast.Lambda))  # type: ignore[attr-defined]
        methods = self._uses(call) if method == "compile" else (method,)
        if (self.name, function) in MADE and (self.name, function) not in self.made:
            self.made.add((self.name, function))
            module = self._imported()
            self.known += [Known(where, one, methods) for one in MADE[self.name, function](module)]
        flags = self._flags(call, around)
        try:
            texts = list(self._values(call.args[place], around))
            self.known += [Known(where, re.compile(text, flags), methods) for text in texts]
        except (_NotSeen, re.error, TypeError):
            if (self.name, function) not in MADE:
                self.unseen.append(Unseen(where, ast.unparse(call)))

    def _flags(self, call: ast.Call, around: list[ast.AST]) -> int:
        names = {node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute)}
        return sum({getattr(re, name) for name in names if name.isupper() and hasattr(re, name)})

    def _uses(self, call: ast.Call) -> tuple[str, ...]:
        """The methods of the name that it is given, here or in a module that imports it; all if it has none
        that can be followed."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and node.value is call:
                return (node.attr,)
            targets = node.targets if isinstance(node, ast.Assign) else []
            if targets and getattr(node, "value", None) is call and isinstance(targets[0], ast.Name):
                name = targets[0].id
                found = _used(name, [self.path] if name.startswith("_") else sources())
                if found:
                    return found
        loops = {
            node.attr
            for node in ast.walk(self.tree)
            # `split` is a text's method too.
            if isinstance(node, ast.Attribute) and node.attr in METHODS[:-1] and _is_plain(node.value)
        }
        return tuple(sorted(loops)) or METHODS[:3]

    def _imported(self) -> Any:
        if self._module is None:
            name = self.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            for prefix, package in (
                ("plugins.", "kafka_advisor_plugins."),
                ("rules.", "kafka_advisor_rules."),
            ):
                if name.startswith(prefix) or name + "." == prefix:
                    name = package + name.removeprefix(prefix)
            self._module = importlib.import_module(name) if self.path.is_relative_to(ROOT) else None
        return self._module

    def _values(self, node: ast.expr, around: list[ast.AST]) -> Iterator[Any]:
        """What an expression can be: constants, names of the module, plain names of the function."""
        if isinstance(node, ast.Constant):
            yield node.value
        elif isinstance(node, ast.IfExp):
            yield from self._values(node.body, around)
            yield from self._values(node.orelse, around)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            for left in self._values(node.left, around):
                yield from (left + right for right in self._values(node.right, around))
        elif isinstance(node, ast.Name) and (given := _given(node.id, around)):
            for value in given:
                yield from self._values(value, around)
        else:
            local = {name for one in around for name in _locals(one)}
            if any(isinstance(part, ast.Name) and part.id in local for part in ast.walk(node)):
                raise _NotSeen
            try:
                yield eval(compile(ast.Expression(node), self.name, "eval"), vars(self._imported()))
            except Exception:
                raise _NotSeen from None


class _NotSeen(Exception):
    pass


def _is_plain(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Name) and node.id.islower() and not node.id.startswith("_") and node.id != "re"
    )


def _used(name: str, paths: list[Path]) -> tuple[str, ...]:
    """The methods called on a name, or on a choice of names."""
    found = {
        node.attr
        for path in paths
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in METHODS
        for part in ([node.value] if not isinstance(node.value, ast.IfExp) else ast.walk(node.value))
        if isinstance(part, ast.Name) and part.id == name
    }
    return tuple(sorted(found))


def _given(name: str, around: list[ast.AST]) -> list[ast.expr]:
    return [
        node.value
        for function in around
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == name
    ]


def _locals(node: ast.AST) -> set[str]:
    found = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    return found | {
        part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
