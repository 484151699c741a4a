"""Numbers that nobody means: the reader refuses them, and what is asked does not grow with them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.ask.answers.producer import outage
from advisor.sim import questions, tolerance
from advisor.sim.clock.producer.policy import ClientPolicy
from advisor.sim.clock.replicas import ClusterPolicy
from advisor.sim.clock.timeline import Setup
from advisor.sim.partition.state import Policy
from advisor.sim.producer.batch_split import batch_bytes, fitting
from advisor.sim.ranges import MILLISECOND, SECOND
from advisor.sim.wire.batches import BATCH_OVERHEAD, record_size
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
# Address space that is mapped and not used: arenas of threads, libraries.
_BASE = 300 << 20


def _limited() -> None:
    """Five seconds of CPU, and a gigabyte above what an interpreter with its libraries maps."""
    resource.setrlimit(resource.RLIMIT_CPU, (5, 6))
    resource.setrlimit(resource.RLIMIT_AS, (_GIGABYTE + _BASE, _GIGABYTE + _BASE))


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "advisor", *words, "--no-cache"],
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
    return done


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
    _run("audit", str(tmp_path))


_SCENARIO = 'title = "t"\nstory = "s"\nkafka_version = "4.3"\nguarantee = "{guarantee}"\n{rest}\n'
_SURVIVE, _VISIBLE, _ONCE = "acked-records-survive", "records-visible", "records-stored-once"
_CRASHES = "[faults]\nbroker_crash = 2\n"
_TRANSACTIONAL = '[producer]\n"transactional.id" = "a"\n'


@pytest.mark.parametrize(
    ("guarantee", "rest", "told"),
    [
        (_SURVIVE, "[faults]\nbroker_crash = 101", "scenario.toml:6: "),
        (_SURVIVE, '[faults]\nbroker_crash = "rf-1"\n[facts]\nreplication_factor = 32767', ""),
        (_SURVIVE, _CRASHES + "[facts]\nreplication_factor = 32768", "scenario.toml:8: "),
        (
            _SURVIVE,
            _CRASHES + "[policy]\nmin_isr = 9223372036854775808",
            "scenario.toml:8: ",
        ),
        (_SURVIVE, _CRASHES + "[bounds]\nrecords = 16\nelections = 100", ""),
        (_ONCE, f"events = ['send r{'9' * 5000}']", "scenario.toml: events: "),
        (_SURVIVE, "events = ['crash b²']", "is no event"),
        (_SURVIVE, f"events = ['crash b{'9' * 5000}']", "is no event"),
        (
            _VISIBLE,
            f"{_TRANSACTIONAL}[time]\nwork_ms = 1\nuntil_ms = 604800000\ngap_ms = 1",
            "write a longer gap_ms",
        ),
        (_VISIBLE, f"{_TRANSACTIONAL}[time]\nwork_ms = nan\nuntil_ms = 5", "scenario.toml:8: nan and inf"),
    ],
)
def test_hostile_scenarios_end(guarantee: str, rest: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(_SCENARIO.format(guarantee=guarantee, rest=rest), encoding="utf-8")
    assert told in _run("simulate", str(file)).stderr


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ('["send", 100000]', "too long to play: more than 40,000 events"),
        ('["send", 1e308]', "schedule.toml:5: "),
        ('["send", 5, {size = 9223372036854775807}]', "schedule.toml:5: send: size is "),
        ('["sleep", inf]', "schedule.toml:5: nan and inf"),
        ('["sleep", nan]', "schedule.toml:5: nan and inf"),
        ('["sleep", 3600], ["sleep", 3600]', ""),
        ('["topic_config", {"min.insync.replicas" = "²"}]', "schedule.toml:5: topic_config: "),
        ('["topic_config", {"min.insync.replicas" = 2147483648}]', "schedule.toml:5: topic_config: "),
        ('["kill9", 9223372036854775807]', "schedule.toml:5: broker 9223372036854775807 holds no replica"),
    ],
)
def test_hostile_schedules_end(step: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "schedule.toml"
    head = 'title = "t"\nreplicas = [1, 2, 3]\nschedule = [\n  ["send", 5], ["kill9", 1],\n  '
    file.write_text(f'{head}{step},\n  ["await", 60],\n]\n', encoding="utf-8")
    assert told in _run("simulate", "--schedule", str(file)).stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--what-if", "outage=1h"), ""),
        (("--what-if", f"outage={'9' * 5000}h"), "at most an hour"),
        (("--set", "fact.replication_factor=²"), "must be a whole number"),
        (("--set", "fact.brokers=2147483648"), "must be a whole number"),
    ],
)
def test_hostile_words_end(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    (tmp_path / "producer.properties").write_text(_PRODUCER.format(producer=""))
    assert told in _run("audit", str(tmp_path), *words).stderr


@pytest.mark.parametrize("value", ['"abc"', "true", "-1", "1e300", '["1"]'])
def test_params_are_numbers_where_numbers_are_meant(value: str, tmp_path: Path) -> None:
    (tmp_path / "kafka-advisor.toml").write_text(f"[params.KA342]\nlimit_ms = {value}\n")
    (tmp_path / "producer.properties").write_text(_PRODUCER.format(producer=""))
    done = _run("audit", str(tmp_path))
    assert done.returncode == 2
    assert "limit_ms" in done.stderr


def _setup(replicas: int, delivery_ms: int) -> Setup:
    client = ClientPolicy(delivery_timeout=delivery_ms * MILLISECOND)
    return Setup(Policy(replicas=replicas, min_isr=replicas), ClusterPolicy(9 * SECOND, 30 * SECOND), client)


@pytest.mark.parametrize(
    ("kind", "replicas", "delivery_ms"),
    [("crash", 1, 31_000), ("crash", 2, 60_000), ("silence", 1, 60_000), ("silence", 3, 31_000)],
)
def test_long_outages_are_short_ones_and_more_of_the_same(
    kind: str, replicas: int, delivery_ms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = outage.Load(4.0, 4.0, 100, True, False, ())

    def figures(seconds: int) -> outage.Figures:
        setup = _setup(replicas, delivery_ms)
        if kind == "crash":
            steps = outage.crash(setup, seconds * SECOND)
        else:
            setup, steps = outage.silence(setup, seconds * SECOND)
        return outage.play(setup, steps, load, lambda name, mark, compute: compute())

    monkeypatch.setattr(outage, "PLAYED_MAX_MS", 150_000)
    monkeypatch.setattr(outage, "PLAYED_MAX", 1_000_000)
    told = outage.longer(figures(150), load, 90_000)
    played = figures(240)
    assert told is not None
    # Where in a request's timeout of 30 s the outage ends differs, and decides what of it is still saved.
    near = {"stopped": 6_000, "failed": 30 * load.rate, "lost": 0, "refused": 0}
    for name, most in near.items():
        for short, whole in zip(getattr(told, name), getattr(played, name), strict=True):
            assert abs(short - whole) <= most, name
