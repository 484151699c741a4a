"""Every input format as people use it, from file to finding to fix: `tests/audits/FORMAT.txt`.

A case `well-run-...` has no finding but the notes that the recommended configuration has too. A case
`mistake-...` has one at the line of the mistake. What `fix --write` makes of a file stands under
`-- fixed FILE`; a case without it has nothing that can be fixed in a file.

`python -m tests.audits.test_audits --rewrite [FORMAT...]` writes what is expected anew: read the diff before
you commit it.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from advisor.cli import main
from advisor.registry import load_registry
from advisor.testing import audit_paths
from tests.rules.case_files import EXPECTED, Case, read_cases

HERE = Path(__file__).parent
FIXED = "fixed "
# What the recommended configuration gets as a note.
NOTES = ("KA104", "KA202")
# Formats of the first hour, whose cases lie with their rules and in tests/fix; what applications and Logstash
# say of Kafka is tried in tests/field, a running cluster in tests/real.
ELSEWHERE = {"compose", "envfile", "properties", "spring", "strimzi", "application", "logstash", "snapshot"}


class Told(NamedTuple):
    findings: list[str]
    fixed: dict[str, str]


def all_cases() -> Iterator[Case]:
    for path in sorted(HERE.glob("*.txt")):
        yield from (case._replace(rule=path.stem) for case in read_cases(path))


def split(case: Case) -> tuple[Case, dict[str, str]]:
    """The case with its own files alone, and those that fixing makes of them."""
    fixed = {name.removeprefix(FIXED): text for name, text in case.files.items() if name.startswith(FIXED)}
    own = {name: text for name, text in case.files.items() if not name.startswith(FIXED)}
    return case._replace(files=own), fixed


def outcome(case: Case) -> Told:
    # In a folder of its own, so that the case is a root and not a part of this repository's.
    with tempfile.TemporaryDirectory() as name:
        folder = case.place(Path(name) / "case")
        # What was printed is read where it is named: logs that lie about are nobody's configuration.
        named = case.rule == "printed"
        paths = [str(folder / file) for file in case.files] if named else [str(folder)]
        report = audit_paths(paths)
        read = {item["file"]: item for item in report["files"]}
        unread = sorted(file for file in case.files if file not in read and file != "kafka-advisor.toml")
        found = [f"{file}: not read" for file in unread]
        for item in report["files"]:
            if item["status"] == "skipped":
                found.append(f"{item['file']}: skipped, {item['reason']}")
        for finding in report["findings"]:
            at = finding["locations"][0]
            words = f"{finding['severity']} {finding['code']} {finding['name']}"
            found.append(f"{at['file']}:{at['line']}: {words}")
        main(["fix", "--write", *paths])
        now = {file: (folder / file).read_bytes().decode() for file in case.files}
        return Told(found, {file: text for file, text in now.items() if text != case.files[file]})


CASES = list(all_cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case, capfd):
    own, fixed = split(case)
    told = outcome(own)
    assert told.findings == own.expected
    assert told.fixed == fixed
    quiet = re.compile(f" note ({'|'.join(NOTES)}) |: skipped, ")
    loud = [line for line in told.findings if not quiet.search(line)]
    if case.name.startswith("well-run"):
        assert loud == []
    else:
        assert any(": error " in line or ": warning " in line or ": note " in line for line in loud)


def test_every_format_has_its_cases():
    kinds = {(case.rule, case.name.startswith("well-run")) for case in CASES}
    formats = {spec.name for spec in load_registry().formats} - ELSEWHERE
    assert {name for name, _ in kinds} == formats
    for name in formats:
        for kind in (True, False):
            assert sum(case.rule == name and case.name.startswith("well-run") is kind for case in CASES) >= 3


def rewrite(path: Path) -> None:
    head, *texts = re.split(r"^(?=== )", path.read_text(encoding="utf-8"), flags=re.M)
    parts = [head]
    for text, case in zip(texts, read_cases(path), strict=True):
        told = outcome(split(case)[0])
        files = re.split(rf"^-- (?:{EXPECTED}$|{FIXED})", text, flags=re.M)[0].rstrip("\n") + "\n"
        fixed = "".join(f"-- {FIXED}{name}\n{content}" for name, content in told.fixed.items())
        found = f"-- {EXPECTED}\n" + "".join(f"{line}\n" for line in told.findings) if told.findings else ""
        parts.append(f"{files}{fixed}{found}\n")
    path.write_text("".join(parts).removesuffix("\n"), encoding="utf-8")


if __name__ == "__main__" and sys.argv[1:2] == ["--rewrite"]:
    for file in sorted(HERE.glob("*.txt")):
        if not sys.argv[2:] or file.stem in sys.argv[2:]:
            rewrite(file)
