"""Acme's policy as its services see it: installed beside kafka-advisor, and nothing else."""

import shutil
from pathlib import Path

import pytest

from advisor.testing import events, finding_of, places, rule_examples

HOME = Path(__file__).parents[1]
INTAKE = HOME / "intake"


@pytest.mark.parametrize("example", rule_examples("acme-policy"), ids=str)
def test_an_example_of_a_rule(example):
    example.check()


def test_what_the_sample_shows(kafka_advisor):
    report = kafka_advisor.audit(INTAKE, select=["ACME"])
    assert places(report) == ["ACME001 shop.intake.yml:6", "ACME003 shop.intake.yml:14"]
    assert "crash b0" in events(finding_of(report, "ACME001"))
    assert finding_of(report, "ACME003")["advice"]


def test_built_in_rules_are_as_the_policy_wants_them(kafka_advisor):
    listed = kafka_advisor.command("rules", "--format", "json").stdout
    assert '"ACME001"' in listed
    report = kafka_advisor.audit(INTAKE, profile="dev")
    assert "KA102" in {code for one in report["findings"] for code in (one["code"], *one["covers"])}


def test_fix_changes_the_file_and_nothing_else(kafka_advisor, tmp_path):
    shutil.copy(INTAKE / "shop.intake.yml", tmp_path)
    kafka_advisor.command("fix", "--write", "--select", "ACME001", ".")
    before = (INTAKE / "shop.intake.yml").read_text()
    assert (tmp_path / "shop.intake.yml").read_text() == before.replace("acks: 1\n", "acks: all\n")


def test_the_tickets(kafka_advisor):
    done = kafka_advisor.command("audit", INTAKE, "--format", "acme-tickets", "--select", "ACME")
    assert done.returncode == 1, done.stderr
    kafka_advisor.golden("tickets.txt", done.stdout)


def test_a_service_without_a_name(kafka_advisor):
    report = kafka_advisor.audit_texts({"a.intake.yml": "acme: intake/v1\nclient: {acks: 1}\n"})
    assert places(report) == ["KA001 a.intake.yml:1"]


def test_nothing_is_wrong_with_the_plugin(kafka_advisor):
    done = kafka_advisor.command("plugin", "check", HOME)
    assert done.returncode == 0, done.stdout + done.stderr
