"""What the two commands on Spark share: words of the form NAME=VALUE, progress, the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from time import monotonic

from ...model import UsageError
from .. import say

LEVELS = ("never", "error", "warning", "note")
_COUNTED = {
    "error": ("errors",),
    "warning": ("errors", "warnings"),
    "note": ("errors", "warnings", "notes"),
}


def pairs(word: str, given: Sequence[str]) -> dict[str, str]:
    found = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise UsageError(f"{word} {item}: write NAME=VALUE")
        found[name] = value
    return found


def steps(quiet: bool) -> Callable[[str], None]:
    """A line for each step; in a log, where nobody watches it come, with the time since the start."""
    if quiet:
        return lambda text: None
    begun = monotonic()
    if sys.stderr is not None and sys.stderr.isatty():
        return say
    return lambda text: say(f"{monotonic() - begun:5.0f} s  {text.strip()}")


def exit_code(summary: Mapping[str, int], fail_on: str) -> int:
    return int(any(summary[name] for name in _COUNTED.get(fail_on, ())))
