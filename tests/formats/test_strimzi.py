"""Strimzi resources: golden cases, and texts that are broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_advisor_plugins.formats.strimzi import strimzi
from kafka_advisor_plugins.formats.strimzi.strimzi_config import BROKER, CONNECT

from advisor.model import LoadError, Source
from tests.formats import runner


@pytest.mark.parametrize("case", runner.cases("strimzi"), ids=lambda case: case.name)
def test_case(case: Path) -> None:
    runner.check(case, strimzi.load, strimzi.claim)


@pytest.mark.parametrize(
    ("key", "prefix"),
    [
        ("listeners", "listeners"),
        ("Advertised.listeners", "advertised."),
        ("broker.id", "broker."),
        ("broker.session.timeout.ms", None),
        ("controller.quorum.fetch.timeout.ms", None),
        ("controller.quorum.voters", "controller."),
        ("zookeeper.connection.timeout.ms", None),
        ("zookeeper.session.timeout.ms", None),
        ("port", "port"),
        ("min.insync.replicas", None),
        ("log.dirs", "log.dir"),
        ("log.retention.ms", None),
    ],
)
def test_forbidden_broker_keys(key: str, prefix: str | None) -> None:
    assert BROKER.forbids(key) == prefix


def test_forbidden_worker_keys() -> None:
    assert CONNECT.forbids("rest.port") == "rest."
    assert CONNECT.forbids("ssl.protocol") is None
    assert CONNECT.forbids("producer.acks") is None


TEXT = "\n---\n".join(
    path.read_text("utf-8") for path in sorted((Path(__file__).parent / "strimzi").glob("[cmu]*/*.yaml"))
)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_broken_file_is_read_or_refused(data: st.DataObject) -> None:
    text = TEXT
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 60))
        text = (
            text[:at]
            + data.draw(st.sampled_from(["", "- ", ": ", "{", "[", "{{ x }}", "\n", "~"]))
            + text[at + cut :]
        )
    strimzi.claim("kafka.yaml", text)
    try:
        strimzi.load(Source("kafka.yaml", text, lambda path: None))
    except LoadError:
        return
