"""The producer model: pinned scenarios, the broker's memory of a producer, and laws that every run obeys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.sim.producer.policy import ProducerPolicy
from advisor.sim.producer.questions import (
    GUARANTEES,
    records_stored_once,
    reordered,
    replay,
    send_order_kept,
    state_of,
    stored_twice,
    successors,
    witnesses,
)
from advisor.sim.producer.sequences import (
    CACHED_BATCHES,
    DUPLICATE,
    FENCED,
    OUT_OF_ORDER,
    STORED,
    Numbered,
    ProducerState,
    judge,
    remember,
)
from advisor.sim.producer.state import FAULTS, Event, State, initial
from advisor.sim.producer.step import enabled, step
from advisor.sim.search.explore import explore
from advisor.sim.search.verdict import Bounds, Broken, Holds, Unknown, as_dict, from_dict
from tests.sim.producer.golden import SCENARIOS, ask, read, text_of, trace_file

DEFAULT_RULES = {"lost_response": 1, "retriable_error": 1, "leader_move": 1}
NOT_IDEMPOTENT = ProducerPolicy(acks="all", idempotence=False, in_flight=5)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_is_pinned(path: Path) -> None:
    scenario = read(path)
    verdict = ask(scenario)
    assert verdict.verdict == scenario["verdict"]
    assert text_of(path.stem, scenario, verdict) == trace_file(path).read_text(encoding="utf-8")


def test_no_trace_is_left_over() -> None:
    traces = sorted(path.stem for path in trace_file(SCENARIOS[0]).parent.glob("*.txt"))
    assert traces == sorted(path.stem for path in SCENARIOS)


@pytest.mark.parametrize("family", ["java", "librdkafka"])
@pytest.mark.parametrize("acks", ["1", "all"])
def test_without_idempotence_a_lost_answer_stores_a_record_twice(family: str, acks: str) -> None:
    for in_flight in (1, 5):
        policy = ProducerPolicy(family, acks, idempotence=False, in_flight=in_flight)
        verdict = records_stored_once(policy, {}, {"lost_response": 1})
        assert isinstance(verdict, Broken)
        assert verdict.faults == {"lost_response": 1}


@pytest.mark.parametrize("family", ["java", "librdkafka"])
@pytest.mark.parametrize("acks", ["1", "all"])
def test_a_refused_batch_is_overtaken_only_if_two_are_in_flight(family: str, acks: str) -> None:
    def ask_with(in_flight: int) -> str:
        policy = ProducerPolicy(family, acks, idempotence=False, in_flight=in_flight)
        return send_order_kept(policy, {}, {"retriable_error": 1}).verdict

    assert (ask_with(1), ask_with(2), ask_with(5)) == ("holds", "broken", "broken")


@pytest.mark.parametrize("family", ["java", "librdkafka"])
@pytest.mark.parametrize("retries", [1, 2, None])
@pytest.mark.parametrize("guarantee", sorted(GUARANTEES))
def test_idempotence_holds_under_the_faults_of_the_default_rules(
    family: str, retries: int | None, guarantee: str
) -> None:
    for in_flight in (1, 5):
        policy = ProducerPolicy(family, in_flight=in_flight, retries=retries)
        verdict = GUARANTEES[guarantee](policy, {}, DEFAULT_RULES)
        assert isinstance(verdict, Holds)
        assert "a repeated batch is recognised" in verdict.witnesses


@pytest.mark.parametrize("guarantee", sorted(GUARANTEES))
def test_without_answers_or_retries_nothing_is_doubled_or_reordered(guarantee: str) -> None:
    on_one_connection = {name: 1 for name in FAULTS if name != "late_request"}
    fire_and_forget = ProducerPolicy(acks="0", idempotence=False)
    assert GUARANTEES[guarantee](fire_and_forget, {}, on_one_connection).verdict == "holds"
    for acks in ("1", "all"):
        policy = ProducerPolicy(acks=acks, idempotence=False, retries=0)
        assert GUARANTEES[guarantee](policy, {}, DEFAULT_RULES).verdict == "holds"


@pytest.mark.parametrize("family", ["java", "librdkafka"])
@pytest.mark.parametrize("in_flight", [1, 5])
def test_a_request_that_was_given_up_is_overtaken_without_any_retry(family: str, in_flight: int) -> None:
    for acks in ("0", "1", "all"):
        policy = ProducerPolicy(family, acks, idempotence=False, in_flight=in_flight, retries=0)
        verdict = send_order_kept(policy, {}, {"late_request": 1})
        assert isinstance(verdict, Broken)
        assert [step.event["name"] for step in verdict.trace][-1] == "handle_late"
        assert not any("retried" in effect for step in verdict.trace for effect in step.effects)
        assert records_stored_once(policy, {}, {"late_request": 1}).verdict == "holds"
    idempotent = ProducerPolicy(family, in_flight=in_flight)
    assert send_order_kept(idempotent, {}, {"late_request": 1}).verdict == "holds"
    assert records_stored_once(idempotent, {}, {"late_request": 1}).verdict == "holds"


def _after(policy: ProducerPolicy, faults: dict[str, int], words: str) -> tuple[State, list[str]]:
    """The state after the events named, and all effects."""
    state, effects = initial(policy, faults, 3), []
    for word in words.split():
        name, _, batch = word.partition(":")
        event = Event(name, int(batch)) if batch else Event(name)
        assert event in list(enabled(policy, state)), word
        state, more = step(policy, state, event)
        effects += more
    return state, effects


def test_a_batch_that_expires_leaves_a_gap_and_java_begins_a_new_epoch() -> None:
    """TransactionManager.canRetry: what is right behind the batch that expired is refused for its number."""
    policy, faults = ProducerPolicy().searched, {"lost_request": 1, "delivery_expired": 1}
    sent_again = "send:0 send:1 lost_request:0 delivery_expired:0 send:1 handle:1"
    state, effects = _after(policy, faults, sent_again)
    assert effects[-1] == "out-of-order r1"
    assert state.unresolved == 1
    state, effects = _after(policy, faults, sent_again + " answer:1 send:1 handle:1")
    assert (state.epoch, state.unresolved, effects[-1]) == (1, -1, "stored r1")


def test_nothing_new_is_numbered_before_the_fate_of_an_expired_batch_is_settled() -> None:
    policy, faults = ProducerPolicy().searched, {"lost_response": 1, "delivery_expired": 1}
    stored = "send:0 send:1 handle:0 fetch fetch handle:1 lost_response:0 delivery_expired:0 "
    state, _ = _after(policy, faults, stored + "send:1")
    assert Event("send", 2) not in list(enabled(policy, state))
    # A later batch is acknowledged, so the one that expired was stored: the numbers go on.
    state, _ = _after(policy, faults, stored + "send:1 handle:1 fetch fetch answer:1 send:2")
    assert (state.epoch, state.numbers[2]) == (0, Numbered(0, 2, 2))


def test_a_batch_that_expires_in_its_first_try_leaves_the_gap_unmarked() -> None:
    """Sender.sendProducerData marks a sequence as unresolved only if the batch was `inRetry`: the batches
    behind it are refused and sent again, without a new epoch, for as long as they live."""
    policy, faults = ProducerPolicy().searched, {"lost_request": 1, "delivery_expired": 1}
    state, effects = _after(
        policy, faults, "send:0 delivery_expired:0 send:1 lost_request:0 send:1 handle:1 answer:1"
    )
    assert effects[-2:] == ["out-of-order r1", "requeued r1"]
    assert (state.epoch, state.unresolved) == (0, -1)


def test_librdkafka_lets_its_requests_end_and_begins_a_new_epoch() -> None:
    policy = ProducerPolicy("librdkafka").searched
    state, _ = _after(
        policy, {"lost_request": 1, "delivery_expired": 1}, "send:0 lost_request:0 delivery_expired:0"
    )
    assert (state.epoch, state.unresolved) == (1, -1)


def test_faults_of_the_environment_count_as_well() -> None:
    assert records_stored_once(NOT_IDEMPOTENT, {"lost_response": 1}, {}).verdict == "broken"
    assert records_stored_once(NOT_IDEMPOTENT, {}, {}).verdict == "holds"


def test_a_bound_reached_is_unknown() -> None:
    verdict = records_stored_once(
        ProducerPolicy(), {}, DEFAULT_RULES, Bounds(replicas=2, records=3, elections=1, states=100)
    )
    assert isinstance(verdict, Unknown)
    assert "100 states" in verdict.reason


def test_a_trace_survives_as_json_and_shows_the_producer() -> None:
    verdict = send_order_kept(NOT_IDEMPOTENT, {}, {"retriable_error": 1})
    assert isinstance(verdict, Broken)
    assert from_dict(as_dict(verdict)) == verdict
    producer = verdict.trace[2].state["clients"]["producer"]
    assert producer["queue"] == ["r2"]
    assert producer["in_flight"] == [
        {"record": "r0", "broker": 0, "answer": "refused"},
        {"record": "r1", "broker": 0, "answer": None},
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"acks": "1"},
        {"retries": 0},
        {"in_flight": 6},
        {"acks": "2", "idempotence": False},
        {"client_family": "telnet"},
        {"in_flight": 0},
    ],
)
def test_a_policy_no_client_starts_with_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        ProducerPolicy(**wrong)


def test_an_old_answer_to_a_renumbered_batch_begins_no_second_epoch() -> None:
    """acks=all leaves no gap within the bounds, so the log is cut by hand."""
    policy = ProducerPolicy().searched
    state = initial(policy, {}, 3)
    for name, batch in (("send", 0), ("handle", 0), ("fetch", -1), ("fetch", -1), ("answer", 0)):
        state, _ = step(policy, state, Event(name, batch))
    state = state._replace(log=(), copied=0, hw=0)
    for name, batch in (("send", 1), ("send", 2), ("handle", 1), ("handle", 2), ("answer", 1)):
        state, _ = step(policy, state, Event(name, batch))
    assert state.epoch == 1
    assert state.numbers[1:] == (Numbered(1, 0, 0), Numbered(1, 1, 1))
    state, _ = step(policy, state, Event("answer", 2))
    assert (state.epoch, state.queue) == (1, (1, 2))
    for name, batch in (("send", 1), ("handle", 1)):
        state, effects = step(policy, state, Event(name, batch))
    assert effects == ("stored r1",)


def _log_after(policy: ProducerPolicy, faults: dict[str, int], records: int, words: str) -> list[int]:
    """The leader's log after the events named, then every retry and record in the order of the queue."""
    state = initial(policy, faults, records)
    for word in words.split():
        name, _, batch = word.partition(":")
        state, _ = step(policy, state, Event(name, int(batch)) if batch else Event(name))
    while True:
        going_on = [event for event in enabled(policy, state) if event.name not in FAULTS]
        if not going_on:
            return [batch for batch, _ in state.log]
        # Handling comes before sending, so the order of the queue becomes that of the log.
        order = ("answer", "handle", "fetch", "send")
        state, _ = step(policy, state, min(going_on, key=lambda event: order.index(event.name)))


@pytest.mark.parametrize("acks", ["1", "all"])
def test_a_frozen_leader_as_seen_on_real_clusters(acks: str) -> None:
    """2.8.2, 3.9.1, 4.3.1: five in flight, two handled, the connection dropped, all five sent again."""
    sends = "send:0 send:1 send:2 send:3 send:4 "
    handled = "handle:0 handle:1 " if acks == "1" else "handle:0 fetch fetch handle:1 "
    words = sends + handled + "lost_response:0"
    faults = {"lost_response": 1}
    java = ProducerPolicy(acks=acks, idempotence=False, in_flight=5)
    assert _log_after(java, faults, 6, words) == [0, 1, 4, 3, 2, 1, 0, 5]
    librdkafka = ProducerPolicy("librdkafka", acks, idempotence=False, in_flight=5)
    assert _log_after(librdkafka, faults, 6, words) == [0, 1, 0, 1, 2, 3, 4, 5]
    one = ProducerPolicy(acks=acks, idempotence=False, in_flight=1)
    assert _log_after(one, faults, 3, "send:0 handle:0 lost_response:0") == [0, 0, 1, 2]
    if acks == "all":
        assert _log_after(ProducerPolicy(in_flight=5), faults, 6, words) == [0, 1, 2, 3, 4, 5]


def test_a_moved_leader_as_seen_on_real_clusters() -> None:
    """Five in flight are refused by the old leader and reach the new one reversed; idempotent: in order."""
    refused = " ".join(f"send:{batch}" for batch in range(5)) + " leader_move "
    refused += " ".join(f"handle:{batch}" for batch in range(5)) + " "
    refused += " ".join(f"answer:{batch}" for batch in range(5))
    java = ProducerPolicy(acks="1", idempotence=False, in_flight=5)
    assert _log_after(java, {"leader_move": 1}, 6, refused) == [4, 3, 2, 1, 0, 5]
    assert _log_after(ProducerPolicy(in_flight=5), {"leader_move": 1}, 6, refused) == [0, 1, 2, 3, 4, 5]


def test_five_batches_are_remembered_and_no_more() -> None:
    state: ProducerState | None = None
    for sequence in range(CACHED_BATCHES + 1):
        assert judge(state, Numbered(0, sequence, sequence)) == STORED
        state = remember(state, Numbered(0, sequence, sequence))
    verdicts = [judge(state, Numbered(0, sequence, sequence)) for sequence in range(CACHED_BATCHES + 3)]
    assert verdicts == [OUT_OF_ORDER, *[DUPLICATE] * CACHED_BATCHES, STORED, OUT_OF_ORDER]


def test_a_repetition_has_the_same_first_and_last_sequence() -> None:
    state = remember(None, Numbered(0, 0, 4))
    assert judge(state, Numbered(0, 0, 4)) == DUPLICATE
    assert judge(state, Numbered(0, 0, 3)) == OUT_OF_ORDER
    assert judge(state, Numbered(0, 5, 5)) == STORED


def test_epochs_fence_and_begin_at_sequence_zero() -> None:
    state = remember(None, Numbered(3, 7, 7))
    assert judge(state, Numbered(2, 8, 8)) == FENCED
    assert judge(state, Numbered(4, 8, 8)) == OUT_OF_ORDER
    assert judge(state, Numbered(4, 0, 0)) == STORED
    assert remember(state, Numbered(4, 0, 0)).batches == (Numbered(4, 0, 0),)


def test_an_unknown_producer_may_begin_anywhere_and_sequences_wrap() -> None:
    assert judge(None, Numbered(0, 17, 17)) == STORED
    last = 2**31 - 1
    assert judge(remember(None, Numbered(0, last, last)), Numbered(0, 0, 0)) == STORED


POLICIES = st.one_of(
    st.builds(
        ProducerPolicy,
        client_family=st.sampled_from(["java", "librdkafka"]),
        acks=st.sampled_from(["0", "1", "all"]),
        idempotence=st.just(False),
        in_flight=st.sampled_from([1, 2, 5]),
        retries=st.sampled_from([0, 1, None]),
        named=st.just(False),
    ),
    st.builds(
        ProducerPolicy,
        client_family=st.sampled_from(["java", "librdkafka"]),
        acks=st.just("all"),
        idempotence=st.just(True),
        in_flight=st.sampled_from([1, 5]),
        retries=st.sampled_from([1, None]),
        named=st.booleans(),
    ),
)
FAULTS_TOGETHER = 4  # more take longer than they teach
BUDGETS = st.sets(st.sampled_from(FAULTS), max_size=FAULTS_TOGETHER).map(
    lambda chosen: {name: int(name in chosen) for name in FAULTS}
)
BROKEN = {"records-stored-once": stored_twice, "send-order-kept": reordered}


@given(POLICIES, BUDGETS, st.sampled_from(sorted(GUARANTEES)))
@settings(max_examples=30, deadline=None)
def test_a_run_replays_and_every_event_of_it_matters(
    policy: ProducerPolicy, budget: dict[str, int], guarantee: str
) -> None:
    policy = policy.searched
    start = initial(policy, budget, 3)
    found = explore(start, lambda state: successors(policy, state), BROKEN[guarantee])
    verdict = GUARANTEES[guarantee](policy, {}, budget)
    if found.run is None:
        assert not isinstance(verdict, Broken)
        return
    assert isinstance(verdict, Broken)
    states = replay(policy, start, found.run)
    assert BROKEN[guarantee](states[-1][2]) == verdict.reason
    assert [step.event["text"] for step in verdict.trace] == [event.text() for event in found.run]
    assert verdict.trace[-1].state == state_of(policy, states[-1][2])
    for dropped in range(len(found.run)):
        shorter = found.run[:dropped] + found.run[dropped + 1 :]
        try:
            end = replay(policy, start, shorter)[-1][2]
        except ValueError:
            continue
        assert BROKEN[guarantee](end) is None


@given(POLICIES, BUDGETS)
@settings(max_examples=25, deadline=None)
def test_every_witness_is_reachable(policy: ProducerPolicy, budget: dict[str, int]) -> None:
    policy = policy.searched
    expected = witnesses(policy, budget)
    start = initial(policy, budget, 3)
    found = explore(start, lambda state: successors(policy, state), lambda state: None, witnesses=expected)
    assert found.stopped is None
    assert sorted(found.witnessed) == sorted(expected)


@given(POLICIES, BUDGETS, st.lists(st.integers(0, 20), max_size=60))
@settings(max_examples=300, deadline=None)
def test_whatever_happens_the_books_balance(
    policy: ProducerPolicy, budget: dict[str, int], choices: list[int]
) -> None:
    policy = policy.searched
    state = initial(policy, budget, 3)
    for choice in choices:
        events = list(enabled(policy, state))
        assert len(set(events)) == len(events)
        if not events:
            break
        state, _ = step(policy, state, events[choice % len(events)])
        _check(policy, state, gaps=bool(budget["delivery_expired"] or policy.retries == 1))


def _check(policy: ProducerPolicy, state: State, gaps: bool) -> None:
    """`gaps`: batches may be given up, and what is numbered anew behind a gap may be stored twice."""
    assert 0 <= state.hw <= state.copied <= len(state.log)
    assert all(left >= 0 for left in state.left)
    on_wire = [request.batch for request in state.wire]
    assert len(set(on_wire)) == len(on_wire)
    assert not set(on_wire) & set(state.queue)
    if policy.acks != "0":
        for broker in (0, 1):
            assert sum(request.broker == broker for request in state.wire) <= policy.in_flight
    if policy.acks == "all":
        # Acknowledged means committed: on both replicas, and known to be.
        committed = {batch for batch, _ in state.log[: state.hw]}
        assert {b for b, outcome in enumerate(state.outcomes) if outcome == "acked"} <= committed
    if policy.idempotence:
        assert gaps or stored_twice(state) is None
        assert reordered(state) is None


@given(POLICIES, BUDGETS)
@settings(max_examples=12, deadline=None)
def test_what_holds_holds_with_fewer_faults(policy: ProducerPolicy, budget: dict[str, int]) -> None:
    for guarantee, question in GUARANTEES.items():
        if question(policy, {}, budget).verdict == "broken":
            continue
        for name in (name for name in FAULTS if budget[name]):
            assert question(policy, {}, {**budget, name: 0}).verdict != "broken", (guarantee, name)
