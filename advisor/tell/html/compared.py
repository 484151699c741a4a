"""Of `compare`: the rolls that nothing stops, the steps of an upgrade, and the defaults that move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .markup import Markup, join, tag


def upgrade(report: Mapping[str, Any]) -> Markup | None:
    compared = report.get("compared", {})
    rolls, steps, defaults = (compared.get(name, ()) for name in ("rolls", "steps", "defaults"))
    parts = []
    if rolls:
        parts += [tag("h2", "Rolled, member by member"), _list("ul", rolls)]
    if steps:
        parts += [tag("h2", "In this order"), _list("ol", map(_step, steps))]
    if defaults:
        parts += [tag("h2", "Defaults that change"), _list("ul", defaults)]
    return tag("section", join(*parts)) if parts else None


def _step(step: Mapping[str, Any]) -> str:
    places = ", ".join(f"{at['file']}:{at['line']}" for at in step["at"])
    return str(step["text"]) + (f" ({places})" if places else "")


def _list(kind: str, items: Any) -> Markup:
    return tag(kind, *(tag("li", item) for item in items))
