"""The command as a person meets it: help, lists, explanations, exit codes."""

from __future__ import annotations

import json
import subprocess
import tomllib

import pytest

from advisor import __version__
from advisor.commands import COMMANDS

from .telling import PRODUCER, codes, report_of, told

# An error (KA006) and a warning (KA002).
FAULTY = PRODUCER.replace("acks=all", "acks=ALL") + "linger.mss=5\n"
WARNING = PRODUCER + "linger.mss=5\n"


def test_version(advisor):
    done = advisor("--version")
    assert done.stdout == f"kafka-advisor {__version__}\n"
    told(done, 0)


def test_no_words_teach(advisor):
    done = advisor()
    said = told(done, 2)
    assert done.stdout == ""
    for name in COMMANDS:
        assert f"\n  {name} " in said
    assert "kafka-advisor audit ." in said
    assert advisor("--help").stdout == said
    assert told(advisor("--help"), 0) == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(advisor, command):
    done = advisor(command, "--help")
    told(done, 0)
    assert f"kafka-advisor {command}" in done.stdout
    assert "examples:" in done.stdout
    assert "exit codes" in done.stdout
    options = [line for line in done.stdout.splitlines() if line.startswith("  --")]
    following = done.stdout.splitlines()
    for line in options:
        bare = line.split("  ")[-1].startswith("--") or line.strip().count("  ") == 0
        after = following[following.index(line) + 1]
        assert not bare or after.startswith("      "), f"no word about {line.strip()}"


def test_examples_in_the_help_of_audit_run(advisor, samples):
    shown = advisor("audit", "--help").stdout
    examples = shown.partition("examples:\n")[2].partition("\n\n")[0].splitlines()
    assert len(examples) >= 4
    folder = samples / "quickstart"
    (folder / "config").mkdir()
    (folder / "config/producer.properties").write_text(PRODUCER)
    for words in (["init", "-qb", "main"], ["add", "."], ["commit", "-qm", "one"]):
        author = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *author, *words], cwd=folder, check=True)
    for example in examples:
        words = example.strip().partition("     ")[0].split()
        assert words[:2] == ["kafka-advisor", "audit"]
        done = advisor(*words[1:], cwd=folder)
        assert done.returncode in (0, 1), f"{example}\n{done.stderr}"
        assert done.stderr.replace("kafka-advisor: known.json: 4 findings (before: 0)\n", "") == ""


def test_an_audit_without_a_path_is_of_this_folder(advisor, samples):
    done = advisor("audit", cwd=samples / "quickstart")
    assert done.stdout == advisor("audit", ".", cwd=samples / "quickstart").stdout
    assert "\n  producer.properties:5" in done.stdout
    assert told(done, 1) == ""


@pytest.mark.parametrize("words", [["adit"], ["explain"], ["plugin", "make"], ["rules", "--format", "x"]])
def test_wrong_words_are_usage(advisor, words):
    done = advisor(*words)
    assert "usage: kafka-advisor" in told(done, 2)
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["adit"], "invalid choice: 'adit'; did you mean 'audit'?"),
        (["audit", "--formt", "json"], "unrecognized arguments: --formt; did you mean --format?"),
        (["audit", "--diffbase=main"], "did you mean --diff-base?"),
        (["rules", "--zzz"], "unrecognized arguments: --zzz; `kafka-advisor rules --help` lists the options"),
        (["audit", "--fail-on", "eror"], "invalid choice: 'eror'; did you mean 'error'?"),
        (["audit", "--format", "txt"], "no report format 'txt'; did you mean 'text'?"),
        (["audit", "--select", "KA10l"], "no rule is called 'KA10l'; did you mean 'KA101'?"),
        (["audit", "--ignore", "acked-record-los"], "did you mean 'acked-record-loss'?"),
        (["explain", "min.insync.replica"], "did you mean min.insync.replicas?"),
    ],
)
def test_what_was_meant(advisor, tmp_path, words, said):
    (tmp_path / "producer.properties").write_text(PRODUCER)
    shown = told(advisor(*words), 2)
    assert said in shown
    assert len(shown.splitlines()) <= 2, "the mistake is not buried under the options"


# rules and explain


def test_rules_as_text_and_json_agree(advisor):
    listed = advisor("rules")
    told(listed, 0)
    rows = json.loads(advisor("rules", "--format", "json").stdout)
    assert {"code", "name", "severity", "evidence", "pack", "title"} == set(rows[0])
    for row in rows:
        (line,) = [line for line in listed.stdout.splitlines() if line.startswith(f"{row['code']} ")]
        assert row["name"] in line
        assert row["severity"] in line
    assert [row["code"] for row in rows] == sorted(row["code"] for row in rows)


@pytest.mark.parametrize(
    ("code", "name"),
    [("KA651", "hot-partition"), ("KA652", "readers-fall-behind"), ("KA653", "batches-nearly-empty")],
)
def test_a_rule_that_only_traffic_shows_is_explained(advisor, code, name):
    by_code, by_name = advisor("explain", code.lower()), advisor("explain", name)
    assert by_code.stdout == by_name.stdout
    assert f"[{code}]" in by_code.stdout
    assert "kafka-advisor replay" in by_code.stdout


def test_every_rule_is_explained_by_code_and_name(advisor):
    rows = json.loads(advisor("rules", "--format", "json").stdout)
    # One in six keeps this short; which ones does not matter.
    for row in [row for row in rows if row["pack"] == "engine"] + rows[::6]:
        by_code, by_name = advisor("explain", row["code"].lower()), advisor("explain", row["name"])
        told(by_code, 0)
        first = (
            f"{row['code']} {row['name']}" if row["pack"] == "engine" else f"[{row['code']}] {row['title']}"
        )
        assert first in by_code.stdout.splitlines()[0]
        assert by_name.stdout == by_code.stdout
        assert len(by_code.stdout) > 80


@pytest.mark.parametrize(
    ("word", "says", "rule"),
    [
        ("storage-bounded", "no longer", "KA502  warning kept-beyond-retention"),
        ("acked-records-survive", "never lost", "KA101  error   acked-record-loss"),
    ],
)
def test_a_guarantee_is_explained_with_the_rules_that_ask_it(advisor, word, says, rule):
    done = advisor("explain", word)
    assert done.returncode == 0
    assert says in done.stdout.splitlines()[0]
    assert rule in done.stdout


def test_setting_is_explained_by_version(advisor):
    old, new = (advisor("explain", "linger.ms", "--kafka-version", version) for version in ("3.9", "4.1"))
    told(old, 0)
    told(new, 0)
    assert old.stdout != new.stdout
    assert "3.9" in old.stdout


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("min.insync.replica", "did you mean min.insync.replicas"),
        ("silently-rewriten", "no rule, setting or word is called 'silently-rewriten'"),
        ("KA999", "no rule, setting or word is called 'KA999'"),
        ("\x1b[31m", "no rule, setting or word is called '\\x1b[31m'"),
        ("", "no rule, setting or word"),
    ],
)
def test_unknown_word_is_a_usage_error(advisor, word, said):
    done = advisor("explain", word)
    assert said in told(done, 2)
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("setting", "readers"),
    [
        ("min.insync.replicas", "KA101 acked-record-loss, KA102 single-copy-ack"),
        ("offsets.topic.replication.factor", "KA204 groups-stop"),
        ("max.in.flight.requests.per.connection", "KA301 stored-twice, KA302 reordered"),
        ("broker.rack", "KA108 record-lost-with-a-rack, KA210 writes-stop-with-a-rack"),
    ],
)
def test_a_setting_says_which_rules_read_it(advisor, setting, readers):
    assert f"Read by: {readers}" in advisor("explain", setting).stdout


def test_a_rule_says_what_may_go_wrong(advisor):
    told_of = advisor("explain", "KA103").stdout
    assert "Decided by: guarantee acked-records-survive\n" in told_of
    assert "Asked with: 1 power loss or 1 wiped disk; besides, at any time: 1 slow follower\n" in told_of


def test_explain_at_no_version(advisor):
    assert "banana" in told(advisor("explain", "acks", "--kafka-version", "banana"), 2)


# init


def test_init_writes_a_file_that_loads(advisor, tmp_path):
    done = advisor("init", "--kafka-version", "3.9", "--profile", "dev")
    told(done, 0)
    text = (tmp_path / "kafka-advisor.toml").read_text()
    assert tomllib.loads(text) == {"kafka_version": "3.9", "profile": "dev"}
    (tmp_path / "producer.properties").write_text(PRODUCER)
    report = report_of(advisor("audit", "--format", "json", "."), 0)
    assert (report["kafka_version"], report["profile"]["name"]) == ("3.9", "dev")


def test_init_without_words_changes_no_verdict(advisor, tmp_path):
    (tmp_path / "producer.properties").write_text(FAULTY)
    before = advisor("audit", ".").stdout
    told(advisor("init"), 0)
    assert tomllib.loads((tmp_path / "kafka-advisor.toml").read_text()) == {}
    assert advisor("audit", ".").stdout == before


def test_every_line_of_init_can_be_taken_up(advisor, tmp_path):
    """What stands as a comment is valid when it is uncommented."""
    told(advisor("init"), 0)
    path = tmp_path / "kafka-advisor.toml"
    lines = path.read_text().splitlines()
    taken = [
        line[1:] if line.startswith("#") and not line.startswith(("# ", "#:")) else line for line in lines
    ]
    assert taken != lines
    # These name things that are not here.
    text = "\n".join(taken)
    parsed = tomllib.loads(text)
    assert set(parsed) >= {"kafka_version", "profile", "fail_on", "severity", "facts", "workload", "suppress"}
    from advisor.memo.cache import Cache
    from advisor.read.project import load_project

    project = load_project(str(path), text, Cache(None))
    assert project.kafka_version == parsed["kafka_version"]


def test_init_names_a_schema_that_knows_every_field(advisor, tmp_path):
    from jsonschema import Draft202012Validator

    told(advisor("init"), 0)
    project = tmp_path / "kafka-advisor.toml"
    first = project.read_text().splitlines()[0]
    assert first == "#:schema ./kafka-advisor.schema.json"
    schema = json.loads((tmp_path / first.partition("./")[2]).read_text())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert validator.is_valid({"kafka_version": "4.1", "profile": "prod"})
    assert not validator.is_valid({"profil": "prod"})
    # It is no configuration of Kafka's.
    (tmp_path / "producer.properties").write_text(PRODUCER)
    told(advisor("audit"), 0)
    told(advisor("init", "--no-schema", "--force"), 0)
    assert "schema" not in project.read_text().splitlines()[0]


def test_init_does_not_overwrite(advisor, tmp_path):
    path = tmp_path / "kafka-advisor.toml"
    path.write_text("# mine\n")
    assert "--force" in told(advisor("init"), 2)
    assert path.read_text() == "# mine\n"
    told(advisor("init", "--force"), 0)
    assert path.read_text() != "# mine\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "nowhere: no such folder"),
        (["--kafka-version", "banana"], "banana"),
        (["--kafka-version", ""], "version"),
        (["--kafka-version", "4"], "version"),
    ],
)
def test_init_refuses(advisor, tmp_path, words, said):
    done = advisor("init", *words)
    assert said in told(done, 2)
    assert not (tmp_path / "kafka-advisor.toml").exists()


# Exit codes and the choice of rules


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (PRODUCER, None, 0),
        (WARNING, None, 0),
        (FAULTY, None, 1),
        (FAULTY, "error", 1),
        (WARNING, "error", 0),
        (WARNING, "warning", 1),
        (WARNING, "note", 1),
        (FAULTY, "never", 0),
        (PRODUCER + "delivery.timeout.ms=30000\n", "warning", 0),
        (PRODUCER + "delivery.timeout.ms=30000\n", "note", 1),
    ],
)
def test_exit_codes(advisor, tmp_path, text, fail_on, code):
    (tmp_path / "producer.properties").write_text(text)
    told(advisor("audit", "--select", "KA0", *(["--fail-on", fail_on] if fail_on else []), "."), code)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--select", "KA0"], ["KA002", "KA006"]),
        (["--select", "KA002"], ["KA002"]),
        (["--select", "not-a-choice"], ["KA006"]),
        (["--select", "KA002,KA006"], ["KA002", "KA006"]),
        (["--select", "KA0", "--ignore", "KA006"], ["KA002"]),
        (["--ignore", "unknown-key", "--select", "KA0"], ["KA006"]),
        (["--ignore", "KA0", "--select", "KA00"], []),
        (["--select", "ka006"], ["KA006"]),
    ],
)
def test_choice_of_rules(advisor, tmp_path, words, expected):
    (tmp_path / "producer.properties").write_text(FAULTY)
    report = report_of(advisor("audit", "--fail-on", "never", "--format", "json", *words, "."), 0)
    assert sorted(codes(report)) == expected


def test_set_replaces_the_value_of_a_file(advisor, tmp_path):
    (tmp_path / "producer.properties").write_text(FAULTY)
    report = report_of(advisor("audit", "--format", "json", "--set", "producer.acks=all", "."), 0)
    assert "KA006" not in codes(report)


def test_kafka_version_decides(advisor, tmp_path):
    """4.0 raised the default of linger.ms from 0 to 5, so what fitted before does not any more."""
    sample = tmp_path / "producer.properties"
    sample.write_text(PRODUCER + "delivery.timeout.ms=30000\n")
    assert "KA010" in codes(
        report_of(advisor("audit", "--format", "json", "--kafka-version", "4.1", sample), 1)
    )
    # Nobody says which release it is: what an older one takes is no error.
    assumed = report_of(advisor("audit", "--format", "json", sample), 0)
    assert [one["severity"] for one in assumed["findings"] if one["code"] == "KA010"] == ["note"]
    words = ("--fail-on", "never", "--kafka-version", "3.9", sample)
    old = report_of(advisor("audit", "--format", "json", *words), 0)
    assert "KA010" not in codes(old)
    assert old["kafka_version"] == "3.9"


# Reports


def test_report_to_files(advisor, tmp_path):
    (tmp_path / "producer.properties").write_text(FAULTY)
    name = "producer.properties"
    done = advisor("audit", "--report", "json=out.json", "--report", "text=out.txt", name)
    told(done, 1)
    assert (tmp_path / "out.txt").read_text() == done.stdout
    assert (tmp_path / "out.json").read_text() == advisor("audit", "--format", "json", name).stdout


def test_report_that_cannot_be_written_leaves_nothing_behind(advisor, tmp_path):
    (tmp_path / "producer.properties").write_text(PRODUCER)
    (tmp_path / "taken").mkdir()
    said = told(advisor("audit", "--report", "json=taken", "producer.properties"), 2)
    assert "taken: is a directory" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["producer.properties", "taken"]


def test_control_characters_are_escaped_in_text(advisor, tmp_path):
    """A value must neither drive the terminal nor forge a line of the report."""
    forged = "\\u001b[2J\\u001b[31m\\r\\n0 errors, 0 warnings\\u0000\\u202e\\u2028"
    (tmp_path / "producer.properties").write_text(
        PRODUCER.replace("acks=all", f"acks={forged}") + f"evil{forged}key=1\nclient.id=x{forged}\n"
    )
    done = advisor("audit", "--show-effective", ".")
    told(done, 1)
    assert all(char == "\n" or char.isprintable() for char in done.stdout)
    assert "\\x1b[2J" in done.stdout
    assert [line for line in done.stdout.splitlines() if line.startswith("0 errors")] == []
    raw = advisor("audit", "--format", "json", ".").stdout
    assert raw.isascii()
    assert all(char == "\n" or char.isprintable() for char in raw)


def test_stdout_carries_the_report_alone(advisor, tmp_path):
    (tmp_path / "producer.properties").write_text(PRODUCER)
    done = advisor("audit", "--format", "json", "producer.properties", "nowhere")
    assert json.loads(done.stdout)["summary"]["files"] == 1
    assert told(done, 2) == "kafka-advisor: nowhere: no such file or folder\n"
