"""Audit Kafka configuration files: the shortest run that loses, doubles or reorders an acknowledged record or
stops writes, and the smallest change that prevents it; every value that Kafka would refuse, silently rewrite,
ignore or never receive, with file and line.

Each PATH is a file or a folder. Files that belong to the same root (the nearest folder above with a
kafka-advisor.toml or a .git) are read too, so that a producer is judged with its topic; only findings in
the PATHs are reported."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..model import UsageError
from . import say
from .asked import add_scope, options_of, problems_of, progress

if TYPE_CHECKING:
    from ..engine import Audit

EPILOG = """\
examples:
  kafka-advisor audit .                                       everything under this folder
  kafka-advisor audit --kafka-version 3.9 producer.properties
  kafka-advisor audit --set topic.min.insync.replicas=1 .     with another value
  kafka-advisor audit --what-if roll --what-if outage=30s .
  kafka-advisor audit --format json --report text=audit.txt config/
  kafka-advisor audit --select KA01 --ignore silently-rewritten --fail-on warning .

exit codes:
  0  nothing at or over --fail-on
  1  findings at or over --fail-on
  2  a path cannot be read, nothing could be audited, or the command, a pack or a plugin is broken
"""
LEVELS = ("never", "error", "warning", "note")
_RANK = {"note": 1, "warning": 2, "error": 3}
_THRESHOLD = {"never": 9, "error": 3, "warning": 2, "note": 1}


def configure(parser: argparse.ArgumentParser) -> None:
    add_scope(parser, "*")
    add_output(parser)
    parser.add_argument(
        "--what-if",
        metavar="X",
        action="append",
        default=[],
        help="what roll (a rolling restart), outage=30s (a broker is away) or rack (a rack is lost) does to "
        "each deployment: how long writes stop, what expires, what is lost, who leads (repeatable)",
    )
    parser.add_argument(
        "--hook",
        action="store_true",
        help="as pre-commit runs it: no Kafka configuration among PATHs is fine; where a file was deleted or "
        "kafka-advisor.toml is among them, the whole root is audited",
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    """How a report is told, here and by `compare`."""
    add = parser.add_argument
    add("--format", metavar="NAME", default="text", help="what to print: text or json (default: text)")
    add(
        "--report",
        metavar="NAME=FILE",
        action="append",
        default=[],
        help="also write a report to a file (repeatable)",
    )
    add("--fail-on", choices=LEVELS, help="the least severity that makes the exit code 1 (default: error)")
    add(
        "--runs",
        action="store_true",
        help="show the runs behind notes too",
    )
    add("--show-effective", action="store_true", help="print the values in force and where each comes from")


def run(args: argparse.Namespace) -> int:
    from ..engine import audit
    from ..output.files import write_file
    from ..tell.report import build_report

    if args.hook:
        args.paths = _hooked(args)
        if not args.paths:
            return 0
    elif not args.paths:
        raise UsageError("name a file or a folder: kafka-advisor audit .")
    # Short-lived, and full of small values that all stay alive: collecting garbage finds none.
    gc.disable()
    questions = _what_ifs(args.what_if)
    result = audit(options_of(args), progress())
    outputs = [output_of(item, result) for item in args.report]
    report = build_report(result, args.show_effective)
    if questions:
        _answer(questions, result, report, not args.no_cache)
    sys.stdout.write(render(args.format, result, report, args.runs))
    for name, path in outputs:
        write_file(path, render(name, result, report, args.runs))
    problems = problems_of(result, args.hook)
    for line in (*result.notes, *result.scope.locked, *problems):
        say(line)
    return 2 if problems else exit_code(result, args.fail_on)


def _hooked(args: argparse.Namespace) -> list[str]:
    from ..registry import load_registry
    from .staged import paths_of_hook

    formats = load_registry(args.plugin).formats
    return list(paths_of_hook(args.paths, (suffix for spec in formats for suffix in spec.suffixes)))


def _what_ifs(words: Sequence[str]) -> list[Any]:
    """A word that is no question is told before anything is read."""
    if not words:
        return []
    from ..simulate.what_if import parse

    return [parse(word) for word in words]


def _answer(questions: Sequence[Any], result: Audit, report: dict[str, Any], cached: bool) -> None:
    from ..memo.answers import Remembered
    from ..memo.cache import open_cache
    from ..simulate.what_if import answers
    from ..tell.reported import reported_deployments

    remember = Remembered(open_cache(cached))
    asked = [deployment for root in result.roots for deployment in reported_deployments(root)]
    for entry, deployment in zip(report["deployments"], asked, strict=True):
        entry["what_if"] = answers(deployment, questions, remember)


def output_of(item: str, result: Audit) -> tuple[str, str]:
    name, equals, path = item.partition("=")
    if not equals or not path:
        raise UsageError(f"--report {item}: write FORMAT=FILE")
    _reporter(name, result)
    return name, path


def _reporter(name: str, result: Audit) -> str:
    spec = result.registry.reporters.get(name)
    if spec is None:
        known = ", ".join(sorted(result.registry.reporters))
        raise UsageError(f"no report format {name!r}; there is {known}")
    return spec.render


def render(name: str, result: Audit, report: dict[str, Any], runs: bool) -> str:
    from ..guard.calls import PluginError
    from ..registry import function

    try:
        return str(function(_reporter(name, result), "text")(report, {"runs": runs}))
    except PluginError as error:
        raise UsageError(f"the {name} report cannot be made: {error}") from error


def exit_code(result: Audit, asked: str | None) -> int:
    """Each root is held to its own `fail_on`, unless the command line says otherwise."""
    return int(
        any(
            _RANK[finding.severity] >= _THRESHOLD[asked or root.project.fail_on or "error"]
            for root in result.roots
            for finding in root.findings
            if finding.suppressed is None
        )
    )
