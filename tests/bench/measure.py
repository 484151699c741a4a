"""CPU time of whole commands, in an environment installed as a user installs it."""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def installed(*packages: str) -> Iterator[Path]:
    """A fresh environment with this project (not editable: that slows every import) and the packages;
    gives its folder of programs."""
    folder = Path(tempfile.mkdtemp(prefix="kafka-advisor-bench-"))
    try:
        source = folder / "source"
        shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "build", "*.egg-info", "tests"))
        subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
        install = [folder / "env/bin/pip", "install", "-q", "--disable-pip-version-check", source, *packages]
        subprocess.run(install, check=True)
        yield folder / "env/bin"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def cpu_seconds(command: Sequence[object], cwd: Path, env: dict[str, str] | None = None) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Used(NamedTuple):
    """What a command took: CPU of all its processes, memory of the largest at its peak."""

    cpu_seconds: float
    peak_mb: float


def used(command: Sequence[object], cwd: Path, env: dict[str, str] | None = None) -> Used:
    """By the status of this very child: the peak of all children together would be that of the largest."""
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    kilobytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Used(usage.ru_utime + usage.ru_stime, kilobytes / 1024)


def medians(
    commands: dict[str, Sequence[object]], cwd: Path, rounds: int, env: dict[str, str]
) -> dict[str, float]:
    """Median CPU seconds of each command, measured in turns so that a noisy minute hits all alike."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for command in commands.values():
        cpu_seconds(command, cwd, env)  # once unmeasured: caches warm, bytecode written
    for _ in range(rounds):
        for name, command in commands.items():
            taken[name].append(cpu_seconds(command, cwd, env))
    return {name: statistics.median(values) for name, values in taken.items()}
