"""groups: what real consumer groups did in a schedule is among the outcomes of ours.

A lane's family (the first word of its id) says which events its steps are; the numbers are read from the
steps and settings. The schedule is run over the simulator's grid of phases, and every recorded run must match
one of the outcomes: counts, booleans and errors exactly where the lane was deterministic (else by zero or
non-zero), times and ratios within the spread of the runs widened by 15 % or a heartbeat interval.

One thing is in no input: whether a G2 lane commits before or after it processes, and whether workers process;
enable.auto.commit alone is stated, and lanes with the same input went different ways. So such a lane is
answered with the outcomes of both ways. (test_groups.py holds each way against the recordings of that way.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from advisor.sim.consumer import AFTER, AUTO, BEFORE, Reading
from advisor.sim.group_outcomes import outcomes
from advisor.sim.group_phases import GroupSetup, Phase
from advisor.sim.rolling import CONSUMER
from tests.oracles import group_failover_lanes, group_lanes, group_mixed_lanes

# The clusters of all lanes ran with these, whatever a lane says besides (group.protocol=consumer only).
CLUSTER = {"group.consumer.session.timeout.ms": 6000, "group.consumer.heartbeat.interval.ms": 1000}
ERRORS = ("errors", "commit_errors", "c1_error", "c2_error", "restarted_errors")
WIDER = 0.15


def settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the first member."""
    return {**given.get("consumer", {}), **given.get("c1", {})}


def protocol(given: Mapping[str, Any]) -> str:
    """The first member's own, or the lane's."""
    return str(settings(given).get("group.protocol") or given.get("protocol", "classic")).lower()


def readings(given: Mapping[str, Any]) -> list[Reading]:
    """How the lane's application may commit and process: every way that the input leaves open."""
    consumer = settings(given)
    automatic = str(consumer.get("enable.auto.commit", "true")).lower() == "true"
    stated = Reading(
        batch=int(consumer.get("max.poll.records", 500)),
        commits=AUTO if automatic else AFTER,
        late_commit=automatic and protocol(given) == CONSUMER,
    )
    if "process_ms" not in given or any("one thread" in step for step in given["steps"]):
        return [stated]
    return [stated, stated._replace(workers=True) if automatic else stated._replace(commits=BEFORE)]


def setup(given: Mapping[str, Any]) -> GroupSetup:
    consumer = settings(given)
    broker = {**CLUSTER, **given.get("broker", {})}
    classic = protocol(given) != CONSUMER
    reset, _, duration = str(consumer.get("auto.offset.reset", "latest")).partition(":")
    defaults = GroupSetup()
    return GroupSetup(
        protocol=protocol(given),
        strategies=group_mixed_lanes.strategies(consumer) if classic else ("uniform",),
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
        reading=readings(given)[0],
        auto_commit_interval_ms=int(consumer.get("auto.commit.interval.ms", 5_000)),
        process_ms=given.get("process_ms", 0),
    )


def _duration(text: str) -> int:
    """PT1H, PT2S and the like."""
    units = {"H": 3_600_000, "M": 60_000, "S": 1_000}
    return sum(int(number) * units[unit] for number, unit in re.findall(r"(\d+)([HMS])", text))


def family(case: Mapping[str, Any]) -> Any:
    """The lane's steps as a schedule."""
    name = case["id"].split("-", 1)[0]
    if name == "G7":
        name = "G7_static" if group_lanes.is_static(case["input"]) else "G7_commit"
    modules = (group_lanes, group_mixed_lanes, group_failover_lanes)
    return next(getattr(module, name) for module in modules if hasattr(module, name))


@lru_cache(maxsize=256)
def _answers(case: str, reading: Reading | None) -> tuple[dict[str, Any], ...]:
    parsed = json.loads(case)
    given, schedule, policy = parsed["input"], family(parsed), setup(parsed["input"])
    ways = readings(given) if reading is None else [reading]
    return outcomes(*(partial(_played, schedule, given, policy._replace(reading=way)) for way in ways))


def _played(schedule: Any, given: Any, policy: GroupSetup, phase: Phase) -> dict[str, Any]:
    return dict(schedule(given, policy, phase))


def answers(case: Mapping[str, Any], reading: Reading | None = None) -> tuple[dict[str, Any], ...]:
    """What can come of a lane, however its application reads, or in one way of reading."""
    return _answers(json.dumps({key: case[key] for key in ("id", "input")}, sort_keys=True), reading)


def runs(output: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One object a run. What stands beside them is of all runs, or a list with one value a run."""
    beside = {name: value for name, value in output.items() if name in ERRORS}
    given: list[dict[str, Any]] = list(output.get("runs") or [{}])
    found = []
    for place, run in enumerate(given):
        own = {}
        for name, value in beside.items():
            a_run_each = len(value) == len(given) and all(isinstance(one, list) for one in value)
            own[name] = value[place] if a_run_each else value
        found.append({**own, **run})
    return found


def compare(case: Mapping[str, Any], reading: Reading | None = None) -> str | None:
    """None if every recorded run is among our outcomes."""
    given, judge = answers(case, reading), _Judge(case)
    for run in judge.runs:
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
        self.runs = runs(case["output"])
        self.exact = case["output"]["determinism"] == "yes"
        self.policy = setup(case["input"])

    def agree(self, name: str, observed: Any, ours: Any) -> bool:
        if _is_time(name):
            return self._in_time(name, observed, ours)
        if name in ERRORS:
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
    """The classes of exceptions, however they are written: a name, names, or each with Kafka's words."""
    if isinstance(errors, str):
        return [errors.rsplit(".", 1)[-1]]
    found: set[str] = set()
    for error in errors or ():
        names = [error] if isinstance(error, str) else [one for one in error if isinstance(one, str)]
        classes = [name for name in names if re.fullmatch(r"[\w.$]+", name)]
        found.update(name.rsplit(".", 1)[-1] for name in classes or names[:1])
    return sorted(found)


def sizes(cases: Sequence[Mapping[str, Any]]) -> dict[str, tuple[float, int]]:
    """How large the sets of outcomes are: the mean and the most, with times and without."""
    every = [answers(case) for case in cases]
    untimed = [{json.dumps(_untimed(outcome)) for outcome in one} for one in every]
    return {"outcomes a lane": _size(every), "with times left aside": _size(untimed)}


def summary(cases: list[dict[str, Any]]) -> list[str]:
    """A set in which everything is possible would show here."""
    return [f"{what}: {mean:.1f} on average, {most} at most" for what, (mean, most) in sizes(cases).items()]


def _untimed(outcome: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in outcome.items() if not _is_time(name)}


def _size(sets: Sequence[Collection[Any]]) -> tuple[float, int]:
    counts = [len(one) for one in sets]
    return sum(counts) / max(1, len(counts)), max(counts, default=0)
