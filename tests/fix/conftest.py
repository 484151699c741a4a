"""One cache for all these tests: each makes the same few questions."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True, scope="session")
def one_cache(tmp_path_factory):
    before = os.environ.get("KAFKA_ADVISOR_CACHE")
    os.environ["KAFKA_ADVISOR_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["KAFKA_ADVISOR_CACHE"]
    else:
        os.environ["KAFKA_ADVISOR_CACHE"] = before
