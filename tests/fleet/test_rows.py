"""Rows before they are judged: what Spark makes of them is what Python would."""

from __future__ import annotations

import random

import pytest

from advisor.catalog import resolution_table, resolve_version
from advisor.effective import effective
from advisor.fleet.canonical import Canonical, of_document
from advisor.fleet.keys import names_kept_apart, read_keys
from advisor.fleet.narrowing import TORN
from advisor.fleet.options import FleetOptions
from advisor.fleet.resolving import resolved
from advisor.fleet.sources import normalised
from advisor.model import Document
from advisor.reading import is_secret_key, setting

CONFIGS = 10_000


def test_spark_resolves_as_the_audit_does(spark):
    """Topic and broker keys with their synonyms, units and defaults, on random configurations."""
    from pyspark.sql.functions import col

    chance = random.Random(5)
    versions = ("2.8", "3.9", "4.1")
    made = []
    asked = {}
    for version in versions:
        table = resolution_table(version)
        asked[version] = sorted(
            place
            for place, found in table.items()
            if len(found.sources) > 1 and place[0] in ("topic", "broker") and not is_secret_key(place[1])
        )
    names = {
        component: sorted(
            {
                name
                for version in versions
                for place in asked[version]
                for home, name, _ in resolution_table(version)[place].sources
                if home == component
            }
        )
        for component in ("topic", "broker")
    }  # fmt: skip
    values = ["-1", "0", "1", "168", " 7 ", "1_000", "+3", "x", "", "true", "9223372036854775807", "1.5"]
    for number in range(CONFIGS):
        row = {
            component: {name: chance.choice(values) for name in chance.sample(keys, chance.randint(0, 6))}
            for component, keys in names.items()
        }
        made.append((number, versions[number % 3], row["topic"], row["broker"]))
    frame = spark.createDataFrame(
        made, "number int, version string, topic map<string,string>, broker map<string,string>"
    )
    answers = {}
    for version in versions:
        layers = {"topic": "topic", "broker": "broker"}
        found = frame.where(col("version") == version).select(
            "number", resolved(asked[version], version, layers)
        )
        answers |= {row[0]: row[1] for row in found.collect()}
    assert len(answers) == CONFIGS
    for number, version, topic, broker in made:
        layers = {
            name: {key: setting(key, text, name, 1) for key, text in given.items()}
            for name, given in (("topic", topic), ("broker", broker))
        }
        for said in answers[number]:
            want, given = effective(said["component"], said["key"], resolve_version(version), layers)
            assert said["value"] == (None if want is None else str(want.value)), (number, said)
            assert (said["source"] is not None) == given


@pytest.fixture(scope="module")
def read_back(spark):
    def read(rows, columns):
        frame = spark.createDataFrame(rows, columns)
        return normalised(frame, FleetOptions(), sorted(names_kept_apart(()))).collect()

    return read


def test_maps_structs_json_and_pairs_are_one(read_back):
    config = {"acks": "1", "linger.ms": "5"}
    by_map = read_back([("producer", config)], "component string, config map<string,string>")
    by_json = read_back([("producer", '{"linger.ms": 5, "acks": "1"}')], "component string, config string")
    by_struct = read_back(
        [("producer", ("1", 5))], "component string, config struct<acks:string,`linger.ms`:int>"
    )
    by_pairs = read_back(
        [("a", "producer", key, value, n) for n, (key, value) in enumerate(config.items(), 3)],
        "id string, component string, key string, value string, line int",
    )
    assert len({row["fp"] for (row,) in (by_map, by_json, by_struct, by_pairs)}) == 1
    assert by_pairs[0]["rows"] == 2
    assert by_pairs[0]["lines"] == {"acks": 3, "linger.ms": 4}


def test_what_only_names_something_is_no_behaviour(read_back):
    rows = [
        ("producer", {"acks": "all", "client.id": f"s-{n}", "bootstrap.servers": f"k{n}:9092"})
        for n in range(5)
    ]
    made = read_back(rows, "component string, config map<string,string>")
    assert len({row["fp"] for row in made}) == 1
    odd = read_back(
        [("producer", {"client.id": "plain"}), ("producer", {"client.id": "not plain"})],
        "component string, config map<string,string>",
    )
    assert len({row["fp"] for row in odd}) == 2


def test_spark_and_python_write_the_same_text(read_back):
    config = {"acks": "all", "client.id": "svc", "ssl.key.password": "x", "linger.ms": "5", "own.key": "${X}"}
    (row,) = read_back([("producer", config)], "component string, config map<string,string>")
    document = Document("f", "row", "producer", "f", tuple(setting(k, v, "f", 1) for k, v in config.items()))
    ours = of_document(document, "4.1", names_kept_apart(()))
    theirs = Canonical.read(row["text"])
    assert theirs.entries == ours.entries
    assert Canonical.read(ours.text()) == ours


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (("gateway", {"a": "b"}), "no component is called gateway"),
        ((None, {"a": "b"}), "no component"),
        (("producer", None), "the config is missing"),
        (("producer", {}), "the config is empty"),
    ],
)
def test_quarantine_says_why(read_back, row, reason):
    (made,) = read_back([row], "component string, config map<string,string>")
    assert reason in made["reason"]


@pytest.mark.parametrize("value", ["b\u0002c\u0001d", "b\u0001c", "b\u0002c", "plain"])
def test_a_value_that_would_read_back_as_another_configuration_is_seen(spark, value):
    frame = spark.createDataFrame(
        [("producer", {"a": value, "acks": "1"})], "component string, config map<string,string>"
    )
    (row,) = normalised(frame, FleetOptions(), []).collect()
    assert row["reason"] == (TORN if value != "plain" else None)


def test_keys_that_guarantees_read_are_kept():
    from advisor.cache import Cache
    from advisor.packs import load_packs
    from advisor.registry import load_registry

    registry = load_registry()
    read = read_keys(registry, load_packs(registry.packs, (), Cache(None)))
    assert {
        "acks",
        "min.insync.replicas",
        "enable.idempotence",
        "default.replication.factor",
        "broker.rack",
    } <= read
    assert "metrics.num.samples" not in read
