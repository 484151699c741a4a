"""Rules whose guarantee a plugin's own code answers: verdicts, verified fixes, what is unknown."""

import textwrap
from pathlib import Path
from typing import Any

import pytest

from advisor.memo.answers import Remembered
from advisor.memo.cache import Cache
from advisor.model import UsageError
from advisor.testing import audit_paths

PLUGIN = """
import sys
from advisor.api import Edit, Hit, Judgement, Location, ModelSpec, hookimpl

def judge(deployment, context):
    producer = deployment.producer
    limit = context.params["limit"]
    found = {one.key: one for one in producer.settings}
    linger = found.get("linger.ms")
    if linger is None:
        yield Judgement("unknown", reason="linger.ms is not stated", depends_on=("linger.ms",))
        return
    if int(linger.value) <= limit:
        yield Judgement("holds", bounds="arithmetic")
        return
    if int(linger.value) == 666:
        raise RuntimeError("no")
    yield Judgement(
        "broken",
        Hit(
            linger.origin.at or Location(producer.file),
            ("linger.ms",),
            {"linger": linger.value},
            numbers=(("limit", str(limit)),),
            # The first would be too much still, the second is refused by Kafka, the third is fine.
            edits=(
                Edit("linger", "producer", "linger.ms", str(limit + 1)),
                Edit("linger", "producer", "linger.ms", "-1"),
                Edit("linger", "producer", "linger.ms", str(limit)),
            ),
            advice=("wait less",),
        ),
        trace=(
            {"step": 1, "t_ms": 0, "event": {"name": "send"}, "effects": [],
             "state": {"kind": "batch", "cells": {"waiting": "1"}}},
        ),
    )

@hookimpl
def advisor_models():
    return [ModelSpec("guarantee", "sends-promptly", f"{__name__}:judge")]
"""
PACK = """
[pack]
name = "prompt"
schema = 1
prefix = "XX"

[[rule]]
code = "XX001"
name = "late-send"
severity = "warning"
guarantee = "{guarantee}"
message = "{{producer}} waits {{linger}} ms"
why = "A record waits."
params = {{ limit = 100 }}
applies = {{ components = ["producer"] }}
"""


def asked(folder: Path, producer: str, guarantee: str = "sends-promptly") -> dict[str, Any]:
    (folder / "producer.properties").write_text(textwrap.dedent(producer))
    plugin = folder / f"{folder.name}.py"  # a module's name is taken once
    plugin.write_text(PLUGIN)
    (folder / "pack.toml").write_text(PACK.format(guarantee=guarantee))
    return audit_paths(
        [str(folder)],
        select=["XX001", "KA000"],
        rules=[str(folder / "pack.toml")],
        plugins=[str(plugin)],
    )


def test_a_broken_guarantee_carries_its_run_and_the_first_edit_that_holds(tmp_path: Path) -> None:
    (finding,) = asked(tmp_path, "bootstrap.servers=a:1\nlinger.ms=500\n")["findings"]
    assert finding["code"] == "XX001"
    assert finding["message"].endswith("waits 500 ms")
    assert finding["locations"][0]["line"] == 2
    assert finding["evidence"]["class"] == "trace"
    assert finding["evidence"]["trace"][0]["t_ms"] == 0
    assert finding["evidence"]["numbers"] == {"limit": "100"}
    assert finding["advice"] == ["wait less"]
    (fix,) = finding["fixes"]
    (change,) = fix["changes"]
    assert (change["key"], change["from"], change["to"], change["line"]) == ("linger.ms", "500", "100", 2)
    assert fix["verified"] == ["sends-promptly holds"]


def test_unknown_is_no_finding_and_no_success(tmp_path: Path) -> None:
    report = asked(tmp_path, "bootstrap.servers=a:1\n")
    assert not report["findings"]
    (entry,) = report["deployments"][0]["guarantees"]
    assert (entry["verdict"], entry["depends_on"]) == ("unknown", ["linger.ms"])


def test_code_that_raises_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    (finding,) = asked(tmp_path, "bootstrap.servers=a:1\nlinger.ms=666\n")["findings"]
    assert finding["code"] == "KA000"
    assert "XX001" in finding["message"]


def test_a_guarantee_that_nothing_answers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="names guarantee 'sends-quickly'"):
        asked(tmp_path, "bootstrap.servers=a:1\n", "sends-quickly")


def test_an_edit_of_a_pack_is_tried_before_it_is_offered(tmp_path: Path) -> None:
    (tmp_path / "producer.properties").write_text("bootstrap.servers=a:1\nacks=1\n")
    (tmp_path / "pack.toml").write_text(
        textwrap.dedent(
            """
            [pack]
            name = "own"
            schema = 1
            prefix = "XX"

            [[rule]]
            code = "XX002"
            name = "few-acks"
            severity = "warning"
            message = "acks is {producer.acks}"
            why = "We want all."
            when.all = [{ key = "producer.acks", not_in = ["all", "-1"] }]
            edits = [{ component = "producer", key = "acks", values = ["0", "all"] }]
            """
        )
    )
    report = audit_paths([str(tmp_path)], select=["XX002"], rules=[str(tmp_path / "pack.toml")])
    (finding,) = report["findings"]
    (change,) = finding["fixes"][0]["changes"]
    assert (change["from"], change["to"], change["line"]) == ("1", "all", 2)


def test_what_was_computed_is_remembered_on_disk(tmp_path: Path) -> None:
    calls: list[int] = []

    def compute() -> list[int]:
        calls.append(1)
        return [1, 2]

    for _ in range(2):
        remembered = Remembered(Cache(str(tmp_path)))
        assert remembered("name", "mark", compute) == [1, 2] == remembered("name", "mark", compute)
    assert len(calls) == 1
    Remembered(Cache(str(tmp_path)))("name", "other mark", compute)
    assert len(calls) == 2
