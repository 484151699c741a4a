"""JSON: read as Python reads it, with lines; what cannot be read is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.model import LoadError
from advisor.syntax.jsontree import parse_json

KEYS = st.sampled_from(
    ["acks", "linger.ms", "tasks.max", "topics", "errors.tolerance", "a b", 'quo"te', "é", "\\"]
)
VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.integers() | st.booleans()


def loaded(node):
    """A tree as Python's own reader gives it, numbers as texts."""
    if node.kind == "mapping":
        return {key: loaded(value) for key, _, value in node.pairs()}
    if node.kind == "sequence":
        return [loaded(element) for element in node.elements]
    return node.value


def told(value):
    match value:
        case dict():
            return {key: told(inner) for key, inner in value.items()}
        case list():
            return [told(inner) for inner in value]
        case bool():
            return str(value).lower()
        case None | str():
            return value
    return json.dumps(value)


TREES = st.recursive(
    VALUES | st.none() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(TREES, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_json_is_read_as_python_reads_it(tree, indent, escaped):
    text = json.dumps(tree, indent=indent, ensure_ascii=escaped)
    written = json.loads(text.encode("utf-8", "replace").decode())
    (root,) = parse_json(text.encode("utf-8", "replace").decode())
    assert loaded(root) == told(_whole(written))


def _whole(value):
    """Half of a surrogate pair is no character: it is read as the sign for one that cannot be read."""
    return (
        json.loads(json.dumps(value).encode().decode(), object_hook=None) if value is None else _mended(value)
    )


def _mended(value):
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in value)
    if isinstance(value, list):
        return [_mended(inner) for inner in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(inner) for key, inner in value.items()}
    return value


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1,\n"b"}', 2),
        ('{"a": 1\n"b": 2}', 2),
        ("[1,\n2,\n]", 3),
        ('{"a":\n}', 2),
        ('{"a": nope}', 1),
        ('{"a": "\\x"}', 1),
        ('{"a": 1}\n}', 2),
        ('{"a": {{ x }', 1),
        ("[" * 300, 1),
        ('{"a": [1\n', 2),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(LoadError) as error:
        parse_json(text)
    assert error.value.line == line
