"""Completion in real shells: the words that bash is offered, and a line that Tab completes."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import needs

ASK = """
eval "$(kafka-advisor completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
compopt() { echo "nospace"; }
_kafka_advisor kafka-advisor
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def shell_env(kept, tmp_path) -> dict[str, str]:
    here = str(Path(needs("kafka-advisor")).parent)
    return {
        **os.environ,
        "PATH": f"{here}{os.pathsep}{os.environ['PATH']}",
        "KAFKA_ADVISOR_CACHE": str(kept),
        "HOME": str(tmp_path),
        "TERM": "dumb",
    }


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["au"], ["audit"]),
        (["audit", "--diff"], ["--diff-base"]),
        (["audit", "--fail-on", "n"], ["never", "note"]),
        (["audit", "--fail-on", "=", "n"], ["never", "note"]),
        (["audit", "--format", "="], None),
        (["audit", "--report", "sar"], ["nospace", "sarif="]),
        (["audit", "--select", "KA101,KA30"], [f"KA101,KA30{n}" for n in range(1, 5)]),
        (["audit", "--set", "topic.min.insync"], ["nospace", "topic.min.insync.replicas="]),
        (["explain", "min.insync"], ["min.insync.replicas"]),
        (["explain", "acked-record-l"], ["acked-record-loss"]),
        (["audit", "prod"], [""]),
        (["nonsense", "--f"], [""]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_bash_is_offered(shell_env, words, offered):
    done = subprocess.run(
        [needs("bash"), "-c", ASK, "bash", "kafka-advisor", *words],
        env=shell_env,
        capture_output=True,
        text=True,
        check=True,
    )
    got = done.stdout.removesuffix("\n").split("\n")
    if offered is None:
        assert {"text", "json", "sarif"} <= set(got), "the words behind = alone"
    else:
        assert got == offered
    assert done.stderr == ""


def typed(words: list[str], keys: list[str], env: dict[str, str], cwd: Path, done: str) -> str:
    """What a terminal shows after these keys; `done` is the last of it."""
    pid, screen = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(words[0], words, env)
    shown = ""
    try:
        for key in keys:
            os.write(screen, key.encode())
            wait = 60.0 if key.endswith(("\t", "\n")) else 0.2
            before = len(shown)
            until = time.monotonic() + wait
            # A key is answered when nothing more comes for a moment.
            quiet = 3.0 if key.endswith("\t") else 0.5
            while time.monotonic() < until and done not in shown:
                ready, _, _ = select.select([screen], [], [], quiet)
                if not ready and len(shown) > before:
                    break
                if ready:
                    shown += os.read(screen, 65_536).decode(errors="replace")
    finally:
        os.write(screen, b"\x03\nexit\n")
        time.sleep(0.1)
        os.close(screen)
        os.waitpid(pid, 0)
    return shown


def test_tab_completes_a_line_in_bash(shell_env, tmp_path):
    (tmp_path / "producer.properties").write_text("acks=all\n")
    keys = [
        'PS1="> "; eval "$(kafka-advisor completion bash)"; echo rea""dy\n',
        "kafka-advisor aud\t",
        "--strict\t",
        "--report junit\t",
        "x.xml prod\t",
        # To the beginning of the line, to see it instead of running it.
        "\x01echo got: \n",
    ]
    whole = "got: kafka-advisor audit --strict-baseline --report junit=x.xml producer.properties"
    shown = typed([needs("bash"), "--norc", "--noprofile", "-i"], keys, shell_env, tmp_path, whole + "\r")
    assert whole in shown.replace("\r\n", "\n"), shown


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_script_is_one_that_the_shell_reads(shell_env, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = subprocess.run(
        ["kafka-advisor", "completion", shell], env=shell_env, capture_output=True, text=True, check=True
    ).stdout
    words = [shell, "-n", "-c", script] if shell == "zsh" else [shell, "--no-execute", "-c", script]
    done = subprocess.run(words, env=shell_env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_fish_offers_words(shell_env):
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    ask = 'kafka-advisor completion fish | source; complete -C "kafka-advisor audit --fail-on n"'
    done = subprocess.run(["fish", "-c", ask], env=shell_env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["never", "note"]
