"""A law: `audit`, `simulate`, `audit --what-if`, `compare` and a fleet's row never contradict each other.

Of one folder: what an audit finds with a run, `simulate` breaks under the same faults; what an audit says
holds, `simulate` does not break under the faults of any rule that asks it; `--what-if` loses no record that
the search says survives, and says plainly that none is lost only where the search agrees; a folder compared
with itself is silent. That the rows of a fleet's table get the findings of the same settings in files is
asked of the same roots in tests/fleet/test_row_law.py.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from advisor.catalog import RELEASES
from advisor.commands import run
from advisor.memo.cache import Cache
from advisor.packs.pack import load_packs
from advisor.registry import load_registry
from advisor.simulate.guarantees import asked_by_hand
from advisor.testing import settings_texts
from tests.conftest import ROOT
from tests.fix.roots import roots, write

SEARCHED = frozenset(asked_by_hand()) - {"group-available", "only-committed-read", "records-visible"}


def _asks_racks(rule):
    """Which racks the replicas stand in only a scenario can tell `simulate`."""
    return any("rack_lost" in faults for faults in rule.faults)


RULES = [
    rule
    for rule in load_packs(load_registry().packs, (), Cache(None))
    if rule.guarantee in SEARCHED and rule.enabled and not rule.part and not _asks_racks(rule)
]
CODES = frozenset(rule.code for rule in RULES)
SAMPLES = sorted(
    path
    for path in (ROOT / "samples").iterdir()
    if path.is_dir() and path.name not in ("compare", "fleet", "scenarios", "schedules")
)
# `KAFKA_ADVISOR_FIX_EXAMPLES=100` tries more roots than the few that every run tries.
SHARED = int(os.environ.get("KAFKA_ADVISOR_FIX_EXAMPLES", "3"))
OUTAGE, ROLL = "outage=30s", "roll"
STOPPED_MS = 500


def told(*words):
    """What a command prints as JSON."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = run([*words, "--format", "json"])
    assert code in (0, 1), error.getvalue()
    return json.loads(out.getvalue())


def audited(folder):
    words = ("--fail-on", "never", "--what-if", OUTAGE, "--what-if", ROLL)
    return told("audit", str(folder), *words)


def simulated(folder, deployment, guarantee, environment, faults):
    words = ["simulate", str(folder), "--deployment", deployment, "--guarantee", guarantee]
    for option, counts in (("--environment", environment), ("--faults", faults)):
        words += [option, ",".join(f"{name}={count}" for name, count in counts.items())]
    (entry,) = told(*words)["guarantees"]
    return entry["verdict"]


def is_asked(rule, profile):
    """A note is about more than the profile asks: a guarantee that holds may have one."""
    return rule.severity != "note" and (not rule.profiles or profile in rule.profiles)


def contradictions(folder):
    """Sentences, one for each pair of answers that cannot both be true."""
    report = audited(folder)
    for deployment in report["deployments"]:
        if deployment["producer"] is None:
            continue
        name = deployment["id"]
        for finding in report["findings"]:
            evidence = finding["evidence"]
            # What a finding says that it assumes, `simulate` may assume otherwise.
            if finding["deployment"] != name or finding["code"] not in CODES or finding["assuming"]:
                continue
            answer = simulated(
                folder, name, evidence["guarantee"], evidence["environment"], evidence["faults"]
            )
            # What the files leave open `simulate` assumes; what they say breaks it in both.
            if answer == "holds":
                yield f"{name}: audit finds {finding['code']}, simulate finds no run"
        verdicts = {one["name"]: one["verdict"] for one in deployment["guarantees"]}
        for rule in RULES:
            if verdicts.get(rule.guarantee) == "holds" and is_asked(rule, deployment["profile"]["name"]):
                for faults in rule.faults:
                    answer = simulated(folder, name, rule.guarantee, rule.environment, faults)
                    if answer == "broken":
                        yield f"{name}: audit says {rule.guarantee} holds, simulate breaks it ({rule.code})"
        yield from _what_if(folder, deployment, verdicts)


def _what_if(folder, deployment, verdicts):
    name = deployment["id"]
    for one in deployment.get("what_if", ()):
        if not one["known"]:
            continue
        fault = {"broker_crash": 1} if one["question"] == OUTAGE else {"roll": 1}
        survive = simulated(folder, name, "acked-records-survive", {"slow_follower": "rf-1"}, fault)
        if survive == "holds" and one["acked_lost"][1]:
            yield f"{name}: the search loses nothing, --what-if {one['question']} does"
        plainly = "no acknowledged record is lost" in one["answer"].split("; ")
        if survive == "broken" and plainly:
            yield f"{name}: the search loses a record, --what-if {one['question']} says that none is"
        if verdicts.get("acked-records-survive") == "holds" and one["acked_lost"][1]:
            yield f"{name}: audit says that records survive, --what-if {one['question']} loses some"
        goes_on = one["stopped_ms"][1] < STOPPED_MS and not one["failed"][1]
        if goes_on and simulated(folder, name, "writes-available", {}, fault) == "broken":
            yield f"{name}: the search stops writes, --what-if {one['question']} does not"


def compared_with_itself(folder):
    report = told("compare", str(folder), str(folder), "--fail-on", "never")
    compared = report["compared"]
    return [*(one["message"] for one in report["findings"]), *compared["rolls"], *compared["steps"]]


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda path: path.name)
def test_a_sample_has_one_answer(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("KAFKA_ADVISOR_CACHE", str(tmp_path))
    assert list(contradictions(folder)) == []
    assert compared_with_itself(folder) == []


VERSIONS = sorted(
    {release.rpartition(".")[0] for release in RELEASES}, key=lambda v: tuple(map(int, v.split(".")))
)


MODES = (
    {"process.roles": "broker", "node.id": "1"},
    {"zookeeper.connect": "zk:2181", "broker.id": "1"},
)


def sometimes(values):
    """One of the values, or nothing is said."""
    return st.one_of(st.none(), st.sampled_from(values))


@st.composite
def deployments(draw):
    """A producer, a topic and a cluster of one root, each with the settings that the guarantees turn on."""
    factor = draw(st.integers(1, 4))
    producer = {
        "acks": draw(sometimes(["0", "1", "all"])),
        "enable.idempotence": draw(sometimes(["true", "false"])),
        "retries": draw(sometimes(["0", "1", "10"])),
        "max.in.flight.requests.per.connection": draw(sometimes(["1", "5"])),
    }
    topic = {
        "min.insync.replicas": draw(st.sampled_from(["1", "2", "3"])),
        "unclean.leader.election.enable": draw(sometimes(["true", "false"])),
    }
    broker = {"min.insync.replicas": draw(sometimes(["1", "2"]))}
    facts = {"brokers": str(max(factor, draw(st.integers(1, 4)))), "replication_factor": str(factor)}
    stated = {
        "producer": {"bootstrap.servers": "kafka:9092", **producer},
        "topic": topic,
        "broker": {**draw(st.sampled_from(MODES)), **broker},
        "fact": facts,
    }
    configs = {
        name: {key: value for key, value in table.items() if value is not None}
        for name, table in stated.items()
    }
    return draw(st.sampled_from(VERSIONS)), configs


def placed(folder, version, configs):
    texts = settings_texts(configs)
    texts["kafka-advisor.toml"] = (
        f'kafka_version = "{version}"\nprofile = "prod"\n' + texts["kafka-advisor.toml"]
    )
    for name, text in texts.items():
        (Path(folder) / name).write_text(text, encoding="utf-8")


@given(deployments())
@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.generate])  # one takes a second
def test_a_root_has_one_answer(drawn):
    version, configs = drawn
    with tempfile.TemporaryDirectory() as folder:
        placed(folder, version, configs)
        assert list(contradictions(folder)) == []
        assert compared_with_itself(folder) == []


@given(roots())
@settings(max_examples=SHARED, deadline=None, database=None, phases=[Phase.explicit, Phase.generate])
def test_producers_and_topics_that_share_files_have_one_answer(drawn):
    """Several deployments in one root, of any release."""
    version, files = drawn
    with tempfile.TemporaryDirectory() as folder:
        files = {
            **files,
            "kafka-advisor.toml": f'kafka_version = "{version}"\n' + files["kafka-advisor.toml"],
        }
        write(files, Path(folder))
        assert list(contradictions(folder)) == []
        assert compared_with_itself(folder) == []


def test_a_contradiction_would_be_seen(monkeypatch, tmp_path):
    """The law is not empty: with a search that finds nothing, an audit's finding stands alone."""
    configs = {
        "producer": {"bootstrap.servers": "kafka:9092", "acks": "1"},
        "fact": {"replication_factor": "3"},
    }
    placed(tmp_path, "4.1", {**configs, "topic": {"min.insync.replicas": "2"}})
    monkeypatch.setattr(f"{__name__}.simulated", lambda *asked: "holds")
    assert any("simulate finds no run" in one for one in contradictions(tmp_path))
    assert os.listdir(tmp_path)
