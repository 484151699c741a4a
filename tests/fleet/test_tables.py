"""A table of configurations on a real Spark, in this process: local[2]."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from advisor.fleet import audit_fleet, findings_by_row
from advisor.fleet.store.tables import SCHEMAS
from advisor.fleet.tell import page
from advisor.model import UsageError
from advisor.spark.session import NEEDED, settings
from tests.cli.test_planted_secrets import CASES

from .conftest import told


def truth(sample):
    with sample.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_rows_in_are_audited_or_in_quarantine(spark, audited, sample):
    rows = truth(sample)
    broken = [row for row in rows if row["truth"] == "quarantine"]
    assert audited.summary["rows"] == {
        "in": len(rows),
        "audited": len(rows) - len(broken),
        "quarantined": len(broken),
        "repeated": 0,
    }
    kept = spark.read.parquet(f"{audited.folder}/quarantine").collect()
    assert sorted(row["row_id"] for row in kept) == sorted(row["id"] for row in broken)
    assert all(row["reason"] for row in kept)


def test_every_fault_is_found_and_nothing_else_is(spark, audited, sample):
    """The generator knows what is wrong with each service; what it made sane has no finding above a note."""
    services: dict[str, set[str]] = {}
    for row in truth(sample):
        if row["truth"] != "quarantine" and row["component"] != "broker":
            services.setdefault(row["topic"], set()).update(row["truth"].split())
    found: dict[str, set[str]] = {topic: set() for topic in services}
    for row in findings_by_row(spark, audited.folder, "severity != 'note'").collect():
        found[row["topic"]].add(row["code"])
    assert any(services.values())
    assert found == services


def test_tables_have_the_documented_columns(spark, audited):
    for table, columns in SCHEMAS.items():
        assert sorted(spark.read.parquet(f"{audited.folder}/{table}").columns) == sorted(columns), table


def test_each_deployment_has_a_behaviour_and_each_behaviour_a_verdict(spark, audited):
    deployments = spark.read.parquet(f"{audited.folder}/deployments")
    behaviours = spark.read.parquet(f"{audited.folder}/behaviours")
    guarantees = spark.read.parquet(f"{audited.folder}/guarantees")
    assert deployments.join(behaviours, "behaviour", "left_anti").count() == 0
    assert behaviours.agg({"deployments": "sum"}).collect()[0][0] == deployments.count()
    assert {row["verdict"] for row in guarantees.select("verdict").distinct().collect()} <= {
        "holds",
        "broken",
        "unknown",
    }
    assert guarantees.where("name = 'acked-records-survive'").count() > 0


def test_findings_name_the_row_and_no_mark_is_left(spark, audited):
    table = spark.read.parquet(f"{audited.folder}/findings")
    rows = findings_by_row(spark, audited.folder, "code = 'KA101'").collect()
    assert len(rows) == table.where("code = 'KA101'").agg({"rows": "sum"}).collect()[0][0] > 0
    for row in rows:
        assert row["deployment"] == f"{row['client']} -> {row['topic']} -> {row['cluster']}"
    counted = {finding["code"]: finding["count"] for finding in audited.summary["findings"]}
    assert counted["KA101"] == len(rows)
    text = json.dumps(audited.summary, ensure_ascii=False) + str(table.collect())
    assert "\ue000" not in text
    assert "#0" not in text


def test_the_page_shows_what_is_found_row_by_row(spark, audited):
    text = Path(audited.folder, "report.html").read_text(encoding="utf-8")
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    (table,) = (section for section in data["sections"] if section.get("name") == "findings")
    columns = {
        column["name"]: column["values"]
        if column["kind"] == "number"
        else [column["words"][number] for number in column["rows"]]
        for column in table["columns"]
    }
    shown = sorted(zip(*columns.values(), strict=True), key=str)
    rows = findings_by_row(spark, audited.folder, "not suppressed").select(*columns).collect()
    wanted = [
        tuple(cell if name == "line" else cell or "" for name, cell in row.asDict().items()) for row in rows
    ]
    assert shown == sorted(wanted, key=str)


@pytest.mark.parametrize("room", [1, 30])
def test_a_page_with_little_room_shows_the_gravest_and_one_of_each(
    spark, sample, tmp_path, monkeypatch, room
):
    monkeypatch.setattr(page, "ROWS_MAX", room)
    result = audit_fleet(spark, str(sample), str(tmp_path / "out"), select=("KA1", "KA2", "KA5"))
    text = Path(result.folder, "report.html").read_text(encoding="utf-8")
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    (table,) = (section for section in data["sections"] if section.get("name") == "findings")
    (codes,) = (column for column in table["columns"] if column["name"] == "code")
    assert codes["words"] == sorted({finding["code"] for finding in result.summary["findings"]})
    counted = {(f["code"]): f["count"] for f in result.summary["findings"]}
    assert len(codes["rows"]) < sum(counted.values())
    if room >= counted["KA101"]:
        assert codes["rows"].count(codes["words"].index("KA101")) == counted["KA101"]


def test_parquet_of_this_machine_is_read_by_the_workers_and_says_the_same(spark, audited, sample, tmp_path):
    """One file, or two with the rows in many groups; a CSV goes through Spark."""
    rows = [
        {**row, "config": list(json.loads(row["config"]).items()) if row["config"] else None}
        for row in truth(sample)
    ]
    rows = [{name: value or None for name, value in row.items()} for row in rows]
    text = pa.string()
    schema = pa.schema([(name, pa.map_(text, text) if name == "config" else text) for name in rows[0]])
    table = pa.Table.from_pylist(rows, schema)
    source = tmp_path / "fleet.parquet"
    source.mkdir()
    pq.write_table(table.slice(0, 50), source / "a.parquet", row_group_size=7)
    pq.write_table(table.slice(50), source / "b.parquet")
    for partitions in (None, 3):
        out = tmp_path / f"out{partitions}"
        other = audit_fleet(spark, str(source), str(out), now="2027-01-01", partitions=partitions)
        assert told(spark, other.folder) == told(spark, audited.folder)
        assert {**other.summary, "trend": None} == {**audited.summary, "trend": None}
        for name in ("configurations", "deployments"):
            ours, theirs = (
                sorted(
                    str(row.asDict()) for row in spark.read.parquet(f"{folder}/{name}").drop("text").collect()
                )
                for folder in (other.folder, audited.folder)
            )
            assert ours == theirs
    assert (out / "runs/000001/configurations/part-00001.parquet").exists()


def test_partitions_make_no_difference(spark, audited, sample, tmp_path):
    other = audit_fleet(spark, str(sample), str(tmp_path / "out"), now="2027-01-01", partitions=8)
    assert told(spark, other.folder) == told(spark, audited.folder)
    assert {**other.summary, "trend": None} == {**audited.summary, "trend": None}


def test_drift_shows_the_outlier_first(spark, tmp_path):
    rows = [
        ("producer", "one", f"s{n}", "team", {"acks": "all", "linger.ms": "5" if n else "500"})
        for n in range(9)
    ]
    frame = spark.createDataFrame(
        rows, "component string, cluster string, client string, owner string, config map<string,string>"
    )
    result = audit_fleet(spark, frame, str(tmp_path / "out"))
    first = spark.read.parquet(f"{result.folder}/drift").collect()[0]
    assert (first["key"], first["usual"], first["value"], first["configs"], first["of"]) == (
        "linger.ms",
        "5",
        "500",
        1,
        9,
    )


def test_a_secret_is_in_no_table(spark, tmp_path):
    secret = "hunter2-and-more"
    config = {
        "acks": "1",
        "sasl.jaas.config": f'org.x.Module required username="u" password="{secret}";',
        "ssl.keystore.password": secret,
        "x.url": f"https://user:{secret}@host/",
    }
    torn = {"acks": "1", "linger.ms": "5\u0002acks\u0001all"}
    rows = [("producer", config), ("producer", torn)]
    frame = spark.createDataFrame(rows, "component string, config map<string,string>")
    result = audit_fleet(spark, frame, str(tmp_path / "out"), kafka_version="3.9")
    assert result.summary["rows"] == {"in": 2, "audited": 1, "quarantined": 1, "repeated": 0}
    assert {row[0] for row in told(spark, result.folder)} >= {"KA301"}
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
    held = spark.read.parquet(f"{result.folder}/behaviours").collect()
    assert secret not in str(held)


def test_no_planted_secret_is_in_a_table(spark, tmp_path):
    """The planted secrets of the command's outputs, as rows."""
    cases = [case for case in CASES if case.format == "properties"]
    rows = [("producer", {"acks": "1", **{case.key: case.value for case in cases if case.kind != "shape"}})]
    rows += [("producer", {"acks": "1", case.key: case.value}) for case in cases if case.kind == "shape"]
    frame = spark.createDataFrame(rows, "component string, config map<string,string>")
    result = audit_fleet(spark, frame, str(tmp_path / "out"), kafka_version="3.9")
    assert result.summary["rows"]["audited"] == len(rows)
    texts = [str(result.summary)]
    for folder in sorted({path.parent for path in Path(result.folder).rglob("*.parquet")}):
        texts.append(str(spark.read.parquet(str(folder)).collect()))
    texts += [
        path.read_bytes().decode("utf-8", "replace")
        for path in (tmp_path / "out").rglob("*")
        if path.is_file() and path.suffix in (".json", ".html", ".txt", ".csv")
    ]
    assert len(texts) > 2
    assert [case.word for case in cases if any(case.word in text for text in texts)] == []


class Cut(Exception):
    pass


def test_a_run_cut_short_leaves_the_last_good_one_and_is_taken_up(spark, sample, tmp_path):
    from advisor.fleet.options import FleetOptions
    from advisor.fleet.run import audit_fleet as run

    out = tmp_path / "out"
    options = FleetOptions(now="2027-01-01", select=("KA1",))
    first = run(spark, str(sample), str(out), options)
    assert (out / "current").read_text().split() == ["000001"]

    def cut(text):
        if text == "writing what was found":
            raise Cut

    with pytest.raises(Cut):
        run(spark, str(sample), str(out), options, cut)
    assert (out / "current").read_text().split() == ["000001"]
    assert told(spark, first.folder)
    done = {path.name: path.stat().st_mtime_ns for path in (out / "unfinished").glob("*/_SUCCESS")}
    assert done
    # A verdict that an earlier run kept is not searched again.
    kept = spark.read.parquet(str(out / "unfinished/judged"))
    assert kept.where("kind = 'verdict'").count() == 0
    steps = []
    second = run(spark, str(sample), str(out), options._replace(resume=True), steps.append)
    assert "taking up the run that was cut short" in steps
    assert (out / "current").read_text().split() == ["000002"]
    assert told(spark, second.folder) == told(spark, first.folder)
    assert [point["run"] for point in second.summary["trend"]] == ["000001", "000002"]


def test_a_session_of_the_users_own_gets_its_settings_back(spark):
    spark.conf.set("spark.sql.session.timeZone", "Europe/Paris")
    before = dict(spark.conf.getAll)
    with settings(spark, NEEDED):
        assert {name: spark.conf.get(name) for name in NEEDED} == NEEDED
    assert dict(spark.conf.getAll) == before
    spark.conf.unset("spark.sql.session.timeZone")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("kind_of string, config map<string,string>", "no column that says what each row is"),
        ("component string, note string", "neither config nor key and value"),
    ],
)
def test_a_table_of_another_shape_is_told(spark, tmp_path, columns, said):
    frame = spark.createDataFrame([], columns)
    with pytest.raises(UsageError, match=said):
        audit_fleet(spark, frame, str(tmp_path / "out"))
