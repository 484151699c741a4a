"""The law of fixes: whatever is offered, alone or all together, makes nothing worse than the profile asks.

Roots are generated (`roots.py`). `KAFKA_ADVISOR_FIX_EXAMPLES=500 pytest tests/fix/test_never_harms.py` tries
more of them than the few that every run tries.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from advisor.testing import audit_paths

from .roots import roots, write
from .test_cases import fix, texts

EXAMPLES = int(os.environ.get("KAFKA_ADVISOR_FIX_EXAMPLES", "12"))
# What the profile asks: one crash and one broker lost are survived, and writes go on with one broker away.
BUDGET = {
    ("acked-records-survive", "broker_crash"): 1,
    ("acked-records-survive", "broker_lost"): 1,
    ("writes-available", "broker_crash"): 1,
}
HEADLINE = {"survives_lost": 1, "writes_with_away": 1}

law = settings(
    max_examples=EXAMPLES,
    derandomize="KAFKA_ADVISOR_FIX_EXAMPLES" not in os.environ,
    deadline=None,
    database=None,
    # An example takes seconds: looking for a smaller one would take minutes.
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def audited(folder: Path, version: str) -> dict[str, Any]:
    return audit_paths([str(folder)], kafka_version=version, cache=True)


def tolerances(report: dict[str, Any]) -> dict[tuple[str, ...], int]:
    """By deployment: how many of each fault are survived, at most as many as the profile asks."""
    found: dict[tuple[str, ...], int] = {}
    for deployment in report["deployments"]:
        for name, most in HEADLINE.items():
            value = (deployment["headline"] or {}).get(name)
            if value is not None:
                found[deployment["id"], name] = min(value, most)
        for guarantee in deployment["guarantees"]:
            for one in guarantee["tolerance"]:
                most = BUDGET.get((guarantee["name"], one["fault"]))
                if most is not None:
                    survives = -1 if one["survives"] is None else one["survives"]
                    found[deployment["id"], guarantee["name"], one["fault"]] = min(survives, most)
    return found


def codes(report: dict[str, Any]) -> set[str]:
    return {finding["code"] for finding in report["findings"] if finding["severity"] != "note"}


def nothing_worse(before: dict[str, Any], after: dict[str, Any]) -> None:
    was, now = tolerances(before), tolerances(after)
    assert {name: (was[name], now[name]) for name in was.keys() & now.keys() if now[name] < was[name]} == {}
    covered = {code for finding in before["findings"] for code in finding["covers"]}
    assert codes(after) - codes(before) - covered == set(), "a finding of a code that was not there"


def offered(report: dict[str, Any]) -> set[str]:
    """The codes above a note that have a fix which files can hold."""
    return {
        finding["code"]
        for finding in report["findings"]
        if finding["severity"] != "note" and finding["fixes"] and finding["fixes"][0]["safety"] != "advice"
    }


@law
@given(roots())
def test_any_fix_alone_and_all_together(root):
    version, files = root
    with tempfile.TemporaryDirectory() as folder:
        before = audited(write(files, Path(folder, "all")), version)
        for code in sorted(offered(before)):
            alone = write(files, Path(folder, code))
            fix(alone, "--write", "--kafka-version", version, "--select", code, ".")
            nothing_worse(before, audited(alone, version))
        together = Path(folder, "all")
        fix(together, "--write", "--reviewed", "--kafka-version", version, ".")
        nothing_worse(before, audited(together, version))
        written = texts(together)
        _, diff, told = fix(together, "--reviewed", "--kafka-version", version, ".")
        assert diff == "", told
        fix(together, "--write", "--reviewed", "--kafka-version", version, ".")
        assert texts(together) == written


@law
@given(roots())
def test_what_audit_offers_fix_makes(root):
    """Or another finding's fix, made before it, has done so."""
    version, files = root
    with tempfile.TemporaryDirectory() as folder:
        place = write(files, Path(folder, "all"))
        wanted = [
            one
            for one in audited(place, version)["findings"]
            if one["severity"] != "note" and one["fixes"] and one["fixes"][0]["safety"] == "safe"
        ]
        assert contradictions(wanted) == {}
        _, _, told = fix(place, "--write", "--kafka-version", version, ".")
        left = [_who(one) for one in audited(place, version)["findings"]]
        assert [_who(one) for one in wanted if _who(one) in left] == [], told


def contradictions(findings: list[dict[str, Any]]) -> dict[tuple[str, ...], set[str | None]]:
    """The settings that two fixes change in two ways. Each names its file."""
    values: dict[tuple[str, ...], set[str | None]] = {}
    for finding in findings:
        for change in finding["fixes"][0]["changes"]:
            assert change["file"] is not None
            where = change["file"], change["component"], change["key"]
            values.setdefault(where, set()).add(change["to"])
    return {where: found for where, found in values.items() if len(found) > 1}


def _who(finding: dict[str, Any]) -> tuple[str, str, str]:
    return finding["code"], finding["locations"][0]["file"], finding["message"]
