"""The transaction model: pinned scenarios, and laws that every run obeys."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.sim import ask
from advisor.sim.producer.memory import retry_in_time
from advisor.sim.search.verdict import Bounds, Broken, Holds, Unknown, as_dict, from_dict
from advisor.sim.transactions.questions import GUARANTEES, aborted_read, replay
from advisor.sim.transactions.step import (
    FAULTS,
    Event,
    State,
    TransactionPolicy,
    enabled,
    initial,
    last_stable_offset,
    step,
)
from advisor.sim.transactions.timeline import Plan, in_time, pinned_range
from tests.sim.transactions.golden import SCENARIOS, asked, read, text_of, trace_file

EVERY_FAULT = dict.fromkeys(FAULTS, 1)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_is_pinned(path: Path) -> None:
    scenario = read(path)
    assert text_of(path.stem, scenario) == trace_file(path).read_text(encoding="utf-8")
    if "guarantee" in scenario:
        assert asked(scenario).verdict == scenario["verdict"]


def test_no_trace_is_left_over() -> None:
    traces = sorted(path.stem for path in trace_file(SCENARIOS[0]).parent.glob("*.txt"))
    assert traces == sorted(path.stem for path in SCENARIOS)


@pytest.mark.parametrize("guarantee", sorted(GUARANTEES))
@pytest.mark.parametrize("epoch_each", [True, False])
def test_what_kafka_does_since_3_6_holds_under_every_fault(guarantee: str, epoch_each: bool) -> None:
    verdict = ask(guarantee, TransactionPolicy(epoch_each=epoch_each), {}, EVERY_FAULT)
    assert isinstance(verdict, Holds)
    assert "a zombie is fenced" in verdict.witnesses


@pytest.mark.parametrize("bumps", [True, False])
@pytest.mark.parametrize("guarantee", sorted(GUARANTEES))
def test_before_3_6_only_a_late_request_breaks_it(guarantee: str, bumps: bool) -> None:
    policy = TransactionPolicy(verifies=False, bumps=bumps)
    assert ask(guarantee, policy, {}, {"producer_crash": 1, "producer_pause": 1}).verdict == "holds"
    verdict = ask(guarantee, policy, {}, {"late_request": 1})
    assert isinstance(verdict, Broken)
    assert verdict.faults == {"late_request": 1}
    assert from_dict(as_dict(verdict)) == verdict


def test_reading_uncommitted_needs_no_fault() -> None:
    verdict = ask("only-committed-read", TransactionPolicy(isolation="read_uncommitted"), {}, {})
    assert isinstance(verdict, Broken)
    assert verdict.faults == {}


def test_without_a_name_finished_work_is_all_that_is_read_only_while_nothing_fails() -> None:
    unnamed = TransactionPolicy(transactional=False)
    assert ask("only-committed-read", unnamed, {}, {}).verdict == "holds"
    for fault in FAULTS:
        assert ask("only-committed-read", unnamed, {}, {fault: 1}).verdict == "broken"


def test_a_bound_reached_is_unknown() -> None:
    bounds = Bounds(replicas=1, records=2, elections=0, states=100)
    verdict = ask("only-committed-read", TransactionPolicy(), {}, EVERY_FAULT, bounds)
    assert isinstance(verdict, Unknown)
    assert "100 states" in verdict.reason


def test_a_fault_of_another_model_is_refused() -> None:
    with pytest.raises(ValueError, match="broker_crash"):
        ask("only-committed-read", TransactionPolicy(), {}, {"broker_crash": 1})


def test_a_run_that_cannot_be_is_refused() -> None:
    policy = TransactionPolicy()
    with pytest.raises(ValueError, match="commit p0 cannot happen here"):
        replay(policy, initial(policy, {}), [Event("begin", "p0"), Event("commit", "p0")])


# -- laws --------------------------------------------------------------------------------------------------

POLICIES = st.builds(
    TransactionPolicy,
    transactional=st.booleans(),
    isolation=st.sampled_from(["read_committed", "read_uncommitted"]),
    verifies=st.booleans(),
    bumps=st.booleans(),
    epoch_each=st.booleans(),
    outlasts=st.booleans(),
)


def wander(policy: TransactionPolicy, choices: list[int]) -> list[tuple[Event, State, State]]:
    state = initial(policy, EVERY_FAULT)
    seen = []
    for choice in choices:
        events = list(enabled(policy, state))
        if not events:
            break
        event = events[choice % len(events)]
        after, _ = step(policy, state, event)
        seen.append((event, state, after))
        state = after
    return seen


@given(POLICIES, st.lists(st.integers(0, 11), max_size=40))
@settings(max_examples=200, deadline=None)
def test_laws_of_every_run(policy: TransactionPolicy, choices: list[int]) -> None:
    for event, before, after in wander(policy, choices):
        # The log and the reader only go forward, nothing is read twice, a fate is final.
        assert after.log[: len(before.log)] == before.log
        assert after.position >= before.position
        assert after.read[: len(before.read)] == before.read
        assert all(new == old for old, new in zip(before.fates, after.fates, strict=True) if old)
        assert last_stable_offset(policy, after) <= len(after.log)
        if event.name == "read" and policy.isolation == "read_committed":
            assert after.position <= last_stable_offset(policy, before)
        # An epoch, once in the log, is never followed by an older one.
        epochs = [entry.epoch for entry in after.log if entry.epoch >= 0]
        assert epochs == sorted(epochs)
        assert after.epoch >= before.epoch


@given(POLICIES, st.lists(st.integers(0, 11), max_size=40))
@settings(max_examples=200, deadline=None)
def test_since_3_6_no_run_shows_an_aborted_record(policy: TransactionPolicy, choices: list[int]) -> None:
    policy = policy._replace(transactional=True, isolation="read_committed", verifies=True)
    for _, _, after in wander(policy, choices):
        assert aborted_read(policy, after) is None


# -- on a clock --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("timeout_ms", "check_ms"), [(60_000, 10_000), (60_000, 60_000), (900_000, 10_000)])
def test_an_abandoned_transaction_holds_the_lso_for_its_timeout_and_at_most_one_look_more(
    timeout_ms: int, check_ms: int
) -> None:
    least, most = pinned_range(TransactionPolicy(), timeout_ms, check_ms)
    assert (least, most) == (timeout_ms + 1, timeout_ms + check_ms)


@given(st.integers(1, 5_000), st.integers(1, 2_000), st.data())
@settings(max_examples=100, deadline=None)
def test_whenever_the_coordinator_looks_the_range_holds(
    timeout_ms: int, check_ms: int, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, check_ms))
    plan = Plan(timeout_ms, check_ms, first, work_ms=20_000, crash_ms=0, gap_ms=0, until_ms=9_000)
    told = in_time(TransactionPolicy(), plan)
    assert told.pinned_ms is not None
    assert timeout_ms < told.pinned_ms <= timeout_ms + check_ms


def test_a_real_broker_within_its_range() -> None:
    """Kafka 4.3.1, transaction.timeout.ms 6000, a look every 2000 ms: the first record behind an abandoned
    transaction was shown to a read_committed reader after 6508 ms."""
    least, most = pinned_range(TransactionPolicy(), 6_000, 2_000)
    assert least <= 6_508 <= most


@pytest.mark.parametrize(("work_ms", "fate"), [(9_000, "commit"), (10_000, "commit"), (13_000, "abort")])
def test_work_longer_than_the_timeout_is_aborted_and_its_producer_fenced(work_ms: int, fate: str) -> None:
    told = in_time(TransactionPolicy(), Plan(10_000, 1_000, 500, work_ms, gap_ms=0, until_ms=20_000))
    assert told.fate == fate
    assert bool(told.errors) == (fate == "abort")


# -- what a leader forgets ---------------------------------------------------------------------------------


@given(st.integers(1, 5_000), st.integers(1, 2_000), st.integers(0, 5_000), st.integers(1, 8_000))
@settings(max_examples=200, deadline=None)
def test_a_retry_is_stored_again_only_by_a_leader_that_forgot_its_producer(
    expiration_ms: int, check_ms: int, check_at_ms: int, retry_ms: int
) -> None:
    told = retry_in_time(expiration_ms, check_ms, check_at_ms, retry_ms)
    assert told.copies == (1 if told.forgotten_ms is None else 2)
    if told.forgotten_ms is not None:
        assert expiration_ms <= told.forgotten_ms <= retry_ms
    if retry_ms < expiration_ms:
        assert told.copies == 1
