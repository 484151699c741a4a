"""What plugins may import, and nothing else of ours.

Names are found on first use, so `from advisor.api import hookimpl` costs no catalog and no YAML parser.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .accept import Accepted, Reason, Rejected, Rewrite, would_accept, would_accept_librdkafka
    from .catalog import (
        components_of,
        fate,
        is_known,
        keys,
        known_anywhere,
        librdkafka,
        librdkafka_only,
        lookup,
        resolve_version,
        suggest,
    )
    from .hookspecs import (
        CheckSpec,
        ClientSpec,
        FormatSpec,
        ModelSpec,
        PackSpec,
        ReporterSpec,
        hookimpl,
    )
    from .model import (
        Document,
        Dropped,
        Evidence,
        Fact,
        Fix,
        Change,
        Loaded,
        LoadError,
        Location,
        Origin,
        Secret,
        Setting,
        Source,
        Unknown,
        Value,
    )
    from .reading import is_secret_key, is_template, setting, value_of
    from .syntax.properties import Entry, parse_properties
    from .syntax.yamltree import Node, parse_yaml

_HOMES = {
    "accept": "Accepted Reason Rejected Rewrite would_accept would_accept_librdkafka",
    "catalog": "components_of fate is_known keys known_anywhere librdkafka librdkafka_only lookup "
    "resolve_version suggest",
    "hookspecs": "CheckSpec ClientSpec FormatSpec ModelSpec PackSpec ReporterSpec hookimpl",
    "model": "Document Dropped Evidence Fact Fix Change Loaded LoadError Location Origin Secret Setting "
    "Source Unknown Value",
    "reading": "is_secret_key is_template setting value_of",
    "syntax.properties": "Entry parse_properties",
    "syntax.yamltree": "Node parse_yaml",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"advisor.api has no name {name!r}")
    value = getattr(import_module(f"advisor.{module}"), name)
    globals()[name] = value
    return value
