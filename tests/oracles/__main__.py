"""`python -m tests.oracles KIND FILE.jsonl`: replay recorded answers of Apache Kafka.

KIND names a module of this package whose `compare(case)` returns None, or what differs. Each difference is
a line; the last line reads `N passed, M failed, K listed`. Exit 1 if any failed, 2 if it could not be run.
Known differences are listed in differences.toml. A module may offer `summary(cases)`, lines to print before
the last.

One recording in five is held out: no range, grid or rule of the simulator may be chosen by what it says. Its
name alone decides, so nobody can pick. How many of them agree is printed for the kinds that have ranges, and
tells how a recording that nobody has seen will fare.
"""

from __future__ import annotations

import fnmatch
import importlib
import json
import os
import sys
import tomllib
import zlib
from collections.abc import Callable
from typing import Any

HERE = os.path.dirname(__file__)
HELD_OUT_OF = 5
RANGED = ("failover", "groups")  # kinds whose answers are made of ranges


def held_out(case: dict[str, Any]) -> bool:
    """By the name of the case, never by its result."""
    return zlib.crc32(f"{case.get('version')} {case.get('id')}".encode()) % HELD_OUT_OF == 0


def tuned(case: dict[str, Any]) -> bool:
    """The simulator may have been mended on it."""
    return not held_out(case)


def every(case: dict[str, Any]) -> bool:
    return True


def known_differences(kind: str) -> list[str]:
    """The id patterns of this kind that are listed."""
    with open(os.path.join(HERE, "differences.toml"), "rb") as file:
        listed = tomllib.load(file).get("difference", [])
    return [entry["id"] for entry in listed if entry["kind"] == kind]


def cases(path: str) -> list[tuple[str, dict[str, Any]]]:
    """Every case with its name: its own id, or L and its line."""
    found = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                case = json.loads(line)
                found.append((str(case.get("id", f"L{number}")), case))
    return found


def replay(
    kind: str, path: str, which: Callable[[dict[str, Any]], bool] = every
) -> tuple[list[str], int, int, int]:
    """The lines to print, and how many passed, failed, and differ as listed."""
    module = importlib.import_module(f"tests.oracles.{kind}")
    patterns = known_differences(kind)
    lines: list[str] = []
    passed = failed = listed = 0
    unseen = [0, 0]  # held out: how many, and how many agree
    played = []
    for name, case in cases(path):
        if not which(case):
            continue
        try:
            difference = module.compare(case)
            played.append(case)
        except Exception as error:  # a crash is a failed case, not the end of the run
            difference = f"{type(error).__name__}: {error}"
        if held_out(case):
            unseen = [unseen[0] + 1, unseen[1] + (difference is None)]
        if difference is None:
            passed += 1
        elif any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            listed += 1
        else:
            failed += 1
            lines.append(f"{name}: {difference}")
    if kind in RANGED and unseen[0]:
        lines.append(f"held out: {unseen[1]} of {unseen[0]} agree")
    if hasattr(module, "summary"):
        lines.extend(module.summary(played))
    lines.append(f"{passed} passed, {failed} failed, {listed} listed")
    return lines, passed, failed, listed


def main(arguments: list[str]) -> int:
    kinds = sorted(
        name[:-3] for name in os.listdir(HERE) if name.endswith(".py") and not name.startswith(("_", "test_"))
    )
    if len(arguments) != 2 or arguments[0] not in kinds:
        print(
            f"usage: python -m tests.oracles KIND FILE.jsonl, KIND one of {', '.join(kinds)}", file=sys.stderr
        )
        return 2
    try:
        lines, _, failed, _ = replay(*arguments)
    except OSError as error:
        print(f"{arguments[1]}: {error.strerror}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
