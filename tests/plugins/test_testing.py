"""The harness for plugin authors: what it tells, and that a wrong example and another text are noticed."""

from __future__ import annotations

import pytest

from advisor.testing import audit_settings, codes, events, finding_of, pack_examples, places

PACK = """\
[pack]
name = "house"
schema = 1
prefix = "HOUSE"

[[rule]]
code = "HOUSE001"
name = "few-acks"
severity = "warning"
message = "acks is {producer.acks}"
why = "A test."
when = { key = "producer.acks", eq = "1" }
"""
EXAMPLE = '[[rule.example]]\nbad.producer = {{ acks = "{}" }}\ngood.producer = {{ acks = "{}" }}\n'


def test_a_report_in_few_words():
    producer = {"acks": "all", "enable.idempotence": "false", "bootstrap.servers": "a:9092"}
    report = audit_settings({"producer": producer}, profile="prod", select=["KA301"])
    assert codes(report) == ["KA301"]
    assert places(report) == ["KA301 producer.properties:2"]
    run = events(finding_of(report, "KA301"))
    assert run[0] == "send r0"
    assert "lost_response r0" in run
    with pytest.raises(AssertionError, match=r"0 findings have the code KA999; all findings: KA301 producer"):
        finding_of(report, "KA999")


@pytest.mark.parametrize(
    ("bad", "good", "says"),
    [("1", "all", ""), ("all", "0", "HOUSE001: example 1: not found in bad"), ("1", "1", "found in good")],
)
def test_examples_of_a_pack(tmp_path, bad, good, says):
    pack = tmp_path / "house.toml"
    pack.write_text(PACK + EXAMPLE.format(bad, good))
    (example,) = pack_examples(str(pack))
    assert str(example) == "HOUSE001-1"
    if not says:
        example.check()
        return
    with pytest.raises(AssertionError, match=says):
        example.check()


def test_a_golden_is_compared_and_written_when_somebody_asks(pytester):
    pytester.makepyfile(
        "def test_one(kafka_advisor):\n"
        "    report = kafka_advisor.audit_texts({'producer.properties': 'linger.ms=2s\\n'})\n"
        "    kafka_advisor.golden('told.txt', report['findings'][0]['code'])\n"
    )
    words = ("-p", "advisor.testing.fixtures", "-p", "no:xdist", "-q")
    pytester.runpytest_inprocess(*words).assert_outcomes(failed=1)
    pytester.runpytest_inprocess(*words, "--kafka-advisor-goldens").assert_outcomes(passed=1)
    assert (pytester.path / "told.txt").read_text() == "KA012"
    pytester.runpytest_inprocess(*words).assert_outcomes(passed=1)
    (pytester.path / "told.txt").write_text("KA013")
    pytester.runpytest_inprocess(*words).assert_outcomes(failed=1)
