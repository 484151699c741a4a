"""Topics written out as each tool writes them, and settings as Kafka prints them, are loaded again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_advisor_plugins.formats.maps import ansible_vars
from kafka_advisor_plugins.formats.printed import printed
from kafka_advisor_plugins.formats.topics import declared, scripts

from advisor.api import EditStep, Source

NAMES = st.from_regex(r"[a-z][a-z0-9.-]{0,20}[a-z0-9]", fullmatch=True)
COUNTS = st.integers(1, 500)
CONFIGS = st.dictionaries(
    st.sampled_from(["retention.ms", "segment.bytes", "min.insync.replicas", "max.message.bytes"]),
    st.integers(1, 2**31 - 1).map(str),
)


def topicctl(name, partitions, replicas, config):
    spec = {"partitions": partitions, "replicationFactor": replicas, "settings": config}
    return json.dumps({"meta": {"name": name}, "spec": spec})


def jikkou(name, partitions, replicas, config):
    spec = {"partitions": partitions, "replicas": replicas, "configs": config}
    return json.dumps({"kind": "KafkaTopic", "metadata": {"name": name}, "spec": spec})


def gitops(name, partitions, replicas, config):
    return json.dumps(
        {"topics": {name: {"partitions": partitions, "replication": replicas, "configs": config}}}
    )


def ansible(name, partitions, replicas, config):
    task = {"resource": "topic", "name": name, "partitions": partitions, "replica_factor": replicas}
    return json.dumps([{"kafka_lib": {**task, "options": config}}])


def julie(name, partitions, replicas, config):
    counts = {"num.partitions": str(partitions), "replication.factor": str(replicas)}
    return json.dumps({"projects": [{"topics": [{"name": name, "config": {**counts, **config}}]}]})


def source(file, text):
    return Source(file, text, lambda _: None)


def told(document):
    facts = {fact.name: fact.value for fact in document.facts}
    held = {one.key: one.value for one in document.settings}
    return document.name, facts.get("topic.partitions"), facts.get("topic.replication_factor"), held


@pytest.mark.parametrize("write", [topicctl, jikkou, gitops, ansible, julie])
@settings(max_examples=40, deadline=None)
@given(name=NAMES, partitions=COUNTS, replicas=COUNTS, config=CONFIGS)
def test_a_topic_written_out_is_loaded(write, name, partitions, replicas, config):
    # JSON is YAML.
    loaded = declared.load(source("topics.yaml", write(name, partitions, replicas, config)))
    assert [told(one) for one in loaded.documents] == [(name, str(partitions), str(replicas), config)]


@settings(max_examples=60, deadline=None)
@given(name=NAMES, partitions=COUNTS, replicas=COUNTS, config=CONFIGS)
def test_a_command_written_out_is_loaded(name, partitions, replicas, config):
    words = [f"--topic {name}", f"--partitions {partitions}", f"--replication-factor {replicas}"]
    words += [f"--config {key}={value}" for key, value in config.items()]
    text = "#!/bin/sh\nkafka-topics.sh --create \\\n  " + " \\\n  ".join(words) + "\n"
    loaded = scripts.load(source("make.sh", text))
    assert [told(one) for one in loaded.documents] == [(name, str(partitions), str(replicas), config)]


@settings(max_examples=60, deadline=None)
@given(name=NAMES, partitions=COUNTS, replicas=COUNTS, config=CONFIGS)
def test_what_is_printed_is_loaded(name, partitions, replicas, config):
    configs = ",".join(f"{key}={value}" for key, value in config.items())
    counts = f"PartitionCount: {partitions}\tReplicationFactor: {replicas}\tConfigs: {configs}"
    loaded = printed.load(source("topics.txt", f"Topic: {name}\tTopicId: x\t{counts}\n"))
    assert [told(one) for one in loaded.documents] == [(name, str(partitions), str(replicas), config)]


def test_a_long_log_is_read_line_by_line():
    block = ["INFO ProducerConfig values: ", "\tacks = 0", "\tretries = 3", "INFO on it goes"]
    lines = ((number, block[number % 4]) for number in range(200_000))
    loaded = printed.stream("app.log", lines)
    assert [told(one)[3] for one in loaded.documents] == [{"acks": "0", "retries": "3"}]


def test_a_topics_own_map_is_edited():
    text = (
        "meta:\n  name: orders\nspec:\n  replicationFactor: 3\n  settings:\n    retention.ms: 1000 # short\n"
    )
    before = source("orders.yaml", text)
    document = declared.load(before).documents[0]
    step = EditStep("set", "retention.ms", "604800000", 6)
    assert declared.edit(before, document, step) == text.replace("1000", "604800000")
    step = EditStep("add", "min.insync.replicas", "2", None)
    after = declared.load(source("orders.yaml", declared.edit(before, document, step))).documents[0]
    assert told(after)[3] == {"retention.ms": "1000", "min.insync.replicas": "2"}


@settings(max_examples=40, deadline=None)
@given(config=CONFIGS.filter(bool))
def test_a_map_of_ansible_is_loaded(config):
    text = json.dumps({"kafka_broker": {"vars": {"kafka_broker_custom_properties": config}}})
    (document,) = ansible_vars.load(source("hosts.yml", text)).documents
    assert told(document) == ("kafka_broker", None, None, config)
