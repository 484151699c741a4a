"""The product as it is shipped: a clean copy of the source, its wheel, environments of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.conftest import ROOT


def run(*words, cwd=None, **environment) -> subprocess.CompletedProcess[str]:
    """A command as on a user's machine: nothing of this checkout on the path."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def must(*words, **options) -> str:
    done = run(*words, **options)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def tracked() -> list[str]:
    listed = must("git", "ls-files", "-z", cwd=ROOT)
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="session")
def source(tmp_path_factory) -> Path:
    """The tracked files alone, as they are now: what a checkout by somebody else would hold."""
    folder = tmp_path_factory.mktemp("source")
    for name in tracked():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return folder


@pytest.fixture(scope="session")
def wheel(source, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # From a copy of its own: a build leaves folders behind in the source.
    copy = tmp_path_factory.mktemp("build") / "source"
    shutil.copytree(source, copy)
    must(
        sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, copy, cwd=folder
    )
    (made,) = folder.glob("*.whl")
    return made


class Environment:
    """An empty virtual environment."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin/python"
        self.command = folder / "bin/kafka-advisor"

    def install(self, *words) -> None:
        must(
            sys.executable,
            "-m",
            "pip",
            "--python",
            self.python,
            "install",
            "--quiet",
            *words,
            cwd=self.python.parent,
        )

    def packages(self) -> set[str]:
        listed = must(sys.executable, "-m", "pip", "--python", self.python, "list", "--format=freeze")
        return {line.partition("==")[0].lower() for line in listed.splitlines()}


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory) -> Environment:
    """The wheel and what it asks for, in an environment of its own."""
    made = Environment(tmp_path_factory.mktemp("installed") / "venv")
    made.install(wheel)
    return made


@pytest.fixture(scope="session")
def editable(source, tmp_path_factory) -> Environment:
    copy = tmp_path_factory.mktemp("editable") / "source"
    shutil.copytree(source, copy)
    made = Environment(copy.parent / "venv")
    made.install("--editable", copy)
    return made
