"""What a report tells, in the few words that a test compares with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Report = Mapping[str, Any]
Finding = Mapping[str, Any]


def codes(report: Report) -> list[str]:
    """The codes of its findings, and of what each of them covers, sorted."""
    found = report["findings"]
    return sorted(code for finding in found for code in (finding["code"], *finding["covers"]))


def places(report: Report) -> list[str]:
    """`KA101 producer.properties:5`, sorted: each finding with the file and line that it is told at."""
    return sorted(f"{finding['code']} {_place(finding)}" for finding in report["findings"])


def finding_of(report: Report, code: str) -> Finding:
    """The one finding with this code; an AssertionError says what there is instead."""
    found = [finding for finding in report["findings"] if finding["code"] == code]
    if len(found) != 1:
        there = ", ".join(places(report)) or "none"
        raise AssertionError(f"{len(found)} findings have the code {code}; all findings: {there}")
    finding: Finding = found[0]
    return finding


def events(finding: Finding) -> list[str]:
    """The events of the run that the finding carries, in their order: `send r0`, `lost_response r0`."""
    return [step["event"]["text"] for step in finding["evidence"]["trace"]]


def _place(finding: Finding) -> str:
    at = finding["locations"][0]
    return at["file"] if at["line"] is None else f"{at['file']}:{at['line']}"
