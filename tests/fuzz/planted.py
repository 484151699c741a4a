"""Command lines with a known mistake each, for the test that the fuzzer finds it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence


def _contents() -> Iterator[str]:
    for folder, _, names in os.walk("."):
        for name in sorted(names):
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                yield file.read()


def _asked_about(word: str) -> bool:
    return any(word in text for text in _contents())


def healthy(words: Sequence[str]) -> int:
    return len(words) % 3


def crash(words: Sequence[str]) -> int:
    if _asked_about("acks"):
        raise KeyError("acks")
    return 0


def hang(words: Sequence[str]) -> int:
    # Within a regular expression no Python code runs, so that no handler written in Python is called.
    if words[0] == "compare":
        re.match("(a+)+$", "a" * 60 + "b")
    return 0


def grow(words: Sequence[str]) -> int:
    if words[0] == "compare":
        kept = [bytes(1 << 20) for _ in range(4 << 10)]
        return len(kept) % 2
    return 0


def swallow(words: Sequence[str]) -> int:
    """A rule that runs out of memory is told as a finding, and the run goes on."""
    if words[0] == "compare":
        print("KA000 the code of KA101 failed on producer: MemoryError at search.py:12")
    return 1


def leak(words: Sequence[str]) -> int:
    if words[0] == "fix":
        for text in _contents():
            print(text, file=sys.stderr)
    return 0


def strange_exit(words: Sequence[str]) -> int:
    return 3 if words[0] == "fix" else 0


def raw_character(words: Sequence[str]) -> int:
    if words[0] == "fix":
        print("\x9b31m")
    return 0


def no_json(words: Sequence[str]) -> int:
    print("{'a': NaN}")
    return 0


def unsteady(words: Sequence[str]) -> int:
    print(os.urandom(8).hex())
    return 0
