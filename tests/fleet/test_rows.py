"""Rows before they are judged: what Spark makes of them is what Python would."""

from __future__ import annotations

import random

import pytest

from advisor.catalog import resolution_table, resolve_version
from advisor.fleet.canonical import Canonical, of_document
from advisor.fleet.keys import names_kept_apart, read_keys
from advisor.fleet.options import FleetOptions
from advisor.fleet.rows.narrow import TORN
from advisor.fleet.rows.resolution import spoken_sql
from advisor.fleet.rows.sources import normalised
from advisor.join.effective import effective
from advisor.model import Document
from advisor.read.values import setting

CONFIGS = 10_000


def test_spark_resolves_as_the_audit_does(spark):
    """Which of a broker's keys are in force for a topic, by the synonyms of each release, on random
    configurations."""
    chance = random.Random(5)
    versions = ("2.8", "3.9", "4.1")
    asked = {
        version: sorted(key for home, key in resolution_table(version) if home == "topic")
        for version in versions
    }
    names: dict[str, set[str]] = {"topic": set(), "broker": set()}
    for version in versions:
        for key in asked[version]:
            found = resolution_table(version)["topic", key].sources
            if len(found) > 1:
                for home, name, _ in found:
                    names[home].add(name)
    drawn = {home: sorted(known) for home, known in names.items()}
    made = []
    for number in range(CONFIGS):
        topic, broker = (
            dict.fromkeys(chance.sample(drawn[home], chance.randint(0, 6)), "1") for home in drawn
        )
        made.append((number, topic, broker))
    frame = spark.createDataFrame(made, "number int, topic map<string,string>, broker map<string,string>")
    spoke = 0
    for version in versions:
        sql = spoken_sql(asked[version], version, "topic", "broker")
        part = frame.where(f"pmod(number, 3) = {versions.index(version)}").selectExpr(
            "number", f"{sql} as spoke"
        )
        answers = {row["number"]: sorted(row["spoke"]) for row in part.collect()}
        assert len(answers) >= CONFIGS // 3
        for number, told in answers.items():
            layers = {
                name: {key: setting(key, text, name, 1) for key, text in given.items()}
                for name, given in zip(("topic", "broker"), made[number][1:], strict=True)
            }
            wanted = []
            for key in asked[version]:
                found, given = effective("topic", key, resolve_version(version), layers)
                if given and found.origin.note.startswith("broker "):
                    wanted.append(found.origin.note.removeprefix("broker "))
            assert told == sorted(wanted), (number, version)
            spoke += len(told)
    assert spoke > CONFIGS


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
    from advisor.memo.cache import Cache
    from advisor.packs.pack import load_packs
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
