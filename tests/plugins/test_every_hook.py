"""An exception in each hook, and in the functions that an audit of one file does not reach: one line names
the plugin and the place."""

from __future__ import annotations

import json

import pytest

from advisor.hookspecs import Hooks

HOOKS = [name for name in vars(Hooks) if name.startswith("advisor_")]


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_that_raises(advisor, tmp_path, hook):
    (tmp_path / "shop.py").write_text(
        f"from advisor.api import hookimpl\n\n\n@hookimpl\ndef {hook}():\n    raise ValueError('not today')\n"
    )
    done = advisor("rules", "--plugin", "shop.py")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line == f"kafka-advisor: plugin shop.py: {hook}() failed: ValueError at shop.py:6: not today"


FORMAT = """\
from advisor.api import Document, FormatSpec, Loaded, hookimpl, setting

@hookimpl
def advisor_formats():
    code = [f"{__name__}:{word}" for word in ("claim", "load", "edit")]
    return [FormatSpec("kv", (".kv",), ("producer",), *code[:2], "key value lines", edit=code[2])]

def claim(name, text):
    return 90

def load(source):
    lines = list(enumerate(source.text.splitlines(), 1))[1:]
    settings = tuple(setting(*line.split(" "), source.file, number) for number, line in lines)
    return Loaded((Document(source.file, "kv", "producer", "shop", settings),))

def edit(source, document, step):
    raise KeyError(step.value)
"""


def test_an_edit_that_raises_is_told_and_writes_nothing(advisor, tmp_path):
    (tmp_path / "shop.py").write_text(FORMAT)
    text = "producer\nbootstrap.servers kafka:9092\nlinger.ms 2s\n"
    (tmp_path / "a.kv").write_text(text)
    done = advisor("fix", "--write", "--plugin", "shop.py", "--select", "KA012", "a.kv")
    assert done.returncode == 1
    assert (tmp_path / "a.kv").read_text() == text
    told = done.stdout + done.stderr
    assert "shop.py: shop:edit failed: KeyError at shop.py:17" in told
    assert "Traceback" not in told


MODELS = """\
from advisor.api import ModelSpec, hookimpl

@hookimpl
def advisor_models():
    return [ModelSpec("assignor", "com.example.A", f"{__name__}:assign")]

def assign(members, metadata, version):
    return {}[members]
"""
CONSUMER = """\
bootstrap.servers=kafka:9092
group.id=billing
key.deserializer=org.apache.kafka.common.serialization.StringDeserializer
value.deserializer=org.apache.kafka.common.serialization.StringDeserializer
max.poll.interval.ms=3600000
partition.assignment.strategy=com.example.A
"""


def test_an_assignor_that_raises_is_named(advisor, tmp_path):
    (tmp_path / "shop.py").write_text(MODELS)
    (tmp_path / "consumer.properties").write_text(CONSUMER)
    words = ("audit", ".", "--profile", "prod", "--plugin", "shop.py", "--format", "json")
    done = advisor(*words)
    failed = [one["message"] for one in json.loads(done.stdout)["findings"] if one["code"] == "KA000"]
    assert failed
    assert all("shop.py" in line for line in failed)
    assert "Traceback" not in done.stderr
