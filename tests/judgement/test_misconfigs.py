"""The known misconfigurations (`misconfigs/`), each as the smallest realistic files: what an audit says.

`-- expected` is one line for each code (`found KA101`, or `found KA421 with workload` where it takes a stated
workload), or one of `rightly silent: why`, `not applicable: why` and `not found: why`. `misconfigs.md` is the
table of all of them, made from the runs: `python -m tests.judgement.test_misconfigs --rewrite`.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.rules.case_files import Case, read_cases
from tests.rules.test_rules import report_on

HERE = Path(__file__).parent
TABLE = HERE / "misconfigs.md"
CASES = [case for path in sorted((HERE / "misconfigs").glob("*.txt")) for case in read_cases(path)]
ROWS = range(1, 84)
WITHOUT = ("rightly silent: ", "not applicable: ", "not found: ")
_WORKLOAD = re.compile(r"^\[workload\]\n(?:(?!\[).*\n)*", re.MULTILINE)


def row_of(case: Case) -> int:
    return int(case.name.partition(" ")[0])


@cache
def report_of(number: int, workload: bool = True) -> dict[str, Any]:
    case = CASES[number]
    if not workload:
        project = _WORKLOAD.sub("", case.files["kafka-advisor.toml"])
        case = case._replace(files={**case.files, "kafka-advisor.toml": project})
    return report_on(case)


def found_in(report: dict[str, Any], code: str) -> dict[str, Any] | None:
    """The gravest finding with this code, else the one that covers it."""
    found = [one for one in report["findings"] if code in (one["code"], *one["covers"])]
    order = ("error", "warning", "note")
    found.sort(key=lambda one: (one["code"] != code, order.index(one["severity"])))
    return found[0] if found else None


def has_workload(case: Case) -> bool:
    return "[workload]" in case.files.get("kafka-advisor.toml", "")


def said(number: int) -> list[str]:
    """What the audit says of the codes that are expected; a reason stays as a person wrote it."""
    case, told = CASES[number], []
    for line in case.expected:
        if line.startswith(WITHOUT):
            told.append(line)
            continue
        code = line.split()[1]
        if found_in(report_of(number), code) is None:
            told.append(f"silent about {code}")
        elif has_workload(case) and found_in(report_of(number, workload=False), code) is None:
            told.append(f"found {code} with workload")
        else:
            told.append(f"found {code}")
    return told


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: CASES[number].name)
def test_it_is_judged(number):
    assert CASES[number].expected, "say what is expected"
    assert said(number) == CASES[number].expected
    if CASES[number].expected[0].startswith("rightly silent"):
        assert [one for one in report_of(number)["findings"] if one["severity"] != "note"] == []


def test_every_row_is_tried():
    assert {row_of(case) for case in CASES} == set(ROWS)


def test_nearly_all_are_found_or_rightly_silent():
    missed = {row_of(case) for case in CASES if any(line.startswith("not found") for line in case.expected)}
    assert len(ROWS) - len(missed) >= 80


def shown(number: int) -> str:
    parts = []
    for line in said(number):
        finding = None if line.startswith(WITHOUT) else found_in(report_of(number), line.split()[1])
        if finding is not None:
            under = "" if finding["code"] == line.split()[1] else f", told under {finding['code']}"
            assuming = f"; assuming {'; '.join(finding['assuming'])}" if finding["assuming"] else ""
            line = f"{line} ({finding['severity']}{under}{assuming})"
        parts.append(line)
    return ", ".join(parts)


def table() -> str:
    lines = ["| row | tried | said |", "|---|---|---|"]
    for number, case in enumerate(CASES):
        row, _, name = case.name.partition(" ")
        lines.append(f"| {row} | {name} | {shown(number)} |")
    return "\n".join(lines) + "\n"


def test_the_table_is_what_the_runs_say():
    assert TABLE.read_text(encoding="utf-8") == table()


if __name__ == "__main__" and sys.argv[1:] == ["--rewrite"]:
    TABLE.write_text(table(), encoding="utf-8")
