"""The fixes of one report go together: what one deployment is offered, no other undoes."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.testing import audit_paths

from .estate import write_estate
from .test_cases import fix, texts
from .test_command import place
from .test_never_harms import contradictions
from .test_no_harm import producer, properties, topic

BROKER = """\
node.id={0}
process.roles=broker,controller
controller.quorum.voters=1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
advertised.listeners=PLAINTEXT://kafka-{0}:9092
controller.listener.names=CONTROLLER
log.dirs=/var/lib/kafka
offsets.topic.replication.factor=3
default.replication.factor=3
"""


def offered(folder, version: str | None = None) -> list[dict[str, Any]]:
    found = audit_paths([str(folder)], kafka_version=version, profile="prod", cache=True)["findings"]
    return [
        one
        for one in found
        if one["severity"] != "note" and one["fixes"] and one["fixes"][0]["safety"] == "safe"
    ]


@pytest.fixture(scope="module")
def estate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("estate")
    write_estate(folder, 3)
    (folder / ".git").mkdir()
    return folder


def test_what_topics_of_two_and_of_three_replicas_need_of_their_brokers(estate):
    """min.insync.replicas=2 of the brokers would stop the topics of two replicas once their producers use
    acks=all: it belongs to the topics of three."""
    found = offered(estate)
    assert contradictions(found) == {}
    changed = {
        change["file"]
        for one in found
        for change in one["fixes"][0]["changes"]
        if change["key"] == "min.insync.replicas"
    }
    assert changed == {f"service{number}/topic-service{number}.properties" for number in (0, 2)}
    lost = {one["deployment"] for one in found if one["code"] == "KA101"}
    assert "application producer -> service1 -> server-1" in lost


def test_what_audit_offers_fix_makes(estate, monkeypatch):
    monkeypatch.chdir(estate)
    assert len(offered(estate)) > 10
    _, diff, told = fix(estate, ".")
    assert "+        max.poll.interval.ms: 300000" in diff
    assert "not applied" not in told


def test_two_producers_of_one_topic_are_two_findings(tmp_path):
    """What is said of both is said of each: the fix of one leaves the other as it was."""
    repo = place(
        tmp_path,
        {
            "one/producer.properties": producer(acks="1", enable_idempotence="false"),
            "two/producer.properties": producer(acks="1", enable_idempotence="false", retries="0"),
            "topic-audit.properties": topic(2),
            "kafka-advisor.toml": "".join(
                f'[[deployment]]\nproducer = "{name}/producer.properties"\ntopic = "audit"\n'
                for name in ("one", "two")
            ),
        },
    )
    wanted = {(one["code"], one["deployment"]) for one in offered(repo, "2.8")}
    assert {deployment for code, deployment in wanted if code == "KA101"} == {
        "producer -> audit (one/producer.properties)",
        "producer -> audit (two/producer.properties)",
    }
    _, _, told = fix(repo, "--write", "--kafka-version", "2.8", ".")
    assert "not applied" not in told
    left = audit_paths([str(repo)], kafka_version="2.8", profile="prod", cache=True)["findings"]
    assert wanted & {(one["code"], one["deployment"]) for one in left} == set()


def test_a_fix_that_needs_another_is_made_with_it(tmp_path):
    """acks=all alone would make a short replica.lag.time.max.ms matter, which has a fix of its own."""
    files = {
        f"server-{n}.properties": BROKER.format(n) + properties(replica_lag_time_max_ms="5000")
        for n in (1, 2, 3)
    }
    files["topic-orders.properties"] = topic(3, min_insync_replicas="2")
    for name, acks in (("one", "1"), ("two", "0")):
        files[f"{name}/producer.properties"] = (
            f"bootstrap.servers=kafka-1:9092\nacks={acks}\nmax.in.flight.requests.per.connection=10\n"
        )
    files["kafka-advisor.toml"] = "".join(
        f'[[deployment]]\nproducer = "{name}/producer.properties"\ntopic = "orders"\n'
        for name in ("one", "two")
    )
    repo = place(tmp_path, files)
    code, _, told = fix(repo, "--write", "--kafka-version", "3.0", ".")
    assert (code, "no fix" in told) == (0, False), told
    assert all(b"acks=all" in texts(repo)[f"{name}/producer.properties"] for name in ("one", "two"))
    assert fix(repo, "--kafka-version", "3.0", ".")[1] == ""


def test_a_group_of_two_clusters_is_not_mended_for_one_of_them(tmp_path):
    """A longer session outlasts the pause; the brokers of the other cluster would refuse it."""
    files = {
        "consumer.properties": "bootstrap.servers=kafka-1:9092\ngroup.id=billing\nenable.auto.commit=false\n"
        "auto.offset.reset=earliest\nsession.timeout.ms=15000\n",
        "producer.properties": producer(acks="all"),
        "kafka-advisor.toml": "[workload]\nlongest_pause_ms = 25000\n",
    }
    for name, limits in (("a", {}), ("b", {"group_max_session_timeout_ms": "20000"})):
        files[f"{name}/server.properties"] = BROKER.format(1) + properties(min_insync_replicas="2", **limits)
        files[f"{name}/topic-{name}.properties"] = topic(3)
        files["kafka-advisor.toml"] += (
            f'[[deployment]]\nproducer = "producer.properties"\ntopic = "{name}"\n'
            f'cluster = "{name}/server.properties"\ngroups = ["consumer.properties"]\n'
        )
    repo = place(tmp_path / "two", files)
    assert [one["code"] for one in offered(repo, "3.9")] == []
    assert "session.timeout.ms=45000: with all fixes made it would introduce KA424" in fix(repo, ".")[2]
    one = place(tmp_path / "one", {name: text for name, text in files.items() if not name.startswith("b/")})
    (one / "kafka-advisor.toml").write_text(files["kafka-advisor.toml"].rpartition("[[deployment]]")[0])
    assert [one["code"] for one in offered(one, "3.9")] == ["KA423"]
