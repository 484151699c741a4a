"""`kafka-advisor compare`: a deploy, an upgrade, what is told and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from advisor.schemas import load_schema

from .telling import PRODUCER, codes, report_of, told

STRATEGY = "partition.assignment.strategy=org.apache.kafka.clients.consumer."
CONSUMER = "bootstrap.servers=kafka:9092\ngroup.id=billing\n"
SAMPLE = Path(__file__).resolve().parents[2] / "samples/compare"


def sides(folder: Path, old: str, new: str, name: str = "consumer.properties") -> None:
    for side, text in (("old", old), ("new", new)):
        (folder / side).mkdir()
        (folder / side / name).write_text(text)


def test_a_report_by_the_schema(advisor, tmp_path):
    sides(tmp_path, CONSUMER + STRATEGY + "RangeAssignor\n", CONSUMER + STRATEGY + "StickyAssignor\n")
    report = report_of(advisor("compare", "old", "new", "--format", "json", cwd=tmp_path), 1)
    jsonschema.validate(report, load_schema("report"))
    assert report["compared"]["old"]["path"] == "old"
    (finding,) = [finding for finding in report["findings"] if finding["code"] == "KA460"]
    assert finding["locations"][0] == {
        "file": "new/consumer.properties",
        "line": 3,
        "key": "partition.assignment.strategy",
    }
    assert finding["evidence"]["guarantee"] == "deploy-safe"
    assert finding["evidence"]["trace"][1]["effects"] == ["refused: INCONSISTENT_GROUP_PROTOCOL"]
    assert finding["fixes"][0]["changes"][0]["to"].endswith(
        "StickyAssignor,org.apache.kafka.clients.consumer.RangeAssignor"
    )


def test_the_fix_is_the_first_of_two_rolls(advisor, tmp_path):
    sides(
        tmp_path, CONSUMER + STRATEGY + "RangeAssignor\n", CONSUMER + STRATEGY + "CooperativeStickyAssignor\n"
    )
    report = report_of(advisor("compare", "old", "new", "--format", "json", cwd=tmp_path), 1)
    between = report["findings"][0]["fixes"][0]["changes"][0]["to"]
    (tmp_path / "between").mkdir()
    (tmp_path / "between/consumer.properties").write_text(
        f"{CONSUMER}partition.assignment.strategy={between}\n"
    )
    told(advisor("compare", "old", "between", cwd=tmp_path), 0)
    told(advisor("compare", "between", "new", cwd=tmp_path), 0)


def test_an_upgrade_tells_what_moves_and_what_is_lost_and_won(advisor, tmp_path):
    producer = PRODUCER.replace("acks=all\n", "")
    (tmp_path / "producer.properties").write_text(producer)
    words = ("--from-version", "2.8", "--to-version", "3.9", "--format", "json")
    up = report_of(advisor("compare", ".", *words, cwd=tmp_path), 0)
    moved = {f["locations"][0]["key"] for f in up["findings"] if f["code"] == "KA467"}
    assert {"acks", "enable.idempotence"} <= moved
    won = {f["message"].split()[0] for f in up["findings"] if f["code"] == "KA468"}
    assert "KA301" in won
    words = ("--from-version", "3.9", "--to-version", "2.8", "--format", "json")
    back = report_of(advisor("compare", ".", *words, cwd=tmp_path), 1)
    assert {"KA102", "KA301"} <= set(codes(back))
    assert "KA468" not in codes(back)


def test_what_a_release_refuses_is_told_as_an_audit_tells_it(advisor, tmp_path):
    (tmp_path / "consumer.properties").write_text(
        CONSUMER + "group.protocol=consumer\nsession.timeout.ms=9000\n"
    )
    words = ("compare", ".", "--from-version", "3.6", "--to-version", "4.1", "--format", "json")
    report = report_of(advisor(*words, cwd=tmp_path), 1)
    assert "KA009" in codes(report) or "KA008" in codes(report) or "KA010" in codes(report)


def test_nothing_changed_is_nothing_told(advisor, tmp_path):
    sides(tmp_path, PRODUCER, PRODUCER, "producer.properties")
    done = advisor("compare", "old", "new", "--fail-on", "note", cwd=tmp_path)
    told(done, 0)
    assert "\nno finding; read 1 file" in done.stdout


def test_files_of_other_names_are_paired_when_they_are_alone(advisor, tmp_path):
    (tmp_path / "consumer-a.properties").write_text(CONSUMER)
    (tmp_path / "consumer-b.properties").write_text(CONSUMER.replace("billing", "billing-v2"))
    report = report_of(
        advisor(
            "compare", "consumer-a.properties", "consumer-b.properties", "--format", "json", cwd=tmp_path
        ),
        1,
    )
    assert codes(report) == ["KA464"]


def test_the_other_side_is_no_context(advisor, tmp_path):
    """Both sides in one repository: a producer is not joined with the topic of the other side."""
    (tmp_path / ".git").mkdir()
    topic = "partitions=6\nreplication.factor=3\nmin.insync.replicas={}\n"
    sides(tmp_path, PRODUCER, PRODUCER, "producer.properties")
    for side, minimum in (("old", 2), ("new", 1)):
        (tmp_path / side / "topic-orders.properties").write_text(topic.format(minimum))
    report = report_of(advisor("compare", "old", "new", "--format", "json", cwd=tmp_path), 1)
    assert [deployment["topic"] for deployment in report["deployments"]] == [
        "new/topic-orders.properties#orders"
    ]
    assert "KA102" in codes(report)


def test_a_suppressed_finding_does_not_fail(advisor, tmp_path):
    renamed = "# kafka-advisor: ignore[KA464] offsets are copied\ngroup.id=other\n"
    sides(tmp_path, CONSUMER, CONSUMER.replace("group.id=billing\n", renamed))
    report = report_of(advisor("compare", "old", "new", "--format", "json", cwd=tmp_path), 0)
    assert report["findings"][0]["suppressed"]["reason"] == "offsets are copied"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("old",), "--from-version and --to-version"),
        (("old", "new", "old"), "compare two paths"),
        (("old", "missing"), "missing: no such file or folder"),
        (("old", "new", "--to-version", "x"), "x"),
    ],
)
def test_what_cannot_be_compared_is_said(advisor, tmp_path, words, expected):
    sides(tmp_path, CONSUMER, CONSUMER)
    assert expected in told(advisor("compare", *words, cwd=tmp_path), 2)


ASSIGNOR = '''\
"""An assignor of one's own: everything to the member whose id sorts first."""

from advisor.api import ModelSpec, hookimpl


@hookimpl
def advisor_models():
    return [ModelSpec("assignor", "com.example.AllToOne", "all_to_one:assign")]


def assign(members, metadata, version):
    first = min(member.id for member in members)
    everything = [(topic, n) for topic, count in metadata.partitions.items() for n in range(count)]
    return {member.id: everything if member.id == first else [] for member in members}


assign.cooperative = True
'''


def test_an_assignor_of_ones_own_takes_part_in_the_roll(advisor, tmp_path):
    own = CONSUMER + "partition.assignment.strategy=com.example.AllToOne\n"
    sides(tmp_path, own, CONSUMER + STRATEGY + "CooperativeStickyAssignor\n")
    (tmp_path / "all_to_one.py").write_text(ASSIGNOR)
    words = ("compare", "old", "new", "--plugin", "all_to_one.py", "--format", "json")
    report = report_of(advisor(*words, cwd=tmp_path), 1)
    (finding,) = [finding for finding in report["findings"] if finding["code"] == "KA460"]
    cells = finding["evidence"]["trace"][0]["state"]["cells"]
    assert cells == {
        "generation": "2",
        "strategy": "com.example.AllToOne",
        "m1": "-",
        "m2": "p0-p5",
        "m3": "nothing",
    }


def test_the_sample(advisor):
    report = report_of(
        advisor("compare", str(SAMPLE / "before"), str(SAMPLE / "after"), "--format", "json"), 1
    )
    assert codes(report) == ["KA460"]
    assert json.dumps(report).count(str(SAMPLE)) == 0


def test_a_sandbox_is_not_told_of_what_only_production_minds(advisor, tmp_path):
    both = f"{CONSUMER}{STRATEGY}CooperativeStickyAssignor,org.apache.kafka.clients.consumer.RangeAssignor\n"
    sides(tmp_path, CONSUMER + STRATEGY + "CooperativeStickyAssignor\n", both)
    words = ("compare", "old", "new", "--format", "json", "--profile")
    assert codes(report_of(advisor(*words, "prod", cwd=tmp_path), 0)) == ["KA461"]
    assert codes(report_of(advisor(*words, "dev", cwd=tmp_path), 0)) == []


def test_a_roll_that_nothing_stops_says_so(advisor, tmp_path):
    both = f"{CONSUMER}{STRATEGY}CooperativeStickyAssignor,org.apache.kafka.clients.consumer.RangeAssignor\n"
    sides(tmp_path, CONSUMER + STRATEGY + "RangeAssignor\n", both)
    done = advisor("compare", "old", "new", cwd=tmp_path)
    told(done, 0)
    assert "\nconsumer: 3 members rolled, none refused\n" in done.stdout
    report = report_of(advisor("compare", "old", "new", "--format", "json", cwd=tmp_path), 0)
    jsonschema.validate(report, load_schema("report"))
    assert report["compared"]["rolls"] == ["consumer: 3 members rolled, none refused"]
    same = report_of(advisor("compare", "old", "old", "--format", "json", cwd=tmp_path), 0)
    assert same["compared"]["rolls"] == same["compared"]["steps"] == same["compared"]["defaults"] == []


def test_a_moved_default_is_told_with_what_it_changes_and_is_not_pinned(advisor, tmp_path):
    (tmp_path / "producer.properties").write_text(PRODUCER.replace("acks=all\n", ""))
    words = ("compare", ".", "--format", "json", "--from-version")
    up = report_of(advisor(*words, "2.8", "--to-version", "3.9", cwd=tmp_path), 0)
    acks = next(one for one in up["compared"]["defaults"] if one.startswith("acks 1 -> all"))
    assert "better: KA102 is found no longer" in acks
    assert all(not one["fixes"] for one in up["findings"] if one["code"] == "KA467")
    back = report_of(advisor(*words, "3.9", "--to-version", "2.8", cwd=tmp_path), 1)
    acks = next(one for one in back["compared"]["defaults"] if one.startswith("acks all -> 1"))
    assert "worse: KA102 is found" in acks
    (pinned,) = [one for one in back["findings"] if one["locations"][0].get("key") == "acks"][:1]
    assert pinned["fixes"][0]["changes"][0]["to"] == "all"


def test_an_upgrade_comes_with_its_steps(advisor, tmp_path):
    (tmp_path / "server.properties").write_text(
        "broker.id=1\nzookeeper.connect=zk:2181\nlog.dirs=/var/kafka\n"
    )
    done = advisor("compare", ".", "--from-version", "3.6", "--to-version", "4.1", cwd=tmp_path)
    told(done, 1)
    assert "From Kafka 3.6 to 4.1, in this order:\n  1. before any broker" in done.stdout
    assert "[server.properties:1, server.properties:2]" in done.stdout
