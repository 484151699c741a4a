"""The command as a user runs it: on a cluster of processes and through Spark Connect it says the same."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from advisor.testing import run_command

from ..conftest import needs
from ..fleet.conftest import QUICK
from .conftest import CONFIG

# Executors are as lightly compiled as the driver. Plans are not made again as stages end: with so few rows
# every stage would be a job of its own for nothing.
LIGHT = {
    **QUICK,
    "spark.executor.extraJavaOptions": QUICK["spark.driver.extraJavaOptions"],
    "spark.sql.adaptive.enabled": "false",
}
OPTIONS = [word for name, value in LIGHT.items() for word in ("--conf", f"{name}={value}")]
RECORDS = 300
ASKED = (
    "--config", CONFIG, "--sweep", "linger.ms=5000", "--set", "segment.ms=600000", "--format", "json",
    "--quiet",
)  # fmt: skip


@pytest.fixture(scope="module")
def small(generate, tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "trace.csv"
    generate.write(path, generate.table(RECORDS, days=0.1, keyless=0.1, late=0.05, seed=3))
    return path


@pytest.fixture(scope="module")
def here(spark, small, tmp_path_factory):
    from advisor.replay import replay_workload

    out = tmp_path_factory.mktemp("here") / "out"
    wanted = {"sweep": {"linger.ms": ("5000",)}, "sets": ["segment.ms=600000"], "config": [CONFIG]}
    return hours(replay_workload(spark, str(small), str(out), **wanted).folder)


def hours(folder) -> list[str]:
    return sorted(map(str, pq.read_table(f"{folder}/hours").to_pylist()))


@pytest.mark.parametrize("where", [("--master", "local-cluster[2,1,1024]"), ("--remote", "local[2]")])
def test_elsewhere_it_says_the_same(here, small, tmp_path, where):
    needs("java")
    words = ("replay", small, "--out", tmp_path / "out", *ASKED, *where, *OPTIONS)
    done = run_command(tmp_path, *words, timeout=900)
    assert done.stderr == ""
    assert done.returncode == 0
    summary = json.loads(done.stdout)
    assert summary["records"] == {"in": RECORDS, "replayed": RECORDS, "quarantined": 0}
    assert hours(tmp_path / "out/runs/000001") == here


def test_words_that_do_not_fit_are_told(tmp_path):
    for words, line in (
        (("--sweep", "linger.ms"), "--sweep linger.ms: write KEY=VALUE,VALUE"),
        (
            ("--ratio", "zstd=3"),
            "--ratio zstd=3: write one of none, gzip, snappy, lz4, zstd = a share from 0 to 1",
        ),
        (("--lateness", "soon"), "--lateness soon: write a time such as 500ms, 30s or 5m"),
    ):
        done = run_command(
            tmp_path, "replay", "x.parquet", "--config", CONFIG, "--out", tmp_path / "out", *words
        )
        assert done.returncode == 2
        assert done.stderr == f"kafka-advisor: {line}\n"


def test_a_real_broker_stores_what_is_replayed(spark, tmp_path):
    """Partitions, batches, segments and what retention leaves, on the disk of a real Kafka: all equal."""
    needs("mvn")  # it fetches the broker
    needs("java")
    from .real_broker import compare

    assert compare(spark, tmp_path)["differ"] == []
