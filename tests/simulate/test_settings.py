"""Guarantees asked of settings alone, and of files."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from advisor.hookspecs import SEARCHED
from advisor.packs.vocabulary import (
    BROKER_FAULTS,
    PRODUCER_FAULTS,
    TRANSACTION_FAULTS,
    TRANSACTION_GUARANTEES,
)
from advisor.sim.questions import QUESTIONS
from advisor.simulate.guarantees import asked_by_hand, every_guarantee
from tests.conftest import ROOT

S2 = [
    "--guarantee", "acked-records-survive",
    "--set", "producer.acks=all",
    "--set", "topic.min.insync.replicas=1",
    "--set", "topic.unclean.leader.election.enable=false",
    "--set", "fact.replication_factor=2",
    "--set", "fact.brokers=2",
]  # fmt: skip
ACKS_1 = ("--set", "producer.acks=1")
RECOMMENDED = [
    "--set", "producer.acks=all",
    "--set", "producer.enable.idempotence=true",
    "--set", "topic.min.insync.replicas=2",
    "--set", "topic.unclean.leader.election.enable=false",
    "--set", "fact.replication_factor=3",
]  # fmt: skip


def verdicts(done):
    return {entry["guarantee"]: entry["verdict"] for entry in done.json["guarantees"]}


def test_s2_is_found_as_the_help_says(advisor):
    done = advisor("simulate", "--kafka-version", "0.10", *S2)
    assert (done.returncode, done.stderr) == (1, "")
    assert "BROKEN acked-records-survive" in done.stdout
    assert "broker 1 cuts its log at offset 0" in done.stdout
    assert "may go wrong: 2 broker crashes; besides, at any time: 1 slow follower" in done.stdout
    assert "assumed" not in done.stdout


@pytest.mark.parametrize("version", ["0.11", "1.1", "2.0", "2.8", "3.9", "4.3"])
def test_s2_is_not_found_since(simulate, version):
    done = simulate("--kafka-version", version, *S2)
    assert done.code == 0
    assert "acked-records-survive: no run found within these bounds" in done.out


@pytest.mark.parametrize("version", ["2.8", "3.9", "4.3"])
def test_the_recommended_settings(simulate, version):
    done = simulate("--kafka-version", version, *RECOMMENDED, "--format", "json")
    assert done.code == 0
    assert set(verdicts(done).values()) == {"holds"}
    assert set(verdicts(done)) >= {
        "acked-records-survive",
        "replicas-agree",
        "writes-available",
        "send-order-kept",
    }
    assert done.json["headline"] == {"survives_lost": 1, "writes_with_away": 1}


def test_all_guarantees_a_line_each_and_two_numbers(simulate):
    done = simulate("--kafka-version", "3.9", "--set", "producer.acks=1")
    assert done.code == 1
    assert (
        "one broker lost for good can lose acknowledged records\nwrites continue with 2 brokers down"
        in done.out
    )
    for name, verdict in [
        ("acked-records-survive", "BROKEN"),
        ("replicas-agree", "no run found"),
        ("writes-available", "no run found"),
        ("records-stored-once", "BROKEN"),
    ]:
        assert re.search(rf"^  {name} +{verdict} .*\S", done.out, re.M)
    assert re.search(r"enable.idempotence +false +off, as acks=1\n", done.out)


def test_what_nobody_stated_is_assumed_and_said(simulate):
    done = simulate("--kafka-version", "2.8", "--set", "topic.min.insync.replicas=2", "--format", "json")
    settings = {row["key"]: (row["value"], row["origin"]["kind"]) for row in done.json["settings"]}
    assert settings["acks"] == ("1", "assumed"), "the default before 3.0"
    assert settings["replication factor"] == ("3", "assumed")
    assert settings["brokers"] == ("3", "assumed")
    assert settings["unclean.leader.election.enable"] == ("false", "assumed")
    assert settings["min.insync.replicas"] == ("2", "set")
    old = simulate("--kafka-version", "0.10", "--set", "topic.min.insync.replicas=2", "--format", "json")
    settings = {row["key"]: row["value"] for row in old.json["settings"]}
    assert settings["unclean.leader.election.enable"] == "true", "as it was before 0.11"


def test_eligible_leader_replicas_are_assumed_by_version_and_may_be_unknown(simulate):
    words = ["--guarantee", "acked-records-survive", "--faults", "power_loss=1", *RECOMMENDED]
    assert simulate("--kafka-version", "4.1", *words).code == 0
    assert simulate("--kafka-version", "4.0", *words).code == 1
    unknown = simulate("--kafka-version", "4.1", *words, "--set", "fact.elr=unknown")
    assert unknown.code == 0
    assert "UNKNOWN acked-records-survive" in unknown.out
    assert "holds if eligible leader replicas are on" in unknown.out
    assert "A run where it breaks:" in unknown.out
    assert "no run found" not in unknown.out


def test_unknown_is_never_success(simulate):
    words = ["--kafka-version", "3.6", "--guarantee", "acked-records-survive", "--set", "producer.acks=all"]
    done = simulate(*words, "--set", "topic.min.insync.replicas=4")
    assert done.code == 0
    assert "UNKNOWN acked-records-survive" in done.out
    assert "a record is acknowledged" in done.out
    assert "no run found" not in done.out


def test_defaults_are_those_of_the_first_rule_that_asks(simulate):
    done = simulate(
        "--set", "topic.min.insync.replicas=3", "--guarantee", "writes-available", "--format", "json"
    )
    (entry,) = done.json["guarantees"]
    assert (entry["environment"], entry["faults"], entry["verdict"]) == ({}, {"broker_crash": 1}, "broken")
    done = simulate("--set", "producer.acks=1", "--guarantee", "replicas-agree", "--format", "json")
    assert done.json["guarantees"][0]["faults"] == {"power_loss": 2}
    done = simulate("--set", "producer.acks=1", "--guarantee", "send-order-kept", "--format", "json")
    assert done.json["guarantees"][0]["faults"] == {
        "lost_response": 1,
        "retriable_error": 1,
        "leader_move": 1,
    }


def test_stated_faults_and_environment_count(simulate):
    words = ["--guarantee", "acked-records-survive", "--set", "producer.acks=all", "--format", "json"]
    done = simulate(*words, "--faults", "broker_lost=1", "--environment", "slow_follower=rf-1")
    (entry,) = done.json["guarantees"]
    assert (entry["environment"], entry["faults"]) == ({"slow_follower": 2}, {"broker_lost": 1})
    assert entry["verdict"] == "broken"
    assert entry["spent"] == {"broker_lost": 1, "slow_follower": 2}
    done = simulate(*words, "--faults", "broker_lost=1", "--environment", "slow_follower=0")
    assert done.json["guarantees"][0]["verdict"] == "holds"


def test_groups_commit_to_a_topic_of_their_own(simulate):
    words = ["--guarantee", "group-available", "--faults", "broker_crash=1"]
    assert simulate(*words, "--set", "broker.offsets.topic.replication.factor=3").code == 0
    done = simulate(*words, "--set", "broker.offsets.topic.replication.factor=1")
    assert (done.code, "no coordinator" in done.out) == (1, True)


def test_files_are_loaded_and_linked_as_audit_does(simulate, advisor, samples):
    folder = samples / "quickstart"
    words = ["--guarantee", "acked-records-survive", "--faults", "broker_crash=1", "--format", "json"]
    done = simulate(folder, *words)
    assert done.code == 1
    assert done.json["deployment"] == "producer -> orders -> server"
    origins = {row["key"]: row["origin"] for row in done.json["settings"]}
    assert origins["acks"] == {"kind": "file", "file": "producer.properties", "line": 5}
    assert origins["brokers"]["kind"] == "assumed"
    one = simulate(folder / "producer.properties", *words)
    assert one.json == done.json, "a producer is judged with its topic"
    audited = advisor("audit", "--format", "json", folder)
    finding = next(f for f in json.loads(audited.stdout)["findings"] if f["code"] == "KA101")
    assert done.json["guarantees"][0]["trace"] == finding["evidence"]["trace"]


def test_values_may_be_put_over_those_of_files(simulate, samples):
    done = simulate(
        samples / "quickstart", "--set", "producer.acks=all", "--guarantee", "acked-records-survive"
    )
    assert (done.code, "producer: acks" in done.out) == (0, True)


def test_several_deployments_are_listed_and_one_is_chosen(simulate, tmp_path):
    (tmp_path / "kafka-advisor.toml").write_text("")
    for name in ("a", "b"):
        text = f"bootstrap.servers=kafka:9092\nacks={'1' if name == 'a' else 'all'}\nkey.serializer=x\n"
        (tmp_path / f"producer-{name}.properties").write_text(text)
    done = simulate(tmp_path, "--guarantee", "acked-records-survive")
    assert (done.code, done.out) == (2, "")
    ids = re.findall(r"--deployment '(.*)'", done.err)
    assert len(ids) == 2
    codes = [
        simulate(tmp_path, "--guarantee", "acked-records-survive", "--deployment", one).code for one in ids
    ]
    assert codes == [1, 0]
    done = simulate(tmp_path, "--deployment", ids[0] + "x")
    assert (done.code, "did you mean" in done.err) == (2, True)


def test_the_words_of_the_help_are_those_of_the_simulator():
    from advisor.sim.partition.state import EVENT_OF
    from advisor.sim.producer.state import FAULTS
    from advisor.sim.transactions.step import FAULTS as OF_TRANSACTIONS

    searched = {name for name, spec in every_guarantee().items() if spec.kind == SEARCHED}
    assert searched | set(TRANSACTION_GUARANTEES) == set(QUESTIONS)
    assert set(BROKER_FAULTS) == set(EVENT_OF)
    assert set(PRODUCER_FAULTS) == set(FAULTS)
    assert set(TRANSACTION_FAULTS) == set(OF_TRANSACTIONS)


def test_help_teaches_and_its_examples_run(simulate, samples, monkeypatch):
    shown = simulate("--help").out
    for name in (*asked_by_hand(), *BROKER_FAULTS, *PRODUCER_FAULTS, *TRANSACTION_FAULTS):
        assert f"\n  {name} " in shown
    assert "exit codes" in shown
    monkeypatch.chdir(samples.parent)
    (samples.parent / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    examples = shown.partition("examples:\n")[2].partition("\n\n")[0]
    commands = [
        re.split(r"\s{3,}", line, maxsplit=1)[0]
        for line in re.sub(r"\n {6}(?=--)", " ", examples).split("\n  kafka-advisor simulate ")
    ]
    assert len(commands) >= 8
    for command in commands:
        words = command.removeprefix("  kafka-advisor simulate ").split()
        done = simulate(*words)
        assert done.code in (0, 1), f"{words}: {done.err}"
        assert done.out


@pytest.mark.parametrize(
    "words",
    [
        ("--kafka-version", "0.10", *S2),
        ("--set", "producer.acks=1", "--format", "json"),
        (ROOT / "samples/scenarios/kip-101-hole.toml", "--format", "json"),
    ],
    ids=["run", "overview", "scenario"],
)
def test_the_same_bytes_under_two_hash_seeds(advisor, words):
    first = advisor("simulate", *words, env={"PYTHONHASHSEED": "1"})
    second = advisor("simulate", "--no-cache", *words, env={"PYTHONHASHSEED": "4242"})
    assert first.stdout
    assert (first.stdout, first.stderr) == (second.stdout, second.stderr)


def test_the_cache_changes_nothing(simulate):
    words = ["--set", "producer.acks=1", "--format", "json"]
    assert simulate(*words).out == simulate(*words).out == simulate("--no-cache", *words).out


def test_other_commands_do_not_pay(advisor):
    code = "import sys; from advisor.commands import run; run(['rules']);"
    code += "print([name for name in sys.modules if 'simul' in name or 'advisor.sim' in name])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a file, a scenario or --set"),
        (("--guarantee", "acked-records-survive"), "name a file, a scenario or --set"),
        (("--set", "producer.ack=1"), "did you mean producer.acks?"),
        (("--set", "producer.acks=banana"), "must be one of all, -1, 0, 1"),
        ((*ACKS_1, "--set", "producer.enable.idempotence=true"), "idempotence needs acks=all"),
        (("--set", "topic.min.insync.replicas=0"), "must be at least 1"),
        (("--set", "admin.retries=1"), "simulate reads producer, topic, broker, consumer and fact"),
        (("--set", "fact.broker=3"), "no such fact"),
        (("--set", "fact.brokers=none"), "must be a whole number"),
        (("--set", "fact.brokers=0"), "must be a whole number from 1 to"),
        (("--set", "fact.brokers=2", "--set", "fact.replication_factor=3"), "needs as many brokers"),
        (("--set", "fact.elr=maybe"), "must be on, off or unknown"),
        (("--set", "fact.elr=on", "--kafka-version", "3.9"), "it came with 4.0"),
        ((*ACKS_1, "--guarantee", "acked-record-survive"), "did you mean 'acked-records-survive'?"),
        ((*ACKS_1, "--faults", "broker_crash=1"), "need --guarantee"),
        ((*ACKS_1, "--kafka-version", "new"), "is not a Kafka version"),
        ((*ACKS_1, "--deployment", "x"), "name a PATH"),
        ((*ACKS_1, "--log-end-offset", "3"), "belongs to --checkpoint"),
        ((*ACKS_1, "--guarantee", "committed-on-isr"), "say what may go wrong"),
        (("nowhere",), "nowhere: no such file or folder"),
        (("nowhere.toml",), "nowhere.toml: no such file"),
        (("nowhere.toml", "nowhere"), "cannot be mixed"),
        ((ROOT / "samples/scenarios",), "nothing to simulate"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_a_line(simulate, words, said):
    done = simulate(*words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "a mistake in kafka-advisor" not in done.err


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ("broker_crush=1", "did you mean 'broker_crash'?"),
        ("broker_crash", "write NAME=N"),
        ("broker_crash=-1", "write NAME=N"),
        ("broker_crash=1000", "write NAME=N"),
        ("broker_crash=rf+1", "write NAME=N"),
        ("lost_response=1", "acked-records-survive is not asked about 'lost_response'"),
        ("rack_lost=1", "only a scenario can state"),
    ],
)
def test_a_fault_that_is_none(simulate, faults, said):
    done = simulate("--set", "producer.acks=1", "--guarantee", "acked-records-survive", "--faults", faults)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
