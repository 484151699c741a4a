"""Finds plugins, calls the six hooks once and keeps what they gave, sorted.

Built-ins are plugins like anybody's: a plain tuple of dotted names, loaded through the same hooks. The code
of other plugins is watched while it runs (`plugin_calls`), and what it gives is checked (`plugin_answers`).
"""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, Protocol, TypeVar

import pluggy

from .guard.calls import OneWatch, PluginError, call, forget_failures, place_of
from .hookspecs import (
    API_VERSION,
    PROJECT,
    SEARCHED,
    CheckSpec,
    ClientSpec,
    FormatSpec,
    Hooks,
    ModelSpec,
    PackSpec,
    ReporterSpec,
)
from .model import UsageError
from .syntax.numbers import is_digits
from .tuples import NamedTuple

BUILTIN = (
    "kafka_advisor_plugins.formats",
    "kafka_advisor_plugins.checks",
    "kafka_advisor_plugins.clients",
    "kafka_advisor_plugins.models",
    "kafka_advisor_plugins.reporters",
    "kafka_advisor_rules",
)


class Plugin(NamedTuple):
    """What is loaded, and from where: built-in | installed | file."""

    name: str
    source: str
    where: str


class Registry(NamedTuple):
    plugins: tuple[Plugin, ...]
    formats: tuple[FormatSpec, ...]
    packs: tuple[PackSpec, ...]
    checks: dict[str, CheckSpec]
    reporters: dict[str, ReporterSpec]
    clients: dict[str, ClientSpec]
    models: tuple[ModelSpec, ...]

    @property
    def assignors(self) -> dict[str, str]:
        """Of plugins: the class that settings name, and the code behind it."""
        return {spec.name: spec.function for spec in self.models if spec.kind == "assignor"}

    @property
    def guarantees(self) -> dict[str, ModelSpec]:
        return {spec.name: spec for spec in self.models if spec.kind in ("guarantee", SEARCHED)}

    @property
    def digest(self) -> str:
        """Of all code of plugins that are not ours; "" without any."""
        foreign = [plugin for plugin in self.plugins if plugin.source != "built-in"]
        if not foreign:
            return ""
        from .guard.sources import code_digest

        files = [plugin.where for plugin in foreign if plugin.source == "file"]
        return code_digest([*(p.where for p in foreign if p.source == "installed"), *sorted(_owners)], files)

    @property
    def partitioners(self) -> dict[str, str]:
        """The same of partitioner.class."""
        return {spec.name: spec.function for spec in self.models if spec.kind == "partitioner"}


def load_registry(plugin_files: Sequence[str] = (), required: Sequence[str] = ()) -> Registry:
    """Load built-ins, installed plugins and the files of --plugin.

    `required` are the installed plugins that a project file names: missing ones are an error.
    """
    plugins = found_plugins(plugin_files)
    if required:
        _require(required, plugins)
    return registry_of(plugins)


def found_plugins(plugin_files: Sequence[str] = ()) -> list[Plugin]:
    """What there is to load; nothing of it is imported yet."""
    found = [Plugin(name, "built-in", name) for name in BUILTIN]
    found += [Plugin(name, "installed", target) for name, target in installed_plugins()]
    return found + [Plugin(os.path.basename(path), "file", path) for path in plugin_files]


def registry_of(plugins: Sequence[Plugin]) -> Registry:
    """These plugins and no others; the first fault is a UsageError that names its plugin."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Hooks)
    with OneWatch():
        for plugin in plugins:
            name = plugin.where if plugin.source == "file" else plugin.name
            _register(manager, opened(plugin), name)
        _check_hooks(manager)
        forget_failures()
        return Registry(
            plugins=tuple(plugins),
            formats=_given(manager, "advisor_formats", FormatSpec),
            packs=_given(manager, "advisor_packs", PackSpec),
            checks=_by_name(_given(manager, "advisor_checks", CheckSpec)),
            reporters=_by_name(_given(manager, "advisor_reporters", ReporterSpec)),
            clients=_by_name(_given(manager, "advisor_clients", ClientSpec)),
            models=_given(manager, "advisor_models", ModelSpec),
        )


def opened(plugin: Plugin) -> object:
    """The module or object that implements its hooks, imported."""
    if plugin.source == "built-in":
        return import_module(plugin.where)
    if plugin.source == "installed":
        return _import_installed(plugin.name, plugin.where)
    return _import_file(plugin.where)


_functions: dict[tuple[str, str], Callable[..., Any]] = {}
# Of code that is not ours: the plugin that gave it.
_owners: dict[str, str] = {}


def is_foreign(target: str) -> bool:
    """Is the code behind it that of a plugin which is not ours?"""
    return target in _owners


def function(target: str, gives: str) -> Callable[..., Any]:
    """The code behind a "module:function" string, imported on first use. `gives` is what the code of a plugin
    is held to: claim | hits | judgements | loaded | partition | plan | refusal | text."""
    found = _functions.get((target, gives))
    if found is None:
        owner = _owners.get(target)
        found = _imported(target) if owner is None else _watched(owner, target, gives)
        _functions[target, gives] = found
    return found


def _imported(target: str) -> Callable[..., Any]:
    module, _, name = target.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def _watched(owner: str, target: str, gives: str) -> Callable[..., Any]:
    from functools import wraps

    from .guard.answers import checked

    who = f"plugin {owner}: {target}"
    try:
        code = call(who, _imported, target)
    except PluginError as error:
        cause = error.__cause__
        reason = _reason(cause) if isinstance(cause, ImportError | AttributeError) else str(error)
        raise UsageError(f"plugin {owner}: its code {target} cannot be loaded: {reason}") from error
    if not callable(code):
        raise UsageError(f"plugin {owner}: {target} is no function")

    @wraps(code, updated=())
    def watched(*given: Any) -> Any:
        return checked(who, gives, call(who, code, *given))

    # What an assignor says of itself. A function's own attributes may be anything.
    watched.cooperative = bool(getattr(code, "cooperative", False))  # type: ignore[attr-defined]
    return watched


def installed_plugins() -> list[tuple[str, str]]:
    """Entry points of our group, found by scanning metadata files: importlib.metadata costs as much as
    a whole one-file audit."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    for folder in sys.path:
        if not folder or folder in seen:
            continue
        seen.add(folder)
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                for plugin, target in _entry_points(os.path.join(folder, name, "entry_points.txt")):
                    if found.setdefault(plugin, target) != target:
                        raise UsageError(
                            f"two installed plugins are named {plugin!r}: {found[plugin]} and {target}"
                        )
    return sorted(found.items())


def _entry_points(path: str) -> Iterable[tuple[str, str]]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return
    if f"[{PROJECT}]" not in text:
        return
    section = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            section = line
        elif section == f"[{PROJECT}]" and "=" in line:
            name, _, target = line.partition("=")
            yield name.strip(), target.strip()


def _import_installed(name: str, target: str) -> object:
    module, _, attribute = target.partition(":")
    try:
        loaded: object = call(f"plugin {name}", import_module, module)
        return getattr(loaded, attribute) if attribute else loaded
    except (PluginError, AttributeError) as error:
        raise UsageError(f"plugin {name} ({target}) failed to import: {_reason(error)}") from error


def _import_file(path: str) -> object:
    from importlib.util import module_from_spec, spec_from_file_location

    if not os.path.isfile(path):
        raise UsageError(f"--plugin {path}: no such file")
    stem = os.path.splitext(os.path.basename(path))[0]
    # The stem is the module name, so that "module:function" strings in the file can name themselves.
    spec = spec_from_file_location(stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"--plugin {path}: not a Python file")
    loaded = sys.modules.get(stem)
    if loaded is not None and getattr(loaded, "__file__", None) == spec.origin:
        return loaded  # a second audit in one process
    if loaded is not None:
        raise UsageError(f"--plugin {path}: a module named {stem} is loaded already; rename the file")
    module = module_from_spec(spec)
    sys.modules[stem] = module
    try:
        call(f"--plugin {path}", spec.loader.exec_module, module)
    except PluginError as error:
        del sys.modules[stem]
        raise UsageError(f"--plugin {path} failed to import: {_reason(error)}") from error
    return module


def _reason(error: BaseException) -> str:
    """Why a plugin could not be loaded, in its own words: no configuration has been read yet."""
    cause = error.__cause__ if isinstance(error, PluginError) else error
    if cause is None:
        return str(error)
    try:
        words = str(cause).partition("\n")[0]
    except Exception:  # an exception of the plugin's own, which cannot even say what it is
        words = ""
    told = f"{type(cause).__name__}: {words}" if words else type(cause).__name__
    return told if isinstance(cause, SyntaxError | ImportError) else f"{told} {place_of(cause)}".strip()


def _refuse_file(name: str) -> UsageError:
    return UsageError(
        f"kafka-advisor.toml lists {name!r}, a Python file of its own folder, which does not run here; "
        "name the file with --plugin"
    )


def _require(required: Sequence[str], plugins: Sequence[Plugin]) -> None:
    installed = {plugin.name for plugin in plugins if plugin.source == "installed"}
    for name in required:
        if name.endswith(".py"):
            raise _refuse_file(name)
        if name not in installed:
            have = ", ".join(sorted(installed)) or "none"
            raise UsageError(
                f"kafka-advisor.toml names plugin {name!r}, which is not installed (installed: {have})"
            )


def _check_hooks(manager: pluggy.PluginManager) -> None:
    try:
        manager.check_pending()
    except pluggy.PluginValidationError:
        from .guard.specs import misspelt_hooks

        raise UsageError("\n".join(misspelt_hooks(manager))) from None


def _register(manager: pluggy.PluginManager, plugin: object, name: str) -> None:
    if name not in BUILTIN:
        from .guard.specs import unmarked_hooks

        _check_version(name, getattr(plugin, "api_version", API_VERSION))
        told = unmarked_hooks(name, plugin)
        if told:
            raise UsageError("\n".join(told))
    try:
        manager.register(plugin, name)
    except (ValueError, pluggy.PluginValidationError) as error:
        from .guard.specs import arguments_of_hooks

        told = arguments_of_hooks(manager, name, plugin)
        what = "\n".join(told) or f"plugin {name} cannot be registered: {_one_line(error)}"
        raise UsageError(what) from error


def _check_version(name: str, given: object) -> None:
    first = given.partition(".")[0] if isinstance(given, str) else None
    if first is None or not is_digits(first):
        raise UsageError(f'plugin {name}: api_version is {given!r}; write it as "{API_VERSION}"')
    if first != API_VERSION.partition(".")[0]:
        raise UsageError(
            f"plugin {name} was written for version {given} of the plugin API, and this kafka-advisor has "
            f"{API_VERSION}: install a release of one for the other"
        )


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Spec = TypeVar("Spec", bound=_Named)


def _given(manager: pluggy.PluginManager, hook: str, kind: type[Spec]) -> tuple[Spec, ...]:
    """What the plugins give for a hook, sorted; what fails, or is given twice, is named. pluggy calls all of
    a hook in one go and does not say whose code raised, so each is called by itself."""
    found: dict[tuple[str, str], tuple[Spec, str]] = {}
    for implementation in getattr(manager.hook, hook).get_hookimpls():
        plugin = implementation.plugin_name
        if plugin in BUILTIN:
            specs = implementation.function()
        else:
            from .guard.specs import taken

            specs = taken(plugin, hook, implementation.function, kind, _owners)
        for spec in specs:
            kind_of = getattr(spec, "kind", "")
            mark = "guarantee" if kind_of == SEARCHED else kind_of, spec.name
            first = found.setdefault(mark, (spec, plugin))
            if first[0] is not spec:
                what = mark[0] or hook.removeprefix("advisor_").removesuffix("s")
                both = f"{first[1]} and {plugin}" if first[1] != plugin else f"{plugin}, twice"
                raise UsageError(f"two plugins give a {what} named {spec.name!r}: {both}")
    return tuple(found[mark][0] for mark in sorted(found, key=lambda mark: (mark[1], mark[0])))


def _by_name(specs: Iterable[Spec]) -> dict[str, Spec]:
    return {spec.name: spec for spec in specs}
