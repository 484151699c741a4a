"""Large repositories in one run: files per core-second against yamllint's, how CPU grows, memory at its peak.

Small files as the bench `files` has them, and services that share a cluster, each with a topic of its own or
all on one. Sizes from the environment: KAFKA_ADVISOR_BENCH_FILES=10000,50000 and
KAFKA_ADVISOR_BENCH_SERVICES=300,2000.
"""

from __future__ import annotations

import math
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ._monorepo import write_repo
from .files import properties_text, yaml_text
from .measure import Used, installed, used

GOAL = 10


class Tree(NamedTuple):
    """One repository: what is audited, what yamllint reads, how many files each has."""

    kind: str
    size: int
    ours: Path
    theirs: Path
    files: int


def sizes(name: str, default: str) -> list[int]:
    return [int(size) for size in os.environ.get(f"KAFKA_ADVISOR_BENCH_{name}", default).split(",")]


def small_files(here: Path, count: int) -> Tree:
    ours, theirs = here / f"files-{count}", here / f"files-{count}-yaml"
    names = ("producer", "consumer", "topic")
    for number in range(count):
        folder = f"team-{number // 1000:03}"
        if number % 1000 == 0:
            (ours / folder).mkdir(parents=True)
            (theirs / folder).mkdir(parents=True)
        (ours / folder / f"{names[number % 3]}-{number:05}.properties").write_text(properties_text(number))
        (theirs / folder / f"service-{number:05}.yml").write_text(yaml_text(number))
    return Tree("files", count, ours, theirs, count)


def services(here: Path, count: int) -> Tree:
    folder = here / f"services-{count}"
    return Tree("services", count, folder, folder, write_repo(folder, count, one_topic=False))


def one_topic(here: Path, count: int) -> Tree:
    folder = here / f"one-topic-{count}"
    return Tree("services on one topic", count, folder, folder, write_repo(folder, count, one_topic=True))


def exponent(points: Sequence[tuple[int, float]]) -> float | None:
    """1 where CPU is linear in files, 2 where it is quadratic: between the smallest and the largest."""
    (few, low), (many, high) = min(points), max(points)
    return round(math.log(high / low) / math.log(many / few), 2) if many > few and low > 0 else None


def measured(tree: Tree, programs: Path, env: dict[str, str], rounds: int) -> dict[str, Used]:
    """Medians of turns; the first turn of ours warms its cache and does not count."""
    commands: dict[str, list[object]] = {
        "kafka-advisor": [programs / "kafka-advisor", "audit", "--fail-on", "never", tree.ours],
        "yamllint": [programs / "yamllint", tree.theirs],
    }
    used(commands["kafka-advisor"], tree.ours.parent, env)
    turns = [
        {name: used(command, tree.ours.parent, env) for name, command in commands.items()}
        for _ in range(rounds)
    ]
    return {
        name: Used(
            statistics.median(turn[name].cpu_seconds for turn in turns),
            max(turn[name].peak_mb for turn in turns),
        )
        for name in commands
    }


def run() -> dict[str, Any]:
    kinds: list[tuple[Callable[[Path, int], Tree], list[int]]] = [
        (small_files, sizes("FILES", "10000,50000")),
        (services, sizes("SERVICES", "300,2000")),
        (one_topic, sizes("SERVICES", "300,2000")),
    ]
    raw: list[dict[str, Any]] = []
    others: dict[str, Any] = {}
    with installed("yamllint") as programs, tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        env = {"KAFKA_ADVISOR_CACHE": str(here / ".cache")}
        for make, counts in kinds:
            points, kind = [], ""
            for count in counts:
                tree = make(here, count)
                taken = measured(tree, programs, env, rounds=3 if tree.files <= 5_000 else 1)
                ours, theirs = taken["kafka-advisor"], taken["yamllint"]
                points.append((tree.files, ours.cpu_seconds))
                kind = tree.kind
                raw.append(
                    {
                        "kind": kind,
                        "size": count,
                        "files": tree.files,
                        "ratio": round(theirs.cpu_seconds / ours.cpu_seconds, 2),
                        "cpu_seconds": {name: round(one.cpu_seconds, 3) for name, one in taken.items()},
                        "peak_mb": {name: round(one.peak_mb) for name, one in taken.items()},
                        "peak_kb_a_file": round(ours.peak_mb * 1024 / tree.files, 1),
                    }
                )
            others[f"{kind}: CPU grows with files to the power of (goal: at most 1.1)"] = exponent(points)
    return {
        "name": "repos",
        "ratio": min(one["ratio"] for one in raw),
        "goal": f"files per core-second at least {GOAL}x yamllint's, in every repository",
        "others": others,
        "repositories": raw,
    }
