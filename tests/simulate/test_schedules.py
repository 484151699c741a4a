"""simulate --schedule: the samples as a reader would run them, the same steps on other settings, and mistakes
told with their line."""

from __future__ import annotations

import json
import re
import tomllib

import jsonschema
import pytest
import toml

from advisor.sim.clock.grid import GRID
from advisor.simulate.schedule import read_schedule, steps_of
from tests.conftest import ROOT
from tests.oracles import failover

SAMPLES = ROOT / "samples/schedules"
FILES = sorted(SAMPLES.glob("*.toml"))
SCHEMA = json.loads((ROOT / "advisor/schemas/timeline.schema.json").read_text())
REPORT = json.loads((ROOT / "advisor/schemas/report.schema.json").read_text())
STEP = {"$defs": REPORT["$defs"], "$ref": "#/$defs/step"}
SHORT = ("--set", "producer.delivery.timeout.ms=5000", "--set", "producer.request.timeout.ms=2000")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_sample_comes_out_as_it_says(simulate, path):
    done = simulate("--schedule", path)
    assert (done.code, done.err) == (0, "")
    stated = tomllib.loads(path.read_text())
    assert stated["expect"], "a sample says what it comes to"
    assert done.out.startswith(stated["title"] + "\n")
    assert stated["story"].strip() in done.out
    assert all(line.isprintable() for line in done.out.splitlines())


def test_the_samples_are_in_the_index():
    index = (SAMPLES / "README.md").read_text()
    assert set(re.findall(r"\(([\w-]+\.toml)\)", index)) == {path.name for path in FILES}


def test_json_is_as_the_schema_says(simulate):
    data = simulate("--schedule", SAMPLES / "leader-killed.toml", "--format", "json").json
    jsonschema.Draft202012Validator(SCHEMA).validate(data)
    steps = jsonschema.Draft202012Validator(STEP)
    for step in data["trace"]:
        steps.validate(step)
    assert sorted(phase for one in data["outcomes"] for phase in one["phases"]) == [*range(1, len(GRID) + 1)]


def test_a_frozen_follower_holds_the_high_watermark_until_it_leaves_the_isr(simulate):
    """As seen on 4.3.1: both others end at 15 at once, the HW stays 5 for 1.0 to 1.5 lag limits, then 15."""
    for phase in (1, 2, 3):
        data = simulate("--schedule", SAMPLES / "frozen-follower.toml", "--phase", phase, "--format", "json")
        rows = data.json["trace"]
        frozen = next(row for row in rows if row["event"]["name"] == "sigstop")
        shrunk = next(row for row in rows if row["event"]["name"] == "shrink")
        between = [row for row in rows if frozen["t_ms"] < row["t_ms"] < shrunk["t_ms"]]
        assert 4000 <= shrunk["t_ms"] - frozen["t_ms"] <= 6100
        assert {row["state"]["hw"] for row in between} == {5}
        assert [replica["leo"] for replica in between[-1]["state"]["replicas"]] == [15, 15, 5]
        assert between[-1]["state"]["clients"]["producer"]["waiting"] == 10
        assert (shrunk["state"]["hw"], shrunk["state"]["isr"]) == (15, [1, 2])
        assert rows[-1]["state"]["isr"] == [1, 2, 3]


def test_an_isr_by_messages_flaps_under_a_burst_and_one_by_time_does_not(simulate):
    for version, flaps in (("0.8", True), ("0.9", False)):
        path = SAMPLES / "isr-by-messages.toml"
        rows = simulate("--schedule", path, "--kafka-version", version, "--format", "json").json["trace"]
        isrs = [row["state"]["isr"] for row in rows]
        assert ([1] in isrs) == flaps
        assert isrs[-1] == [1, 2, 3]


def test_without_a_majority_of_voters_nobody_is_elected(simulate, tmp_path):
    path = SAMPLES / "no-controller.toml"
    two = '"controller.quorum.voters" = "11@c1:9093,12@c2:9093"'
    # Of a dynamic quorum the files name only whom a node asks first.
    dynamic = tmp_path / "dynamic.toml"
    dynamic.write_text(
        path.read_text().replace(two, '"controller.quorum.bootstrap.servers" = "c1:9093,c2:9093,c3:9093"')
    )
    three = "broker.controller.quorum.voters=11@c1:9093,12@c2:9093,13@c3:9093"
    for words, stuck in (((path,), True), ((path, "--set", three), False), ((dynamic,), False)):
        rows = simulate("--schedule", *words, "--format", "json").json["trace"]
        at = {row["event"]["name"]: row["t_ms"] for row in reversed(rows)}
        assert (at["elect"] > at["controller_start"]) == stuck


def test_records_expire_where_the_outage_outlasts_the_delivery_timeout(simulate):
    done = simulate("--schedule", SAMPLES / "leader-killed.toml", *SHORT, "--format", "json")
    assert done.code == 0, "what the file expects was said of other settings"
    for one in done.json["outcomes"]:
        # 100 a second, from the kill until 5 s before the new leader: 0.84 to 1.11 sessions of 9 s. Whatever
        # was put into a batch expires with it, and a batch of 16 KiB takes 147 records.
        assert (0.84 * 9 - 5) * 100 - 20 <= one["failed"] <= (1.11 * 9 - 5) * 100 + 147 + 20
        assert one["errors"] == ["TimeoutException"]
        assert one["acked_lost"] == 0


@pytest.mark.parametrize(
    ("name", "change", "lost"),
    [
        ("rolling-restart", "producer.acks=1", True),
        ("network-cut", "producer.acks=all", False),
        ("outage-30s", "topic.min.insync.replicas=1", False),
    ],
)
def test_the_same_steps_on_other_settings(simulate, name, change, lost):
    done = simulate("--schedule", SAMPLES / f"{name}.toml", "--set", change, "--format", "json")
    assert any(one["acked_lost"] for one in done.json["outcomes"]) == lost
    assert done.json["unmet"] == [], "what the file expects was said of other settings"


def test_a_schedule_on_the_configuration_of_a_folder(simulate):
    done = simulate("--schedule", SAMPLES / "frozen-follower.toml", ROOT / "samples/quickstart")
    assert done.code == 0, done.err
    assert re.search(r"producer: acks +1 +producer.properties:\d+", done.out)
    assert re.search(r"changed: the settings of .* instead of the schedule's", done.out)


def test_an_unmet_expectation_fails(simulate, tmp_path):
    file = tmp_path / "lost.toml"
    file.write_text(
        'title = "t"\nschedule = [["send", 5], ["await", 5]]\n'
        '[expect]\nacked = 4\nfailed = [1, 2]\nerrors = ["TimeoutException"]\n'
    )
    done = simulate("--schedule", file)
    assert done.code == 1
    assert "NOT AS EXPECTED: expected acked 4, found 5" in done.out
    assert "NOT AS EXPECTED: expected failed 1 to 2, found 0" in done.out
    assert "NOT AS EXPECTED: expected errors: TimeoutException, found: none" in done.out


HEAD = 'title = "t"\nreplicas = [1, 2, 3]\nschedule = [\n  ["send", 5],\n'


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ('["kil", 1]', "no step is called 'kil'; did you mean 'kill'?"),
        ("[[1]]", "no step is called [1] (allowed: await, "),
        ("[{}]", "no step is called {} (allowed: await, "),
        ('["kill", 4]', "broker 4 holds no replica of the partition; 1, 2, 3 do"),
        ('["kill"]', 'kill: write ["kill", 1]'),
        ('["kill", "1"]', 'kill: write ["kill", 1]'),
        ('["send", 0]', "send 0: records, from 1 to 100000"),
        ('["send", 5, {gap = 1}]', "send: unknown option 'gap'"),
        ('["send", 5, {size = -1}]', "send: size is -1, must be a whole number, 0 or more"),
        ('["send", 100000, {gap_us = 100000}]', "send: takes longer than 3600 seconds"),
        ('["sleep", -1]', "sleep -1: seconds, from 0 to 3600"),
        ('["sleep", true]', 'sleep: write ["sleep", 5]'),
        ('["wait_isr", 1]', 'wait_isr: write ["wait_isr", [1, 2], 30]'),
        ('["wait_isr", [9], 5]', "broker 9 holds no replica"),
        ('["cut", "broker"]', "nothing is cut by 'broker'; did you mean 'brokers'?"),
        ('["elect", 1]', 'elect: write ["elect"]'),
        ('["topic_config", {"retention.ms" = 1}]', "topic_config: retention.ms does not change a run"),
        ('["topic_config", {"min.insync.replicas" = "two"}]', "must be a whole number"),
        ('["topic_config", {"unclean.leader.election.enable" = "yes"}]', "must be true or false"),
    ],
)
def test_a_mistake_in_a_step_is_told_with_its_line(simulate, tmp_path, step, told):
    file = tmp_path / "bad.toml"
    file.write_text(HEAD + f"  {step},\n]\n")
    done = simulate("--schedule", file)
    assert (done.code, done.out) == (2, "")
    assert f"{file}:5: " in done.err
    assert told in done.err


def test_a_schedule_that_would_take_for_ever_is_refused(simulate, tmp_path):
    file = tmp_path / "long.toml"
    # Who counts messages looks at every one of them: nothing is taken in one stride.
    file.write_text('title = "t"\nkafka_version = "0.8"\nschedule = [["send", 100000, {gap_us = 100}]]\n')
    done = simulate("--schedule", file)
    assert (done.code, done.out) == (2, "")
    assert f"{file}: too long to play: more than 40,000 events" in done.err


def test_a_long_schedule_in_which_nothing_is_wrong_is_played(simulate, tmp_path):
    file = tmp_path / "calm.toml"
    file.write_text('title = "t"\nschedule = [["send", 100000, {gap_us = 1000}], ["await", 200]]\n')
    done = simulate("--schedule", file, "--format", "json")
    assert done.json["outcomes"][0]["acked"] == 100000


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ('title = "t"\n', 1, "lacks 'schedule'"),
        ('title = "t"\nschedule = [["send", 5]]\nsteps = 1\n', 3, "unknown field"),
        ('title = "t"\nschedule = [["send", 5]]\n[producer]\nack = 1\n', 4, "has no producer setting 'ack'"),
        ('title = "t"\nschedule = ["send 5"]\n', 2, 'such as ["kill", 1]'),
        ('title = "t"\nschedule = [["send", 5]\n', 2, "is not valid TOML"),
        ('title = "t"\nreplicas = [1, 1]\nschedule = [["send", 5]]\n', 2, "in the order of its assignment"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_line(simulate, tmp_path, text, line, told):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    done = simulate("--schedule", file)
    assert (done.code, done.out) == (2, "")
    assert f"{file}:{line}: " in done.err
    assert told in done.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--schedule", "nowhere.toml"), "nowhere.toml: "),
        (("--schedule", FILES[0], "--phase", "99"), "--phase 99: there are 14 phases"),
        (("--schedule", FILES[0], "--guarantee", "replicas-agree"), "--guarantee is of the search"),
        (("--schedule", FILES[0], "--deployment", "x"), "--deployment chooses among those that files hold"),
        (("--phase", "1", "--set", "producer.acks=1"), "--phase belongs to --schedule"),
        (
            ("--schedule", FILES[0], "--set", "fact.replication_factor=2"),
            "names 3 replicas; the replication factor here is 2",
        ),
        (
            ("--schedule", FILES[0], "--set", "producer.delivery.timeout.ms=10"),
            "Kafka 4.3 refuses it",
        ),
    ],
)
def test_a_wrong_command_is_told(simulate, words, told):
    done = simulate(*words)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_a_recorded_schedule_can_be_written_down(tmp_path):
    """The vocabulary is that of the recorded failovers: each lane is a schedule as it stands."""
    lanes = [json.loads(line) for line in (ROOT / "tests/oracles/data/failover.jsonl").open()]
    seen = set()
    for lane in lanes:
        given = lane["input"]
        words = frozenset(json.dumps(step) for step in given["schedule"])
        replicas = given["topic"]["replicas"]
        if words in seen or any(
            isinstance(step[1], int) and step[0] in failover.ONE_BROKER and step[1] not in replicas
            for step in given["schedule"]
            if len(step) > 1
        ):
            continue
        seen.add(words)
        (expected,) = failover.schedules({"input": {**given, "times_ms": None}})
        steps = [
            [step[0], *(part for part in step[1:] if step[0] != "topic_config" or isinstance(part, dict))]
            for step in given["schedule"]
        ]
        if any(step[0] in failover.SEVERAL and not set(step[1]) <= set(replicas) for step in steps):
            continue
        written = "\n".join(
            ['title = "a lane"', "schedule = [", *(f"  {_inline(step)}," for step in steps), "]"]
        )
        schedule = read_schedule("lane.toml", written.encode())
        assert steps_of(schedule, replicas) == expected, lane["id"]
    assert len(seen) > 20


def _inline(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return toml.dumps({"x": value}).strip().removeprefix("x = ")
