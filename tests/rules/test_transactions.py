"""Transactions and sizes: what is unknown, what is not asked at all, and that the sane stay clean."""

from __future__ import annotations

import pytest

from advisor.testing import audit_paths, audit_settings

PRODUCER = {"bootstrap.servers": "kafka:9092", "acks": "all", "transactional.id": "etl-1"}
TOPIC = {
    "partitions": "3",
    "replication.factor": "3",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
}
CONSUMER = {"bootstrap.servers": "kafka:9092", "group.id": "billing", "isolation.level": "read_committed"}
BROKER = {"process.roles": "broker", "node.id": "1"}
OURS = ("KA34", "KA36")


def audited(producer=(), topic=(), consumer=(), broker=None, version="4.1", **others):
    configs = {
        "producer": {**PRODUCER, **dict(producer)},
        "topic": {**TOPIC, **dict(topic)},
        "consumer": {**CONSUMER, **dict(consumer)},
        **({"broker": {**BROKER, **broker}} if broker is not None else {}),
        **others,
    }
    return audit_settings(configs, kafka_version=version, profile="prod")


def ours(report):
    return [finding for finding in report["findings"] if finding["code"].startswith(OURS)]


def guarantee(report, name):
    (found,) = [
        entry
        for deployment in report["deployments"]
        for entry in deployment["guarantees"]
        if entry["name"] == name
    ]
    return found


@pytest.mark.parametrize("version", ["2.8", "3.9", "4.0", "4.3"])
def test_a_sane_exactly_once_pipeline_is_clean(version):
    report = audited(broker={}, version=version, workload={"exactly_once": "true", "transaction_ms": "20s"})
    assert [finding["code"] for finding in ours(report) if finding["severity"] != "note"] == []


@pytest.mark.parametrize(
    ("changes", "name", "decides"),
    [
        ({"consumer": {"isolation.level": "${LEVEL}"}}, "only-committed-read", ["isolation.level"]),
        (
            {"producer": {"transaction.timeout.ms": "900000"}, "consumer": {"isolation.level": "${LEVEL}"}},
            "records-visible",
            ["isolation.level"],
        ),
        (
            {"producer": {"transaction.timeout.ms": "${TIMEOUT}"}},
            "records-visible",
            ["transaction.timeout.ms"],
        ),
        # Whether every transaction has an epoch of its own is a feature of the cluster, in no file.
        (
            {"broker": {"transaction.partition.verification.enable": "false"}},
            "records-visible",
            ["transaction.version"],
        ),
        ({"producer": {"max.request.size": "${SIZE}"}, "broker": {}}, "size-chain", ["max.request.size"]),
        (
            {"producer": {"max.request.size": "5000000", "compression.type": "zstd"}, "broker": {}},
            "size-chain",
            ["how well records compress"],
        ),
    ],
)
def test_what_is_not_in_sight_is_unknown_and_named(changes, name, decides):
    report = audited(**changes)
    assert ours(report) == []
    found = guarantee(report, name)
    assert found["verdict"] == "unknown"
    assert found["depends_on"] == decides


def test_a_run_in_time_says_when_and_keeps_to_the_schema():
    (finding,) = ours(audited(producer={"transaction.timeout.ms": "900000"}))
    assert finding["code"] == "KA342"
    steps = finding["evidence"]["trace"]
    instants = [step["t_ms"] for step in steps]
    assert instants == sorted(instants)
    (expired,) = [step for step in steps if step["event"]["name"] == "expire"]
    assert expired["t_ms"] == 910_000
    # Until then the reader stands at the first record of the transaction, whatever others write.
    for step in steps[: steps.index(expired)]:
        assert step["state"]["lso"] == 0
        assert step["state"]["reader"]["read"] == []


@pytest.mark.parametrize(("timeout", "found"), [("290000", []), ("290001", ["KA342"])])
def test_the_limit_counts_the_coordinators_interval(timeout, found):
    report = audited(producer={"transaction.timeout.ms": timeout})
    assert [finding["code"] for finding in ours(report)] == found


def test_a_size_finding_is_exact_to_the_byte():
    (finding,) = ours(audited(producer={"max.request.size": "2000000"}, broker={}))
    first, second, third, fourth = finding["evidence"]["trace"]
    values = [step["event"]["value_bytes"] for step in (first, second, third, fourth)]
    assert values[1] == values[0] + 1
    assert values[3] == values[2] + 1
    assert [step["effects"] for step in (first, second, third, fourth)] == [
        ["passed"],
        ["refused by the topic"],
        ["refused by the topic"],
        ["refused by the producer"],
    ]
    assert first["state"]["cells"]["max.message.bytes"] == "1,048,588 <= 1,048,588"


@pytest.mark.parametrize(
    ("version", "severity"), [("3.9", "error"), ("4.1", "error"), ("4.2", "note"), ("4.3", "note")]
)
def test_a_batch_over_the_limit_by_client_version(version, severity):
    report = audited(producer={"batch.size": "2000000"}, broker={}, version=version)
    (finding,) = [one for one in ours(report) if one["code"] == "KA363"]
    assert finding["severity"] == severity
    assert finding["fixes"]


def _both_ways(tmp_path, timeout, workload):
    (tmp_path / "kafka-advisor.toml").write_text(f'profile = "prod"\n\n[workload]\n{workload}\n')
    (tmp_path / "topic-orders.properties").write_text("partitions=6\nreplication.factor=3\n")
    (tmp_path / "application.yml").write_text(
        "spring:\n  kafka:\n    bootstrap-servers: kafka:9092\n    producer:\n"
        "      transaction-id-prefix: tx-\n      properties:\n"
        f"        transaction.timeout.ms: {timeout}\n"
        "    consumer:\n      group-id: billing\n      isolation-level: read_committed\n"
        "    listener:\n      type: batch\n    template:\n      default-topic: orders\n"
    )
    report = audit_paths([str(tmp_path)])
    (finding,) = (one for one in report["findings"] if one["code"] in ("KA341", "KA342"))
    return finding


@pytest.mark.parametrize(
    ("timeout", "code", "keys"),
    [
        (60_000, "KA341", ["max.poll.records"]),
        (840_000, "KA342", ["transaction.timeout.ms", "max.poll.records"]),
    ],
)
def test_where_no_timeout_suits_both_a_transaction_gets_less_work(tmp_path, timeout, code, keys):
    finding = _both_ways(tmp_path, timeout, "processing_ms = 1500")
    assert finding["code"] == code
    assert [change["key"] for change in finding["fixes"][0]["changes"]] == keys


@pytest.mark.parametrize(("timeout", "code"), [(60_000, "KA341"), (840_000, "KA342")])
def test_where_the_work_cannot_be_cut_it_says_why_nothing_helps(tmp_path, timeout, code):
    finding = _both_ways(tmp_path, timeout, 'transaction_ms = "10m"')
    assert finding["code"] == code
    assert not finding["fixes"]
    assert "no transaction.timeout.ms suits both" in finding["advice"][0]
