"""The API is frozen: what a plugin imports today it can import tomorrow, and type checkers see what it is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from advisor import api
from tests.conftest import ROOT

from .frozen_api import FILE, lines


def test_nothing_of_the_api_is_gone_and_nothing_more_must_be_given():
    frozen, now = set(FILE.read_text().splitlines()), set(lines())
    assert sorted(frozen - now) == [], "a plugin that worked would break: see frozen_api.py"
    added = {line for line in now - frozen if line.endswith(")") and not line.endswith("=)")}
    assert [line for line in sorted(added) if line.partition("(")[0] in frozen] == []


def test_every_name_is_seen_by_a_type_checker_too():
    text = (ROOT / "advisor/api.py").read_text()
    typed = {line.split()[-1] for line in text.splitlines() if line.startswith("    from .")}
    assert typed == set(dir(api))
    assert (ROOT / "advisor/py.typed").is_file()


def test_importing_the_api_costs_no_catalog_and_no_yaml():
    code = "import sys; from advisor.api import hookimpl, CheckSpec; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not [
        name for name in loaded if name.startswith(("advisor.catalog", "advisor.sim", "yaml", "json"))
    ]


PLUGIN = "from advisor.api import hookimpl\n@hookimpl\ndef advisor_checks():\n    return []\n"
OTHER = "was written for version {} of the plugin API, and this kafka-advisor has 1.0"


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ('"1.0"', ""),
        ('"1.9"', ""),
        ('"1"', ""),
        ('"2.0"', OTHER.format("2.0")),
        ('"0.9"', OTHER.format("0.9")),
        ("1", 'api_version is 1; write it as "1.0"'),
        ('"new"', "api_version is 'new'; write it"),
    ],
)
def test_a_plugin_for_another_version_of_the_api(advisor, tmp_path, version, says):
    (tmp_path / "shop.py").write_text(f"api_version = {version}\n{PLUGIN}")
    done = advisor("rules", "--plugin", "shop.py")
    assert done.returncode == (2 if says else 0), done.stderr
    if says:
        (line,) = done.stderr.splitlines()
        assert line.startswith("kafka-advisor: plugin shop.py")
        assert says in line
