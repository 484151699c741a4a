"""What a plugin that is not ours gives for a hook, looked at field by field before anything uses it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ..hookspecs import MODEL_KINDS, CheckSpec, ClientSpec, FormatSpec, ModelSpec, PackSpec, ReporterSpec
from ..model import UsageError
from .calls import PluginError, call

Spec = TypeVar("Spec")

_TEXTS: dict[type, tuple[str, ...]] = {
    FormatSpec: ("name", "claim", "load", "about"),
    PackSpec: ("name", "package", "file"),
    CheckSpec: ("name", "function", "reads"),
    ReporterSpec: ("name", "render", "about"),
    ClientSpec: ("name",),
    ModelSpec: ("kind", "name", "function"),
}
# The fields that hold "module:function".
_CODE: dict[type, tuple[str, ...]] = {
    FormatSpec: ("claim", "load", "edit", "stream"),
    CheckSpec: ("function",),
    ReporterSpec: ("render",),
    ClientSpec: ("refused",),
    ModelSpec: ("function",),
}
_WORDS: dict[type, tuple[str, tuple[str, ...]]] = {
    CheckSpec: ("reads", ("document", "deployment")),
    ModelSpec: ("kind", MODEL_KINDS),
}
# Classes that Kafka brings itself: what they do is known, and no plugin may say otherwise.
_KAFKAS = ("org.apache.kafka.",)


def taken(
    plugin: str, hook: str, code: Callable[[], Any], kind: type[Spec], owners: dict[str, str]
) -> list[Spec]:
    """The specs of one plugin; `owners` learns whose code is behind them."""
    who = f"plugin {plugin}: {hook}()"
    try:
        given = call(who, code)
    except PluginError as error:
        raise UsageError(_told(error)) from error
    if given is None or isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise UsageError(f"{who} gave {_shown(given)} where a list of {kind.__name__} is expected")
    found = list(given)
    for spec in found:
        wrong = _wrong(spec, kind)
        if wrong:
            raise UsageError(f"{who} {wrong}")
        for field in _CODE.get(kind, ()):
            target = getattr(spec, field)
            # Code of ours that a plugin names is ours all the same.
            if target is not None and not target.startswith(("advisor.", "kafka_advisor_plugins.")):
                owners[target] = plugin
    return found


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
    for field in _CODE.get(kind, ()):
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
        if not isinstance(spec.keys, tuple) or not all(isinstance(one, str) for one in spec.keys):
            return f"whose keys are {_shown(spec.keys)}, not a tuple of texts"
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
        folders = getattr(call(f"the import of {spec.package}", import_module, spec.package), "__path__", ())
    except PluginError as error:
        return f"whose package {spec.package!r} cannot be imported: {error.__cause__ or error}"
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
