"""Runs that are cut short, and runs at once."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from advisor.model import UsageError
from advisor.replay import replay_workload
from advisor.replay.records import _shares
from advisor.replay.run import Run

from .conftest import ASKED


@pytest.fixture(scope="module")
def cut_short(spark, trace, tmp_path_factory):
    """An OUT in which the trace is read and no log is made."""
    out = tmp_path_factory.mktemp("cut") / "out"

    def fails(*_):
        raise RuntimeError("cut short")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Run, "_logs", fails)
        with pytest.raises(RuntimeError, match="cut short"):
            replay_workload(spark, str(trace), str(out), **ASKED)
    assert not (out / "current").exists()
    return out


def test_a_run_that_was_cut_short_is_taken_up(spark, trace, replayed, cut_short, monkeypatch):
    """And whether producers are divided by the nodes they write to makes no difference."""
    divided, told = [], []

    def shares(*asked):
        divided.append(_shares(*asked))
        return divided[-1]

    monkeypatch.setattr("advisor.replay.records._SHARE_MIN", 10)
    monkeypatch.setattr("advisor.replay.records._shares", shares)
    result = replay_workload(spark, str(trace), str(cut_short), resume=True, progress=told.append, **ASKED)
    assert told[0] == "taking up the run that was cut short"
    assert max(divided[0]) > 1
    made = [line.split(":")[0].strip() for line in told]
    assert "logs" in made
    assert "records" not in made
    for table in ("hours", "segments", "keys", "quarantine"):
        rows = (pq.read_table(Path(one.folder) / table).to_pylist() for one in (result, replayed))
        first, second = (sorted(map(str, mine)) for mine in rows)
        assert first == second


def test_of_two_runs_at_once_the_second_is_refused(spark, trace, tmp_path):
    from advisor.spark.store import Store

    store = Store(spark, str(tmp_path), print, {})
    with store.place.alone(False), pytest.raises(UsageError, match="another run"):
        replay_workload(spark, str(trace), str(tmp_path), **ASKED)
