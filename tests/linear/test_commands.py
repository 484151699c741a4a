"""Whole commands on files that are long in one way: their cost grows no faster than the file."""

from __future__ import annotations

import contextlib
import io
import os

import pytest

from advisor.commands import run

from .growth import steepness

START = "bootstrap.servers=kafka:9092\nacks=1\nenable.idempotence=false\n"
YAML = "spring:\n  kafka:\n    bootstrap-servers: kafka:9092\n    producer:\n      acks: 1\n"
# A text of about so many letters, by name.
TEXTS = {
    "long line.properties": lambda size: f"{START}client.id={'a ' * (size // 2)}\n",
    "long word in a comment.properties": lambda size: f"# {'a' * size}\n{START}# {'b' * size}\n",
    "braces.properties": lambda size: f"{START}client.id={'{' * size}\n",
    "many braces.properties": lambda size: START + "client.id={{\n" * (size // 13),
    "dollars.properties": lambda size: f"{START}client.id={'${' * (size // 2)}\n",
    "continued.properties": lambda size: START + "client.id=" + "a,\\\n" * (size // 4) + "b\n",
    "huge value.properties": lambda size: f"{START}interceptor.classes={'a.B,' * (size // 4)}\n",
    "keys.properties": lambda size: START + "".join(f"k{n}={n}\n" for n in range(size // 10)),
    "one key.properties": lambda size: START + "linger.ms=5\n" * (size // 12),
    "comments.properties": lambda size: START + "# why: a=b\n" * (size // 11),
    "marked.properties": lambda size: START + "# kafka-advisor: ignore[KA1] x\n" * (size // 31),
    "application.yml": lambda size: YAML + "".join(f"# c{n}\n" for n in range(size // 6)),
    "application-long.yml": lambda size: f"{YAML}      client-id: {'a' * size}\n",
    "application-braces.yml": lambda size: f"{YAML}      client-id: '{'{' * size}'\n",
    "application-keys.yml": lambda size: YAML + "".join(f"k{n}: {n}\n" for n in range(size // 10)),
    "long.env": lambda size: f"KAFKA_ACKS=1\nKAFKA_CLIENT_ID={'a ' * (size // 2)}\n# {'c' * size}\n",
}
SIZES = (4_000, 8_000, 16_000, 32_000, 64_000)


def command(name, folder):
    words = {
        "audit": ["audit", "--no-cache", "."],
        "fix": ["fix", "--no-cache", "."],
        "compare": ["compare", "before", "after"],
        "simulate": ["simulate", "."],
    }[name]
    here = os.getcwd()
    os.chdir(folder)
    try:
        with (
            contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="latin-1", errors="replace")),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            return run(words)
    finally:
        os.chdir(here)


@pytest.mark.parametrize("name", ["audit", "fix", "compare", "simulate"])
@pytest.mark.parametrize("file", TEXTS)
def test_command_is_linear(tmp_path, monkeypatch, file, name):
    monkeypatch.setenv("KAFKA_ADVISOR_CACHE", str(tmp_path / "cache"))

    def prepared(size):
        folder = tmp_path / str(size)
        for side in ("before", "after") if name == "compare" else (".",):
            path = folder / side / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(TEXTS[file](size))
        return lambda: command(name, folder)

    command_once = prepared(100)
    command_once()  # imports and searches
    assert steepness(prepared, SIZES, material=0.5) is None
