"""Why a finding is there and what clears it, in a few letters: rows that share both share an example."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any


def cause_of(finding: Mapping[str, Any]) -> str:
    """The same for findings of one rule by the same settings, with the same run and the same remedy."""
    settings = [(one["component"], one["key"], one["value"]) for one in finding.get("settings") or ()]
    evidence = finding.get("evidence") or {}
    run = [step["event"]["text"] for step in evidence.get("trace") or () if "event" in step]
    keys = [place.get("key") for place in finding.get("locations") or ()]
    told = finding["code"], keys[:1], sorted(map(str, settings)), run, remedy_of(finding)
    return sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def remedy_of(finding: Mapping[str, Any]) -> str | None:
    """The smallest change that clears it, such as `producer acks=all`."""
    for fix in finding.get("fixes") or ():
        if fix.get("changes"):
            return ", ".join(_change(change) for change in fix["changes"])
    return None


def _change(change: Mapping[str, Any]) -> str:
    if change.get("to") is None:
        return f"{change['component']} without {change['key']}"
    return f"{change['component']} {change['key']}={change['to']}"
