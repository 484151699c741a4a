"""Findings that are known and accepted for now: `--baseline FILE`.

The file names each finding by its code, its file and its fingerprint: no line and no value, so that edits
elsewhere keep it and nothing of a configuration is in it. Files are named from the folder of the baseline.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from ...model import UsageError
from ...output.text import json_text
from ...read.files import Unreadable, read_bytes
from ...tuples import NamedTuple
from .changes import counts_of

SCHEMA_VERSION = 1
Key = tuple[str, str, str]  # code, file, fingerprint


class Baseline(NamedTuple):
    """How often each finding is accepted, and the folder that its files are named from."""

    path: str
    counts: Mapping[Key, int]

    @property
    def folder(self) -> str:
        return os.path.dirname(os.path.abspath(self.path))


def read_baseline(path: str, may_be_new: bool) -> Baseline:
    if may_be_new and not os.path.lexists(path):
        return Baseline(path, {})
    try:
        data = json.loads(read_bytes(path))
        counts: Counter[Key] = Counter()
        if data["schema_version"] != SCHEMA_VERSION:
            raise UsageError(f"{path}: is a baseline of another version; --update-baseline writes it anew")
        for one in data["findings"]:
            counts[(str(one["code"]), str(one["file"]), str(one["fingerprint"]))] += 1
    except Unreadable as error:
        hint = "; --update-baseline makes it" if not os.path.lexists(path) else ""
        raise UsageError(f"{path}: {error}{hint}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{path}: is not a baseline; --update-baseline writes it anew") from None
    return Baseline(path, counts)


def mark(
    report: dict[str, Any], baseline: Baseline, base: str, asked: Collection[str] | None
) -> dict[str, Any]:
    """The report with each finding `known` or `new`, and what is gone. `base` is where its files are named
    from; `asked` are the files that were audited whole, None if some rules were not asked."""
    left = dict(baseline.counts)
    findings = []
    for finding in report["findings"]:
        key = key_of(finding, base, baseline.folder)
        known = left.get(key, 0) > 0 and finding["suppressed"] is None
        if known:
            left[key] -= 1
        findings.append({**finding, "baseline": "known" if known else "new"})
    counted = [one for one in findings if one["suppressed"] is None and one["baseline"] == "new"]
    gone = [] if asked is None else _gone(left, baseline, base, asked)
    return {
        **report,
        "findings": findings,
        "summary": {**report["summary"], **counts_of(counted)},
        "baseline": {"known": sum(one["baseline"] == "known" for one in findings), "gone": gone},
    }


def _gone(
    left: Mapping[Key, int], baseline: Baseline, base: str, asked: Collection[str]
) -> list[dict[str, str]]:
    found = []
    for (code, file, fingerprint), count in sorted(left.items()):
        path = os.path.join(baseline.folder, file)
        inside = os.path.relpath(path, base).replace(os.sep, "/")
        if count and (inside in asked or not os.path.lexists(path)):
            found += [{"code": code, "file": inside, "fingerprint": fingerprint}] * count
    return found


def key_of(finding: Mapping[str, Any], base: str, folder: str) -> Key:
    path = os.path.join(base, finding["locations"][0]["file"])
    return finding["code"], os.path.relpath(path, folder).replace(os.sep, "/"), finding["fingerprint"]


def baseline_text(
    report: Mapping[str, Any], baseline: Baseline, base: str, asked: Collection[str] | None
) -> str:
    """The file anew: what is found now, and what was accepted in files that were not looked at."""
    keys = [
        key_of(finding, base, baseline.folder)
        for finding in report["findings"]
        if finding["suppressed"] is None
    ]
    kept = []
    for key, count in baseline.counts.items():
        path = os.path.join(baseline.folder, key[1])
        inside = os.path.relpath(path, base).replace(os.sep, "/")
        if (asked is None or inside not in asked) and os.path.lexists(path):
            kept += [key] * max(0, count - keys.count(key))
    entries = [
        {"code": code, "file": file, "fingerprint": fingerprint}
        for code, file, fingerprint in sorted([*keys, *kept], key=lambda key: (key[1], key[0], key[2]))
    ]
    return json_text({"schema_version": SCHEMA_VERSION, "findings": entries}) + "\n"
