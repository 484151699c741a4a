"""Configurations in source code: what is written as a literal is read, at its line, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_advisor_plugins.formats.source.literals import Code
from kafka_advisor_plugins.formats.source.tokens import language_of, tokens_of

from advisor.model import LoadError, Source
from tests.formats import runner

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12)
VALUES = TEXTS | st.integers() | st.booleans()
KEYS = ["bootstrap.servers", "linger.ms", "retries", "client.id", "compression.type"]
CONFIGS = st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=2, max_size=4)

PROGRAMS = {
    "app.py": ("from confluent_kafka import Producer\n\np = Producer({\n", "})\n", ("True", "False")),
    "main.go": (
        'import "github.com/confluentinc/confluent-kafka-go/kafka"\n\np := NewProducer(&kafka.ConfigMap{\n',
        "})\n",
        ("true", "false"),
    ),
    "app.js": ("const K = require('node-rdkafka');\n\nnew K.Producer({\n", "});\n", ("true", "false")),
}


def written(value: object, words: tuple[str, str]) -> str:
    if isinstance(value, bool):
        return words[0] if value else words[1]
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("file", PROGRAMS)
@settings(max_examples=150, deadline=None)
@given(CONFIGS)
def test_a_configuration_written_out_is_loaded(file, config):
    head, tail, words = PROGRAMS[file]
    rows = [f"    {json.dumps(key)}: {written(value, words)}, // # {key}\n" for key, value in config.items()]
    rows = [row.replace("//", "#" if file.endswith(".py") else "//") for row in rows]
    text = head + "".join(rows) + tail
    load, claim = runner.code_of("librdkafka")
    assert claim(file, text)
    (document,) = load(Source(file, text, lambda _: None)).documents
    shown = {one.key: one for one in document.settings}
    assert list(shown) == list(config)
    for number, (key, value) in enumerate(config.items(), 4):
        told = str(value).lower() if isinstance(value, bool) else str(value)
        assert shown[key].origin.at.line == number
        if isinstance(shown[key].value, str):
            assert shown[key].value == told


CODE = [
    path
    for name in ("librdkafka", "java-source")
    for path in sorted((Path(__file__).parent / name).rglob("*"))
    if path.is_file() and language_of(path.name)
]


@pytest.mark.parametrize("path", CODE, ids=lambda path: f"{path.parent.name}/{path.name}")
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_broken_code_is_read_or_left(path, data):
    text = path.read_text("utf-8")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 60))
        new = data.draw(st.sampled_from(["", '"', "'", "{", "}", "(", "`", "/*", '"""', "\n", "=", ":", "@"]))
        text = text[:at] + new + text[at + cut :]
    load, claim = runner.code_of(path.relative_to(Path(__file__).parent).parts[0])
    claim(path.name, text)
    try:
        load(Source(path.name, text, lambda _: None))
    except LoadError:
        return


@pytest.mark.parametrize("language", ["python", "java", "kotlin", "go", "javascript"])
@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "[",
        "{",
        '"',
        "'",
        "`",
        '"""',
        "a=",
        "a = b + ",
        "a: ",
        "a.",
        "x = {'a': ",
        "f(a=",
        "+",
        "-",
        "/*",
        "#",
        "\\",
    ],
)
def test_hostile_code_ends(language, piece):
    code = Code(tokens_of(piece * 20_000, language), language)
    assert code.constants is not None
    for at, token in enumerate(code.tokens[:200]):
        if token.text == "{":
            code.map_at(at)
