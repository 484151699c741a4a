"""What the wheel holds, and that it works where nothing else is installed."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile

import pytest

from advisor import __version__

from .conftest import must, run, tracked

SHIPPED = {
    "advisor/": "advisor/",
    "plugins/": "kafka_advisor_plugins/",
    "rules/": "kafka_advisor_rules/",
    "samples/scenarios/": "kafka_advisor_scenarios/",
}


def shipped_name(name: str) -> str | None:
    for folder, package in SHIPPED.items():
        if name.startswith(folder):
            return package + name.removeprefix(folder)
    return None


def test_wheel_holds_the_tree_and_nothing_else(wheel):
    expected = {shipped_name(name) for name in tracked()} - {None}
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert sorted(expected - held) == [], "missing from the wheel"
    assert sorted(held - expected) == [], "in the wheel and not in the tree"


def test_wheel_has_data_of_every_kind(wheel):
    """The comparison above would pass on an empty tree."""
    held = zipfile.ZipFile(wheel).namelist()
    assert "advisor/cli.py" in held
    assert "advisor/schemas/report.schema.json" in held
    assert "advisor/catalog/data/compiled/4.1.2.json" in held
    assert "kafka_advisor_plugins/formats/properties.py" in held
    assert "kafka_advisor_rules/plumbing.toml" in held
    assert "kafka_advisor_rules/compiled.json" in held


def test_wheel_is_pure_python_and_small(wheel):
    assert wheel.name.endswith("-py3-none-any.whl")
    assert wheel.stat().st_size < 5_000_000


def test_wheel_asks_for_no_spark(wheel):
    archive = zipfile.ZipFile(wheel)
    (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    asked = [
        line.removeprefix("Requires-Dist: ").lower()
        for line in archive.read(metadata).decode().splitlines()
        if line.startswith("Requires-Dist:") and "extra ==" not in line
    ]
    assert any(line.startswith("pluggy") for line in asked)
    assert not [line for line in asked if line.startswith(("pyspark", "pandas", "numpy", "pytest"))]


@pytest.fixture(params=["installed", "editable"])
def environment(request):
    return request.getfixturevalue(request.param)


def test_environment_has_no_spark(installed):
    packages = installed.packages()
    assert "kafka-advisor" in packages
    assert packages.isdisjoint({"pyspark", "pandas", "py4j", "numpy"})


def test_installed_command_audits_a_sample(environment, samples, tmp_path):
    # Copied without its project file's neighbours: nothing here is this checkout.
    sample = tmp_path / "elsewhere"
    shutil.copytree(samples / "quickstart", sample)
    cache = {"KAFKA_ADVISOR_CACHE": str(tmp_path / "cache")}
    done = run(environment.command, "audit", sample, cwd=tmp_path, **cache)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "error[KA101] acknowledged records can be lost\n" in done.stdout
    assert "producer.properties:5" in done.stdout
    assert "rule-crashed" not in done.stdout
    assert done.stderr == ""


def test_installed_command_reads_every_format(environment, samples, tmp_path):
    cache = {"KAFKA_ADVISOR_CACHE": str(tmp_path / "cache")}
    done = run(environment.command, "audit", "--format", "json", samples, cwd=tmp_path, **cache)
    assert done.stderr == ""
    report = json.loads(done.stdout)
    assert {file["format"] for file in report["files"]} >= {"properties", "spring", "compose", "strimzi"}
    assert "KA000" not in {finding["code"] for finding in report["findings"]}


def test_installed_command_explains_from_data(environment, tmp_path):
    cache = {"KAFKA_ADVISOR_CACHE": str(tmp_path / "cache")}
    said = must(environment.command, "explain", "min.insync.replicas", "--kafka-version", "3.9", **cache)
    assert "3.9" in said


def test_resources_are_found_in_every_kind_of_install(environment, tmp_path):
    code = (
        "from importlib.resources import files\n"
        "print((files('kafka_advisor_rules') / 'plumbing.toml').is_file(),"
        " (files('advisor.schemas') / 'report.schema.json').is_file(),"
        " (files('advisor.catalog') / 'data/kafka.json').is_file())"
    )
    assert must(environment.python, "-c", code, cwd=tmp_path).split() == ["True"] * 3


def test_python_dash_m_is_the_command(environment, tmp_path):
    by_module = must(environment.python, "-m", "advisor", "--version", cwd=tmp_path)
    assert by_module == must(environment.command, "--version", cwd=tmp_path)


def test_both_archives_are_built_and_described_without_a_warning(source, tmp_path):
    """What `python -m build` says, and what an index would say to the result."""
    copy = tmp_path / "source"
    shutil.copytree(source, copy)
    done = run(sys.executable, "-m", "build", "--outdir", tmp_path / "dist", copy, cwd=tmp_path)
    assert done.returncode == 0
    assert "WARNING" not in done.stdout + done.stderr
    made = sorted((tmp_path / "dist").iterdir())
    assert [path.name.rpartition("-")[2] for path in made] == ["any.whl", f"{__version__}.tar.gz"]
    must(sys.executable, "-m", "twine", "check", "--strict", *made, cwd=tmp_path)


def test_the_changelog_opens_with_this_release(source):
    heads = [line for line in (source / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
    assert heads[0] == "## Unreleased"
    assert heads[1].startswith(f"## {__version__} (")
