"""`python -m tests.bench NAME [SIZE]`: one JSON object with the ratio that the bench is about.

Ratios, not times: ours against a baseline taken in the same run, in CPU time, medians.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path

NAMES = sorted(
    path.stem for path in Path(__file__).parent.glob("*.py") if path.stem[0] != "_" and path.stem != "measure"
)


def main(words: list[str]) -> int:
    if not 1 <= len(words) <= 2 or words[0] not in NAMES or not all(word.isdecimal() for word in words[1:]):
        print(f"usage: python -m tests.bench {{{'|'.join(NAMES)}}} [SIZE]", file=sys.stderr)
        return 2
    run = import_module(f"tests.bench.{words[0]}").run
    if len(words) > 1 and not signature(run).parameters:
        print(f"{words[0]}: has one size", file=sys.stderr)
        return 2
    print(json.dumps(run(*map(int, words[1:])), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
