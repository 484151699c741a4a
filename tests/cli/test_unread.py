"""Nothing is silent: a file that is Kafka's and that no format reads is named, with the reason."""

from __future__ import annotations

import pytest

from .telling import PRODUCER, report_of

BROKERS = """\
kafka_broker_custom_properties:
  min.insync.replicas: 2
  log.retention.hours: 24
"""
KAFKAS = {
    "deploy/topics.sh": "kafka-topics --bootstrap-server k:9092 \\\n  --create --topic orders\n",
    "conf/kafka.toml": '[kafka]\n"bootstrap.servers" = "k:9092"\n',
    "conf/beans.xml": '<map><entry key="bootstrap.servers" value="k:9092"/></map>\n',
    "image/Dockerfile": "FROM eclipse-temurin\nENV KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://k:9092\n",
    "roles/app.conf.j2": "{% if kafka %}\nkafka { bootstrap.servers = {{ servers }} }\n{% endif %}\n",
    "group_vars/all.yaml": BROKERS,
}
OTHERS = {
    "README.md": "Set `bootstrap.servers=k:9092`.\n",
    "dashboard.json": '{"title": "min.insync.replicas of all topics", "expr": "kafka_topic_partitions"}\n',
    "crd.yaml": "kind: CustomResourceDefinition\nspec:\n  group: kafka.strimzi.io\n",
    "start.sh": "echo bootstrap; kafka-topics --list\n",
    "pom.xml": "<artifactId>kafka-clients</artifactId>\n",
}


def placed(folder, texts):
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_every_file_of_kafkas_is_in_the_report(advisor, tmp_path):
    placed(tmp_path, {**KAFKAS, **OTHERS, "producer.properties": PRODUCER})
    report = report_of(advisor("audit", "--format", "json", "--fail-on", "never", "."), 0)
    found = {file["file"]: file for file in report["files"]}
    assert set(found) == {*KAFKAS, "producer.properties"}
    assert all(found[name]["reason"] for name in KAFKAS if found[name]["status"] != "audited")


@pytest.mark.parametrize("words", [(), ("--files",)])
def test_the_text_counts_many_and_lists_them_when_asked(advisor, tmp_path, words):
    placed(tmp_path, {f"kafka-{n}.xml": KAFKAS["conf/beans.xml"] for n in range(7)})
    placed(tmp_path, {"producer.properties": PRODUCER})
    text = advisor("audit", "--fail-on", "never", *words, ".").stdout
    assert text.count("\nskipped kafka-") + text.count("  skipped kafka-") == (7 if words else 4)
    assert ("and 3 more files of Kafka's not read: --files lists them" in text) == (not words)


def test_what_is_read_in_part_is_not_called_unread(advisor, tmp_path):
    placed(tmp_path, {f"topics-{n}.sh": KAFKAS["deploy/topics.sh"] for n in range(7)})
    text = advisor("audit", "--fail-on", "never", ".").stdout
    assert text.count("partial topics-") == 4
    assert "and 3 more files of Kafka's not read whole: --files lists them" in text


def test_a_template_is_read_as_what_it_makes(advisor, tmp_path):
    text = "process.roles=broker\nnode.id={{ id }}\nmin.insync.replicas=2\nlog.dirs={{ dir }}\n"
    placed(tmp_path, {"roles/kafka/templates/server.properties.j2": text})
    report = report_of(advisor("audit", "--format", "json", "--fail-on", "never", "."), 0)
    assert [(file["format"], file["roles"]) for file in report["files"]] == [("properties", ["broker"])]
