"""Every rule is executed: its pack's examples, and the cases of real files in `KAxxx-name.txt`.

`python -m tests.rules.test_rules --rewrite` writes what they expect anew: read the diff before you commit it.
"""

from __future__ import annotations

import re
import sys
import tempfile
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from advisor.memo.cache import Cache
from advisor.packs.pack import load_packs
from advisor.registry import load_registry
from advisor.testing import audit_paths, compare_paths, rule_examples

from .case_files import Case, all_cases, read_cases, rewrite

HERE = Path(__file__).parent
RULES = load_packs(load_registry().packs, (), Cache(None))
EXAMPLES = rule_examples()
CASES = all_cases()
LOCATED = re.compile(r"[^ ]+:(\d+|None): ")


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_example(example):
    example.check()


def report_on(case: Case) -> dict[str, Any]:
    # In a folder of its own, so that the case is a root and not a part of this repository's.
    with tempfile.TemporaryDirectory() as name:
        folder = case.place(Path(name) / "case")
        if (folder / "old").is_dir():
            return compare_paths(str(folder / "old"), str(folder / "new"))
        return audit_paths([str(folder)])


def said(case: Case) -> list[str]:
    """What the rule says of it: its findings, else what its guarantee came to."""
    report = report_on(case)
    found = []
    for finding in report["findings"]:
        if finding["code"] == case.rule:
            at = finding["locations"][0]
            assuming = f" (assuming {'; '.join(finding['assuming'])})" if finding["assuming"] else ""
            found.append(f"{at['file']}:{at['line']}: {finding['message']}{assuming}")
    return found or verdicts(case, report)


def verdicts(case: Case, report: dict[str, Any]) -> list[str]:
    guarantee = next(rule.guarantee for rule in RULES if rule.code == case.rule)
    if guarantee is None:
        return []
    answers = {
        f"{answer['verdict']} {guarantee}" + (" by another rule" if answer["verdict"] == "broken" else "")
        for deployment in report["deployments"]
        for answer in deployment["guarantees"]
        if answer["name"] == guarantee
    }
    # Why a question is not asked is for a person to say.
    told = [line for line in case.expected if line.startswith("not asked: ")]
    return sorted(answers) or told or ["not asked: ?"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case):
    found = said(case)
    assert found == case.expected
    assert "not asked: ?" not in found, "say why there is no verdict"
    assert any(LOCATED.match(line) for line in found) == case.name.startswith("fail")


SEARCHED = [rule for rule in RULES if rule.code.startswith(("KA1", "KA2", "KA3"))]


@pytest.mark.parametrize("rule", SEARCHED, ids=lambda rule: rule.code)
def test_it_says_what_to_do(rule):
    """A fix that was tried, or advice; a rule that only complains helps nobody."""
    reports = (report_on(case) for case in CASES if case.rule == rule.code)
    examples = (example.report("bad") for example in EXAMPLES if example.code == rule.code)
    told = (
        finding["fixes"] or finding["advice"]
        for report in chain(examples, reports)
        for finding in report["findings"]
        if rule.code in (finding["code"], *finding["covers"])
    )
    assert any(told)


if __name__ == "__main__" and sys.argv[1:] == ["--rewrite"]:
    for path in sorted(HERE.glob("KA*.txt")):
        rewrite(path, {case.name: said(case) for case in read_cases(path)})
