"""A topic grows under the groups that read it: what `auto.offset.reset=latest` passes over.

A group finds new partitions when its leader's metadata is refreshed (or the coordinator notices, with the
consumer protocol) and begins to read each where the reset says. With `latest` that is the end: what was
written since the growth is skipped. How long that takes is asked of the group on the clock, over the whole
grid of phases; the longest is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ....context import Hit, Judgement
from ....join.reader import Reader
from ....model import Document, Fix, Location
from .rolls import Side, change, strategies_of

if TYPE_CHECKING:
    from ....sim.groups.clock.phases import GroupSetup, Phase

LIMIT_MS = 60_000


def skipped_by_groups(new: Side, before: int, after: int) -> Iterator[Judgement]:
    """Of each group of the grown topic that begins at the end."""
    for group in new.look.deployment.groups:
        side = new._replace(document=group, look=Reader(new.look.deployment, new.look.clients, group))
        found = _window(side)
        if found is not None:
            yield _skipped(side, new.document, (before, after), *found)


def _window(side: Side) -> tuple[int, int] | None:
    """The longest time until a new partition is read, and the metadata age that decides it."""
    reset, _ = side.look.text("consumer", "auto.offset.reset")
    protocol, given = side.look.text("consumer", "group.protocol")
    age, _ = side.look.number("consumer", "metadata.max.age.ms")
    strategies = strategies_of(side)
    if reset != "latest" or age is None or strategies is None or (protocol is None and given is not None):
        return None
    from ....sim.assign.assignors import BUILT_IN
    from ....sim.groups.clock.outcomes import outcomes
    from ....sim.groups.clock.phases import GroupSetup

    known = tuple(name for name in strategies[0] if name in BUILT_IN) or ("range",)
    setup = GroupSetup(
        protocol=(protocol or "classic").lower(),
        strategies=known,
        partitions=2,
        metadata_max_age_ms=age,
        reset=reset,
    )
    return max(int(one["unread_ms"]) for one in outcomes(partial(_unread, setup))), age


def _unread(setup: GroupSetup, phase: Phase) -> dict[str, Any]:
    from ....sim.groups.clock.timeline import GroupRun

    run = GroupRun(setup, phase, records=False)
    nodes = [run.start("m1"), run.start("m2", delay=phase.open)]
    run.until(lambda: all(len(node.owned) == 1 for node in nodes), LIMIT_MS)
    run.to_growth(nodes)
    grown = run.clock.now
    run.grow(4)
    run.until(lambda: run.owned_by(nodes) == 4, 2 * setup.metadata_max_age_ms + LIMIT_MS)
    return {"unread_ms": run.clock.now - grown}


def _skipped(side: Side, topic: Document, counts: tuple[int, int], window: int, age: int) -> Judgement:
    before, after = counts
    _, reset = side.look.text("consumer", "auto.offset.reset")
    waits = f"{window / 1000:.3g} s"
    cells = {"partitions": str(after), "unread": "", "time": "0 s"}
    steps = (
        {
            "step": 1,
            "event": {"name": "partition_growth", "text": f"{topic.name} grows to {after} partitions"},
            "effects": [f"records are written to {topic.name}-{before} at once"],
            "state": {"kind": "group", "cells": {**cells, "unread": f"{before} to {after - 1}"}},
        },
        {
            "step": 2,
            "event": {"name": "assign", "text": f"{side.document.name} learns of them"},
            "effects": ["reads from their end: what was written before is skipped"],
            "state": {"kind": "group", "cells": {**cells, "time": waits}},
        },
    )
    rate = side.look.workload("records_per_second")
    numbers = [("a new partition is unread for", f"up to {waits}"), ("metadata.max.age.ms", str(age))]
    if isinstance(rate, int | float):
        lost = int(rate * window / 1000 / after)
        numbers.append(("records skipped in one new partition", f"up to {lost} (at {rate} a second)"))
    hit = Hit(
        reset.origin.at if reset is not None and reset.origin.at else _at(side.document),
        ("auto.offset.reset",),
        {
            "resource": side.document.name,
            "topic": topic.name,
            "old": str(before),
            "new": str(after),
            "waits": waits,
        },
        (("consumer", reset),) if reset is not None else (),
        (Fix((change(side, "auto.offset.reset", "earliest"),), ("every-record-processed",), None, True),),
        tuple(numbers),
        check="grown-partition-skipped",
        advice=(
            "or add the partitions while the producers are stopped, and wait for the next metadata refresh",
        ),
    )
    return Judgement("broken", hit, steps)


def _at(document: Document) -> Location:
    return Location(document.file, document.line)
