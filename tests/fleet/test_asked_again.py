"""A key that no example asked for: the run notices, and judges again with it."""

from __future__ import annotations

from advisor.fleet import run
from advisor.fleet.options import FleetOptions

ROWS = [
    ("producer", "main", "orders", {"acks": "1", "linger.ms": "5"}),
    ("topic", "main", "orders", {"min.insync.replicas": "2"}),
]
COLUMNS = "component string, cluster string, topic string, config map<string,string>"


def test_what_a_missed_key_decides_is_judged_again(spark, tmp_path, monkeypatch):
    # As if no example had led a rule to ask for acks.
    known = run.read_keys
    monkeypatch.setattr(run, "read_keys", lambda *given: known(*given) - {"acks", "request.required.acks"})
    told: list[str] = []
    frame = spark.createDataFrame(ROWS, COLUMNS)
    result = run.audit_fleet(spark, frame, str(tmp_path / "out"), FleetOptions(), told.append)
    assert any("judging again" in line for line in told)
    found = spark.read.parquet(f"{result.folder}/findings").select("code").collect()
    assert "KA102" in {row["code"] for row in found}
    again: list[str] = []
    run.audit_fleet(spark, frame, str(tmp_path / "out"), FleetOptions(), again.append)
    assert not any("judging again" in line for line in again), "the key was kept for the next run"
