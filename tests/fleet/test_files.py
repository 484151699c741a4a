"""Folders of files: what `audit` says, for every root below them."""

from __future__ import annotations

import json

import generate
import pytest

from advisor.fleet import audit_fleet
from advisor.fleet.owners import codeowners, path_pattern
from advisor.model import UsageError


def places(report):
    return sorted(
        (f["code"], f["deployment"] or "", f["locations"][0]["file"], f["locations"][0]["line"] or 0)
        for f in report["findings"]
    )


def test_the_same_findings_as_audit(spark, advisor, samples, tmp_path):
    """Every sample, a folder of services made by the generator, and a file that cannot be read."""
    generate.write_files(samples / "made", 6, 40)
    (samples / "quickstart/CODEOWNERS").write_text("* @payments\n")
    (samples / "application.yml").write_text("spring:\n  kafka: {a: [\n")
    report = json.loads(advisor("audit", "--format", "json", samples).stdout)
    result = audit_fleet(spark, str(samples), str(tmp_path / "out"))
    rows = spark.read.parquet(f"{result.folder}/findings").collect()
    found = sorted(
        (r["code"], r["deployment"] or "", r["file"], r["line"] or 0) for r in rows if r["code"] != "KA001"
    )
    assert found == [place for place in places(report) if place[0] != "KA001"]
    assert {row["owner"] for row in rows if row["root"] == "quickstart"} == {"payments"}
    good = [file["file"] for file in report["files"] if file["status"] != "skipped"]
    assert result.summary["rows"]["audited"] == len(good)
    kept = spark.read.parquet(f"{result.folder}/quarantine").collect()
    assert [row["file"] for row in kept] == ["application.yml"]
    assert result.summary["deployments"] == len(report["deployments"])


def test_nothing_to_audit_is_told(spark, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/readme.properties").write_text("colour=green\n")
    with pytest.raises(UsageError, match="nothing could be audited"):
        audit_fleet(spark, str(tmp_path / "in"), str(tmp_path / "out"))


@pytest.mark.parametrize(
    ("pattern", "path", "owner"),
    [
        ("{team}/{service}/**", "pay/checkout/x.properties", "pay"),
        ("repos/*/{owner}/*", "repos/a/ops/x.yml", "ops"),
        ("{team}/**", "x.yml", "(nobody)"),
    ],
)
def test_owner_by_path(pattern, path, owner):
    assert path_pattern(pattern).of(path) == owner


def test_owner_by_codeowners():
    owners = codeowners("* @all\n/kafka/ @platform  # ours\n*.yml @yaml\nkafka/legacy/\n")
    assert owners.of("src/a.properties") == "all"
    assert owners.of("kafka/a.properties") == "platform"
    assert owners.of("src/kafka/a.properties") == "all"
    assert owners.of("kafka/a.yml") == "yaml"
    assert owners.of("kafka/legacy/a.yml") == "(nobody)"
    with pytest.raises(UsageError, match="owner once"):
        path_pattern("*/x")
