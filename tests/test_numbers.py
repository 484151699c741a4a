"""Numbers that nobody means: the reader refuses them, and what is asked does not grow with them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.sim import questions, tolerance
from advisor.sim.batch_split import batch_bytes, fitting
from advisor.sim.partition_state import Policy
from advisor.sim.wire import BATCH_OVERHEAD, record_size
from advisor.syntax.numbers import INT, LONG, SHORT, fact_count, integer


@pytest.mark.parametrize(
    ("text", "bounds", "found"),
    [
        ("7", LONG, 7),
        ("+7", LONG, 7),
        ("-7", LONG, -7),
        ("007", LONG, 7),
        ("٣", INT, 3),
        ("32768", SHORT, None),
        ("2147483648", INT, None),
        ("9223372036854775807", LONG, 2**63 - 1),
        ("9223372036854775808", LONG, None),
        *((text, LONG, None) for text in ("", "+", "--1", "1_000", " 1", "1.0", "1e3", "0x1", "²", "true")),
        ("9" * 5000, LONG, None),
        ("0" * 5000, LONG, None),
    ],
)
def test_integer(text: str, bounds: tuple[int, int], found: int | None) -> None:
    assert integer(text, bounds) == found


def test_facts_have_the_limits_of_the_protocol() -> None:
    assert fact_count("topic.replication_factor", "32767") == 32767
    assert fact_count("topic.replication_factor", "32768") is None
    assert fact_count("topic.partitions", "2147483647") == 2**31 - 1
    assert fact_count("cluster.brokers", "0") is None


@pytest.mark.parametrize("replicas", [2, 3, 4, 5])
@pytest.mark.parametrize("acks", ["all", "1"])
@pytest.mark.parametrize("elr", [False, True])
def test_writes_searched_small_answer_as_they_are(
    replicas: int, acks: str, elr: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = (
        {},
        {"broker_crash": 1},
        {"broker_lost": 3},
        {"broker_crash": 5},
        {"broker_crash": 2, "partitioned": 1},
    )
    for minimum in range(1, replicas + 2):
        policy = Policy(replicas=replicas, acks=acks, min_isr=minimum, elr=elr)
        for counts in faults:
            monkeypatch.setattr(questions, "REPLICAS_AS_THEY_ARE", 5)
            whole = questions.ask("writes-available", policy, {}, counts).verdict
            monkeypatch.setattr(questions, "REPLICAS_AS_THEY_ARE", 1)
            assert questions.ask("writes-available", policy, {}, counts).verdict == whole
        monkeypatch.setattr(questions, "REPLICAS_AS_THEY_ARE", 5)
        monkeypatch.setattr(tolerance, "_REPLICAS_COUNTED", 5)
        counted = tolerance.headline(policy)
        monkeypatch.setattr(tolerance, "_REPLICAS_COUNTED", 1)
        assert tolerance.headline(policy) == counted


def test_headline_of_the_largest_replication_factor() -> None:
    found = tolerance.headline(Policy(replicas=32767, min_isr=100))
    assert found == tolerance.Headline(99, 32667)


@pytest.mark.parametrize("value", [0, 57, 1000])
def test_batches_by_arithmetic_are_those_record_by_record(value: int) -> None:
    sizes = [BATCH_OVERHEAD]
    for number in range(9000):
        sizes.append(sizes[-1] + record_size(-1, value, offset_delta=number))
    for records in (1, 63, 64, 65, 8191, 8192, 8193, 9000):
        assert batch_bytes(records, value) == sizes[records]
        # A batch that has room for so many and the bound of none more takes no fewer.
        assert sizes[fitting(sizes[records], value)] <= sizes[records]


_PRODUCER = "bootstrap.servers=kafka:9092\nacks=1\nkey.serializer=a.B\nvalue.serializer=a.B\n{producer}\n"
_TOPIC = "partitions=6\nmin.insync.replicas=2\nreplication.factor={factor}\n"
_BROKER = "process.roles=broker\nnode.id=1\nlog.dirs=/d\nlisteners=PLAINTEXT://:9092\n{broker}\n"
_GIGABYTE = 1 << 30


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (10, 11))
    resource.setrlimit(resource.RLIMIT_AS, (2 * _GIGABYTE, 2 * _GIGABYTE))


@pytest.mark.parametrize(
    ("changed", "project"),
    [
        ({"factor": "500000000"}, ""),
        ({"factor": "30000"}, ""),
        ({"factor": "9" * 5000}, ""),
        ({"factor": "²"}, ""),
        ({"producer": "batch.size=2147483647"}, ""),
        ({"broker": "offsets.topic.replication.factor=1000"}, "[facts]\nbrokers = 3\n"),
        ({"broker": "offsets.topic.replication.factor=32767"}, "[facts]\nbrokers = 2147483647\n"),
        ({}, '[workload]\nlongest_outage = "1d"\n'),
        ({}, f"[workload]\nlongest_outage = {2**63 - 1}\n"),
        ({}, "[facts]\nreplication_factor = 500000000\n"),
        ({}, f"[facts]\nbrokers = {'9' * 5000}\n"),
    ],
)
def test_hostile_numbers_end(changed: dict[str, str], project: str, tmp_path: Path) -> None:
    fields = {"producer": "", "factor": "3", "broker": "", **changed}
    (tmp_path / "producer.properties").write_text(_PRODUCER.format(**fields))
    (tmp_path / "topic-orders.properties").write_text(_TOPIC.format(**fields), encoding="utf-8")
    (tmp_path / "server.properties").write_text(_BROKER.format(**fields))
    (tmp_path / "kafka-advisor.toml").write_text(project)
    done = subprocess.run(
        [sys.executable, "-m", "advisor", "audit", str(tmp_path), "--no-cache"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        preexec_fn=_limited,
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert done.returncode in (0, 1, 2), done.stderr[-2000:]
    assert "KA000" not in done.stdout
    assert "Traceback" not in done.stderr
    assert all(len(line) < 1000 for line in done.stderr.splitlines())
