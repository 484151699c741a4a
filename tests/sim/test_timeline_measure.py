"""A run in figures: pauses, refusals, what is stranded; and a load that is played at a lower pace."""

from __future__ import annotations

import pytest

from advisor.answers import outage
from advisor.sim.partition_state import Policy
from advisor.sim.ranges import MILLISECOND, SECOND
from advisor.sim.timeline import Run, Setup, Step
from advisor.sim.timeline_measure import TIMEOUTS, Known, measure
from advisor.sim.timeline_policy import ClientPolicy
from advisor.sim.timeline_replicas import ClusterPolicy
from advisor.sim.timeline_table import GRID

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


OUTAGES = {
    "crash": [
        sending(400, 25 * MILLISECOND),
        Step("sleep", timeout=2 * SECOND),
        Step("kill9", 0),
        Step("wait_leader", [1, 2], timeout=12 * SECOND),
        Step("sleep", timeout=SECOND),
    ],
    "silence": [
        sending(400, 25 * MILLISECOND),
        Step("sleep", timeout=SECOND),
        *(Step("sigstop", broker) for broker in range(3)),
        Step("sleep", timeout=5 * SECOND),
        *(Step("sigcont", broker) for broker in range(3)),
        Step("sleep", timeout=2 * SECOND),
    ],
}


@pytest.mark.parametrize("late", [False, True], ids=["java", "librdkafka"])
@pytest.mark.parametrize("outage", OUTAGES)
def test_a_timeout_that_no_run_comes_to_asks_for_no_other_run(outage, late):
    known, schedule, grid = Known(), OUTAGES[outage], GRID[::5]
    # From a timeout that runs out during the outage, over those that the end of a run may meet, to many
    # minutes; memory for a second of records, so that send() waits as well.
    seconds = (2, 6, 12, 16, 20, 26, 40, 120, 600)
    told = set()
    for name in TIMEOUTS:
        for value in seconds:
            given = {**dict.fromkeys(TIMEOUTS, 300 * SECOND), name: value * SECOND}
            patient = setup(batches_late=late, buffer_memory=200_000, batch_size=4000, linger=0, **given)
            found = known.measure(patient, schedule, grid)
            assert found == measure(patient, schedule, grid), (name, value)
            told.add(tuple(found))
    asked = len(TIMEOUTS) * len(seconds) * len(grid)
    assert len(grid) < known.played < asked / 2, "those that matter are played, the others are not"
    assert len(told) > 2, "some of them matter"
