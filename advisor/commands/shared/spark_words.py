"""What the two commands on Spark share: words of the form NAME=VALUE, progress, the exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

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


def tell(text: str) -> None:
    """Progress goes to a terminal alone."""
    if sys.stderr is not None and sys.stderr.isatty():
        say(text)


def exit_code(summary: Mapping[str, int], fail_on: str) -> int:
    return int(any(summary[name] for name in _COUNTED.get(fail_on, ())))
