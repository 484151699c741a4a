"""`python -m tests.real.classes [CASES] [SEED] [KIND ...]`: fresh random cases against Kafka's own classes.

Every run draws new ones; the seed is printed. A case that differs is made as small as it goes and printed as
`python -m tests.oracles KIND FILE` takes it. The counts of the first contact are kept.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from advisor.real.cluster.jars import find_jars
from advisor.real.cluster.processes import LIGHT

from .class_cases import DRAWN
from .results import note, result

KAFKA = "4.3.1"
HERE = Path(__file__).parent
Case = dict[str, Any]


class Classes:
    """A Java process that asks Kafka's classes."""

    def __init__(self) -> None:
        jars = find_jars(KAFKA, fetch=True)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        # Compiled as it is started: it is asked thousands of times.
        words = ["java", *LIGHT, "-Xmx300m", "-cp", f"{jars}/*", str(HERE / "Classes.java")]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )

    def __enter__(self) -> Classes:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()

    def answered(self, case: Case) -> Case:
        """The case with what Kafka says of it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise RuntimeError(self._errors.read().decode(errors="replace")[-2000:])
        said = json.loads(line)
        if case["kind"] == "verdicts":
            return {**case, **said}
        # Orders of Java's hash maps are part of the input.
        orders = {name: said.pop(name) for name in ("member_map_order", "rack_map_order") if name in said}
        return {**case, "input": {**case["input"], **orders}, "output": said}


def difference(case: Case) -> str | None:
    found: str | None = import_module(f"tests.oracles.{case['kind']}").compare(case)
    return found


def smallest(classes: Classes, case: Case, smaller: Callable[[Case], Iterator[Case]]) -> Case:
    """Made smaller for as long as it still differs."""
    going = True
    while going:
        going = False
        for candidate in smaller(case):
            tried = classes.answered(candidate)
            if difference(tried) is not None:
                case, going = tried, True
                break
    return case


def checked(kind: str, count: int, seed: int, classes: Classes) -> list[Case]:
    """The cases that differ, each as small as it goes."""
    draw, smaller = DRAWN[kind]
    dice = random.Random(f"{kind} {seed}")
    wrong = []
    last: Case | None = None
    for number in range(count):
        case = draw(dice, last)
        case = classes.answered({**case, "kind": kind, "version": KAFKA, "id": f"random-{seed}/{number}"})
        last = case
        if difference(case) is not None:
            wrong.append(smallest(classes, case, smaller))
    return wrong


def main(words: list[str]) -> int:
    count = int(words[0]) if words else 1_000
    seed = int(words[1]) if len(words) > 1 else int(time.time())
    kinds = words[2:] or list(DRAWN)
    print(f"seed {seed}", flush=True)
    failed = 0
    with Classes() as classes:
        for kind in kinds:
            wrong = checked(kind, count, seed, classes)
            failed += len(wrong)
            print(f"{kind}: {count - len(wrong)} of {count} agree", flush=True)
            for case in wrong[:5]:
                print(f"  {difference(case)}\n  {json.dumps(case)}", flush=True)
            note(
                result(
                    kind.replace("_", " "),
                    "random cases, Kafka's own classes",
                    KAFKA,
                    count,
                    count - len(wrong),
                    seed,
                )
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
