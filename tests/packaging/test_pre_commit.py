"""The hook, run by the real pre-commit on a repository of its own, installed from a clone of this one."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT, needs

from .conftest import must, run

GOOD = """\
bootstrap.servers=kafka:9092
key.serializer=org.apache.kafka.common.serialization.StringSerializer
value.serializer=org.apache.kafka.common.serialization.StringSerializer
acks=all
"""
BAD = GOOD.replace("acks=all", "acks=ALL")
AUTHOR = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}


def git(folder: Path, *words) -> str:
    return must("git", *words, cwd=folder, **AUTHOR)


def make_repository(folder: Path) -> str:
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message=one")
    return git(folder, "rev-parse", "HEAD").strip()


@pytest.fixture(scope="module")
def program() -> str:
    return needs("pre-commit")


class Hooked:
    """A user's repository with the hook in its .pre-commit-config.yaml."""

    def __init__(self, folder: Path, home: Path, program: str) -> None:
        self.folder, self.home, self.program = folder, home, program

    def run(self, files: dict[str, str | bytes]):
        """Change these files, stage them, and let pre-commit look at what changed."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        git(self.folder, "add", "--all")
        return run(
            self.program,
            "run",
            "--verbose",
            cwd=self.folder,
            PRE_COMMIT_HOME=str(self.home),
            KAFKA_ADVISOR_CACHE=str(self.home / "advisor"),
            **AUTHOR,
        )


@pytest.fixture(scope="module")
def hook_home(tmp_path_factory) -> Path:
    """pre-commit's own cache: the hook is installed into it once."""
    return tmp_path_factory.mktemp("pre-commit")


@pytest.fixture(scope="module")
def product(source, tmp_path_factory) -> tuple[Path, str]:
    """A clone of this project, as pre-commit would fetch it."""
    clone = tmp_path_factory.mktemp("product") / "kafka-advisor"
    shutil.copytree(source, clone)
    return clone, make_repository(clone)


@pytest.fixture
def hooked(product, hook_home, program, tmp_path) -> Hooked:
    return with_hooks(product, hook_home, program, tmp_path, "kafka-advisor")


def with_hooks(product, hook_home, program, tmp_path, *names) -> Hooked:
    clone, revision = product
    folder = tmp_path / "user"
    folder.mkdir()
    hooks = [{"id": name} for name in names]
    config = {"repos": [{"repo": str(clone), "rev": revision, "hooks": hooks}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    (folder / "notes.txt").write_text("a repository\n")
    make_repository(folder)
    return Hooked(folder, hook_home, program)


def assert_told(headline: str, place: str, done: subprocess.CompletedProcess[str]) -> None:
    """A finding's first line, and its place on the next."""
    lines = done.stdout.splitlines()
    pairs = [(line, after) for line, after in itertools.pairwise(lines) if headline in line]
    assert any(place in after for _line, after in pairs), done.stdout + done.stderr


def test_good_file_passes(hooked):
    done = hooked.run({"producer.properties": GOOD})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout
    assert "1 file" in done.stdout, "the file was not audited"


def test_bad_file_fails_with_the_place(hooked):
    done = hooked.run({"config/producer.properties": BAD})
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Failed" in done.stdout
    assert_told("error[KA006]", "config/producer.properties:4", done)


def test_changed_file_is_judged_with_its_neighbours(hooked):
    """Only the producer changes, and what it is joined to lies in files that did not."""
    git(hooked.folder, "rm", "--quiet", "notes.txt")
    (hooked.folder / "topic-orders.properties").write_text("partitions=3\nmin.insync.replicas=2\n")
    (hooked.folder / "kafka-advisor.toml").write_text('kafka_version = "4.1"\n')
    git(hooked.folder, "add", "--all")
    git(hooked.folder, "commit", "--quiet", "--message=two")
    done = hooked.run({"producer.properties": BAD})
    assert "producer -> orders" in done.stdout
    assert_told("error[KA006]", "producer.properties:4", done)


def test_files_of_others_are_fine(hooked):
    others = {
        "gradle.properties": "org.gradle.jvmargs=-Xmx2g\n",
        "ci.yml": "jobs:\n  build: [1, 2]\n",
        "chart/templates/x.yaml": "{{- if .Values.on }}\nservices: {{ .Values.x }}\n{{- end }}\n",
        "nginx.conf": "server { listen 80; }\n",
        "start.sh": "#!/bin/sh\nkafka-topics --list\n",
        "words.txt": "Config values: none\n",
        "empty.properties": "",
        "latin.yml": "name: caf\xe9\n".encode("latin-1"),
        "blob.conf": b"\x00\x01\x02",
    }
    done = hooked.run(others)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


def test_no_changed_file_of_ours_is_nothing_to_say(hooked):
    """The hook looks at every commit, since pre-commit names no deleted file; here it has nothing to do."""
    (hooked.folder / "producer.properties").write_text(BAD)
    commit(hooked.folder)
    done = hooked.run({"readme.md": "# words\n"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout
    assert "KA006" not in done.stdout


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--no-verify", "--message=more")


def test_a_deleted_file_changes_what_is_said_of_the_rest(hooked):
    (hooked.folder / "producer.properties").write_text(GOOD)
    (hooked.folder / "topic-orders.properties").write_text("partitions=3\nmin.insync.replicas=2\n")
    commit(hooked.folder)
    (hooked.folder / "topic-orders.properties").unlink()
    done = hooked.run({})
    assert "cannot tell whether" in done.stdout, done.stdout + done.stderr
    assert "1 file" in done.stdout
    (hooked.folder / "producer.properties").write_text(BAD)
    commit(hooked.folder)
    (hooked.folder / "notes.txt").unlink()
    done = hooked.run({})
    assert done.returncode == 0, "a deleted file that is not Kafka's asks for nothing"
    assert "KA006" not in done.stdout


def test_a_deleted_script_counts_if_it_made_topics(hooked):
    scripts = {
        "start.sh": "#!/bin/sh\nexec java -jar app.jar\n",
        "topics.sh": "kafka-topics --bootstrap-server kafka:9092 --create --topic orders --partitions 3\n",
    }
    for name, text in {"producer.properties": BAD, **scripts}.items():
        (hooked.folder / name).write_text(text)
    commit(hooked.folder)
    for name, code in (("start.sh", 0), ("topics.sh", 1)):
        (hooked.folder / name).unlink()
        done = hooked.run({})
        assert done.returncode == code, name + done.stdout + done.stderr
        assert ("KA006" in done.stdout) == bool(code)


def test_the_project_file_speaks_of_every_file(hooked):
    (hooked.folder / "config").mkdir()
    (hooked.folder / "config" / "producer.properties").write_text(BAD)
    commit(hooked.folder)
    done = hooked.run({"kafka-advisor.toml": '[severity]\nKA006 = "warning"\n'})
    assert_told("warning[KA006]", "config/producer.properties:4", done)
    assert done.returncode == 0
    commit(hooked.folder)
    (hooked.folder / "kafka-advisor.toml").unlink()
    done = hooked.run({})
    assert_told("error[KA006]", "config/producer.properties:4", done)
    assert done.returncode == 1


def test_many_files_are_one_process(hooked):
    files = {f"services/{number}/producer.properties": GOOD for number in range(200)}
    done = hooked.run({**files, "services/7/producer.properties": BAD})
    assert done.returncode == 1
    assert done.stdout.count("read 200 files") == 1, done.stdout[-2000:]


def test_hook_environment_has_no_spark(hooked, hook_home):
    assert hooked.run({"producer.properties": GOOD}).returncode == 0
    environments = list(hook_home.glob("repo*/py_env-*"))
    assert environments, "the hook has no environment of its own"
    for environment in environments:
        names = {
            path.name.partition("-")[0].lower() for path in environment.glob("lib/python*/site-packages/*")
        }
        assert "kafka_advisor" in names
        assert names.isdisjoint({"pyspark", "pandas", "py4j", "numpy"})


def test_the_second_hook_changes_what_is_safe_to_change(product, hook_home, program, tmp_path):
    """As formatters do: the first commit fails with the file changed, the second passes."""
    fixing = with_hooks(product, hook_home, program, tmp_path, "kafka-advisor-fix", "kafka-advisor")
    done = fixing.run({"producer.properties": BAD, "notes.properties": "colour=red\n"})
    assert done.returncode == 1, done.stdout + done.stderr
    assert "files were modified by this hook" in done.stdout
    assert "producer.properties: written (KA006)" in done.stdout + done.stderr
    assert (fixing.folder / "producer.properties").read_text() == GOOD
    git(fixing.folder, "add", "--all")
    done = fixing.run({})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Passed") == 2


def test_hook_is_declared_as_promised():
    hook, fixing = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["language"] == "python"
    assert hook["require_serial"] is True
    assert hook["always_run"] is True
    assert hook["entry"].split() == ["kafka-advisor", "audit", "--hook"]
    assert fixing["entry"].split() == ["kafka-advisor", "fix", "--write", "--hook"]
    assert fixing["require_serial"] is True
