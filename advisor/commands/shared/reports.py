"""How `audit` and `compare` tell a report: in which formats, where to, how it looks, with which exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...model import UsageError
from ...output.terminal import Terminal, plain_signs, terminal

if TYPE_CHECKING:
    from ...engine import Audit, Options, Root
    from ...hookspecs import ReporterSpec

LEVELS = ("never", "error", "warning", "note", "unknown")
_RANK = {"note": 1, "warning": 2, "error": 3}
_THRESHOLD = {"never": 9, "error": 3, "warning": 2, "note": 1, "unknown": 2}


def add_output(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--format",
        metavar="NAME",
        default="text",
        help="what to print: text (default), html, json, sarif, github, gitlab, junit, checkstyle, markdown",
    )
    add(
        "--report",
        metavar="NAME=FILE",
        action="append",
        default=[],
        help="also write a report in this format to a file (repeatable)",
    )
    add(
        "--fail-on",
        choices=LEVELS,
        help="the least severity that makes the exit code 1 (default: error); unknown: warnings, errors and "
        "guarantees that depend on what is not in sight",
    )
    add("-q", "--quiet", action="store_true", help="one line a finding and nothing else; notes with --all")
    add("--all", action="store_true", help="show everything: notes, every place, run and open question")
    add("--runs", action="store_true", help="show every run, and all its steps")
    add("--files", action="store_true", help="list every file of Kafka's that is not read, with the reason")
    add("--show-effective", action="store_true", help="print the values in force and where each comes from")


class Reports:
    """What the command line asks to be printed and written; a name that is no format is told at once."""

    def __init__(self, args: argparse.Namespace, result: Audit, options: Options) -> None:
        self.args = args
        self.result = result
        self.options = options
        self.printed = args.format
        self.files = [self._file(item) for item in args.report]
        self._reporter(args.format)

    def _file(self, item: str) -> tuple[str, str]:
        name, equals, path = item.partition("=")
        if not equals or not path:
            raise UsageError(f"--report {item}: write FORMAT=FILE")
        self._reporter(name)
        return name, path

    def _reporter(self, name: str) -> ReporterSpec:
        known = self.result.registry.reporters
        if name not in known:
            from ...schemas.explain import did_you_mean

            raise UsageError(f"no report format {name!r}{did_you_mean(name, sorted(known))}")
        return known[name]

    def tell(self, report: Mapping[str, Any]) -> None:
        """To stdout, and into the files."""
        from ...output.files import write_file

        screen = terminal()
        text = self._render(self.printed, report, screen)
        sys.stdout.write(plain_signs(text) if screen.ascii_only and self.printed == "text" else text)
        for name, path in self.files:
            write_file(path, self._render(name, report, Terminal()))

    def _render(self, name: str, report: Mapping[str, Any], screen: Terminal) -> str:
        from ...guard.calls import PluginError
        from ...registry import function
        from ...tell.places import line_reader, path_namer

        spec = self._reporter(name)
        if spec.fixed_runs:
            from ...tell.fixed_runs import fixed_runs

            report = {**report, "fixed_runs": fixed_runs(self.result, self.options)}
        options = {
            "runs": self.args.runs,
            "all": self.args.all,
            "files": self.args.files,
            "quiet": self.args.quiet,
            "width": screen.width,
            "colour": screen.colour,
            "path_of": path_namer(self.result.scope.base, self.args.paths),
            "line_of": line_reader(self.result),
        }
        try:
            return str(function(spec.render, "text")(report, options))
        except PluginError as error:
            raise UsageError(f"the {name} report cannot be made: {error}") from error


def exit_code(result: Audit, asked: str | None, report: Mapping[str, Any], strict: bool = False) -> int:
    """Each root is held to its own `fail_on`, unless the command line says otherwise. What is known does not
    count; `strict`: what the baseline knows must be there."""
    from ...tell.report import told_findings

    if strict and report["baseline"]["gone"]:
        return 1
    counted = [
        (root, one.finding)
        for (root, one), shown in zip(told_findings(result), report["findings"], strict=True)
        if one.finding.suppressed is None and shown.get("baseline") != "known"
    ]
    for root, finding in counted:
        if _RANK[finding.severity] >= _THRESHOLD[_fail_on(root, asked)]:
            return 1
    if "changes" in report:
        # Whatever a rule makes of it: a guarantee that was there and is not any more.
        fails = any(_fail_on(root, asked) != "never" for root in result.roots)
        return 1 if fails and report["changes"]["worse"] else 0
    return int(any(_is_open(root) for root in result.roots if _fail_on(root, asked) == "unknown"))


def _fail_on(root: Root, asked: str | None) -> str:
    return asked or root.project.fail_on or "error"


def _is_open(root: Root) -> bool:
    from ...tell.reported import reported_deployments

    answers = [root.answers.get(deployment.id) for deployment in reported_deployments(root)]
    return any(one.verdict == "unknown" for answer in answers if answer for one in answer.guarantees)
