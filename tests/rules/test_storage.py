"""The storage rules: a run or a budget with numbers, a fix that was tried, silence where nothing is known."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import jsonschema
import pytest

import advisor.schemas
from advisor.memo.cache import Cache
from advisor.packs.pack import load_packs
from advisor.registry import load_registry
from advisor.testing import audit_settings, audit_texts

RULES = [
    rule for rule in load_packs(load_registry().packs, (), Cache(None)) if rule.guarantee == "storage-bounded"
]
BROKER = {"process.roles": "broker", "node.id": "1"}
TOPIC = {"partitions": "12", "replication.factor": "3"}
QUIET = {"records_per_second": "1", "record_bytes": "500"}
DAY = 86_400_000


@cache
def schema():
    return json.loads((Path(advisor.schemas.__file__).parent / "report.schema.json").read_text())


def asked(topic=(), broker=(), workload=None, fact=None, **options):
    configs = {"topic": {**TOPIC, **dict(topic)}}
    if broker is not None:
        configs["broker"] = {**BROKER, **dict(broker)}
    if workload is not None:
        configs["workload"] = workload
    if fact is not None:
        configs["fact"] = fact
    report = audit_settings(configs, profile="prod", **options)
    jsonschema.validate(report, schema())
    return report


def storage(report, code=None):
    codes = {rule.code for rule in RULES}
    return [
        finding
        for finding in report["findings"]
        if finding["code"] in codes and code in (None, finding["code"])
    ]


def verdict(report):
    return next(
        (
            guarantee
            for guarantee in report["deployments"][0]["guarantees"]
            if guarantee["name"] == "storage-bounded"
        ),
        None,
    )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_finding_says_what_to_do_and_on_what_it_rests(rule):
    (example, *_) = rule.examples
    options = {name: example[name] for name in ("kafka_version", "profile") if name in example}
    report = audit_settings(example["bad"], **options)
    jsonschema.validate(report, schema())
    (finding,) = [one for one in report["findings"] if one["code"] == rule.code]
    assert finding["evidence"]["numbers"]
    assert finding["fixes"] or finding["advice"]
    assert bool(finding["evidence"]["trace"]) == (rule.evidence == "trace")
    for step in finding["evidence"]["trace"]:
        assert step["state"]["kind"] == "log"


def test_seven_days_that_are_fourteen_segment_by_segment():
    report = asked({"retention.ms": 7 * DAY}, workload=QUIET)
    (finding,) = storage(report)
    assert finding["code"] == "KA502"
    assert "up to 14 d" in finding["message"]
    deletions = [
        (step["t_ms"], effect)
        for step in finding["evidence"]["trace"]
        for effect in step["effects"]
        if effect.startswith("deleted")
    ]
    assert [effect for _, effect in deletions] == [
        "deleted 0: its oldest record stayed 14 d",
        "deleted 50401: its oldest record stayed 14 d",
    ]
    assert 14 * DAY < deletions[0][0] < 15 * DAY
    bases = [
        [segment["base"] for segment in step["state"]["segments"]] for step in finding["evidence"]["trace"]
    ]
    assert bases[0] == [0]
    assert [0, 50401] in bases
    (change,) = finding["fixes"][0]["changes"]
    assert (change["key"], change["to"]) == ("segment.ms", str(DAY))
    assert finding["evidence"]["numbers"]["files per partition"] == "18"


def test_a_busy_topic_is_kept_as_long_as_it_says():
    busy = {"records_per_second": "100000", "record_bytes": "1000"}
    report = asked({"retention.ms": 7 * DAY}, workload=busy)
    assert not storage(report, "KA502")


@pytest.mark.parametrize("version", ["2.8", "3.9", "4.3"])
@pytest.mark.parametrize(
    "topic",
    [
        {},
        {"retention.ms": "604800000"},
        {"cleanup.policy": "compact"},
        {"cleanup.policy": "compact", "segment.ms": "3600000", "min.cleanable.dirty.ratio": "0.1"},
        {"retention.ms": "604800000", "segment.ms": "3600000"},
        {"retention.bytes": "10737418240", "partitions": "2"},
        {"cleanup.policy": "compact,delete", "retention.ms": "604800000"},
        {"retention.ms": "-1"},
    ],
    ids=lambda topic: ",".join(f"{key}={value}" for key, value in topic.items()) or "defaults",
)
def test_what_people_sanely_write_gives_nothing_without_a_workload(version, topic):
    report = asked(topic, kafka_version=version)
    assert not storage(report)
    assert (verdict(report) or {"verdict": "holds"})["verdict"] == "holds"


@pytest.mark.parametrize(
    ("topic", "broker", "depends_on"),
    [
        ({"retention.ms": "3600000"}, (), ["[workload] record_bytes", "[workload] records_per_second"]),
        ({"segment.bytes": "1048576"}, (), ["[workload] record_bytes", "[workload] records_per_second"]),
    ],
    ids=["short retention", "small segments"],
)
def test_what_the_traffic_or_an_unseen_file_decides_is_unknown(topic, broker, depends_on):
    report = asked(topic, broker)
    assert not storage(report)
    found = verdict(report)
    assert found["verdict"] == "unknown"
    assert sorted(found["depends_on"]) == depends_on


def test_a_limit_below_the_segments_of_a_broker_that_is_not_in_sight_is_told_with_what_is_assumed():
    report = asked({"retention.bytes": "104857600", "partitions": "1"}, None)
    (found,) = storage(report)
    assert (found["code"], found["severity"]) == ("KA503", "note")
    assert found["assuming"] == ["segment.bytes=1073741824, the topic's default"]
    assert verdict(report)["verdict"] == "unknown"


def test_the_default_of_a_broker_that_is_not_in_sight_is_not_held_against_anybody():
    report = asked({"retention.ms": 7 * DAY}, None, QUIET)
    assert not storage(report)
    assert verdict(report)["depends_on"] == ["segment.ms"]


def test_a_template_is_not_guessed():
    report = asked({"retention.ms": "${RETENTION}"}, workload=QUIET)
    assert not storage(report, "KA502")


def test_a_brokers_setting_is_one_finding_for_all_its_topics():
    report = audit_texts(
        {
            "server.properties": "process.roles=broker\nnode.id=1\nlog.retention.bytes=104857600\n",
            "topic-a.properties": "partitions=1\nreplication.factor=3\n",
            "topic-b.properties": "partitions=1\nreplication.factor=3\n",
        },
        profile="prod",
    )
    (finding,) = storage(report, "KA503")
    assert (finding["locations"][0]["file"], finding["locations"][0]["line"]) == ("server.properties", 3)


def test_small_indexes_make_small_segments():
    """segment.index.bytes of 4 KiB holds 340 entries: a segment ends after some 1.4 MB, whatever its size."""
    busy = {"records_per_second": "1200", "record_bytes": "1000"}
    report = asked({"segment.index.bytes": "4096"}, workload=busy, fact={"brokers": "3"})
    (finding,) = storage(report, "KA505")
    assert finding["settings"][2]["key"] == "segment.index.bytes"
    (change,) = finding["fixes"][0]["changes"]
    assert (change["key"], change["to"]) == ("segment.index.bytes", "10485760")


@pytest.mark.parametrize(
    ("topic", "workload", "code", "change"),
    [
        # An hour of crumbs: segments of two minutes are few, and add little to the hour.
        (
            {"retention.ms": "3600000", "segment.ms": "1000"},
            {"records_per_second": "5000", "record_bytes": "500"},
            "KA505",
            ("segment.ms", "120000"),
        ),
        # Ten gigabytes a day: a segment of a gigabyte is a tenth of a day, but retention is an hour.
        (
            {"retention.ms": "3600000", "partitions": "1"},
            {"records_per_second": "100", "record_bytes": "1000"},
            "KA502",
            ("segment.ms", "900000"),
        ),
        (
            {"cleanup.policy": "compact", "segment.ms": "2592000000"},
            QUIET,
            "KA508",
            ("segment.ms", "86400000"),
        ),
    ],
    ids=["crumbs", "an hour", "a month"],
)
def test_the_fix_is_a_value_that_a_person_would_write(topic, workload, code, change):
    (finding,) = storage(asked(topic, workload=workload, fact={"brokers": "3"}), code)
    (fix,) = finding["fixes"]
    assert [(one["key"], one["to"]) for one in fix["changes"]] == [change]
    assert fix["verified"] == ["storage-bounded holds"]


@pytest.mark.parametrize(
    ("topic", "workload", "code"),
    [
        ({"retention.ms": "60000"}, QUIET, "KA502"),
        ({"retention.bytes": "1000"}, None, "KA503"),
        (
            {"cleanup.policy": "compact", "segment.ms": "60000", "partitions": "5000"},
            {"records_per_second": "0.0001", "record_bytes": "500"},
            "KA508",
        ),
    ],
    ids=["a minute", "a kilobyte", "a record in years"],
)
def test_where_no_setting_helps_there_is_advice(topic, workload, code):
    texts = {
        "server.properties": "process.roles=broker\nnode.id=1\n",
        "topic-a.properties": "".join(f"{key}={value}\n" for key, value in {**TOPIC, **topic}.items()),
    }
    if workload is not None:
        lines = [f"{key} = {value}\n" for key, value in workload.items()]
        texts["kafka-advisor.toml"] = "[workload]\n" + "".join(lines)
    (finding,) = storage(audit_texts(texts, profile="prod"), code)
    assert not finding["fixes"]
    assert finding["advice"]


def test_a_longer_time_away_needs_longer_tombstones():
    topic = {"cleanup.policy": "compact"}
    assert not storage(asked(topic, workload={"longest_catch_up": "12h"}), "KA511")
    (finding,) = storage(asked(topic, workload={"longest_catch_up": "36h"}), "KA511")
    (change,) = finding["fixes"][0]["changes"]
    assert (change["key"], change["to"]) == ("delete.retention.ms", str(3 * DAY))


def test_the_topics_that_a_connect_worker_names_hold_its_state():
    texts = {
        "server.properties": "process.roles=broker\nnode.id=1\n",
        "connect-distributed.properties": "bootstrap.servers=kafka:9092\ngroup.id=c\n"
        "key.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "value.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "config.storage.topic=connect-configs\noffset.storage.topic=connect-offsets\n"
        "status.storage.topic=connect-status\n",
        "topic-connect-configs.properties": "partitions=1\nreplication.factor=3\n",
    }
    (finding,) = storage(audit_texts(texts, profile="prod"), "KA509")
    # Left to the default, which the broker in sight does not change.
    assert finding["fixes"][0]["changes"][0]["to"] == "compact"
    mended = {**texts, "topic-connect-configs.properties": "partitions=1\ncleanup.policy=compact\n"}
    assert not storage(audit_texts(mended, profile="prod"), "KA509")


@pytest.mark.parametrize(("version", "told"), [("2.8", True), ("3.9", True), ("4.3", False)])
def test_producers_clocks_are_limited_from_4_0_on(version, told):
    report = asked({"message.timestamp.type": "CreateTime"}, kafka_version=version)
    found = storage(report, "KA512")
    assert bool(found) == told
    if told:
        key = "after" if version == "3.9" else "difference"
        assert found[0]["fixes"][0]["changes"][0]["key"] == f"message.timestamp.{key}.max.ms"


def test_replicas_of_all_topics_count():
    texts = {
        "server.properties": "process.roles=broker\nnode.id=1\n",
        "kafka-advisor.toml": "[facts]\nbrokers = 3\n",
    }
    for name in ("a", "b", "c"):
        texts[f"topic-{name}.properties"] = "partitions=2000\nreplication.factor=3\n"
    (finding,) = storage(audit_texts(texts, profile="prod"), "KA513")
    assert "6,000 replicas on each broker" in finding["message"]


def test_partitions_that_nobody_states_are_not_guessed():
    """A gigabyte a day on one partition; on a thousand, each is quiet."""
    steady = {"records_per_second": "20", "record_bytes": "1000"}
    texts = {
        "topic-a.properties": "replication.factor=3\nretention.ms=604800000\nsegment.bytes=104857600\n"
        "segment.ms=604800000\n",
        "kafka-advisor.toml": "[workload]\n" + "".join(f"{key} = {value}\n" for key, value in steady.items()),
    }
    found = verdict(audit_texts(texts, profile="prod"))
    assert (found["verdict"], found["depends_on"]) == ("unknown", ["topic.partitions"])


@pytest.mark.parametrize(
    ("jitter", "told"),
    [("3599999", False), ("3600000", False), ("7200000", True)],
    ids=["below", "as", "above"],
)
def test_a_jitter_must_be_able_to_swallow_the_whole_roll_time(jitter, told):
    topic = {
        "cleanup.policy": "compact",
        "max.compaction.lag.ms": "3600000",
        "segment.jitter.ms": jitter,
    }
    found = storage(asked(topic), "KA506")
    assert bool(found) == told
    if told:
        assert found[0]["evidence"]["numbers"]["segments of one append"] == "50% of all that are begun"


def test_a_developers_cluster_is_left_alone():
    report = audit_settings(
        {"topic": {**TOPIC, "retention.ms": str(7 * DAY)}, "broker": BROKER, "workload": QUIET}, profile="dev"
    )
    assert not storage(report)


@pytest.mark.parametrize("value", ["-1", "0", "1", "99999999999999999999999", "nan", "1e308", ""])
@pytest.mark.parametrize(
    "key",
    [
        "segment.bytes",
        "segment.ms",
        "segment.index.bytes",
        "index.interval.bytes",
        "retention.ms",
        "min.cleanable.dirty.ratio",
        "max.compaction.lag.ms",
    ],
)
def test_no_number_of_a_topic_fails_a_rule(key, value):
    """Kafka refuses most of these; the log is judged by the nearest that it takes."""
    for policy in ("delete", "compact"):
        report = audit_settings(
            {
                "topic": {**TOPIC, "cleanup.policy": policy, key: value},
                "broker": BROKER,
                "workload": {**QUIET, "distinct_keys": "1000"},
            },
            select=["KA000", "KA5"],
        )
        assert "KA000" not in [finding["code"] for finding in report["findings"]]


@pytest.mark.parametrize("rate", [5e-324, 1e-300, 1e-9, 1e9, 1e308])
def test_no_rate_overflows(rate):
    from advisor.sim.log.log import LogConfig
    from advisor.sim.log.workload import flow_of, shape

    flow = flow_of(rate, 1024)
    assert flow.gap_us >= 1
    assert shape(LogConfig(), flow).period_us >= 1
