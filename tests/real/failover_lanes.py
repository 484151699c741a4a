"""`python -m tests.real.failover_lanes [SCHEDULES] [SEED]`: random faults on a real cluster.

A schedule is drawn from the simulator's own words (send, freeze, kill, stop, start, sleep) and played once on
three brokers for several lanes at a time, each a topic and a producer with settings of its own. What came of
each lane must be among the outcomes that the simulator gives for the same schedule, at the times at which its
steps really began. The counts of the first contact are printed and kept; a lane that does not fit is written
to misfits.jsonl, as `python -m tests.oracles failover FILE` takes it.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from advisor.real.cluster.cluster import Cluster
from advisor.real.cluster.driver import Driver, DriverError
from advisor.real.cluster.jars import classpath, find_jars
from advisor.real.cluster.processes import Processes

from ..oracles.failover import compare, keys
from .results import note, result

KAFKA = "4.3.1"
IDS = (1, 2, 3)
LANES = 6
BROKER = {
    "broker.session.timeout.ms": 6000,
    "broker.heartbeat.interval.ms": 1000,
    "replica.lag.time.max.ms": 4000,
    "auto.leader.rebalance.enable": "false",
}
MISFITS = Path(__file__).parent / "misfits.jsonl"


def lane(dice: random.Random) -> dict[str, Any]:
    """A topic and a producer: what decides about loss, order and copies, drawn."""
    producer: dict[str, Any] = {
        "acks": dice.choice(["0", "1", "1", "all", "all", "all"]),
        "request.timeout.ms": dice.choice([1000, 2000]),
        "delivery.timeout.ms": dice.choice([3000, 8000, 60000]),
        "retry.backoff.ms": 100,
        "metadata.max.age.ms": 3000,
    }
    if producer["acks"] == "all" and dice.random() < 0.5:
        producer["enable.idempotence"] = "false"
    if dice.random() < 0.3:
        producer["max.in.flight.requests.per.connection"] = 1
    topic = {
        "min.insync.replicas": dice.choice([1, 2, 2, 3]),
        "unclean.leader.election.enable": dice.choice(["false", "false", "true"]),
        "rf": 3,
        "replicas": list(IDS),
    }
    return {"topic": topic, "producer": producer, "broker": BROKER}


def schedule(dice: random.Random) -> list[list[Any]]:
    """Faults one after the other, records between them, and everybody back at the end."""
    steps: list[list[Any]] = [["send", 5, {"size": 100}], ["await", 10], ["sleep", 0.5]]
    state = dict.fromkeys(IDS, "up")
    for _ in range(dice.randint(2, 4)):
        broker = dice.choice(IDS)
        if state[broker] == "up":
            word = dice.choice(["sigstop", "sigstop", "kill9", "kill9", "term"])
            # Somebody is left to answer.
            if sum(one == "up" for one in state.values()) == 1:
                continue
            state[broker] = "frozen" if word == "sigstop" else "down"
        elif state[broker] == "frozen":
            word, state[broker] = "sigcont", "up"
        else:
            word, state[broker] = "start", "up"
        steps += [[word, broker], ["sleep", dice.choice([0.3, 1.2, 3, 8])]]
        if dice.random() < 0.7:
            steps += [["send", dice.choice([1, 5, 10]), {"size": 100}], ["await", dice.choice([0.8, 2, 10])]]
    for broker, how in state.items():
        if how != "up":
            steps.append(["sigcont" if how == "frozen" else "start", broker])
    return [*steps, ["wait_isr", list(IDS), 60], ["send", 5, {"size": 100}], ["await", 70]]


class Lanes:
    """One schedule on a cluster that is there already."""

    def __init__(
        self, cluster: Cluster, admin: Driver, clients: Driver, name: str, drawn: list[dict[str, Any]]
    ) -> None:
        self.cluster, self.admin, self.clients = cluster, admin, clients
        self.topics = [f"{name}-{number}" for number in range(len(drawn))]
        self.sent = 0
        for topic, one in zip(self.topics, drawn, strict=True):
            settings = {key: str(value) for key, value in one["topic"].items() if "." in key}
            admin.tell("topic", topic=topic, replicas=[list(IDS)], settings=settings)
            given = {key: str(value) for key, value in one["producer"].items()}
            clients.tell("producer", id=topic, settings={**given, "bootstrap.servers": cluster.address()})
            clients.tell("partitions", id=topic, topic=topic)
        for topic in self.topics:
            cluster.wait_for(topic, lambda state: len(state.isr) == len(IDS), 30)

    def play(self, steps: list[list[Any]]) -> list[list[int]]:
        """When each step began and ended."""
        times = []
        begun = time.monotonic()
        for step in steps:
            at = time.monotonic()
            self._do(step)
            times.append([round((one - begun) * 1000) for one in (at, time.monotonic())])
        return times

    def _do(self, step: list[Any]) -> None:
        match step:
            case ["send", count, more]:
                values = [f"r{number}" for number in range(self.sent, self.sent + count)]
                self.sent += count
                for topic in self.topics:
                    self.clients.hand_over("send", id=topic, topic=topic, partition=0, values=values, **more)
            case ["await", seconds]:
                wanted = self.sent * len(self.topics)
                mine = set(self.topics)
                self.clients.wait_for(lambda events: _answered(events, mine) >= wanted, seconds)
            case ["sleep", seconds]:
                time.sleep(seconds)
            case ["sigstop", broker]:
                self.cluster.freeze(broker)
            case ["sigcont", broker]:
                self.cluster.resume(broker)
            case ["kill9", broker]:
                self.cluster.kill(broker)
            case ["term", broker]:
                self.cluster.stop(broker)
            case ["start", broker]:
                self.cluster.restart(broker)
            case ["wait_isr", wanted, seconds]:
                for topic in self.topics:
                    self.cluster.wait_for(topic, lambda state: sorted(state.isr) == wanted, seconds)

    def outcomes(self) -> Iterator[dict[str, Any]]:
        for topic in self.topics:
            answer = self.admin.tell(
                "read",
                within=90,
                topic=topic,
                settings={"bootstrap.servers": self.cluster.address(), "group.id": "r"},
            )
            log = answer["records"]["0"]
            acked = [one["record"] for one in self.clients.told("acked", id=topic)]
            failed = self.clients.told("failed", id=topic)
            firsts = [int(one[1:]) for one in dict.fromkeys(log)]
            yield {
                "determinism": "single-run",
                "sent": self.sent,
                "acked": len(acked),
                "acked_lost": sum(one not in log for one in acked),
                "failed_but_readable": sum(one["record"] in log for one in failed),
                "duplicates": len(log) - len(set(log)),
                "descents": sum(a > b for a, b in pairwise(firsts)),
                "errors": sorted({one["error"] for one in failed}),
            }


def _answered(events: Any, topics: set[str]) -> int:
    return sum(one["event"] in ("acked", "failed") and one["id"] in topics for one in events)


def recorded(schedules: int, seed: int, tell: Any = print) -> Iterator[dict[str, Any]]:
    """The lanes of so many schedules, as recordings have them."""
    path = classpath(find_jars(KAFKA, fetch=True))
    dice = random.Random(seed)
    with Processes() as processes:
        cluster = Cluster(processes, path, IDS, {key: str(value) for key, value in BROKER.items()})
        cluster.start()
        admin = Driver(processes, path, "admin")
        admin.tell("admin", settings={"bootstrap.servers": cluster.address()})
        for number in range(schedules):
            drawn = [lane(dice) for _ in range(LANES)]
            steps = schedule(dice)
            clients = Driver(processes, path, f"clients-{number}")
            try:
                lanes = Lanes(cluster, admin, clients, f"s{number}", drawn)
                times = lanes.play(steps)
                found = list(lanes.outcomes())
            except DriverError as error:
                tell(f"schedule {number} was not played to its end: {error}")
                return
            finally:
                clients.kill()
            for place, (one, output) in enumerate(zip(drawn, found, strict=True)):
                given = {**one, "schedule": steps, "times_ms": [times]}
                yield {
                    "kind": "failover",
                    "version": KAFKA,
                    "id": f"random-{seed}/{number}/{place}",
                    "input": given,
                    "output": output,
                }


def main(words: list[str]) -> int:
    schedules = int(words[0]) if words else 3
    seed = int(words[1]) if len(words) > 1 else int(time.time())
    print(f"seed {seed}, {schedules} schedules of {LANES} lanes", flush=True)
    busy = os.getloadavg()[0]
    misfits, sizes, count = [], [], 0
    for case in recorded(schedules, seed):
        count += 1
        sizes.append(len(keys(case)))
        difference = compare(case)
        if difference is not None:
            misfits.append(case)
            print(f"{case['id']}: {difference}\n  {json.dumps(case['input'])}", flush=True)
            with MISFITS.open("a") as file:
                file.write(json.dumps(case) + "\n")
    agree = count - len(misfits)
    mean = sum(sizes) / len(sizes) if sizes else 0
    load = max(busy, os.getloadavg()[0])
    print(f"{agree} of {count} lanes agree, mean set size {mean:.2f}, load average {load:.1f}")
    note(
        result(
            "failover lanes",
            "faults drawn at random, on a real cluster",
            KAFKA,
            count,
            agree,
            seed,
            mean,
            load,
        )
    )
    return 1 if misfits else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
