"""Where a new setting goes, and how it is spelt there: each format's own way, beside what is there."""

from __future__ import annotations

import pytest

from advisor.edit.steps import CannotEdit, EditStep
from advisor.model import Document, Source
from advisor.registry import function, load_registry

FORMATS = {spec.name: spec for spec in load_registry().formats}


def source(file: str, text: str) -> Source:
    return Source(file, text, lambda path: None)


def documents(name: str, file: str, text: str) -> list[Document]:
    return list(function(FORMATS[name].load, "loaded")(source(file, text)).documents)


def added(name: str, file: str, text: str, document: int, key: str, value: str) -> str:
    """The text with a setting added for one of its documents, which then has it."""
    found = documents(name, file, text)[document]
    after = function(FORMATS[name].edit, "text")(source(file, text), found, EditStep("add", key, value))
    now = documents(name, file, after)[document]
    assert {one.key: one.value for one in now.settings}[key] == value
    assert [
        one for one in now.settings if one.key != key and one.value not in [x.value for x in found.settings]
    ] == []
    return after


BROKER = """\
services:
  kafka:
    image: {image}
    environment:
      {first}NODE_ID: 1
      {first}PROCESS_ROLES: broker   # no controller
    ports: ["9092:9092"]
"""


@pytest.mark.parametrize(
    ("image", "first"),
    [
        ("bitnami/kafka:3.6", "KAFKA_CFG_"),
        ("apache/kafka:4.1.0", "KAFKA_"),
        ("confluentinc/cp-kafka:7.9.0", "KAFKA_"),
    ],
)
def test_compose_spells_as_the_image_reads(image, first):
    text = BROKER.format(image=image, first=first)
    after = added("compose", "docker-compose.yml", text, 0, "min.insync.replicas", "2")
    line = "   # no controller\n"
    assert after == text.replace(line, f"{line}      {first}MIN_INSYNC_REPLICAS: 2\n")


def test_compose_quotes_what_compose_would_refuse():
    text = BROKER.format(image="apache/kafka:4.1.0", first="KAFKA_")
    after = added("compose", "docker-compose.yml", text, 0, "unclean.leader.election.enable", "false")
    assert '      KAFKA_UNCLEAN_LEADER_ELECTION_ENABLE: "false"\n' in after


def test_compose_list_form_keeps_its_quotes():
    text = (
        "services:\n  kafka:\n    image: apache/kafka:4.1.0\n    environment:\n"
        "    - 'KAFKA_NODE_ID=1'\n    - 'KAFKA_PROCESS_ROLES=broker'  # only\n    tty: true\n"
    )
    after = added("compose", "docker-compose.yml", text, 0, "min.insync.replicas", "2")
    assert after == text.replace("# only\n", "# only\n    - 'KAFKA_MIN_INSYNC_REPLICAS=2'\n")


def test_compose_flow_list():
    flow = "{image: apache/kafka:4.1.0, environment: [KAFKA_NODE_ID=1, KAFKA_PROCESS_ROLES=broker]}"
    text = f"services:\n  kafka: {flow}"
    after = added("compose", "docker-compose.yml", text, 0, "min.insync.replicas", "2")
    assert after == text.replace("=broker]", "=broker, KAFKA_MIN_INSYNC_REPLICAS=2]")


def test_compose_adds_once_where_services_share():
    text = """\
x-env: &env
  KAFKA_PROCESS_ROLES: broker
  KAFKA_LISTENERS: PLAINTEXT://:9092
services:
  kafka-1:
    image: apache/kafka:4.1.0
    environment: {<<: *env, KAFKA_NODE_ID: 1}
  kafka-2:
    image: apache/kafka:4.1.0
    environment:
      <<: *env
      KAFKA_NODE_ID: 2
"""
    after = added("compose", "docker-compose.yml", text, 1, "min.insync.replicas", "2")
    assert after == text.replace("://:9092\n", "://:9092\n  KAFKA_MIN_INSYNC_REPLICAS: 2\n")
    values = [
        {one.key: one.value for one in found.settings} for found in documents("compose", "c.yml", after)
    ]
    assert [value["min.insync.replicas"] for value in values] == ["2", "2"]


def test_compose_makes_an_environment():
    text = "services:\n  kafka:\n    image: apache/kafka:4.1.0\n    ports:\n      - 9092:9092\nvolumes: {}\n"
    after = added("compose", "docker-compose.yml", text, 0, "min.insync.replicas", "2")
    new = "      - 9092:9092\n    environment:\n      KAFKA_MIN_INSYNC_REPLICAS: 2\n"
    assert after == text.replace("      - 9092:9092\n", new)


STRIMZI = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata:
  name: orders
spec:
  partitions: 12{config}
"""


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("\n  replicas: 3", "\n  replicas: 3\n  config:\n    min.insync.replicas: 2"),
        ("\n  config: {}", "\n  config: {min.insync.replicas: 2}"),
        ("\n  config:", "\n  config:\n    min.insync.replicas: 2"),
        ("\n  config: {retention.ms: 1}", "\n  config: {retention.ms: 1, min.insync.replicas: 2}"),
        (
            "\n  config:\n    a: 1\n\n    # why\n    b: |\n      x\n  replicas: 3",
            "\n  config:\n    a: 1\n\n    # why\n    b: |\n      x\n    min.insync.replicas: 2"
            "\n  replicas: 3",
        ),
        (
            "\n  config:\n    unclean.leader.election.enable: false\n    retention.ms: 1",
            "\n  config:\n    unclean.leader.election.enable: false\n    min.insync.replicas: 2"
            "\n    retention.ms: 1",
        ),
    ],
)
def test_strimzi_config(config, expected):
    after = added("strimzi", "t.yaml", STRIMZI.format(config=config), 0, "min.insync.replicas", "2")
    assert after == STRIMZI.format(config=expected)


def test_strimzi_keeps_resources_apart():
    text = STRIMZI.format(config="") + "---\n" + STRIMZI.format(config="").replace("orders", "bills")
    after = added("strimzi", "t.yaml", text, 1, "min.insync.replicas", "2")
    assert after == text + "  config:\n    min.insync.replicas: 2\n"


def test_strimzi_broker_config():
    text = (
        "apiVersion: kafka.strimzi.io/v1beta2\r\nkind: Kafka\r\nmetadata: {name: shop}\r\nspec:\r\n"
        "  kafka:\r\n    replicas: 3\r\n    config:\r\n      log.retention.hours: 1"
    )
    after = added("strimzi", "t.yaml", text, 0, "min.insync.replicas", "2")
    assert after == text + "\r\n      min.insync.replicas: 2"


SPRING = "spring:\n  kafka:\n    bootstrap-servers: kafka:9092\n"


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("    producer:\n      retries: 3\n", "acks", "    producer:\n      retries: 3\n      acks: all\n"),
        (
            "    producer:\n      retries: 3\n    consumer: {}\n",
            "enable.idempotence",
            "    producer:\n      retries: 3\n      properties:\n        enable.idempotence: all\n"
            "    consumer: {}\n",
        ),
        (
            "    producer:\n      properties:\n        linger.ms: 5   # wait\n      retries: 3\n",
            "enable.idempotence",
            "    producer:\n      properties:\n        linger.ms: 5   # wait\n"
            "        enable.idempotence: all\n      retries: 3\n",
        ),
        (
            "    producer: {retries: 3, properties: {linger.ms: 5}}\n",
            "enable.idempotence",
            "    producer: {retries: 3, properties: {linger.ms: 5, enable.idempotence: all}}\n",
        ),
        (
            "    producer: {retries: 3}\n",
            "enable.idempotence",
            "    producer: {retries: 3, properties: {enable.idempotence: all}}\n",
        ),
        (
            "    template:\n      default-topic: orders\n",
            "acks",
            "    template:\n      default-topic: orders\n    producer:\n      acks: all\n",
        ),
        ("    producer.retries: 3\n", "acks", "    producer.retries: 3\n    producer:\n      acks: all\n"),
    ],
)
def test_spring_yaml(text, key, expected):
    assert added("spring", "application.yml", SPRING + text, 0, key, "all") == SPRING + expected


def test_spring_yaml_of_whole_names():
    text = "spring.kafka.bootstrap-servers: kafka:9092\nspring.kafka.producer.retries: 3\nserver.port: 80\n"
    after = added("spring", "application.yml", text, 0, "acks", "all")
    assert after == text.replace("retries: 3\n", "retries: 3\nspring.kafka.producer.acks: all\n")


def test_spring_profile_gets_its_own():
    profile = "spring:\n  config.activate.on-profile: bulk\n  kafka:\n    producer:\n      retries: 0\n"
    text = SPRING + "    producer:\n      acks: all\n---\n" + profile
    found = documents("spring", "application.yml", text)
    place = next(number for number, one in enumerate(found) if "bulk" in one.name)
    after = added("spring", "application.yml", text, place, "enable.idempotence", "false")
    assert after == text + "      properties:\n        enable.idempotence: false\n"


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("spring.kafka.producer.retries = 3\n", "acks", "spring.kafka.producer.acks = all\n"),
        (
            "spring.kafka.producer.properties.linger.ms=3\n",
            "enable.idempotence",
            "spring.kafka.producer.properties.enable.idempotence=all\n",
        ),
        ("SPRING.KAFKA.PRODUCER.retries: 3\n", "acks", "SPRING.KAFKA.PRODUCER.acks: all\n"),
    ],
)
def test_spring_properties(text, key, line):
    text = "server.port=80\nspring.kafka.bootstrap-servers=kafka:9092\n" + text
    after = added(
        "spring", "application.properties", text + "spring.kafka.consumer.group-id=x\n", 0, key, "all"
    )
    assert after == text + line + "spring.kafka.consumer.group-id=x\n"


def test_spring_properties_of_a_profile():
    profile = "spring.config.activate.on-profile=bulk\nspring.kafka.producer.retries=0"
    text = "spring.kafka.producer.acks=all\n#---\n" + profile
    found = documents("spring", "application.properties", text)
    place = next(number for number, one in enumerate(found) if "bulk" in one.name)
    after = added("spring", "application.properties", text, place, "batch.size", "0")
    assert after == text + "\nspring.kafka.producer.batch-size=0"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a=1\nacks=all\nb=2\n", "a=1\nacks=all\nenable.idempotence=true\nb=2\n"),
        ("acks = all\r\n\r\n# end\r\n", "acks = all\r\nenable.idempotence = true\r\n\r\n# end\r\n"),
        ("acks all", "acks all\nenable.idempotence=true"),
        ("  acks: \\\n  all\nb: 1\n", "  acks: \\\n  all\n  enable.idempotence: true\nb: 1\n"),
    ],
)
def test_properties(text, after):
    found = Document("p.properties", "properties", "producer", "p", ())
    step = EditStep("add", "enable.idempotence", "true")
    assert function(FORMATS["properties"].edit, "text")(source("p.properties", text), found, step) == after


def test_env_file():
    text = "# broker\nKAFKA_CFG_NODE_ID=1\nKAFKA_CFG_LISTENERS=PLAINTEXT://:9092\nTZ=UTC\n"
    found = Document("kafka.env", "envfile", "broker", "kafka.env", ())
    step = EditStep("add", "min.insync.replicas", "2")
    after = function(FORMATS["envfile"].edit, "text")(source("kafka.env", text), found, step)
    assert after == text.replace("TZ=", "KAFKA_CFG_MIN_INSYNC_REPLICAS=2\nTZ=")


@pytest.mark.parametrize(
    ("name", "file", "text", "line"),
    [
        ("properties", "p.properties", "acks=${ACKS}\n", 1),
        ("spring", "application.yml", "spring:\n  kafka:\n    producer:\n      acks: ${ACKS:1}\n", 4),
        ("spring", "application.yml", "spring:\n  kafka:\n    producer:\n      acks: @acks@\n", 4),
        ("compose", "compose.yml", "services:\n  k:\n    environment:\n      KAFKA_ACKS: ${A:-1}\n", 4),
        ("compose", "compose.yml", "services:\n  k:\n    environment:\n      - KAFKA_ACKS=${A:-1}\n", 4),
        ("compose", "compose.yml", "services:\n  k:\n    environment:\n      - KAFKA_ACKS\n", 4),
        ("strimzi", "t.yaml", STRIMZI.format(config="\n  config:\n    acks: ${A}"), 8),
        ("envfile", "x.env", "KAFKA_ACKS=$ACKS\n", 1),
    ],
)
def test_what_is_filled_in_elsewhere_is_never_edited(name, file, text, line):
    found = Document(file, name, "broker", "k", ())
    with pytest.raises(CannotEdit, match=r"filled in elsewhere|from the shell"):
        function(FORMATS[name].edit, "text")(source(file, text), found, EditStep("set", "acks", "all", line))


WORKLOAD = """\
kind: Deployment
metadata: {name: billing}
spec:
  template:
    spec:
      containers:
      - env:
        - name: SPRING_KAFKA_CONSUMER_GROUP_ID
          value: billing  # kafka
        - name: LOG
          value: info
"""


def test_kubernetes_takes_text_only():
    after = added("kubernetes", "billing.yaml", WORKLOAD, 0, "enable.auto.commit", "false")
    line = "          value: billing  # kafka\n"
    new = '        - name: SPRING_KAFKA_CONSUMER_PROPERTIES_ENABLE_AUTO_COMMIT\n          value: "false"\n'
    assert after == WORKLOAD.replace(line, line + new)


def test_kubernetes_has_no_variable_for_some_keys():
    with pytest.raises(CannotEdit, match="lost on the way"):
        added("kubernetes", "billing.yaml", WORKLOAD, 0, "my-own.key", "1")
