"""The transition rules on a clock: laws that hold for every schedule, and a few runs a person can follow."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.sim import ranges
from advisor.sim import timeline_table as table
from advisor.sim.partition_state import Policy
from advisor.sim.timeline import Run, Setup, Step, outcomes
from advisor.sim.timeline_clock import Clock
from advisor.sim.timeline_policy import ClientPolicy
from advisor.sim.timeline_replicas import ClusterPolicy

MILLISECOND, SECOND = ranges.MILLISECOND, ranges.SECOND
CLUSTER = ClusterPolicy(session_timeout=6 * SECOND, lag_time_max=4 * SECOND, heartbeat_interval=SECOND)
CLIENT = ClientPolicy(request_timeout=2 * SECOND, delivery_timeout=60 * SECOND, metadata_max_age=3 * SECOND)
UNSAFE = CLIENT._replace(acks="1", idempotence=False)
LOAD = Step("send", 400, gap=10 * MILLISECOND)
AWAIT = Step("await", timeout=60 * SECOND)


def sleep(seconds: float) -> Step:
    return Step("sleep", timeout=int(seconds * SECOND))


def setup(client: ClientPolicy = CLIENT, **partition: object) -> Setup:
    policy = Policy(**{"acks": client.acks, "min_isr": 2, "elr": True, **partition})
    return Setup(policy, CLUSTER, client)


def test_events_happen_in_the_order_of_time_then_of_planning():
    clock, seen = Clock(), []
    clock.at(5, seen.append, "b")
    clock.at(5, seen.append, "c")
    clock.at(1, seen.append, "a")
    clock.run(10, lambda: False)
    assert seen == ["a", "b", "c"]
    assert clock.now == 10


def test_the_grid_meets_both_ends_of_every_range():
    chosen = {
        "heartbeat_age": ranges.HEARTBEAT_AGE,
        "fence_late": ranges.FENCE_LATE,
        "shrink_ratio": ranges.SHRINK_RATIO,
        "network": ranges.NETWORK,
        "fetch": ranges.FETCH,
        "notify_leader": ranges.NOTIFY,
        "notify_others": ranges.NOTIFY,
        "boot": ranges.BOOT,
        "stop": ranges.STOP,
        "heartbeat": ranges.HEARTBEAT,
        "catch_up": ranges.CATCH_UP,
        "death": ranges.DEATH,
        "apply": ranges.APPLY,
        "cutting": ranges.CUTTING,
        "resend": ranges.RESEND,
        "setup": ranges.SETUP,
        "pace": ranges.PACE,
        "wake": ranges.WAKE,
        "asks_leader": (False, True),
        "parked_fetch": (False, True),
        "stall": ("", table.FETCHES, table.ANSWERS),
        "stalled": ranges.STALL,
    }
    assert {*chosen, "shift"} == set(table.Phase._fields)
    for field, values in chosen.items():
        met = {getattr(phase, field) for phase in table.GRID}
        assert {min(values), max(values)} <= met <= set(values), field


def test_a_frozen_follower_holds_the_high_watermark_until_it_leaves_the_isr():
    for phase in table.GRID:
        run = Run(setup(UNSAFE), phase)
        cluster = run.cluster
        for step in (Step("send", 5), AWAIT, sleep(1), Step("sigstop", 2), sleep(1), Step("send", 10), AWAIT):
            run._step(step)
        run._wait(SECOND)
        leader, level, frozen = cluster.state.replicas
        behind = sum(len(cluster.appends[entry].records) for _, entry in frozen.log)
        # A fetch parked when it froze may have brought it one batch.
        assert behind == 5 or phase.parked_fetch
        assert leader.hw == frozen.leo < leader.leo == level.leo
        assert cluster.state.isr == 0b111
        run._wait(6 * SECOND)
        assert cluster.state.isr == 0b011
        assert cluster.state.replicas[0].hw == leader.leo


def test_a_fence_takes_a_session_timeout():
    for phase in table.GRID:
        run = Run(setup(), phase)
        run._step(Step("kill9", 0))
        begun = run.clock.now
        run._step(Step("wait_leader", [1, 2], timeout=20 * SECOND))
        waited = (run.clock.now - begun) / CLUSTER.session_timeout
        assert 0.84 <= waited <= 1.12
        assert run.cluster.state.leader == 1


def test_a_leader_killed_before_a_frozen_follower_has_the_records():
    schedule = [
        Step("send", 5),
        AWAIT,
        sleep(0.5),
        Step("sigstop", 1),
        Step("sigstop", 2),
        sleep(1.2),
        Step("send", 10),
        sleep(0.8),
        Step("kill9", 0),
        Step("sigcont", 1),
        Step("sigcont", 2),
        Step("wait_leader", [1, 2], timeout=20 * SECOND),
        AWAIT,
    ]
    assert {outcome.acked_lost for outcome in outcomes(setup(UNSAFE), [schedule])} == {10}
    assert {outcome[:3] for outcome in outcomes(setup(), [schedule])} == {(15, 15, 0)}


def test_records_expire_in_an_outage_longer_than_the_delivery_timeout():
    schedule = [LOAD, sleep(1), Step("sigstop", 0), sleep(5), Step("sigcont", 0), AWAIT]
    impatient = CLIENT._replace(delivery_timeout=2 * SECOND, request_timeout=SECOND)
    for outcome in outcomes(setup(impatient), [schedule]):
        assert outcome.errors == ("TimeoutException",)
        assert outcome.acked_lost == 0
        # Those of the outage but for its last two seconds: 300 of 400 were sent in it.
        assert 250 <= outcome.sent - outcome.acked <= 310
    assert {outcome.acked for outcome in outcomes(setup(), [schedule])} == {400}


def test_batches_that_are_due_reach_a_broker_that_is_back_before_the_question_who_leads():
    """All are killed, and the last leader is back alone, out of office: it refuses what it is sent."""
    client = CLIENT._replace(idempotence=False, rebootstraps=False)
    for phase in table.GRID:
        run = Run(setup(client, elr=False), phase)
        killed = (Step("kill9", 0), Step("kill9", 1), Step("kill9", 2))
        for step in (LOAD, sleep(1), *killed, sleep(8), Step("start", 0), sleep(12)):
            run._step(step)
        assert run.cluster.state.leader < 0
        # Once when the broker died, and once more.
        assert max(batch.attempts for batch in run.client.buffer.queues[0]) == 2


def test_a_cut_around_the_leader_leaves_the_others_together():
    for phase in table.GRID:
        run = Run(setup(), phase)
        for step in (LOAD, sleep(1), Step("isolate", "replication-only"), sleep(1), Step("kill9", 0), AWAIT):
            run._step(step)
        assert run.client.answered == 400
        assert not run.client.failures
        assert run.cluster.state.isr == 0b110


def test_a_client_behind_a_cut_hears_nothing_from_the_other_side():
    """One replica, and two brokers without one: the leader is given up, and only who can ask them knows."""
    cluster = CLUSTER._replace(others=2)
    stopped: dict[str, set[bool]] = {}
    for kind, client in product(("minority", "brokers"), (CLIENT, UNSAFE)):
        alone = Setup(Policy(acks=client.acks, min_isr=1, replicas=1, elr=True), cluster, client)
        for phase in table.GRID:
            run = Run(alone, phase)
            load = Step("send", 1_400, gap=10 * MILLISECOND)
            for step in (load, sleep(1), Step("isolate", kind), sleep(14)):
                run._step(step)
            stopped.setdefault(kind, set()).add(not run.client.idle())
    assert stopped == {"minority": {False}, "brokers": {False, True}}


def test_a_longer_wait_in_strides_is_the_same_run():
    """A healthy stretch is taken in one: what comes of a fault behind it is what comes record by record."""
    schedule = [LOAD, sleep(3), Step("kill9", 0), AWAIT]
    for client in (CLIENT, UNSAFE):
        for phase in table.GRID:
            taken, stepped = Run(setup(client), phase), Run(setup(client), phase, strides=False)
            one, other = taken.play(schedule), stepped.play(schedule)
            assert one[:3] == other[:3]
            assert bool(one.descents) == bool(other.descents)
            assert taken.clock.events < stepped.clock.events


FAULTS = st.sampled_from(["kill9", "sigstop", "term", "isolate"])


@settings(max_examples=25, deadline=None)
@given(FAULTS, st.integers(0, 2), st.integers(1, 9), st.booleans(), st.sampled_from(table.GRID))
def test_one_fault_loses_nothing_that_two_replicas_acknowledged(fault, broker, seconds, elr, phase):
    undo = {"kill9": "start", "term": "start", "sigstop": "sigcont", "isolate": "unisolate"}[fault]
    value = "brokers" if fault == "isolate" else broker
    schedule = [LOAD, sleep(0.5), Step(fault, value), sleep(seconds), Step(undo, broker), AWAIT]
    outcome = Run(setup(elr=elr), phase).play(schedule)
    assert (outcome.acked, outcome.acked_lost, outcome.duplicates, outcome.descents) == (400, 0, 0, 0)


@settings(max_examples=15, deadline=None)
@given(st.permutations([0, 1, 2]), st.sampled_from(table.GRID))
def test_a_rolling_restart_delivers_every_record(order, phase):
    schedule = [LOAD, sleep(0.5)]
    for broker in order:
        back = Step("wait_isr", [0, 1, 2], timeout=60 * SECOND)
        schedule += [Step("term", broker), Step("start", broker), back]
    outcome = Run(setup(), phase).play([*schedule, AWAIT])
    assert (outcome.acked, outcome.acked_lost, outcome.duplicates) == (400, 0, 0)


def test_the_same_schedule_gives_the_same_outcomes():
    schedule = [LOAD, sleep(1), Step("kill9", 0), AWAIT]
    assert outcomes(setup(UNSAFE), [schedule]) == outcomes(setup(UNSAFE), [schedule])


@pytest.mark.parametrize("cut", ["brokers", "minority", "controller-only", "replication-only", None])
def test_strides_change_no_outcome(cut):
    """Under leaders in office, cut off, voted out: taken in one it comes out as record by record."""
    load = LOAD._replace(value=1500)
    schedule = [load, sleep(1), Step("sigstop", 2), sleep(12), Step("sigcont", 2), AWAIT]
    if cut is not None:
        schedule = [load, sleep(1), Step("isolate", cut), sleep(12), Step("unisolate"), AWAIT]
    for made in (setup(UNSAFE), setup()):
        for phase in table.GRID[:3]:
            striding, stepping = Run(made, phase), Run(made, phase, strides=False)
            one, other = striding.play(schedule), stepping.play(schedule)
            # A record more or less, and which were in flight, is a matter of the millisecond of the fault.
            assert abs(one.acked_lost - other.acked_lost) <= 8
            assert one._replace(acked_lost=0, descents=0) == other._replace(acked_lost=0, descents=0)
            assert striding.clock.events < stepping.clock.events


def librdkafka(**changes):
    """As its settings make it: sends never wait, records become batches when they are sent."""
    ours = CLIENT._replace(
        idempotence=False, in_flight=1_000_000, batch_size=1_000_000, max_block=0, batches_late=True
    )
    return ours._replace(request_timeout=60 * SECOND, acks_timeout=30 * SECOND, **changes)


def test_records_of_librdkafka_expire_one_by_one_and_batches_of_java_whole():
    """librdkafka 2.16, nobody answering: 250 messages failed at an age of 3.0 to 4.05 s, message.timeout.ms
    being 3 s, at most once a second."""
    patience = 5 * SECOND
    schedule = [LOAD._replace(value=1200), sleep(2), Step("kill9", 0), AWAIT]
    whole = CLIENT._replace(idempotence=False, batch_size=1_000_000, delivery_timeout=patience)
    for phase in table.GRID:
        one_by_one = Run(setup(librdkafka(delivery_timeout=patience)), phase)
        outcome = one_by_one.play(schedule)
        # A session of 6 s, and news of it: what was sent in the first 2 s of the outage at the most.
        assert set(one_by_one.client.failures.values()) <= {"TimeoutException"}
        assert len(one_by_one.client.failures) <= 220
        assert outcome.sent == 1200
        together = Run(setup(whole), phase)
        together.play(schedule)
        assert len(together.client.failures) > 400


def test_a_full_queue_of_librdkafka_refuses_at_once():
    run = Run(setup(librdkafka(records_max=100)), table.GRID[0])
    run.play([LOAD._replace(value=1200), sleep(2), Step("kill9", 0), AWAIT])
    assert set(run.client.failures.values()) == {"BufferExhaustedException"}
    assert len(run.client.failures) > 300


def test_retries_of_librdkafka_go_where_they_belong():
    """A frozen leader, with everything in flight: what is sent again is in order."""
    client = librdkafka(delivery_timeout=60 * SECOND)._replace(request_timeout=2 * SECOND)
    for phase in table.GRID:
        run = Run(setup(client), phase)
        run.play([LOAD, sleep(1), Step("sigstop", 0), sleep(3), Step("sigcont", 0), AWAIT])
        stored = [batch for _, batch in run.cluster.state.replicas[run.cluster.state.leader].log]
        last = [run.cluster.appends[entry].records for entry in stored]
        resent = [record for records in last[-20:] for record in records]
        assert resent == sorted(resent)


def test_a_broker_tells_librdkafka_that_followers_are_late():
    """request.timeout.ms is the broker's to keep: the record is stored, and sent again."""
    client = librdkafka()._replace(acks_timeout=1 * SECOND)
    run = Run(setup(client, min_isr=2), table.GRID[0])
    outcome = run.play([Step("send", 5), AWAIT, Step("sigstop", 2), Step("send", 5, gap=SECOND), AWAIT])
    assert outcome.duplicates > 0
    assert outcome.acked == 10
