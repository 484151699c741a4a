"""Plugins as outsiders install them: beside the built wheel, in an environment of their own."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from advisor.explain.site.markdown import blocks_of
from tests.conftest import ROOT
from tests.explain.guide import PAGES

from .conftest import Environment, must, run


@pytest.fixture(scope="module")
def outside(installed) -> Environment:
    """The wheel and pytest; nothing of this checkout, no editable install."""
    installed.install("pytest", "setuptools>=77")
    return installed


def install(environment: Environment, folder: Path) -> None:
    environment.install("--no-deps", "--no-build-isolation", folder)


def own_tests(environment: Environment, folder: Path, **variables: str) -> str:
    """Its own tests, in a place where only what is installed can be imported."""
    words = (environment.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder / "tests")
    done = run(*words, cwd=folder.parent, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_sample_is_an_outside_plugin(outside, samples, tmp_path):
    home = Path(shutil.copytree(samples / "plugin", tmp_path / "elsewhere" / "plugin"))
    cache = {"KAFKA_ADVISOR_CACHE": str(tmp_path / "cache")}
    install(outside, home)
    # Its source goes: what is tested is what was installed.
    shutil.move(home / "src", tmp_path / "src")
    tests = home / "tests/test_policy.py"
    tests.write_text(tests.read_text().partition("\n\ndef test_nothing_is_wrong")[0] + "\n")
    assert " passed" in own_tests(outside, home, **cache)
    listed = must(outside.command, "plugin", "list", **cache)
    assert "acme-policy gives" not in listed
    assert "from acme-policy: formats acme-intake; packs acme-policy; checks acme-topic-name; " in listed
    told = run(outside.command, "audit", "--quiet", home / "intake", cwd=tmp_path, **cache)
    assert "shop.intake.yml:6: error[ACME001] two broker crashes lose" in told.stdout
    must(sys.executable, "-m", "pip", "--python", outside.python, "uninstall", "-q", "-y", "acme-policy")


def test_a_new_plugin_installs_and_passes(outside, tmp_path):
    cache = {"KAFKA_ADVISOR_CACHE": str(tmp_path / "cache")}
    must(outside.command, "plugin", "new", "shop-rules", cwd=tmp_path, **cache)
    home = tmp_path / "shop-rules"
    install(outside, home)
    assert " passed" in own_tests(outside, home, **cache)
    must(sys.executable, "-m", "pip", "--python", outside.python, "uninstall", "-q", "-y", "shop-rules")


def test_pytest_is_not_slowed_by_a_product_that_it_does_not_use(outside, tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import sys\n"
        "def test_nothing_is_loaded():\n"
        "    loaded = [name for name in sys.modules if name.startswith('advisor')]\n"
        "    assert loaded == ['advisor', 'advisor.testing', 'advisor.testing.fixtures']\n"
    )
    done = run(outside.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_a_type_checker_sees_what_plugins_read_and_give(outside, tmp_path):
    """The sample, a new plugin and every plugin of the guide, as strictly as this project is checked."""
    from advisor.author.new_plugin import plugin_files

    homes = [ROOT / "samples/plugin/src/acme_policy"]
    for path, text in plugin_files("shop-rules").items():
        if path.startswith("src/") and path.endswith(".py"):
            target = tmp_path / path.removeprefix("src/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    for page in PAGES:
        for block in blocks_of(page.read_text()):
            if block.kind == "python" and not block.file.startswith(("test_", "slips")):
                (tmp_path / block.file).write_text(block.text)
                homes.append(tmp_path / block.file)
    homes.append(tmp_path / "shop_rules")
    # What the wheel holds is what is seen.
    words = ("--config-file=", "--python-executable", outside.python, "--cache-dir", tmp_path / "cache")
    done = run(sys.executable, "-m", "mypy", "--strict", *words, *homes, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    (tmp_path / "wrong.py").write_text(
        "from advisor.api import CheckSpec, Hit\n\n"
        "spec = CheckSpec('a', print, 'document')\n"
        "hit = Hit('producer.properties', 'acks', {})\n"
    )
    done = run(sys.executable, "-m", "mypy", *words, tmp_path / "wrong.py", cwd=tmp_path)
    assert done.stdout.count("error: Argument") == 3
