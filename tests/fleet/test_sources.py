"""Tables of every kind that Spark reads here: the same rows, and a line for each wrong use."""

from __future__ import annotations

import csv

import pytest

from advisor.fleet import FleetOptions
from advisor.fleet.canonical import Canonical
from advisor.fleet.rows.narrow import TORN
from advisor.fleet.rows.sources import guess_format, named_columns, normalised, read_table
from advisor.model import UsageError


def rows_of(spark, source, **options):
    asked = FleetOptions(source_options=options)
    frame = normalised(read_table(spark, source, guess_format(source), asked), asked, [])
    found = frame.select("row_id", "component", "cluster", "topic", "owner", "fp", "reason").collect()
    return sorted((tuple(row) for row in found), key=str)


@pytest.fixture(scope="module")
def few(tmp_path_factory, sample):
    """Some rows of the sample, two of them unusable."""
    with sample.open(encoding="utf-8", newline="") as file:
        made = list(csv.DictReader(file))
    path = tmp_path_factory.mktemp("few") / "few.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [name for name in made[0] if name != "truth"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(made[13:19] + made[-2:])
    return path


def test_every_kind_of_table_gives_the_same_rows(spark, few, tmp_path):
    from pyspark.sql import functions as F

    wanted = rows_of(spark, str(few))
    assert [row[-1] for row in wanted].count(None) == len(wanted) - 2
    frame = spark.read.option("header", True).option("escape", '"').csv(str(few))
    mapped = frame.withColumn("config", F.from_json("config", "map<string,string>"))
    mapped.coalesce(1).write.orc(str(tmp_path / "a.orc"))
    mapped.coalesce(1).write.json(str(tmp_path / "a.json"))
    frame.createOrReplaceTempView("few_configs")
    for source in (str(tmp_path / "a.orc"), str(tmp_path / "a.json"), "table:few_configs"):
        assert rows_of(spark, source) == wanted, source
    # Derby, as many databases do, writes names that nobody quoted in large letters.
    url = "jdbc:derby:memory:few"
    spark._jvm.System.setProperty("derby.stream.error.file", str(tmp_path / "derby.log"))
    connection = spark._jvm.java.sql.DriverManager.getConnection(f"{url};create=true")
    columns = ", ".join(f"{name} VARCHAR(4000)" for name in frame.columns)
    connection.createStatement().execute(f"CREATE TABLE configs ({columns})")
    marks = ", ".join("?" * len(frame.columns))
    for row in frame.collect():
        statement = connection.prepareStatement(f"INSERT INTO configs VALUES ({marks})")
        for number, value in enumerate(row, 1):
            statement.setString(number, value)
        statement.execute()
    assert rows_of(spark, url, dbtable="configs") == wanted
    assert rows_of(spark, url, query="SELECT * FROM configs WHERE component = 'topic'") == [
        row for row in wanted if row[1] == "topic"
    ]


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("none.parquet", {}, "none.parquet cannot be read as parquet: Path does not exist: file:/"),
        ("table:none", {}, "table:none cannot be read as table: The table or view `none` cannot be found"),
        ("jdbc:derby:memory:x", {}, "a jdbc source needs --source-option dbtable=NAME or query=SQL"),
        (
            "jdbc:none://host/db",
            {"dbtable": "t"},
            "No suitable driver; the database's driver is not there: --conf",
        ),
        ("a.avro", {}, "org.apache.spark:spark-avro_2.13:VERSION adds it"),
        ("a.delta", {}, "io.delta:delta-spark_2.13:VERSION adds it"),
        ("s3a://bucket/a.parquet", {}, "S3AFileSystem not found; --conf spark.jars=FILE or"),
        ("broken.parquet", {}, "Could not read footer"),
        ("empty.csv", {}, "empty.csv is empty: a CSV begins with the names of its columns"),
    ],
)
def test_a_source_that_cannot_be_read_is_told_in_a_line(spark, tmp_path, source, options, said):
    (tmp_path / "broken.parquet").write_text("hello")
    (tmp_path / "empty.csv").write_text("")
    place = source if ":" in source else str(tmp_path / source)
    with pytest.raises(UsageError) as found:
        read_table(spark, place, guess_format(place), FleetOptions(source_options=options))
    assert said in str(found.value)
    assert "\n" not in str(found.value)
    assert "SQLSTATE" not in str(found.value)


def test_columns_are_known_by_any_case_and_told_where_they_are_not(spark):
    frame = spark.createDataFrame([], "Kind string, CONFIG string, `\x00\x01` string")
    assert named_columns(frame.columns, {}) == {"component": "Kind", "config": "CONFIG"}
    assert named_columns(frame.columns, {"owner": "kind"})["owner"] == "Kind"
    with pytest.raises(UsageError, match=r"--column owner=squad: the table has Kind, CONFIG$"):
        named_columns(frame.columns, {"owner": "squad"})
    with pytest.raises(UsageError, match="no such name here"):
        named_columns(frame.columns, {"colour": "kind"})


def test_json_is_taken_as_it_is_written(spark, tmp_path):
    """A number is not changed by what other rows have, and a key that others have is not this row's."""
    configs = ['{"linger.ms": 5, "acks": "1"}', '{"linger.ms": 5.5}', '{"acks": "all", "linger.ms": true}']
    lines = [f'{{"component": "producer", "id": "{n}", "config": {one}}}' for n, one in enumerate(configs)]
    (tmp_path / "a.json").write_text("\n".join(lines))
    frame = read_table(spark, str(tmp_path / "a.json"), "json", FleetOptions())
    found = {row["row_id"]: row["text"] for row in normalised(frame, FleetOptions(), []).collect()}
    entries = {name: dict(Canonical.read(text).entries) for name, text in found.items()}
    assert entries == {
        "0": {"linger.ms": "5", "acks": "1"},
        "1": {"linger.ms": "5.5"},
        "2": {"acks": "all", "linger.ms": "true"},
    }


def test_nasty_rows_are_audited_or_say_why(spark, tmp_path):
    """Of every line that is not empty something is made, and what is not plain has a reason."""
    lines = {
        '{"component": "producer", "config": {"linger.ms": 5, "a": true, "b": null, "c": [1]}}': None,
        '{"component": " Topic ", "config": {"retention.ms": "1"}}': None,
        '{"component": "producer", "config": {"acks": "1", "acks": "all"}}': TORN,
        '{"component": "producer", "config": [1]}': "the config is missing, or is no JSON object",
        '{"component": "producer", "config": "acks=1"}': "the config is missing, or is no JSON object",
        '{"component": "producer", "config": {}}': "the config is empty",
        '{"component": null, "config": {"a": "b"}}': "no component",
        '{"component": 3, "config": {"a": "b"}}': "no component is called 3",
        "{}": "no component",
        '{"component": "producer", "conf': "the record cannot be parsed",
        "\x00\x01": "the record cannot be parsed",
    }
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n\n")
    frame = read_table(spark, str(tmp_path / "a.jsonl"), "json", FleetOptions())
    found = normalised(frame, FleetOptions(), []).collect()
    assert sum(row["rows"] for row in found) == len(lines)
    assert sorted((row["reason"] for row in found), key=str) == sorted(lines.values(), key=str)
    pairs = [("x", "acks", "1"), ("x", "acks", "all"), ("y", None, "1"), ("z", "acks", None)]
    frame = spark.createDataFrame([(name, "producer", *pair) for name, *pair in pairs],
                                  "id string, component string, key string, value string")  # fmt: skip
    found = normalised(frame, FleetOptions(), []).select("row_id", "rows", "reason").collect()
    assert sorted(tuple(row) for row in found) == [("x", 2, TORN), ("y", 1, TORN), ("z", 1, None)]
