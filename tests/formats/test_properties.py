from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_advisor_plugins.formats import properties, roles

from advisor.model import LoadError, Secret, Source, Unknown
from advisor.syntax.properties import parse_properties

from . import runner


@pytest.mark.parametrize("case", runner.cases("properties"), ids=lambda case: case.name)
def test_case(case: Path) -> None:
    runner.check(case, properties.load, properties.claim)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("a=b", [("a", "b", 1)]),
        (" a : b ", [("a", "b ", 1)]),
        ("a b=c", [("a", "b=c", 1)]),
        ("a = = b", [("a", "= b", 1)]),
        ("=b", [("", "b", 1)]),
        ("a", [("a", "", 1)]),
        ("a\\=b=c", [("a=b", "c", 1)]),
        ("a\\ b c", [("a b", "c", 1)]),
        ("a=b\\\n  c\nd=e", [("a", "bc", 1), ("d", "e", 3)]),
        ("a=b\\\\\nc=d", [("a", "b\\", 1), ("c", "d", 2)]),
        ("a=b\\", [("a", "b", 1)]),
        ("a=b\\\n\nc=d", [("a", "b", 1), ("c", "d", 3)]),
        ("#a\\\nb=c", [("b", "c", 2)]),
        ("\\\n#a=b\nc=d", [("c", "d", 3)]),
        ("a=\\t\\n\\r\\f\\q\\u0041", [("a", "\t\n\r\fqA", 1)]),
        ("a=1\rb=2\r\nc=3\n\n!x\nd=4", [("a", "1", 1), ("b", "2", 2), ("c", "3", 3), ("d", "4", 6)]),
        # Only these three end a line; Python would see more.
        ("a=b\x0bc\u2028d\x85e", [("a", "b\x0bc\u2028d\x85e", 1)]),
        ("a=1\na=2", [("a", "1", 1), ("a", "2", 2)]),
    ],
)
def test_reads_as_java(text: str, entries: list[tuple[str, str, int]]) -> None:
    assert parse_properties(text) == entries


@pytest.mark.parametrize("text", ["a=\\u00g1", "x=1\na=\\u12", "a\\u=1"])
def test_a_broken_unicode_escape_is_an_error_with_its_line(text: str) -> None:
    with pytest.raises(LoadError) as error:
        parse_properties(text)
    assert error.value.line == text.count("\n") + 1


def _dump(entries: list[tuple[str, str]]) -> str:
    """As java.util.Properties.store writes: every character that could be mistaken is escaped."""
    named = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f"}

    def escaped(text: str, blanks: str) -> str:
        return "".join(named.get(c) or ("\\" + c if c in blanks + "\\=:#!" else c) for c in text)

    return "".join(
        # Of a value only the first blank could be taken for the separator's.
        f"{escaped(key, ' ')}={escaped(value[:1], ' ')}{escaped(value[1:], '')}\n"
        for key, value in entries
    )


_texts = st.text(st.sampled_from("ab.é=:#!\\ \t\n\r\fu0041\x0b\u2028"), max_size=12)


@given(st.lists(st.tuples(_texts, _texts)))
def test_parse_undoes_dump(entries: list[tuple[str, str]]) -> None:
    parsed = parse_properties(_dump(entries))
    assert [(entry.key, entry.value) for entry in parsed] == entries
    assert [entry.line for entry in parsed] == list(range(1, len(entries) + 1))


_BASE = (
    "bootstrap.servers=k:9092\nacks=all\n{% if x %}\ngroup.id=\\u0041b\\\n  c\n{% endif %}\nlog.dirs=${D}\n"
)


@given(
    st.sampled_from(
        ["server.properties", "topics/a.properties", "x.conf", "librdkafka.config", "a.properties.j2"]
    ),
    st.lists(st.tuples(st.integers(0, len(_BASE)), st.integers(0, 6), _texts), max_size=4),
)
def test_a_mutated_text_is_loaded_or_refused(name: str, edits: list[tuple[int, int, str]]) -> None:
    text = _BASE
    for at, length, inserted in edits:
        text = text[:at] + inserted + text[at + length :]
    assert 0 <= properties.claim(name, text) <= 100
    try:
        loaded = properties.load(Source(name, text, lambda path: None))
    except LoadError:
        return
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    for document in loaded.documents:
        assert all(1 <= one.origin.at.line <= lines for one in document.settings if one.origin.at)


def test_secrets_and_templates_never_travel_as_text() -> None:
    text = "acks=${ACKS}\nlinger.ms=5\nsasl.jaas.config=x\nssl.key.password=y\nssl.key.password=z\n"
    (document,) = properties.load(Source("producer.properties", text, lambda path: None)).documents
    values = {one.key: one.value for one in document.settings}
    assert isinstance(values["acks"], Unknown)
    assert isinstance(values["sasl.jaas.config"], Secret)
    assert isinstance(document.dropped[0].value, Secret)


@pytest.mark.parametrize(
    ("keys", "name", "expected"),
    [
        (["process.roles", "acks", "group.id"], "x.properties", [("broker", "java")]),
        (["bootstrap.servers"], "client.properties", [("admin", "java")]),
        (["bootstrap.servers"], "consumer.properties", [("consumer", "java")]),
        (
            ["bootstrap.servers", "acks", "group.id"],
            "x.properties",
            [("producer", "java"), ("consumer", "java")],
        ),
        (["acks", "linger.ms", "batch.size", "group.id"], "x.properties", [("producer", "java")]),
        (["acks", "linger.ms"], "consumer.properties", [("producer", "java")]),
        (["zookeeper.connect", "group.id"], "consumer.properties", [("consumer", "java")]),
        (["bootstrap.servers", "message.timeout.ms"], "x.properties", [("producer", "librdkafka")]),
        (["cleanup.policy", "retention.ms"], "x.properties", [("topic", "java")]),
        (["clusters", "a->b.enabled"], "x.properties", [("mm2", "connect")]),
    ],
)
def test_roles_are_a_vote(keys: list[str], name: str, expected: list[tuple[str, str]]) -> None:
    assert list(roles.infer(keys, name)) == expected
