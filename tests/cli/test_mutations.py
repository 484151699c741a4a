"""Files as they come from broken editors, merges and enemies: samples of every format, mutated.

In this process, so that thousands fit; what counts is that nothing raises, no rule crashes and the report
keeps its shape.
"""

from __future__ import annotations

import json
import os
import random
import tempfile

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.testing import audit_paths
from tests.conftest import ROOT

SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "advisor/schemas/report.schema.json").read_text())
)
SEEDS = {
    "ansible": ["tests/formats/ansible/inventory/hosts.yml"],
    "properties": [
        "samples/quickstart/producer.properties",
        "samples/quickstart/server.properties",
        "tests/formats/properties/connect-distributed/connect-distributed.properties",
        "tests/formats/properties/mm2/mm2.properties",
        "tests/formats/properties/syntax/consumer.properties",
    ],
    "spring": ["samples/spring-compose/application.yml"],
    "compose": [
        "samples/spring-compose/docker-compose.yml",
        "tests/formats/compose/confluent-interpolation/docker-compose.yml",
    ],
    "envfile": ["tests/formats/envfile/confluent/broker.env"],
    "kubernetes": ["tests/formats/kubernetes/spring-variables/billing.yaml"],
    "strimzi": ["samples/strimzi/kafka.yaml", "tests/formats/strimzi/mirror-maker-2/old.yaml"],
    "application": [
        "tests/formats/application/nested/service.yaml",
        "tests/formats/application/toml/app.toml",
    ],
    "logstash": ["tests/formats/logstash/pipeline/pipeline.conf"],
    "snapshot": ["tests/formats/snapshot/three-brokers/prod.json"],
    "cloudformation": ["tests/formats/cloudformation/yaml/msk.yml"],
    "connector": [
        "samples/connect/connectors/orders-source.json",
        "tests/formats/connector/source-overrides/sources.json",
    ],
    "declared-topics": [
        "tests/formats/declared-topics/ansible/playbook.yml",
        "tests/formats/declared-topics/jikkou/topics.yaml",
        "tests/formats/declared-topics/julie/descriptor.yaml",
        "tests/formats/declared-topics/kafka-gitops/state.yaml",
        "tests/formats/declared-topics/topicctl/orders.yaml",
    ],
    "helm": ["samples/helm/values.yaml", "tests/formats/helm/bitnami/values.yaml"],
    "java-source": [
        "tests/formats/java-source/client-maps/KafkaConfig.java",
        "tests/formats/java-source/kotlin/Consumers.kt",
    ],
    "librdkafka": ["tests/formats/librdkafka/python/worker.py", "tests/formats/librdkafka/go/main.go"],
    "micronaut": ["tests/formats/micronaut/yaml/application.yml"],
    "printed": [
        "tests/formats/printed/client-log/app.log",
        "tests/formats/printed/described/configs.txt",
        "tests/formats/printed/described/features.txt",
        "tests/formats/printed/described/topics.txt",
    ],
    "quarkus": ["tests/formats/quarkus/channels/application.properties"],
    "script": ["tests/formats/script/topics/create-topics.sh"],
    "terraform": ["samples/terraform/msk.tf", "tests/formats/terraform/msk/msk.tf"],
}
# What means something to one of the syntaxes, and bytes that mean nothing to any.
PIECES = [
    *"=:#!\\\"'{}[]&*|>%@`,-?<~$ \t\n\r",
    *(
        "\\u",
        "\\u00",
        "\\\n",
        "---\n",
        "...\n",
        "<<: *x",
        "&x ",
        "*x",
        "!!python/object:os.system ",
        "${",
        "}",
    ),
    *("${A:-${B}}", "{{ x }}", "{% if x %}", "$(X)", "\x00", "\x1b[2J", "\x85", "\u2028", "\ufeff", "\ud7ff"),
    *("9" * 400, "-1", "1e999", "NaN", "0x", "null", "true", "[]", "{}", "é", "\U0001f600", " " * 300),
]


def mutate(data: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 6)):
        at, end = sorted(chance.randint(0, len(data)) for _ in range(2))
        match chance.randrange(6):
            case 0:
                data = data[:at] + chance.choice(PIECES).encode("utf-8", "surrogatepass") + data[at:]
            case 1:
                data = data[:at] + data[min(end, at + 40) :]
            case 2:
                data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
            case 3:
                data = data[:at] + data[at : at + 80] + data[at:]
            case 4:
                data = data[:end]
            case 5:
                lines = data.split(b"\n")
                chance.shuffle(lines)
                data = b"\n".join(lines)
    return data


def check(files: dict[str, bytes], **options) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        report = audit_paths([folder], show_effective=True, **options)
    SCHEMA.validate(json.loads(json.dumps(report)))
    crashed = [finding["message"] for finding in report["findings"] if finding["code"] == "KA000"]
    assert crashed == []
    failed = [file["reason"] for file in report["files"] if "its reader failed" in (file["reason"] or "")]
    assert failed == []


FEW = settings(
    max_examples=5, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
MANY = settings(FEW, max_examples=50)
# Guarantees are searched for: seconds, where the other rules take milliseconds.
QUICK = {"select": ("KA0",)}


@pytest.mark.parametrize("seed", [name for names in SEEDS.values() for name in names])
@MANY
@given(number=st.integers(0, 2**32))
def test_mutated_sample(seed, number):
    data = (ROOT / seed).read_bytes()
    check({os.path.basename(seed): mutate(data, random.Random(number))}, **QUICK)


@FEW
@given(number=st.integers(0, 2**32))
def test_mutated_files_that_belong_together(number):
    chance = random.Random(number)
    names = ["samples/quickstart/producer.properties", "samples/quickstart/topic-orders.properties"]
    names += ["samples/spring-compose/docker-compose.yml", "samples/strimzi/topics.yaml"]
    check({os.path.basename(name): mutate((ROOT / name).read_bytes(), chance) for name in names})


NAMES = ["producer.properties", "application.yml", "docker-compose.yml", "broker.env", "kafka.yaml", "x.conf"]
HEADS = [
    "",
    "spring.kafka.",
    "spring:\n  kafka:\n",
    "services:\n  kafka:\n    image: apache/kafka\n",
    "KAFKA_",
]


@MANY
@given(name=st.sampled_from(NAMES), head=st.sampled_from(HEADS), tail=st.binary(max_size=300))
def test_noise(name, head, tail):
    check({name: head.encode() + tail}, **QUICK)


def test_every_format_is_among_the_samples():
    from advisor.registry import load_registry

    assert set(SEEDS) == {spec.name for spec in load_registry().formats}


@pytest.mark.parametrize(
    ("format_", "seed"), [(name, seed) for name, seeds in SEEDS.items() for seed in seeds]
)
def test_every_sample_is_of_its_format(format_, seed, tmp_path):
    """Else the mutants would be of a reader that is here by another sample already."""
    copy = tmp_path / os.path.basename(seed)
    copy.write_bytes((ROOT / seed).read_bytes())
    (file,) = audit_paths([str(tmp_path)], **QUICK)["files"]
    assert file["format"] == format_
