"""What the faults of a finding come to once its fix is made: played, never made up."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.engine import Options, audit
from advisor.tell.fixed_runs import fixed_runs
from advisor.tell.report import build_report
from tests.rules.case_files import all_cases

# A case of each way in which a run is played again: searched, on the clock, in a group, in a log.
CASES = {
    "KA108": "no confirmed record is lost",
    "KA210": "writes continue",
    "KA220": "takes over",
    "KA320": "no record fails",
    "KA321": "no record fails",
    "KA323": "no record fails",
    "KA343": "nothing that was aborted",
    "KA401/fail-workers-beside-auto-commit": "every record is processed",
    "KA421": "no member is evicted",
    "KA422": "no member is evicted",
    "KA425": "no member is evicted",
    "KA431": "unread for 45",
    "KA502": "",
    "KA505": "",
}


def runs_of(folder) -> tuple[dict[str, Any], dict[str, Any]]:
    options = Options(paths=(str(folder),), cache=False)
    found = audit(options)
    return build_report(found), fixed_runs(found, options)


@pytest.mark.parametrize("named", sorted(CASES))
def test_a_fix_is_played(named, tmp_path):
    code, _, name = named.partition("/")
    cases = [case for case in all_cases() if case.rule == code and case.name.startswith(name or "fail")]
    folder = cases[0].place(tmp_path)
    # A session is shortened where it is known what it must outlast.
    stated = "[workload]\nlongest_pause_ms = 5000\n"
    if code == "KA431":
        with (folder / "kafka-advisor.toml").open("a") as file:
            file.write(stated)
    report, fixed = runs_of(folder)
    finding = next(one for one in report["findings"] if one["code"] == code)
    run = fixed[finding["fingerprint"]]
    assert CASES[named] in run["ending"]
    before = finding["evidence"]["trace"]
    assert run["trace"] != before
    assert strikes(run["trace"]) == strikes(before)


def strikes(trace) -> list[str]:
    """What goes wrong in a run by somebody else's doing, in order: brokers and members by name."""
    names = ("sigstop", "kill9", "isolate", "unisolate", "term", "killed", "stalls", "loses")
    return [
        step["event"]["text"] for step in trace if "fault" in step["event"] or step["event"]["name"] in names
    ]


def test_quickstart(samples):
    report, fixed = runs_of(samples / "quickstart")
    endings = {
        one["code"]: fixed[one["fingerprint"]]["ending"]
        for one in report["findings"]
        if one["fingerprint"] in fixed
    }
    assert endings == {
        "KA101": "broker 1 leads and has r0: no confirmed record is lost",
        "KA301": "r0 is stored once",
        "KA302": "the records are stored in the order of sending",
    }


def test_the_json_report_is_the_same_with_and_without_a_page(advisor, samples, tmp_path):
    alone = advisor("audit", samples / "quickstart", "--format", "json")
    page = tmp_path / "audit.html"
    both = advisor("audit", samples / "quickstart", "--format", "json", "--report", f"html={page}")
    assert both.stdout == alone.stdout
    assert page.stat().st_size > 10_000
