"""`kafka-advisor fix` as a user meets it: a diff that applies, files written with care, exit codes, words."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.conftest import needs

from .test_cases import CASES, SELECT, fix, texts

PRODUCER = """\
bootstrap.servers=kafka:9092
key.serializer=org.apache.kafka.common.serialization.StringSerializer
value.serializer=org.apache.kafka.common.serialization.StringSerializer
acks={acks}
"""
TOPIC = "partitions=6\nreplication.factor=3\nmin.insync.replicas=2\nunclean.leader.election.enable=false\n"


def place(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


@pytest.fixture
def lossy(tmp_path):
    files = {"app/producer.properties": PRODUCER.format(acks=1), "topic-orders.properties": TOPIC}
    return place(tmp_path / "repo", {**files, "kafka-advisor.toml": 'profile = "prod"\n'})


def applied(words: list[str], folder: Path, diff: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(words, cwd=folder, input=diff.encode("latin-1"), capture_output=True, check=False)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_diff_does_what_write_does(case, tmp_path):
    copy = Path(shutil.copytree(case / "before", tmp_path / "files"))
    code, diff, told = fix(copy, *SELECT, ".")
    assert texts(copy) == texts(case / "before"), "printing a diff changes nothing"
    if not diff:
        return
    assert code == 1
    done = applied([needs("git"), "apply", "-"], copy, diff)
    if "<secret>" in diff:
        assert "does not apply" in told
        assert done.returncode != 0
        assert "hunter2" not in diff + told
        return
    assert done.returncode == 0, done.stderr
    assert texts(copy) == {**texts(case / "before"), **texts(case / "after")}


def test_patch_takes_the_diff_too(lossy):
    _, diff, _ = fix(lossy, ".")
    done = applied([needs("patch"), "-p1"], lossy, diff)
    assert done.returncode == 0, done.stdout
    assert b"acks=all" in (lossy / "app/producer.properties").read_bytes()


def test_the_pipe_works_from_a_folder_inside_a_repository(lossy):
    subprocess.run([needs("git"), "init", "-q"], cwd=lossy, check=True)
    _, diff, _ = fix(lossy / "app", ".")
    assert "--- a/producer.properties\n" in diff
    assert applied(["git", "apply"], lossy / "app", diff).returncode == 0
    assert b"acks=all" in (lossy / "app/producer.properties").read_bytes()


def test_paths_outside_the_current_folder_are_told_from_their_root(lossy, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    _, diff, told = fix(tmp_path / "elsewhere", "../repo")
    assert "--- a/app/producer.properties\n" in diff
    assert f"relative to {lossy}" in told


def test_the_header_tells_what_is_mended_and_its_price(lossy):
    _, diff, _ = fix(lossy, ".")
    head = diff.partition("--- a/")[0]
    assert all(line.startswith("# ") for line in head.splitlines())
    assert "# app/producer.properties:4: error KA101 acked-record-loss\n" in head
    assert "#     cost: writes stop when 2 brokers are down (now 3)\n" in head
    assert head.count("fix: set acks = all") == 1


def test_exit_codes(lossy, tmp_path):
    assert fix(lossy, ".")[0] == 1
    assert fix(lossy, "--write", ".")[0] == 0
    assert fix(lossy, ".") == (0, "", "")
    assert fix(lossy, "nowhere")[0] == 2
    assert fix(lossy, "--select", "KA999", ".")[0] == 2


def test_only_what_is_selected_is_mended(lossy):
    _, diff, _ = fix(lossy, "--select", "KA0", ".")
    assert diff == ""


def test_mode_and_links_are_kept(lossy):
    path = lossy / "app/producer.properties"
    path.chmod(0o640)
    (lossy / "app/linked.properties").symlink_to("producer.properties")
    code, _, told = fix(lossy, "--write", ".")
    assert code == 0, told
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert (lossy / "app/linked.properties").is_symlink()
    assert b"acks=all" in path.read_bytes()
    assert sorted(os.listdir(lossy / "app")) == ["linked.properties", "producer.properties"]


def test_nothing_outside_the_root_is_written(lossy, tmp_path):
    outside = tmp_path / "outside.properties"
    outside.write_text(PRODUCER.format(acks=1))
    os.remove(lossy / "app/producer.properties")
    (lossy / "app/producer.properties").symlink_to(outside)
    fix(lossy, "--write", ".")
    assert outside.read_text() == PRODUCER.format(acks=1)


def test_only_named_files_are_changed(tmp_path):
    weak = TOPIC.replace("election.enable=false", "election.enable=true")
    repo = place(
        tmp_path,
        {"producer.properties": PRODUCER.format(acks=1), "topic-orders.properties": weak, ".git/x": ""},
    )
    code, _, told = fix(repo, "--select", "KA101", "--write", "producer.properties")
    assert code == 1
    assert "topic-orders.properties, which is not among the paths" in told
    assert (repo / "topic-orders.properties").read_text() == weak
    assert (repo / "producer.properties").read_text() == PRODUCER.format(acks=1)


def test_a_file_that_changed_in_the_meantime_is_not_written(lossy, monkeypatch):
    from advisor.edit import plan as editing

    path = lossy / "app/producer.properties"
    planned = editing.plan

    def plan(*words):
        found = planned(*words)
        path.write_text("# mine\n" + path.read_text())
        return found

    monkeypatch.setattr(editing, "plan", plan)
    code, _, told = fix(lossy, "--write", ".")
    assert code == 1
    assert "changed in the meantime" in told
    assert b"acks=1" in path.read_bytes()


def test_names_that_git_must_quote(tmp_path):
    files = {'odd "folder"/my producer.properties': PRODUCER.format(acks=1), "topic-orders.properties": TOPIC}
    repo = place(tmp_path, files)
    _, diff, _ = fix(repo, ".")
    assert applied([needs("git"), "apply"], repo, diff).returncode == 0
    assert b"acks=all" in (repo / 'odd "folder"/my producer.properties').read_bytes()


def test_help_shows_the_pipe(advisor):
    done = advisor("fix", "--help")
    assert done.returncode == 0
    assert "kafka-advisor fix | git apply" in done.stdout


def test_projects_side_by_side(tmp_path):
    files = {
        "producer.properties": PRODUCER.format(acks=1),
        "topic-orders.properties": TOPIC,
        "kafka-advisor.toml": "",
    }
    place(tmp_path / "shop", files)
    place(tmp_path / "bank", files)
    _, diff, _ = fix(tmp_path, ".")
    assert "--- a/bank/producer.properties\n" in diff
    assert "# shop/producer.properties:4: error KA101" in diff
    assert applied([needs("git"), "apply"], tmp_path, diff).returncode == 0
    assert fix(tmp_path, ".") == (0, "", "")


def test_each_file_alone(lossy):
    code, diff, _ = fix(lossy, "--no-link", "--select", "KA3", "app/producer.properties")
    assert code == 1
    assert "+acks=all" in diff
