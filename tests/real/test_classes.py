"""Fresh random cases against Kafka's own classes, a few of each kind; tests.real.classes asks more."""

from __future__ import annotations

import json
import time

import pytest

from tests.conftest import needs

from .class_cases import DRAWN
from .classes import Classes, checked, difference

# Constructing a client takes a while; the others are asked in no time.
COUNTS = {"verdicts": 25}


@pytest.fixture(scope="module")
def classes():
    needs("mvn")
    needs("java")
    with Classes() as asked:
        yield asked


@pytest.mark.parametrize("kind", DRAWN)
def test_kafka_answers_as_we_do(kind, classes):
    seed = int(time.time())
    wrong = checked(kind, COUNTS.get(kind, 60), seed, classes)
    told = "\n".join(f"{difference(case)}: {json.dumps(case)}" for case in wrong)
    assert not wrong, f"seed {seed}\n{told}"


def test_a_difference_is_seen_and_made_small(classes, monkeypatch):
    """Kafka's answer with one partition moved away is no answer of ours."""
    from . import classes as module

    real = Classes.answered

    def moved(self, case):
        answer = real(self, case)
        for own in answer["output"]["assignment"].values():
            if own:
                own.pop()
                break
        return answer

    monkeypatch.setattr(module.Classes, "answered", moved)
    wrong = checked("assignors", 5, 1, classes)
    assert wrong
    assert all(len(case["input"]["members"]) == 1 for case in wrong)
