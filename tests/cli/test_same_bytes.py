"""The same bytes from every run: hash seeds, working folders, spelling of paths; nothing of the machine."""

from __future__ import annotations

import json
import re
import socket

import jsonschema
import pytest

from tests.conftest import ROOT

from .telling import PRODUCER, report_of, told

FORMATS = ("text", "json")
SAMPLES = sorted(path.parent.name for path in (ROOT / "samples").glob("*/kafka-advisor.toml"))
SCHEMA = json.loads((ROOT / "advisor/schemas/report.schema.json").read_text())


def printed(advisor, *words, cwd=None, **env) -> str:
    done = advisor("audit", "--fail-on", "never", *words, cwd=cwd, env=env)
    told(done, 0)
    assert done.stdout
    return done.stdout


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("sample", [*SAMPLES, "."])
def test_hash_seed_and_working_folder_do_not_show(advisor, samples, sample, format):
    folder = samples / sample
    words = ("--show-effective", "--format", format)
    first = printed(advisor, *words, ".", cwd=folder, PYTHONHASHSEED="1")
    assert printed(advisor, "--no-cache", *words, cwd=folder, PYTHONHASHSEED="7") == first
    if format == "text":
        return  # its paths are as they were typed
    assert printed(advisor, *words, folder, cwd="/", PYTHONHASHSEED="4242") == first
    assert printed(advisor, *words, f"../{folder.resolve().name}", cwd=folder) == first


def test_paths_of_a_text_are_as_they_were_typed(advisor, samples):
    """So that a terminal opens them; the JSON report's are from the root."""
    typed = {
        (".", "quickstart"): "producer.properties:5",
        ("quickstart", "."): "quickstart/producer.properties:5",
        ("./quickstart/", "."): "quickstart/producer.properties:5",
        ("../quickstart", "strimzi"): "../quickstart/producer.properties:5",
        (samples / "quickstart", "strimzi"): f"{samples}/quickstart/producer.properties:5",
        ("quickstart/producer.properties", "."): "quickstart/producer.properties:5",
    }
    for (path, cwd), shown in typed.items():
        assert f"\n  {shown}" in printed(advisor, path, cwd=samples / cwd), (path, cwd)
    # What lies beside the target is named from here.
    text = printed(advisor, "producer.properties", cwd=samples / "quickstart")
    assert "min.insync.replicas=2 (topic-orders.properties:4)" in " ".join(text.split())


@pytest.mark.parametrize("format", FORMATS)
def test_order_of_paths_does_not_show(advisor, samples, format):
    names = sorted(str(path) for path in samples.rglob("*.y*ml"))
    assert len(names) > 2
    first = printed(advisor, "--format", format, *names)
    assert printed(advisor, "--format", format, *reversed(names)) == first


def test_where_the_folder_lies_does_not_show(advisor, samples, tmp_path):
    first = printed(advisor, "--format", "json", samples / "strimzi")
    moved = tmp_path / "another place" / "deep"
    moved.parent.mkdir()
    (samples / "strimzi").rename(moved)
    assert printed(advisor, "--format", "json", moved) == first


@pytest.mark.parametrize("show", [(), ("--show-effective",), ("--no-link",)], ids=" ".join)
def test_report_is_valid(advisor, samples, show):
    report = json.loads(printed(advisor, "--format", "json", *show, samples))
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert report["findings"]
    order = [
        (f["locations"][0]["file"], f["locations"][0]["line"] or 0, f["code"]) for f in report["findings"]
    ]
    assert order == sorted(order)
    files = [file["file"] for file in report["files"]]
    assert files == sorted(files)


def test_reports_on_bad_files_are_valid(advisor, tmp_path):
    (tmp_path / "producer.properties").write_text(PRODUCER.replace("all", "\x1b[31mALL"))
    (tmp_path / "a.properties").write_bytes(b"\x00")
    (tmp_path / "docker-compose.yml").write_text("services:\n  k:\n    image: apache/kafka\n  - x\n")
    (tmp_path / "empty.properties").write_text("")
    report = report_of(advisor("audit", "--format", "json", "."), 1)
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    named = advisor("audit", "--format", "json", "empty.properties", "a.properties")
    jsonschema.Draft202012Validator(SCHEMA).validate(report_of(named, 2))


@pytest.mark.parametrize("sample", SAMPLES)
def test_nothing_of_the_machine_is_in_the_report(advisor, samples, sample, tmp_path):
    file = tmp_path / "report.json"
    text = printed(advisor, "--show-effective", "--report", f"json={file}", cwd=samples / sample)
    report = json.loads(file.read_text())
    text += file.read_text()
    assert str(samples) not in text
    assert samples.parent.name not in text
    assert str(ROOT) not in text
    host = socket.gethostname()
    # A machine may be called "vm", as is a part of the kernel's settings: only the whole name counts.
    assert host == "localhost" or not re.search(rf"(?<![\w.-]){re.escape(host)}(?![\w.-])", text)
    assert not re.search(r"\b20\d\d-\d\d-\d\d\b", text), "a date"
    assert not re.search(r"\b\d\d:\d\d:\d\d\b", text), "a time"
    paths = [file["file"] for file in report["files"]]
    paths += [at["file"] for finding in report["findings"] for at in finding["locations"]]
    assert paths
    assert not [path for path in paths if path.startswith(("/", "..", "~")) or "\\" in path]


def test_fingerprint_outlives_edits_elsewhere(advisor, samples):
    file = samples / "quickstart/producer.properties"
    before = json.loads(printed(advisor, "--format", "json", file))
    file.write_text("# a new first line\n" + file.read_text().replace("30000", "29000"))
    after = json.loads(printed(advisor, "--format", "json", file))
    assert [f["fingerprint"] for f in before["findings"]] == [f["fingerprint"] for f in after["findings"]]
    assert before["findings"][0]["locations"] != after["findings"][0]["locations"]
    prints = [f["fingerprint"] for f in after["findings"]]
    assert len(prints) == len(set(prints))
