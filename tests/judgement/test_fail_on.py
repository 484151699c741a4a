"""`--fail-on unknown`: a build that must not rest on what nobody can see."""

from __future__ import annotations

import pytest

SANE = "bootstrap.servers=kafka-1:9092,kafka-2:9092\nacks=all\n"
TOPIC = "partitions=12\nreplication.factor=3\nmin.insync.replicas=2\nunclean.leader.election.enable=false\n"


@pytest.mark.parametrize(
    ("files", "level", "code"),
    [
        (
            {"producer.properties": SANE + "delivery.timeout.ms=30000\n"},
            "note",
            1,
        ),  # refused by 4.0 and later
        ({"producer.properties": SANE}, "warning", 0),
        ({"producer.properties": SANE}, "unknown", 1),
        ({"producer.properties": SANE, "topic-orders.properties": TOPIC}, "unknown", 0),
        ({"producer.properties": SANE, "topic-orders.properties": TOPIC + "retention=1\n"}, "unknown", 1),
    ],
)
def test_what_is_unknown_fails_only_when_asked(advisor, tmp_path, files, level, code):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert advisor("audit", "--fail-on", level, ".").returncode == code
    (tmp_path / "kafka-advisor.toml").write_text(f'fail_on = "{level}"\n')
    assert advisor("audit", ".").returncode == code
