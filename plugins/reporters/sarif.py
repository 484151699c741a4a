"""SARIF 2.1.0, for code scanning: rules with help, runs as code flows, what is suppressed or known marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from advisor.api import json_text, printable, run_of

from .causes import change_text

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
FINGERPRINT = "kafkaAdvisor/v1"
Report = Mapping[str, Any]


def render(report: Report, options: Mapping[str, Any]) -> str:
    path_of = options.get("path_of", str)
    rules = report.get("rules", ())
    places = {rule["code"]: number for number, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": report["tool"]["name"],
                "version": report["tool"]["version"],
                "semanticVersion": report["tool"]["version"],
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "utf16CodeUnits",
        "invocations": [{"executionSuccessful": True}],
        "results": [
            *(_result(finding, places, path_of) for finding in report["findings"]),
            *(_absent(item, places, path_of) for item in report.get("baseline", {}).get("gone", ())),
        ],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    lines = [rule["why"]]
    if rule["fine_when"]:
        lines.append(f"Fine when: {rule['fine_when']}")
    if rule["sources"]:
        lines.append(f"Sources: {', '.join(rule['sources'])}")
    lines.append(f"More: kafka-advisor explain {rule['code']}")
    return {
        "id": rule["code"],
        "name": "".join(word.capitalize() for word in rule["name"].split("-")),
        "shortDescription": {"text": rule["title"]},
        "fullDescription": {"text": rule["why"]},
        "help": {"text": "\n".join(lines), "markdown": "\n\n".join(lines)},
        "defaultConfiguration": {"level": rule["severity"]},
        "properties": {"tags": ["kafka", "configuration"], "precision": "high"},
    }


def _result(finding: Mapping[str, Any], places: Mapping[str, int], path_of: Any) -> dict[str, Any]:
    at, *others = finding["locations"]
    result: dict[str, Any] = {
        "ruleId": finding["code"],
        "level": finding["severity"],
        "message": {"text": _message(finding)},
        "locations": [{"physicalLocation": _place(at, path_of), **_logical(finding)}],
        "partialFingerprints": {FINGERPRINT: finding["fingerprint"]},
    }
    if finding["code"] in places:
        result["ruleIndex"] = places[finding["code"]]
    if others:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": _place(other, path_of)}
            for number, other in enumerate(others, 1)
        ]
    if finding["evidence"]["trace"]:
        result["codeFlows"] = [{"threadFlows": [{"locations": list(_flow(finding, path_of))}]}]
    if finding["suppressed"] is not None:
        kind = "inSource" if finding["suppressed"]["by"].startswith("comment") else "external"
        result["suppressions"] = [
            {"kind": kind, "status": "accepted", "justification": finding["suppressed"]["reason"]}
        ]
    if finding.get("baseline") is not None:
        result["baselineState"] = "unchanged" if finding["baseline"] == "known" else "new"
    return result


def _message(finding: Mapping[str, Any]) -> str:
    parts = [finding["message"]]
    parts += [f"Assuming: {'; '.join(finding['assuming'])}"] if finding["assuming"] else []
    for fix in finding["fixes"][:1]:
        parts.append(f"Fix: {', '.join(change_text(change) for change in fix['changes'])}")
    parts += [f"Fix: {step}" for step in finding["advice"][:1] if not finding["fixes"]]
    return printable(". ".join(str(part).rstrip(".") for part in parts))


def _place(location: Mapping[str, Any], path_of: Any) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": uri_of(path_of(location["file"]))}}
    if location["line"] is not None:
        place["region"] = {"startLine": location["line"]}
    return place


def uri_of(path: str) -> str:
    """A relative reference; a path from the root of the file system is a file's."""
    name = quote(path.replace("\\", "/").encode("utf-8", "surrogateescape"), safe="/~!$&'()*+,;=@._-")
    return f"file://{name}" if name.startswith("/") else name


def _logical(finding: Mapping[str, Any]) -> dict[str, Any]:
    if not finding["deployment"]:
        return {}
    return {
        "logicalLocations": [{"fullyQualifiedName": printable(finding["deployment"]), "kind": "resource"}]
    }


def _flow(finding: Mapping[str, Any], path_of: Any) -> Iterator[dict[str, Any]]:
    """Each step of the run, at the line that makes it possible."""
    place = _place(finding["locations"][0], path_of)
    run = run_of(finding["evidence"]["trace"], finding["evidence"]["guarantee"])
    for row in run.rows:
        words = [row.sentence, *row.notes]
        if row is run.rows[-1] and run.ending and run.ending not in words:
            words.append(run.ending)
        text = printable("; ".join(words))
        yield {
            "location": {"physicalLocation": place, "message": {"text": text}},
            "executionOrder": row.number,
        }


def _absent(item: Mapping[str, Any], places: Mapping[str, int], path_of: Any) -> dict[str, Any]:
    """What the baseline knows and is not there any more."""
    return {
        "ruleId": item["code"],
        "level": "none",
        "message": {"text": printable(f"{item['code']} is not found any more")},
        "locations": [{"physicalLocation": _place({"file": item["file"], "line": None}, path_of)}],
        "partialFingerprints": {FINGERPRINT: item["fingerprint"]},
        "baselineState": "absent",
    }
