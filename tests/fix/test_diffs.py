"""A diff without secrets in it that still applies, wherever that can be had."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.edit.diff import unified
from advisor.tell.masks import hidden_lines
from tests.conftest import needs


def applied(before: bytes, diff: bytes) -> bytes | None:
    """What git makes of the diff; None if it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(before)
        done = subprocess.run(
            [needs("git"), "apply", "-"], cwd=folder, input=diff, capture_output=True, check=False
        )
        return path.read_bytes() if done.returncode == 0 else None


LINES = st.sampled_from(
    ["acks=1", "retries=2", "", "# c", "ssl.key.password=hunter2", "client.id = \u00e9", "linger.ms=5"]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(LINES, max_size=14), st.data())
def test_a_diff_applies_or_says_that_it_is_masked(old, data):
    new = list(old)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(new)))
        if data.draw(st.booleans()) and place < len(new):
            new[place] = "batch.size=1"
        else:
            new.insert(place, "group.id=1")
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    texts = [
        (ending.join(lines) + (ending if lines and data.draw(st.booleans()) else "")).encode()
        for lines in (old, new)
    ]
    if texts[0] == texts[1]:
        return
    diff = unified("x", *texts)
    assert b"hunter2" not in diff.text
    if not diff.masked:
        assert applied(texts[0], diff.text) == texts[1]


def test_context_stops_before_a_secret():
    before = b"password=hunter2\nretries=1\nacks=1\nlinger.ms=2\npassword=hunter2\nc=3\n"
    after = before.replace(b"acks=1", b"acks=all")
    diff = unified("x", before, after)
    assert not diff.masked
    assert diff.text.decode().endswith("@@ -2,3 +2,3 @@\n retries=1\n-acks=1\n+acks=all\n linger.ms=2\n")
    assert applied(before, diff.text) == after


def test_a_secret_right_behind_a_change_is_masked():
    before = b"acks=1\nssl.key.password=hunter2\n"
    diff = unified("x", before, before.replace(b"acks=1", b"acks=all"))
    assert diff.masked
    assert b" ssl.key.password=<secret>\n" in diff.text


PLAIN = [
    ("acks=1\nssl.key.password=x\nretries=2", [1]),
    ("ssl.key.password=\nretries=2", []),
    ("ssl.key.password=${SECRET}\n", []),
    ("ssl.key.password=${SECRET:-x}\n", [0]),
    ("sasl.jaas.config=Login required \\\n  username=u \\\n  password=p;\nretries=2", [0, 1, 2]),
    ("log.dirs=/a,\\\n  /b\nretries=2", []),
    ('KAFKA_SSL_KEYSTORE_KEY="-----BEGIN\nabc\n-----END"\nKAFKA_NODE_ID=2', [0, 1, 2]),
    ("# ssl.key.password=old\nretries=2", [0]),
    ("# my.own=swordfish\nretries=2", [0]),
    ("# until 2019 it was alice/x@h\nretries=2", [0]),
    ("# How often it tries.\nretries=2", []),
    ("retries=2\nmy.own=swordfish", [1]),
    ("export KAFKA_SSL_KEY_PASSWORD=x\nexport KAFKA_NODE_ID=1", [0]),
    ("retries=2\rssl.key.password=x", [0]),
    ("client.id=AKIAIOSFODNN7EXAMPLE\nretries=2", [0]),
    ("group.id=swordfish1\nssl.key.password=swordfish1", [0, 1]),
]
YAML = [
    ("  sasl.jaas.config: |\n    Login\n\n    required\n  retries: 2", [0, 1, 3]),
    ("  - KAFKA_SSL_KEY_PASSWORD=x\n  - KAFKA_NODE_ID=1", [0]),
    ("environment: {KAFKA_NODE_ID: 1, KAFKA_SASL_PASSWORD: x}", [0]),
    ("url: http://user:pw@host/\nretries: 2", [0]),
    ("spring:\n  jaas:\n    options:\n      user: x\n  kafka:\n    acks: all", [3]),
    ("environment:\n  KAFKA_LOG_DIRS: plain\n  KAFKA_SSL_KEY_PASSWORD: hunter2\n  KAFKA_NODE_ID: 1", [2]),
    ("env:\n- name: DB_PASSWORD\n  value: hunter2\n- name: KAFKA_LOG_DIRS\n  value: /x", [2]),
    ("env:\n- value: hunter2\n  name: DB_PASSWORD", [1]),
    (
        "data:\n  server.properties: |\n    node.id=1\n    ssl.key.password=a\n    my.own=b\n    # note",
        [3, 4],
    ),
    ("acks: all # the pw is hunter2\nretries: 2", [0]),
    ("acks: all # enough\nretries: 2", []),
    ("ssl.key.password:\n  hunter2\nretries: 2", [1]),
    ('ssl.key.password: "hunter2\n  and more"\nretries: 2', [0, 1]),
    ("api:\n  key: swordfish\nretries: 2", [1]),
    ("image: apache/kafka:4.1.0\nports:\n- 9092:9092\nrestart: always", []),
    # What no YAML parser reads: Helm, an open quote.
    ("acks: all\np: {{ x }}\npassword: hunter2\n{{- if .x }}\nfoo: |\n  abc def\n  acks: all", [2, 5]),
    ("retries: 1\npassword: 'hunter2\n  rest\nmy: 'x'", [1, 2, 3]),
    ("{{ x }}\njaas:\n  user: x\nretries: 2", [2]),
]


@pytest.mark.parametrize(
    ("name", "text", "hidden"),
    [*(("x.properties", *case) for case in PLAIN), *(("x.yml", *case) for case in YAML)],
)
def test_lines_that_are_hidden(name, text, hidden):
    assert sorted(hidden_lines(name, text.encode())) == hidden


@pytest.mark.parametrize(
    ("name", "text", "line", "shown"),
    [
        ("x.properties", "acks=all\nlinger.ms=5", 2, "linger.ms="),
        ("x.yml", "a:\n  linger.ms: 5", 2, "  linger.ms: "),
        ("x.yml", "a:\n- é: 1\n- KAFKA_LINGER_MS=5", 3, "- KAFKA_LINGER_MS="),
        ("x.yml", "a: {{ x }}\nlinger.ms: 5", 2, "linger.ms: "),
    ],
)
def test_a_line_where_a_secret_was_read_is_hidden_whatever_it_looks_like(name, text, line, shown):
    found = hidden_lines(name, text.encode(), {line})
    assert {number: text.split("\n")[number].encode()[:kept].decode() for number, kept in found.items()} == {
        line - 1: shown
    }


def test_a_line_behind_a_secret_that_ends_the_file():
    before = b"ssl.key.password=hunter2\n"
    diff = unified("x", before, before + b"acks=all\n")
    assert diff.masked
    assert b"hunter2" not in diff.text


def test_no_newline_at_the_end():
    diff = unified("x", b"retries=1", b"retries=2")
    ending = b"\\ No newline at end of file\n"
    assert diff.text.endswith(b"-retries=1\n" + ending + b"+retries=2\n" + ending)


def test_what_opens_a_block_of_terraform_may_be_shown():
    text = b'resource "kafka_topic" "orders" {\n  owner = "somebody"\n}\npassword "x" {\n'
    assert set(hidden_lines("topics.tf", text)) == {1, 3}
