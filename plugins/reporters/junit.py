"""JUnit XML: a test case for each file, failed by its findings; a suppressed finding is skipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .causes import change_text, told_of
from .xml_text import xml_text

Finding = Mapping[str, Any]


def render(report: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    path_of = options.get("path_of", str)
    by_file: dict[str, list[Finding]] = {file["file"]: [] for file in report["files"]}
    for finding in report["findings"]:
        by_file.setdefault(finding["locations"][0]["file"], []).append(finding)
    cases = [case for file, findings in by_file.items() for case in _cases(path_of(file), findings)]
    failures = sum(failed for failed, _, _ in cases)
    skipped = sum(skip for _, skip, _ in cases)
    head = f'name="kafka-advisor" tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}"'
    body = "".join(text for _, _, text in cases)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites {head}>\n  <testsuite {head}>\n{body}  </testsuite>\n</testsuites>\n"
    )


def _cases(path: str, findings: list[Finding]) -> Iterator[tuple[bool, bool, str]]:
    """(failed, skipped, the case); a file without findings is a case that passes."""
    if not findings:
        yield False, False, f'    <testcase classname="{xml_text(path)}" name="audit" time="0"/>\n'
    for finding in findings:
        at = finding["locations"][0]
        line = f":{at['line']}" if at["line"] is not None else ""
        name, place = xml_text(f"{finding['code']} {finding['name']}"), xml_text(path + line)
        opening = f'    <testcase classname="{xml_text(path)}" name="{name}" file="{place}" time="0">'
        inside, failed, skipped = _outcome(finding, path + line)
        yield failed, skipped, f"{opening}{inside}</testcase>\n"


def _outcome(finding: Finding, place: str) -> tuple[str, bool, bool]:
    message = xml_text(told_of(finding))
    if finding["suppressed"] is not None:
        return f'<skipped message="suppressed: {xml_text(finding["suppressed"]["reason"])}"/>', False, True
    if finding.get("baseline") == "known":
        return '<skipped message="in the baseline"/>', False, True
    if finding["severity"] == "note":
        return f"<system-out>{message}</system-out>", False, False
    fixes = [f"fix: {', '.join(map(change_text, fix['changes']))}" for fix in finding["fixes"][:1]]
    text = "\n".join([place, told_of(finding), *fixes])
    body = "\n".join(map(xml_text, text.split("\n")))
    return f'<failure type="{finding["severity"]}" message="{message}">{body}</failure>', True, False
