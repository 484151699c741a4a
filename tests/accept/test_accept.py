"""Accept: what it says, what it leaves open, what it never tells, and what it costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from advisor.accept import Accepted, Rejected, looks_like_class, values, would_accept, would_accept_librdkafka
from advisor.accept.jaas import parse
from advisor.catalog import RELEASES, keys, librdkafka_names, resolve_version

SERIALIZATION = "org.apache.kafka.common.serialization."
PRODUCER = {
    "bootstrap.servers": "127.0.0.1:1",
    "key.serializer": SERIALIZATION + "StringSerializer",
    "value.serializer": SERIALIZATION + "ByteArraySerializer",
}
CONSUMER = {
    "bootstrap.servers": "127.0.0.1:1",
    "key.deserializer": SERIALIZATION + "StringDeserializer",
    "value.deserializer": SERIALIZATION + "ByteArrayDeserializer",
}
JSON = "org.apache.kafka.connect.json.JsonConverter"
CONNECT = {
    "bootstrap.servers": "127.0.0.1:1",
    "group.id": "connect-cluster",
    "key.converter": JSON,
    "value.converter": JSON,
    "offset.storage.topic": "o",
    "config.storage.topic": "c",
    "status.storage.topic": "s",
}
ZOOKEEPER = {"broker.id": "1", "zookeeper.connect": "127.0.0.1:2181"}
KRAFT = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
    "controller.quorum.voters": "1@127.0.0.1:9093",
}
BASES = {
    "producer": PRODUCER,
    "consumer": CONSUMER,
    "admin": {"bootstrap.servers": "127.0.0.1:1"},
    "topic": {},
    "connect": CONNECT,
    "streams": {"application.id": "app", "bootstrap.servers": "127.0.0.1:1"},
}


def probes():
    with open(
        os.path.join(os.path.dirname(__file__), "data", "rules_by_version.jsonl"), encoding="utf-8"
    ) as file:
        return [json.loads(line) for line in file]


# Recorded with the topic's own class alone; these releases' controllers refuse it with tiered storage off.
ON_PURPOSE = {("topic", "remote.storage.enable", release) for release in ("3.6.2", "3.7.2", "3.8.1")}


def test_rules_appear_in_the_release_that_brought_them():
    wrong = []
    for probe in probes():
        component = probe["component"]
        for since, until, accepted in probe["verdicts"]:
            for release in RELEASES[RELEASES.index(since) : RELEASES.index(until) + 1]:
                kraft = release >= "3.3"
                base = (KRAFT if kraft else ZOOKEEPER) if component == "broker" else BASES[component]
                verdict = would_accept(component, release, {**base, **probe["config"]})
                ours = isinstance(verdict, Accepted)
                if ours != accepted and not any(
                    (component, key, release) in ON_PURPOSE for key in probe["config"]
                ):
                    wrong.append((release, component, probe["config"], verdict))
    assert wrong == []


class Secret:
    def __init__(self, text):
        self._text = text

    def reveal(self):
        return self._text


def test_secrets_are_judged_and_never_told():
    config = {**PRODUCER, "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    bad = would_accept("producer", "3.9", {**config, "sasl.jaas.config": Secret("hunter2 needed")})
    assert isinstance(bad, Rejected)
    assert "hunter2" not in repr(bad)
    plain = would_accept("producer", "3.9", {**config, "sasl.jaas.config": "hunter2 needed"})
    assert "hunter2" not in repr(plain)
    good = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="hunter2";'
    assert isinstance(would_accept("producer", "3.9", {**config, "sasl.jaas.config": Secret(good)}), Accepted)
    numeric = would_accept("producer", "3.9", {**PRODUCER, "retries": Secret("hunter2")})
    assert isinstance(numeric, Rejected)
    assert "hunter2" not in repr(numeric)


def test_no_secret_leaves_in_any_key():
    """Whatever key a loader takes for secret, neither its text nor a part of it comes back."""
    text = "Hunter2.Sesame://swordfish:99999,OpenSesame"
    for component, base in {**BASES, "broker": KRAFT}.items():
        for release in ("2.8", "3.9", "4.3"):
            for key in keys(component, release):
                told = repr(would_accept(component, release, {**base, key: Secret(text)})).lower()
                assert not any(word in told for word in ("hunter2", "sesame", "swordfish", "99999"))
    for key in librdkafka_names():
        told = repr(would_accept_librdkafka("producer", {key: Secret(text)})).lower()
        assert not any(word in told for word in ("hunter2", "sesame", "swordfish", "99999"))


def test_what_is_templated_is_left_open():
    unknown = object()
    for key in ("acks", "retries", "bootstrap.servers", "key.serializer", "delivery.timeout.ms"):
        assert isinstance(would_accept("producer", "4.3", {**PRODUCER, key: unknown}), Accepted)
    verdict = would_accept(
        "producer", "3.9", {**PRODUCER, "acks": unknown, "enable.idempotence": "true", "retries": "0"}
    )
    assert [reason.keys[0] for reason in verdict.reasons] == ["retries"]
    assert isinstance(would_accept("broker", "3.9", {**KRAFT, "listeners": unknown}), Accepted)


@pytest.mark.parametrize(
    ("name", "needs", "near"),
    [
        ("StringSerializer", None, SERIALIZATION + "StringSerializer"),
        (SERIALIZATION + "StringSerialiser", None, SERIALIZATION + "StringSerializer"),
        ("io.confluent.kafka.serializers.KafkaAvroSerializer", "classpath", None),
        ("Whatever", None, None),
    ],
)
def test_missing_classes(name, needs, near):
    verdict = would_accept("producer", "3.9", {**PRODUCER, "key.serializer": name})
    (reason,) = verdict.reasons
    assert (reason.kind, reason.needs, reason.near) == ("class", needs, near)
    assert looks_like_class(name) == near


@pytest.mark.parametrize(
    ("component", "version", "config", "rewritten"),
    [
        ("producer", "3.9", {**PRODUCER, "acks": "1"}, {"enable.idempotence": "false"}),
        ("producer", "2.8", {**PRODUCER, "acks": "1"}, {}),
        (
            "producer",
            "2.8",
            {**PRODUCER, "transactional.id": "t"},
            {"enable.idempotence": "true", "acks": "all"},
        ),
        ("producer", "3.9", {**PRODUCER, "linger.ms": "200000"}, {"delivery.timeout.ms": "230000"}),
        (
            "producer",
            "3.9",
            {**PRODUCER, "max.in.flight.requests.per.connection": "6"},
            {"enable.idempotence": "false"},
        ),
        ("producer", "3.9", PRODUCER, {}),
        ("consumer", "3.9", CONSUMER, {"enable.auto.commit": "false"}),
        ("consumer", "3.9", {**CONSUMER, "group.id": "g"}, {}),
        (
            "broker",
            "3.9",
            {**ZOOKEEPER, "log.retention.ms": "1000", "log.retention.hours": "5"},
            {"log.retention.hours": None},
        ),
    ],
)
def test_silent_rewrites(component, version, config, rewritten):
    verdict = would_accept(component, version, config)
    assert {rewrite.key: rewrite.becomes for rewrite in verdict.rewrites} == rewritten


def test_groups_refuse_what_they_do_not_know():
    assert isinstance(would_accept("group", "4.3", {"consumer.session.timeout.ms": "50000"}), Accepted)
    (unknown,) = would_accept("group", "4.3", {"consumer.session.timeout": "50000"}).reasons
    assert unknown.kind == "unknown-key"
    (bound,) = would_accept("group", "4.3", {"consumer.session.timeout.ms": "500000"}).reasons
    assert (bound.kind, bound.needs) == ("range", "broker")


@pytest.mark.parametrize(
    ("role", "config", "accepted", "first"),
    [
        ("producer", {"acks": "1", "enable.idempotence": "true"}, False, "acks"),
        ("producer", {"acks": "1"}, True, None),
        ("producer", {"no.such": "1"}, False, "no.such"),
        ("producer", {"linger.ms": "10s"}, True, "linger.ms"),
        ("producer", {"session.timeout.ms": "6000"}, True, "session.timeout.ms"),
        ("consumer", {"group.id": "g", "session.timeout.ms": "400000"}, False, "max.poll.interval.ms"),
        (
            "consumer",
            {"group.id": "g", "partition.assignment.strategy": "range,cooperative-sticky"},
            False,
            "partition.assignment.strategy",
        ),
        ("consumer", {"group.id": "g", "auto.offset.reset": "earliest"}, True, None),
        (
            "consumer",
            {"group.id": "g", "security.protocol": "sasl_ssl", "sasl.mechanism": "PLAIN"},
            False,
            "sasl.username",
        ),
        ("consumer", {"group.id": object(), "fetch.min.bytes": object()}, True, None),
    ],
)
def test_librdkafka(role, config, accepted, first):
    verdict = would_accept_librdkafka(role, config)
    assert isinstance(verdict, Accepted) is accepted
    if isinstance(verdict, Accepted):
        assert [rewrite.key for rewrite in verdict.rewrites] == ([first] if first else [])
    else:
        assert verdict.reasons[0].keys[0] == first


def test_java_numbers():
    assert values.integer("+5", values.INT) == 5
    assert values.integer("２", values.INT) == 2
    for text in ("", "-", "1_000", "0x10", "1e3", " 1", "2147483648", "1.0"):
        assert values.integer(text, values.INT) is None
    for text, value in (("1.", 1.0), (".5", 0.5), ("1e3", 1000.0), ("2f", 2.0), ("0x1p3", 8.0), (" 1 ", 1.0)):
        assert values.parse_double(text) == value
    for text in ("", ".", "e3", "1e", "nan", "inf", "1_0", "0x10"):
        assert values.parse_double(text) is None
    assert values.parse_duration("PT1H") == 3600
    assert values.parse_duration("-P1D") == -86400
    assert [values.parse_duration(text) for text in ("P", "PT", "1h", "P1W", "PT1M1H", "P1DT")] == [None] * 6


def test_jaas_lines():
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    entry = parse(f"{module} required username=\"a b\" password='c';")
    assert (entry.module, entry.options) == (module, {"username": "a b", "password": "c"})
    for text in (
        "",
        "garbage",
        f"{module} required",
        f"{module} needed;",
        f"{module} required a=;",
        f"{module} required a=5;",
        f"{module} required; {module} required;",
    ):
        assert isinstance(parse(text), str)


def test_a_small_config_builds_no_table_twice():
    """Calls are counted, not time: only a table rebuilt at every call makes thousands."""
    config = {**PRODUCER, "acks": "all", "linger.ms": "5", "compression.type": "zstd", "batch.size": "32768"}
    would_accept("producer", "4.3", config)
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        would_accept("producer", "4.3", config)
    finally:
        sys.setprofile(None)
    assert calls < 600


def test_the_import_is_light():
    code = "import sys; before = set(sys.modules); import advisor.accept; print(*set(sys.modules) - before)"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"dataclasses", "pydantic", "difflib", "inspect", "ipaddress", "advisor.accept.broker"}
    assert not heavy & set(modules)


@pytest.mark.parametrize(
    ("config", "keys"),
    [
        ({"cleanup.policy": "compact,delete"}, ("cleanup.policy", "remote.storage.enable")),
        (
            {"local.retention.ms": "2000", "retention.ms": "1000"},
            ("local.retention.ms", "retention.ms"),
        ),
        (
            {"local.retention.bytes": "-1", "retention.bytes": "1000"},
            ("local.retention.bytes", "retention.bytes"),
        ),
        ({"local.retention.ms": "-2", "retention.ms": "1000"}, None),
        ({"local.retention.ms": "1000", "retention.ms": "-1"}, None),
        ({"local.retention.ms": "1000"}, None),
    ],
)
def test_a_tiered_topic_is_not_compacted_and_keeps_a_part_of_it_locally(config, keys):
    """LogConfig.validateTopicLogConfigValues, on brokers with tiered storage."""
    verdict = would_accept("topic", resolve_version("3.9"), {"remote.storage.enable": "true", **config})
    assert isinstance(verdict, Rejected)  # a plain cluster has no tiered storage
    assert [reason.keys for reason in verdict.reasons if reason.needs is None] == ([keys] if keys else [])
    plain = would_accept("topic", resolve_version("3.9"), config)
    assert isinstance(plain, Accepted)
