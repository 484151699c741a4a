"""Every sample scenario, run as a reader of samples/scenarios/README.md would."""

from __future__ import annotations

import json
import re
import tomllib

import jsonschema
import pytest

from tests.conftest import ROOT

from .golden import HERE, NAMES, SAMPLES, text_of

FILES = sorted(SAMPLES.glob("*.toml"))
REPORT = json.loads((ROOT / "advisor/schemas/report.schema.json").read_text())
STEP = {"$defs": REPORT["$defs"], "$ref": "#/$defs/step"}


def traces(data):
    yield from data.get("trace", ())
    for entry in data["guarantees"]:
        yield from entry["trace"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_sample_comes_out_as_it_says(simulate, path):
    stated = tomllib.loads(path.read_text())
    done = simulate(path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(stated["title"] + "\n")
    assert stated["story"].strip() in done.out
    if stated.get("expect") == "broken":
        assert f"BROKEN {stated['guarantee']}: " in done.out
    elif stated.get("expect") == "holds" and not {"events", "time"} & set(stated):
        assert f"{stated['guarantee']}: no run found within these bounds" in done.out
        assert re.search(r"\n  bounds: .* states, all seen\n", done.out)
    assert "proved" not in done.out
    assert all(line.isprintable() for line in done.out.splitlines())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_its_trace_is_that_of_a_finding(simulate, path):
    stated = tomllib.loads(path.read_text())
    data = simulate(path, "--format", "json").json
    assert data["unmet"] == []
    assert data["scenario"]["title"] == stated["title"]
    steps = list(traces(data))
    assert bool(steps) == (bool({"events", "time"} & set(stated)) or stated["expect"] == "broken")
    validator = jsonschema.Draft202012Validator(STEP)
    for step in steps:
        validator.validate(step)
    if "events" in stated:
        assert [step["event"]["text"] for step in steps] == stated["events"]


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_a_run(name):
    assert text_of(name) == (HERE / f"{name}.txt").read_text(encoding="utf-8")


def test_every_sample_is_in_the_index_with_a_story_to_read():
    index = (SAMPLES / "README.md").read_text()
    assert [path.name for path in FILES if f"({path.name})" not in index] == []
    assert set(re.findall(r"\(([\w-]+\.toml)\)", index)) == {path.name for path in FILES}
    for path in FILES:
        assert len(tomllib.loads(path.read_text())["story"].split()) >= 35, path.name


def test_s1_both_places_that_keep_a_followers_position(simulate):
    data = simulate(SAMPLES / "s1-two-fetch-rounds.toml", "--format", "json").json
    seen = [
        (
            state["hw"],
            state["remote_leo"]["1"],
            state["replicas"][0]["leo"],
            state["replicas"][1]["leo"],
            state["replicas"][1]["hw"],
            state["clients"]["acked"],
        )
        for state in (step["state"] for step in data["trace"])
    ]
    assert seen == [
        (0, 0, 1, 0, 0, []),
        (0, 0, 1, 0, 0, []),
        (0, 0, 1, 1, 0, []),
        (1, 1, 1, 1, 0, ["r0"]),
        (1, 1, 1, 1, 1, ["r0"]),
    ]


def test_s1_with_three_replicas_the_last_fetch_acknowledges(simulate):
    data = simulate(SAMPLES / "s1-three-replicas.toml", "--format", "json").json
    assert [step["effects"] for step in data["trace"]] == [[], [], [], [], [], [], ["acked r0"]]


@pytest.mark.parametrize(
    ("name", "version", "verdict"),
    [
        ("s2-loss-by-truncation", "0.8", "broken"),
        ("s2-loss-by-truncation", "0.11", "holds"),
        ("s2-loss-by-truncation", "2.8", "holds"),
        ("s2-loss-by-truncation", "4.3", "holds"),
        ("s3-divergence", "0.9", "broken"),
        ("s3-divergence", "1.1", "holds"),
        ("s3-divergence", "3.9", "holds"),
        ("kip-101-hole", "0.11", "broken"),
        ("kip-101-hole", "2.0", "holds"),
        ("kip-101-hole", "2.1", "holds"),
        ("kip-279-hole", "1.1", "broken"),
        ("kip-279-hole", "2.1", "holds"),
        ("last-replica-standing", "4.0", "broken"),
        ("last-replica-standing", "4.1", "holds"),
    ],
)
def test_a_scenario_at_another_version(simulate, name, version, verdict):
    done = simulate(SAMPLES / f"{name}.toml", "--kafka-version", version, "--format", "json")
    assert done.json["guarantees"][0]["verdict"] == verdict
    assert done.json["expected"] is None, "what was expected was said of another version"
    assert done.code == (verdict == "broken")


def test_a_scenario_with_a_value_changed(simulate):
    done = simulate(SAMPLES / "acks-1-leader-crash.toml", "--set", "producer.acks=all")
    assert done.code == 0
    assert "changed: producer.acks=all" in done.out
    assert re.search(r"producer: acks +all +--set\n", done.out)
    done = simulate(SAMPLES / "retries-idempotent.toml", "--guarantee", "send-order-kept")
    assert (done.code, "send-order-kept: no run found" in done.out) == (0, True)
    done = simulate(
        SAMPLES / "single-copy.toml", "--faults", "broker_lost=0", "--environment", "slow_follower=0"
    )
    assert (done.code, "no fault" in done.out) == (0, True)


def test_several_scenarios_are_told_one_after_the_other(simulate):
    paths = [SAMPLES / "s1-three-replicas.toml", SAMPLES / "single-copy.toml"]
    done = simulate(*paths)
    assert done.code == 0
    assert (
        done.out.index("five steps")
        < done.out.index("-" * 80)
        < done.out.index("all in-sync copies means one")
    )
    assert [data["scenario"]["file"] for data in simulate(*paths, "--format", "json").json] == [
        str(path) for path in paths
    ]


SCENARIO = """\
title = "t"
story = "s"
kafka_version = "3.9"
guarantee = "acked-records-survive"
expect = "EXPECT"
witnesses = WITNESSES
[producer]
acks = "1"
[faults]
broker_crash = 1
"""


def write(tmp_path, text):
    path = tmp_path / "x.toml"
    path.write_text(text)
    return path


def test_what_is_not_as_expected_is_said(simulate, tmp_path):
    text = SCENARIO.replace("EXPECT", "holds").replace("WITNESSES", '["elected b2"]')
    done = simulate(write(tmp_path, text))
    assert done.code == 1
    assert "NOT AS EXPECTED: expected holds, found broken" in done.out
    assert "NOT AS EXPECTED: expected to see: elected b2" in done.out


def test_a_run_of_the_producer_is_driven(simulate, tmp_path):
    text = """\
title = "t"
story = "s"
guarantee = "records-stored-once"
events = ["send r0", "handle r0", "lost_response r0", "send r0", "handle r0"]
[policy]
acks = "1"
idempotence = false
"""
    done = simulate(write(tmp_path, text))
    assert done.code == 1
    assert "at step 5, r0 stored at offset 0 and again at offset 1" in done.out
    assert "policy: acks" in done.out
    assert "assumed: default" in done.out
    assert "producer: acks" not in done.out, "a key that the policy overrules says nothing"


def test_racks_can_be_stated(simulate, tmp_path):
    text = SCENARIO.replace("EXPECT", "broken").replace("WITNESSES", '["lose_rack 0"]')
    path = write(tmp_path, text.replace("broker_crash", "rack_lost") + "[policy]\nracks = [0, 0, 1]\n")
    assert simulate(path).code == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("guarantee = ", "guarante = ", ":4: guarante: unknown field; did you mean 'guarantee'?"),
        ("acked-records-survive", "acked-record-survive", "; did you mean 'acked-records-survive'?"),
        ("broker_crash", "broker_crush", ":9: no fault is called 'broker_crush'; did you mean"),
        ("broker_crash = 1", "broker_crash = -1", ":10: faults.broker_crash: is -1, must be a number from 0"),
        ("broker_crash = 1", 'broker_crash = "all"', ":10: faults.broker_crash: is 'all', must be a number"),
        ('acks = "1"', 'acks = "7"', ": producer: Kafka 3.9 refuses it: acks = '7'"),
        ('acks = "1"', 'ack = "1"', "; did you mean producer.acks?"),
        ('"3.9"', '"new"', ": 'new' is not a Kafka version"),
        ('title = "t"', "title = t", ":1: is not valid TOML"),
        ("[faults]\nbroker_crash = 1", "", ":1: the scenario: needs at least one of faults, events"),
        ("[faults]", "[policy]\nidempotence = true\n[faults]", ": policy.idempotence: the replication model"),
        ("broker_crash = 1", "rack_lost = 1", ": policy.racks: one for each of the 3 replicas"),
        ("expect =", 'events = ["explode b0"]\nexpect =', "step 1: explode b0 cannot happen here; what"),
        ("expect =", 'events = ["crash nobody"]\nexpect =', ": 'crash nobody' is no event"),
        ("expect =", 'events = ["  "]\nexpect =', ":5: events.0: is '  ', must be an event"),
        ("[producer]", "[facts]\nbrokers = 1\nreplication_factor = 3\n[producer]", ": replication factor 3"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_scenario_is_told_with_its_place(simulate, tmp_path, old, new, said):
    text = SCENARIO.replace("EXPECT", "broken").replace("WITNESSES", "[]")
    assert old in text
    path = write(tmp_path, text.replace(old, new))
    done = simulate(path)
    assert (done.code, done.out) == (2, "")
    assert f"{path}:" in done.err
    assert said in done.err
    assert "a mistake in kafka-advisor" not in done.err


@pytest.mark.parametrize("data", [b"\xff\xfe", b"[" * 100_000, b"", b"\x00", b"a=1\n" * 3], ids=repr)
def test_a_file_that_is_no_scenario(simulate, tmp_path, data):
    path = tmp_path / "x.toml"
    path.write_bytes(data)
    done = simulate(path)
    assert (done.code, done.out) == (2, "")
    assert str(path) in done.err
    assert "a mistake in kafka-advisor" not in done.err
