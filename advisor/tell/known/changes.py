"""What a change makes worse or better: two audits of one repository, before and after it.

A finding that both have is known; what counts is what the change brings, and the two numbers of each
deployment: "acknowledged records: survived 1 lost broker, now 0". A number that is lower and still as high as
the profile asks is a cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Finding = Mapping[str, Any]
_RANK = {"broken": 0, "unknown": 1, "holds": 2}
_WORDS = {
    "broken": "a failing run is found",
    "unknown": "it cannot be told",
    "holds": "no failing run was found",
}
# The two numbers of a deployment, in words; the guarantee that each sums up.
_NUMBERS = (
    ("survives_lost", "acknowledged records: survived", "lost broker", "acked-records-survive"),
    ("writes_with_away", "writes: continued with", "broker down", "writes-available"),
)
# How many brokers the rules of a profile take away.
_ASKED = {"prod": 1, "dev": 0}


def mark(report: dict[str, Any], before: Mapping[str, Any], base: str) -> dict[str, Any]:
    """The report with what the change brings: findings that were there before are known."""
    left = Counter(map(_key, (one for one in before["findings"] if one["suppressed"] is None)))
    findings = []
    for finding in report["findings"]:
        known = left[_key(finding)] > 0 and finding["suppressed"] is None
        left[_key(finding)] -= known
        findings.append({**finding, "baseline": "known" if known else "new"})
    new = [one for one in findings if one["baseline"] == "new" and one["suppressed"] is None]
    return {
        **report,
        "findings": findings,
        "summary": {**report["summary"], **counts_of(new)},
        "changes": {"base": base, **_changes(before, report, new)},
    }


def counts_of(findings: Sequence[Finding]) -> dict[str, int]:
    """errors, warnings, notes"""
    return {
        f"{word}s": sum(one["severity"] == word for one in findings) for word in ("error", "warning", "note")
    }


def _changes(
    before: Mapping[str, Any], after: Mapping[str, Any], new: Sequence[Finding]
) -> dict[str, list[str]]:
    """Of the deployments that both reports have; one that is new is judged by its findings alone."""
    old = {one["id"]: one for one in before["deployments"]}
    gone = [one for one in _missing(before, after) if one["severity"] != "note"]
    told: dict[str, list[str]] = {"worse": [], "costs": [], "better": []}
    for deployment in after["deployments"]:
        was = old.get(deployment["id"])
        for word, sentence in _compared(was, deployment, after, [*new, *gone]) if was is not None else ():
            told[word].append(f"{deployment['id']}: {sentence}")
    titles = {rule["code"]: rule["title"] for rule in before.get("rules", ())}
    told["better"] += [
        f"{one['locations'][0]['file']}: {one['code']} is fixed ({titles.get(one['code'], one['name'])})"
        for one in gone
    ]
    return {word: list(dict.fromkeys(sentences)) for word, sentences in told.items()}


def _compared(
    was: Mapping[str, Any], now: Mapping[str, Any], after: Mapping[str, Any], changed: Sequence[Finding]
) -> Iterator[tuple[str, str]]:
    accepted = {
        one["evidence"]["guarantee"]
        for one in after["findings"]
        if one["suppressed"] is not None and now["id"] in one["deployments"]
    }
    told = {one["evidence"]["guarantee"] for one in changed if now["id"] in one["deployments"]}
    for name, words, what, guarantee in _NUMBERS:
        old, new = was["headline"][name], now["headline"][name]
        if old == new or old is None:
            continue
        told.add(guarantee)
        shown = f"{words} {old} {what if old == 1 else what.replace('broker', 'brokers')}"
        asked = _ASKED[now["profile"]["name"]]
        if new is None:
            yield "worse", f"{shown}, now it cannot be told"
        elif new > old:
            yield "better", f"{shown}, now {new}"
        else:
            below = min(new, asked) < min(old, asked) and guarantee not in accepted
            yield "worse" if below else "costs", f"{shown}, now {new}"
    before = {one["name"]: one for one in was["guarantees"]}
    for guarantee in now["guarantees"]:
        old = before.get(guarantee["name"])
        if old is None or guarantee["name"] in told or old["verdict"] == guarantee["verdict"]:
            continue
        lower = _RANK[guarantee["verdict"]] < _RANK[old["verdict"]]
        word = "better" if not lower else "costs" if guarantee["name"] in accepted else "worse"
        says = guarantee.get("says") or guarantee["name"]
        yield word, f"{says}: {_WORDS[old['verdict']]}, now {_WORDS[guarantee['verdict']]}"


def _missing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Finding]:
    left = Counter(map(_key, after["findings"]))
    found = []
    for finding in before["findings"]:
        if left[_key(finding)] > 0:
            left[_key(finding)] -= 1
        elif finding["suppressed"] is None:
            found.append(finding)
    return found


def _key(finding: Finding) -> tuple[str, str, str, str]:
    return finding["code"], finding["locations"][0]["file"], finding["fingerprint"], finding["severity"]
