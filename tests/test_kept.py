"""Answers that are kept: the same report from the cache, and never an old one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.find import asker as asking
from advisor.find.reuse.outcomes import NotKept, as_json, from_json
from advisor.model import Evidence, Finding, Location, Origin, Secret, Setting, Unknown
from advisor.testing import audit_paths

TOPIC = "partitions=3\nreplication.factor=3\nmin.insync.replicas={minimum}\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KAFKA_ADVISOR_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "kafka-advisor.toml").write_text('kafka_version = "3.9"\nprofile = "prod"\n')
    (folder / "producer.properties").write_text("bootstrap.servers=kafka:9092\nacks=1\n")
    (folder / "topic-orders.properties").write_text(TOPIC.format(minimum=2))
    return folder


def codes(report: dict[str, object]) -> list[str]:
    return [finding["code"] for finding in report["findings"]]  # type: ignore[index,attr-defined]


def test_the_second_report_is_the_first_and_nothing_is_asked(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = audit_paths([str(repo)])
    first = audit_paths([str(repo)], cache=True)
    monkeypatch.setattr(asking.Asker, "_ask_guarantees", None)
    assert audit_paths([str(repo)], cache=True) == first == alone
    assert "KA101" in codes(first)


def test_another_value_rule_or_profile_is_asked_anew(repo: Path) -> None:
    assert "KA101" in codes(audit_paths([str(repo)], cache=True))
    assert "KA101" not in codes(audit_paths([str(repo)], cache=True, sets=["producer.acks=all"]))
    assert "KA101" not in codes(audit_paths([str(repo)], cache=True, ignore=["KA101"]))
    assert "KA101" not in codes(audit_paths([str(repo)], cache=True, profile="dev"))
    (repo / "producer.properties").write_text("bootstrap.servers=kafka:9092\nacks=all\n")
    (repo / "topic-orders.properties").write_text(TOPIC.format(minimum=1))
    assert "KA102" in codes(audit_paths([str(repo)], cache=True))
    (repo / "topic-orders.properties").write_text("# moved down a line\n" + TOPIC.format(minimum=1))
    (found,) = [f for f in audit_paths([str(repo)], cache=True)["findings"] if f["code"] == "KA102"]
    assert found["locations"][0]["line"] == 4


def test_a_torn_entry_is_asked_anew(repo: Path, tmp_path: Path) -> None:
    first = audit_paths([str(repo)], cache=True)
    for path in (tmp_path / "cache").rglob("answer/*.json"):
        whole = path.read_text()
        path.write_text(whole[:100])
        assert audit_paths([str(repo)], cache=True) == first
        path.write_text(whole.replace('"findings"', '"fundings"'))
        assert audit_paths([str(repo)], cache=True) == first


def finding(value: str | Secret | Unknown) -> Finding:
    setting = Setting("sasl.jaas.config", value, Origin("file", Location("a.properties", 3)))
    return Finding(
        "KA101", "x", "error", "m", Location("a.properties"), "r", ("k",), (("producer", setting),)
    )


@pytest.mark.parametrize("value", ["plain", Unknown("${ACKS}")], ids=str)
def test_a_finding_comes_back(value: str | Unknown) -> None:
    found = (finding(value), finding(value)._replace(evidence=Evidence("trace", trace=({"step": 1},))))
    kept = json.loads(json.dumps(as_json(found, {})))
    assert repr(from_json(kept)) == repr((found, {}))


def test_a_secret_is_never_kept() -> None:
    with pytest.raises(NotKept):
        as_json((finding(Secret("hunter2")),), {})
