"""A topic gets more partitions while its group reads: what is written to them at once, is it read?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ...model import Finding
from ..audited import Audited, number
from ..stage import Outcome, Plan, Stage, Step, placed

_MEMBERS, _JOIN = 2, 60.0
_METADATA_MS = 300_000
_READ = 4.0


def plan(audited: Audited, trace: Sequence[Step]) -> Plan:
    return Plan(tuple(range(audited.replicas)), partitions=_MEMBERS, seconds=30 + _found_after(audited))


def _found_after(audited: Audited) -> float:
    """The longest that a group needs to see that a topic has grown."""
    ages = [number(one.settings, "metadata.max.age.ms", _METADATA_MS) for one in audited.groups]
    protocol = audited.groups[0].settings.get("group.protocol", "classic")
    return 15.0 if protocol == "consumer" else max(ages) / 1000 + 15


def play(stage: Stage, trace: Sequence[Step], finding: Finding) -> Outcome:
    members = {f"m{number}": stage.driver(f"m{number}") for number in range(_MEMBERS)}
    settings = stage.at({"group.id": "group", **stage.audited.groups[0].settings})
    for name, driver in members.items():
        driver.tell("consumer", id=name, topic=stage.topic, settings=settings)
        driver.tell("loop", id=name)

    def owners() -> dict[str, list[int]]:
        found = {}
        for name, driver in members.items():
            owned: set[int] = set()
            for one in driver.told("assigned", "revoked", "lost"):
                owned = (
                    owned | set(one["partitions"])
                    if one["event"] == "assigned"
                    else owned - set(one["partitions"])
                )
            found[name] = sorted(owned)
        return found

    def wait(partitions: int, within: float) -> bool:
        end = time.monotonic() + within
        while time.monotonic() < end:
            if sorted(one for owned in owners().values() for one in owned) == list(range(partitions)):
                return True
            time.sleep(0.1)
        return False

    wait(_MEMBERS, _JOIN)
    grown = 2 * _MEMBERS
    begun = time.monotonic()
    first = owners()
    stage.admin.tell(
        "grow",
        topic=stage.topic,
        partitions=grown,
        replicas=placed(stage.plan.ids, stage.audited.replicas, grown, _MEMBERS),
    )
    stage.admin.tell("producer", id="source", settings=stage.at({"metadata.max.age.ms": "1000"}))
    for partition in range(_MEMBERS, grown):
        stage.admin.tell(
            "send", id="source", topic=stage.topic, partition=partition, values=["r0"], within=60
        )
    stage.admin.wait_for(lambda events: sum(one["event"] == "acked" for one in events) >= _MEMBERS, 60)
    written = time.monotonic() - begun
    stage.progress("waiting until the group finds the new partitions")
    found = wait(grown, _found_after(stage.audited))
    after = time.monotonic() - begun
    time.sleep(_READ)
    read = {
        int(one.split(":")[0])
        for driver in members.values()
        for told in driver.told("polled")
        for one in told["records"]
    }
    skipped = [one for one in range(_MEMBERS, grown) if one not in read]
    names = " and ".join(f"p{one}" for one in range(_MEMBERS, grown))
    last = (
        [f"{' and '.join(f'p{one}' for one in skipped)} are read from their end: r0 is skipped"]
        if skipped
        else []
    )
    steps = (
        _step(1, written, "partition_growth", f"{names} are added, r0 is written to each", first),
        _step(
            2,
            after,
            "assigned",
            "the group finds them" if found else "the group does not find them",
            owners(),
            last,
        ),
    )
    facts = (
        ("the group found the new partitions after", f"{after:.1f} s" if found else "not at all"),
        (
            "read of the new partitions",
            " ".join(f"p{one}" for one in sorted(read) if one >= _MEMBERS) or "nothing",
        ),
    )
    words = (
        f"r0 of {' and '.join(f'p{one}' for one in skipped)} is skipped"
        if skipped
        else "every record is read"
    )
    return Outcome(steps, bool(skipped), words, facts)


def _step(
    number: int, at: float, name: str, text: str, owned: dict[str, list[int]], effects: Sequence[str] = ()
) -> dict[str, Any]:
    cells = {member: " ".join(f"p{one}" for one in places) or "-" for member, places in owned.items()}
    state = {"kind": "group", "cells": cells}
    event = {"name": name, "text": text}
    return {
        "step": number,
        "t_ms": round(at * 1000),
        "event": event,
        "effects": list(effects),
        "state": state,
    }
