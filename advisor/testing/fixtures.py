"""What pytest has where kafka-advisor is installed: one fixture, found by an entry point.

    def test_of_mine(kafka_advisor):
        report = kafka_advisor.audit("configs", rules=["house.toml"])
        done = kafka_advisor.command("audit", "configs", "--rules", "house.toml")
        kafka_advisor.golden("expected.txt", done.stdout)

`pytest --kafka-advisor-goldens` writes the goldens anew.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

_UPDATE = "--kafka-advisor-goldens"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("kafka-advisor").addoption(
        _UPDATE,
        action="store_true",
        help="write what `kafka_advisor.golden` compares with anew: read the diff before you commit it",
    )


class KafkaAdvisor:
    """Audits and commands of one test; what they keep is kept in the folder of the test."""

    def __init__(self, folder: Path, home: Path, update: bool) -> None:
        self._folder, self._home, self._update = folder, home, update

    def audit(self, *paths: object, **options: Any) -> dict[str, Any]:
        """The JSON report on files or folders, as `advisor.testing.audit_paths` gives it."""
        from .audits import audit_paths

        return audit_paths([str(path) for path in paths], **options)

    def audit_texts(self, texts: Mapping[str, str], **options: Any) -> dict[str, Any]:
        """The same on files with these names and texts."""
        from .audits import audit_texts

        return audit_texts(texts, **options)

    def command(self, *words: object, **options: Any) -> subprocess.CompletedProcess[str]:
        """`kafka-advisor WORDS` in a process of its own: returncode, stdout, stderr. `cwd`: where, if not in
        the folder of the test; `env`, `timeout`."""
        from .command import run_command

        return run_command(self._folder, *words, **options)

    def golden(self, file: str | Path, text: str) -> None:
        """The file, named from the folder of the test's module, holds this text."""
        path = self._home / file
        if self._update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"{path} is missing: pytest {_UPDATE} writes it"
        expected = path.read_text(encoding="utf-8")
        assert text == expected, f"another text than {path}: pytest {_UPDATE} writes it anew"


@pytest.fixture
def kafka_advisor(request: pytest.FixtureRequest, tmp_path: Path) -> KafkaAdvisor:
    """Audits a folder, runs the command as a user does, compares with a golden."""
    return KafkaAdvisor(tmp_path, request.path.parent, bool(request.config.getoption(_UPDATE)))
