"""Docker Compose and env files: golden cases, names, interpolation, and texts that are broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_advisor_plugins.formats.containers import compose, envfile
from kafka_advisor_plugins.formats.containers.compose_env import interpolate
from kafka_advisor_plugins.formats.containers.envfile import parse_env
from kafka_advisor_plugins.formats.containers.image_names import Image, base_image, classify, guess
from kafka_advisor_plugins.formats.containers.images import Variable, read_environment

from advisor.model import LoadError, Source
from tests.formats import runner


@pytest.mark.parametrize("case", runner.cases("compose"), ids=lambda case: case.name)
def test_compose_case(case: Path) -> None:
    runner.check(case, compose.load, compose.claim)


@pytest.mark.parametrize("case", runner.cases("envfile"), ids=lambda case: case.name)
def test_envfile_case(case: Path) -> None:
    runner.check(case, envfile.load, envfile.claim)


@pytest.mark.parametrize(
    ("reference", "family", "version"),
    [
        ("apache/kafka:3.9.1", "apache", "3.9.1"),
        ("apache/kafka-native:4.0.0", "apache", "4.0.0"),
        ("apache/kafka:latest", "apache", None),
        ("apache/kafka", "apache", None),
        ("docker.io/apache/kafka:4.1.0@sha256:abc", "apache", "4.1.0"),
        ("confluentinc/cp-kafka:5.0.1", "confluent", "2.0"),
        ("confluentinc/cp-kafka:5.5.0", "confluent", "2.5"),
        ("confluentinc/cp-kafka:6.0.0", "confluent", "2.6"),
        ("confluentinc/cp-server:6.2.1", "confluent", "2.8"),
        ("confluentinc/cp-kafka:7.9.0-1-ubi8", "confluent", "3.9"),
        ("confluentinc/cp-server:8.2.0", "confluent", "4.2"),
        ("localhost:5000/mirror/confluentinc/cp-kafka:7.0.0", "confluent", "3.0"),
        ("localhost:5000/confluentinc/cp-kafka", "confluent", None),
        ("confluentinc/cp-kafka:${TAG}", "confluent", None),
        ("bitnami/kafka:3.9", "bitnami", "3.9"),
        ("bitnamilegacy/kafka:3.9.0-debian-12-r3", "bitnami", "3.9.0"),
        ("bitnami/kafka:3", "bitnami", None),
        ("wurstmeister/kafka:2.13-2.8.1", "wurstmeister", "2.8.1"),
        ("wurstmeister/kafka:latest", "wurstmeister", None),
        ("debezium/kafka:2.7", "debezium", "3.7"),
        ("debezium/kafka:latest", "debezium", None),
        ("quay.io/strimzi/kafka:latest-kafka-4.1.0", "strimzi", "4.1.0"),
    ],
)
def test_broker_images(reference: str, family: str, version: str | None) -> None:
    # What apache/kafka and cp-kafka are given by variables is all that Kafka gets.
    assert classify(reference) == Image(family, "broker", version, bare=family in ("apache", "confluent"))


def test_an_image_with_a_configuration_of_its_own() -> None:
    assert classify("confluentinc/confluent-local:7.5.0") == Image("confluent", "broker", "3.5", bare=False)


@pytest.mark.parametrize(
    "reference",
    ["provectuslabs/kafka-ui", "confluentinc/cp-zookeeper:7.0.0", "shop/kafka", "kafka", "", "${IMAGE}"],
)
def test_other_images(reference: str) -> None:
    assert classify(reference) is None


@pytest.mark.parametrize(
    ("family", "variable", "key"),
    [
        ("apache", "KAFKA_MIN_INSYNC_REPLICAS", "min.insync.replicas"),
        ("apache", "KAFKA_A__B", "a_b"),
        ("apache", "KAFKA_A___B", "a-b"),
        (
            "confluent",
            "KAFKA_LISTENER_NAME_SASL__SSL_SSL_CLIENT_AUTH",
            "listener.name.sasl_ssl.ssl.client.auth",
        ),
        ("confluent", "KAFKA_A___B_C", "a-b.c"),
        ("confluent", "KAFKA_ZOOKEEPER_CLIENT_CNXN_SOCKET", "zookeeper.clientCnxnSocket"),
        ("confluent", "KAFKA_JMX_PORT", None),
        (
            "bitnami",
            "KAFKA_CFG_LISTENER_NAME_SASL_SSL_MAX_CONNECTIONS",
            "listener.name.sasl_ssl.max.connections",
        ),
        ("bitnami", "KAFKA_CFG_ZOOKEEPER_CLIENTCNXNSOCKET", "zookeeper.clientCnxnSocket"),
        ("bitnami", "KAFKA_KRAFT_CLUSTER_ID", None),
        ("wurstmeister", "KAFKA_LOG_DIRS", "log.dirs"),
        ("debezium", "ZOOKEEPER_CONNECT", "zookeeper.connect"),
    ],
)
def test_keys(family: str, variable: str, key: str | None) -> None:
    found = read_environment(Image(family, "broker"), [Variable(variable, "v", "f", 1)])
    assert [item.key for item in found.settings] == ([] if key is None else [key])


@pytest.mark.parametrize(
    ("text", "filled", "note"),
    [
        ("plain", "plain", ""),
        ("$X", "1", "${X} from .env"),
        ("${X}", "1", "${X} from .env"),
        ("a${X}b$X", "a1b1", "${X} from .env"),
        ("${NONE}", "${NONE}", ""),
        ("$NONE:9092", "${NONE}:9092", ""),
        ("${NONE:-d}", "d", "default of ${NONE:-d}"),
        ("${NONE-}", "", "default of ${NONE-}"),
        ("${EMPTY:-d}", "d", "default of ${EMPTY:-d}"),
        ("${EMPTY-d}", "", "${EMPTY} from .env"),
        ("${NONE:?no}", "${NONE}", ""),
        ("${X:?no}", "1", "${X} from .env"),
        ("${X:+alt}", "alt", ""),
        ("${NONE:+alt}", "${NONE:+alt}", ""),
        ("${A:-${B:-c}}", "c", "default of ${A:-${B:-c}}"),
        ("${A:-${X}}", "1", "default of ${A:-${X}}"),
        ("$$X $${X}", "$X ${X}", ""),
        ("${open", "${open", ""),
        ("5$", "5$", ""),
        ("$(x)", "$(x)", ""),
    ],
)
def test_interpolation(text: str, filled: str, note: str) -> None:
    found = interpolate(text, {"X": "1", "EMPTY": ""})
    assert (found.text, found.note) == (filled, note)


def test_hostile_interpolation_ends() -> None:
    interpolate("${A:-" * 5_000 + "}" * 5_000, {})
    interpolate("${A:-x}" * 20_000, {})


def test_env_lines() -> None:
    text = 'A=1\nexport B = two # why\nC=\'a # b $X\'\nD="x\\ny"\nE\n# F=1\nG=\nH="over\ntwo"\nI="open\n'
    assert [(line.name, line.text, line.line) for line in parse_env(text)] == [
        ("A", "1", 1),
        ("B", "two", 2),
        ("C", "a # b $X", 3),
        ("D", "x\ny", 4),
        ("E", None, 5),
        ("G", "", 7),
        ("H", "over\ntwo", 8),
        ("I", '"open', 10),
    ]


def test_a_secret_default_is_not_in_the_note() -> None:
    environment = "{KAFKA_SSL_KEY_PASSWORD: '${P:-letmein}'}"
    text = f"services: {{k: {{image: apache/kafka, environment: {environment}}}}}"
    loaded = compose.load(Source("docker-compose.yml", text, lambda path: None))
    assert "letmein" not in repr(loaded)


CASE = Path(__file__).parent / "compose" / "confluent-interpolation" / "docker-compose.yml"


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_broken_file_is_read_or_refused(data: st.DataObject) -> None:
    text = CASE.read_text("utf-8")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 30))
        text = (
            text[:at]
            + data.draw(st.sampled_from(["", "- ", ": ", "{", "[", "$", "${", "\n", "<<: "]))
            + text[at + cut :]
        )
    for module in (compose, envfile):
        module.claim("docker-compose.yml", text)
        try:
            module.load(Source("docker-compose.yml", text, lambda path: text[:200]))
        except LoadError:
            continue


def test_an_own_image_is_told_by_what_it_is_built_from():
    dockerfile = """
        ARG BASE=confluentinc/cp-kafka-connect
        ARG TAG=7.5.1
        FROM maven:3 AS build
        RUN mvn package
        FROM --platform=linux/amd64 ${BASE}:$TAG AS worker
        FROM worker
    """
    assert classify(base_image(dockerfile)) == Image("confluent", "connect", "3.5")
    assert base_image("RUN true") == ""


def test_an_image_that_nobody_knows_is_told_by_its_variables():
    broker = ("KAFKA_ADVERTISED_LISTENERS", "KAFKA_ZOOKEEPER_CONNECT")
    assert guess(broker) == Image("confluent", "broker", guessed=True)
    assert guess((*broker, "KAFKA_CREATE_TOPICS")) == Image("wurstmeister", "broker", guessed=True)
    assert guess(("KAFKA_CFG_LISTENERS", "KAFKA_CFG_NODE_ID")) == Image("bitnami", "broker", guessed=True)
    worker = ("GROUP_ID", "CONFIG_STORAGE_TOPIC", "OFFSET_STORAGE_TOPIC")
    assert guess(worker) == Image("debezium", "connect", guessed=True)
    assert guess(("KAFKA_BROKERS", "KAFKA_TOPIC")) is None


@pytest.mark.parametrize(
    ("reference", "version"),
    [
        ("confluentinc/cp-kafka-connect:7.6.1", "3.6"),
        ("cnfldemos/cp-server-connect-datagen:0.6.4-7.5.0", "3.5"),
        ("quay.io/debezium/connect:2.7.3.Final", "3.7"),
        ("debezium/kafka:1.9", "3.2"),
    ],
)
def test_the_tag_gives_the_version_of_workers_too(reference, version):
    found = classify(reference)
    assert found is not None
    assert found.version == version
