"""The command for the tests of this folder."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def advisor(advisor, kept):
    """The command with one cache for all tests here: a guarantee that was searched for once is known."""

    def run(*words, env=None, **options):
        return advisor(*words, env={"KAFKA_ADVISOR_CACHE": str(kept), **(env or {})}, **options)

    return run
