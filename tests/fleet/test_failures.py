"""What may go wrong under a run: each is told in one true sentence, with what to do."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from advisor.fleet import audit_fleet
from advisor.model import UsageError
from advisor.spark import places, session
from advisor.spark.places import HadoopPlace, LocalPlace, place

from ..conftest import ROOT, needs
from .test_command import OPTIONS


def said(stderr: str) -> str:
    """The last line: those before it are progress."""
    *steps, last = stderr.splitlines()
    assert all(" s  " in step for step in steps), stderr
    return last


def children_of(pid: int) -> list[int]:
    """And theirs, the nearest first."""
    found = [pid]
    for one in found:
        for thread in Path(f"/proc/{one}/task").glob("*/children"):
            found += map(int, thread.read_text().split())
    return found[1:]


def waits_for(path: Path, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.05)


def run_until(script: str, out: Path, then=lambda process: None) -> str:
    process = subprocess.Popen(
        ["sh", "-c", script, "sh", sys.executable, "-m", "advisor", "fleet", ROOT / "samples/fleet/fleet.csv",
         "--out", out, *OPTIONS],
        cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    then(process)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 2, stderr
    return said(stderr)


def test_a_java_process_that_is_killed(tmp_path):
    needs("java")

    def kill(process):
        waits_for(tmp_path / "out/unfinished/configurations/_SUCCESS")
        for pid in children_of(process.pid):
            if Path(f"/proc/{pid}/comm").read_text().strip() == "java":
                os.kill(pid, signal.SIGKILL)

    line = run_until('exec "$@"', tmp_path / "out", kill)
    assert "Spark's Java process ended: it was killed" in line
    assert line.endswith("--resume takes up the steps that are finished")


def test_a_disk_that_is_full(tmp_path):
    needs("java")
    mount = f"mount -t tmpfs -o size=60k none {tmp_path}"
    if (
        not shutil.which("unshare")
        or subprocess.run(["unshare", "-rm", "sh", "-c", mount], check=False).returncode
    ):
        pytest.skip("no small disk can be made here")
    line = run_until(f'unshare -rm sh -c \'{mount} && exec "$@"\' sh "$@"', tmp_path / "out")
    assert "no space left on device" in line or "a disk is full: free some space" in line


def test_a_python_worker_that_is_killed_costs_nothing(spark, audited, sample, tmp_path):
    """On one machine too, where Spark's own default is to give up."""
    killed = []
    stop = threading.Event()

    def kill() -> None:
        waits_for(tmp_path / "out/unfinished/cells/_SUCCESS")
        while not stop.is_set() and not killed:
            for pid in children_of(os.getpid()):
                try:
                    words = Path(f"/proc/{pid}/cmdline").read_bytes()
                    if b"pyspark.daemon" in words and not children_of(pid):
                        os.kill(pid, signal.SIGKILL)
                        killed.append(pid)
                        break
                except OSError:
                    continue

    watcher = threading.Thread(target=kill)
    watcher.start()
    result = audit_fleet(spark, str(sample), str(tmp_path / "out"), now="2027-01-01")
    stop.set()
    watcher.join()
    assert killed
    assert {**result.summary, "trend": None} == {**audited.summary, "trend": None}


def test_a_folder_that_cannot_be_written(spark, sample):
    with pytest.raises(
        UsageError,
        match=r"^--out /sys/audit: (permission denied|read-only file system|operation not permitted)$",
    ):
        audit_fleet(spark, str(sample), "/sys/audit")


def test_a_name_without_a_scheme_is_what_hadoop_takes_it_for(spark, tmp_path):
    """With `fs.defaultFS` elsewhere, Spark writes there, and so do we; `file:` is this machine."""
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    name = tmp_path.name.replace("_", "-")
    (tmp_path / "disk").mkdir()
    conf.set(f"fs.viewfs.mounttable.{name}.link./data", (tmp_path / "disk").as_uri())
    before = conf.get("fs.defaultFS")
    conf.set("fs.defaultFS", f"viewfs://{name}")
    try:
        there, here = place(spark, "/data/out"), place(spark, f"file:{tmp_path}/here")
        assert isinstance(there, HadoopPlace)
        assert there.root == f"viewfs://{name}/data/out"
        assert isinstance(here, LocalPlace)
        for one in (there, here):
            spark.range(3).write.parquet(one.url("table"))
            assert one.exists("table/_SUCCESS")
        assert (tmp_path / "disk/out/table/_SUCCESS").exists()
        assert (tmp_path / "here/table/_SUCCESS").exists()
        with (
            there.alone(),
            pytest.raises(UsageError, match="another run is writing there, or was killed: --resume"),
        ):
            there.alone().__enter__()
        with there.alone(take_over=True):
            pass
    finally:
        conf.set("fs.defaultFS", before)


def test_a_folder_that_the_other_machines_do_not_see(spark, tmp_path, monkeypatch):
    class Mine(LocalPlace):
        """Under the same name Spark finds another folder."""

        def url(self, path):
            return f"file:{tmp_path}/theirs/{path}"

    monkeypatch.setattr(places, "is_local", lambda spark: False)
    monkeypatch.setattr(places, "LocalPlace", Mine)
    with pytest.raises(
        UsageError, match="Spark's machines do not see this folder; name one that they and this"
    ):
        place(spark, str(tmp_path / "mine"))
    assert os.listdir(tmp_path / "mine") == []
    monkeypatch.setattr(places, "LocalPlace", LocalPlace)
    assert place(spark, str(tmp_path / "mine")).root == str(tmp_path / "mine")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "Cannot call methods on a stopped SparkContext.\nThis stopped SparkContext was created at:",
            "nobody answers",
        ),
        ("java.io.IOException: Permission denied", "Permission denied"),
    ],
)
def test_a_master_that_does_not_answer(text, line):
    """As Spark says it after three tries of twenty seconds."""
    assert line in session._start_words(Exception(f"An error occurred while calling o1.x.\n: {text}"))


def test_a_master_of_one_machine_tries_again():
    wanted = {"local": "local[1,4]", "local[*]": "local[*,4]", "local[2]": "local[2,4]"}
    assert {master: session._patient(master) for master in wanted} == wanted
    for master in ("local[2,1]", "local-cluster[2,1,1024]", "yarn", "spark://host:7077"):
        assert session._patient(master) == master
