"""Findings by their cause: what is wrong in one way at many places is told once, with its places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Finding = Mapping[str, Any]
RANK = {"error": 0, "warning": 1, "note": 2}


class Cause(NamedTuple):
    """One rule broken in one way. `findings` are its places, in the order of the report."""

    code: str
    title: str
    severity: str
    findings: tuple[Finding, ...]
    # What the same lines cause besides.
    also: tuple[str, ...] = ()

    @property
    def first(self) -> Finding:
        return self.findings[0]


def causes_of(report: Mapping[str, Any], findings: Sequence[Finding], fold: bool = True) -> list[Cause]:
    """The worst first; of equal ones those with more places. `fold`: what the same lines cause is told under
    the worst of it."""
    if not findings:
        return []
    titles = {rule["code"]: rule["title"] for rule in report.get("rules", ())}
    names = _names(report)
    grouped: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in findings:
        grouped.setdefault(_mark(finding, names), []).append(finding)
    found = [
        Cause(
            group[0]["code"],
            titles.get(group[0]["code"], group[0]["name"].replace("-", " ")),
            group[0]["severity"],
            tuple(group),
        )
        for group in grouped.values()
    ]
    # Stable: what is equal stays in the order of the report.
    found.sort(key=lambda one: (RANK[one.severity], not one.first["fixes"], -len(one.findings), one.code))
    return _folded(found) if fold else found


def _folded(causes: Sequence[Cause]) -> list[Cause]:
    kept: list[Cause] = []
    for cause in causes:
        for number, worse in enumerate(kept):
            if _is_under(cause, worse):
                kept[number] = worse._replace(also=(*worse.also, cause.code))
                break
        else:
            kept.append(cause)
    return kept


def _is_under(cause: Cause, worse: Cause) -> bool:
    """At the same lines, about the same keys, and mended by the same change, if by any."""
    if cause.code == worse.code or (cause.severity == "note") != (worse.severity == "note"):
        return False
    if not _places(cause) <= _places(worse):
        return False
    if cause.severity == "note" and cause.first["locations"][0]["key"] != worse.first["locations"][0]["key"]:
        return False  # two things about one cluster
    return all(not one["fixes"] or changes_of(one) == _fix_at(worse, one) for one in cause.findings)


def _fix_at(cause: Cause, finding: Finding) -> frozenset[tuple[str, str, str | None]]:
    at = _place(finding)
    return next((changes_of(one) for one in cause.findings if _place(one) == at), frozenset())


def _places(cause: Cause) -> frozenset[tuple[str, int | None]]:
    return frozenset(map(_place, cause.findings))


def _place(finding: Finding) -> tuple[str, int | None]:
    at = finding["locations"][0]
    return at["file"], at["line"]


def changes_of(finding: Finding) -> frozenset[tuple[str, str, str | None]]:
    """What the first fix changes, wherever that is."""
    changes = finding["fixes"][0]["changes"] if finding["fixes"] else ()
    return frozenset((change["action"], change["key"], change["to"]) for change in changes)


def _mark(finding: Finding, names: frozenset[str]) -> tuple[Any, ...]:
    own = finding["locations"][0]["key"]
    message = _without(finding["message"], names | {own} if own else names)
    return finding["code"], finding["severity"], message


def _names(report: Mapping[str, Any]) -> frozenset[str]:
    """What deployments and their parts are called: it makes no difference to the cause."""
    found: set[str] = set()
    for deployment in report["deployments"]:
        found.update(deployment["id"].split(" -> "))
        parts = (deployment["producer"], deployment["topic"], *deployment["cluster"], *deployment["groups"])
        found.update(part.rpartition("#")[2] for part in parts if part is not None)
    return frozenset(found)


def _without(message: str, names: frozenset[str]) -> str:
    words = re.split(r"([\s,:;()]+)", message)
    return "".join("?" if word in names else word for word in words)


def also_text(cause: Cause, titles: Mapping[str, str]) -> str:
    """What else the same line causes; what the rule covers is a lesser form of the same."""
    told = ", ".join(f"{code} ({titles[code]})" if code in titles else code for code in cause.also)
    covered = ", ".join(code for code in cause.first["covers"] if code not in cause.also)
    return "; ".join(
        filter(None, (f"causes {told}" if told else "", f"includes {covered}" if covered else ""))
    )


def told_of(finding: Finding) -> str:
    """What is wrong, and what that rests on, in one line."""
    assuming = "; ".join(finding.get("assuming", ()))
    return finding["message"] + (f" (assuming {assuming})" if assuming else "")


def change_text(change: Mapping[str, Any]) -> str:
    if change["action"] == "remove":
        return f"remove {change['key']}"
    return f"{change['key']}={change['to']}"


def count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
