"""A fix is a claim too: every fix that is offered is made and silences its finding, or is told as left."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from advisor.testing import audit_paths, audit_settings
from tests.conftest import ROOT
from tests.rules.case_files import all_cases
from tests.rules.test_rules import EXAMPLES as TABLES
from tests.rules.test_rules import RULES

from .test_cases import fix
from .test_command import PRODUCER, TOPIC, place

_RULE = {rule.code: rule for rule in RULES}
EXAMPLES = [(_RULE[one.code], one.table) for one in TABLES]
CASES = [case for case in all_cases() if case.name.startswith("fail")]
SAMPLES = sorted(
    path
    for path in (ROOT / "samples").iterdir()
    if list(path.glob("*.properties")) or list(path.glob("*.y*ml"))
)


def offered(folder: Path, **options) -> list[tuple[str, str, str]]:
    report = audit_paths([str(folder)], cache=True, **options)
    return [
        (finding["code"], finding["locations"][0]["file"], finding["message"])
        for finding in report["findings"]
        # What needs a review, and what only a note wants, is not written by itself.
        if finding["severity"] != "note" and finding["fixes"] and finding["fixes"][0]["safety"] == "safe"
    ]


def all_silenced(folder: Path, words: list[str], **options) -> None:
    before = offered(folder, **options)
    _, _, told = fix(folder, "--write", *words, ".")
    after = offered(folder, **options)
    still = [item for item in before if item in after]
    assert [item for item in still if f"applied: {item[1]}" not in told] == []
    # What is left must say why.
    assert all(len(line.split(": ")) > 3 for line in told.splitlines() if "not applied:" in line)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_cases(case, tmp_path):
    all_silenced(case.place(tmp_path / "files"), [], profile="prod")


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda folder: folder.name)
def test_samples(folder, tmp_path):
    all_silenced(Path(shutil.copytree(folder, tmp_path / "files")), [], profile="prod")


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=lambda value: getattr(value, "code", ""))
def test_examples_of_the_packs(rule, example, tmp_path):
    names = {"broker": "server", "topic": "topic-example", "connect": "connect-distributed"}
    files = {
        f"{names.get(component, component)}.properties": "".join(
            f"{key}={value!s}\n" for key, value in settings.items()
        )
        for component, settings in example["bad"].items()
    }
    if example.get("client", "java") != "java":
        files["kafka-advisor.toml"] = f'[[client]]\npath = "*"\nfamily = "{example["client"]}"\n'
    options = {"profile": "prod"}
    words = []
    if "kafka_version" in example:
        options["kafka_version"] = example["kafka_version"]
        words = ["--kafka-version", example["kafka_version"]]
    all_silenced(place(tmp_path, files), words, **options)


GUARANTEES = ("acked-records-survive", "writes-available", "group-available")
BY_HAND = {"replication factor": "fact.replication_factor", "eligible leader replicas": "fact.elr"}


@pytest.mark.parametrize(
    ("rule", "example"),
    [pair for pair in EXAMPLES if pair[0].guarantee in GUARANTEES],
    ids=lambda value: getattr(value, "code", ""),
)
def test_what_is_done_by_hand_silences_its_finding_too(rule, example):
    """A fix that no file can hold, made by what the command line can state."""
    options = {name: example[name] for name in ("kafka_version", "client", "profile") if name in example}
    for finding in audit_settings(example["bad"], **options)["findings"]:
        changes = finding["fixes"][0]["changes"] if finding["fixes"] else []
        if not changes or all(change["file"] for change in changes):
            continue
        versions = [change["to"] for change in changes if change["key"] == "Kafka version"]
        mended = {**options, "kafka_version": versions[0]} if versions else options
        sets = [
            f"{BY_HAND.get(change['key'], change['component'] + '.' + change['key'])}={change['to']}"
            for change in changes
            if change["key"] != "Kafka version"
        ]
        after = audit_settings(example["bad"], sets=sets, **mended)["findings"]
        assert finding["code"] not in {one["code"] for one in after}


PLUGIN = """
from advisor.api import Change, CheckSpec, Fix, Hit, Location, hookimpl

@hookimpl
def advisor_checks():
    return [CheckSpec(name, f"{__name__}:{function}", "document") for name, function in
            (("slow", "slow"), ("fast", "fast"), ("stubborn", "stubborn"), ("harmful", "harmful"),
             ("brokers", "brokers"))]

def hit(check, document, key, value):
    for setting in document.settings:
        if setting.key == key and setting.value != value:
            at = setting.origin.at
            change = Change(document.component, key, setting.value, value, at.file, at.line, "set")
            yield Hit(at, (key,), {}, fixes=(Fix((change,)),), check=check)

def slow(document, context):
    return hit("slow", document, "linger.ms", "100") if document.component == "producer" else ()

def fast(document, context):
    return hit("fast", document, "linger.ms", "0") if document.component == "producer" else ()

def stubborn(document, context):
    if document.component == "producer":
        at = Location(document.file, 4)
        change = Change("producer", "client.id", None, "x", document.file, None, "add")
        yield Hit(at, ("client.id",), {}, fixes=(Fix((change,)),), check="stubborn")

def harmful(document, context):
    return hit("harmful", document, "acks", "7") if document.component == "producer" else ()

def brokers(document, context):
    return hit("brokers", document, "min.insync.replicas", "2") if document.component == "broker" else ()
"""
RULE = """
[[rule]]
code = "ZZ{number}"
name = "{name}"
severity = "{severity}"
check = "{name}"
message = "{name}"
why = "because"
sources = ["here"]
"""
PACK = '[pack]\nname = "own"\nschema = 1\nprefix = "ZZ"\n'


@pytest.fixture
def own(tmp_path):
    """The words that load a plugin whose fixes cannot all be right."""

    def words(**rules):
        # A module of its own for each test.
        plugin = tmp_path / f"own_{abs(hash(tmp_path))}.py"
        plugin.write_text(PLUGIN)
        text = PACK + "".join(
            RULE.format(number=100 + number, name=name, severity=severity)
            for number, (name, severity) in enumerate(rules.items())
        )
        (tmp_path / "own.toml").write_text(text)
        return [
            "--plugin",
            plugin,
            "--rules",
            tmp_path / "own.toml",
            "--select",
            "ZZ,KA0",
        ]

    return words


def run(folder, *words):
    return fix(folder, *map(str, words))


def test_of_two_fixes_that_contradict_each_other_the_worse_finding_wins(own, tmp_path):
    repo = place(tmp_path / "repo", {"producer.properties": PRODUCER.format(acks="all") + "linger.ms=5\n"})
    code, _, told = run(repo, "--write", *own(slow="warning", fast="error"), ".")
    assert (repo / "producer.properties").read_text().endswith("linger.ms=0\n")
    assert code == 1
    assert "ZZ100 slow: a fix before it sets linger.ms = 0" in told


def test_a_fix_that_does_not_help_is_not_handed_over(own, tmp_path):
    text = PRODUCER.format(acks="all") + "linger.ms=5\n"
    repo = place(tmp_path / "repo", {"producer.properties": text})
    code, diff, told = run(repo, *own(stubborn="error", fast="warning"), ".")
    assert code == 1, told
    assert "client.id" not in diff
    assert "+linger.ms=0" in diff, "the others are made all the same"
    assert "ZZ100 stubborn: ZZ100 would still be found" in told


def test_a_fix_that_brings_a_new_finding_is_not_handed_over(own, tmp_path):
    repo = place(tmp_path / "repo", {"producer.properties": PRODUCER.format(acks="all")})
    code, diff, told = run(repo, *own(harmful="error"), ".")
    assert (code, diff) == (1, ""), told
    assert "it would introduce KA006" in told


def test_a_rule_that_was_not_selected_is_spared_too(own, tmp_path):
    repo = place(tmp_path / "repo", {"producer.properties": PRODUCER.format(acks="all")})
    words = own(harmful="error")
    words[words.index("--select") + 1] = "ZZ"
    code, diff, told = run(repo, *words, ".")
    assert (code, diff) == (1, ""), told
    assert "it would introduce KA006" in told


def test_a_value_given_by_set_is_not_mended_in_a_file(tmp_path):
    repo = place(tmp_path, {"producer.properties": PRODUCER.format(acks="all"), "topic-a.properties": TOPIC})
    code, diff, told = run(repo, "--set", "producer.acks=1", ".")
    assert (code, diff) == (1, ""), told
    assert "not applied: " in told


DEPLOYED = """
from advisor.api import Change, CheckSpec, Fix, Hit, Location, hookimpl

@hookimpl
def advisor_checks():
    return [CheckSpec("brokers", f"{__name__}:brokers", "deployment")]

def brokers(deployment, context):
    for broker in deployment.cluster:
        if not any(setting.key == "min.insync.replicas" for setting in broker.settings):
            change = Change("broker", "min.insync.replicas", None, "2", broker.file, None, "add")
            at, fix = Location(broker.file, 1), Fix((change,))
            yield Hit(at, ("min.insync.replicas",), {}, fixes=(fix,), check="brokers")
            return
"""


def test_a_brokers_fix_is_made_on_every_broker(own, tmp_path):
    words = own(brokers="error")
    words[1] = tmp_path / "own_deployed.py"
    words[1].write_text(DEPLOYED)
    service = (
        "  kafka-{0}:\n    image: apache/kafka:4.1.0\n    environment:\n      KAFKA_NODE_ID: {0}\n"
        "      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-{0}:9092\n"
    )
    compose = "services:\n" + "".join(service.format(number) for number in (1, 2, 3))
    producer = PRODUCER.format(acks="all").replace("kafka:9092", "kafka-1:9092,kafka-2:9092,kafka-3:9092")
    repo = place(tmp_path / "repo", {"docker-compose.yml": compose, "producer.properties": producer})
    code, _, told = run(repo, "--write", *words, ".")
    assert code == 0, told
    after = (repo / "docker-compose.yml").read_text()
    assert after == compose.replace(":9092\n", ":9092\n      KAFKA_MIN_INSYNC_REPLICAS: 2\n")


def fixes_of(folder: Path, **options) -> dict[tuple[str, str, str], list]:
    report = audit_paths([str(folder)], profile="prod", **options)
    return {
        (finding["code"], finding["locations"][0]["file"], finding["message"]): finding["fixes"]
        for finding in report["findings"]
    }


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda folder: folder.name)
def test_a_rule_asked_alone_offers_the_fix_of_a_whole_audit(folder, tmp_path):
    folder = Path(shutil.copytree(folder, tmp_path / "files"))
    whole = fixes_of(folder)
    for code in sorted({code for code, _, _ in whole} - {"KA001"}):
        alone = fixes_of(folder, select=[code])
        assert {mark: fixes for mark, fixes in whole.items() if mark[0] == code}.items() <= alone.items()


def test_a_fix_of_one_rule_is_held_against_rules_that_were_not_asked(tmp_path):
    """acks=all alone would stop the writes of a topic with two replicas that must both be in sync."""
    files = {
        "producer.properties": "bootstrap.servers=kafka:9092\nacks=1\n",
        "topic-orders.properties": "partitions=3\nreplication.factor=2\nmin.insync.replicas=2\n",
    }
    folder = place(tmp_path, files)
    whole, alone = fixes_of(folder), fixes_of(folder, select=["KA101"])
    assert alone == {mark: fixes for mark, fixes in whole.items() if mark[0] == "KA101"}
    assert alone
