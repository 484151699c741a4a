"""Every rule is executed: its pack's examples, and real files in `KAxxx-name/{fail,pass}-*/`.

`expected.json` of a case lists rule, file, line and message of the findings of that rule. A case of two
folders, `old` and `new`, is compared.
`python -m tests.rules.test_rules --rewrite` writes them anew: read the diff before you commit it.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from advisor.memo.cache import Cache
from advisor.packs.pack import load_packs
from advisor.registry import load_registry
from advisor.testing import audit_paths, audit_settings, compare_paths

HERE = Path(__file__).parent
RULES = load_packs(load_registry().packs, (), Cache(None))
EXAMPLES = [(rule, example) for rule in RULES for example in rule.examples]
CASES = sorted(path.parent for path in HERE.glob("*/*/expected.json"))


def audited(example, word):
    options = {name: example[name] for name in ("kafka_version", "client", "profile") if name in example}
    return audit_settings(example[word], **options)


def codes(example, word):
    report = audited(example, word)
    assert report["files"], "the example was not recognised as a Kafka configuration"
    return [code for finding in report["findings"] for code in (finding["code"], *finding["covers"])]


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=lambda value: getattr(value, "code", ""))
def test_example(rule, example):
    assert rule.code in codes(example, "bad")
    assert rule.code not in codes(example, "good")


def report_on(case: Path) -> dict[str, Any]:
    # A copy, so that the case is a root of its own and not a part of this repository's.
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(case, Path(folder) / "case", ignore=shutil.ignore_patterns("expected.json"))
        if (copy / "old").is_dir():
            return compare_paths(str(copy / "old"), str(copy / "new"))
        return audit_paths([str(copy)])


def findings_of(case: Path) -> list[dict[str, object]]:
    code = case.parent.name.partition("-")[0]
    report = report_on(case)
    return [
        {
            "rule": finding["code"],
            "file": finding["locations"][0]["file"],
            "line": finding["locations"][0]["line"],
            "message": finding["message"],
        }
        for finding in report["findings"]
        if finding["code"] == code
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_case(case):
    found = findings_of(case)
    assert found == json.loads((case / "expected.json").read_text())
    assert bool(found) == case.name.startswith("fail")


SEARCHED = [rule for rule in RULES if rule.code.startswith(("KA1", "KA2", "KA3"))]


@pytest.mark.parametrize("rule", SEARCHED, ids=lambda rule: rule.code)
def test_it_says_what_to_do(rule):
    """A fix that was tried, or advice; a rule that only complains helps nobody."""
    reports = (report_on(case) for case in CASES if case.parent.name.startswith(rule.code))
    examples = (audited(example, "bad") for example in rule.examples)
    told = (
        finding["fixes"] or finding["advice"]
        for report in chain(examples, reports)
        for finding in report["findings"]
        if rule.code in (finding["code"], *finding["covers"])
    )
    assert any(told)


if __name__ == "__main__" and sys.argv[1:] == ["--rewrite"]:
    for folder in sorted(path for path in HERE.glob("KA*/*") if path.is_dir()):
        (folder / "expected.json").write_text(json.dumps(findings_of(folder), indent=2) + "\n")
