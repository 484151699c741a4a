"""Audit Kafka configuration files: the shortest run that loses, doubles or reorders an acknowledged record or
stops writes, and the smallest change that prevents it; every value that Kafka would refuse, silently rewrite,
ignore or never receive, with file and line.

Each PATH is a file or a folder (default: this folder). Files that belong to the same root (the nearest folder
above with a kafka-advisor.toml or a .git) are read too, so that a producer is judged with its topic; only
findings in the PATHs are reported."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import say
from .shared.known_findings import add_known, check_known, with_known
from .shared.reports import Reports, add_output, exit_code
from .shared.scope_options import add_scope, options_of, problems_of, progress

if TYPE_CHECKING:
    from ..engine import Audit
    from .shared.live_cluster import Live

EPILOG = """\
examples:
  kafka-advisor audit                                         everything under this folder
  kafka-advisor audit --kafka-version 3.9 producer.properties
  kafka-advisor audit --set topic.min.insync.replicas=1 .     with another value
  kafka-advisor audit --what-if roll --what-if outage=30s .
  kafka-advisor audit --report html=audit.html .              also as a page, with every run to play
  kafka-advisor audit --baseline known.json --update-baseline     accept all of today: only new ones count
  kafka-advisor audit --diff-base main                        what this branch makes worse or better
  kafka-advisor audit --select KA01 --ignore silently-rewritten --fail-on warning .

exit codes:
  0  no finding at or above --fail-on
  1  findings at or above --fail-on
  2  a path cannot be read, nothing could be audited, or the command, a pack or a plugin is broken
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_scope(parser, "*")
    add_output(parser)
    add_known(parser)
    _add_live(parser)
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


def _add_live(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="audit a running cluster, by calls that only read; beside PATHS what differs from them is told "
        "(needs kafka-advisor[live])",
    )
    add("--command-config", metavar="FILE", help="client properties for --bootstrap-server: SASL, TLS")
    add("--save", metavar="FILE", help="keep what the cluster said: FILE can be audited later, or in a fleet")
    add(
        "--traffic",
        metavar="60s",
        help="watch the cluster for so long and audit with the [workload] measured",
    )


def run(args: argparse.Namespace) -> int:
    if args.hook:
        args.paths = _hooked(args)
        if not args.paths:
            return 0
    elif args.bootstrap_server is not None:
        return _live(args)
    elif not args.paths:
        args.paths = ["."]
    return _audited(args)


def _live(args: argparse.Namespace) -> int:
    from .shared.live_cluster import live_cluster

    with progress() as tell, live_cluster(args, tell) as live:
        for line in live.unknown:
            say(f"not known: {line}")
        return _audited(args, live)


def _audited(args: argparse.Namespace, live: Live | None = None) -> int:
    from ..engine import audit
    from ..tell.report import build_report

    # Short-lived, and full of small values that all stay alive: collecting garbage finds none.
    gc.disable()
    check_known(args)
    questions = _what_ifs(args.what_if)
    options = options_of(args)._replace(count_hidden=True)
    with progress() as tell:
        result = audit(options, tell)
    reports = Reports(args, result, options)
    report = build_report(result, args.show_effective)
    if questions:
        _answer(questions, result, report, not args.no_cache)
    report = with_known(args, options, result, report)
    reports.tell(report)
    if live is not None:
        for line in live.drift(result):
            say(line)
    problems = problems_of(result, args.hook)
    for line in (*result.notes, *result.scope.locked, *problems):
        say(line)
    return 2 if problems else exit_code(result, args.fail_on, report, args.strict_baseline)


def _hooked(args: argparse.Namespace) -> list[str]:
    from ..registry import load_registry
    from .shared.staged import paths_of_hook

    return list(paths_of_hook(args.paths, load_registry(args.plugin)))


def _what_ifs(words: Sequence[str]) -> list[Any]:
    """A word that is no question is told before anything is read."""
    if not words:
        return []
    from ..simulate.what_if import parse

    return [parse(word) for word in words]


def _answer(questions: Sequence[Any], result: Audit, report: dict[str, Any], cached: bool) -> None:
    from ..ask.verdicts import Verdicts
    from ..memo.answers import Remembered
    from ..memo.cache import open_cache
    from ..simulate.what_if import answers
    from ..tell.reported import reported_deployments

    cache = open_cache(cached)
    remember, verdicts = Remembered(cache), Verdicts(cache)
    asked = [deployment for root in result.roots for deployment in reported_deployments(root)]
    for entry, deployment in zip(report["deployments"], asked, strict=True):
        entry["what_if"] = answers(deployment, questions, remember, verdicts)
