"""The GitHub Action, the GitLab job and the image: their own scripts are run as a runner would run them."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT, needs

from .conftest import must, run
from .test_pre_commit import AUTHOR, BAD, GOOD, git, make_repository

ACTION = ROOT / ".github/actions/audit"


@pytest.fixture
def repository(tmp_path) -> Path:
    folder = tmp_path / "user"
    folder.mkdir()
    (folder / "old.properties").write_text(BAD)
    (folder / "producer.properties").write_text(GOOD)
    make_repository(folder)
    return folder


class Runner:
    """What GitHub does with a composite action: expressions filled in, the environment set."""

    def __init__(self, tmp_path: Path, installed) -> None:
        self.action = yaml.safe_load((ACTION / "action.yml").read_text())
        self.temp = tmp_path / "runner"
        self.temp.mkdir()
        # As the first step leaves it.
        (self.temp / "kafka-advisor").symlink_to(installed.command.parent.parent)
        self.summary = tmp_path / "summary.md"

    def audit(self, repository: Path, **inputs: str):
        given = {name: about["default"] for name, about in self.action["inputs"].items()} | inputs
        known = {f"inputs.{name}": value for name, value in given.items()}
        known["github.action_path"] = str(ACTION)

        def filled(text: str) -> str:
            return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: known[found[1]], text)

        step = self.action["runs"]["steps"][-1]
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "values go in by the environment"
        return run(
            needs("bash"),
            "--noprofile",
            "--norc",
            "-eo",
            "pipefail",
            "-c",
            step["run"],
            cwd=repository,
            RUNNER_TEMP=str(self.temp),
            GITHUB_STEP_SUMMARY=str(self.summary),
            **{name: filled(value) for name, value in step["env"].items()},
            **AUTHOR,
        )


@pytest.fixture
def runner(tmp_path, installed) -> Runner:
    return Runner(tmp_path, installed)


def test_the_action_annotates_and_summarises(runner, repository):
    done = runner.audit(repository)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error file=old.properties,line=4,title=KA006")
    assert "## kafka-advisor" in runner.summary.read_text()
    log = json.loads((repository / "kafka-advisor.sarif").read_text())
    assert [result["ruleId"] for result in log["runs"][0]["results"] if result["level"] == "error"] == [
        "KA006"
    ]


def test_the_action_fails_a_change_for_what_it_makes_worse(runner, repository):
    base = git(repository, "rev-parse", "HEAD").strip()
    (repository / "notes.txt").write_text("words\n")
    done = runner.audit(repository, **{"diff-base": base})
    assert done.returncode == 0, done.stdout + done.stderr
    (repository / "producer.properties").write_text(BAD)
    done = runner.audit(repository, **{"diff-base": base})
    assert done.returncode == 1
    assert "file=producer.properties" in done.stdout
    assert "file=old.properties" not in done.stdout


def test_inputs_are_words_and_not_commands(runner, repository):
    trap = repository / "trap"
    hostile = f"$(touch {trap});touch {trap}"
    for name in ("paths", "diff-base", "baseline", "args", "fail-on"):
        assert runner.audit(repository, **{name: hostile}).returncode == 2
        assert not trap.exists(), name
    done = runner.audit(repository, args="--select KA006 --kafka-version 3.9", paths="producer.properties")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_action_installs_this_project():
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    install = action["runs"]["steps"][0]["run"]
    assert '"$ACTION/../../.."' in install
    assert (ACTION / "../../../pyproject.toml").resolve() == ROOT / "pyproject.toml"
    assert action["outputs"]["sarif-file"]["value"] == "${{ inputs.sarif-file }}"


def test_the_gitlab_job_writes_its_reports(repository, installed):
    (job,) = yaml.safe_load((ROOT / ".gitlab/kafka-advisor.yml").read_text()).values()
    install, *script = job["script"]
    assert install.startswith('pip install --quiet "${KAFKA_ADVISOR_SOURCE:?')
    assert run(needs("bash"), "-c", install, **job["variables"]).returncode != 0, "it must be set"
    base = git(repository, "rev-parse", "HEAD").strip()
    path = f"{installed.command.parent}:/usr/bin:/bin"
    for given, code in (({}, 1), ({"CI_MERGE_REQUEST_DIFF_BASE_SHA": base}, 0)):
        done = run(
            shutil.which("sh"),
            "-ec",
            "\n".join(script),
            cwd=repository,
            **{**job["variables"], **AUTHOR, **given, "PATH": path},
        )
        assert done.returncode == code, done.stdout + done.stderr
        told = json.loads((repository / job["artifacts"]["reports"]["codequality"]).read_text())
        assert ["KA006"] * code == [one["check_name"] for one in told if one["severity"] == "critical"], told
        assert (repository / job["artifacts"]["reports"]["junit"]).read_text().startswith("<?xml")


def test_the_image_is_made_of_what_the_wheel_needs(tmp_path):
    """Its context, by its own list of what is left out, builds the wheel that it installs."""
    text = (ROOT / ".docker/Dockerfile").read_text()
    kept = [
        line[1:]
        for line in (ROOT / ".docker/Dockerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    ]
    context = tmp_path / "source"
    context.mkdir()
    for name in kept:
        path = ROOT / name
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(path, context / name, ignore=ignore) if path.is_dir() else shutil.copy(path, context)
    (build,) = re.findall(r"^RUN (pip wheel .*) --wheel-dir /wheels /source$", text, re.MULTILINE)
    words = ["--no-deps", "--wheel-dir", tmp_path / "wheels", context]
    must(sys.executable, "-m", *build.split(), *words)
    assert len(list((tmp_path / "wheels").glob("kafka_advisor-*.whl"))) == 1
    assert 'ENTRYPOINT ["kafka-advisor"]' in text
