"""What kafka-advisor.toml and comments in the files change."""

from __future__ import annotations

import datetime

import pytest

from .telling import PRODUCER, codes, report_of, told

FAULTY = PRODUCER.replace("acks=all", "acks=ALL") + "linger.mss=5\n"


@pytest.fixture
def audit(advisor, tmp_path):
    def run(project: str, code: int, *words, select="KA0"):
        (tmp_path / "kafka-advisor.toml").write_text(project)
        if not (tmp_path / "producer.properties").exists():
            (tmp_path / "producer.properties").write_text(FAULTY)
        return report_of(advisor("audit", "--format", "json", "--select", select, *words, "."), code)

    return run


def open_codes(report):
    return sorted(finding["code"] for finding in report["findings"] if finding["suppressed"] is None)


def test_severity(audit):
    report = audit('[severity]\nKA006 = "note"\nunknown-key = "error"\n', 1)
    assert {f["code"]: f["severity"] for f in report["findings"]} == {"KA006": "note", "KA002": "error"}
    assert codes(audit('[severity]\nKA006 = "off"\nKA002 = "off"\n', 0)) == []


def test_severity_of_the_engine_itself(audit, tmp_path):
    (tmp_path / "a.properties").write_bytes(b"acks\x00")
    assert "KA001" in codes(audit("", 1))
    assert "KA001" not in codes(audit('[severity]\nunreadable-file = "off"\n', 1))
    (finding,) = [f for f in audit('[severity]\nKA001 = "error"\n', 1)["findings"] if f["code"] == "KA001"]
    assert finding["severity"] == "error"


@pytest.mark.parametrize(("level", "code"), [("never", 0), ("warning", 1), ("error", 0), ("note", 1)])
def test_fail_on(audit, tmp_path, level, code):
    (tmp_path / "producer.properties").write_text(PRODUCER + "linger.mss=5\n")
    audit(f'fail_on = "{level}"\n', code)
    audit(f'fail_on = "{level}"\n', 1, "--fail-on", "note")


def test_each_root_has_its_own_fail_on(advisor, tmp_path):
    for name, level in (("a", "never"), ("b", "error")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "kafka-advisor.toml").write_text(f'fail_on = "{level}"\n')
    (tmp_path / "a/producer.properties").write_text(FAULTY)
    (tmp_path / "b/producer.properties").write_text(PRODUCER)
    told(advisor("audit", "--select", "KA0", "a", "b"), 0)
    (tmp_path / "b/producer.properties").write_text(FAULTY)
    told(advisor("audit", "a", "b"), 1)


def test_kafka_version_and_profile(audit):
    report = audit('kafka_version = "3.9"\nprofile = "dev"\n', 1)
    assert (report["kafka_version"], report["profile"]) == ("3.9", {"name": "dev", "why": "stated"})
    assert audit('kafka_version = "3.9"\n', 1, "--kafka-version", "4.1")["kafka_version"] == "4.1"


HOUSE = """\
[pack]
name = "house"
schema = 1
prefix = "HOUSE"

[[rule]]
code = "HOUSE001"
name = "slow-sends"
severity = "warning"
message = "{producer} waits {producer.linger.ms} ms"
why = "Our limit."
params = { limit = 100 }
when.all = [{ key = "producer.linger.ms", gt = "{param.limit}" }]
"""


def test_params_of_a_rule(audit, tmp_path):
    (tmp_path / "house.toml").write_text(HOUSE)
    (tmp_path / "producer.properties").write_text(PRODUCER + "linger.ms=200\n")
    report = audit('rules = ["house.toml"]\n', 0, select="HOUSE")
    assert codes(report) == ["HOUSE001"]
    (finding,) = report["findings"]
    assert finding["message"] == "producer waits 200 ms"
    assert (finding["locations"][0]["file"], finding["locations"][0]["line"]) == ("producer.properties", 5)
    for name in ("HOUSE001", "slow-sends"):
        assert (
            codes(audit(f'rules = ["house.toml"]\n[params.{name}]\nlimit = 500\n', 0, select="HOUSE")) == []
        )
        assert codes(audit(f'rules = ["house.toml"]\n[params.{name}]\nlimit = 150\n', 0, select="HOUSE")) == [
            "HOUSE001"
        ]


def test_finding_of_a_condition_names_its_setting(audit, tmp_path):
    (tmp_path / "house.toml").write_text(HOUSE)
    (tmp_path / "producer.properties").write_text(PRODUCER + "linger.ms=200\n")
    (finding,) = audit('rules = ["house.toml"]\n', 0, select="HOUSE")["findings"]
    assert finding["locations"][0]["key"] == "linger.ms"


def test_pack_by_the_command_line(audit, tmp_path, advisor):
    (tmp_path / "house.toml").write_text(HOUSE)
    (tmp_path / "producer.properties").write_text(PRODUCER + "linger.ms=200\n")
    assert codes(audit("", 0, "--rules", "house.toml", select="HOUSE")) == ["HOUSE001"]
    assert codes(audit('rules = ["house.toml"]\n', 0, "--rules", "house.toml", select="HOUSE")) == [
        "HOUSE001"
    ]
    assert "HOUSE001" in advisor("rules", "--rules", "house.toml").stdout
    assert "Our limit." in advisor("explain", "slow-sends", "--rules", "house.toml").stdout


def test_pack_changes_are_seen_through_the_cache(audit, tmp_path):
    (tmp_path / "producer.properties").write_text(PRODUCER + "linger.ms=200\n")
    (tmp_path / "house.toml").write_text(HOUSE)
    assert codes(audit('rules = ["house.toml"]\n', 0, select="HOUSE")) == ["HOUSE001"]
    (tmp_path / "house.toml").write_text(HOUSE.replace("HOUSE001", "HOUSE002"))
    assert codes(audit('rules = ["house.toml"]\n', 0, select="HOUSE")) == ["HOUSE002"]


def suppress(**fields) -> str:
    return "[[suppress]]\n" + "".join(f'{name} = "{value}"\n' for name, value in fields.items())


def test_suppressed_finding_stays_in_the_report_and_fails_nothing(audit):
    report = audit(suppress(rule="KA006", reason="known") + suppress(rule="unknown-key", reason="ours"), 0)
    assert open_codes(report) == []
    assert {f["code"]: f["suppressed"]["reason"] for f in report["findings"]} == {
        "KA006": "known",
        "KA002": "ours",
    }
    assert {f["suppressed"]["by"] for f in report["findings"]} == {"kafka-advisor.toml"}
    assert report["summary"]["errors"] == 0


@pytest.mark.parametrize(
    ("fields", "covered"),
    [
        ({"path": "producer.properties"}, True),
        ({"path": "*.properties"}, True),
        ({"path": "other/*"}, False),
        ({"resource": "producer"}, True),
        ({"resource": "prod*"}, True),
        ({"resource": "consumer"}, False),
        ({"path": "producer.properties", "resource": "consumer"}, False),
    ],
)
def test_suppress_by_place(audit, fields, covered):
    report = audit(suppress(rule="KA006", reason="r", **fields), 0 if covered else 1)
    assert ("KA006" in open_codes(report)) is not covered


def test_suppress_until_a_day(audit):
    today = datetime.date.today()
    for days, covered in ((1, True), (400, True), (-2, False)):
        day = today + datetime.timedelta(days=days)
        audit(suppress(rule="KA006", reason="r", expires=day), 0 if covered else 1)


def test_suppress_path_is_relative_to_its_own_root(advisor, tmp_path):
    """In a run over several roots too, where reported paths are longer."""
    for name in ("a", "b"):
        legacy = tmp_path / name / "legacy"
        legacy.mkdir(parents=True)
        (legacy / "producer.properties").write_text(FAULTY)
        (tmp_path / name / "kafka-advisor.toml").write_text("")
    (tmp_path / "a/kafka-advisor.toml").write_text(suppress(rule="KA006", path="legacy/*", reason="old"))
    for words, code in ((["a"], 0), (["a", "b"], 1)):
        report = report_of(advisor("audit", "--select", "KA0", "--format", "json", *words), code)
        accepted = [f["locations"][0]["file"] for f in report["findings"] if f["suppressed"]]
        assert accepted == [
            "legacy/producer.properties" if len(words) == 1 else "a/legacy/producer.properties"
        ]


# Comments in the files


def test_comment_above_the_line(audit, tmp_path):
    (tmp_path / "producer.properties").write_text(
        PRODUCER.replace("acks=all", "# kafka-advisor: ignore[KA006] known to fail\n! more words\n\nacks=ALL")
        + "linger.mss=5\n"
    )
    report = audit("", 0)
    assert open_codes(report) == ["KA002"]
    (finding,) = [f for f in report["findings"] if f["suppressed"]]
    assert finding["suppressed"] == {"reason": "known to fail", "by": "comment in producer.properties"}


@pytest.mark.parametrize(
    ("comment", "covered"),
    [
        ("# kafka-advisor: ignore[KA006]", True),
        ("# kafka-advisor: ignore[not-a-choice] by name", True),
        ("# kafka-advisor: ignore[KA002, KA006] two", True),
        ("# kafka-advisor: ignore everything", True),
        ("# kafka-advisor: ignore[KA002] another", False),
        ("# kafka-advisor ignore[KA006]", False),
    ],
)
def test_words_of_the_comment(audit, tmp_path, comment, covered):
    (tmp_path / "producer.properties").write_text(PRODUCER.replace("acks=all", f"{comment}\nacks=ALL"))
    audit("", 0 if covered else 1)


def test_comment_speaks_for_one_line_only(audit, tmp_path):
    text = PRODUCER.replace("acks=all", "# kafka-advisor: ignore[KA006]\nclient.id=x\nacks=ALL")
    (tmp_path / "producer.properties").write_text(text)
    audit("", 1)


def test_words_behind_a_properties_value_are_no_comment(audit, tmp_path):
    """Java reads them as a part of the value, so Kafka refuses it: that must not be hidden."""
    (tmp_path / "producer.properties").write_text(
        PRODUCER.replace("acks=all", "acks=all # kafka-advisor: ignore[KA006] fine")
    )
    assert open_codes(audit("", 1)) == ["KA006"]


@pytest.mark.parametrize("break_", ["\x0c", "\x85", "\u2028", "\x1c"])
def test_what_is_no_line_end_moves_no_comment(audit, tmp_path, break_):
    text = f"client.id=x{break_}y\n" + PRODUCER.replace(
        "acks=all", "# kafka-advisor: ignore[KA006]\nacks=ALL"
    )
    (tmp_path / "producer.properties").write_text(text)
    report = audit("", 0)
    assert [f["code"] for f in report["findings"] if f["suppressed"]] == ["KA006"]


@pytest.mark.parametrize(
    "line",
    [
        "      linger-ms: 20  # kafka-advisor: ignore[KA021] on purpose",
        "      # kafka-advisor: ignore[KA021] on purpose\n      linger-ms: 20",
    ],
)
def test_comment_in_yaml(audit, tmp_path, line):
    (tmp_path / "producer.properties").write_text(PRODUCER)
    text = f"spring:\n  kafka:\n    bootstrap-servers: k:9092\n    producer:\n{line}\n      acks: all\n"
    (tmp_path / "application.yml").write_text(text)
    report = audit("", 0, "--fail-on", "warning")
    (finding,) = [f for f in report["findings"] if f["code"] == "KA021"]
    assert finding["suppressed"]["reason"] == "on purpose"
    (tmp_path / "application.yml").write_text(text.replace("KA021", "KA020"))
    audit("", 1, "--fail-on", "warning")


@pytest.mark.parametrize(
    "entry", ["[[deployment]]\n", "[[deployment]]\n" * 2, "[[deployment]]\nname = 'x'\n"]
)
def test_a_deployment_that_names_nothing_is_refused(advisor, tmp_path, entry):
    (tmp_path / "kafka-advisor.toml").write_text(entry)
    (tmp_path / "producer.properties").write_text(PRODUCER)
    done = advisor("audit", ".")
    assert (done.returncode, done.stdout) == (2, "")
    assert ": names no producer, topic, cluster or group" in done.stderr
