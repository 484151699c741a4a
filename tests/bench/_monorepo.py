"""A repository of many services, as a generator writes it: for each service an application file and a topic,
one cluster for all. Every file is YAML, so that yamllint reads the very same tree."""

from __future__ import annotations

from pathlib import Path

_CLUSTER = """\
---
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata:
  name: events
spec:
  kafka:
    version: 4.1.0
    replicas: 5
    listeners:
      - name: plain
        port: 9092
        type: internal
        tls: false
    config:
      default.replication.factor: 3
      min.insync.replicas: 2
      offsets.topic.replication.factor: 3
      transaction.state.log.replication.factor: 3
      transaction.state.log.min.isr: 2
"""


def application_text(number: int, topic: str) -> str:
    """Names of its own, settings out of a few choices; one service in eight writes with acks=1."""
    choice = number % 4
    acks = '"1"' if number % 8 == 5 else "all"
    return f"""\
---
# service {number}
spring:
  application:
    name: service-{number:05}
  kafka:
    bootstrap-servers: events-kafka-bootstrap:9092
    producer:
      client-id: service-{number:05}
      acks: {acks}
      compression-type: lz4
      batch-size: {(16384, 32768, 65536, 131072)[choice]}
    consumer:
      auto-offset-reset: earliest
      enable-auto-commit: false
      max-poll-records: {(100, 200, 500, 1000)[choice]}
  cloud:
    stream:
      kafka:
        binder:
          brokers: events-kafka-bootstrap:9092
          required-acks: {acks}
      bindings:
        handle-out-0:
          destination: {topic}
        handle-in-0:
          destination: {topic}
          group: service-{number:05}
"""


def topic_text(topic: str, number: int) -> str:
    return f"""\
---
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata:
  name: {topic}
  labels:
    strimzi.io/cluster: events
spec:
  partitions: {(6, 12, 24, 48)[number % 4]}
  replicas: 3
  config:
    min.insync.replicas: {1 if number % 16 == 9 else 2}
    retention.ms: {(86400000, 259200000, 604800000, 1209600000)[number % 4]}
    cleanup.policy: delete
"""


def write_repo(folder: Path, services: int, one_topic: bool) -> int:
    """The repository, and how many files it has."""
    (folder / "cluster").mkdir(parents=True)
    (folder / "cluster" / "kafka.yaml").write_text(_CLUSTER)
    files = 1
    for number in range(services):
        home = folder / "services" / f"service-{number:05}"
        home.mkdir(parents=True)
        topic = "all-events" if one_topic else f"events-{number:05}"
        (home / "application.yml").write_text(application_text(number, topic))
        files += 1
        if not one_topic or number == 0:
            (home / "topic.yaml").write_text(topic_text(topic, number))
            files += 1
    return files
