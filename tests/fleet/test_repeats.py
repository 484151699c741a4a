"""Rows that repeat another, or say too little: counted once, told, and never multiplied."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from advisor.fleet import audit_fleet

from .conftest import told


def rows_of(spark, sample):
    return spark.read.option("header", True).option("escape", '"').csv(str(sample))


def test_a_table_united_with_itself_says_the_same(spark, sample, audited, tmp_path):
    frame = rows_of(spark, sample)
    steps = []
    twice = audit_fleet(
        spark,
        frame.unionByName(frame),
        str(tmp_path / "twice"),
        now="2027-01-01",
        progress=steps.append,
    )
    once = audited
    many = once.summary["rows"]["audited"]
    assert twice.summary["rows"] == {
        "in": 2 * once.summary["rows"]["in"],
        "audited": 2 * many,
        "quarantined": 2 * once.summary["rows"]["quarantined"],
        "repeated": many,
    }
    assert f"{many} rows repeat another in every column: they count once" in steps
    for count in ("deployments", "behaviours", "errors", "warnings", "notes", "findings", "drift"):
        assert twice.summary[count] == once.summary[count], count
    assert told(spark, twice.folder) == told(spark, once.folder)


def test_parquet_of_this_machine_is_read_once_too(spark, tmp_path):
    text = pa.string()
    schema = pa.schema(
        [("component", text), ("cluster", text), ("topic", text), ("config", pa.map_(text, text))]
    )
    rows = [
        {"component": component, "cluster": "one", "topic": "orders", "config": [("acks", "1")]}
        for component in ("producer", "topic")
    ]
    pq.write_table(pa.Table.from_pylist(rows * 4, schema), tmp_path / "a.parquet")
    result = audit_fleet(spark, str(tmp_path / "a.parquet"), str(tmp_path / "out"))
    assert result.summary["rows"] == {"in": 8, "audited": 8, "quarantined": 0, "repeated": 6}
    assert result.summary["deployments"] == 1


def test_an_empty_cell_says_nothing(spark, tmp_path):
    """No topic is called by an empty name: nobody writes to it."""
    columns = "component string, cluster string, topic string, client string, owner string, config string"
    rows = [
        (component, empty, empty, f"{component}-{n}", empty, '{"acks": "all", "retries": "5"}')
        for n, empty in enumerate(["", " ", None] * 3)
        for component in ("producer", "topic")
    ]
    result = audit_fleet(spark, spark.createDataFrame(rows, columns), str(tmp_path / "out"))
    assert result.summary["deployments"] == len(rows)
    made = spark.read.parquet(f"{result.folder}/deployments").collect()
    assert {(row["cluster"], row["owner"]) for row in made} == {(None, "(nobody)")}


def test_a_cell_that_is_no_number_costs_no_row(spark, tmp_path):
    """The row is audited; only its line is not known."""
    columns = "id string, component string, key string, value string, line string"
    rows = [
        ("a", "producer", "acks", "1", "3"),
        ("a", "producer", "linger.ms", "5", "three"),
        ("b", "producer", "acks", "1", ""),
        ("b", "producer", "retries", "1", "99999999999"),
    ]
    result = audit_fleet(spark, spark.createDataFrame(rows, columns), str(tmp_path / "out"))
    assert result.summary["rows"] == {"in": 4, "audited": 4, "quarantined": 0, "repeated": 0}
    made = spark.read.parquet(f"{result.folder}/configurations").collect()
    lines = {row["row_id"]: row["lines"] for row in made}
    assert lines["a"]["acks"] == 3
    assert lines["a"]["linger.ms"] is None
