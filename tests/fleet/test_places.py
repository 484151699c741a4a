"""A file system that is not this machine's: files read from it, results written to it, by Hadoop's client."""

from __future__ import annotations

import json

import pytest

from advisor.fleet import FleetOptions
from advisor.fleet.run import audit_fleet
from advisor.spark.places import HadoopPlace, place

from .test_files import places


@pytest.fixture
def elsewhere(spark, tmp_path):
    """viewfs: folders of this machine that Spark and Hadoop's client reach by another name alone."""
    (tmp_path / "disk").mkdir()
    # Hadoop keeps a client for each name, with the folders it had at first.
    name = tmp_path.name.replace("_", "-")
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    conf.set(f"fs.viewfs.mounttable.{name}.link./data", (tmp_path / "disk").as_uri())
    return f"viewfs://{name}/data", tmp_path / "disk"


def tree(folder):
    """Two roots with hidden names, and what is passed over or cannot be read."""
    producer = "bootstrap.servers=a:9092\nacks=1\nkey.serializer=x\n"
    made = {
        "a/kafka-advisor.toml": 'profile = "prod"\n',
        "a/.github/CODEOWNERS": "* @org/pay\n_drafts/ @org/drafts\n",
        "a/.producer.properties": producer,
        "a/_drafts/sp ace%20#é.properties": producer,
        "a/.env": "KAFKA_MIN_INSYNC_REPLICAS=1\nKAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR=1\n",
        "a/compose.yml": "services:\n  kafka:\n    image: apache/kafka:3.9.0\n    env_file: [.env]\n",
        "b/topic.properties": "min.insync.replicas=1\nreplication.factor=1\npartitions=3\n",
        "b/application.yml": "spring:\n  kafka: {a: [\n",
        ".git/objects/x.properties": producer,
        "node_modules/x.properties": producer,
    }
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


class Cut(Exception):
    pass


def test_files_and_results_elsewhere(spark, advisor, elsewhere, tmp_path):
    """Found as an audit finds them; a run cut short leaves the last good one and is taken up."""
    url, disk = elsewhere
    tree(disk / "repos")
    report = json.loads(advisor("audit", "--format", "json", disk / "repos").stdout)
    first = audit_fleet(spark, f"{url}/repos", f"{url}/out", FleetOptions())
    rows = spark.read.parquet(f"{first.folder}/findings").collect()
    found = sorted((r["code"], r["deployment"] or "", r["file"], r["line"] or 0) for r in rows)
    assert found == places(report)
    assert {row["file"]: row["owner"] for row in rows if row["root"] == "a"} == {
        "a/.producer.properties": "org/pay",
        "a/_drafts/sp ace%20#é.properties": "org/drafts",
    }
    skipped = [file["file"] for file in report["files"] if file["status"] == "skipped"]
    assert skipped == ["b/application.yml"]
    count = len(report["files"])
    assert first.summary["rows"] == {"in": count, "audited": count - 1, "quarantined": 1, "repeated": 0}
    assert spark.read.parquet(f"{url}/out/verdicts").count() > 0

    def cut(text):
        if text == "summing up":
            raise Cut

    with pytest.raises(Cut):
        audit_fleet(spark, f"{url}/repos", f"{url}/out", FleetOptions(), cut)
    out = place(spark, f"{url}/out")
    assert out.read("current") == "000001\n"
    second = audit_fleet(spark, f"{url}/repos", f"{url}/out", FleetOptions(resume=True))
    assert out.read("current") == "000002\n"
    assert spark.read.parquet(f"{second.folder}/findings").count() == len(rows)
    assert out.names("") == ["current", "runs", "verdicts"]


def test_a_file_written_over_is_whole(spark, elsewhere):
    """Bytes of any kind, over what is there, with nothing left beside it."""
    out = HadoopPlace(spark, elsewhere[0])
    assert out.read_bytes("deep/x") is None
    for data in (b"one", bytes(range(256)) * 1000, b""):
        out.write_bytes("deep/x", data)
        assert out.read_bytes("deep/x") == data
    assert [name for name in out.names("deep") if not name.endswith(".crc")] == ["x"]
    out.move("deep/x", "other/y")
    assert not out.exists("deep/x")
    out.delete("other")
    assert out.names("other") == []
