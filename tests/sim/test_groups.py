"""Groups: pinned scenarios, the coordinators' rules one by one, laws of every run, and the clock."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.sim.groups import classic as classic
from advisor.sim.groups import kip848 as epochs
from advisor.sim.groups.clock.phases import GRID, GroupSetup
from advisor.sim.groups.clock.timeline import GroupRun
from advisor.sim.groups.consumer import (
    AFTER,
    AUTO,
    BEFORE,
    FINISHED,
    FIRST_OPEN,
    NO_OFFSET,
    OUT_OF_RANGE,
    POLLED,
    WITH_OUTPUT,
    Consumer,
    Reading,
    Span,
    Store,
    fetch,
    fetch_wait_ms,
    offsets_expire_after,
    process,
    readable,
    start,
)
from advisor.sim.groups.plans import Seat, plan
from advisor.sim.groups.search.questions import every_record_processed, processed_once, skipped, twice
from advisor.sim.groups.search.states import FAULTS, Event, GroupPolicy, State
from advisor.sim.groups.search.step import enabled, initial, step
from tests.sim.groups.golden import SCENARIOS, ask, read, text_of, trace_file

BUDGET = {"member_crash": 1, "rebalance": 1}
PROTOCOLS = (("classic", False), ("classic", True), ("consumer", True))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_is_pinned(path: Path) -> None:
    scenario = read(path)
    if "verdict" in scenario:
        assert ask(scenario).verdict == scenario["verdict"]
    assert text_of(path.stem, scenario) == trace_file(path).read_text(encoding="utf-8")


def test_no_trace_is_left_over() -> None:
    traces = sorted(path.stem for path in trace_file(SCENARIOS[0]).parent.glob("*.txt"))
    assert traces == sorted(path.stem for path in SCENARIOS)


@pytest.mark.parametrize(("protocol", "cooperative"), PROTOCOLS)
def test_styles_of_committing(protocol: str, cooperative: bool) -> None:
    def ask_with(commits: str) -> tuple[str, str]:
        policy = GroupPolicy(protocol, cooperative, Reading(2, commits))
        return every_record_processed(policy, BUDGET).verdict, processed_once(policy, BUDGET).verdict

    assert ask_with(AFTER) == ("holds", "broken")
    assert ask_with(WITH_OUTPUT) == ("holds", "holds")
    assert ask_with(BEFORE)[0] == "broken"
    assert ask_with(AUTO) == ("holds", "broken")


@pytest.mark.parametrize(("protocol", "cooperative"), PROTOCOLS)
@pytest.mark.parametrize(
    ("commits", "store", "processed", "once"),
    [
        (WITH_OUTPUT, Store(), "holds", "holds"),
        (WITH_OUTPUT, Store(fences=False), "holds", "broken"),
        # With latest, what is not passed over is done once.
        (WITH_OUTPUT, Store(seeks=False, fences=False), "broken", "holds"),
        # Auto-commit beside the store brings nobody who seeks away from the stored offset.
        (WITH_OUTPUT, Store(auto_commit=True), "holds", "holds"),
        (BEFORE, Store(), "broken", "broken"),
        (AFTER, Store(), "holds", "broken"),
    ],
)
def test_offsets_kept_outside_of_kafka(
    protocol: str, cooperative: bool, commits: str, store: Store, processed: str, once: str
) -> None:
    reading = Reading(2, commits, late_commit=protocol == "consumer", store=store)
    policy = GroupPolicy(protocol, cooperative, reading)
    found = every_record_processed(policy, BUDGET).verdict, processed_once(policy, BUDGET).verdict
    assert found == (processed, once)


@pytest.mark.parametrize(
    ("carries", "verdict"), [(FIRST_OPEN, "holds"), (FINISHED, "broken"), (POLLED, "broken")]
)
def test_workers_commit_in_any_order(carries: str, verdict: str) -> None:
    policy = GroupPolicy(reading=Reading(2, AFTER, workers=True, carries=carries))
    assert every_record_processed(policy, BUDGET).verdict == verdict


@pytest.mark.parametrize(("instances", "once"), [(1, "holds"), (2, "broken")])
def test_nobody_shares_out_what_is_assigned(instances: int, once: str) -> None:
    policy = GroupPolicy(assigned=tuple(range(instances)), instances=instances, reading=Reading(2, AFTER))
    assert processed_once(policy, {}).verdict == once
    assert every_record_processed(policy, {"member_crash": 1}).verdict == "holds"


@pytest.mark.parametrize("commits", [AUTO, AFTER, BEFORE])
def test_without_faults_everything_is_processed_once(commits: str) -> None:
    policy = GroupPolicy(reading=Reading(2, commits))
    assert every_record_processed(policy, {}).verdict == processed_once(policy, {}).verdict == "holds"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_laws_of_every_run(data: st.DataObject) -> None:
    """A commit never goes beyond the log; what was repeated stays so; the coordinator knows one owner of a
    partition."""
    protocol, cooperative = data.draw(st.sampled_from(PROTOCOLS))
    commits = data.draw(st.sampled_from([AUTO, AFTER, BEFORE, WITH_OUTPUT]))
    policy = GroupPolicy(protocol, cooperative, Reading(2, commits, data.draw(st.booleans())))
    state = initial(policy, BUDGET)
    broken: set[str] = set()
    for _ in range(data.draw(st.integers(1, 25))):
        events = tuple(enabled(policy, state))
        if not events:
            break
        state, _ = step(policy, state, data.draw(st.sampled_from(events)))
        assert all(0 <= offset <= end for offset, end in zip(state.committed, (2, 1), strict=True))
        assert broken <= {name for name, rule in (("twice", twice),) if rule(state)}
        if twice(state):
            broken.add("twice")
        _one_owner_each(state)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_laws_of_a_store(data: st.DataObject) -> None:
    """Whatever happens, a store that fences holds every record once and never goes back; no offset of it is
    beyond the log; and a standalone consumer is never out of its group, for it has none."""
    protocol, cooperative = data.draw(st.sampled_from(PROTOCOLS))
    commits = data.draw(st.sampled_from([AFTER, BEFORE, WITH_OUTPUT]))
    store = Store(*(data.draw(st.booleans()) for _ in range(3)))
    assigned = data.draw(st.sampled_from([(), (0, 1), (1,)]))
    reset = data.draw(st.sampled_from(["latest", "earliest", "none"]))
    reading = Reading(2, commits, late_commit=protocol == "consumer", store=store)
    policy = GroupPolicy(protocol, cooperative, reading, assigned=assigned, reset=reset)
    state = initial(policy, BUDGET)
    for _ in range(data.draw(st.integers(1, 25))):
        events = tuple(enabled(policy, state))
        if not events:
            break
        before = state
        state, _ = step(policy, state, data.draw(st.sampled_from(events)))
        assert all(0 <= offset <= end for offset, end in zip(state.stored, (2, 1), strict=True))
        if store.fences and commits == WITH_OUTPUT:
            assert twice(state) is None
            assert all(new >= old for new, old in zip(state.stored, before.stored, strict=True))
        assert not any(one is not None and one.alone and one.out for one in state.processes)


def _one_owner_each(state: State) -> None:
    members = [m for m in state.group.roster if m is not None]
    assigned = [partition for member in members for partition in member.assigned]
    assert len(assigned) == len(set(assigned))


def test_budgets_are_spent() -> None:
    policy = GroupPolicy(reading=Reading(2, AFTER))
    state = initial(policy, dict.fromkeys(FAULTS, 0))
    assert {event.name for event in enabled(policy, state)} == {"poll"}
    assert skipped(state) is None
    with pytest.raises(ValueError, match="no event"):
        step(policy, state, Event("sleep", 0))


# -- the classic coordinator -------------------------------------------------------------------------------


def stable(*requests: classic.Member) -> classic.Group:
    group = classic.Group()
    for number, request in enumerate(requests):
        group, answer = classic.join(group, number, request)
        assert answer == classic.PARKED
    group = classic.complete(group)
    shares = {number: (number,) for number in range(len(requests))}
    group, answer = classic.sync(group, group.leader, group.generation, shares)
    assert (group.phase, answer) == (classic.STABLE, classic.OK)
    return group


def test_states_of_a_group() -> None:
    group, _ = classic.join(classic.Group(), 0, classic.Member())
    assert group.phase == classic.PREPARING
    assert classic.sync(group, 0, 0, {})[1] == classic.REBALANCING
    group = classic.complete(group)
    assert (group.phase, group.generation, group.leader) == (classic.COMPLETING, 1, 0)
    assert classic.may_commit(group, 0, 1) == classic.REBALANCING
    group, _ = classic.sync(group, 0, 1, {0: (0, 1)})
    assert classic.heartbeat(group, 0, 1) == classic.OK
    group = classic.remove(group, 0)
    assert (group.phase, classic.members(group)) == (classic.EMPTY, [])
    assert classic.may_commit(group, 0, classic.NO_GENERATION) == classic.OK
    assert classic.may_commit(group, 0, 1) == classic.UNKNOWN_MEMBER


def test_a_generation_fences_the_one_before() -> None:
    group = stable(classic.Member(), classic.Member())
    group, _ = classic.join(group, 1, classic.Member())
    assert classic.heartbeat(group, 0, 1) == classic.REBALANCING
    assert classic.may_commit(group, 0, 1) == classic.OK  # so that it can commit before it joins
    group, _ = classic.join(group, 0, classic.Member())
    group = classic.complete(group)
    assert classic.may_commit(group, 0, 1) == classic.STALE_GENERATION


def test_who_does_not_come_is_dropped_unless_static() -> None:
    group = stable(classic.Member(), classic.Member(), classic.Member(instance="i2"))
    group = classic.remove(group, 0)
    group, _ = classic.join(group, 3, classic.Member())
    group = classic.complete(group)
    assert classic.members(group) == [2, 3]


def test_the_vote() -> None:
    both, plain = ("cooperative-sticky", "range"), ("range",)
    group = stable(classic.Member(both), classic.Member(both))
    assert group.strategy == "cooperative-sticky"
    group = stable(classic.Member(both), classic.Member(plain))
    assert group.strategy == "range"
    same, answer = classic.join(group, 2, classic.Member(("roundrobin",)))
    assert (same, answer) == (group, classic.INCONSISTENT)


def test_many_joins_at_once_are_so_many_joins() -> None:
    group = classic.remove(stable(*[classic.Member(("cooperative-sticky",))] * 5), 2)
    one_by_one = group
    owned = {number: (number, number + 5) for number in (0, 1, 4)}
    for number, mine in owned.items():
        one_by_one, _ = classic.join(one_by_one, number, classic.Member(("cooperative-sticky",), "", mine))
    together = classic.rejoin(group, owned, owned)
    assert together == one_by_one
    assert not classic.everybody_joined(together)
    assert classic.members(classic.complete(together)) == [0, 1, 4]
    with pytest.raises(KeyError):
        classic.rejoin(group, [2], {2: ()})


def test_many_eager_joins_at_once_are_so_many_joins() -> None:
    group = classic.remove(stable(*[classic.Member(("range",))] * 4), 1)
    one_by_one = group
    for number in (0, 3):
        one_by_one, _ = classic.join(one_by_one, number, classic.Member(("range",)))
    assert classic.rejoin(group, [0, 3], {}) == one_by_one


def test_a_static_member_comes_back_unnoticed() -> None:
    group = stable(classic.Member(instance="a"), classic.Member(instance="b"))
    back, answer = classic.join(group, 2, classic.Member(instance="b"))
    assert answer == classic.RETURNED
    assert (back.phase, back.generation) == (classic.STABLE, group.generation)
    assert classic.member(back, 2).assigned == (1,)
    assert classic.heartbeat(back, 1, group.generation) == classic.FENCED_INSTANCE
    assert classic.join(back, 1, classic.Member(instance="b"))[1] == classic.FENCED_INSTANCE


# -- KIP-848 -----------------------------------------------------------------------------------------------


def even(group: epochs.EpochGroup) -> epochs.Target:
    before = dict(enumerate(group.target))
    seats = [Seat(number, before.get(number, ())) for number in epochs.members(group)]
    return plan("uniform", seats, (group.partitions,))


def test_a_partition_is_given_on_only_when_it_was_given_up() -> None:
    group, _ = epochs.join(epochs.EpochGroup(partitions=2), 0, "", even)
    assert epochs.member(group, 0).assigned == (0, 1)
    group, _ = epochs.join(group, 1, "", even)
    newcomer = epochs.member(group, 1)
    assert (newcomer.assigned, newcomer.state) == ((), epochs.UNRELEASED)
    assert epochs.expecting(group) == [0]
    group, _ = epochs.heartbeat(group, 0, (0, 1))
    giver = epochs.member(group, 0)
    assert giver.state == epochs.UNREVOKED
    (kept,), (leaving,) = giver.assigned, giver.revoking
    assert epochs.heartbeat(group, 0, (0, 1))[0] == group
    assert epochs.heartbeat(group, 1, ())[0] == group
    group, _ = epochs.heartbeat(group, 0, (kept,))
    assert epochs.expecting(group) == [1]
    group, _ = epochs.heartbeat(group, 1, ())
    assert epochs.member(group, 1) == epochs.EpochMember("", group.epoch, epochs.STABLE, (leaving,))
    assert epochs.expecting(group) == []


def test_an_instance_that_is_still_there_is_not_replaced() -> None:
    group, _ = epochs.join(epochs.EpochGroup(partitions=2), 0, "a", even)
    assert epochs.join(group, 1, "a", even) == (group, epochs.UNRELEASED_INSTANCE)
    away = epochs.leave(group, 0, even)
    assert epochs.may_commit(away, 0, 1) == epochs.STALE_EPOCH
    back, answer = epochs.join(away, 1, "a", even)
    assert answer == epochs.OK
    assert epochs.member(back, 1).assigned == (0, 1)
    assert back.epoch == group.epoch


def test_an_empty_group_takes_a_commit_without_an_epoch() -> None:
    group, _ = epochs.join(epochs.EpochGroup(partitions=1), 0, "", even)
    assert epochs.may_commit(group, 7, -1) == epochs.UNKNOWN_MEMBER
    empty = epochs.remove(group, 0, even)
    assert epochs.may_commit(empty, 0, -1) == epochs.OK


# -- the consumer ------------------------------------------------------------------------------------------


def test_a_poll_returns_at_most_a_batch() -> None:
    consumer = fetch(Consumer((0, 3, -1)), (2, 9, 5), 4)
    assert consumer == Consumer((2, 5, -1), (Span(0, 0, 2), Span(1, 3, 5)))
    left, done = process(consumer, 3)
    assert (left.hand, done) == ((Span(1, 4, 5),), (Span(0, 0, 2), Span(1, 3, 4)))


@pytest.mark.parametrize(
    ("reset", "fresh", "below", "beyond"),
    [
        ("earliest", 10, 10, 10),
        ("latest", 20, 20, 20),
        ("none", NO_OFFSET, OUT_OF_RANGE, OUT_OF_RANGE),
        ("by_duration", 15, 15, 15),
    ],
)
def test_the_situations_of_a_reset(reset: str, fresh: object, below: object, beyond: object) -> None:
    assert start(reset, 12, 10, 20, 15) == 12
    assert start(reset, -1, 10, 20, 15) == fresh
    assert start(reset, 3, 10, 20, 15) == below
    assert start(reset, 99, 10, 20, 15) == beyond


def test_small_numbers() -> None:
    assert start("by_duration", -1, 0, 0, None) is None
    assert (readable(9, 4, False), readable(9, 4, True)) == (9, 4)
    assert offsets_expire_after(0, 60_000, 5_000) == (60_000, 65_000)
    assert fetch_wait_ms(1_000, 1, 500) == 0
    assert fetch_wait_ms(1_000, 100, 500) == 100
    assert fetch_wait_ms(0, 100, 500) == fetch_wait_ms(1, 100_000, 500) == 500


# -- the clock ---------------------------------------------------------------------------------------------


def test_a_slow_batch_storms() -> None:
    """Batches that take longer than max.poll.interval.ms: every member is dropped, nothing gets done once."""
    setup = GroupSetup(
        partitions=2,
        strategies=("range",),
        max_poll_interval_ms=4_000,
        heartbeat_ms=1_000,
        session_ms=6_000,
        initial_delay_ms=0,
        reading=Reading(10, AFTER),
        process_ms=500,
    )
    run = GroupRun(setup, GRID[0])
    for partition in (0, 1):
        run.produce(partition, 20)
    run.start("c1")
    run.start("c2", delay=100)
    run.wait(120_000)
    assert max(run.committed) < 20
    assert max(times for row in run.times for times in row.values()) > 3
    assert sum(entry.what == "left-slow" for entry in run.history) > 10


def test_initial_delay_gathers_members() -> None:
    def rebalances(delay: int) -> int:
        run = GroupRun(GroupSetup(partitions=8, initial_delay_ms=delay), GRID[0], records=False)
        nodes = [run.start(f"c{n}", delay=100 * n) for n in range(8)]
        run.until(lambda: all(len(node.owned) == 1 for node in nodes))
        return run.side.group.generation

    assert rebalances(3_000) == 1
    assert rebalances(0) > 1


def test_an_idle_hour_costs_nothing() -> None:
    run = GroupRun(GroupSetup(partitions=4), GRID[0], records=False)
    nodes = [run.start("c1"), run.start("c2")]
    run.until(lambda: all(len(node.owned) == 2 for node in nodes))
    before = run.clock.events
    run.wait(3_600_000)
    assert run.clock.events - before < 5


@pytest.mark.parametrize(("pause", "evicted"), [(4_000, False), (9_000, True)])
def test_a_pause_longer_than_the_session_evicts(pause: int, evicted: bool) -> None:
    setup = GroupSetup(
        partitions=2, strategies=("range",), session_ms=6_000, heartbeat_ms=1_000, initial_delay_ms=0
    )
    run = GroupRun(setup, GRID[2], records=False)
    nodes = [run.start("c1"), run.start("c2", delay=50)]
    run.until(lambda: all(len(node.owned) == 1 for node in nodes))
    count = len(run.history)
    run.pause(nodes[0], pause)
    run.wait(60_000)
    assert any(entry.what == "lost" for entry in run.history[count:]) is evicted
    assert [len(node.owned) for node in nodes] == [1, 1]
