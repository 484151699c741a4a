"""A run in figures: pauses, refusals, what is stranded; and a load that is played at a lower pace."""

from __future__ import annotations

import pytest

from advisor.answers import outage
from advisor.sim.partition_state import Policy
from advisor.sim.timeline import Run, Setup, Step
from advisor.sim.timeline_measure import measure
from advisor.sim.timeline_policy import ClientPolicy
from advisor.sim.timeline_replicas import ClusterPolicy
from advisor.sim.timeline_table import GRID, MILLISECOND, SECOND

CLUSTER = ClusterPolicy(6 * SECOND, 4 * SECOND, heartbeat_interval=1 * SECOND)


def setup(replicas=3, min_isr=2, **client):
    acks = client.get("acks", "all")
    return Setup(Policy(replicas=replicas, acks=acks, min_isr=min_isr), CLUSTER, ClientPolicy(**client))


def sending(records, gap=10 * MILLISECOND, size=1000):
    return Step("send", records, gap=gap, size=size)


def test_nobody_leads_until_the_session_of_a_dead_leader_has_run_out():
    schedule = [
        sending(1500),
        Step("sleep", timeout=2 * SECOND),
        Step("kill9", 0),
        Step("sleep", timeout=10 * SECOND),
    ]
    for one in measure(setup(), schedule):
        assert 4.9 * SECOND <= one.stopped <= 7 * SECOND
        assert (one.failed, one.blocked, one.stranded) == ((), 0, 0)
        assert (one.leaders, one.leader, one.going) == ((0, 1), 1, True)


def test_below_the_minimum_writes_do_not_go_on():
    schedule = [
        sending(3000),
        Step("sleep", timeout=2 * SECOND),
        Step("kill9", 1),
        Step("kill9", 2),
        Step("sleep", timeout=20 * SECOND),
    ]
    for one in measure(setup(), schedule):
        assert (one.going, one.leader) == (False, 0)
        assert one.stopped >= 18 * SECOND


def test_what_only_a_dead_broker_holds_is_stranded():
    schedule = [sending(200), Step("sleep", timeout=4 * SECOND), Step("kill9", 0)]
    for one in measure(setup(replicas=1, min_isr=1), schedule):
        assert one.stranded == 200
        assert one.outcome.acked_lost == 0, "it comes back, and its log with it"


def test_send_waits_for_memory_and_then_refuses():
    """As seen on 4.3.1: 64 kB are full in half a second; while a leader is frozen, one refusal a second."""
    client = {"buffer_memory": 65536, "max_block": SECOND, "delivery_timeout": 60 * SECOND}
    schedule = [
        sending(900),
        Step("sleep", timeout=2 * SECOND),
        Step("sigstop", 0),
        Step("sleep", timeout=5 * SECOND),
        Step("sigcont", 0),
        Step("sleep", timeout=2 * SECOND),
    ]
    for one in measure(setup(**client), schedule):
        ((error, refused),) = one.failed
        assert (error, refused) in {("BufferExhaustedException", 4), ("BufferExhaustedException", 5)}
        assert 4 * SECOND <= one.blocked <= 5.3 * SECOND


def test_a_higher_rate_is_played_at_a_lower_pace():
    """As many seconds of records expire, and memory is full as soon, whatever the rate."""

    def remember(name, mark, compute):
        return compute()

    short = setup(delivery_timeout=3 * SECOND, request_timeout=SECOND)
    loads = [outage.Load(rate, rate, 1000, True, False, ()) for rate in (40.0, 400.0, 40_000.0)]
    spans = [outage.play(short, outage.crash(short), load, remember).failed for load in loads]
    for (least, most), load in zip(spans, loads, strict=True):
        assert 1.5 <= least / load.rate <= most / load.rate <= 5.5

    small = setup(buffer_memory=1 << 20, max_block=60 * SECOND, delivery_timeout=120 * SECOND)
    for factor in (1, 10, 100):
        load = outage.Load(400.0 * factor, 400.0 * factor, 1000, True, True, ())
        client = small.client._replace(buffer_memory=factor << 20)
        played, schedule, by = outage.prepared(small._replace(client=client), outage.crash(small), load)
        assert by == pytest.approx(load.rate * schedule[0].gap / SECOND, rel=0.01)
        real, scaled = (
            outage.lasts(client, load),
            outage.lasts(played.client, load._replace(rate=load.rate / by)),
        )
        assert scaled == pytest.approx(real, rel=0.15)


def test_a_slow_stream_ends():
    """Between two records there is room for many strides of nothing: none is taken."""
    run = Run(setup(), GRID[0])
    run.play([sending(30, gap=SECOND), Step("await", timeout=60 * SECOND)])
    assert run.client.sent == 30
    assert run.clock.events < 3000


def test_news_of_an_older_leader_epoch_is_no_news():
    """Two retries outlast a clean stop: the producer does not go back to the leader it was sent away from."""
    client = {"retries": 2, "idempotence": False}
    schedule = [
        sending(600),
        Step("sleep", timeout=2 * SECOND),
        Step("term", 0),
        Step("sleep", timeout=2 * SECOND),
    ]
    assert {one.failed for one in measure(setup(**client), schedule)} == {()}
