"""The text at a terminal of its own: its width, colours and letters, and the line that shows progress."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from .golden import HERE
from .roots import many, quickstart, write

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def at_terminal(root: Path, *words: str, columns: int = 100, **env: str) -> str:
    """What the command prints on stdout and stderr where both are a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    unset = ("COLUMNS", "NO_COLOR", "LC_ALL")
    environment = {key: value for key, value in os.environ.items() if key not in unset}
    with subprocess.Popen(
        [sys.executable, "-m", "advisor", "audit", *words],
        cwd=root,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "TERM": "xterm", "LANG": "C.UTF-8", **env},
    ) as process:
        os.close(theirs)
        data = b""
        while True:
            select.select([ours], [], [], 60)
            try:
                more = os.read(ours, 65536)
            except OSError:  # closed by the other end
                break
            if not more:
                break
            data += more
        process.wait(60)
    os.close(ours)
    return data.decode("utf-8").replace("\r\n", "\n")


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return quickstart(tmp_path_factory.mktemp("quickstart"))


def plain(text: str) -> str:
    """As it looks in the end: without colours and without the line that was wiped."""
    return ESCAPE.sub("", re.sub(r"(?m)^(?:[^\n]*\r)+", "", text))


@pytest.mark.parametrize("columns", [60, 72, 80, 100, 120])
def test_nothing_is_wider_than_the_terminal(root, columns):
    text = plain(at_terminal(root, "--all", columns=columns))
    assert max(map(len, text.splitlines())) <= columns
    assert "error[KA101] acknowledged records can be lost\n" in text
    assert "How it happens (1 broker crash):\n" in text


def test_a_very_narrow_terminal_gets_sixty_columns(root):
    assert plain(at_terminal(root, columns=20)) == plain(at_terminal(root, columns=60))


def test_colours_are_for_a_terminal_and_say_nothing_of_their_own(root):
    text = at_terminal(root)
    assert "\x1b[1;31merror[KA101]\x1b[0m" in text
    assert plain(text) == (HERE / "quickstart.txt").read_text()


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_no_colours_if_they_are_not_wanted(root, env):
    assert "\x1b[" not in at_terminal(root, **env)


@pytest.mark.parametrize("env", [{"LC_ALL": "C"}, {"LANG": "C"}, {"PYTHONIOENCODING": "ascii"}], ids=str)
def test_plain_letters_if_the_locale_asks(root, env):
    text = plain(at_terminal(root, **env))
    assert text.isascii()
    assert "  5 | acks=1\n    |      ^ one broker crash loses" in text
    assert "b0* x [r0] <" in text
    signs = str.maketrans({"│": "|", "✗": "x", "◂": "<"})
    assert text == (HERE / "quickstart.txt").read_text().translate(signs)


def test_progress_is_one_line_that_goes_away(tmp_path):
    root = many(tmp_path)
    topic = "partitions=1\nretention.ms=1\n"
    write(root, {f"more/{number}/topic-a.properties": topic for number in range(400)})
    text = at_terminal(root, "--no-cache", columns=80)
    assert "\rread 200 of " in text
    assert re.search(r"\rasked the rules about \d+ of \d+ deployments", text)
    assert "read 200" not in plain(text)
    assert "asked the rules" not in plain(text)
    piped = subprocess.run(
        [sys.executable, "-m", "advisor", "audit"], cwd=root, capture_output=True, text=True, check=False
    )
    assert piped.stderr == ""


def test_quiet_says_nothing_where_nothing_is_wrong(tmp_path):
    topic = "partitions=1\nretention.ms=1000\n"
    root = write(tmp_path, {"kafka-advisor.toml": "", "topic-a.properties": topic})
    assert at_terminal(root, "-q", "--profile", "dev") == ""
