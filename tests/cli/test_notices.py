"""What would mislead by silence is one clear line: names that mean nothing, suppressions without effect,
versions that do not exist, files that are passed over, behaviours that are too many."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.cli import main
from advisor.read.project_schema import ProjectFile

from .telling import PRODUCER

BAD = PRODUCER.replace("all", "ALL")


@pytest.fixture
def said(tmp_path, capsys, monkeypatch, kept):
    """The lines on stderr of a command in this process; its exit code is looked at too."""
    monkeypatch.setenv("KAFKA_ADVISOR_CACHE", str(kept))
    monkeypatch.chdir(tmp_path)
    Path("producer.properties").write_text(BAD)

    def run(code: int, *words: str, project: str | None = None) -> list[str]:
        if project is not None:
            Path("kafka-advisor.toml").write_text(project)
        done = main(list(words))
        read = capsys.readouterr()
        run.out = read.out
        assert done == code, read.err
        assert "Traceback" not in read.err
        assert "mistake in kafka-advisor" not in read.err
        return [line.removeprefix("kafka-advisor: ") for line in read.err.splitlines()]

    return run


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("41", "there is no Kafka 41; did you mean 4.1?"),
        ("39", "there is no Kafka 39; did you mean 3.9?"),
        ("9.9", "there is no Kafka 9.9; the newest known is 4.3"),
        ("99", "there is no Kafka 99; the newest known is 4.3"),
    ],
)
def test_a_version_that_cannot_be(said, version, line):
    for words in (
        ["audit", "--kafka-version", version, "."],
        ["fix", "--kafka-version", version, "."],
        ["explain", "--kafka-version", version, "acks"],
        ["init", "--kafka-version", version],
        ["simulate", "--kafka-version", version, "."],
        ["compare", "--from-version", version, "--to-version", "4.1", "."],
    ):
        assert said(2, *words) == [line], words
    told = said(2, "audit", ".", project=f'kafka_version = "{version}.0"\n')
    assert len(told) == 1
    assert "kafka-advisor.toml:1: there is no Kafka" in told[0]


def test_a_version_that_another_stands_for(said):
    (line,) = said(1, "audit", "--kafka-version", "4.9", ".")
    assert line == "Kafka 4.9 is newer than any known; 4.3.1 stands for it"
    (line,) = said(1, "audit", "--kafka-version", "4", ".")
    assert line == "4 names no minor version; taken as 4.3"
    assert said(1, "audit", "--kafka-version", "3.9", ".") == []


def test_a_client_family_that_nobody_knows(said):
    (line,) = said(2, "audit", ".", project='[[client]]\npath = "*"\nfamily = "librdkafak"\n')
    assert (
        "kafka-advisor.toml:1: client: no family is called 'librdkafak'; did you mean 'librdkafka'?" in line
    )
    for family in ("java", "librdkafka", "spring", "connect", "streams"):
        said(1, "audit", "--select", "KA006", ".", project=f'[[client]]\npath = "x"\nfamily = "{family}"\n')


SUPPRESS = '[[suppress]]\nrule = "{}"\nreason = "so it is"\n{}\n'


@pytest.mark.parametrize(
    ("rule", "more", "code", "line"),
    [
        ("KA0O6", "", 1, "suppress: no rule is called 'KA0O6'; did you mean 'KA006'?"),
        ("not-a-choise", "", 1, "suppress: no rule is called 'not-a-choise'; did you mean 'not-a-choice'?"),
        ("KA999", "", 1, "suppress: no rule is called 'KA999'; `kafka-advisor rules` lists them"),
        ("KA006", "expires = 2020-02-03", 1, "the suppression of KA006 expired on 2020-02-03"),
        ("KA006", 'expires = "2020-02-03"', 1, "the suppression of KA006 expired on 2020-02-03"),
        ("KA005", "", 1, "the suppression of KA005 fits no finding: it can go"),
        ("KA006", 'path = "elsewhere/*"', 1, "the suppression of KA006 fits no finding: it can go"),
        ("KA006", "", 0, None),
        ("not-a-choice", "expires = 2999-01-01", 0, None),
    ],
)
def test_suppressions_without_effect(said, rule, more, code, line):
    lines = said(code, "audit", ".", project=SUPPRESS.format(rule, more))
    assert lines == ([] if line is None else [f"kafka-advisor.toml:1: {line}"])


def test_an_unused_suppression_is_not_told_by_half_an_audit(said):
    """It may be another file's, or another rule's, that was not asked."""
    Path("other.properties").write_text(PRODUCER)
    project = SUPPRESS.format("KA005", "")
    assert said(1, "audit", "producer.properties", project=project) == []
    assert said(1, "audit", "--select", "KA006", ".", project=project) == []
    assert len(said(1, "audit", ".", project=project)) == 1


def test_a_comment_that_nothing_needs(said):
    Path("producer.properties").write_text(
        BAD.replace("acks=", "# kafka-advisor: ignore[KA006,KA005] so it is\nacks=").replace(
            "key.ser", "# kafka-advisor: ignore\nkey.ser"
        )
    )
    assert said(0, "audit", ".") == [
        "producer.properties:3: ignore fits no finding: it can go",
        "producer.properties:6: ignore[KA005] fits no finding: it can go",
    ]
    assert said(0, "audit", "--select", "KA006", ".") == []


def test_rules_that_no_pack_has(said):
    lines = said(1, "audit", ".", project='[severity]\nKA999 = "off"\n[params.no-such]\nx = 1\n')
    assert lines == [
        "kafka-advisor.toml:2: severity: no rule is called 'KA999'; `kafka-advisor rules` lists them",
        "kafka-advisor.toml:3: params: no rule is called 'no-such'; `kafka-advisor rules` lists them",
    ]
    (line,) = said(1, "audit", ".", project="[params.KA006]\nlimit = 1\n")
    assert line == "kafka-advisor.toml:1: params: KA006 has no parameter 'limit' (it has: none)"


def test_a_comment_that_names_no_rule(said):
    Path("producer.properties").write_text("# kafka-advisor: ignore[KA0O6] so it is\n" + BAD)
    (line,) = said(1, "audit", ".")
    assert line == "producer.properties:2: ignore[KA0O6]: no rule is called 'KA0O6'; did you mean 'KA006'?"
    Path("producer.properties").write_text(BAD.replace("acks", "# kafka-advisor: ignore[KA006] so\nacks"))
    assert said(0, "audit", ".") == []


def test_a_file_of_mostly_unknown_keys_is_not_hidden(said):
    near = ("client.idd", "retriess", "request.timeout.mss", "retry.backoff.mss", "send.buffer.bytess")
    Path("app.properties").write_text("bootstrap.servers=k:9092\n" + "".join(f"{key}=1\n" for key in near))
    said(1, "audit", ".")
    assert "skipped app.properties: it is hardly a configuration of Kafka's; name the file" in said.out
    said(0, "audit", "app.properties")
    assert "\n5 warnings; read 1 file" in said.out
    assert "app.properties:3" in said.out
    Path("gradle.properties").write_text("org.gradle.jvmargs=-Xmx2g\nversion=1\n")
    said(1, "audit", ".")
    assert "skipped gradle" not in said.out


def test_too_many_behaviours_are_told(said, monkeypatch):
    """More than can be judged is no success: which guarantees were not judged, and why."""
    from advisor.ask import judge as judging

    monkeypatch.setattr(judging, "COMBINATIONS_MAX", 1)
    Path("producer.properties").write_text(PRODUCER)
    lines = said(0, "audit", "--no-cache", ".")
    assert lines
    assert all("not judged: " in line and "more than 1 behaviours are possible" in line for line in lines)


# kafka-advisor.toml: every field with every wrong type

WRONG = (
    "true",
    "-1",
    "0",
    "1.5",
    "nan",
    "inf",
    "-inf",
    "[]",
    "[[]]",
    "[{}]",
    "{}",
    "{ a = 1 }",
    '""',
    '"x"',
    '"\\u009b"',
    '"nan"',
    '"infs"',
    '"1.2.3s"',
    '"' + "9" * 400 + 'd"',
    "9" * 400,
    "2027-01-31",
    "2027-01-31T12:00:00Z",
    "12:00:00",
)


def fields() -> list[str]:
    """As lines up to the value, from the model itself, so that a field that comes is tried."""
    found = []
    for name, field in ProjectFile.model_fields.items():
        found.append(f"{name} = ")
        inner = [
            model
            for model in __import__("advisor.read.project_schema", fromlist=["x"]).__dict__.values()
            if isinstance(model, type) and model.__module__ == "advisor.read.project_schema"
        ]
        for model in inner:
            if f"{model.__name__}]" in str(field.annotation) or f"{model.__name__} |" in str(
                field.annotation
            ):
                many = "list[" in str(field.annotation)
                head = f"[[{name}]]" if many else f"[{name}]"
                found += [f"{head}\n{inside} = " for inside in model.model_fields]
    found += ["[severity]\nKA101 = ", "[params.KA101]\nx = ", "[params]\nKA101 = "]
    return found


def test_fields_of_every_table_are_tried():
    names = [line.split("\n")[0] for line in fields()]
    assert {"[[suppress]]", "[[deployment]]", "[[client]]", "[facts]", "[workload]"} <= set(names)


def test_no_field_of_the_project_file_crashes_with_a_wrong_type():
    from advisor.memo.cache import Cache
    from advisor.model import UsageError
    from advisor.read.project import load_project

    refused: list[str] = []
    for line in fields():
        for value in WRONG:
            try:
                load_project("kafka-advisor.toml", f"{line}{value}\n", Cache(None))
            except UsageError as error:
                refused.append(str(error))
    assert [line for line in refused if not line.startswith("kafka-advisor.toml:")] == []
    assert len(refused) > 500
