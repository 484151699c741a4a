"""Laws of the simulator, for policies and faults of any kind."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from advisor.sim import Bounds, Broken, Event, Holds, Policy, ask, enabled, run, start, step
from advisor.sim.partition.guarantees import acked_records_survive
from advisor.sim.partition.state import EVENT_OF, TRUNCATIONS, Model, State, parse, view
from advisor.sim.search.explore import explore
from advisor.sim.search.verdict import as_dict, from_dict

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "advisor/schemas/report.schema.json").read_text(encoding="utf-8")
)
STEP = jsonschema.Draft202012Validator({"$ref": "#/$defs/step", "$defs": SCHEMA["$defs"]})

POLICIES = st.builds(
    Policy,
    replicas=st.integers(1, 3),
    acks=st.sampled_from(["0", "1", "all"]),
    min_isr=st.integers(1, 3),
    unclean=st.booleans(),
    elr=st.booleans(),
    truncation=st.sampled_from(TRUNCATIONS),
    min_isr_capped=st.booleans(),
    hw_waits_for_min_isr=st.booleans(),
    joins_at_epoch_start=st.booleans(),
    bounce_unnoticed=st.booleans(),
    flushed_at_once=st.booleans(),
    racks=st.just(()),
)
FAULTS = st.dictionaries(
    st.sampled_from(sorted(set(EVENT_OF) - {"rack_lost"})), st.integers(1, 2), min_size=1, max_size=2
)
BROKER_FAULTS = st.sampled_from(["broker_crash", "broker_lost", "power_loss", "disk_wiped"])
BOUNDS = st.builds(
    Bounds,
    replicas=st.just(3),
    records=st.integers(1, 2),
    elections=st.integers(0, 3),
    fetch=st.sampled_from(["atomic", "rounds"]),
    follower_hw=st.booleans(),
    isr_changes=st.sampled_from(["atomic", "proposed"]),
    committed=st.integers(0, 1),
)
some = settings(
    max_examples=int(os.environ.get("LAW_EXAMPLES", "100")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def walk(
    data: st.DataObject, policy: Policy, bounds: Bounds, faults: dict[str, int], steps: int
) -> tuple[Model, State, State, list[Event]]:
    """A run of at most so many events, each drawn from those enabled: model, first state, last state, run."""
    model, first = start(policy, bounds, faults)
    state, events = first, []
    for _ in range(steps):
        possible = enabled(model, state)
        if not possible:
            break
        event = data.draw(st.sampled_from(possible))
        state, _ = step(model, state, event)
        events.append(event)
    return model, first, state, events


@some
@given(st.data(), POLICIES, BOUNDS, FAULTS)
def test_a_run_replays_from_its_text_and_fits_the_schema(
    data: st.DataObject, policy: Policy, bounds: Bounds, faults: dict[str, int]
) -> None:
    model, first, last, events = walk(data, policy, bounds, faults, 25)
    trace, state = run(model, first, [event.text() for event in events])
    assert state == last
    assert [parse(step_.event["text"]) for step_ in trace] == events
    for step_ in trace:
        STEP.validate(json.loads(json.dumps(step_.as_dict())))


@some
@given(st.data(), POLICIES, BOUNDS, FAULTS)
def test_what_is_true_in_every_state(
    data: st.DataObject, policy: Policy, bounds: Bounds, faults: dict[str, int]
) -> None:
    model, state, _, events = walk(data, policy, bounds, faults, 25)
    for event in events:
        before = state
        state, _ = step(model, state, event)
        assert before.acked & ~state.acked == 0, "an acknowledgement is never taken back"
        assert state.epoch >= before.epoch
        assert len(state.terms) == state.epoch + 1
        assert not state.isr & state.elr
        assert state.isr or policy.elr, "without ELR somebody stays in the ISR"
        assert state.leader < 0 or state.isr >> state.leader & 1, "a leader is in the ISR"
        assert all(count >= 0 for count in state.budget)
        assert len(set(enabled(model, state))) == len(enabled(model, state))
        for replica in state.replicas:
            assert 0 <= replica.hw <= len(replica.log)
            assert replica.flushed <= len(replica.log)
        assert view(model, state)["leader"] in (None, *range(policy.replicas))


def questions() -> st.SearchStrategy[tuple[Policy, dict[str, int], dict[str, int]]]:
    return st.tuples(
        POLICIES,
        st.integers(0, 2).map(lambda slow: {"slow_follower": slow}),
        BROKER_FAULTS.map(lambda fault: {fault: 1}),
    )


@some
@given(questions())
def test_dropping_any_event_of_a_shortest_run_unbreaks_or_disables_it(
    question: tuple[Policy, dict[str, int], dict[str, int]],
) -> None:
    policy, environment, faults = question
    verdict = ask("acked-records-survive", policy, environment, faults)
    assume(isinstance(verdict, Broken))
    assert isinstance(verdict, Broken)
    budget = {**environment, **faults}
    model, first = start(policy, verdict.bounds, budget)
    events = [parse(step_.event["text"]) for step_ in verdict.trace]
    assert run(model, first, events)[0] == verdict.trace
    for left_out in range(len(events)):
        state, broken = first, False
        for event in events[:left_out] + events[left_out + 1 :]:
            if event not in enabled(model, state):
                break
            state, _ = step(model, state, event)
            broken = broken or acked_records_survive(model, state) is not None
        assert not broken


@some
@given(questions())
def test_a_verdict_comes_back_from_json(
    question: tuple[Policy, dict[str, int], dict[str, int]],
) -> None:
    verdict = ask("acked-records-survive", *question)
    assert from_dict(json.loads(json.dumps(as_dict(verdict)))) == verdict


@some
@given(questions(), st.integers(0, 2))
def test_with_acks_all_stricter_is_never_broken_where_looser_holds(
    question: tuple[Policy, dict[str, int], dict[str, int]], more: int
) -> None:
    policy, environment, faults = question
    looser = policy._replace(acks="all", unclean=True)
    stricter = looser._replace(unclean=False, min_isr=policy.min_isr + more)
    if isinstance(ask("acked-records-survive", looser, environment, faults), Holds):
        verdict = ask("acked-records-survive", stricter, environment, faults)
        # A minimum above the replication factor may refuse every write: then nothing is said, which is fine.
        assert not isinstance(verdict, Broken)


@some
@given(questions(), st.booleans())
def test_proposals_change_no_verdict(
    question: tuple[Policy, dict[str, int], dict[str, int]], rounds: bool
) -> None:
    """ISR changes as one event lose no run: a proposed shrink does nothing until it is confirmed, and a
    proposed expansion only makes the high watermark wait."""
    policy, environment, faults = question
    policy = policy._replace(replicas=min(policy.replicas, 2))
    plain = Bounds(
        policy.replicas, 1, 2, fetch="rounds" if rounds else "atomic", follower_hw=True, states=2_000_000
    )
    both = {
        ask("acked-records-survive", policy, environment, faults, bounds).verdict
        for bounds in (plain, plain._replace(isr_changes="proposed"))
    }
    assert len(both) == 1


@some
@given(questions())
def test_fewer_faults_never_break_what_more_leave_whole(
    question: tuple[Policy, dict[str, int], dict[str, int]],
) -> None:
    policy, environment, faults = question
    if isinstance(ask("acked-records-survive", policy, environment, faults), Holds):
        assert not isinstance(ask("acked-records-survive", policy, environment, {}), Broken)
        assert not isinstance(ask("acked-records-survive", policy, {}, faults), Broken)


@pytest.mark.parametrize("acks", ["1", "all"])
def test_rounds_and_atomic_fetches_agree(acks: str) -> None:
    """The smallest model leaves out rounds and late learning; with KIP-320 they break nothing more."""
    for policy in (
        Policy(replicas=2, acks=acks, min_isr=min_isr, unclean=unclean)
        for min_isr in (1, 2)
        for unclean in (False, True)
    ):
        for faults in ({"broker_crash": 1}, {"broker_lost": 1}, {"power_loss": 1}, {"leader_move": 1}):
            slow = {"slow_follower": 1}
            small = ask("acked-records-survive", policy, slow, faults)
            large = ask("acked-records-survive", policy, slow, faults, Bounds(2, 1, 2, fetch="rounds"))
            assert small.verdict == large.verdict, (policy, faults)


def test_two_searches_are_equal() -> None:
    policy = Policy(min_isr=2, unclean=True)
    asked = [ask("acked-records-survive", policy, {"slow_follower": 2}, {"broker_crash": 1}) for _ in "12"]
    assert asked[0] == asked[1]


def test_an_unknown_name_says_so() -> None:
    with pytest.raises(ValueError, match="no question is called 'nothing-lost'"):
        ask("nothing-lost", Policy())
    with pytest.raises(ValueError, match="no fault of a partition is called earthquake"):
        ask("acked-records-survive", Policy(), {}, {"earthquake": 1})
    with pytest.raises(ValueError, match="'guess'"):
        ask("acked-records-survive", Policy(truncation="guess"))


def test_the_budget_of_states_ends_in_unknown() -> None:
    verdict = ask(
        "acked-records-survive", Policy(min_isr=2), {}, {"broker_crash": 1}, Bounds(3, 1, 2, states=50)
    )
    assert verdict.verdict == "unknown"
    assert "first 50 states" in verdict.text()


def test_a_deadline_ends_in_unknown() -> None:
    verdict = ask("acked-records-survive", Policy(min_isr=2), {}, {"broker_crash": 1}, expired=lambda: True)
    assert verdict.verdict == "unknown"
    assert "in the time given" in verdict.text()


@some
@given(questions(), FAULTS)
def test_leaving_out_what_no_later_event_reads_changes_no_verdict(
    question: tuple[Policy, dict[str, int], dict[str, int]], more: dict[str, int]
) -> None:
    policy, environment, faults = question
    policy = policy._replace(truncation="kip-320")
    bounds = Bounds(policy.replicas, records=1, elections=2, states=20_000)
    budget = {**more, **environment, **faults}
    model, first = start(policy, bounds, budget)

    def whole(state: State) -> list[tuple[Event, None, State]]:
        return [(event, None, step(model, state, event)[0]) for event in enabled(model, state)]

    found = explore(first, whole, partial(acked_records_survive, model), states_max=bounds.states)
    assume(found.stopped is None)
    verdict = ask("acked-records-survive", policy, {}, budget, bounds)
    if found.run is not None:
        assert isinstance(verdict, Broken)
        assert len(verdict.trace) == len(found.run)
    else:
        assert not isinstance(verdict, Broken)


@pytest.mark.parametrize(
    "faults", [{"broker_crash": 1}, {"broker_lost": 1}, {"broker_lost": 2}, {"disk_wiped": 1}]
)
@pytest.mark.parametrize("slow", [0, 1, 3])
def test_four_replicas_searched_at_three_answer_as_four(faults: dict[str, int], slow: int) -> None:
    for policy in (
        Policy(replicas=4, min_isr=min_isr, unclean=unclean)
        for min_isr in (1, 2, 3, 4)
        for unclean in (False, True)
    ):
        environment = {"slow_follower": slow}
        small = ask("acked-records-survive", policy, environment, faults)
        large = ask("acked-records-survive", policy, environment, faults, Bounds(4, 1, 2))
        assert small.verdict == large.verdict, policy
