"""Recipes: what is written is clean in every release, and no line is there for nothing."""

from __future__ import annotations

import pytest

from advisor.cli import main
from advisor.memo.cache import Cache
from advisor.packs.pack import load_packs
from advisor.registry import load_registry
from advisor.tell.recipes import RECIPES, audited, files, needs, recipe, told

VERSIONS = ("2.8", "3.5", "3.9", "4.3")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", sorted(RECIPES))
def test_a_recipe_is_clean(name, version):
    report = audited(files(recipe(name, version), version), cache=False)
    assert [f for f in report["findings"] if f["severity"] != "note"] == []
    assert len(report["deployments"]) == 1
    assert report["deployments"][0]["headline"] == {"survives_lost": 1, "writes_with_away": 1}
    broken = {g["name"]: g["verdict"] for g in report["deployments"][0]["guarantees"]}
    assert "broken" not in broken.values()
    assert {"acked-records-survive", "every-record-processed", "group-available"} <= set(broken)


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_every_line_is_needed(name):
    found = list(needs(recipe(name, "3.9"), "3.9", cache=False))
    known = {rule.code for rule in load_packs(load_registry().packs, (), Cache(None))}
    assert [need.line.key for need in found if need.finding is None and need.line.code in known] == []
    runs = [need.line.key for need in found if need.finding and need.finding["evidence"]["trace"]]
    assert {"acks", "enable.idempotence", "min.insync.replicas", "enable.auto.commit"} <= set(runs)


def test_the_lines_are_told():
    text = "\n".join(told("no-loss", "4.3"))
    for line in recipe("no-loss", "4.3"):
        if line.because:
            assert f"{line.key}={line.value}\n    {line.because}" in text
    assert "broker 1 takes over" in text
    assert "commit after the work" in text


def test_init_writes_files_that_audit_accepts(tmp_path, capsys):
    assert main(["init", "--recipe", "no-loss", "--kafka-version", "4.1", str(tmp_path)]) == 0
    assert main(["audit", str(tmp_path), "--fail-on", "warning"]) == 0
    capsys.readouterr()
    assert main(["init", "--recipe", "no-loss", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["init", "--recipe", "all-loss", str(tmp_path)]) == 2
    assert "there is no-loss" in capsys.readouterr().err
