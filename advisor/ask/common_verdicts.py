"""Verdicts of common behaviours, shipped with the program: a first audit has little to search.

`common_verdicts.json` is made by `python -m advisor.ask.common_questions`. It is a JSON list, one value a
line, so that a reader takes the lines it needs and parses no other: a head, then the questions as [key, line
of the verdict] in the order of their keys, then what verdicts are made of, each once.

The table is never needed for a right answer. One that is missing, damaged, or made from other sources of the
simulator than these counts as empty, and every question is searched.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from ..memo.cache import digest
from ..sim.search.verdict import Bounds, Broken, Holds, Step, Unknown, Verdict

FILE = "common_verdicts.json"
FORMAT = 1
# What a verdict of the table depends on besides its question: these files and folders of sim/.
SOURCES = ("questions.py", "partition", "producer", "search")
_KEY_DIGITS = 20


class CommonVerdicts:
    """Finds a verdict by its question; reads the table when it is first asked."""

    def __init__(self, path: str | None = None) -> None:
        self._path = os.path.join(os.path.dirname(__file__), FILE) if path is None else path
        self._lines: list[bytes] | None = None
        self._count = 0

    def find(self, question: str) -> Verdict | None:
        """`question` as `question_text` writes it."""
        if self._lines is None:
            self._lines, self._count = _read(self._path)
        key = b'["%b",' % key_of(question).encode("ascii")
        place = bisect_left(self._lines, key, 1, self._count + 1) if self._count else 0
        if not place or place > self._count or not self._lines[place].startswith(key):
            return None
        try:
            verdict: Verdict = self._verdict(self._value(self._value(place)[1]))
        except (IndexError, KeyError, TypeError, ValueError):
            return None
        return verdict

    def _value(self, line: int) -> Any:
        import json

        assert self._lines is not None
        return json.loads(self._lines[line].rstrip(b","))

    def _verdict(self, told: list[Any]) -> Verdict:
        """The way back of `common_questions.Lines.verdict`."""
        kind, *rest = told
        if kind == "holds":
            bounds, states, witnesses = rest
            return Holds(self._bounds(bounds), states, tuple(self._value(witnesses)))
        if kind == "broken":
            guarantee, steps, faults, states, bounds, reason = rest
            trace = tuple(self._step(number, step) for number, step in enumerate(steps, 1))
            return Broken(guarantee, trace, faults, states, self._bounds(bounds), reason)
        reason, decided_by, bounds, states = rest
        return Unknown(reason, tuple(decided_by), None if bounds is None else self._bounds(bounds), states)

    def _bounds(self, line: int) -> Bounds:
        return Bounds(*self._value(line))

    def _step(self, number: int, line: int) -> Step:
        event, effects, state, replicas = self._value(line)
        whole: dict[str, Any] = {}
        for name, value in self._value(state).items():
            # Replicas stand where they stood, each on a line of its own.
            whole[name] = [self._value(replica) for replica in replicas] if name == "replicas" else value
        return Step(number, self._value(event), tuple(effects), whole)


def question_text(
    guarantee: str, policy: Any, environment: Mapping[str, int], faults: Mapping[str, int]
) -> str:
    """All that a verdict depends on besides the program."""
    parts = [guarantee, repr(policy)]
    parts += [f"{name}={count}" for name, count in sorted(environment.items())]
    parts += [f"!{name}={count}" for name, count in sorted(faults.items())]
    return "|".join(parts)


def key_of(question: str) -> str:
    return digest(question.encode())[:_KEY_DIGITS]


def simulator_digest() -> str:
    """A name for the sources that verdicts come from, by their contents: some 25 files, a millisecond."""
    top = os.path.join(os.path.dirname(os.path.dirname(__file__)), "sim")
    found = []
    for source in SOURCES:
        path = os.path.join(top, source)
        names = [source]
        if not source.endswith(".py"):
            names = sorted(f"{source}/{name}" for name in os.listdir(path) if name.endswith(".py"))
        for name in names:
            with open(os.path.join(top, name), "rb") as file:
                # An end of line that a checkout has changed is no other program.
                found.append(b"%b\0%b\0" % (name.encode(), file.read().replace(b"\r\n", b"\n")))
    return digest(b"".join(found))


def _read(path: str) -> tuple[list[bytes], int]:
    """The lines, and how many questions there are; none if the table cannot be trusted."""
    import json

    try:
        with open(path, "rb") as file:
            first, _, rest = file.read().partition(b"\n")
        head = json.loads(first[1:].rstrip(b","))
        if (head["format"], head["sum"], head["simulator"]) == (FORMAT, digest(rest), simulator_digest()):
            lines, questions = [first, *rest.split(b"\n")], head["questions"]
            # The sum is of the lines and not of the head.
            if isinstance(questions, int) and 0 < questions < len(lines):
                return lines, questions
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return [], 0
