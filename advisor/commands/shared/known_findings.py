"""What is already known: by a baseline file, or because it was there before a change."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from ...model import UsageError
from .. import say

if TYPE_CHECKING:
    from ...engine import Audit, Options


def add_known(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--baseline",
        metavar="FILE",
        help="findings that are accepted for now: they are counted, not told, and do not fail",
    )
    add(
        "--update-baseline",
        action="store_true",
        help="write what is found now to the baseline's FILE: new findings are added, gone ones removed",
    )
    add("--strict-baseline", action="store_true", help="fail also if a finding of the baseline is gone")
    add(
        "--diff-base",
        metavar="REF",
        help="tell what is worse or better than where this work left the branch, tag or commit REF, and fail "
        "only on that",
    )


def check_known(args: argparse.Namespace) -> None:
    """Words that do not fit are told before anything is read."""
    if args.baseline is None and (args.update_baseline or args.strict_baseline):
        word = "--update-baseline" if args.update_baseline else "--strict-baseline"
        raise UsageError(f"{word} needs --baseline FILE")
    if args.baseline is not None and args.diff_base is not None:
        raise UsageError("--baseline and --diff-base answer the same question: name one of them")


def with_known(
    args: argparse.Namespace, options: Options, result: Audit, report: dict[str, Any]
) -> dict[str, Any]:
    """The report with what is known marked in it; the baseline is written if that is asked."""
    if args.diff_base is not None:
        from ...tell.known.changes import mark as mark_changes

        return mark_changes(report, _before(args, options, result), args.diff_base)
    if args.baseline is None:
        return report
    from ...tell.known.baseline import baseline_text, mark, read_baseline

    known = read_baseline(args.baseline, args.update_baseline)
    whole = not (options.select or options.ignore) and options.link
    asked = {file["file"] for file in report["files"]} if whole else None
    if args.update_baseline:
        from ...output.files import write_file

        text = baseline_text(report, known, result.scope.base, asked)
        write_file(args.baseline, text)
        before = sum(known.counts.values())
        known = read_baseline(args.baseline, False)
        now = sum(known.counts.values())
        say(f"{args.baseline}: {now} finding{'' if now == 1 else 's'} (before: {before})")
    return mark(report, known, result.scope.base, asked)


def _before(args: argparse.Namespace, options: Options, result: Audit) -> dict[str, Any]:
    """The report on the same paths as they were."""
    import tempfile

    from ...engine import audit
    from ...tell.report import build_report
    from .base_tree import commit_of, repository_of, write_commit

    repositories = {repository_of(path) for path in args.paths}
    if len(repositories) > 1:
        raise UsageError("--diff-base: the paths lie in several repositories")
    (repository,) = repositories
    commit = commit_of(repository, args.diff_base)
    suffixes = [suffix for spec in result.registry.formats for suffix in spec.suffixes]
    with tempfile.TemporaryDirectory() as name:
        # Called as the repository is: what has no better name is named by its folder.
        folder = os.path.join(os.path.realpath(name), os.path.basename(repository) or "root")
        write_commit(repository, commit, suffixes, folder)
        inside = [os.path.relpath(os.path.realpath(path), repository) for path in args.paths]
        there = [path for path in (os.path.join(folder, one) for one in inside) if os.path.lexists(path)]
        if not there:
            return {"deployments": [], "findings": [], "rules": []}
        before = audit(options._replace(paths=tuple(there), count_hidden=False))
        return _renamed(build_report(before), before.scope.base, folder, result.scope.base, repository)


def _renamed(
    report: dict[str, Any], base: str, folder: str, new_base: str, repository: str
) -> dict[str, Any]:
    """Its files as the new report names them: with a file or a folder less they are named from elsewhere."""

    def renamed(file: str) -> str:
        inside = os.path.relpath(os.path.join(base, file), folder)
        path = os.path.join(repository, inside)
        return os.path.relpath(path, os.path.realpath(new_base)).replace(os.sep, "/")

    findings = []
    for finding in report["findings"]:
        first, *others = finding["locations"]
        findings.append({**finding, "locations": [{**first, "file": renamed(first["file"])}, *others]})
    return {**report, "findings": findings}
