"""A run that was cut short is taken up if it is still the same run; else it says why it starts over."""

from __future__ import annotations

import os

import pytest

from advisor.fleet import audit_fleet

SCHEMA = "component string, cluster string, topic string, client string, config map<string,string>"


class Cut(Exception):
    pass


def frame(spark, acks):
    return spark.createDataFrame([("producer", "one", "orders", "a", {"acks": acks})], SCHEMA)


def cut_short(spark, source, out, **options):
    def cut(text):
        if text == "judging each behaviour once":
            raise Cut

    with pytest.raises(Cut):
        audit_fleet(spark, source, out, progress=cut, select=("KA1", "KA3"), **options)


def taken_up(spark, source, out, **options):
    """What the second try says of it, and how many errors and warnings it finds."""
    steps = []
    options = {"select": ("KA1", "KA3"), **options}
    result = audit_fleet(spark, source, out, progress=steps.append, resume=True, **options)
    said = [step for step in steps if step.startswith(("taking up", "starting", "no run"))]
    return said, result.summary["warnings"] + result.summary["errors"] + result.summary["notes"]


def test_the_same_frame_is_taken_up_and_another_is_not(spark, tmp_path):
    out = str(tmp_path / "out")
    bad = frame(spark, "1")
    cut_short(spark, bad, out)
    assert taken_up(spark, bad, out)[0] == ["taking up the run that was cut short"]
    cut_short(spark, bad, out)
    assert taken_up(spark, frame(spark, "all"), out) == (["starting over: the source changed since"], 0)
    assert taken_up(spark, bad, out)[0] == ["no run was cut short here: starting from the beginning"]


def test_a_file_that_changed_is_read_again(spark, tmp_path):
    out, source = str(tmp_path / "out"), tmp_path / "a.csv"
    text = "component,cluster,topic,client,config\nproducer,one,orders,a,"
    source.write_text(text + '"{""acks"": ""1""}"\n')
    cut_short(spark, str(source), out)
    # The same size, a moment later.
    source.write_text(text + '"{""acks"": ""0""}"\n')
    os.utime(source, (2_000_000_000, 2_000_000_000))
    said, _ = taken_up(spark, str(source), out)
    assert said == ["starting over: the source changed since"]
    assert "0" in str(spark.read.parquet(f"{out}/runs/000001/configurations").select("text").collect())


def test_other_rules_and_options_start_over(spark, tmp_path):
    out, rules, bad = str(tmp_path / "out"), tmp_path / "own.toml", frame(spark, "1")
    pack = (
        '[pack]\nname = "house"\nschema = 1\nprefix = "HOUSE"\nabout = "own"\n'
        '[[rule]]\ncode = "HOUSE001"\nname = "own-acks"\ntitle = "own"\nseverity = "warning"\n'
        'message = "own"\nwhy = "{0}"\nwhen = {{ key = "producer.acks", eq = "1" }}\n'
    )
    rules.write_text(pack.format("one"))
    cut_short(spark, bad, out, rules=(str(rules),))
    rules.write_text(pack.format("two"))
    assert taken_up(spark, bad, out, rules=(str(rules),))[0] == ["starting over: the rules changed since"]
    cut_short(spark, bad, out)
    said, _ = taken_up(spark, bad, out, kafka_version="3.9")
    assert said == ["starting over: the options changed since"]
