"""What a plugin that is not ours gives for a hook, looked at field by field before anything uses it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from ..hookspecs import (
    MODEL_KINDS,
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
from .calls import PluginError, call

if TYPE_CHECKING:
    from pluggy import PluginManager

Spec = TypeVar("Spec")

_TEXTS: dict[type, tuple[str, ...]] = {
    FormatSpec: ("name", "claim", "load", "about"),
    PackSpec: ("name", "package", "file"),
    CheckSpec: ("name", "function", "reads"),
    ReporterSpec: ("name", "render", "about"),
    ClientSpec: ("name",),
    ModelSpec: ("kind", "name", "function"),
}
# The fields that hold "module:function", and what the function is given.
CODE: dict[type, dict[str, tuple[str, ...]]] = {
    FormatSpec: {
        "claim": ("name", "text"),
        "load": ("source",),
        "edit": ("source", "document", "step"),
        "stream": ("file", "lines"),
    },
    CheckSpec: {"function": ("subject", "context")},
    ReporterSpec: {"render": ("report", "options")},
    ClientSpec: {"refused": ("component", "config")},
    ModelSpec: {"function": ("deployment", "context")},
}
# Of a model by its kind.
MODEL_ARGUMENTS = {"assignor": ("members", "metadata", "version"), "partitioner": ("key", "partitions")}
_HOOKS = sorted(name for name in vars(Hooks) if name.startswith("advisor_"))
_WORDS: dict[type, tuple[str, tuple[str, ...]]] = {
    CheckSpec: ("reads", ("document", "deployment")),
    ModelSpec: ("kind", MODEL_KINDS),
}
# Classes that Kafka brings itself: what they do is known, and no plugin may say otherwise.
_KAFKAS = ("org.apache.kafka.",)


def misspelt_hooks(manager: PluginManager) -> list[str]:
    """One line for each function that is marked as a hook and is none, with the one that was meant."""
    from ..schemas.explain import did_you_mean

    lines = []
    for name, plugin in manager.list_name_plugin():
        for word, code in marked_hooks(manager, plugin):
            if word not in vars(Hooks):
                near = did_you_mean(word, _HOOKS)
                lines.append(f"plugin {name}: {word}(){_line_of(code)} is no hook{near}")
    return lines


def arguments_of_hooks(manager: PluginManager, name: str, plugin: object) -> list[str]:
    """One line for each hook that asks for an argument: no hook gets any."""
    lines = []
    for word, code in marked_hooks(manager, plugin):
        wanted = [one for one in _arguments(code) if one != "self"]
        if word in vars(Hooks) and wanted:
            what = f"{word}({', '.join(wanted)}){_line_of(code)} asks for {' and '.join(wanted)}"
            lines.append(f"plugin {name}: {what}; a hook gets no argument")
    return lines


def unmarked_hooks(name: str, plugin: object) -> list[str]:
    """One line for each function that is called like a hook and lacks the mark: it would never be called."""
    lines = []
    for word in vars(plugin) if isinstance(plugin, ModuleType) else ():
        code = getattr(plugin, word)
        if word.startswith("advisor_") and isinstance(code, FunctionType):
            own = code.__module__ == getattr(plugin, "__name__", "")
            if own and not hasattr(code, f"{PROJECT}_impl"):
                lines.append(
                    f"plugin {name}: {word}(){_line_of(code)} is not marked: write @hookimpl above it"
                )
    return lines


def marked_hooks(manager: PluginManager, plugin: object) -> Iterator[tuple[str, Any]]:
    for word in dir(plugin):
        if manager.parse_hookimpl_opts(plugin, word) is not None:
            yield word, getattr(plugin, word)


def _arguments(code: Any) -> tuple[str, ...]:
    known = getattr(code, "__code__", None)
    return known.co_varnames[: known.co_argcount] if known is not None else ()


def _line_of(code: Any) -> str:
    known = getattr(code, "__code__", None)
    return f" in line {known.co_firstlineno}" if known is not None else ""


def taken(
    plugin: str, hook: str, code: Callable[[], Any], kind: type[Spec], owners: dict[str, str]
) -> list[Spec]:
    """The specs of one plugin; `owners` learns whose code is behind them."""
    found, wrong = given_specs(f"plugin {plugin}: {hook}()", code, kind)
    if wrong:
        raise UsageError(wrong[0])
    for spec in found:
        for field in CODE.get(kind, {}):
            target = getattr(spec, field)
            # Code of ours that a plugin names is ours all the same.
            if target is not None and not target.startswith(("advisor.", "kafka_advisor_plugins.")):
                owners[target] = plugin
    return found


def given_specs(who: str, code: Callable[[], Any], kind: type[Spec]) -> tuple[list[Spec], list[str]]:
    """What a hook gives, and what is wrong with it: a line for each fault. `who` is how it is called."""
    try:
        given = call(who, code)
    except PluginError as error:
        return [], [_told(error)]
    if given is None or isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        return [], [f"{who} gave {_shown(given)} where a list of {kind.__name__} is expected"]
    found: list[Spec] = []
    lines = []
    for spec in given:
        wrong = _wrong(spec, kind)
        if wrong:
            lines.append(f"{who} {wrong}")
        else:
            found.append(spec)
    return found, lines


def _told(error: PluginError) -> str:
    """With the words of the plugin's own error: no configuration has been read yet."""
    try:
        words = str(error.__cause__).partition("\n")[0] if error.__cause__ is not None else ""
    except Exception:  # an exception that cannot even say what it is
        words = ""
    return f"{error}: {words}" if words and words not in str(error) else str(error)


def _wrong(spec: Any, kind: type) -> str:
    if not isinstance(spec, kind):
        return f"gave {_shown(spec)} where a {kind.__name__} is expected"
    name = getattr(spec, "name", None)
    label = f"gave a {kind.__name__} named {name!r}" if isinstance(name, str) else f"gave a {kind.__name__}"
    for field in _TEXTS[kind]:
        value = getattr(spec, field)
        if not isinstance(value, str) or not value.strip():
            return f"{label} whose {field} is {_shown(value)}, not a text"
    if kind in _WORDS:
        field, words = _WORDS[kind]
        if getattr(spec, field) not in words:
            return f"{label} whose {field} is {getattr(spec, field)!r}; there is {', '.join(words)}"
    for field in CODE.get(kind, {}):
        value = getattr(spec, field)
        if value is not None and not _names_code(value):
            return f'{label} whose {field} is {_shown(value)}; write it as "module:function"'
    wrong = _further(spec)
    return f"{label} {wrong}" if wrong else ""


def _further(spec: Any) -> str:
    """What one kind of spec alone has."""
    if isinstance(spec, FormatSpec):
        for field in ("suffixes", "markers"):
            value = getattr(spec, field)
            if not isinstance(value, tuple) or not all(isinstance(one, str) for one in value):
                return f"whose {field} are {_shown(value)}, not a tuple of texts"
        if spec.fallback_encoding is not None and not _encodes(spec.fallback_encoding):
            return f"whose fallback_encoding is {_shown(spec.fallback_encoding)}, which Python does not know"
    if isinstance(spec, ClientSpec):
        for field in ("keys", "servers"):
            value = getattr(spec, field)
            if not isinstance(value, tuple) or not all(isinstance(one, str) for one in value):
                return f"whose {field} are {_shown(value)}, not a tuple of texts"
        for field in ("aliases", "defaults"):
            value = getattr(spec, field)
            if not isinstance(value, Mapping) or not all(
                isinstance(word, str) for pair in value.items() for word in pair
            ):
                return f"whose {field} are {_shown(value)}, not a dict of texts"
    if isinstance(spec, ModelSpec):
        return _model(spec)
    return _pack(spec) if isinstance(spec, PackSpec) else ""


def _pack(spec: PackSpec) -> str:
    from importlib import import_module

    try:
        found = call(f"the import of {spec.package}", import_module, spec.package)
    except PluginError as error:
        return f"whose package {spec.package!r} cannot be imported: {error.__cause__ or error}"
    folders = getattr(found, "__path__", None) or [os.path.dirname(getattr(found, "__file__", None) or "")]
    if not any(os.path.isfile(os.path.join(folder, spec.file)) for folder in folders):
        return f"whose file {spec.file!r} is not in the package {spec.package!r}"
    return ""


def _model(spec: ModelSpec) -> str:
    if spec.kind != "guarantee" and spec.name.startswith(_KAFKAS):
        return "which is a class of Kafka's own; name a class of yours"
    if spec.params is not None and not (
        isinstance(spec.params, Mapping)
        and all(
            isinstance(name, str)
            and isinstance(words, tuple)
            and all(isinstance(word, str) for word in words)
            for name, words in spec.params.items()
        )
    ):
        return f"whose params are {_shown(spec.params)}, not a dict of names to tuples of texts"
    if not isinstance(spec.parts, tuple) or not all(isinstance(part, str) for part in spec.parts):
        return f"whose parts are {_shown(spec.parts)}, not a tuple of texts"
    if spec.faults is not None and not (
        isinstance(spec.faults, tuple) and all(isinstance(fault, str) for fault in spec.faults)
    ):
        return f"whose faults are {_shown(spec.faults)}, not a tuple of texts"
    for field in ("says", "broken"):
        if not isinstance(getattr(spec, field), str):
            return f"whose {field} is {_shown(getattr(spec, field))}, not a text"
    return ""


def _names_code(value: object) -> bool:
    if not isinstance(value, str):
        return False
    module, colon, name = value.partition(":")
    return bool(colon) and name.isidentifier() and all(part.isidentifier() for part in module.split("."))


def _encodes(name: object) -> bool:
    from codecs import lookup

    try:
        lookup(name)  # type: ignore[arg-type]
    except (LookupError, TypeError, ValueError):
        return False
    return True


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except Exception:
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"a {type(value).__name__}"
