"""Print the smallest verified change as a unified diff, or make it with --write.

Every fix is made in a copy of the files first, and the copy is audited again: the diff is handed over only if
the findings are gone and nothing above a note is new. What changes where a consumer goes on reading, where
keys go, what is deleted or who a member is, is shown as a comment and left to you: name its code with
--select, or say --reviewed. Notes are left alone unless their code is named.

Comments, order, quotes, indentation and line endings stay as they are. Only files among the PATHs are
changed, and never a link's target outside the root.

stdout carries the diff alone, with a `#` line above it for what each change mends and what it costs;
paths in it are relative to the current folder, so that `git apply` and `patch -p1` take it. Everything else
is told on stderr: what is left to do by hand and why, and what no file can set, with the command to run."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from typing import TYPE_CHECKING

from ..model import Change, Finding, Location
from ..output.text import printable, printable_lines
from . import say
from .shared.scope_options import add_scope, options_of, problems_of, progress

if TYPE_CHECKING:
    from ..edit.diff import Diff
    from ..edit.plan import Advice, Edited, Plan

EPILOG = """\
examples:
  kafka-advisor fix                            the diff of everything that can be mended here
  kafka-advisor fix | git apply                make it, through git
  kafka-advisor fix --write producer.properties
  kafka-advisor fix --select KA1 config/       only what loses records
  kafka-advisor fix --write --select KA404     a change that needs a review, named by its code

A diff never shows a secret, nor the value of a key that nobody knows: where one stands too near, its line
reads <secret> and the diff does not apply; it says so, and --write makes the change.

exit codes:
  0  nothing to fix, or all of it was written
  1  a diff was printed, something above a note is left to do by hand, or an error has no fix
  2  a path cannot be read, nothing could be audited, or the command, a pack or a plugin is broken
"""


def configure(parser: argparse.ArgumentParser) -> None:
    add_scope(parser, "*")
    parser.add_argument("--write", action="store_true", help="change the files instead of printing the diff")
    parser.add_argument(
        "--reviewed",
        action="store_true",
        help="also make the changes that need a review, which you have done",
    )
    parser.add_argument(
        "--hook",
        action="store_true",
        help="as pre-commit runs it: no Kafka configuration among PATHs is fine, and what is left by hand "
        "does not fail",
    )


def run(args: argparse.Namespace) -> int:
    from ..edit.plan import plan
    from ..engine import audit
    from ..find.reuse.memory import Memories

    if args.hook:
        from .shared.staged import files_of_hook

        args.paths = files_of_hook(args.paths)
        if not args.paths:
            return 0
    args.paths = args.paths or ["."]
    options = options_of(args)
    gc.disable()
    memories = Memories()
    with progress() as tell:
        result = audit(options, tell, memories)
    problems = problems_of(result, args.hook)
    for line in (*result.notes, *result.scope.locked, *problems):
        say(line)
    if result.missing:
        return 2
    found = plan(options, result, memories, args.reviewed)
    done = _write(found) if args.write else _print(found)
    by_hand = _tell(found)
    if problems:
        return 2
    if args.hook:
        return int(bool(found.files))
    return 0 if done and not by_hand else 1


# The diff.


def _print(found: Plan) -> bool:
    """The diff on stdout, as bytes: files keep their encoding and their line endings. What needs a review is
    a comment below it."""
    names = _names((*found.files, *found.review))
    parts = []
    masked = []
    for edited in found.files:
        diff = _diff(edited, names[edited.file], _header(edited, found))
        parts.append(printable_lines(diff.text))
        if diff.masked:
            masked.append(names[edited.file])
        elif parts[-1] != diff.text:
            say(
                f"{names[edited.file]}: the diff shows control characters as escapes and does not apply; "
                "`kafka-advisor fix --write` makes it"
            )
    for edited in found.review:
        codes = ",".join(dict.fromkeys(finding.code for finding in edited.findings))
        parts.append(f"# review: not part of the diff; `fix --select {codes}` makes it\n".encode())
        diff = _diff(edited, names[edited.file], _header(edited, found))
        lines = printable_lines(diff.text).splitlines(keepends=True)
        parts += [line if line.startswith(b"#") else b"# " + line for line in lines]
    sys.stdout.flush()
    sys.stdout.buffer.write(b"".join(parts))
    for name in masked:
        say(f"{name}: the diff masks what may be secret and does not apply; `fix --write` makes the change")
    return not found.files


def _diff(edited: Edited, name: str, header: str) -> Diff:
    from ..edit.diff import unified

    return unified(name, edited.before, edited.after, header, edited.secrets_before, edited.secrets_after)


def _names(files: tuple[Edited, ...]) -> dict[str, str]:
    """Paths as they stand in the diff: relative to the current folder if all are below it."""
    here = os.path.realpath(os.getcwd())
    paths = {edited.file: os.path.relpath(os.path.realpath(edited.path), here) for edited in files}
    if any(path.startswith(os.pardir) for path in paths.values()):
        base = os.path.commonpath([edited.root for edited in files])
        say(f"paths in the diff are relative to {base}: apply it there")
        paths = {edited.file: os.path.relpath(edited.path, base) for edited in files}
    return {file: path.replace(os.sep, "/") for file, path in paths.items()}


def _header(edited: Edited, found: Plan) -> str:
    lines: list[str] = []
    alike: dict[tuple[Change, ...], list[Finding]] = {}
    for finding in edited.findings:
        alike.setdefault(finding.fixes[0].changes, []).append(finding)
    for changes, findings in alike.items():
        for finding in findings:
            lines.append(f"{finding.at}: {finding.severity} {finding.code} {finding.name}")
            lines.append(f"    {finding.message}")
            if finding.covers:
                lines.append(f"    with {', '.join(finding.covers)} under it")
        lines.append(f"    fix: {'; '.join(map(_change, changes))}")
        prices = dict.fromkeys(finding.fixes[0].price for finding in findings)
        lines += [f"    cost: {price}" for price in prices if price]
        told = dict.fromkeys(finding.fixes[0].condition for finding in findings)
        lines += [f"    then it {condition}" for condition in told if condition]
        steps = dict.fromkeys(step for finding in findings for step in finding.advice)
        lines += [f"    advice: {step}" for step in steps]
    lines += [
        f"{finding.at}: {finding.code} {finding.name} goes with it"
        for finding in found.also_gone
        if finding.at.file == edited.file
    ]
    # A value in a message may hold anything: none of it may end the comment.
    return "".join(f"# {printable(line)}\n" for line in lines).encode().decode("latin-1")


def _change(change: Change) -> str:
    if change.action == "remove":
        return f"remove {change.key}"
    return f"{'add' if change.action == 'add' else 'set'} {change.key} = {change.after}"


# The files.


def _write(found: Plan) -> bool:
    """True if every file was written."""
    done = True
    for edited in found.files:
        reason = _replace(edited)
        if reason is not None:
            say(f"{edited.file}: not written: {reason}")
            done = False
        else:
            say(f"{edited.file}: written ({', '.join(dict.fromkeys(f.code for f in edited.findings))})")
    return done


def _replace(edited: Edited) -> str | None:
    """The new bytes in the file's place; None, or why not."""
    from ..output.files import put_file, reason

    path = os.path.realpath(edited.path)
    if not path.startswith(os.path.realpath(edited.root).rstrip(os.sep) + os.sep):
        return "it is outside the root"
    try:
        with open(path, "rb") as file:
            if file.read() != edited.before:
                return "it was changed in the meantime"
        put_file(path, edited.after, sync=True)
    except OSError as error:
        return reason(error)
    return None


# The rest.


def _tell(found: Plan) -> bool:
    """What is left and why, on stderr; True if any of it is above a note, or an error has no fix."""
    _tell_left(found)
    _tell_by_hand(found)
    _tell_unfixed(found)
    if found.notes:
        have = "note has a fix" if found.notes == 1 else "notes have a fix"
        say(f"{found.notes} {have}, made when the code is named: `fix --select CODE`")
    remaining = [left.finding for left in found.left] + [advice.finding for advice in found.advice]
    remaining += [finding for edited in found.review for finding in edited.findings]
    remaining += [finding for finding in found.unfixed if finding.severity == "error"]
    return any(finding.severity != "note" for finding in remaining)


def _tell_left(found: Plan) -> None:
    """One line for each kind: many deployments may have one."""
    alike: dict[tuple[str, str, str], list[tuple[Location, str]]] = {}
    for left in found.left:
        finding, kind = left.finding, left.reason.partition(": ")[0]
        place = left.at or finding.at, left.reason
        alike.setdefault((finding.code, finding.name, kind), []).append(place)
    for edited in found.review:
        for finding in edited.findings:
            reason = f"it needs a review; `fix --write --select {finding.code}` makes it"
            alike.setdefault((finding.code, finding.name, reason), []).append((finding.at, reason))
    for (code, name, _), places in alike.items():
        say(f"not applied: {_and_more([at for at, _ in places])}: {code} {name}: {places[0][1]}")


def _and_more(places: list[Location]) -> str:
    """The first of several places."""
    other = len(dict.fromkeys(places)) - 1
    return f"{places[0]} and {other} more" if other else str(places[0])


def _tell_by_hand(found: Plan) -> None:
    from ..fix.edits import FACTS

    alike: dict[tuple[tuple[Change, ...], tuple[str, ...]], list[Advice]] = {}
    for advice in found.advice:
        if advice.finding.severity == "note":
            continue  # `audit` tells them; there is nothing that must be done
        changes = advice.fix.changes if advice.fix is not None else ()
        alike.setdefault((changes, advice.finding.advice), []).append(advice)
    for (changes, steps), advices in alike.items():
        of_code: dict[str, list[Finding]] = {}
        for advice in advices:
            of_code.setdefault(advice.finding.code, []).append(advice.finding)
        for (first, *_), places in ((one, [each.at for each in one]) for one in of_code.values()):
            told = f"{first.severity} {first.code} ({first.name}): {first.message}"
            say(f"by hand: {_and_more(places)}: {told}")
        if changes and all(change.file for change in changes):
            say(f"    together with the application's code: {'; '.join(map(_change, changes))}")
        elif any(change.file is None and change.key == FACTS["replicas"][1] for change in changes):
            # The file that declares a topic counts when the topic is made.
            told = "; ".join(map(_change, changes))
            say(f"    a topic that is there already keeps its replicas, whatever a file says: {told}")
        elif changes:
            whole = "all of it" if any(change.file for change in changes) else "it"
            say(f"    no file can set {whole}: {'; '.join(map(_change, changes))}")
        for price in dict.fromkeys(one.fix.price for one in advices if one.fix and one.fix.price):
            say(f"    cost: {price}")
        for reason in dict.fromkeys(one.finding.not_fixed for one in advices):
            if reason:
                say(f"    not applied: {reason}")
        for step in steps:
            say(f"    {step}")


def _tell_unfixed(found: Plan) -> None:
    """One line for each kind: a repository may have hundreds of one."""
    alike: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in found.unfixed:
        if finding.severity != "note":
            reason = finding.not_fixed or "no change of a setting is known to help"
            alike.setdefault((finding.code, finding.name, reason), []).append(finding)
    for (code, name, reason), findings in alike.items():
        say(f"no fix: {_and_more([one.at for one in findings])}: {code} ({name}): {reason}")
