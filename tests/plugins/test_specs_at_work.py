"""What the plugin API documents works from end to end: aliases, a family's check, models, what is kept."""

from __future__ import annotations

import json

import pytest

HEAD = """\
from advisor.api import Accepted, ClientSpec, ModelSpec, Reason, Rejected, hookimpl
"""
FAMILY = (
    HEAD
    + """
@hookimpl
def advisor_clients():
    return [ClientSpec("swift", aliases={"swift.acks": "acks", "swift.linger": "linger.ms"},
                       keys=("swift.*",), refused="swift:refuse")]

def refuse(component, config):
    if component == "producer" and config.get("swift.mode") == "turbo":
        return Rejected((Reason("enum", ("swift.mode",), "turbo is not built in"),))
    return Accepted()
"""
)
PRODUCER = """\
bootstrap.servers=kafka:9092
key.serializer=org.apache.kafka.common.serialization.StringSerializer
value.serializer=org.apache.kafka.common.serialization.StringSerializer
swift.acks=1
swift.mode=turbo
"""

PACK_OF_ACKS = """\
[pack]
name = "swift"
schema = 1
prefix = "SW"

[[rule]]
code = "SW001"
name = "acks-stated"
severity = "warning"
message = "acks is not stated"
why = "A test."
when = { key = "producer.acks", set = false }
edits = [{ component = "producer", key = "acks", values = ["all"] }]
"""


@pytest.fixture
def swift(tmp_path):
    (tmp_path / "swift.py").write_text(FAMILY)
    (tmp_path / "producer.properties").write_text(PRODUCER)
    (tmp_path / "kafka-advisor.toml").write_text('[[client]]\npath = "*"\nfamily = "swift"\n')
    return "--plugin", "swift.py"


def findings(advisor, folder, *words):
    done = advisor("audit", ".", "--format", "json", *words, cwd=folder)
    report = json.loads(done.stdout)
    assert "KA000" not in {one["code"] for one in report["findings"]}, report["findings"]
    return {one["code"]: one for one in report["findings"]}


def test_an_alias_is_kafkas_key_for_every_rule(advisor, swift, tmp_path):
    lost = findings(advisor, tmp_path, *swift)["KA102"]
    (acks,) = [one for one in lost["settings"] if one["key"] == "acks"]
    assert acks["value"] == "1"
    assert lost["locations"][0]["line"] == 4
    shown = advisor("audit", ".", "--show-effective", *swift, cwd=tmp_path).stdout
    assert "producer.properties:4 (written as swift.acks)" in shown
    (tmp_path / "producer.properties").write_text(PRODUCER.replace("swift.acks=1", "swift.acks=all"))
    assert "KA102" not in findings(advisor, tmp_path, *swift)


def test_kafkas_own_name_beside_an_alias_is_the_one_in_force(advisor, swift, tmp_path):
    (tmp_path / "producer.properties").write_text(PRODUCER + "acks=banana\n")
    refused = findings(advisor, tmp_path, *swift)["KA006"]
    assert refused["locations"][0]["line"] == 6


def test_fix_writes_the_name_that_the_family_knows(advisor, swift, tmp_path):
    text = PRODUCER.replace("swift.mode=turbo\n", "swift.linger=2s\n")
    (tmp_path / "producer.properties").write_text(text)
    advisor("fix", ".", "--write", *swift, "--select", "KA012", cwd=tmp_path)
    text = text.replace("2s", "2000")
    assert (tmp_path / "producer.properties").read_text() == text
    # Where the setting is missing, too.
    (tmp_path / "producer.properties").write_text(
        text.replace("swift.acks=1\n", "enable.idempotence=false\n")
    )
    (tmp_path / "pack.toml").write_text(PACK_OF_ACKS)
    advisor("fix", ".", "--write", *swift, "--select", "SW001", "--rules", "pack.toml", cwd=tmp_path)
    assert "\nswift.acks=all\n" in (tmp_path / "producer.properties").read_text()


def test_what_a_family_refuses_is_a_finding_of_its_own_check(advisor, swift, tmp_path):
    refused = findings(advisor, tmp_path, *swift)["KA006"]
    assert refused["evidence"]["class"] == "start"
    assert refused["locations"][0]["line"] == 5
    # Whatever release of Kafka it is used with: none is stated, and that of the family does not matter.
    assert refused["message"].endswith("turbo is not built in (refused by swift)")
    assert refused["severity"] == "error"
    (tmp_path / "producer.properties").write_text(PRODUCER.replace("turbo", "calm"))
    assert "KA006" not in findings(advisor, tmp_path, *swift)
    # Kafka's own check is asked too.
    text = PRODUCER.replace("swift.acks=1", "swift.acks=banana").replace("turbo", "calm")
    (tmp_path / "producer.properties").write_text(text)
    assert "acks" in findings(advisor, tmp_path, *swift)["KA006"]["message"]


def test_what_librdkafka_refuses_is_not_excused_by_a_release_of_java(advisor, tmp_path):
    (tmp_path / "producer.properties").write_text("bootstrap.servers=kafka:9092\ncompression.codec=foo\n")
    (tmp_path / "kafka-advisor.toml").write_text('[[client]]\npath = "*"\nfamily = "librdkafka"\n')
    refused = findings(advisor, tmp_path)["KA006"]
    assert (refused["severity"], refused["locations"][0]["line"]) == ("error", 2)
    assert refused["message"] == "compression.codec = 'foo': must be one of none, gzip, snappy, lz4, zstd"


PARTITIONER = (
    HEAD
    + """
@hookimpl
def advisor_models():
    return [ModelSpec("partitioner", "com.example.FirstByte", "first_byte:place")]

def place(key, partitions):
    return key[-1] % partitions
"""
)
JAVA = """\
bootstrap.servers=kafka:9092
key.serializer=org.apache.kafka.common.serialization.StringSerializer
value.serializer=org.apache.kafka.common.serialization.StringSerializer
acks=all
"""
OWN = JAVA + "partitioner.class=com.example.FirstByte\n"


def two_writers(tmp_path, one, other):
    (tmp_path / "first_byte.py").write_text(PARTITIONER)
    (tmp_path / "producer-a.properties").write_text(one)
    (tmp_path / "producer-b.properties").write_text(other)
    (tmp_path / "topic-orders.properties").write_text("partitions=8\nreplication.factor=3\n")


def test_a_partitioner_of_a_plugin_is_held_against_the_other_writers(advisor, tmp_path):
    two_writers(tmp_path, OWN, JAVA)
    assert "KA303" not in findings(advisor, tmp_path, "--select", "KA303")
    told = findings(advisor, tmp_path, "--select", "KA303", "--plugin", "first_byte.py")["KA303"]
    assert told["locations"][0]["file"] == "producer-a.properties"
    assert told["locations"][0]["line"] == 5
    numbers = told["evidence"]["numbers"]
    # What the plugin's own code says of the key that is shown.
    assert numbers["producer-a"] == str(numbers["key"].encode()[-1] % int(numbers["partitions"]))
    two_writers(tmp_path, OWN, OWN)
    assert "KA303" not in findings(advisor, tmp_path, "--select", "KA303", "--plugin", "first_byte.py")


def test_a_partitioner_of_a_plugin_takes_part_in_a_comparison(advisor, tmp_path):
    (tmp_path / "first_byte.py").write_text(PARTITIONER)
    for folder, text in (("old", JAVA), ("new", OWN)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "producer.properties").write_text(text)
    words = ("compare", "old", "new", "--format", "json")
    plain = json.loads(advisor(*words, cwd=tmp_path).stdout)
    assert "KA465" not in {one["code"] for one in plain["findings"]}
    done = advisor(*words, "--plugin", "first_byte.py", cwd=tmp_path)
    (moved,) = [one for one in json.loads(done.stdout)["findings"] if one["code"] == "KA465"]
    assert "placed by com.example.FirstByte where they were placed by java" in moved["message"]


@pytest.mark.parametrize("body", ["return partitions", "return -1", "return 'x'", "exit()"])
def test_a_partitioner_that_is_wrong_is_told(advisor, tmp_path, body):
    two_writers(tmp_path, OWN, JAVA)
    source = PARTITIONER.replace("return key[-1] % partitions", body)
    (tmp_path / "first_byte.py").write_text(source)
    words = ("audit", ".", "--format", "json", "--select", "KA303", "--plugin", "first_byte.py")
    (told,) = json.loads(advisor(*words, cwd=tmp_path).stdout)["findings"]
    assert told["code"] == "KA000"
    assert "KA303" in told["message"]
    assert "FirstByte" in told["message"] or "first_byte.py" in told["message"]


CONSUMER = """\
bootstrap.servers=kafka:9092
group.id=billing
key.deserializer=org.apache.kafka.common.serialization.StringDeserializer
value.deserializer=org.apache.kafka.common.serialization.StringDeserializer
session.timeout.ms=10000
heartbeat.interval.ms=4000
partition.assignment.strategy=com.example.AllToOne
"""


def test_an_assignor_of_a_plugin_does_not_break_the_rules_about_groups(advisor, tmp_path):
    from tests.cli.test_compare import ASSIGNOR

    (tmp_path / "all_to_one.py").write_text(ASSIGNOR)
    (tmp_path / "consumer.properties").write_text(CONSUMER)
    (tmp_path / "consumer-b.properties").write_text(
        CONSUMER.replace("com.example.AllToOne", "org.apache.kafka.clients.consumer.RangeAssignor")
    )
    found = findings(advisor, tmp_path, "--profile", "prod", "--plugin", "all_to_one.py")
    assert {"KA422", "KA443"} <= found.keys()


PACKAGE = {
    "__init__.py": "from advisor.api import ModelSpec, hookimpl\n\n"
    "@hookimpl\ndef advisor_models():\n"
    '    return [ModelSpec("guarantee", "limit-kept", "limits.judge:judge")]\n',
    "judge.py": "from advisor.api import Hit, Judgement, Location\nfrom .deep.number import LIMIT\n\n"
    "def judge(deployment, context):\n"
    "    print('asked')\n"
    "    at = Location(deployment.producer.file)\n"
    "    yield Judgement('broken', Hit(at, ('acks',), {'limit': str(LIMIT)}))\n",
    "deep/__init__.py": "",
    "deep/number.py": "LIMIT = 1\n",
}
PACK = """\
[pack]
name = "limits"
schema = 1
prefix = "LI"

[[rule]]
code = "LI001"
name = "limit-passed"
severity = "warning"
guarantee = "limit-kept"
message = "the limit is {limit}"
why = "A test."
applies = { components = ["producer"] }
"""


def test_what_a_plugin_answers_is_kept_until_any_of_its_files_changes(advisor, tmp_path):
    site = tmp_path / "site"
    for name, text in PACKAGE.items():
        path = site / "limits" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    info = site / "limits-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[kafka_advisor]\nlimits = limits\n")
    home = tmp_path / "configs"
    home.mkdir()
    (home / "pack.toml").write_text(PACK)
    (home / "producer.properties").write_text(JAVA)
    env = {"PYTHONPATH": str(site), "KAFKA_ADVISOR_CACHE": str(tmp_path / "cache")}

    def told():
        words = ("audit", ".", "--rules", "pack.toml", "--select", "LI001", "--format", "json")
        done = advisor(*words, env=env, cwd=home)
        (finding,) = json.loads(done.stdout)["findings"]
        return finding["message"], "asked" in done.stderr

    assert told() == ("the limit is 1", True)
    assert told() == ("the limit is 1", False)
    # A module two folders down, of the same length.
    (site / "limits/deep/number.py").write_text("LIMIT = 2\n")
    assert told() == ("the limit is 2", True)
    assert told() == ("the limit is 2", False)


def test_two_installed_plugins_of_one_name_are_refused(advisor, tmp_path):
    for number in ("one", "two"):
        info = tmp_path / f"site/{number}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "entry_points.txt").write_text(f"[kafka_advisor]\nshop = {number}\n")
    done = advisor("plugin", "list", env={"PYTHONPATH": str(tmp_path / "site")})
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "'shop'" in done.stderr
    assert "one" in done.stderr
    assert "two" in done.stderr
