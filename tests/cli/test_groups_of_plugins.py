"""An assignor of a plugin takes part in what is said of one group, not only in a comparison."""

from __future__ import annotations

import json

from tests.cli.test_compare import ASSIGNOR

CONSUMER = """\
bootstrap.servers=kafka:9092
group.id=billing
key.deserializer=org.apache.kafka.common.serialization.StringDeserializer
value.deserializer=org.apache.kafka.common.serialization.StringDeserializer
auto.offset.reset=earliest
max.poll.interval.ms=3600000
partition.assignment.strategy=com.example.AllToOne
"""


def told(advisor, folder, *more):
    done = advisor("audit", "consumer.properties", "--profile", "prod", "--format", "json", *more, cwd=folder)
    report = json.loads(done.stdout)
    return {finding["code"]: finding for finding in report["findings"]}


def test_an_eager_assignor_of_a_plugin_stops_the_group(advisor, tmp_path):
    (tmp_path / "consumer.properties").write_text(CONSUMER)
    (tmp_path / "all_to_one.py").write_text(ASSIGNOR.replace("cooperative = True", "cooperative = False"))
    assert "KA432" not in told(advisor, tmp_path)
    stuck = told(advisor, tmp_path, "--plugin", "all_to_one.py")["KA432"]
    owners = [step["state"]["cells"] for step in stuck["evidence"]["trace"]]
    # The plugin gives everything to the first member, which Kafka's assignors never do.
    assert {"m0": "-", "m1": "p0 p1 p2", "m2": "-"} in owners


def test_a_cooperative_one_does_not(advisor, tmp_path):
    (tmp_path / "consumer.properties").write_text(CONSUMER)
    (tmp_path / "all_to_one.py").write_text(ASSIGNOR)
    assert "KA432" not in told(advisor, tmp_path, "--plugin", "all_to_one.py")
