"""The public harness: plugin authors test their rules as this project tests its own.

    from advisor.testing import audit_texts, places

    report = audit_texts({"producer.properties": "acks=ALL\\n"}, plugins=["my_plugin.py"])
    assert places(report) == ["KA006 producer.properties:1"]

Where kafka-advisor is installed pytest has the fixtures of `fixtures.py` besides, without any word in a
conftest. Names are found on first use: a pytest run that asks for none of them loads nothing of the product.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .audits import audit_paths as audit_paths
    from .audits import audit_settings as audit_settings
    from .audits import audit_texts as audit_texts
    from .audits import compare_paths as compare_paths
    from .audits import settings_texts as settings_texts
    from .command import run_command as run_command
    from .examples import Example as Example
    from .examples import pack_examples as pack_examples
    from .examples import rule_examples as rule_examples
    from .told import codes as codes
    from .told import events as events
    from .told import finding_of as finding_of
    from .told import places as places

_HOMES = {
    "audits": "audit_paths audit_settings audit_texts compare_paths settings_texts",
    "command": "run_command",
    "examples": "Example pack_examples rule_examples",
    "told": "codes events finding_of places",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __dir__() -> list[str]:
    return sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"advisor.testing has no name {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
