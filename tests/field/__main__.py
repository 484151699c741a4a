"""Audits checkouts of public repositories again and compares what is found with the judgements that are kept.

    python -m tests.field FOLDER [--half first|second] [--rule CODE] [--unjudged]

FOLDER holds one checkout per repository, named OWNER+NAME, at the commit that judgements.jsonl names:

    git clone https://github.com/OWNER/NAME FOLDER/OWNER+NAME
    git -C FOLDER/OWNER+NAME checkout COMMIT

Prints, for each half, how many findings of each rule and severity were judged useful, noise or false, how
many fixes an expert would refuse, and what became of the files that are Kafka's. `--unjudged` lists the
findings that nobody has judged yet, as lines for judgements.jsonl.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from tabulate import tabulate

from advisor.testing import audit_paths

from .judgements import Judged, Place, half, place_of, read_judgements

SEVERITIES = ("error", "warning", "note")


class Found(NamedTuple):
    at: Place
    severity: str
    message: str
    fix: str
    commit: str


class Study(NamedTuple):
    """`files`: what became of each that is looked at, by status and reason."""

    findings: list[Found]
    files: Counter[tuple[str, str]]


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    judged = read_judgements()
    for name in ("first", "second"):
        if options.half in (None, name):
            folders = [one for one in _checkouts(options.folder) if half(_name(one)) == name]
            study = _study(folders, options.rule)
            if options.unjudged:
                _tell_unjudged(study, judged)
            else:
                _tell(name, len(folders), study, judged)
    return 0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.field")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("first", "second"))
    parser.add_argument("--rule", metavar="CODE")
    parser.add_argument("--unjudged", action="store_true")
    return parser.parse_args(arguments)


def _checkouts(folder: Path) -> list[Path]:
    return sorted(one for one in folder.iterdir() if one.is_dir() and "+" in one.name)


def _name(folder: Path) -> str:
    return folder.name.replace("+", "/", 1)


def commit_of(folder: Path) -> str:
    """What is checked out, without running git on a repository that is not ours."""
    try:
        head = (folder / ".git" / "HEAD").read_text("ascii").strip()
        if head.startswith("ref: "):
            head = (folder / ".git" / head.removeprefix("ref: ")).read_text("ascii").strip()
    except OSError:
        return ""
    return head


def _study(folders: list[Path], rule: str | None) -> Study:
    study = Study([], Counter[tuple[str, str]]())
    for folder in folders:
        report = audit_paths([str(folder)])
        repository, commit = _name(folder), commit_of(folder)
        for finding in report["findings"]:
            if rule in (None, finding["code"]):
                study.findings.append(
                    Found(
                        place_of(repository, finding),
                        finding["severity"],
                        finding["message"],
                        _shown_fix(finding),
                        commit,
                    )
                )
        study.files.update((file["status"], file["reason"] or "") for file in report["files"])
    return study


def _shown_fix(finding: dict[str, Any]) -> str:
    changes = finding["fixes"][0]["changes"] if finding["fixes"] else ()
    return "; ".join(f"{one['action']} {one['key']} {one['to'] or ''}".strip() for one in changes)


def _tell(name: str, repositories: int, study: Study, judged: dict[Place, Judged]) -> None:
    print(f"{name} half: {repositories} repositories, {len(study.findings)} findings")
    _tell_files(study.files)
    rows: dict[tuple[str, str], Counter[str]] = {}
    for found in study.findings:
        entry = judged.get(found.at)
        for row in ((found.severity, found.at.code), (found.severity, "all")):
            counts = rows.setdefault(row, Counter())
            counts[entry.judgement if entry else "unjudged"] += 1
            counts["refused"] += entry is not None and entry.fix == "refuse"
    order = sorted(rows, key=lambda row: (SEVERITIES.index(row[0]), row[1] == "all", row[1]))
    table = [[*row, *_counted(rows[row])] for row in order]
    headers = ["severity", "rule", "useful", "noise", "false", "precision", "fix refused", "unjudged"]
    print(tabulate(table, headers))
    print()


# Read to the end, and nothing of a broker, a topic or a client is configured there.
_HOLDS_NOTHING = (
    "no settings of Kafka's stand in it",
    "no workload of Kubernetes",
    "no container that runs",
    "no client's",
    "no Strimzi resource with settings",
    "no channel of it",
    "no topic",
    "no kafka input or output",
    "a script: no topic that it makes",
    "it holds nothing that Spring",
    "its maps hold no settings",
    "its values are read with the files",
    "what it makes is not written out here",
    "connectors that Confluent Cloud runs",
)
_LEFT_OUT = ("a test", "it is hardly a configuration")


def _tell_files(files: Counter[tuple[str, str]]) -> None:
    """Which of the files that hold settings of Kafka's are read; those that tests alone take, that Kafka
    printed, or that hold none are told apart."""
    kinds: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    for (status, reason), count in files.items():
        if status in ("audited", "partial"):
            kinds["read"] += count
        elif reason.startswith(_LEFT_OUT):
            kinds["left out"] += count
        elif reason.startswith(_HOLDS_NOTHING):
            kinds["without settings"] += count
        else:
            unread[reason.partition(":")[0]] += count
    whole = kinds["read"] + unread.total()
    print(
        f"files with settings of Kafka's: {whole}, read: {kinds['read']} ({_percent(kinds['read'], whole)})"
    )
    print(f"of all that are looked at ({files.total()}): {_percent(kinds['read'], files.total())};", end=" ")
    print(f"without settings {kinds['without settings']}, tests and logs {kinds['left out']}")
    for reason, count in unread.most_common():
        print(f"  {count:4} not read: {reason}")


def _counted(counts: Counter[str]) -> list[object]:
    useful, noise, false = (counts[word] for word in ("useful", "noise", "false"))
    precision = _percent(useful, useful + noise + false)
    return [useful, noise, false, precision, counts["refused"], counts["unjudged"]]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _tell_unjudged(study: Study, judged: dict[Place, Judged]) -> None:
    for found in study.findings:
        if found.at not in judged:
            entry = {
                "repository": found.at.repository,
                "commit": found.commit,
                "code": found.at.code,
                "place": found.at.place,
                "key": found.at.key,
                "judgement": "",
                "fix": found.fix or "none",
                "why": f"{found.severity}: {found.message}",
            }
            print(json.dumps(entry, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
