"""An Audit as the JSON report: the one contract that every reporter is a view of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import __version__
from ..engine import Audit, Root, report_order
from ..find.fingerprint import fingerprint
from ..find.one_cause import Caused, by_cause
from ..join.profiles import DEFAULT, Profile
from ..model import Deployment, Document, Finding, Fix, Setting
from ..read.load import FileRecord
from .reported import reported_deployments, shown_origin

SCHEMA_VERSION = 1
_HEADLINE = ("survives_lost", "writes_with_away")


def build_report(audit: Audit, effective: bool = False) -> dict[str, Any]:
    findings = [
        reported_finding(one.finding, root.prefix, one.deployments) for root, one in told_findings(audit)
    ]
    files = [_file(record, root.prefix) for root in audit.roots for record in root.files if record.target]
    reported = [(root, deployment) for root in audit.roots for deployment in reported_deployments(root)]
    says = {name: spec.says for name, spec in audit.registry.guarantees.items()}
    deployments = [_deployment(deployment, root, says) for root, deployment in reported]
    report: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "kafka-advisor", "version": __version__},
        "kafka_version": audit.kafka_version,
        "profile": _profile([root.profiles[deployment.id] for root, deployment in reported]),
        "root": ".",
        "files": sorted(files, key=lambda file: str(file["file"])),
        "deployments": deployments,
        "findings": findings,
        "rules": _rules(audit, findings),
        "summary": {
            **_summary(findings, files, deployments),
            "ignored": sum(root.ignored for root in audit.roots),
            "hidden": sum(root.hidden for root in audit.roots),
        },
    }
    if findings:
        from .worst_owners import worst_owners

        report["owners"] = worst_owners(audit, findings)
    if effective:
        from .effective_values import effective_settings

        report["effective"] = effective_settings(audit)
    return report


def told_findings(audit: Audit) -> list[tuple[Root, Caused]]:
    """The findings of the report, in its order: those of one cause are one."""
    found: dict[int, list[Finding]] = {}
    for root, finding in audit.findings:
        found.setdefault(id(root), []).append(finding)
    told = [
        (root, one)
        for root in audit.roots
        for one in by_cause(found.get(id(root), ()), root.rules, root.deployments)
    ]
    told.sort(key=lambda pair: report_order((pair[0], pair[1].finding)))
    return told


def _profile(profiles: Sequence[Profile]) -> dict[str, str]:
    # One word for the whole report: what is judged most strictly.
    chosen = next((p for p in profiles if p.name == "prod"), profiles[0] if profiles else None)
    if chosen is None:
        return DEFAULT._asdict()
    others = sum(profile.name != chosen.name for profile in profiles)
    why = chosen.why + (f"; {others} of {len(profiles)} deployments are judged as dev" if others else "")
    return {"name": chosen.name, "why": why}


def _file(record: FileRecord, prefix: str) -> dict[str, Any]:
    clients = sorted({document.client for document in record.documents})
    return {
        "file": prefix + record.file,
        "format": record.format,
        "roles": sorted({document.component for document in record.documents}),
        "client": clients[0] if len(clients) == 1 else (", ".join(clients) or None),
        "status": record.status,
        "reason": record.reason,
    }


_BUILT_IN = {
    "KA000": ("a rule failed", "The code of a rule or a plugin failed; everything else was judged."),
    "KA001": ("the file cannot be read", "It looks like a Kafka configuration, but does not parse."),
}


def _rules(audit: Audit, findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the codes of the findings mean."""
    codes = {code for finding in findings for code in (finding["code"], *finding["covers"])}
    found = {
        rule.code: {
            "code": rule.code,
            "name": rule.name,
            "title": rule.title,
            "severity": rule.severity,
            "why": rule.why,
            "fine_when": rule.fine_when,
            "sources": list(rule.sources),
        }
        for root in audit.roots
        for rule in root.rules
        if rule.code in codes
    }
    for code in codes & _BUILT_IN.keys():
        title, why = _BUILT_IN[code]
        severity = "error" if code == "KA000" else "warning"
        name = title.replace(" ", "-")
        found[code] = {"code": code, "name": name, "title": title, "severity": severity, "why": why}
        found[code] |= {"fine_when": "", "sources": []}
    return [found[code] for code in sorted(found)]


def _deployment(deployment: Deployment, root: Root, says: Mapping[str, str]) -> dict[str, Any]:
    answers = root.answers.get(deployment.id)
    known = answers.headline if answers is not None else None
    headline = dict(known) if known is not None else dict.fromkeys(_HEADLINE)
    prefix = root.prefix
    return {
        "id": deployment.id,
        "producer": _named(deployment.producer, prefix),
        "topic": _named(deployment.topic, prefix),
        "cluster": [_named(document, prefix) for document in deployment.cluster],
        "groups": [_named(document, prefix) for document in deployment.groups],
        "version": deployment.version,
        "profile": root.profiles[deployment.id]._asdict(),
        "facts": [
            {"name": fact.name, "value": fact.value, "origin": shown_origin(fact.origin, prefix)}
            for fact in deployment.facts
        ],
        "joined_by": list(deployment.joined_by),
        "headline": headline,
        "guarantees": [{**one.as_dict(), "says": says.get(one.name, "")} for one in answers.guarantees]
        if answers is not None
        else [],
    }


def _named(document: Document | None, prefix: str) -> str | None:
    return None if document is None else f"{prefix}{document.file}#{document.name}"


def reported_finding(
    finding: Finding, prefix: str = "", deployments: Sequence[str] | None = None
) -> dict[str, Any]:
    """`deployments`: all that have it, where they are more than its own."""
    if deployments is None:
        deployments = () if finding.deployment is None else (finding.deployment,)
    first_key = finding.keys[0] if finding.keys else None
    return {
        "fingerprint": fingerprint(finding),
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "message": finding.message,
        "deployment": finding.deployment,
        "deployments": list(deployments),
        "locations": [
            {"file": prefix + at.file, "line": at.line, "key": first_key if at is finding.at else None}
            for at in (finding.at, *finding.also_at)
        ],
        "settings": [_setting(component, setting, prefix) for component, setting in finding.settings],
        "evidence": {
            "class": finding.evidence.kind,
            "guarantee": finding.evidence.guarantee,
            "environment": dict(finding.evidence.environment),
            "faults": dict(finding.evidence.faults),
            "bounds": finding.evidence.bounds,
            "states": finding.evidence.states,
            "numbers": dict(finding.evidence.numbers),
            "trace": list(finding.evidence.trace),
        },
        "fixes": [_fix(fix, prefix) for fix in finding.fixes],
        "advice": list(finding.advice),
        "assuming": list(finding.assuming),
        "covers": list(finding.covers),
        "suppressed": (
            {"reason": finding.suppressed[0], "by": finding.suppressed[1]} if finding.suppressed else None
        ),
    }


def _setting(component: str, setting: Setting, prefix: str) -> dict[str, Any]:
    return {
        "component": component,
        "key": setting.key,
        "value": str(setting.value),
        "origin": shown_origin(setting.origin, prefix),
    }


def _fix(fix: Fix, prefix: str) -> dict[str, Any]:
    return {
        "changes": [
            {
                "component": change.component,
                "key": change.key,
                "from": change.before,
                "to": change.after,
                "file": None if change.file is None else prefix + change.file,
                "line": change.line,
                "action": change.action,
            }
            for change in fix.changes
        ],
        "verified": list(fix.verified),
        "price": fix.price,
        "smallest": fix.smallest,
        "condition": fix.condition,
        "safety": fix.safety,
    }


def _summary(
    findings: list[dict[str, Any]], files: list[dict[str, Any]], deployments: list[Any]
) -> dict[str, int]:
    counted: Mapping[str, int] = {
        severity: sum(f["severity"] == severity and f["suppressed"] is None for f in findings)
        for severity in ("error", "warning", "note")
    }
    unknown = sum(g["verdict"] == "unknown" for d in deployments for g in d["guarantees"])
    return {
        "files": len(files),
        "deployments": len(deployments),
        "errors": counted["error"],
        "warnings": counted["warning"],
        "notes": counted["note"],
        "unknown": unknown,
    }
