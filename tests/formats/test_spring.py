from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_advisor_plugins.formats.spring import spring
from kafka_advisor_plugins.formats.spring.spring_source import elements, matches, variants

from advisor.model import Document, Loaded, LoadError, Source
from advisor.syntax.units import meant, spring_bytes, spring_millis

from . import runner


@pytest.mark.parametrize("case", runner.cases("spring"), ids=lambda case: case.name)
def test_case(case: Path) -> None:
    runner.check(case, spring.load, spring.claim)


def _load(name: str, text: str) -> Loaded:
    return spring.load(Source(name, text, lambda path: None))


def _document(text: str, component: str, name: str = "application.yml") -> Document:
    (found,) = (one for one in _load(name, text).documents if one.component == component)
    return found


@pytest.mark.parametrize("name", ["batch-size", "batchSize", "batch_size", "BATCH_SIZE", "Batch-Size"])
def test_every_spelling_of_a_field_binds(name: str) -> None:
    document = _document(f"spring:\n  kafka:\n    producer:\n      {name}: 1KB\n", "producer")
    assert [(one.key, one.value) for one in document.settings] == [("batch.size", "1024")]


@pytest.mark.parametrize(
    "text",
    [
        "spring:\n  kafka:\n    producer:\n      properties:\n        linger:\n          ms: 5\n",
        "spring:\n  kafka:\n    producer:\n      properties:\n        linger.ms: 5\n",
        'spring:\n  kafka:\n    producer:\n      properties:\n        "[linger.ms]": 5\n',
        "spring.kafka:\n  producer.properties:\n    linger.ms: 5\n",
        "spring.kafka.producer.properties.linger.ms: 5\n",
        "spring: {kafka: {producer: {properties: {linger.ms: 5}}}}\n",
    ],
)
def test_a_key_of_kafka_may_be_broken_at_its_dots(text: str) -> None:
    document = _document(text, "producer")
    assert [(one.key, one.value) for one in document.settings] == [("linger.ms", "5")]


def test_brackets_keep_dots_together() -> None:
    assert elements("spring.kafka.properties[linger.ms]") == ("spring", "kafka", "properties", "linger.ms")


@pytest.mark.parametrize(
    ("condition", "active", "expected"),
    [
        (None, {"prod"}, True),
        ("prod", {"prod"}, True),
        ("prod", {"default"}, False),
        ("prod,staging", {"staging"}, True),
        ("prod | staging", {"staging"}, True),
        ("prod & eu", {"prod"}, False),
        ("prod & eu", {"prod", "eu"}, True),
        ("!prod", {"default"}, True),
        ("!(prod | staging)", {"staging"}, False),
        ("(prod & eu) | dev", {"dev"}, True),
        ("", {"prod"}, False),
        ("(prod", {"prod"}, False),
    ],
)
def test_profile_expressions(condition: str | None, active: set[str], expected: bool) -> None:
    assert matches(condition, active) is expected


def test_variants_are_the_profiles_that_conditions_ask_for() -> None:
    asked = variants([None, "prod | staging", "prod & eu", "!dev", "prod"])
    assert asked == [("prod",), ("staging",), ("prod", "eu")]


_BASE = """spring:
  kafka:
    bootstrap-servers: [a:1, b:2]
    producer: {acks: all, linger-ms: 5}
    consumer:
      properties:
        "[max.poll.records]": 5
---
spring.config.activate.on-profile: a & !b
spring.cloud.stream.kafka.bindings.x-in-0.consumer.configuration.fetch.min.bytes: 1
"""
_FLAT = (
    "spring.kafka.producer.acks=1\n#---\nspring.kafka.consumer.properties[a.b]=\\u0041\nspring.kafka.x[0]=1\n"
)
_snippets = st.text(st.sampled_from("abk.-:=[]{}\"'#!&|\\ \n\t*0"), max_size=10)
_edits = st.lists(st.tuples(st.integers(0, len(_BASE)), st.integers(0, 6), _snippets), max_size=5)


@given(st.sampled_from([("application.yml", _BASE), ("application-p.properties", _FLAT)]), _edits)
def test_a_mutated_text_is_loaded_or_refused(
    given_file: tuple[str, str], edits: list[tuple[int, int, str]]
) -> None:
    name, text = given_file
    for at, length, inserted in edits:
        text = text[:at] + inserted + text[at + length :]
    assert 0 <= spring.claim(name, text) <= 100
    try:
        loaded = _load(name, text)
    except LoadError:
        return
    for document in loaded.documents:
        keys = [one.key for one in document.settings]
        assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10s", 10_000),
        ("PT10S", 10_000),
        ("pt1m", 60_000),
        ("PT1.5S", 1_500),
        ("P1DT1H", 90_000_000),
        ("-PT1M", -60_000),
        ("+5S", 5_000),
        ("500ms", 500),
        ("500", 500),
        ("1M", 60_000),
        ("1500us", 1),
        ("", None),
        ("3s ", None),
        ("P", None),
        ("PT", None),
        ("1w", None),
        ("ten", None),
    ],
)
def test_durations_as_spring_boot_reads_them(text: str, expected: int | None) -> None:
    assert spring_millis(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("16KB", 16384), ("1 MB", 1048576), ("7", 7), ("5B", 5), ("-1KB", -1024), ("16kb", None), ("", None)],
)
def test_sizes_as_spring_boot_reads_them(text: str, expected: int | None) -> None:
    assert spring_bytes(text) == expected


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("retention.ms", "7d", "604800000"),
        ("retention.ms", "1 week", "604800000"),
        ("log.retention.hours", "7 days", "168"),
        ("log.retention.hours", "30m", None),
        ("segment.bytes", "1GB", "1073741824"),
        ("segment.bytes", "1g", "1073741824"),
        ("max.request.size", "10mb", "10485760"),
        ("batch.size", "16_384", "16384"),
        ("linger.ms", "1.5s", "1500"),
        ("linger.ms", "5", None),
        ("linger.ms", "5mb", None),
        ("acks", "1s", None),
        ("retention.ms", "forever", None),
    ],
)
def test_what_a_bare_number_was_meant_to_be(key: str, text: str, expected: str | None) -> None:
    assert meant(key, text) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("application.properties", "...=1\nkafka.bootstrap-servers=k:9092\n"),
        ("application.properties", "...=1\nspring.kafka.bootstrap-servers=k:9092\n"),
        ("application.yml", "kafka:\n  bootstrap-servers: k:9092\n---\nspring\n"),
        ("application.yml", "spring kafka bootstrap-servers\n"),
        ("application.yml", "- spring.kafka\n- kafka.bootstrap-servers\n"),
    ],
)
def test_a_name_of_nothing_binds_nothing(name, text):
    from kafka_advisor_plugins.formats.spring import spring

    from advisor.api import LoadError, Source

    assert 0 <= spring.claim(name, text) <= 100
    try:
        loaded = spring.load(Source(name, text, lambda path: None))
    except LoadError:
        return
    assert all(setting.key for document in loaded.documents for setting in document.settings)
