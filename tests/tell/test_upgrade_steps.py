"""The checklist of an upgrade: which steps, in which order, about which lines."""

from __future__ import annotations

import pytest

from advisor.catalog import RELEASES, resolve_version
from advisor.model import Document, Fact, Location, Origin, Setting
from advisor.tell.upgrade.steps import Cluster, steps

ZOOKEEPER = {"broker.id": "1", "zookeeper.connect": "zk:2181", "inter.broker.protocol.version": "2.8"}
KRAFT = {"process.roles": "broker", "node.id": "1", "min.insync.replicas": "2"}


def document(component, settings, facts=(), client="java"):
    made = tuple(
        Setting(key, value, Origin("file", Location(f"{component}.properties", line)))
        for line, (key, value) in enumerate(settings.items(), 1)
    )
    stated = tuple(Fact(name, value, Origin("project", None, "")) for name, value in facts)
    return Document(
        f"{component}.properties", "properties", component, component, made, facts=stated, client=client
    )


def names(old, new, *documents):
    brokers = tuple(one for one in documents if one.component == "broker")
    topics = tuple(one for one in documents if one.component == "topic")
    clients = tuple(one for one in documents if one.component not in ("broker", "topic"))
    return steps(resolve_version(old), resolve_version(new), Cluster(brokers, topics, clients))


def of(found):
    return [step.name for step in found]


def test_out_of_zookeeper_by_way_of_the_bridge_release():
    found = names("2.8", "4.1", document("broker", ZOOKEEPER))
    assert of(found) == [
        "old-clients",
        "java",
        "keep-protocol",
        "roll-zookeeper",
        "raise-protocol",
        "migration-controllers",
        "migration-brokers",
        "migration-kraft",
        "migration-end",
        "roll",
        "watch",
        "finalize-release",
        "features",
        "clients",
    ]
    assert "to Kafka 3.9" in found[3].text
    assert [at.line for at in found[7].at] == [1, 2, 3]
    assert found[11].text.count("--release-version 4.1") == 1


def test_from_the_bridge_release_itself_nothing_is_rolled_before_the_migration():
    assert of(names("3.9", "4.0", document("broker", ZOOKEEPER)))[:4] == [
        "old-clients",
        "java",
        "migration-controllers",
        "migration-brokers",
    ]


def test_within_zookeeper_the_protocol_is_raised_in_a_second_roll():
    settings = {**ZOOKEEPER, "log.message.format.version": "2.8"}
    found = names("2.8", "3.6", document("broker", settings))
    assert of(found) == ["keep-protocol", "roll-zookeeper", "raise-protocol-and-format", "clients"]
    assert found[0].text.startswith("keep inter.broker.protocol.version=2.8")
    unstated = {key: value for key, value in ZOOKEEPER.items() if key != "inter.broker.protocol.version"}
    assert names("2.8", "3.6", document("broker", unstated))[0].text.startswith("set inter.broker")


def test_under_kraft_the_metadata_is_checked_and_the_minimum_is_moved_before_eligible_leaders():
    found = names("3.7", "4.1", document("broker", KRAFT))
    assert of(found) == [
        "old-clients",
        "java",
        "check-metadata",
        "roll",
        "watch",
        "minimum",
        "finalize-release",
        "features",
        "clients",
    ]
    assert "--add-config min.insync.replicas=2" in found[5].text
    assert [at.line for at in found[5].at] == [3]
    assert "minimum" not in of(names("3.7", "4.0", document("broker", KRAFT)))
    within_four = names("4.1", "4.3", document("broker", KRAFT))
    assert of(within_four) == ["roll", "watch", "finalize-release", "clients"]
    assert "--metadata 3.9" in names("3.5", "3.9", document("broker", KRAFT))[-2].text


def test_kraft_from_before_it_was_ready_goes_over_the_bridge():
    assert of(names("3.2", "4.0", document("broker", KRAFT)))[2:4] == ["bridge-kraft", "finalize-metadata"]


def test_settings_that_are_gone_are_named_with_what_takes_their_place():
    broker = document("broker", {**KRAFT, "log.message.timestamp.difference.max.ms": "1000"})
    topic = document("topic", {"message.format.version": "2.8"})
    (gone,) = [step for step in names("3.9", "4.1", broker, topic) if step.name == "gone"]
    assert "use log.message.timestamp.before.max.ms and log.message.timestamp.after.max.ms" in gone.text
    assert [at.file for at in gone.at] == ["broker.properties", "topic.properties"]


@pytest.mark.parametrize(
    ("client", "version", "told"),
    [
        ("java", "2.0", "Too old: consumer (2.0)"),
        ("java", "2.1", "Those here are new enough"),
        ("librdkafka", "1.6.1", "Too old: consumer (1.6.1)"),
        ("librdkafka", "1.8.2", "Those here are new enough"),
    ],
)
def test_clients_that_the_brokers_would_refuse_come_first(client, version, told):
    consumer = document("consumer", {"group.id": "g"}, (("client.version", version),), client)
    first = names("3.9", "4.1", document("broker", KRAFT), consumer)[0]
    assert told in first.text


def test_clients_alone_are_told_what_they_need():
    assert of(names("3.9", "4.1", document("producer", {"acks": "all"}))) == ["lone-clients"]
    assert names("3.8", "3.9", document("producer", {"acks": "all"})) == []


def test_back_is_a_question_of_what_is_finalized():
    assert of(names("4.1", "3.9", document("broker", KRAFT))) == ["back", "roll-back"]


def test_every_pair_of_releases_has_steps_and_the_same_release_none():
    for settings in (ZOOKEEPER, KRAFT):
        for old in RELEASES:
            for new in RELEASES:
                found = names(old, new, document("broker", settings))
                same = old.rpartition(".")[0] == new.rpartition(".")[0]
                assert bool(found) != same
                assert all("{" not in step.text for step in found)
