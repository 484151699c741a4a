"""Where a name or an address leads to two clusters, the files are not joined, and the report says so."""

from __future__ import annotations

from advisor.testing import audit_texts

CLUSTER = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {{name: shop{space}}}
spec:
  kafka:
    replicas: 3
    listeners: [{{name: plain, port: 9092, type: internal, tls: false}}]
    storage: {{type: ephemeral}}
    config: {{min.insync.replicas: 2, default.replication.factor: 3}}
"""
TOPIC = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata: {{name: orders{space}, labels: {{strimzi.io/cluster: shop}}}}
spec: {{partitions: 6}}
"""


def joined(texts, topic="orders"):
    report = audit_texts(texts)
    return next(one for one in report["deployments"] if (one["topic"] or "").endswith(f"#{topic}"))


def cluster(space=""):
    return CLUSTER.format(space=f", namespace: {space}" if space else "")


def topic(space=""):
    return TOPIC.format(space=f", namespace: {space}" if space else "")


def test_the_cluster_of_the_same_namespace_is_meant():
    found = joined({"a.yaml": cluster("dev"), "b.yaml": cluster("prod"), "t.yaml": topic("prod")})
    assert found["cluster"] == ["b.yaml#shop"]
    assert found["joined_by"] == [
        "orders -> shop (prod): same label strimzi.io/cluster, namespace prod",
    ]


def test_the_nearest_cluster_is_meant():
    found = joined({"dev/kafka.yaml": cluster(), "prod/kafka.yaml": cluster(), "prod/topics/t.yaml": topic()})
    assert found["cluster"] == ["prod/kafka.yaml#shop"]


def test_two_clusters_as_near_are_told():
    found = joined({"dev/kafka.yaml": cluster(), "prod/kafka.yaml": cluster(), "topics/t.yaml": topic()})
    assert found["cluster"] == []
    assert found["joined_by"] == [
        "orders is joined with no cluster: 2 clusters (dev/kafka.yaml, prod/kafka.yaml) called shop",
    ]


def test_two_files_that_claim_one_listener_are_told():
    broker = "process.roles=broker\nnode.id={}\nlisteners=PLAINTEXT://kafka:9092\nlog.dirs=/var/lib/kafka\n"
    producer = "bootstrap.servers=kafka:9092\nacks=all\nkey.serializer=x.Y\n"
    report = audit_texts(
        {
            "a/server.properties": broker.format(1),
            "b/server.properties": broker.format(2),
            "producer.properties": producer,
        }
    )
    found = next(one for one in report["deployments"] if one["producer"])
    assert found["cluster"] == []
    assert found["joined_by"] == [
        "producer is joined with no cluster: kafka:9092 is a listener of 2 clusters "
        "(a/server.properties, b/server.properties)",
    ]


def test_a_producer_of_another_cluster_is_not_given_the_one_in_sight():
    compose = (
        "services:\n  kafka:\n    image: apache/kafka:4.1.0\n    environment:\n"
        "      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://localhost:9092\n      KAFKA_NODE_ID: 1\n"
    )
    producer = "bootstrap.servers=broker-1.prod.example.com:9092\nacks=all\nkey.serializer=x.Y\n"
    report = audit_texts({"docker-compose.yml": compose, "producer.properties": producer})
    found = next(one for one in report["deployments"] if one["producer"])
    assert found["cluster"] == []


def test_a_topic_without_replicas_takes_the_clusters_default():
    producer = "bootstrap.servers=shop-kafka-bootstrap:9092\nacks=all\nkey.serializer=x.Y\n"
    found = joined({"kafka.yaml": cluster(), "topic.yaml": topic(), "producer.properties": producer})
    assert found["headline"] == {"survives_lost": 1, "writes_with_away": 1}


COMPOSE = """\
services:
  kafka:
    image: confluentinc/cp-kafka:7.5.0
    environment:
      KAFKA_BROKER_ID: 1
      KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
  zookeeper:
    image: confluentinc/cp-zookeeper:7.5.0
  connect:
    image: confluentinc/cp-kafka-connect:7.5.0
    environment:
      CONNECT_BOOTSTRAP_SERVERS: kafka:9092
      CONNECT_GROUP_ID: copy
      CONNECT_CONFIG_STORAGE_TOPIC: configs
"""


def test_a_worker_belongs_to_the_brokers_of_its_file():
    report = audit_texts({"a/docker-compose.yml": COMPOSE, "b/docker-compose.yml": COMPOSE})
    workers = [one for one in report["deployments"] if one["groups"]]
    assert [one["cluster"] for one in workers] == [
        ["a/docker-compose.yml#kafka"],
        ["b/docker-compose.yml#kafka"],
    ]


def test_a_chart_that_runs_one_broker_unless_told_otherwise_is_for_development():
    resources = cluster().replace("replicas: 3", "replicas: {{ .Values.kafka.replicas }}") + "---\n" + topic()
    values = "kafka:\n  replicas: 1\n"
    for text, profile in ((values, "dev"), (values.replace("1", "3"), "prod")):
        found = joined({"chart/values.yaml": text, "chart/templates/kafka.yaml": resources})
        assert found["profile"]["name"] == profile
