"""What a search costs: the packed search against a plain one, and the questions that rules ask.

The question compared is that of the public specification with KIP-320, three replicas, two records: the plain
search visits its 39,619 states, ours one state of each class. CPU time, medians, taken in turns.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from advisor.sim.search.explore import explore
from tests.bench import _plain
from tests.bench.files import yaml_text
from tests.bench.measure import ROOT, installed
from tests.bench.measure import medians as medians_of
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
            **quickstart(),
        },
        "raw": {
            "rounds": ROUNDS,
            "states": counts,
            "cpu_seconds": {name: [round(t, 4) for t in times] for name, times in taken.items()},
            "plain_states_per_second": round(counts["plain"] / medians["plain"]),
            "questions_ms": {name: round(seconds * 1000, 1) for name, seconds in questions()},
        },
    }


def quickstart() -> dict[str, float]:
    """The three files of the quickstart against yamllint on one file of their size: with all verdicts known,
    and with an empty cache."""
    with installed("yamllint") as programs, tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        shutil.copytree(ROOT / "samples/quickstart", here / "quickstart")
        (here / "same-size.yml").write_text(yaml_text(0))
        audit = f"{programs / 'kafka-advisor'} audit quickstart"
        taken = medians_of(
            {
                "warm": ["sh", "-c", f"exec {audit}"],
                "cold": ["sh", "-c", f"rm -rf cold && KAFKA_ADVISOR_CACHE=cold exec {audit}"],
                "yamllint": ["sh", "-c", f"exec {programs / 'yamllint'} same-size.yml"],
            },
            here,
            rounds=9,
            env={"KAFKA_ADVISOR_CACHE": str(here / "warm")},
        )
    return {
        "quickstart warm / yamllint (goal: at most 1)": round(taken["warm"] / taken["yamllint"], 2),
        "quickstart cold / yamllint (goal: at most 5)": round(taken["cold"] / taken["yamllint"], 2),
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
        for family in ("java", "librdkafka"):
            _QUESTIONS.append((f"idempotent-producer-{family}", idempotent_producer(family)))
    return _QUESTIONS


def idempotent_producer(family: str) -> float:
    """The producer's question that is longest searched: nothing is found. From scratch each time, as what was
    found clean is remembered."""
    from advisor.sim import ask
    from advisor.sim.producer import questions as producer_questions
    from advisor.sim.producer.policy import ProducerPolicy

    policy = ProducerPolicy(client_family=family, acks="all", idempotence=True, in_flight=5, retries=None)
    faults = {"lost_response": 1, "retriable_error": 1, "leader_move": 1}
    times = []
    for _ in range(5):
        producer_questions._clean.clear()
        times.append(cpu(lambda: ask("records-stored-once", policy, {}, faults)))
    return statistics.median(times)


_QUESTIONS: list[tuple[str, float]] = []
