"""Runs under the faults of a broken run, in the model of other settings, to a good end."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.sim.partition.state import Policy
from advisor.sim.producer.policy import ProducerPolicy
from advisor.sim.questions import ask
from advisor.sim.same_faults import same_faults
from advisor.sim.search.verdict import Broken
from advisor.sim.transactions.step import TransactionPolicy

SLOW = {"slow_follower": 2}
RETRYING = ProducerPolicy(acks="1", idempotence=False, in_flight=5)
IDEMPOTENT = RETRYING._replace(acks="all", idempotence=True)
WITHIN = {"lost_response": 1, "retriable_error": 1, "leader_move": 1}
LATE = {"late_request": 1}
OLD = Policy(replicas=2, truncation="high-watermark", bounce_unnoticed=True)
ACKED, WRITES = "acked-records-survive", "writes-available"
UNCOMMITTED = TransactionPolicy(isolation="read_uncommitted")
CASES: dict[str, tuple[str, Any, Any, dict[str, int], dict[str, int]]] = {
    "acks": (ACKED, Policy(acks="1", min_isr=2), Policy(min_isr=2), SLOW, {"broker_crash": 1}),
    "no acks": (ACKED, Policy(acks="0"), Policy(), SLOW, {"broker_crash": 1}),
    "minimum": (ACKED, Policy(), Policy(min_isr=2), SLOW, {"broker_lost": 1}),
    "unclean": (ACKED, Policy(min_isr=2, unclean=True), Policy(min_isr=2), SLOW, {"broker_crash": 1}),
    "elr": (ACKED, Policy(min_isr=2), Policy(min_isr=2, elr=True), SLOW, {"power_loss": 1}),
    "copies": (ACKED, Policy(replicas=1), Policy(min_isr=2), {}, {"broker_lost": 1}),
    "truncation": (ACKED, OLD, OLD._replace(truncation="kip-320"), {}, {"broker_crash": 2}),
    "divergence": ("replicas-agree", OLD, OLD._replace(truncation="kip-320"), {}, {"power_loss": 2}),
    "writes": (WRITES, Policy(min_isr=3), Policy(min_isr=2), {}, {"broker_crash": 1}),
    "roll": (WRITES, Policy(min_isr=2), Policy(min_isr=1), {}, {"roll": 1, "broker_crash": 1}),
    "five": (WRITES, Policy(5, min_isr=5), Policy(5, min_isr=3), {}, {"broker_crash": 1}),
    "twice": ("records-stored-once", RETRYING, IDEMPOTENT, {}, WITHIN),
    "order": ("send-order-kept", RETRYING, IDEMPOTENT, {}, WITHIN),
    "read": ("only-committed-read", UNCOMMITTED, TransactionPolicy(), {}, {"producer_crash": 1}),
    "hanging": ("records-visible", TransactionPolicy(verifies=False), TransactionPolicy(), {}, LATE),
}


def played(name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    guarantee, bad, good, environment, faults = CASES[name]
    verdict = ask(guarantee, bad, environment, faults)
    assert isinstance(verdict, Broken)
    broken = [step.as_dict() for step in verdict.trace]
    found = same_faults(guarantee, good, broken)
    assert found is not None
    return broken, [step.as_dict() for step in found]


def faults_of(trace: list[dict[str, Any]]) -> list[str]:
    return [step["event"]["text"] for step in trace if "fault" in step["event"]]


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_same_faults_happen_in_the_same_order(name):
    broken, fixed = played(name)
    assert faults_of(fixed) == faults_of(broken)
    assert [step["step"] for step in fixed] == list(range(1, len(fixed) + 1))


def leader_log(trace):
    state = trace[-1]["state"]
    logs = {one["id"]: [record.partition("@")[0] for record in one["log"]] for one in state["replicas"]}
    return logs[state["leader"]]


def test_what_was_confirmed_is_kept_and_was_confirmed_before_the_same_crash():
    broken, fixed = played("acks")
    assert broken[0]["effects"] == ["acked r0"]
    events = [step["event"]["text"] for step in fixed]
    confirmed = next(place for place, step in enumerate(fixed) if "acked r0" in step["effects"])
    assert confirmed < events.index("crash b0")
    assert leader_log(broken) == []
    assert leader_log(fixed) == ["r0"]


def test_who_fell_behind_stays_behind_where_that_can_be():
    _, fixed = played("unclean")
    assert not any("joined" in effect for step in fixed for effect in step["effects"])
    # Nobody leads until the one in-sync replica is back.
    assert [step["event"]["name"] for step in fixed[-3:]] == ["fence", "return", "elect"]


def test_what_was_refused_is_taken():
    broken, fixed = played("writes")
    assert broken[-1]["effects"] == ["rejected r0 not enough replicas"]
    assert "acked r0" in fixed[-1]["effects"]


def test_a_retry_is_recognised():
    _, fixed = played("twice")
    assert leader_log(fixed) == ["r0"]
    assert any("duplicate r0" in step["effects"] for step in fixed)


def test_both_copies_are_equal_in_the_end():
    _, fixed = played("divergence")
    logs = [one["log"] for one in fixed[-1]["state"]["replicas"]]
    assert logs[0] == logs[1]


def test_where_nothing_helps_there_is_no_such_run():
    """A run that ends well is never made up: the settings that break it have none."""
    policy = Policy(replicas=1)
    verdict = ask("acked-records-survive", policy, {}, {"broker_lost": 1})
    assert isinstance(verdict, Broken)
    broken = [step.as_dict() for step in verdict.trace]
    assert same_faults("acked-records-survive", policy, broken) is None


def test_a_refused_write_is_shown_as_refused():
    """One copy with a minimum of two that is not lowered: before 3.7 every write is refused."""
    bad = Policy(replicas=1)
    verdict = ask("acked-records-survive", bad, {}, {"broker_lost": 1})
    assert isinstance(verdict, Broken)
    strict = bad._replace(min_isr=2, min_isr_capped=False)
    found = same_faults("acked-records-survive", strict, [step.as_dict() for step in verdict.trace])
    assert found is not None
    assert [step.event["text"] for step in found][:1] == ["produce r0"]
    assert found[0].effects == ("rejected r0 not enough replicas",)
    assert found[-1].state["clients"]["acked"] == []
