"""A knob: one field of a policy, with the values that it may have in a deployment."""

from __future__ import annotations

from typing import Any

from ..model import Setting
from ..tuples import NamedTuple


class Knob(NamedTuple):
    """One field of a policy. `decided_by` are (component, Setting) pairs; `label` is the name a reader knows
    it by; `reference` is the value of the reference deployment, drawn where the real one is not in sight;
    `default` is what a topic gets that says nothing: this cluster's where its file is in sight."""

    field: str
    values: tuple[Any, ...]
    label: str
    decided_by: tuple[tuple[str, Setting], ...] = ()
    reference: Any = None
    default: Setting | None = None

    @property
    def seen(self) -> bool:
        return len(self.values) == 1
