"""Rolls between the two protocols, as a real cluster had them under every migration policy."""

from __future__ import annotations

import os

from tests.oracles.__main__ import HERE, cases, replay
from tests.oracles.group_mixed_lanes import POLICY
from tests.oracles.rolls import compare

DATA = os.path.join(HERE, "data", "rolls.jsonl")


def test_recorded_rolls() -> None:
    lines, passed, failed, listed = replay("rolls", DATA)
    assert failed == 0, "\n".join(lines[:20])
    assert listed == 0
    assert passed


def test_another_policy_goes_another_way() -> None:
    told = []
    for name, case in cases(DATA):
        if name.endswith("/disabled"):
            case["input"]["broker"][POLICY] = "bidirectional"
            told.append(compare(case))
    assert told
    assert None not in told
