"""A law: every example of every rule gives the same findings through `audit` and through rows of a table.

The rows take the way of a fleet's: narrowed, joined, projected to the keys that count and judged by the
functions that Spark calls, in this process. `python -m tests.fleet.test_row_law --rewrite` writes
`advisor/fleet/asked_keys.json` anew: the keys that were asked for on the way.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import Phase, given
from hypothesis import settings as hypothesis_settings

from advisor import engine
from advisor.catalog import NEWEST, resolution_table, resolve_version
from advisor.fleet import keys
from advisor.fleet.rows import behaviours
from advisor.fleet.rows.join import TAKEN, joined, of_clusters
from advisor.fleet.rows.link import clusters_of
from advisor.fleet.rows.narrow import FED, Narrowing
from advisor.fleet.worker import READ, Job, Judge, judge_deployments, judge_documents
from advisor.join.effective import effective
from advisor.memo.cache import Cache
from advisor.model import Location, Secret, in_file_order
from advisor.packs.pack import load_packs
from advisor.read.values import setting, value_of
from advisor.registry import load_registry
from advisor.testing import audit_settings
from tests.judgement.test_one_answer import deployments

REGISTRY = load_registry()
RULES = load_packs(REGISTRY.packs, (), Cache(None))
EXAMPLES = [(rule, example) for rule in RULES for example in rule.examples]
FILES = "it is about files: their formats, or several of one component"
SECRET = "it is about the value of a secret, which no table of a fleet holds"
# No column says what a workload is: both ways are asked without it.
UNSTATED = ("workload",)
TEXT = pa.string()
FEED = pa.schema([*((name, TEXT) for name in FED), ("config", pa.map_(TEXT, TEXT))])


def rows_of(configs, client="java"):
    """The table that holds these settings; `fact` is said by columns."""
    facts = {name: str(value) for name, value in configs.get("fact", {}).items()}
    made = []
    for component, settings in configs.items():
        if component in ("fact", "workload"):
            continue
        row = {"id": component, "component": component, "cluster": "main", "client": component}
        row["family"] = client if component not in ("broker", "topic") else None
        if component not in ("broker", "admin"):
            row["topic"] = "example"
        if component == "broker" or "broker" not in configs:
            row["brokers"] = facts.get("brokers")
        row["config"] = [(key, str(value)) for key, value in settings.items()]
        made.append(row)
    return made


def spoken(_, pairs, given, members, read, stated):
    """What Spark says of each topic in each cluster (test_rows.py holds it against this)."""
    found = []
    for topic, cluster in pairs:
        merged = {}
        for fp in reversed(members[cluster]):
            merged |= given[fp]
        version = resolve_version(stated or merged.get(behaviours.VERSION_KEY, NEWEST))
        layers = {
            name: {key: setting(key, text, name, 1) for key, text in entries.items()}
            for name, entries in (("topic", given[topic] if topic else {}), ("broker", merged))
        }
        said = set()
        for home, key in resolution_table(version):
            if home == "topic" and key in read:
                one, written = effective("topic", key, version, layers)
                if written and one.origin.note.startswith("broker "):
                    said.add(one.origin.note.removeprefix("broker "))
        found.append(said)
    return found


def job_of(read, **options):
    job = Job(None, None, (), (), (), (), "2027-01-01", True, {}, None, tuple(sorted(read)))
    return job._replace(**options)


def judged_rows(rows, judge, read, monkeypatch):
    """The findings of a table, and the keys that were asked for and are not among `read`."""
    monkeypatch.setattr(behaviours, "_spoken", spoken)
    batch = pa.RecordBatch.from_pylist([dict.fromkeys(FED) | row for row in rows], FEED)
    aliases = keys.aliases_of(judge.asking.registry)
    narrowing = Narrowing(keys.names_kept_apart(RULES), aliases)
    narrow = pa.Table.from_batches([narrowing.narrow(batch)])
    assert not narrow["reason"].drop_null().to_pylist()
    texts = dict(zip(narrow["fp"].to_pylist(), narrow["text"].to_pylist(), strict=True))
    table = narrow.select(TAKEN)
    others = [row["cluster"] for row in table.to_pylist() if row["component"] != "broker"]
    clusters = clusters_of(
        (row for row in table.to_pylist() if row["component"] == "broker"), set(others), True
    )
    rest = table.filter([row != "broker" for row in table["component"].to_pylist()])
    parts = [joined(rest, clusters.told, True)] if len(rest) else []
    if clusters.unused:
        parts.append(of_clusters(pa.Table.from_pylist(clusters.unused, table.schema), clusters.told))
    linked = pa.concat_tables(parts).to_pylist()
    combinations = [
        behaviours.Combination(
            row["behaviour"],
            row["producer_fp"],
            row["topic_fp"],
            row["cluster_fp"],
            tuple(group["fp"] for group in row["groups"] or ()),
        )
        for row in linked
    ]
    asked = behaviours.subjects(
        None, combinations, texts, clusters.members, frozenset(read), judge.job.kafka_version
    )
    before = set(judge.cache.new)
    payloads = judge_documents(judge, list(texts.values()))
    payloads += judge_deployments(judge, [subject.text for subject in asked.values()])
    met = {mark.partition("/")[2] for mark in {*judge.cache.new} - before if mark.startswith(f"{READ}/")}
    return [found for payload in payloads for found in json.loads(payload)["findings"]], met


def told(findings):
    """KA011 is a row's own: an audit tells it under what the same line does."""
    under = {("KA011", "note") for found in findings if "KA011" in found["covers"]}
    return sorted({(found["code"], found["severity"]) for found in findings} | under)


@cache
def judge_of(version, profile):
    """One for all examples of a kind: what it has searched it knows."""
    options = {"kafka_version": version, "profile": profile}
    return Judge(job_of(read_keys(), **options))


@cache
def read_keys():
    return keys.read_keys(REGISTRY, RULES)


def no_row(configs):
    """Why there is no row of it; None if there is."""
    if "files" in configs:
        return FILES
    given = (pair for name in configs if name not in ("fact", *UNSTATED) for pair in configs[name].items())
    return SECRET if any(isinstance(value_of(key, str(value)), Secret) for key, value in given) else None


def _incomplete(load):
    def loaded(*given):
        registry = load(*given)
        return registry._replace(formats=tuple(one._replace(whole=False) for one in registry.formats))

    return loaded


@pytest.fixture
def files_that_something_completes(monkeypatch):
    """A row need not be all that a client is given: what it lacks is no fault, as in a compose file."""
    monkeypatch.setattr(engine, "load_registry", _incomplete(engine.load_registry))


@pytest.mark.parametrize("word", ["bad", "good"])
@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=lambda value: getattr(value, "code", ""))
@pytest.mark.usefixtures("files_that_something_completes")
def test_a_row_is_told_what_a_file_is_told(rule, example, word, monkeypatch):
    configs = {name: given for name, given in example[word].items() if name not in UNSTATED}
    if reason := no_row(configs):
        pytest.skip(reason)
    version, profile, client = (example.get(name) for name in ("kafka_version", "profile", "client"))
    judge = judge_of(version, profile)
    findings, missed = judged_rows(rows_of(configs, client or "java"), judge, read_keys(), monkeypatch)
    options = {name: example[name] for name in ("kafka_version", "profile", "client") if name in example}
    assert told(findings) == told(audit_settings(configs, **options)["findings"])
    assert not missed, "python -m tests.fleet.test_row_law --rewrite"


@given(deployments())
@hypothesis_settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.generate])
def test_the_rows_of_a_root_are_told_what_its_files_are_told(drawn):
    """Of any settings of a producer, a topic and its cluster, in any release and either mode."""
    version, configs = drawn
    rows = rows_of(configs)
    for row in rows:
        if row["component"] == "topic":
            row["replication_factor"] = configs["fact"]["replication_factor"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "load_registry", _incomplete(engine.load_registry))
        findings, missed = judged_rows(rows, judge_of(version, "prod"), read_keys(), patch)
        in_files = audit_settings(configs, kafka_version=version, profile="prod")["findings"]
    assert told(findings) == told(in_files)
    assert not missed, "python -m tests.fleet.test_row_law --rewrite"


def test_few_examples_have_no_row():
    reasons = Counter(no_row(example[word]) for _, example in EXAMPLES for word in ("bad", "good"))
    assert set(reasons) == {None, FILES, SECRET}
    assert reasons[None] > 0.9 * reasons.total()


def test_a_fact_of_a_column_has_a_place_without_a_line(monkeypatch):
    """The places of a finding are sorted, and a column has no line."""
    rows = rows_of({"producer": {"acks": "1"}, "topic": {"min.insync.replicas": "1"}})
    rows[1] |= {"replication_factor": "3", "brokers": "3"}
    findings, _ = judged_rows(rows, judge_of(None, "prod"), read_keys(), monkeypatch)
    codes = {code for found in findings for code in (found["code"], *found["covers"])}
    assert "KA101" in codes
    assert "KA000" not in codes


def test_a_file_comes_before_its_lines():
    places = [Location("b", 2), Location("b"), Location("a", 7), Location("b", 2)]
    assert in_file_order(places) == (Location("a", 7), Location("b"), Location("b", 2))


PLUGIN = """
from advisor.api import ClientSpec, hookimpl

@hookimpl
def advisor_clients():
    return [ClientSpec("house", aliases={"house.acks": "acks"})]
"""


def test_names_of_a_client_family_are_understood_in_rows(monkeypatch, tmp_path):
    plugin = tmp_path / "house_client.py"
    plugin.write_text(PLUGIN, encoding="utf-8")
    registry = load_registry([str(plugin)])
    read = keys.read_keys(registry, RULES)
    assert "house.acks" in read
    judge = Judge(job_of(read, profile="prod", plugins=(str(plugin),)))

    def said(name, family):
        configs = {"producer": {name: "1"}, "topic": {"min.insync.replicas": "2"}, "fact": {"brokers": "3"}}
        return judged_rows(rows_of(configs, family), judge, read, monkeypatch)[0]

    own = said("house.acks", "house")
    assert told(own) == told(said("acks", "java"))
    assert "KA102" in {found["code"] for found in own}
    assert "house.acks" in {found["key"] for found in own}


FAILING = """
from advisor.api import CheckSpec, hookimpl

@hookimpl
def advisor_checks():
    return [CheckSpec("house-check", f"{__name__}:ask", "deployment")]

def ask(deployment, context):
    raise ValueError("a secret of the row")
"""
PACK = """
[pack]
name = "house"
schema = 1
prefix = "HOUSE"

[[rule]]
code = "HOUSE001"
name = "house-rule"
severity = "warning"
message = "found"
why = "A test."
check = "house-check"
"""


def test_a_plugin_that_fails_on_a_worker_is_named_and_the_rest_is_judged(monkeypatch, tmp_path):
    plugin, pack = tmp_path / "house_failing.py", tmp_path / "house.toml"
    plugin.write_text(FAILING, encoding="utf-8")
    pack.write_text(PACK, encoding="utf-8")
    registry = load_registry([str(plugin)])
    read = keys.read_keys(registry, load_packs(registry.packs, [str(pack)], Cache(None)))
    judge = Judge(job_of(read, profile="prod", plugins=(str(plugin),), rules=(str(pack),)))
    configs = {"producer": {"acks": "1"}, "topic": {"min.insync.replicas": "2"}, "fact": {"brokers": "3"}}
    found, _ = judged_rows(rows_of(configs), judge, read, monkeypatch)
    assert "KA102" in {one["code"] for one in found}
    (failed,) = {one["message"] for one in found if one["code"] == "KA000"}
    assert "plugin house_failing.py" in failed.replace(str(tmp_path) + "/", "")
    assert "house_failing:ask failed: ValueError at house_failing.py:9" in failed
    assert "HOUSE001" in failed
    assert "secret" not in failed


def test_a_key_that_no_example_asked_for_is_missed_and_then_read(monkeypatch):
    """Workers tell which keys were asked for and left out."""
    read = read_keys() - {"acks", "request.required.acks"}
    rows = rows_of(
        {
            "producer": {"acks": "1", "linger.ms": "5"},
            "topic": {"min.insync.replicas": "2"},
            "fact": {"brokers": "3"},
        }
    )
    without, missed = judged_rows(rows, Judge(job_of(read, profile="prod")), read, monkeypatch)
    assert missed == {"acks"}
    more = read | keys.with_other_names(missed, REGISTRY)
    again, missed = judged_rows(rows, Judge(job_of(more, profile="prod")), more, monkeypatch)
    assert not missed
    assert {found["code"] for found in again} > {found["code"] for found in without}


def whole(entries, wanted):
    """In place of `behaviours._joined`: nothing is left out."""
    return behaviours.ENTRY.join(f"{key}{behaviours.BETWEEN}{value}" for key, value in entries.items())


def rewrite():
    """Judged with every key, so that nothing hides what would be asked for after it; each example also as
    librdkafka's, and of a release with ZooKeeper, where other keys are asked for."""
    judges = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(behaviours, "_joined", whole)
        for _, example in EXAMPLES:
            stated, profile, client = (example.get(name) for name in ("kafka_version", "profile", "client"))
            for version, family, word in product({stated, "2.8"}, {client, "librdkafka"}, ("bad", "good")):
                kind = version, profile
                if kind not in judges:
                    judges[kind] = Judge(job_of((), kafka_version=version, profile=profile))
                if no_row(example[word]) is None:
                    judged_rows(rows_of(example[word], family or "java"), judges[kind], (), patch)
    marks = {mark for judge in judges.values() for mark in judge.cache.new}
    found = {mark.partition("/")[2] for mark in marks if mark.startswith(f"{READ}/")}
    path = Path(keys.__file__).with_name(keys.ASKED_KEYS)
    path.write_text(json.dumps(sorted(found), indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__" and sys.argv[1:] == ["--rewrite"]:
    rewrite()
