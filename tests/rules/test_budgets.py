"""The default budgets: the recommended configuration is clean, each way away from it is told."""

from __future__ import annotations

import pytest

from advisor.testing import audit_settings

SURVIVE = "acked-records-survive"
STRING = "org.apache.kafka.common.serialization.String"
PRODUCER = {
    "bootstrap.servers": "kafka:9092",
    "key.serializer": f"{STRING}Serializer",
    "value.serializer": f"{STRING}Serializer",
    "acks": "all",
    "enable.idempotence": "true",
}
TOPIC = {
    "partitions": "3",
    "replication.factor": "3",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
}
# Kafka version and whether eligible leader replicas are on; before 4.0 there are none.
CLUSTERS = [("2.8", None), ("3.9", None), ("4.3", "on"), ("4.3", "off")]


def audited(version, elr=None, producer=(), topic=(), without=()):
    settings = {key: value for key, value in {**PRODUCER, **dict(producer)}.items() if key not in without}
    return audit_settings(
        {"producer": settings, "topic": {**TOPIC, **dict(topic)}},
        kafka_version=version,
        profile="prod",
        sets=[f"fact.elr={elr}"] if elr else [],
    )


def above_note(report):
    """Codes of errors and warnings, those folded under another counted, notes among them left out."""
    notes = {"KA011", "KA104", "KA202"}
    found = set()
    for finding in report["findings"]:
        if finding["severity"] != "note":
            found |= {finding["code"], *finding["covers"]} - notes
    return found


@pytest.mark.parametrize(("version", "elr"), [*CLUSTERS, ("4.3", None)])
def test_recommended_configuration_is_clean(version, elr):
    report = audited(version, elr)
    assert above_note(report) == set()
    assert report["deployments"][0]["headline"] == {"survives_lost": 1, "writes_with_away": 1}


@pytest.mark.parametrize(("version", "elr"), CLUSTERS)
@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        (
            {"producer": {"acks": "1"}, "without": ["enable.idempotence"]},
            {"KA101", "KA102", "KA103", "KA109", "KA301", "KA302", "KA304"},
        ),
        ({"topic": {"min.insync.replicas": "1"}}, {"KA102"}),
        ({"topic": {"min.insync.replicas": "3"}}, {"KA201"}),
        ({"topic": {"replication.factor": "1", "min.insync.replicas": "1"}}, {"KA102", "KA103", "KA201"}),
        ({"producer": {"enable.idempotence": "false"}}, {"KA301", "KA302", "KA304"}),
    ],
    ids=["acks=1", "min 1", "min 3", "RF 1", "idempotence off"],
)
def test_each_way_away_from_it_is_told(version, elr, changes, codes):
    report = audited(version, elr, **changes)
    assert above_note(report) == codes
    for finding in report["findings"]:
        if finding["code"] in codes:
            assert finding["evidence"]["class"] == "trace"
            assert finding["evidence"]["trace"], f"{finding['code']} shows no run"
            assert finding["fixes"], f"{finding['code']} offers no fix"


@pytest.mark.parametrize(("version", "elr"), [("2.8", None), ("3.9", None), ("4.3", "off")])
def test_unclean_election_loses_a_record(version, elr):
    report = audited(version, elr, topic={"unclean.leader.election.enable": "true"})
    assert above_note(report) == {"KA101", "KA102", "KA109"}


def test_eligible_leader_replicas_come_before_an_unclean_election():
    """KIP-966: the replica that left the ISR last is elected before any other out of sync, so one broker
    away is survived, and two are not. Whether the feature is on is in no file: what one crash does without it
    is told under what two do with it."""
    unclean = {"unclean.leader.election.enable": "true"}
    assert above_note(audited("4.3", "on", topic=unclean)) == {"KA109"}
    report = audited("4.3", None, topic=unclean)
    (finding,) = [one for one in report["findings"] if one["severity"] != "note"]
    assert (finding["code"], finding["covers"], finding["assuming"]) == ("KA109", ["KA101", "KA102"], [])


@pytest.mark.parametrize(
    ("version", "refused"), [("2.8", True), ("3.6", True), ("3.7", False), ("4.3", False)]
)
def test_minimum_above_the_replication_factor(version, refused):
    report = audited(version, "off" if version == "4.3" else None, topic={"replication.factor": "1"})
    assert ("KA203" in above_note(report)) == refused


def test_templated_acks_are_not_judged():
    report = audited("3.9", producer={"acks": "${ACKS}"}, without=["enable.idempotence"])
    assert above_note(report) == set()
    assert report["summary"]["unknown"] > 0


def test_empty_librdkafka_producer_reorders_and_stores_twice():
    report = audit_settings(
        {"producer": {"bootstrap.servers": "kafka:9092", "queue.buffering.max.ms": "5"}},
        client="librdkafka",
        profile="prod",
    )
    assert {"KA301", "KA302"} <= above_note(report)


def test_tolerance_of_every_fault():
    report = audited("3.9")
    tolerance = {
        (guarantee["name"], one["fault"]): (one["survives"], one["exhausted"])
        for guarantee in report["deployments"][0]["guarantees"]
        for one in guarantee["tolerance"]
    }
    assert tolerance[SURVIVE, "broker_crash"] == (2, True)
    assert tolerance[SURVIVE, "broker_lost"] == (1, False)
    assert tolerance["writes-available", "broker_crash"] == (1, False)


@pytest.mark.parametrize(("elr", "survived"), [("on", 1), ("off", 0), (None, 0)])
def test_tolerance_where_a_feature_is_unknown_is_the_worst(elr, survived):
    report = audited("4.3", elr)
    (tolerance,) = [g["tolerance"] for g in report["deployments"][0]["guarantees"] if g["name"] == SURVIVE]
    assert {one["fault"]: one["survives"] for one in tolerance} == {
        "broker_crash": 2,
        "broker_lost": 1,
        "power_loss": survived,
        "disk_wiped": survived,
    }


CONSUMER = {
    "bootstrap.servers": "kafka:9092",
    "group.id": "billing",
    "key.deserializer": f"{STRING}Deserializer",
    "value.deserializer": f"{STRING}Deserializer",
}


def consumed(version, consumer=(), **tables):
    settings = {**CONSUMER, **dict(consumer)}
    return audit_settings(
        {"topic": TOPIC, "consumer": settings, **tables}, kafka_version=version, profile="prod"
    )


@pytest.mark.parametrize("version", ["2.8", "3.9", "4.3"])
@pytest.mark.parametrize(
    "consumer",
    [
        {},  # Kafka's defaults
        {"enable.auto.commit": "false"},
        {"enable.auto.commit": "true", "auto.offset.reset": "earliest"},
        {"session.timeout.ms": "30000", "heartbeat.interval.ms": "10000"},
        {"max.poll.records": "100", "max.poll.interval.ms": "600000"},
        {"fetch.min.bytes": "1024", "fetch.max.wait.ms": "500"},
        {"group.instance.id": "billing-0", "session.timeout.ms": "60000"},
    ],
    ids=str,
)
def test_sane_consumers_are_clean(version, consumer):
    assert above_note(consumed(version, consumer)) == set()


def test_a_sane_consumer_of_the_new_protocol_is_clean():
    settings = {"group.protocol": "consumer", "enable.auto.commit": "false", "auto.offset.reset": "earliest"}
    assert above_note(consumed("4.3", settings)) == set()


def test_a_default_librdkafka_consumer_is_clean():
    settings = {"bootstrap.servers": "kafka:9092", "group.id": "billing"}
    report = audit_settings({"consumer": settings}, client="librdkafka", profile="prod")
    assert above_note(report) == set()
    assert [finding["code"] for finding in report["findings"]] == ["KA403"]


@pytest.mark.parametrize("version", ["2.8", "3.9", "4.3"])
@pytest.mark.parametrize(
    ("processing", "consumer", "codes"),
    [
        ("loop", {"enable.auto.commit": "true"}, set()),
        ("loop", {"enable.auto.commit": "false"}, set()),
        ("before", {"enable.auto.commit": "false"}, {"KA401"}),
        ("workers", {"enable.auto.commit": "true"}, {"KA401"}),
        ("workers", {"enable.auto.commit": "false"}, set()),
    ],
)
def test_records_are_skipped_by_early_commits_alone(version, processing, consumer, codes):
    report = consumed(version, consumer, workload={"processing": processing})
    assert above_note(report) == codes
    for finding in report["findings"]:
        if finding["code"] in codes:
            assert finding["evidence"]["trace"]
            assert finding["fixes"] or finding["advice"]


@pytest.mark.parametrize(("idempotence", "shown"), [("false", ["KA301"]), ("true", [])])
def test_what_the_same_change_mends_is_told_under_what_the_search_found(idempotence, shown):
    """KA322, of the clock, beside KA301, of the search."""
    hasty = {"enable.idempotence": idempotence, "retries": "10", "request.timeout.ms": "5000"}
    report = audit_settings(
        {
            "producer": {**PRODUCER, **hasty},
            "topic": TOPIC,
            "broker": {"process.roles": "broker", "node.id": "1"},
            "workload": {"records_per_second": "100"},
        },
        profile="prod",
    )
    found = [one for one in report["findings"] if one["code"] in ("KA301", "KA322")]
    assert [one["code"] for one in found] == shown
    assert all("KA322" in one["covers"] for one in found)
