"""The command run in this process, which costs no start: most tests need no more."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from advisor.commands import run


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture(scope="session")
def verdicts_kept(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def simulate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, verdicts_kept: str
) -> Callable[..., Done]:
    monkeypatch.setenv("KAFKA_ADVISOR_CACHE", verdicts_kept)

    def call(*words: object) -> Done:
        try:
            code = run(["simulate", *map(str, words)])
        except SystemExit as left:
            code = int(left.code or 0)
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return call
