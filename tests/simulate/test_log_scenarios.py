"""Scenarios of a log: a rule asked of settings and a workload, the run a table of segments."""

from __future__ import annotations

import pytest

from .golden import SAMPLES

SCENARIO = """
title = "t"
story = "s"
kind = "log"
guarantee = "storage-bounded"
rule = "{rule}"
[topic]
"retention.ms" = 604800000
[workload]
{workload}
"""


def test_the_table_names_every_segment(simulate):
    done = simulate(SAMPLES / "seven-days-that-are-fourteen.toml")
    assert "0 24 MiB, 50401* 500 bytes" in done.out
    assert "segment 0 is deleted: its oldest record stayed 14 d" in done.out
    assert "* marks the active one" in done.out


def test_a_value_changed_mends_it(simulate):
    path = SAMPLES / "seven-days-that-are-fourteen.toml"
    done = simulate(path, "--set", "topic.segment.ms=86400000")
    assert done.code == 0
    assert "storage-bounded: not broken within these bounds" in done.out
    assert "changed: topic.segment.ms=86400000" in done.out
    assert simulate(path, "--set", "topic.segment.ms=1209600000").code == 1


def test_its_json_has_the_shape_of_every_scenario(simulate):
    one = simulate(SAMPLES / "seven-days-that-are-fourteen.toml", "--format", "json").json
    other = simulate(SAMPLES / "single-copy.toml", "--format", "json").json
    assert set(other) <= set(one)
    assert set(other["guarantees"][0]) <= set(one["guarantees"][0])
    assert one["guarantees"][0]["trace"][0]["state"]["segments"] == [
        {"base": 0, "bytes": 500, "first_ms": 0, "last_ms": 0, "closed": False}
    ]


def test_without_a_workload_it_is_not_known(simulate, tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(SCENARIO.format(rule="KA502", workload="").replace("604800000", "3600000"))
    done = simulate(path)
    assert (done.code, "UNKNOWN storage-bounded: " in done.out) == (0, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SCENARIO.format(rule="KA101", workload=""), "no rule 'KA101' asks storage-bounded; there is"),
        (SCENARIO.format(rule="KA502", workload="speed = 1"), "a.toml:10: workload.speed"),
        (SCENARIO.format(rule="KA502", workload="record_bytes = -1"), "a.toml:10: workload.record_bytes"),
        (SCENARIO.format(rule="KA502", workload="") + "[faults]\nroll = 1\n", "faults does not belong"),
        ('title = "t"\nstory = "s"\nguarantee = "storage-bounded"\n[faults]\nroll = 1\n', 'kind = "log"'),
        (SCENARIO.format(rule="KA502", workload="").replace("retention.ms", "retention.days"), "no topic"),
        ('title = "t"\nstory = "s"\nkind = "log"\n', "rule"),
        ('title = "t"\nstory = "s"\nkind = "disk"\nrule = "KA502"\n', "log"),
    ],
    ids=["rule", "workload name", "workload value", "faults", "no kind", "key", "no rule", "kind"],
)
def test_mistakes_are_told(simulate, tmp_path, text, said):
    path = tmp_path / "a.toml"
    path.write_text(text)
    done = simulate(path)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err


def test_options_that_do_not_fit_are_refused(simulate):
    done = simulate(SAMPLES / "seven-days-that-are-fourteen.toml", "--faults", "roll=1")
    assert done.code == 2
    assert "do not fit" in done.err
