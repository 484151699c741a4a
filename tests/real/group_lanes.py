"""`python -m tests.real.group_lanes [LANES] [SEED]`: groups drawn at random on a real cluster.

A lane is a group of its own: a member joins, one is closed or killed and comes back, or a new group begins to
read. Protocol, assignor, members, partitions, static names, resets and counts are drawn. What came of it must
be among the outcomes that the simulator gives; times are left aside. The counts of the first contact are
printed and kept; a lane that does not fit is written to misfits.jsonl, as `python -m tests.oracles groups`
takes it.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from advisor.real.cluster.cluster import Cluster
from advisor.real.cluster.driver import Driver
from advisor.real.cluster.jars import classpath, find_jars
from advisor.real.cluster.processes import Processes

from ..oracles.groups import answers, compare
from .failover_lanes import KAFKA, MISFITS
from .results import note, result

AT_ONCE = 3
BROKER = {
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 1000,
    "group.consumer.min.session.timeout.ms": 1000,
    "group.consumer.session.timeout.ms": 6000,
    "group.consumer.min.heartbeat.interval.ms": 500,
    "group.consumer.heartbeat.interval.ms": 1000,
}
_ASSIGNORS = ("Range", "RoundRobin", "Sticky", "CooperativeSticky")
_SETTLES = 60.0
Case = dict[str, Any]


def drawn(dice: random.Random, number: int) -> Case:
    kip848 = dice.random() < 0.35
    consumer: dict[str, Any] = {"enable.auto.commit": "false", "auto.offset.reset": "earliest"}
    if kip848:
        consumer["group.protocol"] = "consumer"
    else:
        name = dice.choice(_ASSIGNORS)
        consumer["partition.assignment.strategy"] = f"org.apache.kafka.clients.consumer.{name}Assignor"
        consumer |= {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 1000}
    kind = dice.choice(["G4", "G4", "G5", "H1"])
    if kind == "G4":
        members, partitions = dice.randint(1, 3), dice.randint(2, 9)
        partitions = max(partitions, members + 1)
        steps = [f"{members} members own shares of {partitions} partitions", "one more member joins"]
    elif kind == "G5":
        partitions = dice.randint(2, 8)
        if dice.random() < 0.5:
            consumer["group.instance.id"] = "static"
        how = dice.choice(["close c2", "kill -9 c2"])
        steps = [f"2 members, {partitions} partitions", how, "restart c2 after 1 s"]
    else:
        partitions = 1
        consumer["auto.offset.reset"] = dice.choice(["earliest", "latest", "none", "by_duration:PT1H"])
        steps = [
            f"{dice.randint(1, 20)} records written",
            "new group subscribes",
            f"{dice.randint(1, 10)} more records written after assignment",
        ]
    given = {
        "protocol": "consumer" if kip848 else "classic",
        "consumer": consumer,
        "broker": BROKER,
        "steps": steps,
        "partitions": partitions,
    }
    return {"kind": "groups", "version": KAFKA, "id": f"{kind}-random/{number}", "input": given}


class Lane:
    """One group on a cluster that is there already."""

    def __init__(self, cluster: Cluster, start: Callable[[str], Driver], case: Case) -> None:
        self.cluster, self.given, self._start = cluster, case["input"], start
        self.name = case["id"].replace("/", "-")
        self.members: dict[str, Driver] = {}
        self.main = start(f"{self.name}-main")
        self.main.tell("admin", settings={"bootstrap.servers": cluster.address()})
        replicas = [[1, 2, 3]] * self.given["partitions"]
        self.main.tell("topic", topic=self.name, replicas=replicas, settings={})

    def played(self) -> dict[str, Any]:
        kind = self.name.split("-")[0]
        try:
            return {"G4": self._joins, "G5": self._restarts, "H1": self._begins}[kind]()
        finally:
            for driver in {id(one): one for one in (self.main, *self.members.values())}.values():
                driver.kill()

    # What happens.

    def _joins(self) -> dict[str, Any]:
        count = int(self.given["steps"][0].split()[0])
        for number in range(count):
            self._member(f"c{number + 1}", self.main)
            self._settle()
        time.sleep(1)
        before = {one: name for name, owned in self._owned().items() for one in owned}
        told = {name: len(self._events(name)) for name in self.members}
        self._member(f"c{count + 1}", self.main)
        self._settle()
        after = {one: name for name, owned in self._owned().items() for one in owned}
        lost = [
            one
            for name, since in told.items()
            for one in self._events(name)[since:]
            if one["event"] != "assigned"
        ]
        return {
            "partitions_revoked_total": sum(len(one["partitions"]) for one in lost),
            "partitions_moved": sum(before[one] != name for one, name in after.items()),
        }

    def _restarts(self) -> dict[str, Any]:
        self._member("c1", self.main)
        self._settle()
        other = self._start(f"{self.name}-c2")
        self._member("c2", other)
        self._settle()
        # Its process is there already: on a busy machine Java takes longer to start than a session lasts.
        again = self._start(f"{self.name}-c2-again")
        time.sleep(3)
        had, seen = self._owned()["c2"], len(self._events("c1"))
        if self.given["steps"][1].startswith("kill"):
            other.kill()
        else:
            other.tell("close", id="c2")
            other.wait_for(lambda events: any(one["event"] == "closed" for one in events), 20)
            other.kill()
        time.sleep(1)
        self._member("c2", again)
        settled = self._settle(30)
        changed = [one for one in self._events("c1")[seen:] if one["partitions"]]
        return {
            "c1_saw_partition_change": bool(changed),
            "c2_same_partitions": settled and self._owned()["c2"] == had,
        }

    def _begins(self) -> dict[str, Any]:
        first, more = (int(self.given["steps"][place].split()[0]) for place in (0, 2))
        self.main.tell("producer", id="source", settings={"bootstrap.servers": self.cluster.address()})
        self._write(0, first)
        self._member("c1", self.main)
        self.main.wait_for(
            lambda events: any(one["event"] in ("assigned", "died") for one in events), _SETTLES
        )
        time.sleep(3)
        self._write(first, first + more)
        time.sleep(5)
        read = {one for event in self.main.told("processed") for one in [event["record"]]}
        errors = sorted({one["error"] for one in self.main.told("died")})
        return {"errors": errors, "skipped_count": first + more - len(read)}

    def _write(self, begin: int, end: int) -> None:
        values = [f"r{number}" for number in range(begin, end)]
        self.main.tell("send", id="source", topic=self.name, partition=0, values=values)
        self.main.wait_for(lambda events: sum(one["event"] == "acked" for one in events) >= end, 30)

    # Members.

    def _member(self, name: str, driver: Driver) -> None:
        settings = {key: str(value) for key, value in self.given["consumer"].items()}
        if "group.instance.id" in settings:
            settings["group.instance.id"] = f"i{name[1:]}"
        settings |= {"group.id": self.name, "bootstrap.servers": self.cluster.address()}
        self.members[name] = driver
        driver.tell("consumer", id=name, topic=self.name, settings=settings, commits=True)
        driver.tell("loop", id=name)

    def _events(self, name: str) -> list[Any]:
        return list(self.members[name].told("assigned", "revoked", "lost", id=name))

    def _owned(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for name in self.members:
            owned: set[int] = set()
            for one in self._events(name):
                places = set(one["partitions"])
                owned = owned | places if one["event"] == "assigned" else owned - places
            found[name] = owned
        return found

    def _settle(self, within: float = _SETTLES) -> bool:
        """Until all own an even share, and it stays so for a second."""
        partitions, end, since = self.given["partitions"], time.monotonic() + within, 0.0
        while time.monotonic() < end:
            sizes = [len(one) for one in self._owned().values()]
            even = sum(sizes) == partitions and max(sizes) - min(sizes) <= 1
            since = (since or time.monotonic()) if even else 0.0
            if since and time.monotonic() - since > 1:
                return True
            time.sleep(0.05)
        return False


def recorded(lanes: int, seed: int) -> Iterator[Case]:
    path = classpath(find_jars(KAFKA, fetch=True))
    dice = random.Random(seed)
    cases = [drawn(dice, number) for number in range(lanes)]
    with Processes() as processes:
        cluster = Cluster(processes, path, [1, 2, 3], {key: str(value) for key, value in BROKER.items()})
        cluster.start()

        def played(case: Case) -> Case:
            outcome = Lane(cluster, lambda name: Driver(processes, path, name), case).played()
            return {**case, "output": {"determinism": "yes", "runs": [outcome]}}

        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield from pool.map(played, cases)


def set_size(case: Case) -> int:
    """How many outcomes the simulator allows, of what is compared."""
    fields: Sequence[str] = sorted(case["output"]["runs"][0])
    return len({json.dumps([one[name] for name in fields]) for one in answers(case)})


def main(words: list[str]) -> int:
    lanes = int(words[0]) if words else 6
    seed = int(words[1]) if len(words) > 1 else int(time.time())
    print(f"seed {seed}, {lanes} lanes", flush=True)
    busy = os.getloadavg()[0]
    agree, sizes = 0, []
    for case in recorded(lanes, seed):
        sizes.append(set_size(case))
        difference = compare(case)
        agree += difference is None
        if difference is not None:
            print(f"{case['id']}: {difference}\n  {json.dumps(case)}", flush=True)
            with MISFITS.open("a") as file:
                file.write(json.dumps({**case, "seed": seed}) + "\n")
    mean = sum(sizes) / len(sizes) if sizes else 0
    load = max(busy, os.getloadavg()[0])
    print(f"{agree} of {lanes} lanes agree, mean set size {mean:.2f}, load average {load:.1f}")
    note(
        result(
            "group lanes", "groups drawn at random, on a real cluster", KAFKA, lanes, agree, seed, mean, load
        )
    )
    return 0 if agree == lanes else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
