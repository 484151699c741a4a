"""The command: what it needs, what it prints, and clusters of more than one process."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from ..conftest import ROOT, needs
from .conftest import QUICK, told

OPTIONS = [word for name, value in QUICK.items() for word in ("--conf", f"{name}={value}")]


def run(words, env=None, timeout=1800):
    return subprocess.run(
        [sys.executable, "-m", "advisor", "fleet", *map(str, words)],
        env={**os.environ, **(env or {})},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def assert_steps_alone(stderr):
    """In a log each step has a line with the seconds since the start; Spark itself says nothing."""
    lines = stderr.splitlines()
    assert len(lines) > 5
    assert [line for line in lines if not re.match(r"kafka-advisor: +[0-9]+ s  \S", line)] == []


def test_without_spark_one_line_says_how_to_get_it(tmp_path):
    (tmp_path / "pyspark.py").write_text("raise ImportError('no')\n")
    done = run(["x.parquet", "--out", tmp_path / "out"], {"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.endswith("which is not installed: pip install 'kafka-advisor[spark]'")


def test_without_java_one_line_says_how_to_get_it(tmp_path):
    done = run(["x.parquet", "--out", tmp_path / "out"], {"PATH": str(tmp_path), "JAVA_HOME": ""})
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "Java 17" in line


def test_a_cluster_of_processes_with_an_executor_killed_says_the_same(spark, audited, sample, tmp_path):
    """Two executors of their own; one is killed in mid-run. The plugin and the packs are shipped to them."""
    needs("java")
    plugin = tmp_path / "house_plugin.py"
    plugin.write_text(
        "from advisor.api import hookimpl\n\n\n@hookimpl\ndef advisor_checks():\n    return []\n"
    )
    killed: list[int] = []
    stop = threading.Event()

    def kill() -> None:
        while not stop.is_set() and not killed:
            begun = (tmp_path / "out/unfinished/configurations/_SUCCESS").exists()
            for pid in _executors(str(tmp_path)) if begun else ():
                killed.append(pid)
                os.kill(pid, 9)
                return
            time.sleep(0.1)

    watcher = threading.Thread(target=kill)
    watcher.start()
    # A work folder of its own, by which its executors are told from others.
    where = ["--conf", f"spark.executorEnv.KAFKA_ADVISOR_TEST={tmp_path}"]
    done = run([sample, "--out", tmp_path / "out", "--master", "local-cluster[2,1,1024]", "--format", "json",
                "--plugin", plugin, *where, *OPTIONS])  # fmt: skip
    stop.set()
    watcher.join()
    assert_steps_alone(done.stderr)
    assert done.returncode == 1
    assert killed
    summary = json.loads(done.stdout)
    assert told(spark, summary["folder"]) == told(spark, audited.folder)


def test_spark_submit_runs_it(tmp_path):
    """The line of the README, with a source that is not there: a line says so, on spark-submit's master."""
    needs("java")
    file = subprocess.run(
        [sys.executable, "-m", "advisor.submit"], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout.strip()
    done = subprocess.run(
        [Path(sys.executable).parent / "spark-submit", "--master", "local[1]", file,
         tmp_path / "none.parquet", "--out", tmp_path / "out", "--master", "spark://nobody:1"],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    # What the driver prints, on either stream, spark-submit hands on as its own output.
    *steps, line = done.stdout.splitlines()
    assert all(" s  " in step for step in steps)
    assert "none.parquet cannot be read as parquet: Path does not exist" in line


def _executors(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if f"KAFKA_ADVISOR_TEST={mark}".encode() in environment and b"ExecutorBackend" in command:
                found.append(int(entry.name))
    return sorted(found)


def test_through_spark_connect_it_says_the_same(spark, audited, sample, tmp_path):
    """A Connect server started for the test, in its own process; results are written by the server."""
    needs("java")
    done = run([sample, "--out", tmp_path / "out", "--remote", "local[2]", "--format", "markdown", *OPTIONS])
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("# Kafka fleet\n")
    assert_steps_alone(done.stderr)
    assert told(spark, str(tmp_path / "out/runs/000001")) == told(spark, audited.folder)
    assert shutil.which("java")
