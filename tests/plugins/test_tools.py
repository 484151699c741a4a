"""`plugin list`, `plugin check` and `rule new`: all that is wrong, at once, with file and line."""

from __future__ import annotations

import re

import pytest

from advisor.author.new_plugin import plugin_files, prefix_of
from advisor.author.new_rule import write_rule
from advisor.model import UsageError
from advisor.registry import load_registry
from advisor.testing import pack_examples

GOOD = """\
from advisor.api import CheckSpec, hookimpl

@hookimpl
def advisor_checks():
    return [CheckSpec("shop-loud", f"{__name__}:loud", "document")]

def loud(document, context):
    return []
"""


def test_list_tells_the_time_and_what_failed_and_why(advisor, tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text("import no_such_module\n")
    (tmp_path / "twin.py").write_text(GOOD)
    done = advisor("plugin", "list", "--plugin", "good.py", "--plugin", "bad.py", "--plugin", "twin.py")
    assert done.returncode == 2
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line[:1].isalpha()}
    assert rows["good.py"][1] == "file"
    assert re.fullmatch(r"\d+(\.\d)?", rows["good.py"][2])
    assert rows["bad.py"][3] == "failed"
    assert "from good.py: checks shop-loud\n" in done.stdout
    failed, twice = done.stderr.splitlines()
    assert "bad.py failed to import: ModuleNotFoundError: No module named 'no_such_module'" in failed
    assert "two plugins give a check named 'shop-loud': good.py and twin.py" in twice


FAULTY = """\
from advisor.api import CheckSpec, FormatSpec, ModelSpec, ReporterSpec, hookimpl
from advisor.model import Document
import advisor.engine

@hookimpl
def advisor_checks():
    return [
        CheckSpec("one", f"{__name__}:one", "file"),
        CheckSpec("two", f"{__name__}:two", "document"),
        CheckSpec("three", f"{__name__}:three", "document"),
        CheckSpec("four", "no_such_module:four", "document"),
    ]

def two(document):
    return []

@hookimpl
def advisor_model():
    return []

@hookimpl
def advisor_models():
    return [ModelSpec("partitioner", "com.example.P", f"{__name__}:place")]

def place(key, partitions, more):
    return 0

@hookimpl
def advisor_reporters():
    1 / 0

def advisor_formats():
    return []

@hookimpl
def advisor_packs(manager):
    return []
"""
FAULTS = [
    "faulty.py:2: imports advisor.model: only advisor.api and advisor.testing stay as they are",
    "faulty.py:3: imports advisor.engine: only advisor.api",
    "advisor_formats() in line 32 is not marked: write @hookimpl above",
    "advisor_packs(manager) in line 35 asks for manager; a hook gets no argument",
    "advisor_model() in line 17 is no hook; did you mean 'advisor_models'?",
    "advisor_checks() gave a CheckSpec named 'one' whose reads is 'file'; there is document, deployment",
    "'two': function 'faulty:two' in line 14 takes (document); it is called with (subject, context)",
    "'three': function 'faulty:three': there is no three in faulty",
    "'four': function 'no_such_module:four' cannot be loaded: No module named 'no_such_module'",
    "'com.example.P': function 'faulty:place' in line 25 takes (key, partitions, more); it is called with",
    "advisor_reporters() failed: ZeroDivisionError at faulty.py:30: division by zero",
]


def test_check_says_everything_that_is_wrong_with_a_plugin(advisor, tmp_path):
    (tmp_path / "faulty.py").write_text(FAULTY)
    done = advisor("plugin", "check", "faulty.py")
    *told, count = done.stdout.splitlines()
    assert done.returncode == 1
    assert [said for said in FAULTS if not any(said in line for line in told)] == []
    assert len(told) == len(FAULTS)
    assert count == f"{len(FAULTS)} faults"
    assert all("faulty.py" in line for line in told)


def test_check_of_a_file_that_cannot_be_parsed_or_loaded(advisor, tmp_path):
    (tmp_path / "broken.py").write_text("x = 1\ndef (:\n")
    assert "broken.py:2: cannot be parsed: " in advisor("plugin", "check", "broken.py").stdout
    (tmp_path / "raises.py").write_text("raise ValueError('no')\n")
    assert "raises.py failed to import: ValueError: no" in advisor("plugin", "check", "raises.py").stdout
    (tmp_path / "empty.py").write_text("")
    assert "no function is marked with @hookimpl" in advisor("plugin", "check", "empty.py").stdout
    done = advisor("plugin", "check", "gone.py")
    assert (done.returncode, done.stderr) == (2, "kafka-advisor: gone.py: not found\n")


PACK = """\
[pack]
name = "house"
schema = 1
prefix = "HOUSE"

[[rule]]
code = "HOUSE001"
name = "one"
severity = "warning"
message = "acks is {producer.ackss}"
why = "A test."
when = { key = "producer.acks", eq = "1" }

[[rule]]
code = "HOUSE002"
name = "two"
severity = "warning"
message = "x"
why = "A test."
when = { key = "producer.lingr.ms", eq = "1" }
covers = ["KA9999"]

[[rule]]
code = "HOUSE003"
name = "three"
severity = "warning"
message = "x"
why = "A test."
check = "no-such-check"
applies = { clients = ["jav"] }

[[rule]]
code = "HOUSE004"
name = "four"
severity = "warning"
message = "x"
why = "A test."
guarantee = "acked-records-survive"
faults = { broker_krash = 1 }
"""


def test_check_says_everything_that_is_wrong_with_a_pack(advisor, tmp_path):
    (tmp_path / "house.toml").write_text(PACK)
    done = advisor("plugin", "check", "house.toml")
    assert done.returncode == 1
    told = done.stdout.splitlines()
    for line, said in (
        (6, "HOUSE001: message names {producer.ackss}; there is producer, producer.acks, resource"),
        (14, "HOUSE002: when reads 'producer.lingr.ms', which is unknown; did you mean producer.linger.ms?"),
        (14, "HOUSE002: covers 'KA9999', which is no rule"),
        (23, "HOUSE003 names check 'no-such-check'"),
        (23, "HOUSE003: applies.clients: no family is called 'jav'; did you mean 'java'?"),
        (32, "HOUSE004: no fault is called 'broker_krash'; did you mean 'broker_crash'?"),
    ):
        assert any(one.startswith(f"house.toml:{line}: rule ") and said in one for one in told), said
    assert told[-1] == "6 faults"


def test_check_runs_the_examples_with_the_code_that_they_need(advisor, tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    head, _, _, third, _ = PACK.split("[[rule]]")
    rule = f"{head}[[rule]]{third}"
    rule = rule.replace("no-such-check", "shop-loud").replace('applies = { clients = ["jav"] }\n', "")
    example = '[[rule.example]]\nbad.producer = { acks = "1" }\ngood.producer = { acks = "all" }\n'
    (tmp_path / "house.toml").write_text(rule + example)
    done = advisor("plugin", "check", "house.toml", "--plugin", "good.py")
    assert done.stdout.splitlines()[0] == "house.toml:6: rule HOUSE003: example 1: not found in bad"
    (tmp_path / "house.toml").write_text(rule)
    done = advisor("plugin", "check", "house.toml", "--plugin", "good.py")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "house.toml: no example shows HOUSE003 at work"


def test_check_of_a_distribution(advisor, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    done = advisor("plugin", "check", ".")
    assert "names no plugin: write [project.entry-points.kafka_advisor] with a line NAME" in done.stdout
    for path, text in plugin_files("acme-kafka").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert advisor("plugin", "check", ".").stdout == ".: a distribution, nothing is wrong with it\n"
    rules = tmp_path / "src/acme_kafka/rules.toml"
    rules.write_text(rules.read_text().replace('lt = "3d"', 'lt = "1s"'))
    done = advisor("plugin", "check", ".")
    assert re.search(r"rules\.toml:\d+: rule ACME001: example 1: not found in bad\n", done.stdout)


@pytest.mark.parametrize(
    ("name", "prefix"), [("acme-kafka", "ACME"), ("a", "AX"), ("ka", "KAX"), ("longcompany-x", "LONGCOMP")]
)
def test_prefixes(name, prefix):
    assert prefix_of(name) == prefix


def test_new_refuses_what_is_there_and_what_is_no_name(advisor, tmp_path):
    assert advisor("plugin", "new", "Acme Kafka").returncode == 2
    (tmp_path / "acme").mkdir()
    assert "acme is there already" in advisor("plugin", "new", "acme").stderr


REGISTRY = load_registry()


@pytest.mark.parametrize("like", ["KA101", "send-order-kept", "KA012", "crash-noticed-late", "KA503"])
def test_a_new_rule_finds_what_its_example_shows(tmp_path, like):
    pack = str(tmp_path / "house.toml")
    assert write_rule("of-mine", pack, like, None, "", REGISTRY) == "HOUSE001"
    assert write_rule("few-acks", pack, None, "producer.acks", "1", REGISTRY) == "HOUSE002"
    examples = pack_examples(pack)
    assert {example.code for example in examples} == {"HOUSE001", "HOUSE002"}
    for example in examples:
        example.check()


def test_a_new_rule_about_a_setting_that_nobody_knows(tmp_path):
    pack = str(tmp_path / "house.toml")
    with pytest.raises(UsageError, match=r"no such setting; did you mean producer\.acks\?"):
        write_rule("few-acks", pack, None, "producer.acsk", "1", REGISTRY)
    with pytest.raises(UsageError, match="no such rule or guarantee; did you mean 'send-order-kept'"):
        write_rule("few-acks", pack, "send-order-keep", None, "1", REGISTRY)
    assert not (tmp_path / "house.toml").exists()
