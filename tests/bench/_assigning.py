"""Assigning 10,000 partitions to 500 members (cooperative-sticky), against Kafka's own class in the same run.

Kafka's side needs Java and the client's jar (from Maven's local store, or fetched by Maven). It is measured
twice: warm, after the virtual machine has compiled it, and at its first call, which is what the leader of a
group that seldom rebalances pays.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

from advisor.sim.assign.assignors import assign
from advisor.sim.assign.members import Assignment, Member, Metadata

ROUNDS = 9
CLIENTS = (
    "org/apache/kafka/kafka-clients/4.3.1",
    "kafka-clients-4.3.1.jar",
    "org.apache.kafka:kafka-clients:4.3.1",
)
LOGGING = ("org/slf4j/slf4j-api/1.7.36", "slf4j-api-1.7.36.jar", "org.slf4j:slf4j-api:1.7.36")
TOPICS = tuple(f"topic-{number}" for number in range(20))
CLUSTER = Metadata(dict.fromkeys(TOPICS, 500))


def members(equal: bool, before: Assignment, numbers: range) -> list[Member]:
    found = []
    for number in numbers:
        name = f"consumer-{number}"
        topics = TOPICS if equal or number % 2 else TOPICS[:10]
        found.append(Member(name, topics, tuple(before.get(name, ())), 1 if name in before else -1))
    return found


def shapes() -> dict[str, list[Member]]:
    """The groups that the Java side builds, too: at the start, five gone, five more, and unequal ones."""
    start, unequal = members(True, {}, range(500)), members(False, {}, range(500))
    kept = assign("cooperative-sticky", start, CLUSTER)
    kept_unequal = assign("cooperative-sticky", unequal, CLUSTER)
    return {
        "start": start,
        "leave": members(True, kept, range(5, 500)),
        "join": members(True, kept, range(505)),
        "unequal": unequal,
        "unequal-leave": members(False, kept_unequal, range(5, 500)),
    }


def ours() -> dict[str, list[float]]:
    """CPU milliseconds of each round."""
    taken: dict[str, list[float]] = {}
    for shape, group in shapes().items():
        assign("cooperative-sticky", group, CLUSTER)
        for _ in range(ROUNDS):
            start = time.process_time_ns()
            assign("cooperative-sticky", group, CLUSTER)
            taken.setdefault(shape, []).append((time.process_time_ns() - start) / 1e6)
    return taken


def kafkas() -> dict[str, list[float]] | None:
    """The same of Kafka's class; None where Java or its jars are not to be had."""
    jars = [jar(*artifact) for artifact in (CLIENTS, LOGGING)]
    if shutil.which("java") is None or None in jars:
        return None
    source = Path(__file__).with_name("AssignPartitions.java")
    command = ["java", "-cp", os.pathsep.join(map(str, jars)), str(source), str(5 * ROUNDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    lines = (line.split() for line in done.stdout.splitlines())
    return {shape: [int(number) / 1e6 for number in numbers] for shape, *numbers in lines}


def jar(folder: str, file: str, artifact: str) -> Path | None:
    path = Path.home() / ".m2/repository" / folder / file
    if not path.exists() and shutil.which("mvn"):
        fetch = ["mvn", "-q", "dependency:get", f"-Dartifact={artifact}", "-Dtransitive=false"]
        subprocess.run(fetch, capture_output=True, check=False)
    return path if path.exists() else None


def against_kafka() -> dict[str, Any]:
    """Ratios above 1: we are that much faster. Medians of CPU time; `first_call` is Kafka's cold one."""
    mine, theirs = ours(), kafkas()
    median = {shape: statistics.median(times) for shape, times in mine.items()}
    found: dict[str, Any] = {"our_ms": {shape: round(value, 2) for shape, value in median.items()}}
    if theirs is None:
        return {**found, "kafka": "not measured: Java or the client's jar is missing"}
    warm = {shape: statistics.median(times[-ROUNDS:]) for shape, times in theirs.items()}
    return {
        **found,
        "kafka_warm_ms": {shape: round(value, 2) for shape, value in warm.items()},
        "kafka_first_call_ms": round(theirs["start"][0], 2),
        "kafka_warm / ours": {shape: round(warm[shape] / median[shape], 2) for shape in median},
        "kafka_first_call / ours": round(theirs["start"][0] / median["start"], 2),
    }
