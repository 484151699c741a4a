"""A running cluster, started here, audited: the same is found as in files with the same settings."""

from __future__ import annotations

import json

import pytest

from advisor.catalog import RELEASES, keys, resolve_version
from advisor.engine import Options, audit
from advisor.live.snapshot import Snapshot, release_by_keys
from advisor.real.cluster.cluster import Cluster
from advisor.real.cluster.driver import Driver
from advisor.real.cluster.jars import classpath, find_jars
from advisor.real.cluster.processes import Processes
from advisor.testing import run_command
from tests.conftest import needs

BROKER = {"min.insync.replicas": "2", "broker.session.timeout.ms": "12000", "log.retention.hours": "24"}
# Writes stop with one broker, and an unclean election loses what was confirmed.
ORDERS = {"min.insync.replicas": "3", "unclean.leader.election.enable": "true", "segment.ms": "600000"}


@pytest.fixture(scope="module")
def cluster():
    needs("mvn")
    needs("java")
    path = classpath(find_jars("4.3", fetch=True))
    with Processes() as processes:
        made = Cluster(processes, path, [1, 2, 3], BROKER)
        made.start()
        admin = Driver(processes, path)
        admin.tell("admin", settings={"bootstrap.servers": made.address()})
        admin.tell("topic", topic="orders", replicas=[[1, 2, 3], [2, 3, 1]], settings=ORDERS)
        admin.tell("topic", topic="clicks", replicas=[[1], [2]], settings={})
        yield made, admin


def found(path, **more):
    """What is found, without where: files and lines differ."""
    result = audit(Options((str(path),), profile="prod", kafka_version="4.3", cache=False, **more))
    return sorted(
        (
            one.code,
            one.severity,
            one.keys,
            tuple((of, setting.key, str(setting.value)) for of, setting in one.settings),
        )
        for _, one in result.findings
    )


def test_a_live_audit_finds_what_an_audit_of_the_files_finds(cluster, tmp_path):
    made, _ = cluster
    snapshot = tmp_path / "live" / "snapshot.json"
    snapshot.parent.mkdir()
    done = run_command(
        tmp_path,
        "audit",
        "--bootstrap-server",
        made.address(1),
        "--save",
        snapshot,
        "--profile",
        "prod",
        "-q",
        "--all",
    )
    assert done.returncode == 1, done.stderr
    assert "not known" not in done.stderr

    files = tmp_path / "files"
    files.mkdir()
    (files / "kafka-advisor.toml").write_text('kafka_version = "4.3"\n[facts]\nbrokers = 3\n')
    for number, broker in made.brokers.items():
        (files / f"server-{number}.properties").write_text(broker.properties.read_text())
    for name, partitions, copies, settings in (("orders", 2, 3, ORDERS), ("clicks", 2, 1, {})):
        lines = [
            f"partitions={partitions}",
            f"replication.factor={copies}",
            *(f"{k}={v}" for k, v in settings.items()),
        ]
        (files / f"topic-{name}.properties").write_text("\n".join(lines) + "\n")
    assert found(snapshot) == found(files)
    codes = {one[0] for one in found(snapshot)}
    assert {"KA201", "KA101"} & codes, codes
    # Each finding of the run is in what the command printed, with its place.
    for code in codes:
        assert f"[{code}]" in done.stdout


def test_what_is_written_and_what_runs_are_compared(cluster, tmp_path):
    made, _ = cluster
    (tmp_path / "kafka-advisor.toml").write_text('profile = "prod"\n')
    (tmp_path / "topic-orders.properties").write_text(
        "partitions=6\nreplication.factor=3\nmin.insync.replicas=2\nsegment.ms=600000\n"
    )
    (tmp_path / "server.properties").write_text(
        "process.roles=broker\nnode.id=1\nlisteners=PLAINTEXT://kafka:9092\nlog.retention.hours=72\n"
        "controller.quorum.voters=9@c:9093\ncontroller.listener.names=CONTROLLER\nmin.insync.replicas=2\n"
    )
    done = run_command(tmp_path, "audit", "--bootstrap-server", made.address(), ".", "-q")
    told = [line for line in done.stderr.splitlines() if "cluster" in line]
    line = "orders: topic-orders.properties:3 says min.insync.replicas=2, the cluster has 3 (topic)"
    assert f"kafka-advisor: {line}" in told
    assert (
        "kafka-advisor: orders: unclean.leader.election.enable=true is set in the cluster alone (topic)"
        in told
    )
    assert (
        "kafka-advisor: orders: topic-orders.properties:1 says partitions=6, the cluster has 2 (the cluster)"
        in told
    )
    assert sum("log.retention.hours=72" in line and "has 24" in line for line in told) == 3
    assert not any("segment.ms" in line for line in told)


def test_traffic_is_measured(cluster, tmp_path):
    made, admin = cluster
    admin.tell("producer", id="p", settings={"bootstrap.servers": made.address()})
    admin.tell("stream", id="p", topic="clicks", partition=0, records=2_000, rate=100, size=300)
    done = run_command(
        tmp_path,
        "audit",
        "--bootstrap-server",
        made.address(),
        "--save",
        tmp_path / "x.json",
        "--traffic",
        "3s",
        "-q",
    )
    assert done.returncode in (0, 1), done.stderr
    workload = json.loads((tmp_path / "x.json").read_text())["workload"]["values"]
    assert workload["record_bytes"] == 300
    assert 20 < workload["records_per_second"] < 200


def test_what_is_down_is_not_known(tmp_path):
    done = run_command(tmp_path, "audit", "--bootstrap-server", "127.0.0.1:1")
    assert done.returncode == 2
    assert done.stderr.startswith("kafka-advisor: 127.0.0.1:1 does not answer: ")


def test_what_may_not_be_seen_proves_nothing(tmp_path):
    """A broker that did not tell its settings, and one that hides a value."""
    brokers = [
        {"id": 1, "address": "k:9092", "settings": {}, "unread": True},
        {"id": 2, "address": "l:9092", "settings": {"min.insync.replicas": None}, "sources": {}},
    ]
    topics = [{"name": "orders", "partitions": 1, "replication_factor": 3, "settings": {}}]
    unknown = [{"what": "broker 1", "reason": "Cluster authorization failed"}]
    snapshot = Snapshot("id", "k:9092", "4.3", 3, brokers, topics, [], unknown)
    (tmp_path / "snapshot.json").write_text(snapshot.text("2026-01-01T00:00:00Z"))
    root = audit(Options((str(tmp_path),), cache=False)).roots[0]
    first, second, *_ = root.files[0].documents
    assert first.partial
    assert str(second.settings[0].value) == "unknown (hidden by the cluster)"
    assert root.files[0].status == "partial"
    assert root.files[0].reason == "not known: broker 1: Cluster authorization failed"


@pytest.mark.parametrize("release", [one for one in RELEASES if one != "3.9.1"])
def test_a_release_is_known_by_its_keys(release):
    version = resolve_version(release)
    assert release_by_keys(set(keys("broker", version))) == ".".join(release.split(".")[:2])
