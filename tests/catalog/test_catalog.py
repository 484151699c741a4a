"""The catalog: its compiled files equal their source, and its answers follow the releases."""

import json
import os
import subprocess
import sys

import pytest

from advisor import catalog
from advisor.catalog import compile as build
from advisor.catalog import store
from advisor.catalog.versions import RELEASES


def test_compiled_files_equal_their_source():
    folder = os.path.join(store.DATA, "compiled")
    expected = {name + ".json": build.text_of(data) for name, data in build.compile_all().items()}
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="ascii") as file:
            found[name] = file.read()
    assert found == expected
    assert list(RELEASES) == build.source("kafka")["releases"]


def test_every_record_of_the_source_is_what_lookup_says():
    for component, table in build.source("kafka")["components"].items():
        for name, records in table.items():
            for record in records:
                for release in (record["since"], record["until"] or catalog.NEWEST):
                    key = catalog.lookup(component, name, release)
                    assert key is not None
                    assert key.type == record["type"]
                    default = record.get("default")
                    assert key.default == (tuple(default) if isinstance(default, list) else default)
                    assert (key.min, key.max) == (record.get("min"), record.get("max"))
                    assert key.required is record.get("required", False)


@pytest.mark.parametrize(
    ("asked", "release", "number", "noted"),
    [
        ("3.9", "3.9.2", (3, 9), False),
        ("3.9.1", "3.9.1", (3, 9, 1), False),
        ("3.9.0", "3.9.1", (3, 9, 0), False),
        ("2.0", "2.0.1", (2, 0), False),
        ("0.10.2.1", "2.0.1", (0, 10, 2, 1), True),
        ("1.1", "2.0.1", (1, 1), True),
        ("5.0", "4.3.1", (5, 0), True),
        ("2.9", "2.8.2", (2, 9), True),
        ("3.10.0", "3.9.2", (3, 10, 0), True),
        ("v4.0.0-SNAPSHOT", "4.0.2", (4, 0, 0), False),
        ("4", "4.3.1", (4, 3), True),
        ("4.3.9", "4.3.1", (4, 3, 9), False),
    ],
)
def test_versions_resolve(asked, release, number, noted):
    version = catalog.resolve_version(asked)
    assert (version.release, version.number, version.note is not None) == (release, number, noted)


@pytest.mark.parametrize("text", ["", "newest", "3.x", "1.2.3.4.5", "٣.٩", "3..9", "-1"])
def test_nonsense_is_no_version(text):
    with pytest.raises(ValueError, match="not a Kafka version"):
        catalog.resolve_version(text)


def test_fates():
    assert catalog.fate("producer", "acks", "2.8").status == "known"
    assert catalog.fate("producer", "delivery.timeout.ms", "2.0") == ("not-yet", "2.1.1", None, False, None)
    removed = catalog.fate("broker", "zookeeper.connect", "4.0")
    assert (removed.status, removed.until) == ("removed", "3.9.2")
    assert catalog.fate("topic", "no.such", "4.0").status == "never"
    assert catalog.fate("producer", "auto.include.jmx.reporter", "3.9").deprecated
    assert [r.key.default for r in catalog.history("producer", "acks")] == ["1", "all"]
    assert catalog.components_of("acks", "3.9") == ("producer",)
    assert "connect" in catalog.components_of("ssl.protocol", "3.9")


def test_unclean_election_was_on_before_0_11():
    for component in ("topic", "broker"):
        defaults = [
            catalog.lookup(component, "unclean.leader.election.enable", v).default
            for v in ("0.10", "0.11", "2.0")
        ]
        assert defaults == [True, False, False]


def test_resolution_gives_sources_in_order_with_units():
    found = catalog.resolution("3.9", "topic", "retention.ms")
    assert found.sources == (
        ("topic", "retention.ms", 1),
        ("broker", "log.retention.ms", 1),
        ("broker", "log.retention.minutes", 60000),
        ("broker", "log.retention.hours", 3600000),
    )
    assert found.default == 604800000
    for release in RELEASES:
        for (component, key), row in catalog.resolution_table(release).items():
            assert row.sources[0] == (component, key, 1)
            for other, name, _ in row.sources:
                assert catalog.lookup(other, name, release) is not None
    assert catalog.resolution("2.1", "broker", "log.retention.ms").default == 604800000
    assert catalog.resolution("2.1", "broker", "log.dirs").default == "/tmp/kafka-logs"
    assert len(catalog.resolution("4.0", "topic", "message.timestamp.before.max.ms").sources) == 2


@pytest.mark.parametrize(
    ("component", "wrong", "meant"),
    [
        ("consumer", "autoOffsetReset", "auto.offset.reset"),
        ("consumer", "auto_offset_reset", "auto.offset.reset"),
        ("consumer", "auto-offset-reset", "auto.offset.reset"),
        ("producer", "AUTO_OFFSET", None),
        ("topic", "min.insync.replica", "min.insync.replicas"),
        ("producer", "ack", "acks"),
        ("producer", "acks", None),
        ("broker", "unclean.leader.elecion.enable", "unclean.leader.election.enable"),
        ("producer", "name", None),
        ("producer", "lniger.ms", "linger.ms"),
    ],
)
def test_suggestions(component, wrong, meant):
    assert catalog.suggest(component, wrong, "3.9") == meant


@pytest.mark.parametrize(
    ("component", "key", "known"),
    [
        ("broker", "listener.name.external.ssl.keystore.location", True),
        ("broker", "listener.name.sasl_ssl.plain.sasl.jaas.config", True),
        ("broker", "listener.name.x.ssl.keystoer", False),
        ("broker", "super.users", True),
        ("broker", "message.max.byte", False),
        ("connect", "producer.acks", True),
        ("connect", "producer.ackz", False),
        ("connect", "config.providers.file.class", True),
        ("streams", "main.consumer.max.poll.records", True),
        ("streams", "topic.retention.ms", True),
        ("streams", "acks", True),
        ("streams", "ackz", False),
        ("topic", "retention", False),
        ("producer", "schema.registry.url", True),
        ("producer", "retires", False),
    ],
)
def test_families(component, key, known):
    assert catalog.is_known(component, key, "3.9") is known


def test_names():
    assert catalog.is_password("sasl.jaas.config")
    assert catalog.is_password("producer.ssl.key.password")
    assert catalog.is_password("listener.name.x.plain.sasl.jaas.config")
    assert catalog.is_password("sasl.password")
    assert not catalog.is_password("acks")
    assert not catalog.is_password("")
    assert catalog.known_anywhere("queue.buffering.max.ms")
    assert not catalog.known_anywhere("server.port")


def test_librdkafka():
    linger = catalog.librdkafka("linger.ms")
    assert (linger.canonical, linger.scope, linger.default) == ("queue.buffering.max.ms", "P", 5.0)
    assert catalog.librdkafka("auto.commit.interval.ms", "topic").default == 60000
    assert catalog.librdkafka("no.such") is None
    assert catalog.librdkafka_only("statistics.interval.ms")
    assert not catalog.librdkafka_only("linger.ms")


def test_one_lookup_reads_one_release_and_imports_little():
    code = """import sys, json
from advisor import catalog
catalog.lookup("producer", "acks", "3.9")
print(json.dumps([sorted(catalog.store._files), sorted(sys.modules)]))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    files, modules = json.loads(out)
    assert files == ["3.9.2"]
    assert not {"dataclasses", "difflib", "pydantic", "inspect"} & set(modules)


def test_every_key_that_is_gone_has_a_replacement_or_says_what_kafka_does_now():
    """And what takes its place exists in the release that lacks it."""
    for component, table in build.source("kafka")["components"].items():
        for key in table:
            history = catalog.fate(component, key, catalog.NEWEST)
            found = catalog.replacement(component, key)
            if found is None and table[key][-1].get("internal"):
                continue  # nobody was to set it
            assert (history.status == "removed") == (found is not None), (component, key)
            if found is None:
                continue
            assert found.keys or found.instead or found.now
            first_without = RELEASES[RELEASES.index(history.until) + 1]
            for other in found.keys:
                assert catalog.fate(component, other, first_without).status == "known", (
                    component,
                    key,
                    other,
                )
