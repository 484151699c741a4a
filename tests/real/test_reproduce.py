"""Findings on a real cluster, some of them; `python -m tests.real.reproduced` plays all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from advisor.catalog import resolve_version
from advisor.engine import Options, audit
from advisor.explain.site.layout import text_of_page
from advisor.explain.site.pages import Site
from advisor.explain.site.real_kafka import real_page
from advisor.model import UsageError
from advisor.real.audited import audited
from advisor.real.cluster.jars import release_of
from advisor.real.page import page
from advisor.real.reproduce import Reproduction, Run, Wishes, can_play, choose
from advisor.real.reproduced import checked, reproduced
from advisor.real.side_by_side import told
from advisor.real.stage import Outcome
from tests.conftest import needs

from .reproduced import cases, play

CASES = {case.name: case for case in cases()}


def played(name, tmp_path):
    needs("mvn")  # it fetches the broker
    needs("java")
    return play(CASES[name], tmp_path)


def shape(trace):
    """Who has what, who leads and who is down: what model and reality must have alike after the last step."""
    state = trace[-1]["state"]
    return state["leader"], [(one["id"], one["alive"], one["log"]) for one in state["replicas"]]


def test_a_record_confirmed_by_one_broker_is_lost(tmp_path):
    done = played("acks-1", tmp_path)
    assert done.broken.hits == 1
    assert shape(done.broken.outcomes[0].trace) == shape(done.broken.model)
    assert done.fixed is not None
    assert done.fixed.hits == 0
    assert done.fixed.outcomes, done.fixed.failure
    assert shape(done.fixed.outcomes[0].trace) == shape(done.fixed.model)
    assert "lost: nothing" in [f"{name}: {value}" for name, value in done.fixed.outcomes[0].facts]


def test_an_answer_that_is_lost_stores_a_record_twice(tmp_path):
    done = played("stored-twice", tmp_path)
    assert done.broken.hits == 1
    assert ("the log at the end", "r0 r0") in done.broken.outcomes[0].facts
    assert done.fixed is not None
    assert done.fixed.hits == 0
    assert ("the log at the end", "r0") in done.fixed.outcomes[0].facts


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_every_case_is_found_and_can_be_played(case, tmp_path):
    code = case.expected[0].split()[0]
    result = audit(Options((str(case.place(tmp_path)),), cache=False))
    _, finding = choose(result, Wishes(code))
    assert can_play(finding)


def told_as(tmp_path, seen, seen_with_fix):
    """A run as the model has it, told as one that was seen or not."""
    result = audit(Options((str(CASES["acks-1"].place(tmp_path)),), cache=False))
    root, finding = choose(result, Wishes("KA101"))
    trace = finding.evidence.trace
    broken = Run(trace, (Outcome(trace, seen, "r0 is lost" if seen else "r0 is kept"),), True)
    fixed = Run(trace, (Outcome(trace, seen_with_fix, "r0 is kept"),) * 2, False)
    return Reproduction(root, finding, "4.3.1", ("shorter sessions",), broken, fixed)


@pytest.mark.parametrize(
    ("seen", "seen_with_fix", "last"),
    [
        (True, False, "reproduced on Kafka 4.3.1, gone with the fix"),
        (False, False, "NOT reproduced on Kafka 4.3.1, gone with the fix"),
        (True, True, "reproduced on Kafka 4.3.1, STILL THERE with the fix"),
    ],
)
def test_model_and_reality_stand_beside_each_other(tmp_path, seen, seen_with_fix, last):
    done = told_as(tmp_path, seen, seen_with_fix)
    lines = list(told(done, 100))
    assert lines[-1] == last
    assert lines.count("  the model:") == lines.count("  reality:") == 2
    assert sum("broker 0 crashes" in line for line in lines) == 4
    assert any("not as audited: shorter sessions" in line for line in lines)
    assert any(f"(in {2 * seen_with_fix} of 2 tries)" in line for line in lines)


def test_the_page_plays_both(tmp_path):
    text = page(told_as(tmp_path, True, False))
    assert text.count('"label":"The model"') == text.count('"label":"Reality"') == 2
    assert "reproduced on Kafka 4.3.1, gone with the fix" in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_a_cluster_that_failed_is_no_verdict(tmp_path):
    done = told_as(tmp_path, True, False)
    done = done._replace(broken=done.broken._replace(outcomes=(), failure="broker 1 does not start"))
    lines = list(told(done, 100))
    assert "  reality: broker 1 does not start" in lines
    assert lines[-1] == "Not played: the throw-away cluster failed"


def test_what_is_not_found_is_told(tmp_path):
    result = audit(Options((str(CASES["acks-1"].place(tmp_path)),), cache=False))
    with pytest.raises(UsageError, match="KA443 is not found in these files"):
        choose(result, Wishes("KA443"))


def test_no_address_and_no_secret_reaches_the_throw_away_cluster(tmp_path):
    (tmp_path / "kafka-advisor.toml").write_text('kafka_version = "4.3"\n[facts]\nbrokers = 9\n')
    (tmp_path / "producer.properties").write_text(
        "bootstrap.servers=prod:9092\nacks=1\nsecurity.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=x password=hunter2\nlinger.ms=${LINGER}\nmy.own=1\n"
    )
    (tmp_path / "server.properties").write_text(
        "process.roles=broker\nnode.id=7\nlisteners=PLAINTEXT://prod:9092\nlog.dirs=/data\n"
        "controller.quorum.voters=9@c:9093\ncontroller.listener.names=CONTROLLER\nmin.insync.replicas=2\n"
    )
    root = audit(Options((str(tmp_path),), cache=False)).roots[0]
    found = audited(next(one for one in root.deployments if one.producer is not None))
    assert found.producer.settings == {"acks": "1"}
    assert found.broker_settings == {"min.insync.replicas": "2"}
    assert found.brokers == 5
    assert "linger.ms is left at its default: its value is not in sight" in found.changed


def test_a_version_of_zookeeper_is_refused():
    with pytest.raises(UsageError, match="needs ZooKeeper"):
        release_of("2.8")
    assert release_of("4.3") == "4.3.1"


_CRASHED = """
import sys, time
from advisor.real.cluster.processes import Processes
processes = Processes()
child = processes.start(["sleep", "600"], -3)
print(child.pid, processes.folder, flush=True)
time.sleep(600)
"""


def test_nothing_is_left_of_a_run_that_is_killed():
    words = [sys.executable, "-c", _CRASHED]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        child, folder = run.stdout.readline().split()
        os.kill(int(child), signal.SIGSTOP)  # frozen ones too
        assert Path(folder).is_dir()
        run.kill()
    for _ in range(200):
        if not Path(folder).exists() and not _is_there(int(child)):
            return
        time.sleep(0.05)
    pytest.fail("a process or a folder is left")


def _is_there(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # A zombie waits for its parent, which is init now.
    status = Path(f"/proc/{process}/stat")
    return not status.exists() or status.read_text().split()[2] != "Z"


def test_the_documentation_tells_what_was_played():
    text = text_of_page(real_page(Site(resolve_version("4.3"), (), {}, ())))
    for one in (*reproduced(), *checked()):
        assert one.get("case", one.get("mechanism", "")).replace("-", " ") in text
    assert all(one["seen"] for one in reproduced())
