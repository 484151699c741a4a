"""What the two commands on Spark share: words of the form NAME=VALUE, a session, progress, the exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from ...model import UsageError
from .. import say

Tell = Callable[[str], None]

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


@contextmanager
def on_spark(args: argparse.Namespace) -> Iterator[tuple[Any, Tell]]:
    """A session of one's own and somebody to tell steps to. What fails in it is told in a sentence."""
    from ...spark.session import check_installed, failures_told, open_session, quiet_interrupts, stop

    conf = pairs("--conf", args.conf)
    # Before anything is said to start.
    check_installed(args.remote is not None and not args.remote.startswith("local"))
    tell = steps(args.quiet)
    tell(f"starting Spark on {args.remote or args.master}")
    spark = open_session(args.master, args.remote, conf)
    quiet_interrupts()
    try:
        with failures_told():
            yield spark, tell
    finally:
        stop(spark)


def steps(quiet: bool) -> Tell:
    """A line for each step; in a log, where nobody watches it come, with the time since the start."""
    if quiet:
        return lambda text: None
    begun = monotonic()
    if sys.stderr is not None and sys.stderr.isatty():
        return say
    return lambda text: say(f"{monotonic() - begun:5.0f} s  {text.strip()}")


def exit_code(summary: Mapping[str, int], fail_on: str) -> int:
    return int(any(summary[name] for name in _COUNTED.get(fail_on, ())))
