"""Audit Kafka configuration files: every value that Kafka would refuse, silently rewrite, ignore or never
receive, with file and line, and how producer, topic, broker and consumer files belong together.

Each PATH is a file or a folder. Files that belong to the same root (the nearest folder above with a
kafka-advisor.toml or a .git) are read too, so that a producer is judged with its topic; only findings in
the PATHs are reported."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from typing import TYPE_CHECKING, Any

from ..model import Location, UsageError
from . import say

if TYPE_CHECKING:
    from ..engine import Audit

EPILOG = """\
examples:
  kafka-advisor audit .                                       everything under this folder
  kafka-advisor audit --kafka-version 3.9 producer.properties
  kafka-advisor audit --set topic.min.insync.replicas=1 .     what if
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
    add = parser.add_argument
    add("paths", metavar="PATH", nargs="+", help="a file or a folder")
    add(
        "--kafka-version",
        metavar="V",
        help="the Kafka version to judge by, such as 3.9 (default: the files', else newest)",
    )
    add(
        "--profile",
        choices=("dev", "prod"),
        help="judge as a developer's sandbox or as production (default: guessed)",
    )
    add(
        "--set",
        metavar="X=V",
        action="append",
        default=[],
        help="a value instead of the file's: topic.min.insync.replicas=2, fact.brokers=5 (repeatable)",
    )
    add("--format", metavar="NAME", default="text", help="what to print: text or json (default: text)")
    add(
        "--report",
        metavar="NAME=FILE",
        action="append",
        default=[],
        help="also write a report to a file (repeatable)",
    )
    add(
        "--select",
        metavar="CODES",
        action="append",
        default=[],
        help="only these rules: codes, beginnings of codes, names",
    )
    add("--ignore", metavar="CODES", action="append", default=[], help="not these rules")
    add("--fail-on", choices=LEVELS, help="the least severity that makes the exit code 1 (default: error)")
    add(
        "--rules",
        metavar="PACK",
        action="append",
        default=[],
        help="a rule pack of your own, TOML (repeatable)",
    )
    add(
        "--plugin",
        metavar="FILE",
        action="append",
        default=[],
        help="a plugin of your own, Python (repeatable)",
    )
    add("--runs", action="store_true", help="show the runs behind notes too")
    add("--no-link", action="store_true", help="judge each file alone")
    add("--show-effective", action="store_true", help="print the values in force and where each comes from")
    add("--no-cache", action="store_true", help="neither read nor write the cache")
    add(
        "--hook",
        action="store_true",
        help="as pre-commit runs it: no Kafka configuration among PATHs is fine",
    )


def run(args: argparse.Namespace) -> int:
    from ..engine import Options, audit
    from ..report.build import build_report
    from ..versions import choose_version

    if args.kafka_version is not None:
        choose_version(args.kafka_version, ())
    options = Options(
        paths=tuple(args.paths),
        kafka_version=args.kafka_version,
        profile=args.profile,
        sets=tuple(args.set),
        select=codes(args.select),
        ignore=codes(args.ignore),
        rules=tuple(args.rules),
        plugins=tuple(args.plugin),
        link=not args.no_link,
        cache=not args.no_cache,
        today=today(),
    )
    # Short-lived, and full of small values that all stay alive: collecting garbage finds none.
    gc.disable()
    result = audit(options, progress())
    outputs = [_output(item, result) for item in args.report]
    report = build_report(result, args.show_effective)
    sys.stdout.write(_render(args.format, result, report, args.runs))
    for name, path in outputs:
        _write(path, _render(name, result, report, args.runs))
    problems = problems_of(result, args.hook)
    for line in (*result.notes, *result.scope.locked, *problems):
        say(line)
    return 2 if problems else _exit_code(result, args.fail_on)


def codes(words: list[str]) -> tuple[str, ...]:
    return tuple(code.strip() for word in words for code in word.split(",") if code.strip())


def today() -> str:
    # Suppressions expire by date; nothing else in an audit may see the clock.
    import time

    return time.strftime("%Y-%m-%d")


def progress() -> Any:
    if sys.stderr is None or not sys.stderr.isatty():
        return lambda text: None
    return say


def _output(item: str, result: Audit) -> tuple[str, str]:
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


def _render(name: str, result: Audit, report: dict[str, Any], runs: bool) -> str:
    from ..registry import function

    return str(function(_reporter(name, result))(report, {"runs": runs}))


def _write(path: str, text: str) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        try:
            with open(temporary, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.replace(temporary, path)
        finally:
            if os.path.lexists(temporary):
                os.unlink(temporary)
    except OSError as error:
        raise UsageError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def problems_of(result: Audit, hook: bool) -> list[str]:
    """What makes the exit code 2. The hook is handed every changed file that might be one of ours, so there
    only a file that a format claims must be readable."""
    problems = list(result.missing)
    targets = [(root.prefix, record) for root in result.roots for record in root.files if record.target]
    problems += [
        f"{Location(prefix + record.file, record.error.line)}: {record.reason}"
        for prefix, record in targets
        if record.named and record.error is not None and (record.format is not None or not hook)
    ]
    audited = any(record.documents or record.status == "audited" for _, record in targets)
    if not hook and not result.missing and not audited:
        problems.append("nothing could be audited: no file named is a Kafka configuration that is known here")
    return problems


def _exit_code(result: Audit, asked: str | None) -> int:
    """Each root is held to its own `fail_on`, unless the command line says otherwise."""
    return int(
        any(
            _RANK[finding.severity] >= _THRESHOLD[asked or root.project.fail_on or "error"]
            for root in result.roots
            for finding in root.findings
            if finding.suppressed is None
        )
    )
