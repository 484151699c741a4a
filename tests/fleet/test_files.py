"""Folders of files: what `audit` says, for every root below them."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

import generate
import pytest

from advisor.fleet import FleetOptions, audit_fleet
from advisor.fleet.trees.plan_here import found_here
from advisor.model import UsageError
from advisor.registry import Registry, load_registry
from advisor.tell.owners import codeowners, path_pattern


class Asked(NamedTuple):
    """What listing needs of a run."""

    registry: Registry
    options: FleetOptions


def places(report):
    """A table tells for itself what an audit tells under what the same line does (KA011), and of each
    deployment what an audit tells once of one cause, with the places of the others."""
    found = []
    for f in report["findings"]:
        at = (f["locations"][0]["file"], f["locations"][0]["line"] or 0)
        found.append((f["code"], f["deployment"] or "", *at))
        found += [("KA011", f["deployment"] or "", *at)] if "KA011" in f["covers"] else []
        for other, place in zip(f["deployments"][1:], f["locations"][1:], strict=False):
            if place["key"] is None and place["file"] != at[0]:
                found.append((f["code"], other, place["file"], place["line"] or 0))
    return sorted(found)


def nasty(folder):
    """Hidden names, links, a pipe, what is too long, binary or broken."""
    folder.mkdir()
    producer = "bootstrap.servers=a:9092\nacks=1\nkey.serializer=x\n"
    (folder / "kafka-advisor.toml").write_text('profile = "prod"\n')
    (folder / "compose.yml").write_text(
        "services:\n  kafka:\n    image: apache/kafka:3.9.0\n    env_file: [vars.txt, .env]\n"
    )
    (folder / ".env").write_text("KAFKA_DEFAULT_REPLICATION_FACTOR=1\n")
    (folder / "vars.txt").write_text("KAFKA_MIN_INSYNC_REPLICAS=1\nKAFKA_NODE_ID=1\n")
    (folder / ".producer.properties").write_text(producer)
    (folder / "_drafts").mkdir()
    (folder / "_drafts/sp ace%20#é.properties").write_text(producer)
    (folder / ".github").mkdir()
    (folder / ".github/CODEOWNERS").write_text("* @org/platform\n_drafts/ @org/drafts\n")
    (folder / "loop").symlink_to(folder)
    (folder / "gone.properties").symlink_to("nowhere")
    # What is not audited, by its reason.
    (folder / "application.yml").write_text("spring:\n  kafka: {a: [\n")
    (folder / "zeros.properties").write_bytes(b"acks\0=1\n")
    (folder / "latin.yml").write_bytes(b"spring:\n  kafka: \xff\n")
    (folder / "out.properties").symlink_to("/etc/hostname")
    os.mkfifo(folder / "pipe.properties")
    with (folder / "huge.properties").open("wb") as file:
        file.truncate(200 << 20)
    return {
        "nasty/application.yml": "not readable as YAML",
        "nasty/huge.properties": "209715200 bytes, more than the limit",
        "nasty/latin.yml": "not UTF-8",
        "nasty/out.properties": "a link that leads out of the root",
        "nasty/pipe.properties": "not a regular file",
        "nasty/zeros.properties": "binary",
    }


def test_the_same_findings_as_audit(spark, advisor, samples, tmp_path):
    """Every sample, services made by the generator, and a folder of what may go wrong."""
    generate.write_files(samples / "made", 6, 40)
    reasons = nasty(samples / "nasty")
    report = json.loads(advisor("audit", "--format", "json", samples).stdout)
    result = audit_fleet(spark, str(samples), str(tmp_path / "out"))
    rows = spark.read.parquet(f"{result.folder}/findings").collect()
    found = sorted((r["code"], r["deployment"] or "", r["file"], r["line"] or 0) for r in rows)
    assert found == places(report)
    owners = {row["file"]: row["owner"] for row in rows if row["root"] == "nasty"}
    assert owners["nasty/.producer.properties"] == "org/platform"
    assert owners["nasty/_drafts/sp ace%20#é.properties"] == "org/drafts"
    kept = spark.read.parquet(f"{result.folder}/quarantine").collect()
    assert sorted(row["file"] for row in kept) == sorted(reasons)
    for row in kept:
        assert row["reason"].startswith(reasons[row["file"]])
    good = [file["file"] for file in report["files"] if file["status"] != "skipped"]
    counted = {"in": len(good) + len(kept), "audited": len(good), "quarantined": len(kept)}
    assert result.summary["rows"] == {**counted, "repeated": 0}
    assert result.summary["deployments"] == len(report["deployments"])


def test_roots_of_files_on_this_machine(tmp_path):
    """A repository is a root, so is what --roots matches; a project file nearer by is nearer."""
    for name in ("pay/a/.git", "pay/a/conf", "pay/b/conf", "ops/deep/er"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("pay/a/conf/x.env", "pay/b/conf/x.env", "ops/x.env", "ops/deep/er/x.env", "x.env"):
        (tmp_path / name).write_text("A=1\n")
    (tmp_path / "ops/deep/kafka-advisor.toml").write_text("")

    def roots(pattern, *sources):
        run = Asked(load_registry(), FleetOptions(roots=pattern))
        found = found_here(run, [str(tmp_path / source) for source in sources])
        return {row[6].removeprefix(f"{tmp_path}/"): row[0].removeprefix(f"{tmp_path}/") for row in found}

    here = str(tmp_path)
    assert roots(None, "") == {
        "pay/a/conf/x.env": "pay/a", "pay/b/conf/x.env": here, "ops/x.env": here,
        "ops/deep/er/x.env": "ops/deep", "x.env": here,
    }  # fmt: skip
    assert roots("*", "")["pay/a/conf/x.env"] == "pay"
    assert roots("*/*", "")["ops/deep/er/x.env"] == "ops/deep"
    assert roots("*/*/*", "")["ops/deep/er/x.env"] == "ops/deep/er"
    assert set(roots(None, "{pay,ops}/*/conf")) == {"pay/a/conf/x.env", "pay/b/conf/x.env"}
    with pytest.raises(UsageError, match="no such file or folder"):
        roots(None, "nowhere/*")


def test_nothing_to_audit_is_told(spark, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/readme.properties").write_text("colour=green\n")
    with pytest.raises(UsageError, match="nothing could be audited"):
        audit_fleet(spark, str(tmp_path / "in"), str(tmp_path / "out"))


@pytest.mark.parametrize(
    ("pattern", "path", "owner"),
    [
        ("{team}/{service}/**", "pay/checkout/x.properties", "pay"),
        ("repos/*/{owner}/*", "repos/a/ops/x.yml", "ops"),
        ("{team}/**", "x.yml", "(nobody)"),
        ("{team}/kafka", "pay/kafka/deep/x.yml", "pay"),
        ("{team}/kafka", "pay/kafkaesque/x.yml", "(nobody)"),
    ],
)
def test_owner_by_path(pattern, path, owner):
    assert path_pattern(pattern).of(path) == owner


def test_owner_by_codeowners():
    owners = codeowners("* @all @more\n/kafka/ @platform  # ours\n*.yml @yaml\nkafka/legacy/\n")
    assert owners.of("src/a.properties") == "all"
    assert owners.of("kafka/a.properties") == "platform"
    assert owners.of("src/kafka/a.properties") == "all"
    assert owners.of("kafka/a.yml") == "yaml"
    assert owners.of("kafka/legacy/a.yml") == "(nobody)"
    with pytest.raises(UsageError, match="owner once"):
        path_pattern("*/x")


@pytest.mark.parametrize(
    ("pattern", "matches", "passes"),
    [
        ("docs/*", ["docs/a.yml"], ["docs/deep/a.yml", "src/docs/a.yml"]),
        ("apps/", ["apps/a.yml", "src/apps/x/a.yml"], ["apps"]),
        ("/docs/", ["docs/deep/a.yml"], ["src/docs/a.yml"]),
        ("**/logs", ["logs/a.yml", "deep/er/logs/a.yml"], ["catalogs/a.yml"]),
        ("/a/**/b.yml", ["a/b.yml", "a/x/y/b.yml"], ["b.yml"]),
        (r"with\ space/", ["with space/a.yml"], ["with/a.yml"]),
        ("*.yml", ["a.yml", "deep/a.yml"], ["a.yml.bak"]),
    ],
)
def test_patterns_as_github_documents_them(pattern, matches, passes):
    owners = codeowners(f"{pattern} @team\n")
    assert {owners.of(path) for path in matches} == {"team"}
    assert {owners.of(path) for path in passes} == {"(nobody)"}


def test_sections_as_gitlab_documents_them():
    owners = codeowners(
        "* @all\n[Kafka][2] @kafka @more\nconf/*.properties\n/ops/ @ops\n!/ops/own/\n"
        "^[Docs]\n*.md @writers\n*.properties @readers\n"
    )
    assert owners.of("src/conf/a.properties") == "kafka"  # a path without a slash before it is not anchored
    assert owners.of("ops/a.env") == "ops"
    assert owners.of("ops/own/a.env") == "all"
    assert owners.of("a.md") == "all"  # of an optional section, unless there is nothing else
    assert codeowners("^[Docs]\n*.md @writers\n").of("a.md") == "writers"
    assert codeowners("conf/x @a\n", gitlab=True).of("deep/conf/x") == "a"
    assert codeowners("conf/x @a\n").of("deep/conf/x") == "(nobody)"
