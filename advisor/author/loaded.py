"""Every plugin by itself: what it gives, how long loading it took, or why it cannot be loaded."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from ..memo.cache import Cache
from ..model import UsageError
from ..read.files import PROJECT_FILE, Unreadable, read_bytes
from ..read.project import check_trusted, load_project
from ..registry import Plugin, Registry, found_plugins, registry_of
from ..tuples import NamedTuple


class Loaded(NamedTuple):
    """One plugin. `gives` has the names of its specs by kind; `fault` says why there are none."""

    plugin: Plugin
    milliseconds: float
    gives: dict[str, list[str]]
    fault: str = ""


def listed_here(trusted: bool) -> tuple[list[str], list[str]]:
    """The Python files that the kafka-advisor.toml of this folder lists, and a line for each that does not
    run."""
    try:
        project = load_project(PROJECT_FILE, read_bytes(PROJECT_FILE), Cache(None))
    except Unreadable:
        return [], []
    files, lines = [], []
    for name in project.plugins:
        if name.endswith(".py"):
            try:
                check_trusted(project, name, trusted)
                files.append(name)
            except UsageError as error:
                lines.append(str(error))
    return files, lines


def loaded_plugins(files: Sequence[str]) -> tuple[list[Loaded], str]:
    """Each of them, and what is wrong with all together: a name that two of them give."""
    found = [_loaded(plugin) for plugin in found_plugins(files)]
    try:
        registry_of([one.plugin for one in found if not one.fault])
    except UsageError as error:
        return found, str(error)
    return found, ""


def _loaded(plugin: Plugin) -> Loaded:
    start = perf_counter()
    try:
        registry = registry_of([plugin])
    except UsageError as error:
        return Loaded(plugin, _since(start), {}, str(error))
    return Loaded(plugin, _since(start), given_names(registry))


def _since(start: float) -> float:
    return (perf_counter() - start) * 1000


def given_names(registry: Registry) -> dict[str, list[str]]:
    found = {
        "formats": [spec.name for spec in registry.formats],
        "packs": [spec.name for spec in registry.packs],
        "checks": sorted(registry.checks),
        "reporters": sorted(registry.reporters),
        "clients": sorted(registry.clients),
        "models": [f"{spec.kind} {spec.name}" for spec in registry.models],
    }
    return {kind: names for kind, names in found.items() if names}
