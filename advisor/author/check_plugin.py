"""All that is wrong with a plugin, at once: one line for each fault, with file and line.

Its hooks are called one by one and every spec is looked at; the code behind each is imported and must take
what it will be given. Packs are checked with it, and their examples run.
"""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

import pluggy

from ..guard.calls import PluginError, call
from ..guard.specs import (
    CODE,
    MODEL_ARGUMENTS,
    arguments_of_hooks,
    given_specs,
    marked_hooks,
    misspelt_hooks,
    unmarked_hooks,
)
from ..hookspecs import (
    PROJECT,
    CheckSpec,
    ClientSpec,
    FormatSpec,
    Hooks,
    ModelSpec,
    PackSpec,
    ReporterSpec,
)
from ..model import UsageError
from ..output.files import write_file
from ..packs.pack import pack_folder
from ..registry import BUILTIN, Plugin, found_plugins, opened, registry_of
from ..tuples import NamedTuple
from .check_pack import check_pack

_KINDS: dict[str, type] = {
    "advisor_formats": FormatSpec,
    "advisor_packs": PackSpec,
    "advisor_checks": CheckSpec,
    "advisor_reporters": ReporterSpec,
    "advisor_clients": ClientSpec,
    "advisor_models": ModelSpec,
}
# What a plugin may import of ours: the rest may change in any release.
_OURS = ("advisor.api", "advisor.testing")


class Checked(NamedTuple):
    """What was looked at, in words; each fault; and rules that have no example."""

    what: str
    faults: list[str]
    unseen: list[str] = []


def check(path: str, beside: Sequence[str] = ()) -> Checked:
    """A pack (.toml), a plugin (.py), or the folder of a distribution (pyproject.toml). `beside`: plugins of
    one file that a pack may name things of."""
    if not os.path.exists(path):
        raise UsageError(f"{path}: not found")
    if path.endswith(".toml") and os.path.basename(path) != "pyproject.toml":
        return Checked("a rule pack", *check_pack(path, registry_of(found_plugins(beside)), beside))
    if path.endswith(".py"):
        plugin = Plugin(os.path.basename(path), "file", path)
        return _checked("a plugin of one file", plugin, list(_source_faults([path])), [path])
    folder = os.path.dirname(path) if path.endswith("pyproject.toml") else path
    if os.path.isfile(os.path.join(folder, "pyproject.toml")):
        return _distribution(folder or ".")
    raise UsageError(f"{path}: must be a pack (.toml), a plugin (.py) or a folder with a pyproject.toml")


def _distribution(folder: str) -> Checked:
    import tomllib

    what, file = "a distribution", os.path.join(folder, "pyproject.toml")
    try:
        with open(file, "rb") as opened_file:
            project = tomllib.load(opened_file)
    except (OSError, ValueError) as error:
        return Checked(what, [f"{file}: cannot be read: {error}"])
    points = project.get("project", {}).get("entry-points", {}).get(PROJECT, {})
    if not isinstance(points, dict) or not points:
        line = f'[project.entry-points.{PROJECT}] with a line NAME = "MODULE"'
        return Checked(what, [f"{file}: names no plugin: write {line}"])
    faults = list(_source_faults(list(_python_files(folder))))
    unseen: list[str] = []
    with _installed([os.path.join(folder, "src"), folder], points):
        for name, target in sorted(points.items()):
            found = _checked(what, Plugin(name, "installed", str(target)), [])
            faults += found.faults
            unseen += found.unseen
    return Checked(what, faults, unseen)


@contextmanager
def _installed(folders: Sequence[str], points: Mapping[str, str]) -> Iterator[None]:
    """As if it were installed: importable from its folders, and found by its entry points."""
    before = list(sys.path)
    with TemporaryDirectory() as place:
        info = os.path.join(place, "checked.dist-info")
        os.mkdir(info)
        lines = "".join(f"{name} = {target}\n" for name, target in points.items())
        write_file(os.path.join(info, "entry_points.txt"), f"[{PROJECT}]\n{lines}")
        sys.path[:0] = [os.path.abspath(folder) for folder in folders if os.path.isdir(folder)] + [place]
        try:
            yield
        finally:
            sys.path[:] = before


def _checked(what: str, plugin: Plugin, faults: list[str], files: Sequence[str] = ()) -> Checked:
    """`files`: of --plugin, if it is one of them."""
    if any("cannot be parsed" in fault for fault in faults):
        return Checked(what, faults)
    try:
        loaded = opened(plugin)
        faults = faults + _hook_faults(plugin, loaded)
        if faults:
            return Checked(what, faults)
        registry = registry_of(found_plugins(files))  # a name that another gives, a version of the API
    except UsageError as error:
        return Checked(what, faults + str(error).splitlines())
    unseen: list[str] = []
    own = {(spec.package, spec.file) for spec in registry_of([plugin]).packs}
    for spec in registry.packs:
        if (spec.package, spec.file) in own:
            found = check_pack(os.path.join(pack_folder(spec), spec.file), registry, files, spec)
            faults += found.faults
            unseen += found.unseen
    return Checked(what, faults, unseen)


def _hook_faults(plugin: Plugin, loaded: object) -> list[str]:
    name = plugin.where if plugin.source == "file" else plugin.name
    manager = pluggy.PluginManager(PROJECT)
    faults = [*unmarked_hooks(name, loaded), *arguments_of_hooks(manager, name, loaded)]
    manager.register(loaded, name)
    faults += misspelt_hooks(manager)
    if not any(True for _ in marked_hooks(manager, loaded)):
        faults.append(f"plugin {name}: no function is marked with @hookimpl, so nothing of it would be used")
    for hook, code in marked_hooks(manager, loaded):
        if hook not in vars(Hooks) or any(f"{hook}(" in fault for fault in faults):
            continue
        specs: list[Any]
        specs, wrong = given_specs(f"plugin {name}: {hook}()", code, _KINDS[hook])
        faults += wrong
        for spec in specs:
            faults += [f"plugin {name}: {spec.name!r}: {fault}" for fault in _code_faults(spec)]
    return faults


def _code_faults(spec: Any) -> Iterator[str]:
    for field, arguments in CODE.get(type(spec), {}).items():
        target = getattr(spec, field)
        if target is None:
            continue
        given = MODEL_ARGUMENTS.get(getattr(spec, "kind", ""), arguments)
        module, _, name = target.partition(":")
        try:
            code = call(f"the import of {module}", _found, module, name)
        except PluginError as error:
            cause = error.__cause__
            yield f"{field} {target!r} cannot be loaded: {cause if isinstance(cause, ImportError) else error}"
            continue
        if code is None:
            yield f"{field} {target!r}: there is no {name} in {module}"
        elif not callable(code):
            yield f"{field} {target!r} is no function"
        elif (wrong := _does_not_take(code, given)) is not None:
            yield f"{field} {target!r}{wrong}; it is called with ({', '.join(given)})"


def _found(module: str, name: str) -> Any:
    from importlib import import_module

    return getattr(import_module(module), name, None)


def _does_not_take(code: Callable[..., Any], given: Sequence[str]) -> str | None:
    try:
        signature = inspect.signature(code)
    except (TypeError, ValueError):
        return None  # written in C: it does not say
    try:
        signature.bind(*given)
    except TypeError:
        known = getattr(code, "__code__", None)
        place = f" in line {known.co_firstlineno}" if known is not None else ""
        return f"{place} takes {signature}"
    return None


# Sources


def _python_files(folder: str) -> Iterator[str]:
    for here, inner, names in os.walk(folder):
        inner[:] = sorted(
            name for name in inner if name[0] != "." and name not in ("__pycache__", "build", "dist", "venv")
        )
        yield from (os.path.join(here, name) for name in sorted(names) if name.endswith(".py"))


def _source_faults(files: Sequence[str]) -> Iterator[str]:
    """Imports of what may change in any release."""
    for file in files:
        try:
            with open(file, encoding="utf-8") as opened_file:
                tree = ast.parse(opened_file.read(), file)
        except SyntaxError as error:
            yield f"{file}:{error.lineno}: cannot be parsed: {error.msg}"
            continue
        except (OSError, ValueError) as error:
            yield f"{file}: cannot be read: {error}"
            continue
        for node in ast.walk(tree):
            for module in _imported(node):
                if module.partition(".")[0] in ("advisor", *_BUILT_IN_PACKAGES) and module not in _OURS:
                    line = getattr(node, "lineno", 1)
                    yield f"{file}:{line}: imports {module}: only {' and '.join(_OURS)} stay as they are"


_BUILT_IN_PACKAGES = {name.partition(".")[0] for name in BUILTIN}


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        if node.module == "advisor":
            return [f"advisor.{name.name}" for name in node.names]
        return [node.module]
    return []
