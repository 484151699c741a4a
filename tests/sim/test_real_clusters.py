"""What real three-broker clusters did (4.3.1 with ELR, 3.9.1 without, 2.8.2 on ZooKeeper), done by the model.

The accident: both followers stop one after the other, the leader goes on alone, takes a record and dies; the
followers return, then the leader. A record was written to all three before. Who leads while the old leader
is away, and which acknowledged records are gone in the end, is what was seen on the clusters.
"""

from __future__ import annotations

import pytest

from advisor.sim import Bounds, Event, Policy, enabled, start, step
from advisor.sim.partition.state import Model, State, in_office, view

KAFKA = {
    "4.3.1": Policy(elr=True),
    "3.9.1": Policy(),
    "2.8.2": Policy(min_isr_capped=False, hw_waits_for_min_isr=False),
}
OFFLINE = -1
ALL, ONE = {"acks": "all"}, {"acks": "1"}


class Cluster:
    def __init__(self, policy: Policy) -> None:
        faults = {"clean_stop": 2, "broker_crash": 3, "disk_wiped": 1}
        self.model: Model
        self.state: State
        self.model, self.state = start(policy, Bounds(3, 2, 9), faults)

    def do(self, *events: Event) -> None:
        for event in events:
            assert event in enabled(self.model, self.state), event.text()
            self.state, _ = step(self.model, self.state, event)

    def recover(self) -> None:
        """Everything that brokers and controller do by themselves, with nobody coming back."""
        while True:
            possible = [e for e in enabled(self.model, self.state) if e.name in ("fetch", "fence", "elect")]
            if not possible:
                return
            self.do(possible[0])

    def lost(self) -> list[int]:
        leader = self.state.replicas[in_office(self.state)]
        kept = {record for _, record in leader.log}
        return [r for r in range(self.state.sent) if self.state.acked >> r & 1 and r not in kept]


def accident(policy: Policy, stop: str, end: str) -> tuple[int, list[int], bool]:
    """Who leads while the old leader is away, the records lost, whether the lone leader took the write."""
    cluster = Cluster(policy)
    cluster.do(Event("produce", value=0))
    cluster.recover()
    assert cluster.state.acked == 1
    for follower in (1, 2):
        cluster.do(Event(stop, follower))
        cluster.recover()
    written = Event("produce", value=1)
    taken = written in enabled(cluster.model, cluster.state)
    if taken:
        cluster.do(written)
    cluster.do(Event(end, 0), Event("fence", 0))
    for follower in (1, 2):
        cluster.do(Event("return", follower))
    cluster.recover()
    meanwhile = in_office(cluster.state)
    cluster.do(Event("return", 0))
    cluster.recover()
    return meanwhile, cluster.lost(), taken


@pytest.mark.parametrize(
    ("kafka", "stop", "policy", "meanwhile", "lost"),
    [
        # acks=all, min 1, unclean=false: offline until the leader is back, nothing lost
        ("4.3.1", "stop", {**ALL, "min_isr": 1}, OFFLINE, []),
        ("4.3.1", "crash", {**ALL, "min_isr": 1}, OFFLINE, []),
        ("3.9.1", "stop", {**ALL, "min_isr": 1}, OFFLINE, []),
        ("2.8.2", "stop", {**ALL, "min_isr": 1}, OFFLINE, []),
        # unclean=true: a follower leads as soon as one is back, what the leader took alone is lost
        ("4.3.1", "stop", {**ALL, "min_isr": 1, "unclean": True}, 1, [1]),
        ("4.3.1", "crash", {**ALL, "min_isr": 1, "unclean": True}, 1, [1]),
        ("3.9.1", "stop", {**ALL, "min_isr": 1, "unclean": True}, 1, [1]),
        ("2.8.2", "stop", {**ALL, "min_isr": 1, "unclean": True}, 1, [1]),
        # acks=1, min 2, unclean=false: ELR elects the one that left last, and counts it as clean
        ("4.3.1", "stop", {**ONE, "min_isr": 2}, 2, [1]),
        ("4.3.1", "crash", {**ONE, "min_isr": 2}, OFFLINE, []),
        ("3.9.1", "stop", {**ONE, "min_isr": 2}, OFFLINE, []),
        ("2.8.2", "stop", {**ONE, "min_isr": 2}, OFFLINE, []),
        # acks=all, min 2: refused; with ELR available without the leader
        ("4.3.1", "stop", {**ALL, "min_isr": 2}, 2, []),
        ("4.3.1", "crash", {**ALL, "min_isr": 2}, OFFLINE, []),
        ("3.9.1", "stop", {**ALL, "min_isr": 2}, OFFLINE, []),
        ("2.8.2", "stop", {**ALL, "min_isr": 2}, OFFLINE, []),
        ("4.3.1", "crash", {**ONE, "min_isr": 2, "unclean": True}, 1, [1]),
        ("3.9.1", "stop", {**ONE, "min_isr": 2, "unclean": True}, 1, [1]),
        ("2.8.2", "stop", {**ONE, "min_isr": 2, "unclean": True}, 1, [1]),
    ],
)
def test_the_leader_dies_alone(
    kafka: str, stop: str, policy: dict[str, object], meanwhile: int, lost: list[int]
) -> None:
    full = KAFKA[kafka]._replace(**policy)
    led, gone, taken = accident(full, stop, "crash")
    assert (led, gone) == (meanwhile, lost)
    assert taken == (full.acks == "1" or full.min_isr == 1)


@pytest.mark.parametrize(
    ("kafka", "min_isr", "lost"),
    [("4.3.1", 1, [0, 1]), ("4.3.1", 2, []), ("3.9.1", 1, [0, 1]), ("3.9.1", 2, [0])],
)
def test_the_last_in_sync_replica_loses_its_disk(kafka: str, min_isr: int, lost: list[int]) -> None:
    """With everybody else's copy at hand: all truncate to the empty log of whoever was in sync last."""
    _, gone, _ = accident(KAFKA[kafka]._replace(min_isr=min_isr), "stop", "wipe")
    assert gone == lost


@pytest.mark.parametrize(("kafka", "hw"), [("4.3.1", 1), ("3.9.1", 1), ("2.8.2", 2)])
def test_what_a_consumer_sees_below_the_minimum(kafka: str, hw: int) -> None:
    """acks=1, min 2, the leader alone: from 3.7 on the acknowledged record stays invisible."""
    cluster = Cluster(KAFKA[kafka]._replace(acks="1", min_isr=2))
    cluster.do(Event("produce", value=0))
    cluster.recover()
    cluster.do(Event("stop", 1), Event("stop", 2), Event("produce", value=1))
    assert view(cluster.model, cluster.state)["hw"] == hw
