"""However a run ends, it ends in words and with its exit code: Ctrl-C at any moment, an output that nobody
reads or that is full, control characters and halves of surrogate pairs in every text."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from advisor.cli import main
from advisor.output.text import json_text, printable, printable_lines
from tests.conftest import ROOT

from .telling import PRODUCER, told

COMMANDS = [
    ["--version"],
    ["--help"],
    ["audit", "--help"],
    ["rules"],
    ["explain", "KA101"],
    ["explain", "acks"],
    ["plugin", "list"],
    ["audit", "producer.properties"],
    ["fix", "producer.properties"],
    ["init", "--recipe", "no-loss", "new"],
    ["simulate", "producer.properties"],
]


def started(words, **options):
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "KAFKA_ADVISOR_CACHE": str(options["cwd"] / ".cache"),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "advisor", *words],
        env=environment,
        stderr=subprocess.PIPE,
        preexec_fn=hears_ctrl_c,
        **options,
    )


def hears_ctrl_c() -> None:
    """A shell that starts these tests behind it lets its children ignore the signal."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "producer.properties").write_text(PRODUCER.replace("all", "1"))
    (tmp_path / "new").mkdir()
    return tmp_path


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_output_that_nobody_reads(folder, words):
    reader, writer = os.pipe()
    os.close(reader)
    process = started(words, cwd=folder, stdout=writer)
    os.close(writer)
    said = process.communicate(timeout=120)[1].decode()
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    assert process.returncode == 1


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["rules"]], ids=" ".join)
def test_output_that_is_full(folder, words):
    with open("/dev/full", "wb") as full:
        process = started(words, cwd=folder, stdout=full)
        said = process.communicate(timeout=120)[1].decode()
    assert said == "kafka-advisor: the report cannot be written: no space left on device\n"
    assert process.returncode == 2


def test_an_error_stream_that_is_full_changes_no_exit_code(folder):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "advisor", "audit", "nowhere"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=full,
            check=False,
        )
    assert done.returncode == 2


# The interpreter is told when our code begins: before that, Ctrl-C is Python's own.
BEGUN = (
    "import sys, os\n"
    "from advisor import cli\n"
    "begin = cli._main\n"
    "cli._main = lambda words: (os.write(1, b'.'), begin(words))[1]\n"
    "sys.argv[1:] = {words!r}\n"
    "sys.exit(cli.main())\n"
)


@pytest.mark.parametrize("delay", [0, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1])
def test_ctrl_c_while_it_starts(folder, delay):
    code = BEGUN.format(words=["audit", "--no-cache", "--what-if", "roll", "."])
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=hears_ctrl_c,
    )
    assert process.stdout is not None
    process.stdout.read(1)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=120)[1].decode()
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    # A quick machine may be done by then.
    assert process.returncode in ((130,) if delay < 0.01 else (130, 0, 1))


def test_ctrl_c_that_python_can_only_print_is_raised_again(folder):
    """As in a callback of the import system, where an exception cannot go anywhere."""
    code = (
        "import sys, signal, time, weakref\n"
        "from advisor import cli, commands\n"
        "def run(words):\n"
        "    class Thing: pass\n"
        "    thing = Thing()\n"
        "    seen = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))\n"
        "    del thing\n"
        "    time.sleep(60)\n"
        "commands.run = run\n"
        "sys.argv[1:] = ['rules']\n"
        "sys.exit(cli.main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=hears_ctrl_c,
    )
    assert (done.returncode, done.stderr) == (130, "")


# Text of any kind


HOSTILE = "a\x1b[31mb\x9b32mc\x7f\u202ed\ud800e"
DRIVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]")


def test_text_drives_no_terminal():
    assert printable(HOSTILE) == "a\\x1b[31mb\\x9b32mc\\x7f\\u202ed\\ud800e"
    assert printable("acks=all é 漢") == "acks=all é 漢"


def test_json_is_text_for_every_parser():
    for ascii_only in (False, True):
        text = json_text({"a": [HOSTILE, float("nan"), float("-inf"), 1.5, "é\U0001f600"]}, None, ascii_only)
        assert not DRIVES.search(text)
        assert not re.search(r"(?<!\\)\\u[dD][89a-fA-F]", text.replace("\\ud83d\\ude00", ""))
        back = json.loads(text)["a"]
        assert back[0] == HOSTILE.replace("\ud800", "\\ud800")
        assert back[1:] == [None, None, 1.5, "é\U0001f600"]
        assert text.isascii() or not ascii_only
    assert json_text({"é": 1}, None) == '{"é": 1}'


def test_lines_of_files_keep_their_bytes_but_for_what_drives():
    kept = "\ufeffa\tb é 漢 乛\r\n".encode() + b"caf\xe9\xa0\n"
    assert printable_lines(kept) == kept
    assert printable_lines(b"a\x9b31m\n\x1b[0m\rx\r\n") == b"a\\x9b31m\n\\x1b[0m\\rx\r\n"
    assert printable_lines("a\x9b\u202e\n".encode()) == b"a\\x9b\\u202e\n"


@pytest.mark.parametrize("escape", ["\\u009b31m", "\\u001b[31m", "\\ud800", "\\u202e"])
@pytest.mark.parametrize(
    "words",
    [
        ["audit"],
        ["audit", "--format", "json", "--show-effective"],
        ["audit", "--show-effective"],
        ["fix"],
        ["simulate"],
        ["simulate", "--format", "json"],
    ],
    ids=" ".join,
)
def test_every_command_shows_such_values_as_escapes(tmp_path, capfdbinary, monkeypatch, words, escape):
    monkeypatch.setenv("KAFKA_ADVISOR_CACHE", str(tmp_path / "cache"))
    text = PRODUCER.replace("acks=all", f"client.id=x{escape}\nacks=ALL{escape}\ncompression.type=lz{escape}")
    (tmp_path / "producer.properties").write_text(text)
    assert main([*words, str(tmp_path / "producer.properties")]) in (0, 1, 2)
    out, err = (part.decode() for part in capfdbinary.readouterr())
    assert "mistake in kafka-advisor" not in err
    assert not DRIVES.search(out + err)
    if "json" in words and out:
        json.loads(out.encode("utf-8", "strict"))
        assert not re.search(r"(?<!\\)\\ud800", out)


@pytest.mark.parametrize("raw", [b"\x9b31m", b"\x1b[31m", b"\xc2\x9b31m"])
def test_fix_shows_such_bytes_of_a_file_as_escapes(advisor, tmp_path, raw):
    """They stand beside the line that is changed."""
    path = tmp_path / "producer.properties"
    path.write_bytes(PRODUCER.replace("all", "ALL").encode() + b"# " + raw + b"\nclient.id=" + raw + b"\n")
    words = [sys.executable, "-m", "advisor", "fix", "producer.properties"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KAFKA_ADVISOR_CACHE": str(tmp_path / ".cache")}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"+acks=all" in done.stdout
    assert raw not in done.stdout + done.stderr
    assert b"\\x" in done.stdout
    assert b"does not apply" in done.stderr
    told(advisor("fix", "--write", "producer.properties"), 0)
    assert raw in path.read_bytes(), "what is written keeps its bytes"


def test_words_of_the_command_line_drive_no_terminal(advisor):
    for words in (["audit", "--no\x1b[31m"], ["\x1b[31m"], ["audit", "x\x9b"], ["explain", "\x1b[31m"]):
        done = advisor(*words)
        assert done.returncode == 2
        assert "\x1b" not in done.stdout + done.stderr
        assert "\x9b" not in done.stdout + done.stderr
