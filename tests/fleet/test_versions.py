"""The Kafka version that a row is judged by: its cluster's, or its own, as an audit of the same has it."""

from __future__ import annotations

import json

import pytest

from advisor.fleet import audit_fleet, findings_by_row

COLUMNS = (
    "component string, cluster string, topic string, client string, kafka_version string, "
    "config map<string,string>"
)
# Removed in Kafka 4.0, deprecated before: what is said of it is another thing in each of the two clusters.
TOPIC = {"message.format.version": "2.8", "min.insync.replicas": "2"}
BROKER = {"log.message.format.version": "2.8", "default.replication.factor": "3"}
CLIENT = {"acks": "all", "auto.include.jmx.reporter": "true"}


def codes(report):
    return sorted({finding["code"] for finding in report["findings"]} & {"KA008", "KA009"})


@pytest.fixture(scope="module")
def found(spark, tmp_path_factory):
    rows = []
    for cluster, version in (("old", "3.9"), ("new", "4.1"), ("silent", None)):
        rows += [("broker", cluster, None, f"{cluster}-{n}", version, BROKER) for n in range(3)]
        rows.append(("topic", cluster, "orders", None, None, TOPIC))
        rows.append(("producer", cluster, "orders", f"{cluster}-client", None, CLIENT))
    rows += [("producer", "old", "orders", f"own-{version}", version, CLIENT) for version in ("3.9", "4.1")]
    frame = spark.createDataFrame(rows, COLUMNS)
    result = audit_fleet(spark, frame, str(tmp_path_factory.mktemp("versions")), select=("KA008", "KA009"))
    told = {}
    for row in findings_by_row(spark, result.folder).collect():
        told.setdefault((row["cluster"], row["client"] or row["topic"] or "brokers"), set()).add(row["code"])
    return result, told


@pytest.mark.parametrize(("cluster", "version"), [("old", "3.9"), ("new", "4.1"), ("silent", None)])
def test_topics_and_brokers_are_judged_by_the_version_of_their_cluster(
    found, advisor, tmp_path, cluster, version
):
    (tmp_path / "topic.properties").write_text("".join(f"{key}={value}\n" for key, value in TOPIC.items()))
    (tmp_path / "server.properties").write_text(
        "node.id=1\nprocess.roles=broker\n" + "".join(f"{key}={value}\n" for key, value in BROKER.items())
    )
    stated = ["--kafka-version", version] if version else []
    words = ["audit", "--format", "json", "--select", "KA008,KA009", *stated]
    _, told = found
    for name, file in (("orders", "topic.properties"), ("brokers", "server.properties")):
        wanted = codes(json.loads(advisor(*words, tmp_path / file).stdout))
        assert sorted(told.get((cluster, name), ())) == wanted, name
        assert wanted or version != "4.1"


def test_a_client_is_judged_by_the_version_of_its_own_row(found):
    """Its library is its own: brokers of another version say nothing of it."""
    _, told = found
    assert "KA008" in told["old", "own-4.1"]
    assert "KA008" not in told.get(("old", "own-3.9"), ())
    assert "KA008" not in told.get(("new", "new-client"), ())


def test_counts_rows_and_clusters_agree(spark, found):
    result, _ = found
    rows = findings_by_row(spark, result.folder).collect()
    counted = {finding["code"]: finding["count"] for finding in result.summary["findings"]}
    assert {code: sum(row["code"] == code for row in rows) for code in counted} == counted
    assert all(row["row_id"] for row in rows)
    clusters = spark.read.parquet(f"{result.folder}/clusters").collect()
    assert {row["cluster"]: (row["kafka_version"], row["brokers"]) for row in clusters} == {
        "old": ("3.9", 3),
        "new": ("4.1", 3),
        "silent": (None, 3),
    }
