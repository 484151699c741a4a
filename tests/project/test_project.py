"""kafka-advisor.toml: every field, every refusal with its line, and writing one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.memo.cache import Cache
from advisor.model import Location, UsageError
from advisor.read import project as module
from advisor.read.project import EMPTY, load_project, to_toml
from advisor.read.project_schema import ProjectFile, schema_text
from advisor.schemas import load_schema
from advisor.schemas.tomltext import read_toml

OFF = Cache(None)
FULL = """\
kafka_version = "3.9"
profile = "prod"
fail_on = "warning"
rules = ["packs/mine.toml"]
plugins = ["acme"]

[severity]
KA101 = "note"
tail-loss = "off"

[params.KA201]
limits = [1, 2]
name = "x"

[facts]
brokers = 5
mode = "zk"
elr = "off"

[workload]
record_bytes = "1KiB"
records_per_second = 0.5
processing = "workers"
processing_ms = "1.5s"
longest_outage = "30s"
exactly_once = true

[[deployment]]
name = "orders"
producer = ["a.properties", "b.properties"]
topic = "orders"
cluster = "main"
groups = "billing"

[[deployment]]
topic = ["x", "y"]

[[client]]
path = "py/**"
family = "librdkafka"

[[suppress]]
rule = "KA101"
path = "legacy/**"
reason = "goes away"
expires = 2027-01-31
"""


def refusal(text: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        load_project("kafka-advisor.toml", text, OFF)
    return str(caught.value).splitlines()


def test_every_field_arrives(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "cache"))
    path = str(tmp_path / "kafka-advisor.toml")
    cold = load_project(path, FULL.encode(), cache)
    assert (cold.kafka_version, cold.profile, cold.fail_on) == ("3.9", "prod", "warning")
    assert (cold.rules, cold.plugins) == (("packs/mine.toml",), ("acme",))
    assert cold.severity == {"KA101": "note", "tail-loss": "off"}
    assert cold.params == {"KA201": {"limits": [1, 2], "name": "x"}}
    assert cold.facts == {"brokers": "5", "mode": "zk", "elr": "off"}
    assert cold.workload == {
        "record_bytes": 1024,
        "records_per_second": 0.5,
        "processing": "workers",
        "processing_ms": 1500,
        "longest_outage": 30000,
        "exactly_once": True,
    }
    orders = {"name": "orders", "topic": "orders", "cluster": "main", "groups": ["billing"]}
    assert cold.deployments == (
        {**orders, "producer": "a.properties"},
        {**orders, "producer": "b.properties"},
        {"producer": None, "topic": "x", "groups": []},
        {"producer": None, "topic": "y", "groups": []},
    )
    assert cold.clients == ({"path": "py/**", "family": "librdkafka"},)
    (suppress,) = cold.suppress
    assert suppress == {
        "rule": "KA101",
        "path": "legacy/**",
        "reason": "goes away",
        "expires": "2027-01-31",
        "line": 42,
    }
    assert cold.at("facts.brokers") == Location("kafka-advisor.toml", 16)
    assert cold.at("severity.tail-loss") == Location("kafka-advisor.toml", 9)


def test_it_is_validated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(str(tmp_path / "cache"))
    cold = load_project("kafka-advisor.toml", FULL, cache)
    with monkeypatch.context() as patch:
        patch.setattr(module, "_validated", lambda *_: pytest.fail("validated again"))
        assert load_project("kafka-advisor.toml", FULL.encode(), cache) == cold
    (entry,) = (tmp_path / "cache").rglob("project/*.json")
    for value in ([], {"values": 3, "lines": {}}, {"values": {"rules": 3}, "lines": {}}):
        cache.put("project", entry.stem, value)
        assert load_project("kafka-advisor.toml", FULL, cache) == cold
    assert load_project("kafka-advisor.toml", "", cache) == EMPTY._replace(path="kafka-advisor.toml")


REFUSED: dict[str, tuple[str, int, str]] = {
    "misspelt table": ("[fact]\nbrokers = 3\n", 1, "fact: unknown field; did you mean 'facts'?"),
    "misspelt field": (
        "[facts]\nmode = 'zk'\nbroker = 3\n",
        3,
        "facts.broker: unknown field; did you mean 'brokers'?",
    ),
    "misspelt in a list": (
        "[[deployment]]\nname = 'a'\ngroup = 'b'\n",
        3,
        "deployment[0].group: unknown field; did you mean 'groups'?",
    ),
    "misplaced": ("[facts]\nbrokers = 3\nprofile = 'dev'\n", 3, "above the first [table], not into [facts]"),
    "misspelt value": ("\nprofile = 'prd'\n", 2, "did you mean 'prod'? (allowed: dev, prod)"),
    "severity": ("[severity]\nKA101 = 'info'\n", 2, "allowed: error, note, off, warning"),
    "version without quotes": ("kafka_version = 4.1\n", 1, 'must be in quotes: "4.1"'),
    "no version": ("kafka_version = 'latest'\n", 1, "'latest' is no version"),
    "strict": ("[facts]\nbrokers = '3'\n", 2, "must be a valid integer, not '3'"),
    "too few": ("[facts]\nbrokers = 0\n", 2, "greater than or equal to 1"),
    "unit": ("[workload]\nlongest_outage = '30 parsecs'\n", 2, "units: ms, s, m, h, d"),
    "size for a duration": ("[workload]\nprocessing_ms = '1MiB'\n", 2, "a duration such as"),
    "negative": ("[workload]\nprocessing_ms = -1\n", 2, "must be a whole number"),
    "no reason": ("[[suppress]]\nrule = 'KA1'\n", 1, "suppress[0]: lacks 'reason'"),
    "empty reason": ("[[suppress]]\nrule = 'KA1'\nreason = ''\n", 3, "must not be empty"),
    "no date": ("[[suppress]]\nrule = 'KA1'\nreason = 'r'\nexpires = 'soon'\n", 4, "'soon' is no date"),
    "table for a list": ("[suppress]\nrule = 'KA1'\n", 1, "must be a valid list"),
    "plugin file": (
        "plugins = ['acme',\n  '../tools/check.py']\n",
        2,
        "by --plugin FILE on the command line",
    ),
    "plugin anywhere": ("plugins = ['/evil.py']\n", 1, "leaves the folder of this file"),
    "plugin folder": ("plugins = ['..']\n", 1, "neither the name of an installed plugin nor"),
    "pack outside": ("rules = ['ok.toml', '../up.toml']\n", 1, "leaves the folder of this file"),
    "pack anywhere": ("rules = ['/etc/passwd']\n", 1, "leaves the folder of this file"),
    "param": ("[params.KA1]\na = { b = 1 }\n", 2, "text, a number, a boolean"),
    "a list of tables": ("[[workload]]\npassword = 'hunter2'\n", 1, "workload: must be a table, not a list"),
    "a list of words": ("profile = ['hunter2']\n", 1, "profile: a list is not allowed (allowed: dev, prod)"),
    "a table of words": ("kafka_version = { a = 'hunter2' }\n", 1, "must be a valid string, not a table"),
    "not TOML": ("[facts]\nbrokers = 3\nbrokers = 4\n", 3, "is not valid TOML"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_the_line_and_what_is_allowed(name: str) -> None:
    text, line, says = REFUSED[name]
    (one,) = refusal(text)
    assert one.startswith(f"kafka-advisor.toml:{line}: ")
    assert says in one
    assert "hunter2" not in one


def test_all_faults_are_told_in_the_order_of_the_file() -> None:
    assert [
        one.split(" ")[0] for one in refusal("profile = 1\nfail_on = 2\n[facts]\nracks = 0\nmode = 1\n")
    ] == [f"kafka-advisor.toml:{line}:" for line in (1, 2, 4, 5)]


def test_a_link_does_not_lead_out_even_when_cached(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "pack.toml").write_text("")
    cache = Cache(str(tmp_path / "cache"))
    path = str(root / "kafka-advisor.toml")
    text = "rules = ['pack.toml']"
    assert load_project(path, text, cache).rules == ("pack.toml",)
    (root / "pack.toml").unlink()
    os.symlink("/etc/passwd", root / "pack.toml")
    with pytest.raises(UsageError, match=r"kafka-advisor\.toml:1: rules: 'pack\.toml' is a link out"):
        load_project(path, text, cache)


def test_the_published_schema_is_that_of_the_models() -> None:
    path = Path(module.__file__).parent.parent / "schemas" / "project.schema.json"
    assert path.read_text(encoding="utf-8") == schema_text(), "run: python -m advisor.read.project_schema"


def test_the_schema_takes_what_is_taken_and_refuses_what_is_refused() -> None:
    validator = jsonschema.Draft202012Validator(load_schema("project"))
    value, _ = read_toml("x", FULL.encode())
    validator.validate(value)
    # Where a file leads to, and what a date is, is not for a schema to know.
    beyond = {
        "plugin file",
        "plugin anywhere",
        "plugin folder",
        "pack outside",
        "pack anywhere",
        "no date",
        "not TOML",
    }
    for name, (text, _, _) in REFUSED.items():
        if name not in beyond:
            assert not validator.is_valid(read_toml("x", text.encode())[0]), name


# Writing


def taken_up(text: str) -> str:
    """The file with every offered line taken up."""
    lines = text.splitlines()
    return "\n".join(line[1:] if line[:1] == "#" and line[:2] != "# " else line for line in lines)


def test_what_init_offers_is_valid_and_complete() -> None:
    empty = load_project("kafka-advisor.toml", to_toml({}), OFF)
    assert empty._replace(lines={}) == EMPTY._replace(path="kafka-advisor.toml")
    value, _ = read_toml("x", taken_up(to_toml({})).encode())
    schema = load_schema("project")
    assert set(value) == set(schema["properties"])
    for name, table in (("facts", "Facts"), ("workload", "Workload")):
        assert set(value[name]) == set(schema["$defs"][table]["properties"])
    full = load_project("kafka-advisor.toml", taken_up(to_toml({})), OFF)
    assert all(getattr(full, field) for field in full._fields)


def test_what_is_written_is_read_again() -> None:
    value, _ = read_toml("x", FULL.encode())
    text = to_toml(value)
    assert read_toml("x", text.encode())[0] == value
    before = load_project("kafka-advisor.toml", FULL, OFF)
    after = load_project("kafka-advisor.toml", text, OFF)
    strip: dict[str, Any] = {"lines": {}, "suppress": ()}
    assert after._replace(**strip) == before._replace(**strip)
    with pytest.raises(ValueError, match=r"no fields of .*: nonsense"):
        to_toml({"nonsense": 1})


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9 ._\"'-]{0,8}", fullmatch=True)


@given(texts, texts, st.dictionaries(names, st.sampled_from(("error", "off")), min_size=1, max_size=3))
def test_any_text_survives_writing(reason: str, resource: str, severity: dict[str, str]) -> None:
    value = {
        "severity": severity,
        "suppress": [{"rule": "KA101", "reason": reason, "resource": resource}],
        "deployment": [{"topic": resource, "groups": [reason, resource]}],
    }
    assert read_toml("x", to_toml(value).encode())[0] == value


ODD = st.sampled_from(
    ["4.1", "4", "3.9.1", "1.2.3.4.5", "4.", "٤.1", "prod", "dev", "", "error", 4.1, True, ["prod"]]
)


@given(st.dictionaries(st.sampled_from(["kafka_version", "profile", "fail_on", "facts"]), ODD))
def test_what_is_plain_needs_no_validation(value: dict[str, Any]) -> None:
    if module.is_plain(value):
        assert ProjectFile.model_validate(value).model_dump(mode="json", exclude_none=True) == value


def test_a_plain_file_loads_no_pydantic(tmp_path: Path) -> None:
    (tmp_path / "kafka-advisor.toml").write_text('kafka_version = "4.1"\nprofile = "prod"\n')
    (tmp_path / "producer.properties").write_text("bootstrap.servers=kafka:9092\n")
    words = "import sys; from advisor.cli import main; main(['audit', '--no-cache', sys.argv[1]]); "
    done = subprocess.run(
        [sys.executable, "-c", words + "print('pydantic' in sys.modules)", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.endswith("False\n"), done.stderr
