"""The timeline against the same model in SimPy: ten minutes of 1000 records a second with four faults.

Both play the same schedule under the same phase and must tell the same: every record acknowledged, the log in
order, the same leaders and ISRs within two seconds of each other. SimPy takes every record, batch and fetch
as events of their own; so does ours around faults, and what lies between it takes in strides. The ratio is
that of simulated events (those of the SimPy model) to CPU seconds; `stepped` is ours without strides, in
events of its own.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from advisor.sim.partition_state import Policy
from advisor.sim.ranges import SECOND
from advisor.sim.timeline import Run, Setup, Step
from advisor.sim.timeline_policy import ClientPolicy
from advisor.sim.timeline_record import record
from advisor.sim.timeline_replicas import ClusterPolicy
from advisor.sim.timeline_table import GRID
from tests.bench._simpy_timeline import Twin
from tests.bench.measure import ROOT
from tests.oracles import failover

ROUNDS = 5
GOAL = 8.0
EXPERIMENT_GOAL_MS = 100.0
RECORDS = 600_000
LANES = ROOT / "tests" / "oracles" / "data" / "failover.jsonl"


def sleep(seconds: int) -> Step:
    return Step("sleep", timeout=seconds * SECOND)


SETUP = Setup(
    Policy(replicas=3, acks="all", min_isr=2, elr=True),
    ClusterPolicy(session_timeout=9 * SECOND, lag_time_max=10 * SECOND, heartbeat_interval=2 * SECOND),
    ClientPolicy(),
)
SCHEDULE = [
    Step("send", RECORDS, gap=SECOND // 1000),
    sleep(120),
    Step("sigstop", 2),
    sleep(30),
    Step("sigcont", 2),
    sleep(90),
    Step("kill9", 0),
    sleep(60),
    Step("start", 0),
    sleep(120),
    Step("term", 2),
    sleep(30),
    Step("start", 2),
    Step("await", timeout=400 * SECOND),
]


def twin() -> Twin:
    model = Twin(SETUP, GRID[0])
    model.play(SCHEDULE)
    return model


def ours(strides: bool = True, records: int = RECORDS) -> Run:
    run = Run(SETUP, GRID[0], strides)
    outcome = run.play([SCHEDULE[0]._replace(value=records), *SCHEDULE[1:]])
    assert outcome[:6] == (records, records, 0, 0, 0, 0), outcome
    return run


def agree(model: Twin) -> int:
    """Raises where the two tell different stories. The number of changes of leader or ISR."""
    assert (model.sent, model.acked) == (RECORDS, RECORDS)
    assert model.readable() == list(range(RECORDS))
    told: list[tuple[int, int, tuple[int, ...]]] = []
    for row in record(SETUP, SCHEDULE).rows:
        state = row["state"]
        now = (state["leader"], tuple(state["isr"]))
        if state["leader"] is not None and now != (told[-1][1:] if told else (0, (0, 1, 2))):
            told.append((row["t_ms"] * 1000, *now))
    assert [each[1:] for each in told] == [each[1:] for each in model.history], (told, model.history)
    for mine, other in zip(told, model.history, strict=True):
        assert abs(mine[0] - other[0]) <= 5 * SECOND, (mine, other)
    return len(told)


def cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def experiments() -> dict[str, Any]:
    """Every recorded failover: CPU of its set of outcomes, and of one run."""
    sets = []
    with LANES.open(encoding="utf-8") as file:
        for line in file:
            case = json.loads(line)
            setup, schedules = failover.setup(case), failover.schedules(case)
            work = [Run(setup, phase) for phase in GRID]
            began = time.process_time()
            for place, run in enumerate(work):
                run.play(schedules[place % len(schedules)])
            sets.append((time.process_time() - began) * 1000)
    runs = [value / len(GRID) for value in sets]
    return {
        "name": "CPU milliseconds of one failover experiment",
        "goal": EXPERIMENT_GOAL_MS,
        "lanes": len(sets),
        "phases": len(GRID),
        "run_median": round(statistics.median(runs), 1),
        "run_worst": round(max(runs), 1),
        "set_median": round(statistics.median(sets), 1),
        "set_worst": round(max(sets), 1),
    }


def run() -> dict[str, Any]:
    model = twin()
    changes = agree(model)
    events = next(model.env._eid)
    taken: dict[str, list[float]] = {"simpy": [], "ours": []}
    for _ in range(ROUNDS):
        taken["simpy"].append(cpu(twin))
        taken["ours"].append(cpu(ours))
    medians = {name: statistics.median(values) for name, values in taken.items()}
    part = RECORDS // 10  # a tenth of the sends, the whole of the faults
    began = time.process_time()
    stepped = ours(strides=False, records=part).clock.events
    stepped_cpu = time.process_time() - began
    return {
        "name": "simulated events per CPU second, ours / SimPy",
        "ratio": round(medians["simpy"] / medians["ours"], 1),
        "goal": GOAL,
        "others": [experiments()],
        "events": events,
        "changes_compared": changes,
        "cpu_seconds": {name: round(value, 3) for name, value in medians.items()},
        "events_per_second": {name: round(events / value) for name, value in medians.items()},
        "stepped": {"events": stepped, "events_per_second": round(stepped / stepped_cpu)},
        "rounds": ROUNDS,
    }
