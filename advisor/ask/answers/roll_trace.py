"""A rolling deploy of the simulator as the steps of a finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...sim.groups.clock.story import short
from ...sim.groups.roll import Roll


def roll_trace(run: Roll) -> tuple[Mapping[str, Any], ...]:
    """A roll as the steps of a finding: who stops and starts, and what each member reads then."""
    steps = []
    for number, step in enumerate(run.steps, 1):
        how = ", ".join(step.kind.strategies) if step.kind.protocol == "classic" else "consumer protocol"
        cells = {"generation": str(step.generation), "strategy": step.strategy}
        for member, reads in enumerate(step.reads):
            cells[f"m{member + 1}"] = "-" if reads is None else short(set(reads)) if reads else "nothing"
        text = f"{step.what} m{step.member + 1}" + (f" ({how})" if step.what == "start" else "")
        event = {"name": step.what, "member": step.member + 1, "text": text}
        steps.append(
            {
                "step": number,
                "event": event,
                "effects": list(step.effects),
                "state": {
                    "kind": "group",
                    "cells": cells,
                    "owned": {f"m{n + 1}": list(reads or ()) for n, reads in enumerate(step.reads)},
                },
            }
        )
    return tuple(steps)
