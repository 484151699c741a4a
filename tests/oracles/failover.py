"""failover: what real clusters made of a schedule of faults and sends is among the outcomes of ours.

As `determinism` says: `yes`, the observed numbers of acknowledged and lost records and the error classes are
in the set, the rest by zero or non-zero; otherwise everything by zero or non-zero. In F lanes the order of
records means nothing: their senders run in parallel.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from advisor.answers.timing import timed
from advisor.catalog import resolve_version
from advisor.link import Overrides
from advisor.model import Fact, Origin, Setting
from advisor.scheduling import step_of
from advisor.sim.timeline import Outcome, Setup, Step, outcomes
from advisor.simulating import completed, of_settings

MILLISECOND = 1_000
COUNTS = ("acked", "acked_lost", "failed_but_readable", "duplicates", "descents")
ONE_BROKER = ("sigstop", "sigcont", "kill9", "term", "start", "wipe")
SEVERAL = ("wait_leader", "wait_isr", "wait_nodes")


def setup(case: Mapping[str, Any]) -> Setup:
    """As the product makes it of the same settings."""
    given = case["input"]
    number = tuple(int(part) for part in case["version"].split("."))
    broker = dict(given["broker"])
    if number < (3, 3) and "broker.session.timeout.ms" in broker:
        broker["zookeeper.session.timeout.ms"] = broker.pop("broker.session.timeout.ms")
    topic = {key: value for key, value in given["topic"].items() if key not in ("replicas", "rf")}
    tables = {"producer": given["producer"], "topic": topic, "broker": broker}
    stated = Origin("set")
    settings = {
        component: {key: Setting(key, _text(value), stated) for key, value in table.items()}
        for component, table in tables.items()
    }
    replicas = Fact("topic.replication_factor", str(len(given["topic"]["replicas"])), stated)
    version = resolve_version(case["version"])
    found = timed(completed(of_settings(Overrides(settings, (replicas,)), version)), compressible=True)
    assert found is not None, "a recorded producer has started"
    return found.setup


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def schedules(case: Mapping[str, Any]) -> list[list[Step]]:
    """The schedule, once for every recorded run: its steps begin no earlier than they did there."""
    given = case["input"]
    runs = [run for run in given.get("times_ms") or [] if run] or [None]
    return [_schedule(given, run) for run in runs]


def _schedule(given: Mapping[str, Any], times: list[Any] | None) -> list[Step]:
    replicas = given["topic"]["replicas"]
    steps = []
    for number, step in enumerate(given["schedule"]):
        begun = times[number][0] if times and times[number] and times[number][0] is not None else 0
        if step[0] in ONE_BROKER and step[1] not in replicas:
            continue
        if step[0] in SEVERAL:
            step = [step[0], [broker for broker in step[1] if broker in replicas], *step[2:]]
        if step[0] == "topic_config":
            step = [step[0], next(argument for argument in step if isinstance(argument, dict))]
        steps.append(step_of(step, replicas)._replace(not_before=begun * MILLISECOND))
    return steps


def answer(case: Mapping[str, Any]) -> set[Outcome]:
    return _answer(json.dumps([case["version"], case["input"]], sort_keys=True))


@lru_cache(maxsize=1024)
def _answer(text: str) -> set[Outcome]:
    version, given = json.loads(text)
    case = {"version": version, "input": given}
    return outcomes(setup(case), schedules(case))


Key = tuple[Any, ...]


def judged(case: Mapping[str, Any], counts: Mapping[str, int], errors: tuple[str, ...]) -> Key:
    """What of an outcome is compared."""
    exact = ("acked", "acked_lost") if case["output"]["determinism"] == "yes" else ()
    names = [name for name in COUNTS if not (name == "descents" and case["id"].startswith("F"))]
    return (*(counts[name] if name in exact else counts[name] > 0 for name in names), errors)


def observed(case: Mapping[str, Any]) -> list[Key]:
    """One for every run: a list instead of a number is one value a run."""
    output = case["output"]
    errors = output["errors"]
    # So may the errors be: a list of lists.
    a_run_each = bool(errors) and all(isinstance(one, list) for one in errors)
    lists = [output[name] for name in COUNTS if isinstance(output[name], list)]
    runs = max((len(one) for one in (*lists, *([errors] if a_run_each else []))), default=1)
    return [
        judged(
            case,
            {n: output[n][run] if isinstance(output[n], list) else output[n] for n in COUNTS},
            tuple(sorted(errors[run] if a_run_each else errors)),
        )
        for run in range(runs)
    ]


def keys(case: Mapping[str, Any]) -> set[Key]:
    return {judged(case, outcome._asdict(), outcome.errors) for outcome in answer(case)}


def compare(case: dict[str, Any]) -> str | None:
    """None if every observed run is among our outcomes."""
    ours = keys(case)
    missing = [key for key in observed(case) if key not in ours]
    if not missing:
        return None
    return f"{missing[0]} is not among {sorted(ours, key=repr)}"


def sizes(cases: Sequence[Mapping[str, Any]]) -> tuple[float, int]:
    """How large the sets are, as they are compared: the mean and the most."""
    counts = [len(keys(case)) for case in cases]
    return sum(counts) / max(1, len(counts)), max(counts, default=0)


def summary(cases: list[dict[str, Any]]) -> list[str]:
    """A set in which everything is possible would show here."""
    families: dict[str, list[dict[str, Any]]] = {}
    for case in cases:
        for family in ("all", case["id"][0]):
            families.setdefault(family, []).append(case)
    means = ", ".join(f"{family} {sizes(of)[0]:.2f}" for family, of in families.items())
    return [f"mean size of the outcome sets: {means}; {sizes(cases)[1]} at most"]
