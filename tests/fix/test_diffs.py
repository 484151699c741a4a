"""A diff without secrets in it that still applies, wherever that can be had."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.diffs import secret_lines, unified
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


LINES = st.sampled_from(["a=1", "b=2", "", "# c", "ssl.key.password=hunter2", "d = \u00e9", "e=5"])


@settings(max_examples=40, deadline=None)
@given(st.lists(LINES, max_size=14), st.data())
def test_a_diff_applies_or_says_that_it_is_masked(old, data):
    new = list(old)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(new)))
        if data.draw(st.booleans()) and place < len(new):
            new[place] = "changed=1"
        else:
            new.insert(place, "added=1")
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
    before = b"password=hunter2\na=1\nacks=1\nb=2\npassword=hunter2\nc=3\n"
    after = before.replace(b"acks=1", b"acks=all")
    diff = unified("x", before, after)
    assert not diff.masked
    assert diff.text.decode().endswith("@@ -2,3 +2,3 @@\n a=1\n-acks=1\n+acks=all\n b=2\n")
    assert applied(before, diff.text) == after


def test_a_secret_right_behind_a_change_is_masked():
    before = b"acks=1\nssl.key.password=hunter2\n"
    diff = unified("x", before, before.replace(b"acks=1", b"acks=all"))
    assert diff.masked
    assert b" ssl.key.password=<secret>\n" in diff.text


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a=1\nssl.key.password=x\nb=2", [1]),
        ("ssl.key.password=\nb=2", []),
        ("ssl.key.password=${SECRET}\n", []),
        ("ssl.key.password=${SECRET:-x}\n", [0]),
        ("sasl.jaas.config=Login required \\\n  username=u \\\n  password=p;\nb=2", [0, 1, 2]),
        ("  sasl.jaas.config: |\n    Login\n\n    required\n  b: 2", [0, 1, 2, 3]),
        ("  - KAFKA_SSL_KEY_PASSWORD=x\n  - KAFKA_A=1", [0]),
        ("environment: {A: 1, KAFKA_SASL_PASSWORD: x}", [0]),
        ('KAFKA_SSL_KEYSTORE_KEY="-----BEGIN\nabc\n-----END"\nB=2', [0, 1, 2]),
        ("url: http://user:pw@host/\nb: 2", [0]),
        ("# ssl.key.password=old\nb=2", [0]),
        ("# The password is elsewhere.\nb=2", []),
        ("spring:\n  jaas:\n    options:\n      user: x\n  kafka: y", [1, 2, 3]),
    ],
)
def test_lines_that_hold_secrets(text, hidden):
    assert sorted(secret_lines(text.split("\n"))) == hidden


def test_a_line_behind_a_secret_that_ends_the_file():
    before = b"ssl.key.password=hunter2\n"
    diff = unified("x", before, before + b"acks=all\n")
    assert diff.masked
    assert b"hunter2" not in diff.text


def test_no_newline_at_the_end():
    diff = unified("x", b"a=1", b"a=2")
    assert diff.text.endswith(b"-a=1\n\\ No newline at end of file\n+a=2\n\\ No newline at end of file\n")
