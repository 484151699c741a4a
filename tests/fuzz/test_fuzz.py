"""The fuzzer finds mistakes that are there, and none in the program: a minute of it, of fixed seeds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from advisor.registry import load_registry

from .corpus import CHECKPOINT, CONFIGURATION, PACK, ROOT, SCENARIO, SCHEDULE, corpus, of_kind
from .mutants import mutant


def fuzz(*words: object) -> subprocess.CompletedProcess[str]:
    # A process of its own: it forks, and pytest's workers have threads.
    return subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_no_mutant_fails(seed):
    done = fuzz("--mutants", 1500, "--workers", 1, 0, seed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "1500 mutants, 0 failed\n"


PLANTED = {
    "crash": "exception | KeyError",
    "hang": "over the CPU limit | compare",
    "grow": "over the memory limit | compare",
    "swallow": "over the memory limit | compare | search.py",
    "leak": "secret shown | fix",
    "strange_exit": "exit code | 3 of fix",
    "raw_character": "raw character | fix on stdout | C1",
    "no_json": "not JSON",
    "unsteady": "different the second time",
}


@pytest.mark.parametrize("mistake", PLANTED)
def test_a_planted_mistake_is_found(mistake):
    limits = ("--mutants", 300, "--workers", 1, "--cpu-seconds", 0.3)
    done = fuzz(*limits, "--main", f"tests.fuzz.planted:{mistake}", 0, 1)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"== {PLANTED[mistake]}" in done.stdout
    assert "300 mutants, 0 failed" not in done.stdout


def test_the_smallest_input_is_printed():
    done = fuzz("--mutants", 60, "--workers", 1, "--main", "tests.fuzz.planted:crash", 0, 1)
    (name,) = [line for line in done.stdout.splitlines() if line.startswith("-- ")]
    assert name.endswith("(4 bytes)")
    assert "\n   acks\n" in done.stdout


def test_a_command_without_a_mistake_has_none():
    done = fuzz("--mutants", 60, "--workers", 2, "--main", "tests.fuzz.planted:healthy", 0, 1)
    assert (done.returncode, done.stdout) == (0, "60 mutants, 0 failed\n"), done.stderr


def test_a_mutant_is_found_again_by_its_index():
    done = fuzz("--only", 7, "--main", "tests.fuzz.planted:healthy", 0, 1)
    assert f"kafka-advisor {mutant(1, 7).words[0]}" in done.stdout


def test_a_seed_gives_the_same_mutants_in_every_process():
    program = "from tests.fuzz.mutants import mutant; print([mutant(3, index) for index in range(300)])"
    shown = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(shown) == 1


def test_every_format_and_every_kind_of_input_is_mutated():
    assert all(of_kind(kind) for kind in (CONFIGURATION, SCENARIO, SCHEDULE, PACK, CHECKPOINT))
    cases = {seed.name.split("/")[2] for seed in corpus() if seed.name.startswith("tests/formats/")}
    assert cases == {spec.name for spec in load_registry().formats}
