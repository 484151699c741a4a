"""Every format as a golden, and held against its own definition; hostile names and values do nothing."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jsonschema
import pytest

from .golden import CASES, HERE, printed
from .roots import ROOTS
from .sarif_schema import official_schema


@pytest.fixture(scope="module")
def roots(tmp_path_factory) -> dict[str, Path]:
    return {kind: make(tmp_path_factory.mktemp(kind)) for kind, make in ROOTS.items()}


@pytest.mark.parametrize("file", CASES)
def test_golden(roots, file):
    kind, words = CASES[file]
    assert printed(roots[kind], words) == (HERE / file).read_text(encoding="utf-8")


def test_every_golden_is_made():
    assert {path.name for path in HERE.iterdir()} == set(CASES)


@pytest.fixture(scope="module")
def sarif(tmp_path_factory):
    schema = official_schema(tmp_path_factory.mktemp("schema"))
    return jsonschema.Draft4Validator(schema)


@pytest.mark.parametrize("kind", ROOTS)
def test_sarif_is_valid_by_the_official_schema(roots, sarif, kind):
    log = json.loads(printed(roots[kind], ("--format", "sarif")))
    assert [error.message for error in sarif.iter_errors(log)] == []
    (run,) = log["runs"]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in run["results"]} <= set(rules)
    assert all(rule["help"]["text"] and rule["shortDescription"]["text"] for rule in rules.values())
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert re.fullmatch(r"[0-9a-f]{16}", result["partialFingerprints"]["kafkaAdvisor/v1"])


def test_the_schema_can_refuse(sarif):
    """A check that cannot fail checks nothing."""
    log = {"version": "2.1.0", "runs": [{"tool": {"driver": {}}, "results": []}]}
    assert [error.message for error in sarif.iter_errors(log)] == ["'name' is a required property"]


def test_sarif_marks_what_is_suppressed(roots):
    (run,) = json.loads(printed(roots["hostile"], ("--format", "sarif")))["runs"]
    marked = [result for result in run["results"] if "suppressions" in result]
    suppressed = {result["ruleId"]: result["suppressions"] for result in marked}
    assert list(suppressed) == ["KA301"]
    assert suppressed["KA301"][0]["kind"] == "inSource"
    assert "\x1b" not in json.dumps(suppressed)


def test_the_run_is_a_code_flow(roots):
    (run,) = json.loads(printed(roots["quickstart"], ("--format", "sarif")))["runs"]
    (lost,) = [result for result in run["results"] if result["ruleId"] == "KA101"]
    steps = lost["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in steps] == [
        "the producer sends r0; r0 is confirmed",
        "broker 0 crashes",
        "the cluster notices",
        "broker 1 takes over; r0 is lost",
    ]


@pytest.mark.parametrize("kind", ROOTS)
def test_checkstyle_is_xml(roots, kind):
    top = ElementTree.fromstring(printed(roots[kind], ("--format", "checkstyle")))
    report = json.loads(printed(roots[kind], ("--format", "json")))
    told = [(one["locations"][0]["file"], one["code"]) for one in report["findings"] if not one["suppressed"]]
    found = [
        (file.get("name"), error.get("source").removeprefix("kafka-advisor."))
        for file in top
        for error in file
    ]
    assert sorted(found) == sorted(told)
    assert {error.get("severity") for error in top.iter("error")} <= {"error", "warning", "info"}


@pytest.mark.parametrize("kind", ROOTS)
def test_junit_is_xml(roots, kind):
    suites = ElementTree.fromstring(printed(roots[kind], ("--format", "junit")))
    (suite,) = suites
    counted = {name: int(suite.get(name)) for name in ("tests", "failures", "skipped")}
    assert counted == {
        "tests": len(suite.findall("testcase")),
        "failures": len(suite.findall("testcase/failure")),
        "skipped": len(suite.findall("testcase/skipped")),
    }


@pytest.mark.parametrize("kind", ROOTS)
def test_gitlab_has_one_entry_a_finding(roots, kind):
    entries = json.loads(printed(roots[kind], ("--format", "gitlab")))
    prints = [entry["fingerprint"] for entry in entries]
    assert len(prints) == len(set(prints)) > 0
    for entry in entries:
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert entry["location"]["lines"]["begin"] >= 1


def test_annotations_hold_no_second_command(roots):
    """Each line is one command, and what a file holds is in its text or a property, escaped."""
    for line in printed(roots["hostile"], ("--format", "github")).splitlines():
        command = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        assert command, line
        assert set(re.findall(r"(\w+)=", command[2])) <= {"file", "line", "title"}
        # The only escapes that we make; a % of the file's is one itself.
        assert set(re.findall(r"%(..)", line)) <= {"0A", "25", "3A", "2C"}


def test_a_comment_mentions_nobody_and_fits(roots):
    for kind in ROOTS:
        text = printed(roots[kind], ("--format", "markdown"))
        assert len(text) < 65_536
        outside = re.sub(r"(?s)(`+).*?\1", "", re.sub(r"\\.", "", text))
        assert not re.findall(r"@\w|#\d|https?://\w|<(?!/?details>|/?summary>)", outside)


def test_several_reports_at_once(roots, advisor):
    root = roots["quickstart"]
    names = ("sarif", "junit", "markdown", "text", "json")
    words = [f"--report={name}={root.parent / name}" for name in names]
    done = advisor("audit", *words, "--format", "github", cwd=root)
    assert done.stdout == (HERE / "quickstart.github.txt").read_text()
    for name, ending in (("sarif", "sarif"), ("markdown", "md"), ("text", "txt"), ("junit", "junit.xml")):
        assert (root.parent / name).read_text() == (HERE / f"quickstart.{ending}").read_text()
