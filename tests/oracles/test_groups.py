"""What real groups did is among our outcomes, and a set that lacks it is told."""

from __future__ import annotations

import copy
import json
import os
import tomllib
from typing import Any

import pytest

from advisor.sim.groups.consumer import AFTER, AUTO, BEFORE
from tests.oracles.__main__ import HERE, cases, held_out, replay, tuned
from tests.oracles.groups import answers, compare, readings, sizes

DATA = os.path.join(HERE, "data", "groups.jsonl")
# The second file is of a busy machine, the third of a quiet one. For each: how large the sets of outcomes are
# on average and at most, with times and without, and how many recordings are listed as differences.
FILES = {
    "groups.jsonl": ((7.6, 57), (3.3, 52), 0),
    "groups_more.jsonl": ((11.6, 130), (6.6, 93), 3),
    "groups_quiet.jsonl": ((23.0, 145), (14.7, 145), 0),
}


def lanes(file: str = "groups.jsonl") -> list[dict[str, Any]]:
    return [case for _, case in cases(os.path.join(HERE, "data", file))]


@pytest.mark.parametrize("file", FILES)
def test_recorded_outcomes(file: str) -> None:
    path = os.path.join(HERE, "data", file)
    lines, passed, failed, listed = replay("groups", path, tuned)
    assert failed == 0, "\n".join(lines[:20])
    assert passed
    timed, untimed, listed_max = FILES[file]
    assert listed <= listed_max
    found = sizes([case for case in lanes(file) if tuned(case)])
    for what, (mean_max, most_max) in (("outcomes a lane", timed), ("with times left aside", untimed)):
        mean, most = found[what]
        assert mean <= mean_max, what
        assert most <= most_max, what


def test_held_out_recordings(capsys: pytest.CaptureFixture[str]) -> None:
    """What no range was chosen by: nearly all of it is among the outcomes all the same."""
    agreed = total = 0
    for file in FILES:
        held = [case for case in lanes(file) if held_out(case)]
        agreed += sum(compare(case) is None for case in held)
        total += len(held)
    with capsys.disabled():
        print(f"\ngroups, held out: {agreed} of {total} agree")
    assert total >= 40
    assert agreed / total >= 0.95


def test_a_listed_difference_is_one() -> None:
    with open(os.path.join(HERE, "differences.toml"), "rb") as file:
        listed = [one for one in tomllib.load(file)["difference"] if one["kind"] == "groups"]
    every = [case for file in FILES for case in lanes(file)]
    for one in listed:
        named = [case for case in every if case["id"] == one["id"]]
        assert named
        assert all(compare(case) is not None for case in named), one["id"]


# How the application of a G2 lane reads stands in its id alone, which the replay does not look at.
WAYS = {
    "auto,sync-processing": (AUTO, False),
    "auto,async-processing": (AUTO, True),
    "commitSync-before-processing": (BEFORE, False),
    "commitSync-after-processing": (AFTER, False),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_commit_gives_what_was_recorded_for_it(way: str) -> None:
    recorded = [case for file in FILES for case in lanes(file) if f"/{way}" in case["id"]]
    assert recorded
    commits, workers = WAYS[way]
    for case in recorded:
        reading = readings(case["input"])[0]._replace(commits=commits, workers=workers)
        assert compare(case, reading) is None, case["id"]
        if case["output"]["determinism"] == "yes":
            assert len(answers(case, reading)) == 1, case["id"]


def test_another_outcome_differs() -> None:
    changed = {
        "G2-crash-commit-mode/classic-range/auto,sync-processing": ("never_processed_n", 1),
        "G4-member-joins/classic-coop": ("partitions_revoked_total", 6),
        "T5-same-group.instance.id/classic-range/alone": ("c1_error", []),
        "G3-member-kill9/classic-range/session=12000": ("reassigned_after_kill_ms", 3_000),
        # Counts are exact: more than a metadata refresh can hide differs, though by a few records only.
        "H4-partition-added/classic-range/reset=latest": ("skipped_count", 55),
        "T1-roll-4-members-8-partitions/kip848/static/rejoin-at-once": ("processed_twice", 1),
    }
    for name, case in cases(DATA):
        if name in changed:
            field, value = changed[name]
            for run in case["output"]["runs"]:
                run[field] = value
            told = compare(case)
            assert told is not None, name
            assert "not among" in told


# -- lanes as they may be written ---------------------------------------------------------------------------

ASSIGNOR = "org.apache.kafka.clients.consumer."
RANGE = {"partition.assignment.strategy": ASSIGNOR + "RangeAssignor"}
COOPERATIVE = {"partition.assignment.strategy": ASSIGNOR + "CooperativeStickyAssignor"}
STICKY = {"partition.assignment.strategy": [ASSIGNOR + "StickyAssignor"]}
BY_BROKER = {"group.protocol": "consumer"}
SHARED = [["0", "1"], ["2", "3"]]
ALONE = [["0", "1", "2", "3"], []]


def mixed(
    c1: dict[str, Any], c2: dict[str, Any], run: dict[str, Any], broker: dict[str, Any]
) -> dict[str, Any]:
    return {
        "kind": "groups",
        "version": "4.3.1",
        "id": "T4-mixed-protocols/a+b",
        "input": {
            "protocol": "classic",
            "consumer": {},
            "broker": {"group.initial.rebalance.delay.ms": 0, **broker},
            "c1": c1,
            "c2": c2,
            "steps": ["c1 owns 4 of 4 partitions", "c2 joins the same group with the second configuration"],
        },
        "output": {"determinism": "yes", "runs": [run]},
    }


@pytest.mark.parametrize(
    ("c1", "c2", "revoked", "owned", "error"),
    [
        # A member without a strategy has Kafka's default: range, with cooperative-sticky to move to.
        ({}, {}, 4, SHARED, ""),
        ({}, RANGE, 4, SHARED, ""),
        ({}, COOPERATIVE, 4, [["0", "2"], ["1", "3"]], ""),
        (STICKY, {}, 0, ALONE, "InconsistentGroupProtocolException"),
        # One protocol each: the group is the broker's, a classic member that is eager gives all up.
        (RANGE, BY_BROKER, 4, SHARED, ""),
        ({}, BY_BROKER, 4, SHARED, ""),
        (COOPERATIVE, BY_BROKER, 2, SHARED, ""),
        (BY_BROKER, RANGE, 2, SHARED, ""),
        (BY_BROKER, {}, 2, SHARED, ""),
        (BY_BROKER, BY_BROKER, 2, SHARED, ""),
    ],
)
def test_members_that_are_set_up_in_different_ways(
    c1: dict[str, Any], c2: dict[str, Any], revoked: int, owned: list[list[str]], error: str
) -> None:
    run = {
        "c1_error": [],
        "c2_error": [error] if error else [],
        "c1_partitions_revoked": revoked,
        "owned": owned,
    }
    assert compare(mixed(c1, c2, run, {})) is None
    assert compare(mixed(c1, c2, {**run, "c1_partitions_revoked": revoked + 1}, {})) is not None


@pytest.mark.parametrize(
    ("c1", "c2", "policy", "error"),
    [
        (RANGE, BY_BROKER, "disabled", "GroupIdNotFoundException"),
        (RANGE, BY_BROKER, "downgrade", "GroupIdNotFoundException"),
        (BY_BROKER, RANGE, "disabled", "InconsistentGroupProtocolException"),
    ],
)
def test_brokers_may_refuse_the_other_protocol(
    c1: dict[str, Any], c2: dict[str, Any], policy: str, error: str
) -> None:
    run = {"c1_error": [], "c2_error": [error], "c1_partitions_revoked": 0, "owned": ALONE}
    assert compare(mixed(c1, c2, run, {"group.consumer.migration.policy": policy})) is None


def test_errors_may_be_written_in_several_ways() -> None:
    name = "H1-new-group/classic-range/reset=none"
    lane = next(case for case in lanes() if case["id"] == name)
    error = "NoOffsetForPartitionException"
    full = f"org.apache.kafka.clients.consumer.{error}"
    for written in ([error], [[error, "Undefined offset with no reset policy"]], {error: 1}, error, [full]):
        case = copy.deepcopy(lane)
        for run in case["output"]["runs"]:
            run["errors"] = written
        assert compare(case) is None, written
    beside = copy.deepcopy(lane)
    for run in beside["output"]["runs"]:
        del run["errors"]
    count = len(beside["output"]["runs"])
    beside["output"]["errors"] = [[error]] * count
    assert compare(beside) is None
    beside["output"]["errors"] = [[error]] * (count - 1) + [[]]
    assert compare(beside) is not None


def test_a_lane_of_an_unknown_family_is_a_failed_case(tmp_path: Any) -> None:
    case = {"id": "X9-unheard-of", "version": "4.3.1", "input": {"steps": []}, "output": {}}
    known = next(case for case in lanes() if case["id"].startswith("T5"))
    path = tmp_path / "lanes.jsonl"
    path.write_text(f"{json.dumps(case)}\n{json.dumps(known)}\n")
    _, passed, failed, _ = replay("groups", str(path))
    assert (passed, failed) == (1, 1)
