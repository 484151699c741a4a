"""Small repositories, in our own words, of what real ones were told wrongly: all that is found is listed.

A case is written as in `tests/rules` (see case_files.py). It expects every finding of the audit, as
`file:line: severity code`, and, where it matters, what became of a file, as `file: status: reason`.
`python -m tests.field.test_cases --rewrite` writes what they expect anew: read the diff before you commit it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from advisor.testing import audit_paths
from tests.rules.case_files import Case, read_cases, rewrite

HERE = Path(__file__).parent / "cases"
CASES = [case for path in sorted(HERE.glob("*.txt")) for case in read_cases(path)]


def said(case: Case) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = case.place(Path(name) / "case")
        (folder / ".git").mkdir()
        report = audit_paths([str(folder)])
    found = []
    for finding in report["findings"]:
        at = finding["locations"][0]
        found.append(f"{at['file']}:{at['line']}: {finding['severity']} {finding['code']}")
    told = [line.partition(": ")[0] for line in case.expected if _is_status(line)]
    files = {file["file"]: file for file in report["files"]}
    for name in dict.fromkeys(told):
        file = files.get(name)
        found.append(f"{name}: {file['status']}: {file['reason']}" if file else f"{name}: unseen: None")
    return found


def _is_status(line: str) -> bool:
    return line.split(": ")[1:2] in (["audited"], ["partial"], ["skipped"], ["unseen"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case):
    assert said(case) == case.expected


if __name__ == "__main__" and sys.argv[1:] == ["--rewrite"]:
    for path in sorted(HERE.glob("*.txt")):
        rewrite(path, {case.name: said(case) for case in read_cases(path)})
