"""Laws of schedules that no recording holds: what may not depend on names, and what one fault may not do."""

from __future__ import annotations

import json
from itertools import permutations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.sim.ranges import SECOND
from advisor.sim.timeline import Run, Step
from advisor.sim.timeline_table import GRID
from tests.oracles import failover
from tests.oracles.test_failover import DATA
from tests.sim.test_timeline import AWAIT, CLIENT, CLUSTER, LOAD, UNSAFE, setup, sleep

NUMBERED = ("sigstop", "sigcont", "kill9", "term", "start", "wipe")
PATIENT = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def renamed(case: dict, names: dict[int, int]) -> dict:
    """The recorded case with other broker ids: another order of the same replicas."""
    given = case["input"]
    steps = []
    for name, *arguments in given["schedule"]:
        if name in NUMBERED:
            arguments = [names[arguments[0]], *arguments[1:]]
        elif name.startswith("wait_"):
            arguments = [[names[broker] for broker in arguments[0]], *arguments[1:]]
        steps.append([name, *arguments])
    topic = {**given["topic"], "replicas": [names[broker] for broker in given["topic"]["replicas"]]}
    return {**case, "input": {**given, "topic": topic, "schedule": steps}}


def test_names_of_brokers_mean_nothing():
    with open(DATA, encoding="utf-8") as file:
        recorded = [json.loads(line) for line in file]
    families = {case["id"].split("/")[0]: case for case in recorded if case["id"][0] in "ABCJ"}
    orders = list(permutations((1, 2, 3)))[1:]
    for place, case in enumerate(families.values()):
        names = dict(zip((1, 2, 3), orders[place % len(orders)], strict=True))
        assert failover.keys(renamed(case, names)) == failover.keys(case), case["id"]


@PATIENT
@given(
    st.sampled_from(["kill9", "sigstop", "term"]),
    st.integers(0, 1),
    st.sampled_from([1, 3, 9, 20]),
    st.sampled_from([2, 6, 9]),
    st.sampled_from(GRID),
)
def test_two_replicas_lose_nothing_to_one_fault(fault, broker, seconds, session, phase):
    """acks=all, both required, whatever the session: records wait, and none is lost or doubled."""
    made = setup(replicas=2)
    made = made._replace(
        cluster=made.cluster._replace(session_timeout=session * SECOND, heartbeat_interval=SECOND // 2)
    )
    undo = "sigcont" if fault == "sigstop" else "start"
    schedule = [LOAD, sleep(0.5), Step(fault, broker), sleep(seconds), Step(undo, broker), AWAIT]
    outcome = Run(made, phase).play(schedule)
    assert outcome[:6] == (400, 400, 0, 0, 0, 0)


@PATIENT
@given(st.sampled_from(["kill9", "term"]), st.booleans(), st.sampled_from(GRID))
def test_one_replica_comes_back_with_all_it_acknowledged(fault, elr, phase):
    """A replication factor of 1, the process alone being lost: acks=1 and acks=all keep every record."""
    for client in (CLIENT, UNSAFE):
        made = setup(client, replicas=1, min_isr=1, elr=elr)
        made = made._replace(cluster=CLUSTER._replace(others=2))
        schedule = [LOAD, sleep(0.5), Step(fault, 0), sleep(2), Step("start", 0), AWAIT]
        assert Run(made, phase).play(schedule)[:3] == (400, 400, 0)


@PATIENT
@given(st.permutations([0, 1, 2]), st.booleans(), st.sampled_from(GRID))
def test_all_brokers_killed_and_back_in_any_order(order, elr, phase):
    kills = [Step("kill9", broker) for broker in (0, 1, 2)]
    starts = [step for broker in order for step in (Step("start", broker), sleep(2))]
    outcome = Run(setup(elr=elr), phase).play([LOAD, sleep(0.5), *kills, sleep(3), *starts, AWAIT])
    assert outcome[:5] == (400, 400, 0, 0, 0)
