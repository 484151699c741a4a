"""`--baseline` and `--diff-base`: what is known does not count, and what a change makes worse does."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.reporters.sarif_schema import official_schema

AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.com")


@pytest.fixture
def quickstart(tmp_path) -> Path:
    """A copy of the quickstart, in a repository with one commit."""
    folder = tmp_path / "quickstart"
    shutil.copytree(ROOT / "samples/quickstart", folder)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)
    return folder


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *AUTHOR, *words], cwd=folder, check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=more")


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def accept(advisor, folder: Path) -> Path:
    done = advisor("audit", "--baseline", "known.json", "--update-baseline", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "known.json"


def entries(file: Path) -> list[tuple[str, str]]:
    return [(one["code"], one["file"]) for one in json.loads(file.read_text())["findings"]]


# -- a baseline --------------------------------------------------------------------------------------------


def test_what_is_accepted_does_not_fail_and_is_counted(advisor, quickstart):
    assert advisor("audit", cwd=quickstart).returncode == 1
    known = accept(advisor, quickstart)
    done = advisor("audit", "--baseline", "known.json", cwd=quickstart)
    assert done.returncode == 0
    assert "KA101" not in done.stdout
    assert "no new finding; read 3 files" in done.stdout
    assert "3 in the baseline" in done.stdout
    assert ("KA101", "producer.properties") in entries(known)
    assert "line" not in known.read_text()


def test_a_baseline_survives_moved_lines_and_another_folder(advisor, quickstart):
    accept(advisor, quickstart)
    producer = quickstart / "producer.properties"
    producer.write_text("# one\n# two\n# three\n" + producer.read_text())
    for words, cwd in (
        ((".",), quickstart),
        (("producer.properties",), quickstart),
        (("quickstart",), quickstart.parent),
    ):
        known = quickstart / "known.json"
        done = advisor("audit", "--baseline", known, *words, cwd=cwd)
        assert done.returncode == 0, done.stdout
        assert "3 in the baseline" in done.stdout
        assert "gone" not in done.stdout


def test_what_is_new_is_told_alone(advisor, quickstart):
    accept(advisor, quickstart)
    edit(quickstart / "topic-orders.properties", "retention.ms=604800000", "retention.ms=soon")
    done = advisor("audit", "--baseline", "known.json", "--format", "json", cwd=quickstart)
    assert done.returncode == 1
    report = json.loads(done.stdout)
    marked = {one["code"]: one["baseline"] for one in report["findings"]}
    assert marked["KA101"] == "known"
    assert set(marked.values()) == {"known", "new"}
    assert report["summary"]["errors"] == sum(
        one["severity"] == "error" and one["baseline"] == "new" for one in report["findings"]
    )


def test_what_is_gone_is_told_and_goes_out(advisor, quickstart):
    accept(advisor, quickstart)
    edit(quickstart / "producer.properties", "acks=1", "acks=all")
    words = ("audit", "--baseline", "known.json")
    done = advisor(*words, cwd=quickstart)
    assert "findings of the baseline are gone: " in done.stdout
    assert "KA101 in producer.properties" in done.stdout
    assert done.returncode == 0
    assert advisor(*words, "--strict-baseline", cwd=quickstart).returncode == 1
    # One rule says nothing of the others.
    assert "gone" not in advisor(*words, "--select", "KA010", cwd=quickstart).stdout
    done = advisor(*words, "--update-baseline", cwd=quickstart)
    assert "known.json: 1 finding (before: 3)" in done.stderr
    assert entries(quickstart / "known.json") == [("KA202", "server.properties")]


def test_an_update_of_one_file_keeps_the_others(advisor, quickstart):
    known = accept(advisor, quickstart)
    before = entries(known)
    done = advisor(
        "audit", "--baseline", "known.json", "--update-baseline", "topic-orders.properties", cwd=quickstart
    )
    assert done.returncode == 0, done.stderr
    assert entries(known) == before


def test_sarif_says_new_unchanged_and_absent(advisor, quickstart, tmp_path_factory):
    import jsonschema

    accept(advisor, quickstart)
    edit(quickstart / "producer.properties", "acks=1", "acks=all")
    edit(quickstart / "topic-orders.properties", "min.insync.replicas=2", "min.insync.replicas=4")
    done = advisor("audit", "--baseline", "known.json", "--format", "sarif", cwd=quickstart)
    log = json.loads(done.stdout)
    schema = official_schema(tmp_path_factory.mktemp("schema"))
    assert [error.message for error in jsonschema.Draft4Validator(schema).iter_errors(log)] == []
    states = {result["ruleId"]: result["baselineState"] for result in log["runs"][0]["results"]}
    assert states["KA101"] == "absent"
    assert states["KA201"] == "new"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "known.json: no such file or directory; --update-baseline makes it"),
        ("{", "known.json: is not a baseline; --update-baseline writes it anew"),
        ("[1]", "known.json: is not a baseline"),
        ('{"schema_version": 1, "findings": [{"code": "KA101"}]}', "known.json: is not a baseline"),
        ('{"schema_version": 9, "findings": []}', "known.json: is a baseline of another version"),
    ],
)
def test_a_broken_baseline_is_said_in_one_line(advisor, quickstart, text, said):
    if text is not None:
        (quickstart / "known.json").write_text(text)
    done = advisor("audit", "--baseline", "known.json", cwd=quickstart)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--update-baseline",), "--update-baseline needs --baseline FILE"),
        (("--strict-baseline",), "--strict-baseline needs --baseline FILE"),
        (("--baseline", "x", "--diff-base", "main"), "name one of them"),
    ],
)
def test_words_that_do_not_fit(advisor, quickstart, words, said):
    done = advisor("audit", *words, cwd=quickstart)
    assert done.returncode == 2
    assert said in done.stderr


# -- a change ----------------------------------------------------------------------------------------------


def test_old_findings_do_not_fail_a_change(advisor, quickstart):
    (quickstart / "notes.txt").write_text("words\n")
    done = advisor("audit", "--diff-base", "main", cwd=quickstart)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing is worse or better" in done.stdout
    assert "3 known in main" in done.stdout


def test_a_change_that_makes_it_worse_fails(advisor, quickstart):
    edit(quickstart / "producer.properties", "acks=1", "acks=all")
    commit(quickstart)
    edit(quickstart / "producer.properties", "acks=all", "acks=1")
    done = advisor("audit", "--diff-base", "main", cwd=quickstart)
    assert done.returncode == 1
    assert "acknowledged records: survived 1 lost broker, now 0" in done.stdout
    assert "error[KA101]" in done.stdout
    quiet = advisor("audit", "--diff-base", "main", "-q", cwd=quickstart)
    assert "worse: producer -> orders -> server: acknowledged records: survived 1" in quiet.stdout
    assert advisor("audit", "--diff-base", "main", "--fail-on=never", cwd=quickstart).returncode == 0


def test_a_change_that_makes_it_better_says_so_and_what_it_costs(advisor, quickstart):
    edit(quickstart / "producer.properties", "acks=1", "acks=all")
    done = advisor("audit", "--diff-base", "main", cwd=quickstart)
    assert done.returncode == 0
    better = [line for line in done.stdout.splitlines() if line.startswith("  better ")]
    assert any("acknowledged records: survived 0 lost brokers, now 1" in line for line in better)
    assert any("KA101 is fixed" in line for line in better)
    (cost,) = [line for line in done.stdout.splitlines() if line.startswith("  cost ")]
    assert "writes: continued with 2 brokers down, now 1" in cost
    comment = advisor("audit", "--diff-base", "main", "--format", "markdown", cwd=quickstart)
    assert "now 1" in comment.stdout
    assert "better" in comment.stdout


def test_a_change_is_what_this_branch_does(advisor, quickstart):
    """What main did since is not this branch's."""
    git(quickstart, "checkout", "--quiet", "-b", "work")
    (quickstart / "notes.txt").write_text("words\n")
    commit(quickstart)
    git(quickstart, "checkout", "--quiet", "main")
    edit(quickstart / "producer.properties", "acks=1", "acks=all")
    commit(quickstart)
    git(quickstart, "checkout", "--quiet", "work")
    done = advisor("audit", "--diff-base", "main", cwd=quickstart)
    assert done.returncode == 0, done.stdout
    assert "nothing is worse or better" in done.stdout


def test_a_new_file_is_judged_by_its_findings(advisor, quickstart):
    shutil.copy(quickstart / "producer.properties", quickstart / "producer-invoices.properties")
    done = advisor("audit", "--diff-base", "main", "producer-invoices.properties", cwd=quickstart)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "producer-invoices.properties:5" in done.stdout


def test_one_changed_file_alone(advisor, quickstart):
    done = advisor("audit", "--diff-base", "HEAD", "producer.properties", cwd=quickstart)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 known in HEAD" in done.stdout
    done = advisor("audit", "--diff-base", "HEAD", "quickstart/producer.properties", cwd=quickstart.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_report_fits_its_schema(advisor, quickstart):
    import jsonschema

    schema = json.loads((ROOT / "advisor/schemas/report.schema.json").read_text())
    edit(quickstart / "producer.properties", "acks=1", "acks=all")
    done = advisor("audit", "--diff-base", "main", "--format", "json", cwd=quickstart)
    report = json.loads(done.stdout)
    jsonschema.validate(report, schema)
    assert report["changes"]["costs"]
    accept(advisor, quickstart)
    done = advisor("audit", "--baseline", "known.json", "--format", "json", cwd=quickstart)
    jsonschema.validate(json.loads(done.stdout), schema)


def test_what_git_cannot_answer_is_said_in_one_line(advisor, quickstart, tmp_path):
    done = advisor("audit", "--diff-base", "--force", cwd=quickstart)
    assert done.returncode == 2
    done = advisor("audit", "--diff-base=nowhere", cwd=quickstart)
    assert done.returncode == 2
    assert "--diff-base nowhere: no such commit, branch or tag here" in done.stderr
    outside = tmp_path / "outside"
    shutil.copytree(ROOT / "samples/quickstart", outside)
    done = advisor("audit", "--diff-base=main", cwd=outside)
    assert done.returncode == 2
    assert "lies in no git repository" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_tree_that_leads_outside_is_not_followed(advisor, quickstart, tmp_path):
    """git itself refuses to make it; somebody else's git need not."""
    secret = tmp_path / "evil.properties"
    (quickstart / "link.properties").symlink_to(tmp_path / "target.properties")
    commit(quickstart)
    blob = (
        subprocess.run(
            ["git", "hash-object", "-w", "--stdin"],
            cwd=quickstart,
            input=b"acks=1\n",
            capture_output=True,
            check=True,
        )
        .stdout.decode()
        .strip()
    )
    inner = b"100644 evil.properties\0" + bytes.fromhex(blob)
    tree = hash_tree(quickstart, inner)
    outer = hash_tree(quickstart, b"40000 ..\0" + bytes.fromhex(tree))
    made = subprocess.run(
        ["git", *AUTHOR, "commit-tree", "-m", "evil", outer],
        cwd=quickstart,
        capture_output=True,
        check=True,
        text=True,
    ).stdout.strip()
    done = advisor("audit", "--diff-base", made, cwd=quickstart)
    assert "Traceback" not in done.stderr
    assert done.returncode == 1, "all that is here is new"
    assert not secret.exists()


def hash_tree(folder: Path, data: bytes) -> str:
    words = ["git", "hash-object", "-w", "-t", "tree", "--literally", "--stdin"]
    done = subprocess.run(words, cwd=folder, input=data, capture_output=True, check=True)
    return done.stdout.decode().strip()
