"""What a search costs: the packed search against a plain one, and the questions that rules ask.

The question compared is that of the public specification with KIP-320, three replicas, two records: the plain
search visits its 39,619 states, ours one state of each class. CPU time, medians, taken in turns.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from advisor.sim.search import explore
from tests.bench import _plain
from tests.sim.packed import Packing
from tests.sim.scenario import cases
from tests.sim.specification import Sizes

ROUNDS = 7
SIZES = Sizes(replicas=3, records=2, epoch_max=1)
GOAL = 0.25
QUESTION_GOAL_MS = 100.0


def plain() -> int:
    states, holds = _plain.search(*SIZES)
    assert holds
    return states


def packed() -> int:
    packing = Packing(SIZES)  # from scratch: what it remembers is part of the price
    found = explore(packing.first(), packing.successors, packing.strong_isr, canonical=packing.canonical)
    assert found.run is None
    assert found.stopped is None
    return found.states


def cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def run() -> dict[str, Any]:
    counts = {"plain": plain(), "packed": packed()}
    taken: dict[str, list[float]] = {"plain": [], "packed": []}
    for _ in range(ROUNDS):
        taken["plain"].append(cpu(plain))
        taken["packed"].append(cpu(packed))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    slowest = max(questions(), key=lambda item: item[1])
    return {
        "name": "search",
        "ratio": round(medians["packed"] / medians["plain"], 3),
        "goal": GOAL,
        "others": {
            "slowest_question_ms": round(slowest[1] * 1000, 1),
            "slowest_question": slowest[0],
            "slowest_question_goal_ms": QUESTION_GOAL_MS,
        },
        "raw": {
            "rounds": ROUNDS,
            "states": counts,
            "cpu_seconds": {name: [round(t, 4) for t in times] for name, times in taken.items()},
            "plain_states_per_second": round(counts["plain"] / medians["plain"]),
            "questions_ms": {name: round(seconds * 1000, 1) for name, seconds in questions()},
        },
    }


def questions() -> list[tuple[str, float]]:
    """Median CPU of every question of the default rules, for every configuration of three replicas."""
    if not _QUESTIONS:
        from advisor.sim import ask

        for case in cases():
            if case.file.startswith("budget-") and case.policy.replicas == 3 and case.guarantee:
                asked = (case.guarantee, case.policy, case.environment, case.faults)
                times = [cpu(lambda asked=asked: ask(*asked)) for _ in range(5)]  # type: ignore[misc]
                _QUESTIONS.append((case.id, statistics.median(times)))
    return _QUESTIONS


_QUESTIONS: list[tuple[str, float]] = []
