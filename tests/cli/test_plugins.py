"""A plugin file from end to end: a format, a check and a rule pack of its own."""

from __future__ import annotations

import json

import pytest

from .telling import PRODUCER, codes, report_of, told

PLUGIN = '''\
"""Reads .kv files: one `key value` a line, of a producer."""

from advisor.api import CheckSpec, FormatSpec, ReporterSpec, hookimpl
from advisor.api import Document, Hit, LoadError, Loaded, setting


@hookimpl
def advisor_formats():
    return [FormatSpec("kv", (".kv",), ("producer",), "shop:claim", "shop:load", "key value lines")]


@hookimpl
def advisor_checks():
    return [CheckSpec("shop-loud", "shop:loud", "document")]


@hookimpl
def advisor_reporters():
    return [ReporterSpec("count", "shop:count", "one number")]


def claim(name, text):
    return 90


def load(source):
    settings = []
    for number, line in enumerate(source.text.splitlines(), 1):
        key, blank, value = line.partition(" ")
        if key == "producer":
            continue
        if not blank:
            raise LoadError("no value", number)
        settings.append(setting(key, value, source.file, number))
    return Loaded((Document(source.file, "kv", "producer", "shop", tuple(settings)),))


def loud(document, context):
    for item in document.settings:
        if str(item.value).isupper():
            fields = {"key": item.key, "value": str(item.value)}
            yield Hit(check="shop-loud", at=item.origin.at, keys=(item.key,), fields=fields)


def count(report, options):
    return f"{len(report['findings'])}\\n"
'''
PACK = """\
[pack]
name = "shop"
schema = 1
prefix = "SHOP"

[[rule]]
code = "SHOP001"
name = "loud-value"
severity = "error"
check = "shop-loud"
message = "{key} shouts {value}"
why = "Capitals hurt."
"""


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "shop.py").write_text(PLUGIN)
    (tmp_path / "shop.toml").write_text(PACK)
    (tmp_path / "a.kv").write_text("producer\nacks ALL\nclient.id quiet\nssl.key.password HUNTER2\n")
    return ("--plugin", "shop.py", "--rules", "shop.toml")


def test_format_check_and_pack_work_together(advisor, shop):
    report = report_of(advisor("audit", *shop, "--format", "json", "a.kv"), 1)
    (file,) = report["files"]
    assert (file["format"], file["roles"], file["status"]) == ("kv", ["producer"], "audited")
    (finding,) = [item for item in report["findings"] if item["code"] == "SHOP001"]
    assert finding["message"] == "acks shouts ALL"
    assert finding["locations"] == [{"file": "a.kv", "line": 2, "key": "acks"}]
    # Our own rules judge what the plugin read.
    assert "KA006" in codes(report)
    assert "HUNTER2" not in json.dumps(report)


def test_without_the_plugin_nothing_of_it_is_known(advisor, shop):
    told(advisor("audit", "a.kv"), 2)
    assert "shop-loud" in told(advisor("audit", "--rules", "shop.toml", "."), 2)


def test_reporter(advisor, shop):
    done = advisor("audit", *shop, "--format", "count", "--select", "SHOP", "a.kv")
    told(done, 1)
    assert done.stdout == "1\n"


def test_reader_says_what_is_wrong_and_where(advisor, shop, tmp_path):
    (tmp_path / "a.kv").write_text("producer\nacks\n")
    assert "kafka-advisor: a.kv:2: no value" in told(advisor("audit", *shop, "a.kv"), 2)
    (tmp_path / "producer.properties").write_text(PRODUCER)
    report = report_of(advisor("audit", *shop, "--format", "json", "."), 0)
    (finding,) = report["findings"]
    assert (finding["code"], finding["locations"][0]["line"]) == ("KA001", 2)


def test_check_that_fails_is_told_and_the_rest_goes_on(advisor, shop, tmp_path):
    broken = PLUGIN.replace("if str(item.value).isupper():", "if item.nonsense:")
    (tmp_path / "shop.py").write_text(broken)
    done = advisor("audit", *shop, "--format", "json", "a.kv")
    report = json.loads(done.stdout)
    assert done.returncode == 1
    (finding,) = [item for item in report["findings"] if item["code"] == "KA000"]
    assert "SHOP001" in finding["message"]
    assert "AttributeError" in finding["message"]
    assert "KA006" in codes(report)
    assert "Traceback" not in done.stderr


def test_list_names_what_is_loaded_and_from_where(advisor, shop):
    plain = advisor("plugin", "list")
    told(plain, 0)
    assert "kafka_advisor_plugins.formats" in plain.stdout
    assert "shop" not in plain.stdout
    listed = advisor("plugin", "list", "--plugin", "shop.py")
    told(listed, 0)
    (row,) = [line for line in listed.stdout.splitlines() if line.startswith("shop.py")]
    name, source, taken, where = row.split()
    assert (name, source, where) == ("shop.py", "file", "shop.py")
    assert float(taken) > 0
    gives = dict(line.split(": ", 1) for line in listed.stdout.splitlines() if ": " in line)
    assert "kv" in gives["formats"].split(", ")
    assert "shop-loud" in gives["checks"].split(", ")
    assert "count" in gives["reporters"].split(", ")


def test_cloned_repository_cannot_run_code(advisor, shop, tmp_path):
    """A plugin file beside the configuration is not loaded, whatever the project file says."""
    (tmp_path / "shop.py").write_text("open('ran', 'w')\n")
    (tmp_path / "conftest.py").write_text("open('ran', 'w')\n")
    (tmp_path / "yaml.py").write_text("open('ran', 'w')\n")
    (tmp_path / "producer.properties").write_text(PRODUCER)
    for text in ("", 'plugins = ["shop"]\n', 'plugins = ["./shop.py"]\n', 'plugins = ["shop:claim"]\n'):
        (tmp_path / "kafka-advisor.toml").write_text(text)
        # As installed: -m would put the working folder on the path.
        done = advisor("audit", tmp_path, cwd="/")
        assert done.returncode == (2 if text else 0), done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "ran").exists()


def test_plugin_named_twice(advisor, shop):
    done = advisor("plugin", "list", "--plugin", "shop.py", "--plugin", "shop.py")
    assert "shop" in told(done, 2)


def test_a_file_that_the_project_lists_runs_when_it_is_trusted(advisor, shop, tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "shop.py").rename(tmp_path / "tools/shop.py")
    (tmp_path / "kafka-advisor.toml").write_text('plugins = ["tools/shop.py"]\nrules = ["shop.toml"]\n')
    said = told(advisor("audit", "."), 2)
    assert said.count("\n") == 1
    assert "kafka-advisor.toml:1: plugins: 'tools/shop.py' is code of this folder" in said
    assert "--trust-plugins" in said
    for words, env in ((["--trust-plugins"], {}), ([], {"KAFKA_ADVISOR_TRUST_PLUGINS": "1"})):
        report = report_of(advisor("audit", ".", "--format", "json", *words, env=env), 1)
        assert "SHOP001" in codes(report)
    listed = advisor("plugin", "list")
    assert listed.returncode == 0
    assert "kafka-advisor.toml:1: plugins: 'tools/shop.py' is code of this folder" in listed.stdout
    assert "\nshop.py " not in listed.stdout
    assert "\nshop.py " in advisor("plugin", "list", "--trust-plugins").stdout
    # Its copy, on which a fix is tried, has no such file.
    fixed = advisor("fix", ".", "--trust-plugins")
    assert fixed.returncode == 1, fixed.stderr
    assert "Traceback" not in fixed.stderr
    assert "is not read" not in fixed.stderr
