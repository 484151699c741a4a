"""Well-run configurations (`well_run.txt`): no error, no warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.case_files import read_cases
from tests.rules.test_rules import report_on

CASES = read_cases(Path(__file__).with_name("well_run.txt"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_left_alone(case):
    report = report_on(case)
    assert report["files"], "none of its files was recognised"
    told = [
        (finding["code"], finding["message"])
        for finding in report["findings"]
        if finding["severity"] != "note"
    ]
    assert told == []
