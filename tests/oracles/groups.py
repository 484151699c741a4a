"""groups: what real consumer groups did in a schedule is among the outcomes of ours.

A lane's family (the first word of its id) says which events its steps are; the numbers are read from the
steps and settings. The schedule is run over all phases, and every recorded run must match one of the
outcomes: counts, booleans and errors exactly where the lane was deterministic (else by zero or non-zero),
times and ratios within the spread of the runs widened by 15 % or a heartbeat interval.

One thing is in no input: whether a G2 lane commits before or after it processes, and whether workers
process; enable.auto.commit alone is stated. It is read from the lane's id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from advisor.sim.consumer import Reading
from advisor.sim.group_outcomes import outcomes
from advisor.sim.group_phases import GroupSetup, Phase
from tests.oracles import group_failover_lanes, group_lanes

# The clusters of all lanes ran with these, whatever a lane says besides (group.protocol=consumer only).
CLUSTER = {"group.consumer.session.timeout.ms": 6000, "group.consumer.heartbeat.interval.ms": 1000}
STRATEGIES = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
WIDER = 0.15


def strategies(text: str) -> tuple[str, ...]:
    return tuple(STRATEGIES[name.strip().rsplit(".", 1)[-1]] for name in text.split(","))


def reading(case: Mapping[str, Any], consumer: Mapping[str, Any]) -> Reading:
    """How the lane's application commits: its settings, and for G2 its name."""
    automatic = str(consumer.get("enable.auto.commit", "true")) == "true"
    name = case["id"]
    commits = "auto" if automatic else "before" if "before-processing" in name else "after"
    return Reading(
        batch=int(consumer.get("max.poll.records", 500)),
        commits=commits,
        workers="async-processing" in name,
        late_commit=automatic and case["input"]["protocol"] == "consumer",
    )


def setup(case: Mapping[str, Any]) -> GroupSetup:
    given = case["input"]
    consumer = {**given["consumer"], **given.get("c1", {})}
    broker = {**CLUSTER, **given.get("broker", {})}
    classic = given["protocol"] == "classic"
    reset, _, duration = str(consumer.get("auto.offset.reset", "latest")).partition(":")
    defaults = GroupSetup()
    return GroupSetup(
        protocol=given["protocol"],
        strategies=strategies(consumer.get("partition.assignment.strategy", "RangeAssignor"))
        if classic
        else ("uniform",),
        session_ms=int(
            consumer.get("session.timeout.ms", 45_000)
            if classic
            else broker["group.consumer.session.timeout.ms"]
        ),
        heartbeat_ms=int(
            consumer.get("heartbeat.interval.ms", 3_000)
            if classic
            else broker["group.consumer.heartbeat.interval.ms"]
        ),
        max_poll_interval_ms=int(consumer.get("max.poll.interval.ms", defaults.max_poll_interval_ms)),
        initial_delay_ms=int(broker.get("group.initial.rebalance.delay.ms", 0)),
        assignment_interval_ms=int(broker.get("group.consumer.assignment.interval.ms", 1_000)),
        broker_session_ms=int(broker.get("broker.session.timeout.ms", defaults.broker_session_ms)),
        metadata_max_age_ms=int(consumer.get("metadata.max.age.ms", defaults.metadata_max_age_ms)),
        reset=reset,
        reset_duration_ms=_duration(duration),
        reading=reading(case, consumer),
        auto_commit_interval_ms=int(consumer.get("auto.commit.interval.ms", 5_000)),
        process_ms=given.get("process_ms", 0),
    )


def _duration(text: str) -> int:
    """PT1H, PT2S and the like."""
    units = {"H": 3_600_000, "M": 60_000, "S": 1_000}
    return sum(int(number) * units[unit] for number, unit in re.findall(r"(\d+)([HMS])", text))


def family(case: Mapping[str, Any]) -> list[Any]:
    """The ways in which a lane's steps may have gone."""
    name = case["id"].split("-", 1)[0]
    if name == "G7":
        name = "G7_static" if "static" in case["id"] else "G7_commit"
    return [getattr(group_failover_lanes if name.startswith("C") else group_lanes, name)]


@lru_cache(maxsize=256)
def _answers(case: str) -> tuple[dict[str, Any], ...]:
    parsed = json.loads(case)
    policy = setup(parsed)
    return outcomes(*(partial(_played, schedule, parsed["input"], policy) for schedule in family(parsed)))


def _played(schedule: Any, given: Any, policy: GroupSetup, phase: Phase) -> dict[str, Any]:
    return dict(schedule(given, policy, phase))


def answers(case: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    return _answers(json.dumps({key: case[key] for key in ("id", "input")}, sort_keys=True))


def compare(case: Mapping[str, Any]) -> str | None:
    given, runs = answers(case), case["output"]["runs"]
    judge = _Judge(case)
    for run in runs:
        fields = {name: value for name, value in run.items() if name in given[0]}
        unknown = sorted(set(run) - set(fields))
        if unknown:
            return f"no outcome says {', '.join(unknown)}"
        if not any(
            all(judge.agree(name, value, one[name]) for name, value in fields.items()) for one in given
        ):
            return f"observed {fields}, not among {given}"
    return None


class _Judge:
    def __init__(self, case: Mapping[str, Any]) -> None:
        self.runs = case["output"]["runs"]
        self.exact = case["output"]["determinism"] == "yes"
        self.policy = setup(case)

    def agree(self, name: str, observed: Any, ours: Any) -> bool:
        if _is_time(name):
            return self._in_time(name, observed, ours)
        if name in ("errors", "commit_errors", "c1_error", "c2_error", "restarted_errors"):
            return _classes(observed) == _classes(ours)
        if not self.exact:
            return bool(observed) == bool(ours)
        return bool(observed == ours)

    def _in_time(self, name: str, observed: Any, ours: Any) -> bool:
        if observed is None:
            return ours is None
        never = bool(observed >= group_lanes.WATCHED_MS)  # as long as anybody looked
        if ours is None or (never and isinstance(ours, group_lanes.Glimpse)):
            return never
        beat: float = self.policy.heartbeat_ms
        if name == "ratio_to_session_timeout":
            beat /= self.policy.session_ms
        elif name == "ratio_to_max_poll_interval":
            beat /= self.policy.max_poll_interval_ms
        return self._spread(name, ours, beat)

    def _spread(self, name: str, ours: float, least: float) -> bool:
        seen = [run[name] for run in self.runs if run[name] is not None]
        low, high = min(seen), max(seen)
        margin = max(WIDER * max(abs(low), abs(high)), least)
        return bool(low - margin <= ours <= high + margin)


def _is_time(name: str) -> bool:
    return name.endswith("_ms") or name.startswith("ratio")


def _classes(errors: Any) -> list[str]:
    return sorted({error if isinstance(error, str) else error[0] for error in errors})


def summary(cases: list[dict[str, Any]]) -> list[str]:
    every = [answers(case) for case in cases]
    untimed = [{json.dumps(_untimed(outcome)) for outcome in one} for one in every]
    return [_sizes("outcomes a lane", every), _sizes("with times left aside", untimed)]


def _untimed(outcome: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in outcome.items() if not _is_time(name)}


def _sizes(what: str, sets: Sequence[Collection[Any]]) -> str:
    sizes = [len(one) for one in sets]
    return f"{what}: {sum(sizes) / max(1, len(sizes)):.1f} on average, {max(sizes, default=0)} at most"
