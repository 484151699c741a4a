"""Several groups read one topic: each is mended in its own file, whatever is wrong with the others."""

from __future__ import annotations

import json

import pytest

from .test_command import place

CONSUMER = """\
bootstrap.servers=kafka:9092
group.id={name}
max.poll.records={records}
enable.auto.commit=false
auto.offset.reset=earliest
key.deserializer=org.apache.kafka.common.serialization.StringDeserializer
value.deserializer=org.apache.kafka.common.serialization.StringDeserializer
"""
PROJECT = """\
profile = "prod"
kafka_version = "3.9"
[workload]
processing_ms = 500
[[deployment]]
topic = "orders"
groups = ["a.consumer", "b.consumer", "c.consumer"]
"""


@pytest.mark.parametrize("slow", ["a", "b", "c", "ac", "bc", "abc"])
def test_each_group_has_a_fix_of_its_own(advisor, tmp_path, slow):
    files = {
        f"{name}.consumer.properties": CONSUMER.format(name=name, records=2000 if name in slow else 50)
        for name in "abc"
    }
    repo = place(
        tmp_path / "repo",
        {**files, "orders.topic.properties": "min.insync.replicas=2\n", "kafka-advisor.toml": PROJECT},
    )
    report = json.loads(advisor("audit", repo, "--select", "KA421", "--format", "json").stdout)
    changed = {
        finding["locations"][0]["file"]: [
            (change["file"], change["key"], change["to"]) for change in finding["fixes"][0]["changes"]
        ]
        for finding in report["findings"]
    }
    wanted = [f"{name}.consumer.properties" for name in slow]
    assert changed == {file: [(file, "max.poll.records", "250")] for file in wanted}
    advisor("fix", repo, "--select", "KA421", "--write")
    after = json.loads(advisor("audit", repo, "--select", "KA421", "--format", "json").stdout)
    assert after["findings"] == []
    for file, text in files.items():
        assert ((repo / file).read_text() == text) == (file not in wanted)
