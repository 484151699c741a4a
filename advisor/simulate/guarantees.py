"""The guarantees that `simulate` can be asked, as the registry has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..hookspecs import ModelSpec
from ..model import UsageError
from ..registry import load_registry
from ..schemas import load_schema
from ..schemas.explain import did_you_mean

_known: dict[str, ModelSpec] = {}


def every_guarantee() -> Mapping[str, ModelSpec]:
    if not _known:
        _known.update(load_registry().guarantees)
    return _known


def asked_by_hand() -> dict[str, ModelSpec]:
    """Those that the search answers for any settings, in the simulator's order."""
    from ..sim.questions import QUESTIONS

    return {name: every_guarantee()[name] for name in QUESTIONS}


def known_guarantee(name: str) -> str:
    by_hand = asked_by_hand()
    if name in by_hand:
        return name
    if name in every_guarantee():
        raise UsageError(f"{name} is asked by `audit`; `simulate` plays it in a scenario or a --schedule")
    raise UsageError(f"no guarantee is called {name!r}{did_you_mean(name, by_hand)}")


def scenario_schema() -> dict[str, Any]:
    """The published schema, with the names of the guarantees that there are."""
    schema = load_schema("scenario")
    schema["properties"]["guarantee"]["enum"] = sorted(every_guarantee())
    return schema
