"""Consumers as people write them, for several clients: what is found in them, and what must stay clean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from advisor.testing import audit_settings

JAVA = (
    "bootstrap.servers=kafka:9092\ngroup.id=billing\n"
    "key.deserializer=org.apache.kafka.common.serialization.StringDeserializer\n"
    "value.deserializer=org.apache.kafka.common.serialization.StringDeserializer\n"
)
LIBRDKAFKA = "bootstrap.servers=kafka:9092\ngroup.id=billing\n"
TOPIC = "partitions=6\nreplication.factor=3\nmin.insync.replicas=2\n"
BROKER = (
    "process.roles=broker\nnode.id=1\ncontroller.quorum.voters=4@a:9093,5@b:9093,6@c:9093\n"
    "controller.listener.names=CONTROLLER\nlisteners=PLAINTEXT://kafka:9092\n"
    "advertised.listeners=PLAINTEXT://kafka:9092\nlog.dirs=/var/lib/kafka\n"
    "default.replication.factor=3\nmin.insync.replicas=2\n"
)
ASSIGNOR = "partition.assignment.strategy=org.apache.kafka.clients.consumer."


def java(text: str = "") -> dict[str, str]:
    return {"consumer.properties": JAVA + text}


def librdkafka(text: str = "") -> dict[str, str]:
    family = "[[client]]\npath = 'consumer.properties'\nfamily = 'librdkafka'\n"
    return {"consumer.properties": LIBRDKAFKA + text, "kafka-advisor.toml": family}


def spring(*fields: str, properties: str = "", listener: str = "") -> dict[str, str]:
    lines = [
        "spring:",
        "  kafka:",
        "    bootstrap-servers: kafka:9092",
        "    consumer:",
        "      group-id: billing",
    ]
    lines += [f"      {field}" for field in fields]
    lines += ["      properties:", f"        {properties}"] if properties else []
    lines += ["    listener:", f"      {listener}"] if listener else []
    return {"application.yml": "\n".join(lines) + "\n"}


def found(files: Mapping[str, str], workload: str = "", version: str = "4.3") -> list[dict[str, Any]]:
    project = files.get("kafka-advisor.toml", "")
    head = f'kafka_version = "{version}"\nprofile = "prod"\n'
    stated = f"[workload]\n{workload}\n" if workload else ""
    report = audit_settings({"files": {**files, "kafka-advisor.toml": head + stated + project}})
    assert report["files"]
    findings: list[dict[str, Any]] = report["findings"]
    return findings


BROKEN = {
    "slow records": ("KA421", java("max.poll.records=500\n"), "processing_ms = 1000"),
    "slow records, spring": ("KA421", spring("max-poll-records: 1000"), "processing_ms = 400"),
    "one slow message": ("KA421", librdkafka("max.poll.interval.ms=300000\n"), "processing_ms = '6m'"),
    "rare heartbeats": ("KA422", java("session.timeout.ms=10000\nheartbeat.interval.ms=9000\n"), ""),
    "rare heartbeats, spring": (
        "KA422",
        spring("heartbeat-interval: 8s", properties="session.timeout.ms: 15000"),
        "",
    ),
    "rare heartbeats, librdkafka": (
        "KA422",
        librdkafka("session.timeout.ms=6000\nheartbeat.interval.ms=3000\n"),
        "",
    ),
    "heartbeat beyond the session": (
        "KA010",
        java("session.timeout.ms=10000\nheartbeat.interval.ms=10000\n"),
        "",
    ),
    "a long pause": ("KA423", java("session.timeout.ms=10000\n"), "longest_pause_ms = 12000"),
    "session refused": (
        "KA424",
        {**java("session.timeout.ms=3000\nheartbeat.interval.ms=1000\n"), "server.properties": BROKER},
        "",
    ),
    "session raised instead": ("KA431", java("session.timeout.ms=600000\n"), ""),
    "half an hour between polls": (
        "KA432",
        java(f"max.poll.interval.ms=1800000\n{ASSIGNOR}RangeAssignor\n"),
        "",
    ),
    "one id for three": ("KA441", java("group.instance.id=billing-1\n"), "members = 3"),
    "eager and cooperative in one list": (
        "KA010",
        librdkafka("partition.assignment.strategy=cooperative-sticky,range\n"),
        "",
    ),
    "classic keys with the consumer protocol": (
        "KA010",
        java("group.protocol=consumer\nsession.timeout.ms=45000\n"),
        "",
    ),
    "latest": ("KA404", java("auto.offset.reset=latest\n"), ""),
    "offsets kept for an hour": (
        "KA405",
        {
            **java("auto.offset.reset=latest\n"),
            "server.properties": f"{BROKER}offsets.retention.minutes=60\n",
        },
        "longest_outage = '2h'",
    ),
    "records kept for an hour": (
        "KA406",
        {**java("auto.offset.reset=earliest\n"), "topic-orders.properties": f"{TOPIC}retention.ms=3600000\n"},
        "longest_outage = '2h'",
    ),
    "the broker keeps for an hour": (
        "KA406",
        {
            **java("auto.offset.reset=earliest\n"),
            "topic-orders.properties": TOPIC,
            "server.properties": f"{BROKER}log.retention.hours=1\n",
        },
        "longest_outage = '2h'",
    ),
    "auto-commit, the default, beside workers": ("KA401", java(), "processing = 'workers'"),
    "auto-commit of the consumer protocol": (
        "KA402",
        java("group.protocol=consumer\nenable.auto.commit=true\n"),
        "",
    ),
    "stored when handed over": ("KA403", librdkafka("enable.auto.commit=true\n"), ""),
    "fetches held back": ("KA456", java("fetch.min.bytes=1000000\nfetch.max.wait.ms=15000\n"), ""),
    "fetches given up": ("KA455", java("fetch.min.bytes=1000000\nfetch.max.wait.ms=40000\n"), ""),
    "no delay of the first rebalance": (
        "KA434",
        {**java(), "server.properties": f"{BROKER}group.initial.rebalance.delay.ms=0\n"},
        "",
    ),
    "more threads than partitions": (
        "KA451",
        {**spring(listener="concurrency: 10"), "topic-orders.properties": TOPIC},
        "",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_it_is_found(name: str) -> None:
    code, files, workload = BROKEN[name]
    assert code in [finding["code"] for finding in found(files, workload)]


SANE = {
    "commits after the work": (java("enable.auto.commit=false\nauto.offset.reset=earliest\n"), ""),
    "auto-commit in a loop": (java("auto.offset.reset=earliest\n"), ""),
    "a first start at the end": (java(), ""),
    "spring": (
        {
            **spring("auto-offset-reset: earliest", "enable-auto-commit: false", listener="concurrency: 3"),
            "topic-orders.properties": TOPIC,
        },
        "",
    ),
    "the consumer protocol": (
        java("group.protocol=consumer\nenable.auto.commit=false\nauto.offset.reset=earliest\n"),
        "",
    ),
    "cooperative, brokers in sight": (
        {
            **java(f"auto.offset.reset=earliest\n{ASSIGNOR}CooperativeStickyAssignor\n"),
            "server.properties": BROKER,
            "topic-orders.properties": TOPIC,
        },
        "members = 3",
    ),
    "librdkafka that stores itself": (
        librdkafka("enable.auto.offset.store=false\nauto.offset.reset=earliest\n"),
        "",
    ),
    "static members, an id each": (java("group.instance.id=${HOSTNAME}\nauto.offset.reset=earliest\n"), ""),
    "static members of spring": (
        spring(properties="group.instance.id: billing", listener="concurrency: 3"),
        "",
    ),
    "short absences": (
        {
            **java("auto.offset.reset=latest\n"),
            "server.properties": f"{BROKER}offsets.retention.minutes=10080\n",
        },
        "longest_outage = '1d'",
    ),
    "a store that refuses late writers": (
        java("enable.auto.commit=false\nauto.offset.reset=earliest\n"),
        "exactly_once = true\nprocessing = 'external'\noffset_seek = true\noffset_fenced = true",
    ),
}


# What latest does to added partitions is a warning, where somebody wrote it.
WARNED = {"short absences": ["KA404"]}
ASKED = [
    (version, name)
    for version in ("2.8", "3.9", "4.3")
    for name in SANE
    # Before 4.0 brokers do not offer it by default: what no file shows is assumed then, and told (KA445).
    if version == "4.3" or name != "the consumer protocol"
]


@pytest.mark.parametrize(("version", "name"), ASKED)
def test_it_stays_clean(version: str, name: str) -> None:
    files, workload = SANE[name]
    told = [one["code"] for one in found(files, workload, version) if one["severity"] != "note"]
    assert told == WARNED.get(name, [])
