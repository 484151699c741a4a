"""Runs as timed rows: golden tables a person reads, and the same outcome as the run that is not recorded.

`python -m tests.sim.test_timeline_record` writes the golden files anew.
"""

from __future__ import annotations

import json
import os
import sys
from functools import cache

import jsonschema
import pytest

from advisor.sim.ranges import SECOND
from advisor.sim.timeline import Run, Setup, Step
from advisor.sim.timeline_policy import ClientPolicy
from advisor.sim.timeline_record import Record, record
from advisor.sim.timeline_table import GRID
from tests.sim.test_timeline import AWAIT, CLIENT, LOAD, UNSAFE, setup, sleep

HERE = os.path.dirname(__file__)
GOLDEN = os.path.join(HERE, "timelines")
SCHEMA = os.path.join(HERE, "..", "..", "advisor", "schemas", "report.schema.json")
BACK = Step("wait_isr", [0, 1, 2], timeout=60 * SECOND)
FROZEN = [
    Step("send", 5),
    AWAIT,
    sleep(1),
    Step("sigstop", 2),
    sleep(1),
    Step("send", 10),
    sleep(8),
    Step("sigcont", 2),
    BACK,
]


def patient(client: ClientPolicy = CLIENT) -> Setup:
    """With the long session of the cluster that was measured, so that nobody is fenced."""
    made = setup(client)
    return made._replace(cluster=made.cluster._replace(session_timeout=60 * SECOND))


def bursty(**policy: object) -> Setup:
    """Scaled down: the ISR is looked after every 300 ms and a follower may lack 8 records, in bursts of 2000
    records a second. Kafka's own limits were 10 s and 4000."""
    made = setup(UNSAFE._replace(linger=0), elr=False, min_isr=1, hw_waits_for_min_isr=False)
    return made._replace(cluster=made.cluster._replace(**{"lag_time_max": 300_000, **policy}))


BURST = [Step("send", 20, gap=2_000), AWAIT, sleep(1), *[Step("send", 500, gap=500), sleep(0.6)] * 4, AWAIT]


@cache
def stories() -> dict[str, Record]:
    """By the name of its file."""
    impatient = CLIENT._replace(delivery_timeout=2 * SECOND, request_timeout=SECOND)
    outage = [LOAD, sleep(1), Step("kill9", 0), sleep(8), Step("start", 0), AWAIT]
    return {
        "frozen-follower": record(patient(UNSAFE), FROZEN, brokers=(1, 2, 3)),
        "frozen-follower-acks-all": record(patient(), FROZEN, brokers=(1, 2, 3)),
        "burst-by-messages": record(bursty(lag_messages=8), BURST, GRID[1], brokers=(1, 2, 3)),
        "burst-by-time": record(bursty(), BURST, GRID[1], brokers=(1, 2, 3)),
        "leader-killed": record(setup(impatient), outage, brokers=(3, 1, 2)),
    }


def lines(told: Record) -> list[str]:
    table = []
    for row in told.rows:
        state, producer = row["state"], row["state"]["clients"]["producer"]
        leader = "-" if state["leader"] is None else f"b{state['leader']}"
        isr = ",".join(f"b{broker}" for broker in state["isr"])
        ends = "  ".join(f"b{each['id']} {each['leo']}/{each['hw']}" for each in state["replicas"])
        cells = [
            f"{row['t_ms']:6}  {row['event']['text']:22}",
            f"leader {leader:2} epoch {state['epoch']}  isr {isr:8}  hw {state['hw']:3}  {ends}",
            f"sent {producer['sent']} acked {producer['acked']} waiting {producer['waiting']}",
            "; ".join(row["effects"]),
        ]
        table.append("  ".join(cells).rstrip())
    return [*table, f"outcome {dict(told.outcome._asdict())}"]


@pytest.mark.parametrize("name", sorted(stories()))
def test_golden_timelines(name):
    with open(os.path.join(GOLDEN, f"{name}.txt"), encoding="utf-8") as file:
        assert file.read().splitlines() == lines(stories()[name])


def test_a_frozen_follower_holds_the_high_watermark_as_measured():
    """A real 4.3 cluster: LEO 15, 15, 5 and HW 5 for 1.0 to 1.5 of replica.lag.time.max.ms, then HW 15."""
    for phase in GRID:
        rows = record(patient(UNSAFE), FROZEN, phase).rows
        frozen = next(row["t_ms"] for row in rows if row["event"]["name"] == "sigstop")
        (shrunk,) = (row for row in rows if row["event"]["name"] == "shrink")
        assert 4000 <= shrunk["t_ms"] - frozen <= 6000
        before = [row for row in rows if frozen < row["t_ms"] < shrunk["t_ms"] and row["state"]["hw"]]
        leos = [replica["leo"] for replica in before[-1]["state"]["replicas"]]
        assert leos[:2] == [15, 15]
        # A fetch parked when it froze may bring it one batch, which it acts on when it thaws.
        assert leos[2] == before[-1]["state"]["hw"] == 5 or phase.parked_fetch
        assert shrunk["state"]["hw"] == 15


def test_bursts_make_an_isr_by_messages_flap_and_one_by_time_not():
    for name, least in (("burst-by-messages", 4), ("burst-by-time", 0)):
        rows = stories()[name].rows
        shrunk = [row["t_ms"] for row in rows if row["event"]["name"] == "shrink"]
        joined = [row["t_ms"] for row in rows if any("joined" in effect for effect in row["effects"])]
        assert len(shrunk) == len(joined) >= least
        assert bool(shrunk) == bool(least)
        # Nobody was slow: each is back with the end of the burst.
        assert all(back - left < 250 for left, back in zip(shrunk, joined, strict=True))
        assert rows[-1]["state"]["isr"] == [1, 2, 3]


def test_a_recorded_run_is_the_run():
    schedule = [LOAD, sleep(1), Step("kill9", 0), sleep(1), Step("term", 1), Step("start", 1), AWAIT]
    for client in (CLIENT, UNSAFE):
        for phase in GRID:
            assert record(setup(client), schedule, phase).outcome == Run(setup(client), phase).play(schedule)


def test_rows_have_the_shape_of_the_report():
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    rows = stories()["leader-killed"].rows
    steps = {"$defs": schema["$defs"], "type": "array", "items": {"$ref": "#/$defs/step"}}
    jsonschema.validate(list(rows), steps)
    assert [row["t_ms"] for row in rows] == sorted(row["t_ms"] for row in rows)


def test_rows_are_few_however_many_records():
    schedule = [Step("send", 20_000, gap=1_000), sleep(5), Step("term", 1), Step("start", 1), AWAIT]
    assert len(record(setup(), schedule).rows) < 60


if __name__ == "__main__":
    os.makedirs(GOLDEN, exist_ok=True)
    for name, told in stories().items():
        with open(os.path.join(GOLDEN, f"{name}.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines(told)) + "\n")
    sys.exit(0)
