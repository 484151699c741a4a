"""One Spark session for all tests of this folder, and one sample that is replayed once."""

from __future__ import annotations

import sys

import pytest

from ..conftest import ROOT, needs
from ..fleet.conftest import QUICK

CONFIG = ROOT / "samples/replay"
LATENESS_MS = 20_000
ASKED = {
    "config": [str(CONFIG)],
    "sweep": {"linger.ms": ("0", "2000"), "segment.ms": ("600000",), "partitions": ("3", "12")},
    "checked": 1,
    "lateness_ms": LATENESS_MS,
}


@pytest.fixture(scope="session")
def generate():
    """samples/replay/generate.py, by its path: another sample has a module of that name."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("replay_generate", CONFIG / "generate.py")
    module = module_from_spec(spec)
    sys.modules["replay_generate"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def spark():
    needs("java")
    from advisor.spark.session import open_session

    session = open_session("local[2]", None, QUICK)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def trace(generate, tmp_path_factory):
    """Two topics, some records late, some without a key, some that cannot be replayed."""
    path = tmp_path_factory.mktemp("trace") / "trace.parquet"
    made = generate.table(
        6000, days=0.5, topics=("clicks", "orders"), keyless=0.0, late=0.02, broken=3, burst=60.0, bursts=5
    )
    generate.write(path, made)
    return path


@pytest.fixture(scope="session")
def replayed(spark, trace, tmp_path_factory):
    """With one pass for all values of two sweeps."""
    from advisor.replay import replay_workload

    out = tmp_path_factory.mktemp("replay") / "out"
    return replay_workload(spark, str(trace), str(out), **ASKED)
