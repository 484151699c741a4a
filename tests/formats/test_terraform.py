"""Terraform's language: what is written is read, with its lines; what is broken is refused."""

from __future__ import annotations

import json
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_advisor_plugins.formats.terraform.hcl import Expr, parse_hcl

from advisor.model import LoadError, Source
from tests.formats import runner

KEYS = st.sampled_from(["retention.ms", "cleanup.policy", "min.insync.replicas", "segment.bytes", "x", "a b"])
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12)
NAMES = st.text(string.ascii_letters + "_", min_size=1, max_size=6)
VALUES = TEXTS | st.integers() | st.booleans()
TREES = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def hcl(value: object, indent: str = "") -> str:
    """A value in Terraform's words."""
    match value:
        case dict():
            rows = [f"{indent}  {hcl(key)} = {hcl(inner, indent + '  ')}" for key, inner in value.items()]
            return "{\n" + "".join(f"{row}\n" for row in rows) + indent + "}"
        case list():
            return "[" + ", ".join(hcl(inner, indent) for inner in value) + "]"
        case bool():
            return str(value).lower()
        case int():
            return str(value)
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("${", "$${").replace("%{", "%%{")


def plain(expr: Expr) -> object:
    if expr.kind == "object":
        return {key.value: plain(value) for key, value in expr.pairs}
    if expr.kind == "list":
        return [plain(item) for item in expr.items]
    return expr.value


def told(value: object) -> object:
    match value:
        case dict():
            return {key: told(inner) for key, inner in value.items()}
        case list():
            return [told(inner) for inner in value]
        case bool():
            return str(value).lower()
    return str(value)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(NAMES, TREES, max_size=4), st.sampled_from(["", "# note\n", "/* a\nb */\n", "// x\n"]))
def test_what_is_written_is_read(attributes, comment):
    text = comment + "".join(
        f"{name} = {hcl(value)} # {name}\n{comment}" for name, value in attributes.items()
    )
    root = parse_hcl(text)
    assert {one.name: plain(one.value) for one in root.attributes} == told(attributes)
    lines = text.splitlines()
    assert all(lines[one.line - 1].startswith(one.name) for one in root.attributes)
    assert all(text[one.start :].startswith(one.name) for one in root.attributes)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["retention.ms", "cleanup.policy", "segment.ms"]), VALUES, max_size=3))
def test_a_topic_written_out_is_loaded_again(config):
    load, _ = runner.code_of("terraform")

    def loaded(values):
        text = f'resource "kafka_topic" "t" {{\n  name = "orders"\n  config = {hcl(values, "  ")}\n}}\n'
        (document,) = load(Source("topics.tf", text, lambda _: None)).documents
        return {one.key: one.value for one in document.settings}

    first = loaded(config)
    assert loaded({key: value for key, value in first.items() if isinstance(value, str)}) == {
        key: value for key, value in first.items() if isinstance(value, str)
    }
    assert first.keys() == config.keys()


TEXT = "\n".join(
    path.read_text("utf-8")
    for path in sorted((Path(__file__).parent / "terraform").rglob("*.tf"))
    if "broken" not in path.parts
)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_broken_file_is_read_or_refused(data):
    text = TEXT
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 60))
        new = data.draw(
            st.sampled_from(["", '"', "{", "}", "[", "(", "${", "<<X\n", "\n", "=", "/*", "?", "for "])
        )
        text = text[:at] + new + text[at + cut :]
    load, claim = runner.code_of("terraform")
    claim("main.tf", text)
    try:
        load(Source("main.tf", text, lambda path: TEXT if path == "variables.tf" else None))
    except LoadError as error:
        assert error.line is not None  # noqa: PT017


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000,
        "a = " + "{" * 5000,
        "a = " + "(" * 50000,
        'a = "' + "${" * 50000,
        'a = "' + '${"' * 50000,
        "a " * 50000,
        "a = <<X\n" * 20000,
        "a = b ? " * 20000,
        "a = f(" * 20000,
        "a = -" * 20000,
        "a = " + "-" * 20000,
        "a = 1 +" * 20000,
        "a = x." * 20000,
        "/*" * 100000,
        "a {" * 30000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_texts_end(text):
    try:
        parse_hcl(text)
    except LoadError as error:
        assert error.message  # noqa: PT017


def test_names_that_lead_in_circles_are_not_known():
    text = "locals {\n" + "".join(
        f"  a{n} = try(local.a{n + 1}, merge(local.a{n + 1}, local.a{(n * 7) % 40}))\n" for n in range(60)
    )
    text += (
        '}\nresource "kafka_topic" "t" {\n  name = local.a0\n  config = local.a0\n  for_each = local.a3\n}\n'
    )
    load, _ = runner.code_of("terraform")
    (document,) = load(Source("topics.tf", text, lambda _: None)).documents
    assert document.settings == ()


def test_all_of_a_list_is_an_expression_that_nobody_evaluates():
    text = "a = one(x.default[*].name)\nb = x.default[*].name\nc = 3\n"
    found = parse_hcl(text)
    assert [one.name for one in found.attributes] == ["a", "b", "c"]
    assert found.attribute("a").kind == "call"
    assert found.attribute("c").value == "3"
