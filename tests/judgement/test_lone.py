"""Lone files with one clear mistake each (`lone.txt`): any expert would speak, so does an audit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.case_files import read_cases
from tests.rules.test_rules import report_on

CASES = read_cases(Path(__file__).with_name("lone.txt"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_speaks(case):
    report = report_on(case)
    told = {code for finding in report["findings"] for code in (finding["code"], *finding["covers"])}
    assert case.expected, "say what is expected"
    assert set(case.expected) <= told
    for finding in report["findings"]:
        # What rests on an assumption is never as grave as its rule.
        severity = next(rule["severity"] for rule in report["rules"] if rule["code"] == finding["code"])
        assert not finding["assuming"] or finding["severity"] != severity
