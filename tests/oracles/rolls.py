"""rolls: a group rolled from one protocol to the other on a real cluster, and what the simulator makes of it.

Members are stopped and started again the new way, one after the other, each step when the group has settled.
After each: how many partitions every member owns (null: it is not running), how many were given up or lost,
which exceptions ended a member, and of which type the group is. Who of equals owns one more is a matter of
random member ids, so counts are compared in no order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.sim.rolling import BY_BROKER, Roll, roll
from tests.oracles.group_mixed_lanes import ENDS_WITH, brokers, kind


def compare(case: Mapping[str, Any]) -> str | None:
    ours = told(played(case["input"]))
    for run in case["output"]["runs"]:
        for place, (step, mine) in enumerate(zip(run, ours, strict=True)):
            seen = {**step, "owned": counts(step["owned"])}
            if seen != mine:
                return f"step {place + 1}: observed {seen}, ours {mine}"
    return None


def played(given: Mapping[str, Any]) -> Roll:
    return roll(
        kind(given["old"]),
        kind(given["new"]),
        given["members"],
        given["partitions"],
        brokers(given["broker"]),
    )


def told(run: Roll) -> list[dict[str, Any]]:
    steps = []
    for step in run.steps:
        refused = [effect.split()[-1] for effect in step.effects if effect.startswith("refused")]
        steps.append(
            {
                "what": step.what,
                "member": step.member + 1,
                "owned": counts([None if reads is None else len(reads) for reads in step.reads]),
                "revoked": step.revoked,
                "errors": [ENDS_WITH[answer] for answer in refused],
                "type": "consumer" if step.strategy == BY_BROKER else "classic",
            }
        )
    return steps


def counts(owned: list[int | None]) -> list[int]:
    return sorted(count for count in owned if count is not None)
