"""One Spark session for all tests in this process: starting one takes longer than most of them."""

from __future__ import annotations

import sys

import pytest

from advisor.fleet import findings_by_row

from ..conftest import ROOT, needs

sys.path.insert(0, str(ROOT / "samples/fleet"))

# Interpreted and lightly compiled: on a few rows Spark's code generation costs more than the work.
QUICK = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="session")
def spark():
    needs("java")
    from advisor.spark.session import open_session

    session = open_session("local[2]", None, QUICK)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def sample():
    return ROOT / "samples/fleet/fleet.csv"


@pytest.fixture(scope="session")
def audited(spark, sample, tmp_path_factory):
    """The committed sample, audited once."""
    from advisor.fleet import audit_fleet

    out = tmp_path_factory.mktemp("fleet") / "out"
    return audit_fleet(spark, str(sample), str(out), now="2027-01-01")


def told(spark, folder: str) -> list[tuple[object, ...]]:
    """The findings row by row."""
    return sorted((tuple(row) for row in findings_by_row(spark, folder).collect()), key=str)
