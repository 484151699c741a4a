"""The law of every edit: read again, the text says what it said, but for the one setting."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kafka_advisor_plugins.formats import edit_properties, edit_yaml
from kafka_advisor_plugins.formats.containers import edit_env
from kafka_advisor_plugins.formats.containers.envfile import parse_env

from advisor.edit.steps import CannotEdit, EditStep, spliced
from advisor.model import Document, Source
from advisor.syntax.properties import parse_properties

DOCUMENT = Document("x.properties", "properties", "broker", "x", ())
NAMES = st.from_regex(r"[a-z]{1,5}(\.[a-z-]{1,5}){0,2}", fullmatch=True)
ENDINGS = st.sampled_from(["\n", "\r\n"])
NEW = st.sampled_from(
    ["all", "2", "false", "604800000", "org.example.A", "a,b", "PLAINTEXT://:9092", "", "7d"]
)


# Properties.

BLANK = st.sampled_from(["", " ", "\t", "  "])
VALUE = st.text(st.sampled_from("ab1 =:#!,\\\t\u00fc"), max_size=8)


@st.composite
def properties_lines(draw):
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["entry", "entry", "entry", "comment", "blank"]))
        if kind == "comment":
            lines.append(draw(BLANK) + draw(st.sampled_from("#!")) + draw(VALUE))
        elif kind == "blank":
            lines.append(draw(BLANK))
        else:
            separator = draw(st.sampled_from(["=", ":", " = ", ": ", " ", "\t"]))
            value = draw(VALUE).replace("\\", "\\\\")
            if value.strip() and draw(st.booleans()):
                value = value[:1] + "\\\n  " + value[1:] if value[:1] != "\\" else value
            lines.append(draw(BLANK) + draw(NAMES) + separator + value)
    return lines


@st.composite
def properties_text(draw):
    ending = draw(ENDINGS)
    text = "\n".join(draw(properties_lines())).replace("\n", ending)
    return text + draw(st.sampled_from(["", ending]))


@settings(max_examples=120, deadline=None)
@given(properties_text(), st.data())
def test_properties(text, data):
    before = parse_properties(text)
    assume(before)
    action = data.draw(st.sampled_from(["set", "add", "remove", "rename"]))
    new = data.draw(NEW)
    place = data.draw(st.integers(0, len(before) - 1))
    name = "added.key"
    expected = [(entry.key, entry.value) for entry in before]
    if action == "add":
        step = EditStep("add", name, new)
    else:
        step = EditStep(action, before[place].key, name if action == "rename" else new, before[place].line)
        expected[place] = (expected[place][0], new) if action == "set" else (name, expected[place][1])
        if action == "remove":
            del expected[place]
    after = edit_properties.edit(Source("x.properties", text, lambda path: None), DOCUMENT, step)
    found = [(entry.key, entry.value) for entry in parse_properties(after)]
    if action == "add":
        assert (name, new) in found
        found.remove((name, new))
    assert found == expected
    if action in ("set", "rename"):
        assert _others(text, before[place].line) <= _others(after, -1)


def _others(text, line):
    return {row for number, row in enumerate(text.splitlines(), 1) if number < line or line < 0}


# Env files.


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["KAFKA_A", "KAFKA_B", "KAFKA_LOG_DIRS", "OTHER"]),
            st.sampled_from(["1", "'x y'", '"x"', "a # why", "", "/a/b", "true"]),
        ),
        min_size=1,
        max_size=6,
        unique_by=lambda row: row[0],
    ),
    ENDINGS,
    st.booleans(),
    st.data(),
)
def test_env_files(rows, ending, last, data):
    lines = ["# A broker."]
    for name, value in rows:
        lines += [f"{'export ' if name == 'KAFKA_B' else ''}{name}={value}"]
    text = ending.join(lines) + (ending if last else "")
    before = parse_env(text)
    one = data.draw(st.sampled_from(before))
    new = data.draw(NEW)
    action = data.draw(st.sampled_from(["set", "rename", "remove"]))
    step = EditStep(action, one.name, "KAFKA_NEW" if action == "rename" else new, one.line)
    after = edit_env.edit(Source("x.env", text, lambda path: None), DOCUMENT, step)
    expected = [
        (line.name, new if line is one and action == "set" else line.text)
        if line is not one or action != "rename"
        else ("KAFKA_NEW", line.text)
        for line in before
        if line is not one or action != "remove"
    ]
    assert [(line.name, line.text) for line in parse_env(after)] == expected


# YAML.

SCALARS = st.sampled_from(
    ["1", "true", "a", "kafka:9092", "x y", "", "#no", "it's", '"q"', "null", "a, b", "- x"]
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.dictionaries(NAMES, inner, min_size=1, max_size=4), st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=10,
)


@st.composite
def yaml_text(draw):
    """A mapping as any of YAML's styles writes it, with comments behind plain lines."""
    tree = draw(st.dictionaries(NAMES, TREES, min_size=1, max_size=4))
    text = yaml.dump(
        tree,
        default_flow_style=draw(st.sampled_from([None, False, False, True])),
        default_style=draw(st.sampled_from([None, None, '"', "'"])),
        indent=draw(st.sampled_from([2, 4])),
        width=draw(st.sampled_from([30, 1000])),
        sort_keys=False,
    )
    lines = text.splitlines()
    if draw(st.booleans()):
        # Where a quoted text runs over two lines a comment would be part of it.
        lines = [f"{line}  # c{number}" if line.endswith(":") else line for number, line in enumerate(lines)]
    ending = draw(ENDINGS)
    text = ending.join(["# top", *lines]) + draw(st.sampled_from(["", ending]))
    assume(load(text) is not None)
    return text


def load(text):
    return yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))


def pairs(text):
    roots = edit_yaml.tree(text)
    return [(mapping, key, value) for mapping in edit_yaml.mappings(roots) for key, value in mapping.pairs]


def path_of(text, wanted, root=None, at=()):
    """The keys and numbers that lead to a mapping."""
    root = root or edit_yaml.tree(text)[0]
    if (root.start, root.kind) == (wanted.start, wanted.kind) and root.end == wanted.end:
        return at
    children = [(key.value, value) for key, value in root.pairs] + list(enumerate(root.elements))
    for name, child in children:
        found = path_of(text, wanted, child, (*at, name)) if child.kind != "scalar" else None
        if found is not None:
            return found
    return None


def inside(data, path):
    for name in path:
        data = data[name]
    return data


@settings(max_examples=120, deadline=None)
@given(yaml_text(), st.data())
def test_yaml(text, data):
    mapping, key, value = data.draw(st.sampled_from(pairs(text)))
    new = data.draw(NEW)
    action = data.draw(st.sampled_from(["set", "add", "rename", "remove"]))
    expected = load(text)
    home = inside(expected, path_of(text, mapping))
    try:
        if action == "set":
            assume(value.kind == "scalar")
            splice = edit_yaml.valued(text, value, new, mapping.flow)
            home[key.value] = new
        elif action == "add":
            splice = edit_yaml.added(text, mapping, ["new.key"], edit_yaml.scalar(new, flow=mapping.flow))
            home["new.key"] = new
        elif action == "rename":
            splice = edit_yaml.renamed(key, "new.key")
            home["new.key"] = home.pop(key.value)
        else:
            splice = edit_yaml.removed(text, mapping, key, value)
            del home[key.value]
    except CannotEdit as error:
        # The only thing that cannot be done here.
        if "dash" not in error.message:
            raise
        return
    after = spliced(text, splice)
    found = load(after)
    if action == "remove" and not home:
        return  # a mapping of nothing is null: the formats' own check decides
    assert found == expected, after
    assert text.count("#") - after.count("#") <= (1 if action == "remove" else 0) + text[
        splice.start : splice.end
    ].count("#")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("all", "all"),
        ("2", "2"),
        ("007", '"007"'),
        ("yes", '"yes"'),
        ("a: b", '"a: b"'),
        ("", '""'),
        ("~", '"~"'),
    ],
)
def test_values_get_quotes_where_yaml_needs_them(value, written):
    assert edit_yaml.scalar(value) == written
    assert yaml.safe_load(f"x: {written}")["x"] == (int(value) if value == "2" else value)


def test_places_count_letters_not_bytes():
    text = "# für Müller 🎉\r\na: 'ü'\r\nb: 1 # ß\r\n"
    (mapping,) = edit_yaml.tree(text)
    assert spliced(text, edit_yaml.valued(text, mapping.pairs[1][1], "2", False)) == text.replace(
        "b: 1", "b: 2"
    )
