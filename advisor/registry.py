"""Finds plugins, calls the six hooks once and keeps what they gave, sorted.

Built-ins are plugins like anybody's: a plain tuple of dotted names, loaded through the same hooks.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol, TypeVar

import pluggy

from .hookspecs import (
    PROJECT,
    CheckSpec,
    ClientSpec,
    FormatSpec,
    Hooks,
    ModelSpec,
    PackSpec,
    ReporterSpec,
)
from .model import UsageError

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


def load_registry(plugin_files: Sequence[str] = (), required: Sequence[str] = ()) -> Registry:
    """Load built-ins, installed plugins and the files of --plugin.

    `required` are the installed plugins that a project file names: missing ones are an error.
    """
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Hooks)
    plugins: list[Plugin] = []
    for name in BUILTIN:
        _register(manager, import_module(name), name)
        plugins.append(Plugin(name, "built-in", name))
    for name, target in installed_plugins():
        _register(manager, _import_installed(name, target), name)
        plugins.append(Plugin(name, "installed", target))
    for path in plugin_files:
        name = os.path.basename(path)
        _register(manager, _import_file(path), path)
        plugins.append(Plugin(name, "file", path))
    _require(required, plugins)
    _check_hooks(manager)
    return Registry(
        plugins=tuple(plugins),
        formats=_sorted("format", FormatSpec, _given(manager, "advisor_formats")),
        packs=_sorted("pack", PackSpec, _given(manager, "advisor_packs")),
        checks=_by_name(_sorted("check", CheckSpec, _given(manager, "advisor_checks"))),
        reporters=_by_name(_sorted("reporter", ReporterSpec, _given(manager, "advisor_reporters"))),
        clients=_by_name(_sorted("client", ClientSpec, _given(manager, "advisor_clients"))),
        models=_sorted("model", ModelSpec, _given(manager, "advisor_models")),
    )


_functions: dict[str, Callable[..., Any]] = {}


def function(target: str) -> Callable[..., Any]:
    """The code behind a "module:function" string, imported on first use."""
    found = _functions.get(target)
    if found is None:
        module, _, name = target.partition(":")
        try:
            found = getattr(import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise UsageError(f"plugin code {target} cannot be loaded: {error}") from error
        _functions[target] = found
    return found


def code_mark(code: Callable[..., Any]) -> str:
    """Another one when the file changes in which this code is written."""
    from hashlib import blake2b

    with open(code.__code__.co_filename, "rb") as file:
        return blake2b(file.read(), digest_size=8).hexdigest()


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
                    found.setdefault(plugin, target)
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
        loaded: object = import_module(module)
        return getattr(loaded, attribute) if attribute else loaded
    except (Exception, SystemExit) as error:
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
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[stem]
        raise UsageError(f"--plugin {path} failed to import: {_reason(error)}") from error
    return module


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _require(required: Sequence[str], plugins: Sequence[Plugin]) -> None:
    installed = {plugin.name for plugin in plugins if plugin.source == "installed"}
    for name in required:
        if name not in installed:
            have = ", ".join(sorted(installed)) or "none"
            raise UsageError(
                f"kafka-advisor.toml names plugin {name!r}, which is not installed (installed: {have})"
            )


def _check_hooks(manager: pluggy.PluginManager) -> None:
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise UsageError(f"a plugin implements a hook that does not exist: {error}") from error


def _register(manager: pluggy.PluginManager, plugin: object, name: str) -> None:
    try:
        manager.register(plugin, name)
    except (ValueError, pluggy.PluginValidationError) as error:
        raise UsageError(f"plugin {name} cannot be registered: {error}") from error


def _given(manager: pluggy.PluginManager, hook: str) -> Iterator[Any]:
    """What each plugin gives for a hook; one that fails is named. pluggy calls all of a hook in one go and
    does not say whose code raised, so each is called by itself."""
    for implementation in getattr(manager.hook, hook).get_hookimpls():
        try:
            yield from implementation.function()
        except UsageError:
            raise
        except Exception as error:
            raise UsageError(
                f"plugin {implementation.plugin_name}: {hook}() failed: {_reason(error)}"
            ) from error


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Spec = TypeVar("Spec", bound=_Named)


def _by_name(specs: Iterable[Spec]) -> dict[str, Spec]:
    return {spec.name: spec for spec in specs}


def _sorted(what: str, kind: type[Spec], given: Iterable[Spec]) -> tuple[Spec, ...]:
    specs = list(given)
    for spec in specs:
        if not isinstance(spec, kind):
            raise UsageError(f"a plugin gave {spec!r} where a {kind.__name__} is expected")
    specs.sort(key=lambda spec: spec.name)
    for position, spec in enumerate(specs[1:]):
        if specs[position].name == spec.name:
            raise UsageError(f"two plugins give a {what} named {spec.name!r}: {specs[position]} and {spec}")
    return tuple(specs)
