"""`python -m tests.oracles KIND FILE.jsonl`: replay recorded answers of Apache Kafka.

KIND names a module of this package whose `compare(case)` returns None, or what differs. Each difference is
a line; the last line reads `N passed, M failed, K listed`. Exit 1 if any failed, 2 if it could not be run.
Differences on purpose are listed in differences.toml. A module may offer `summary(cases)`, lines to print
before the last.
"""

from __future__ import annotations

import fnmatch
import importlib
import json
import os
import sys
import tomllib
from typing import Any

HERE = os.path.dirname(__file__)


def on_purpose(kind: str) -> list[str]:
    """The id patterns of this kind whose differences are meant."""
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


def replay(kind: str, path: str) -> tuple[list[str], int, int, int]:
    """The lines to print, and how many passed, failed, and differ on purpose."""
    module = importlib.import_module(f"tests.oracles.{kind}")
    patterns = on_purpose(kind)
    lines: list[str] = []
    passed = failed = listed = 0
    every = cases(path)
    for name, case in every:
        try:
            difference = module.compare(case)
        except Exception as error:  # a crash is a failed case, not the end of the run
            difference = f"{type(error).__name__}: {error}"
        if difference is None:
            passed += 1
        elif any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            listed += 1
        else:
            failed += 1
            lines.append(f"{name}: {difference}")
    if hasattr(module, "summary"):
        lines.extend(module.summary([case for _, case in every]))
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
