"""What a notebook is given: tables as DataFrames, progress, what changed since the last run."""

from __future__ import annotations

import pytest

from advisor.fleet import audit_fleet
from advisor.fleet.store.tables import TABLES
from advisor.model import UsageError

SCHEMA = (
    "component string, cluster string, topic string, client string, owner string, config map<string,string>"
)


def fleet(spark, acks):
    return spark.createDataFrame(
        [("producer", "main", f"t{n}", f"c{n}", "pay", {"acks": one}) for n, one in enumerate(acks)], SCHEMA
    )


def test_tables_are_data_frames(spark, audited):
    for name in TABLES:
        assert audited.table(name).columns == spark.read.parquet(f"{audited.folder}/{name}").columns
    assert audited.table("findings").where("code = 'KA101'").count() > 0
    assert audited.findings_by_row("code = 'KA101'").count() > 0
    with pytest.raises(ValueError, match="no table is called finding; there is configurations"):
        audited.table("finding")
    with pytest.raises(ValueError, match="this is the first run"):
        audited.changes()


def test_what_is_new_and_fixed_since_the_last_run(spark, tmp_path):
    """Rows are compared, not behaviours: one row gets better, one gets worse, one stays as bad as it was."""
    out = str(tmp_path / "out")
    spark.sql(f"create database audits location '{tmp_path / 'audits'}'")
    first = audit_fleet(spark, fleet(spark, ["1", "all", "1"]), out, select=("KA3",))
    assert (first.summary["since"], first.summary["changes"]) == (None, None)
    second = audit_fleet(spark, fleet(spark, ["all", "1", "1"]), out, select=("KA3",), catalog="audits")
    changed = second.changes().collect()
    assert {(row["change"], row["client"]) for row in changed} == {("fixed", "c0"), ("new", "c1")}
    told = second.summary["changes"]
    assert told["new"] == told["fixed"] == sum(row["change"] == "new" for row in changed) > 0
    counted = second.table("changes").collect()
    assert sum(row["findings"] for row in counted) == len(changed)
    assert {row["owner"] for row in counted} == {"pay"}
    # And the catalog has the run, in a column.
    try:
        assert (
            spark.table("audits.findings").where("run = '000002'").count() == second.table("findings").count()
        )
        third = audit_fleet(spark, fleet(spark, ["all"]), out, select=("KA3",), catalog="audits")
        runs = spark.table("audits.configurations").groupBy("run").count().collect()
        assert {row["run"]: row["count"] for row in runs} == {"000002": 3, "000003": 1}
        assert third.summary["since"] == "000002"
    finally:
        spark.sql("drop database audits cascade")


def test_only_rows_that_are_asked_for(spark, tmp_path):
    frame = fleet(spark, ["1", "all", "1"])
    result = audit_fleet(spark, frame, str(tmp_path / "out"), where="client != 'c1' and topic is not null")
    assert result.summary["rows"]["in"] == 2
    with pytest.raises(UsageError, match="--where colour = 1: A column, variable, or function parameter"):
        audit_fleet(spark, frame, str(tmp_path / "out"), where="colour = 1")


@pytest.mark.parametrize("fields", ["key:string,value:string", "source:string,value:int,name:string"])
def test_a_config_may_be_a_list_of_keys_and_values(spark, tmp_path, fields):
    """As answers of an admin client are kept; other fields of an entry are passed over."""
    names = [field.partition(":")[0] for field in fields.split(",")]
    entry = {"key": "linger.ms", "name": "linger.ms", "value": 5 if "int" in fields else "5", "source": "x"}
    rows = [("producer", [tuple(entry[name] for name in names)])]
    frame = spark.createDataFrame(rows, f"component string, config array<struct<{fields}>>")
    result = audit_fleet(spark, frame, str(tmp_path / "out"))
    (row,) = result.table("configurations").collect()
    assert row["text"].endswith("linger.ms\x015")
    other = spark.createDataFrame(
        [("producer", [("a",)])], "component string, config array<struct<b:string>>"
    )
    with pytest.raises(UsageError, match="the column config is a list of b: there must be key and value"):
        audit_fleet(spark, other, str(tmp_path / "other"))
