"""The YAML tree: lines, aliases, merges, and limits that hold whatever the text is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.model import LoadError
from advisor.syntax import yamltree
from advisor.syntax.yamltree import Node, parse_yaml


def one(text: str) -> Node:
    (root,) = parse_yaml(text)
    return root


def test_keeps_lines_and_the_text_as_written() -> None:
    root = one("# first\na: 0x10\nb:\n  - True\n  - 'yes'\nc: |\n  x=1\n  y=2\n")
    assert root.text_at("a") == "0x10"
    assert [element.line for element in root.get("b").elements] == [4, 5]
    assert root.get("b", 1).line == 5
    block = root.get("c")
    assert (block.style, block.value, block.line) == ("|", "x=1\ny=2\n", 6)
    assert root.get("b", 7) is None
    assert root.get("a", "b") is None


@pytest.mark.parametrize(
    ("written", "loaded_1_1", "loaded_1_2"),
    [
        ("True", "true", "true"),
        ("yes", "true", "yes"),
        ("off", "false", "off"),
        ("'yes'", "yes", "yes"),
        ("n", "n", "n"),
        ("0x10", "16", "16"),
        ("010", "8", "8"),
        ("1_000", "1000", "1000"),
        ("-1", "-1", "-1"),
        ("0.50", "0.5", "0.5"),
        ("1e3", "1000", "1000"),
        ("'010'", "010", "010"),
        ("1.2.3", "1.2.3", "1.2.3"),
        ("12abc", "12abc", "12abc"),
        ("!!str 010", "010", "010"),
        ("2.8", "2.8", "2.8"),
    ],
)
def test_loaded_text_is_what_a_loader_makes_of_it(written: str, loaded_1_1: str, loaded_1_2: str) -> None:
    node = one(f"k: {written}").get("k")
    assert (node.loaded_text(), node.loaded_text(yaml_1_1=False)) == (loaded_1_1, loaded_1_2)


def test_null_is_no_text() -> None:
    root = one("a:\nb: ~\nc: ''\nd: null\n")
    assert [root.get(key).is_null for key in "abcd"] == [True, True, False, True]
    assert root.text_at("a") is None
    assert root.get("a").text("none") == "none"


def test_aliases_are_the_node_they_name() -> None:
    root = one("base: &b\n  x: 1\nuse: *b\n")
    assert root.get("use") is root.get("base")
    assert root.get("use", "x").line == 2


def test_merge_keys() -> None:
    root = one(
        "a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\n"
        "m:\n  y: 3\n  <<: [*a, *b]\nq:\n  '<<': *a\nn:\n  <<:\n  k: 1\n"
    )
    merged = {key: value.text() for key, _, value in root.get("m").pairs()}
    assert merged == {"x": "1", "y": "3", "z": "2"}
    assert root.get("q").get("<<") is root.get("a")
    assert [key for key, _, _ in root.get("n").pairs()] == ["k"]


def test_the_last_of_equal_keys_wins_and_the_others_are_remembered() -> None:
    root = one("a: 1\nb: 2\na: 3\n")
    assert root.text_at("a") == "3"
    assert len(root.items) == 2
    assert [(key.line, value.text()) for key, value in root.duplicates] == [(1, "1")]


def test_documents() -> None:
    assert parse_yaml("") == []
    assert [root.kind for root in parse_yaml("a: 1\n---\n- x\n--- s\n")] == ["mapping", "sequence", "scalar"]


def test_tags_are_never_constructed() -> None:
    root = one("a: !!python/object/apply:os.system ['exit 1']\nb: !Ref x\nc: !reference [d, e]\n")
    assert root.get("a").kind == "sequence"
    assert root.get("b").tag == "!Ref"
    assert root.text_at("b") == "x"


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 10)}]\n" for i in range(10)
)


@pytest.mark.parametrize(
    ("text", "says", "line"),
    [
        ("[" * 201, "nested deeper", 1),
        ("[" * 10_000, "nested deeper", 1),
        ("[" * 1_000_000, "nested deeper", 1),
        ("{a: " * 100_000, "nested deeper", 1),
        ("- " * 1_000_000, "nested deeper", 1),
        ("".join(" " * i + "a:\n" for i in range(3_000)), "nested deeper", 201),
        ("a: &a " + "[" * 150 + "]" * 150 + "\nb: " + "[" * 100 + "*a" + "]" * 100, "nested deeper", 2),
        (BOMB, "more than 1,000,000 nodes", None),
        ("&a [*a]", "inside the node it names", 1),
        ("a: 1\nb: *none", "has no anchor", 2),
        ("a:\n\tb: 1", "not readable as YAML", 2),
        ('a: "\\q"', "not readable as YAML", 1),
        ("a: 1\n  b: 2\n c: 3", "not readable as YAML", 2),
        ("a: {{ .Values.x }}\n{{- if y }}\nb: 1", "not readable as YAML", 3),
        ("a: 1\nb: \x01", "not readable as YAML", 2),
        ("a: \ud800", "not valid Unicode", None),
        ("<<: 1", "merge key", 1),
        ("%TAG !a! x\n" * 101, "%TAG", None),
        ("x" * (32 * 1024 * 1024 + 1), "larger than 32 MiB", None),
        ("é" * (17 * 1024 * 1024), "larger than 32 MiB", None),
    ],
)
def test_what_cannot_be_read_is_a_load_error(text: str, says: str, line: int | None) -> None:
    with pytest.raises(LoadError, match=says) as caught:
        parse_yaml(text)
    if line is not None:
        assert caught.value.line == line


def test_depth_200_is_read() -> None:
    assert one("[" * 200 + "]" * 200).kind == "sequence"


def test_time_grows_with_the_text_only() -> None:
    def seconds(text: str) -> float:
        start = time.process_time()
        parse_yaml(text)
        return time.process_time() - start

    small, large = ("[" + "a, " * n + "]" for n in (40_000, 400_000))
    seconds(small)
    assert seconds(large) < 40 * max(seconds(small), 0.02)


def test_the_parser_in_pure_python_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    text = "a: &x {b: 1, c: [1, 'two', ~]}\nd: {<<: *x, b: 2}\n"
    expected = _shape(one(text))
    monkeypatch.setattr(yamltree, "_parser", yaml.SafeLoader)
    assert _shape(one(text)) == expected
    for hostile in ("[" * 100_000, "- " * 100_000, BOMB):
        with pytest.raises(LoadError):
            parse_yaml(hostile)


def _shape(node: Node) -> object:
    return (
        node.kind,
        node.value,
        node.line,
        [(_shape(key), _shape(value)) for key, value in node.items],
        [_shape(element) for element in node.elements],
    )


PIECES = st.sampled_from(
    ["a", ": ", "- ", "\n", "  ", "\t", "[", "]", "{", "}", "&x ", "*x", "<<", "'", '"', "|", "!t ", "#", "%"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        roots = parse_yaml(text)
    except LoadError:
        return
    for root in roots:
        _shape(root)
